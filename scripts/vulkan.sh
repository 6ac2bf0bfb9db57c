#!/usr/bin/env bash
# Makes sure that a Vulkan driver is there: where none is, installs Mesa's software driver (lavapipe) from Debian's or
# Ubuntu's packages. Sourced by the other scripts, so that a driver found elsewhere reaches what they start.
#
# VK_DRIVER_FILES (or the older VK_ICD_FILENAMES), if set, names the driver to use and nothing is installed.

vulkan_driver_is_present() {
  [ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ] && return 0
  ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1' || return 1
  local folder
  for folder in /usr/share/vulkan/icd.d /etc/vulkan/icd.d /usr/local/share/vulkan/icd.d "$HOME/.local/share/vulkan/icd.d"; do
    compgen -G "$folder/*.json" >/dev/null && return 0
  done
  return 1
}

ensure_vulkan_driver() {
  [ "$(uname -s)" = Linux ] || return 0 # macOS and Windows bring Metal and Direct3D 12
  vulkan_driver_is_present && return 0
  if ! command -v apt-get >/dev/null; then
    echo "No Vulkan driver found. Install one for your GPU, or Mesa's software driver (lavapipe), with your package manager." >&2
    return 1
  fi
  local sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  echo "No Vulkan driver found: installing Mesa's (mesa-vulkan-drivers, libvulkan1)." >&2
  export DEBIAN_FRONTEND=noninteractive
  $sudo apt-get update -qq && $sudo apt-get install -y -qq --no-install-recommends mesa-vulkan-drivers libvulkan1 >/dev/null
}
