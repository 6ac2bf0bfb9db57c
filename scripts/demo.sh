#!/usr/bin/env bash
# Draws one object twice, under shaders that Microsoft's fxc compiled and under shaders that dxc compiled. With a display
# it opens a window; without one (or with arguments for the example, such as `--headless out.png`) it writes a picture
# and says where.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/vulkan.sh
ensure_vulkan_driver
if [ $# = 0 ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  set -- --headless ported_material.png
fi
cargo run --quiet --example ported_material -- "$@"
