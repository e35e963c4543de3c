#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Install what the scripts of tools/vm need on this machine, and only what is
# missing: when nothing is, apt is not called at all.
#
# Usage: deps.sh [PACKAGE...]
#   PACKAGE  more packages to have installed, besides the runner's own
set -euo pipefail

# shellcheck source=tools/vm/lib.sh
. "$(dirname "$0")/lib.sh"

packages=(qemu-system-x86 mmdebstrap debian-archive-keyring binutils cpio gcc
	libc6-dev make git kmod mount util-linux xz-utils zstd)

# missing PACKAGE... - print those that are not installed
missing() {
	local pkg

	for pkg; do
		case $(dpkg-query -W -f '${db:Status-Abbrev}' "$pkg" \
			2>/dev/null) in
		ii*) ;;
		*) echo "$pkg" ;;
		esac
	done
}

case ${1-} in
-h | --help) vm_usage 0 ;;
esac
command -v apt-get >/dev/null ||
	vm_die "no apt-get here: install ${packages[*]} yourself"
mapfile -t need < <(missing "${packages[@]}" "$@")
[ "${#need[@]}" -gt 0 ] || exit 0

vm_say "installing ${need[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt=(vm_as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
if ! { "${apt[@]}" update &&
	"${apt[@]}" install --no-install-recommends "${need[@]}"; } \
	>"$log" 2>&1 </dev/null; then
	tail -n 20 "$log" >&2
	vm_die "apt-get failed"
fi
vm_say "installed ${#need[@]} packages"
