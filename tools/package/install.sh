#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The part of check.sh that runs in a throw-away copy of a guest's root, as
# root, in the sources: everything but loading the module.
#
# Usage: install.sh RELEASE UID:GID
#
# After each step it keeps what modprobe looks at, of /lib/modules/RELEASE, in
# state/N-NAME, where the guest finds it.
set -uo pipefail

# shellcheck source=tools/package/cases.sh
. "$(dirname "$0")/cases.sh"

release=$1 owner=$2
modules=/lib/modules/$release
version=$(cat VERSION)

# get_dkms - install it here, if the root has none
get_dkms() {
	! command -v dkms || return 0
	cp sources.list /etc/apt/sources.list
	[ ! -e resolv.conf ] || cp resolv.conf /etc/resolv.conf
	rm -f /etc/apt/sources.list.d/*
	apt-get -q update &&
		DEBIAN_FRONTEND=noninteractive INITRD=No apt-get -q -y \
			install --no-install-recommends dkms
}

# keep NAME
keep() {
	local to=state/$1

	mkdir -p "$to"
	cp -r "$modules/updates" "$modules"/modules.* "$to/"
}

version_is_ours() {
	[ "$(modinfo -k "$release" -F version bonding)" = "$version" ]
}

# nothing_left - of our module and of what dkms has made of it
nothing_left() {
	! find "$modules/updates" /usr/src/bonding-* /var/lib/dkms/bonding \
		-name 'bonding*' 2>/dev/null | grep .
}

# dkms_has_it - is that what dkms says?
dkms_has_it() {
	dkms status bonding | grep "$release.*installed"
}

make_args=(KERNELRELEASE="$release")
if ! command -v dkms >/dev/null; then
	check "dkms can be installed" get_dkms
fi
check "in-tree module to begin with" found_in "$release" kernel/
keep 0-none

check "make install" make "${make_args[@]}" install
check "make install wins" found_in "$release" updates/bonding.ko
check "make install has installed ours" version_is_ours
keep 1-make
check "make uninstall" make "${make_args[@]}" uninstall
check "in-tree module is back after make uninstall" \
	found_in "$release" kernel/
check "make uninstall leaves nothing" nothing_left
keep 2-none

check "make dkms-install" make "${make_args[@]}" dkms-install
check "dkms says that it is installed" dkms_has_it
check "dkms module wins" found_in "$release" updates/dkms/bonding.ko
check "dkms has installed ours" version_is_ours
keep 3-dkms
check "make dkms-remove" make "${make_args[@]}" dkms-remove
check "in-tree module is back after make dkms-remove" \
	found_in "$release" kernel/
check "make dkms-remove leaves nothing" nothing_left
keep 4-none

chown -R "$owner" .
finish
