#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The operator's view in debugfs: which slaves the packet path sees, and how
# many frames went nowhere, by reason. The in-tree driver has none of it.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	directories
	rename
	arrays
	arrays_active_backup
	drops
	open_while_deleted"
bond_beyond=$bond_tests

# debugfs_mount - sets $root and $here, what a bond's name is followed by
debugfs_mount() {
	root=$BOND_TMP/debug
	mkdir "$root"
	mount -t debugfs none "$root" 2>/dev/null || skip "needs debugfs"
	root+=/bonding
	[ -d "$root" ] || fail "no directory bonding in debugfs"
	here=@$(stat -L -c %i /proc/self/ns/net)
}

array_is() {
	local line

	while read -r line; do
		case $line in
		"$1:"*) [ "$line" = "$1:${2:+ $2}" ] && return ;;
		esac
	done <"$root/b0$here/arrays"
	return 1
}

directories() {
	local there

	debugfs_mount
	there=@$(on_peer stat -L -c %i /proc/self/ns/net)
	ip link add b0 type bond
	on_peer ip link add b0 type bond
	check_eq files "arrays drops rlb_hash_table" \
		"$(cd "$root/b0$here" && echo *)"
	check_eq "mode of drops" 400 "$(stat -c %a "$root/b0$here/drops")"
	[ -e "$root/b0$there/drops" ] || fail "no b0$there"
	ip link del b0
	[ ! -e "$root/b0$here" ] || fail "b0$here remains"
	[ -e "$root/b0$there/drops" ] || fail "no b0$there any more"
	on_peer ip link del b0
	[ ! -e "$root/b0$there" ] || fail "b0$there remains"
}

rename() {
	debugfs_mount
	ip link add b0 type bond
	ip link set b0 name b1
	[ -e "$root/b1$here/arrays" ] || fail "no b1$here"
	[ ! -e "$root/b0$here" ] || fail "b0$here remains"
	ip link add b0 type bond
	[ -e "$root/b0$here/arrays" ] || fail "no new b0$here"
	ip link del b1
	[ -e "$root/b0$here/arrays" ] || fail "no b0$here any more"
}

arrays() {
	debugfs_mount
	allow_kmsg 'permanent (HWaddr|MAC)'
	bond_make balance-rr 3
	wait_for 1000 "all usable" array_is usable "s0 s1 s2"
	array_is all "s0 s1 s2" || fail "all: $(<"$root/b0$here/arrays")"
	peer_down 1
	wait_for 5000 "s1 gone" array_is usable "s0 s2"
	array_is all "s0 s2" || fail "all: $(<"$root/b0$here/arrays")"
	peer_up 1
	wait_for 5000 "s1 back" array_is usable "s0 s1 s2"
	ip link set s0 nomaster
	array_is usable "s1 s2" || fail "usable: $(<"$root/b0$here/arrays")"
	peer_down 1 2
	wait_for 5000 "nothing usable" array_is usable ""
}

arrays_active_backup() {
	debugfs_mount
	bond_make active-backup 2
	wait_for 5000 "s0 active" active_is s0
	wait_for 1000 "s0 usable" array_is usable s0
	array_is all "s0 s1" || fail "all: $(<"$root/b0$here/arrays")"
	bond_set active_slave s1
	array_is usable s1 || fail "usable: $(<"$root/b0$here/arrays")"
}

# Without a monitor the bond keeps its carrier, so that frames still come to it.
drops() {
	debugfs_mount
	bond_make balance-rr 1 miimon 0
	check_eq drops "drop_no_slave 0" "$(head -n 1 "$root/b0$here/drops")"
	peer_down 0
	wait_for 5000 "s0 without carrier" carrier_is s0 0
	frames 9 -k
	check_eq drops "drop_no_slave 9" "$(head -n 1 "$root/b0$here/drops")"
}

# A bond can go while somebody looks.
open_while_deleted() {
	local fd line

	debugfs_mount
	bond_make balance-rr 1
	exec {fd}<"$root/b0$here/arrays"
	ip link del b0
	if read -r -u "$fd" line 2>/dev/null; then
		fail "read '$line'"
	fi
	exec {fd}<&-
}

bond_run "$@"
