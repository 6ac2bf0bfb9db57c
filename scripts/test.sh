#!/usr/bin/env bash
# Runs every test: the library's, the execution cases and the renderings on a Vulkan driver, the corpus where it is there.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/vulkan.sh
ensure_vulkan_driver
cargo test "$@"
