#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Other modules read a bond's and a slave's private data by the structures of
# the kernel's own header. abi/bond_abi_test.ko does what they do; here it has
# to see what the bond says of itself.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	no_slaves
	mode_balance_rr
	mode_active_backup
	mode_balance_xor
	mode_broadcast
	active_slave_changes
	link_states
	backup_and_inactive
	a_slave_of_a_bond_that_is_a_slave"

bond_at_end() {
	rmmod bond_abi_test 2>/dev/null || :
}

probe_load() {
	local ko=$bond_dir/abi/bond_abi_test.ko

	[ ! -e /proc/net/bond_abi ] || return 0
	[ -e "$ko" ] || skip "run make modules in $bond_dir first"
	allow_kmsg 'taint'
	insmod "$ko"
}

# seen DEV - the line of that device, without its first two words
seen() {
	local kind name rest

	while read -r kind name rest; do
		[ "$name" != "$1" ] || echo "$rest"
	done </proc/net/bond_abi
	: "$kind"
}

# seen_of DEV KEY - one value of it
seen_of() {
	local words i

	read -r -a words <<<"$(seen "$1")"
	for ((i = 0; i < ${#words[@]}; i += 2)); do
		[ "${words[i]}" != "$2" ] || echo "${words[i + 1]}"
	done
}

# agree SLAVE... - all that is seen is what the bond says
agree() {
	local s mode active

	mode=$(bond_get mode)
	check_eq "mode" "${mode##* }" "$(seen_of b0 mode)"
	active=$(bond_get active_slave)
	[ -z "$active" ] ||
		check_eq "active slave" "$active" "$(seen_of b0 active)"
	for s; do
		check_eq "dev of $s" "$s" "$(seen_of "$s" dev)"
		check_eq "bond of $s" b0 "$(seen_of "$s" bond)"
		check_eq "link of $s" "$(slave_get "$s" mii_status)" \
			"$(link_word "$(seen_of "$s" link)")"
		check_eq "state of $s" "$(slave_get "$s" state)" \
			"$(state_word "$(seen_of "$s" backup)")"
		check_eq "txable and backup of $s" 1 \
			$(($(seen_of "$s" txable) + $(seen_of "$s" backup)))
	done
}

link_word() {
	local words=(up "going down" down "going back")

	echo "${words[$1]}"
}

state_word() {
	local words=(active backup)

	echo "${words[$1]}"
}

no_slaves() {
	probe_load
	bond_make active-backup 0
	check_eq "what is seen" "mode 1 active -" "$(seen b0)"
}

mode_balance_rr() { mode balance-rr; }
mode_active_backup() { mode active-backup; }
mode_balance_xor() { mode balance-xor; }
mode_broadcast() { mode broadcast; }

mode() {
	probe_load
	bond_make "$1" 3
	cat /proc/net/bond_abi
	agree s0 s1 s2
	peer_down 1
	wait_for 5000 "s1 down" slave_link_is s1 down
	agree s0 s1 s2
	allow_kmsg 'permanent (HWaddr|MAC)'
	ip link set s0 nomaster
	check_eq "what is seen of s0" "" "$(seen s0)"
	agree s1 s2
	# IGMP goes there in modes that show no active slave, too
	check_eq "active slave that is seen" s2 "$(seen_of b0 active)"
}

active_slave_changes() {
	probe_load
	bond_make active-backup 3
	check_eq "active slave" s0 "$(seen_of b0 active)"
	echo s2 >/sys/class/net/b0/bonding/active_slave
	check_eq "active slave" s2 "$(seen_of b0 active)"
	peer_down 2
	wait_for 5000 "another active slave" active_is s0
	check_eq "active slave" s0 "$(seen_of b0 active)"
	peer_down 0 1
	wait_for 5000 "no active slave" active_is ""
	check_eq "active slave" - "$(seen_of b0 active)"
	agree s0 s1 s2
}

link_states() {
	probe_load
	bond_make active-backup 2
	bond_set downdelay 4000
	bond_set updelay 4000
	peer_down 1
	wait_for 5000 "s1 going down" slave_link_is s1 "going down"
	agree s0 s1
	wait_for 15000 "s1 down" slave_link_is s1 down
	agree s0 s1
	peer_up 1
	wait_for 5000 "s1 going back" slave_link_is s1 "going back"
	agree s0 s1
	wait_for 15000 "s1 up" slave_link_is s1 up
	agree s0 s1
}

backup_and_inactive() {
	probe_load
	bond_make active-backup 2
	check_eq "inactive of s0" 0 "$(seen_of s0 inactive)"
	check_eq "inactive of s1" 1 "$(seen_of s1 inactive)"
	bond_set all_slaves_active 1
	check_eq "inactive of s1" 0 "$(seen_of s1 inactive)"
	check_eq "backup of s1" 1 "$(seen_of s1 backup)"
	bond_set all_slaves_active 0
	check_eq "inactive of s1" 1 "$(seen_of s1 inactive)"
	agree s0 s1
}

a_slave_of_a_bond_that_is_a_slave() {
	probe_load
	bond_make active-backup 1
	printf '%s\n' "link add b1 type bond mode balance-rr miimon 100" \
		"link set b0 down" \
		"link set b0 master b1" \
		"link set b1 up" | ip -batch -
	wait_for 5000 "b0 up" slave_link_is b0 up
	check_eq "bond of s0" b0 "$(seen_of s0 bond)"
	grep -q '^slave b0 dev b0 bond b1 ' /proc/net/bond_abi ||
		fail "b0 as a slave: $(</proc/net/bond_abi)"
	grep -q '^bond b1 mode 0 ' /proc/net/bond_abi ||
		fail "b1: $(</proc/net/bond_abi)"
}

bond_run "$@"
