#!/usr/bin/env bash
# Fills the corpora of the fuzz targets with the repository's own fixtures: whole containers for `container` and `lift`,
# their bitcode for `module` and `bitstream`. Files above 16 KiB slow the fuzzer more than they teach it.
#
#   fuzz/seed.sh                               (needs a built target/debug/dxshader)
#   RUSTC_BOOTSTRAP=1 cargo fuzz run -s none lift
set -euo pipefail
cd "$(dirname "$0")/.."
dxshader=${DXSHADER:-target/debug/dxshader}
part=$(mktemp)
trap 'rm -f "$part"' EXIT
for target in bitstream module container lift; do mkdir -p "fuzz/corpus/$target"; done
while read -r file; do
  name=$(tr / _ <<<"${file#tests/fixtures/}")
  cp "$file" "fuzz/corpus/container/$name"
  cp "$file" "fuzz/corpus/lift/$name"
  if "$dxshader" dump "$file" --part DXIL -o "$part" 2>/dev/null; then
    # The bitcode stands behind the program's header and that of the bitcode.
    tail -c +25 "$part" > "fuzz/corpus/module/$name"
    { printf '\0'; cat "fuzz/corpus/module/$name"; } > "fuzz/corpus/bitstream/$name"
  fi
done < <(find tests/fixtures \( -name '*.dxil' -o -name '*.dxbc' \) -size -16k | sort)
