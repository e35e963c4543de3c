#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The part of check.sh that runs in the guest, as root, in the sources.
set -uo pipefail

passed=0 failed=0

# check NAME COMMAND...
check() {
	local name=$1

	shift
	if "$@" >/tmp/package.log 2>&1; then
		passed=$((passed + 1))
		echo "ok $name"
	else
		failed=$((failed + 1))
		echo "not ok $name"
		sed 's/^/# /' /tmp/package.log
	fi
}

found_in() {
	local file

	file=$(modinfo -F filename bonding) || return 1
	echo "$file"
	case $file in
	"/lib/modules/$(uname -r)/$1"*) ;;
	*) return 1 ;;
	esac
}

version_is_ours() {
	modprobe bonding max_bonds=0 &&
		[ "$(cat /sys/module/bonding/version)" = "$(cat VERSION)" ] &&
		modprobe -r bonding
}

[ -x "$(command -v dkms)" ] || { echo "dkms is not installed"; exit 1; }
cp -r . /tmp/bonding && cd /tmp/bonding || exit 1
rm -rf build ./*.o ./*.ko ./*.mod* .*.cmd generated

check "in-tree module to begin with" found_in kernel/
check "make install" make install
check "make install wins" found_in updates/bonding.ko
check "installed module loads" version_is_ours
check "make uninstall" make uninstall
check "in-tree module is back after uninstall" found_in kernel/
check "make dkms-install" make dkms-install
check "dkms module wins" found_in updates/dkms/bonding.ko
check "dkms module loads" version_is_ours
check "make dkms-remove" make dkms-remove
check "in-tree module is back after dkms-remove" found_in kernel/

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
