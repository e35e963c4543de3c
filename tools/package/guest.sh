#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The part of check.sh that runs in the guest, as root: gives /lib/modules each
# of the states that install.sh has kept, and loads what modprobe finds then.
set -uo pipefail

# shellcheck source=tools/package/cases.sh
. "$(dirname "$0")/cases.sh"

release=$(uname -r)

# put STATE - make it the one of this guest
put() {
	rm -rf "/lib/modules/$release/updates"
	cp -r "$1"/. "/lib/modules/$release/"
}

# loads_in_tree - by the name of the netdevice's kind, as the kernel asks for it
loads_in_tree() {
	found_in "$release" kernel/ && ip link add b0 type bond &&
		[ ! -e /sys/module/bonding/version ] && modprobe -r bonding
}

loads_ours() {
	found_in "$release" updates/ && ip link add b0 type bond &&
		[ "$(cat /sys/module/bonding/version)" = "$(cat VERSION)" ] &&
		modprobe -r bonding
}

for state in state/*; do
	check "${state#state/}: becomes the guest's" put "$state"
	case $state in
	*none) check "${state#state/}: the in-tree module loads" loads_in_tree ;;
	*) check "${state#state/}: our module loads" loads_ours ;;
	esac
done
finish
