#!/bin/sh
# Makes the `.ir` files of this folder from the `.hlsl` files beside them, with dxc (1.8) and this project's own lift:
#
#     cargo build --no-default-features --features cli --bin dxshader
#     src/ir/passes/legalize/library/build.sh
#
# HLSL 2018 evaluates both sides of ?:, && and ||, which makes selections of them, not branches.
# Functions are numbered from 0 again after the entry point is left out; numbers of DXIL's instructions mean nothing there.
set -e
cd "$(dirname "$0")"
root=$(git rev-parse --show-toplevel)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for source in *.hlsl; do
    name=${source%.hlsl}
    dxc -T cs_6_2 -HV 2018 "$source" -Fo "$work/$name.dxil"
    "$root/target/debug/dxshader" lift --to ir "$work/$name.dxil" |
        awk -v source="$source" '
            BEGIN { print "// Made from " source " by build.sh." }
            /^function[0-9]+ / { skipped = $2 == "\"main\""; if (!skipped) { sub(/^function[0-9]+/, "function" count++) } }
            skipped || /^entry / { next }
            /call function/ { print "call of a function that is not inlined: " $0 > "/dev/stderr"; exit 1 }
            { sub(/ #[0-9]+$/, ""); print }
        ' | cat -s > "$name.ir"
done
