#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The module comes and goes: unloaded with bonds up and in use, loaded with
# parameters, loaded by itself when the first bond is made; namespaces end with
# bonds in them.
#
# Takes the module away and loads it again (by modprobe, or the file BOND_KO),
# so it is skipped on a machine that has bonds of its own.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	unload_twenty_times
	unload_under_traffic
	unload_while_files_are_open
	unload_down_and_empty
	unload_stacked
	slaves_are_restored
	namespace_ends
	namespace_ends_then_unload
	slave_namespace_ends
	parameters_make_bonds
	parameters_are_defaults
	parameters_put_right
	parameters_refused
	loads_by_itself"

modes="balance-rr active-backup balance-xor broadcast"

# in_first COMMAND... - in the machine's own network namespace
in_first() {
	nsenter --target 1 --net "$@"
}

# unload - only what is ours to take away
unload() {
	local bonds=''

	[ -d /sys/module/bonding ] || return 0
	[ -n "${bond_unloading-}" ] ||
		bonds=$(in_first ip -o link show type bond | grep ' UP\|,UP' || :)
	[ -z "$bonds" ] || skip "the machine has bonds of its own"
	bond_unloading=y
	allow_kmsg 'permanent (HWaddr|MAC)'
	rmmod bonding
	[ ! -d /sys/module/bonding ] || fail "the module is still there"
}

# load [PARAMETER...] - by default without bonds of its own
load() {
	[ $# -gt 0 ] || set -- max_bonds=0
	if [ -n "${BOND_KO-}" ]; then
		insmod "$BOND_KO" "$@"
	else
		modprobe bonding "$@"
	fi
}

# same_module - skip if modprobe would load another one than was there
same_module() {
	local want=Y

	[ -z "${BOND_KO-}" ] || return 0
	[ -d /sys/module/bonding ] || load
	! bond_module_is_ours || want=''
	[ "$(modinfo -F intree bonding)" = "$want" ] ||
		skip "modprobe would load another module: set BOND_KO"
}

# The next script finds the module loaded.
bond_at_end() {
	[ -d /sys/module/bonding ] || load || :
}

# bonds_of_all_modes - up, two slaves each
bonds_of_all_modes() {
	local mode i=0

	for mode in $modes; do
		echo "link add b$i type bond mode $mode miimon 100"
		echo "link set s$((2 * i)) master b$i"
		echo "link set s$((2 * i + 1)) master b$i"
		echo "link set b$i up"
		i=$((i + 1))
	done | ip -batch -
}

no_bonds_left() {
	local dev

	for dev in /sys/class/net/*/bonding /sys/class/net/*/bonding_slave \
		/sys/class/net/bonding_masters /proc/net/bonding; do
		[ ! -e "$dev" ] || fail "$dev is still there"
	done
	[ ! -e /sys/class/net/b0 ] || fail "b0 is still there"
}

unload_twenty_times() {
	local round

	same_module
	veth_make 0 1 2 3 4 5 6 7
	for round in {1..20}; do
		bonds_of_all_modes
		unload
		no_bonds_left
		load
	done
	note "round $round"
}

unload_under_traffic() {
	local mode round

	same_module
	veth_make 0 1
	for mode in $modes; do
		for round in 1 2; do
			printf '%s\n' "link add b0 type bond mode $mode" \
				"link set s0 master b0" \
				"link set s1 master b0" \
				"link set b0 up" | ip -batch -
			frames 1000000000 -f 100 -T 4000 >/dev/null 2>&1 &
			frames 1000000000 -t arp -T 4000 >/dev/null 2>&1 &
			nap 0.2
			unload
			no_bonds_left
			load
			wait
		done
	done
	note "round $round"
}

unload_while_files_are_open() {
	local text

	same_module
	bond_make active-backup 2
	exec 7</proc/net/bonding/b0 8</sys/class/net/b0/bonding/mode \
		9>/sys/class/net/b0/bonding/miimon
	exec 6</sys/class/net/s0/bonding_slave/state
	unload
	no_bonds_left
	! read -r text <&7 || fail "/proc said: $text"
	! read -r text <&8 || fail "sysfs said: $text"
	! read -r text <&6 || fail "sysfs said: $text"
	must_fail bash -c 'echo 100 >&9'
	exec 6<&- 7<&- 8<&- 9>&-
	load
}

unload_down_and_empty() {
	same_module
	ip link add b0 type bond
	ip link add b1 type bond mode active-backup miimon 100
	ip link set b1 up
	unload
	no_bonds_left
	load
}

# A bond that is a slave of a bond, with a VLAN on top.
unload_stacked() {
	same_module
	bond_make active-backup 2
	printf '%s\n' "link add b1 type bond mode active-backup miimon 100" \
		"link set b0 down" \
		"link set b0 master b1" \
		"link set b1 up" \
		"link add link b1 name b1.5 type vlan id 5" \
		"link set b1.5 up" | ip -batch -
	unload
	no_bonds_left
	[ ! -e /sys/class/net/b1.5 ] || fail "the VLAN is still there"
	load
}

slaves_are_restored() {
	local before after mac

	same_module
	veth_make 0 1
	ip link set s1 mtu 1400
	before=$(macs_and_mtus)
	printf '%s\n' "link add b0 type bond mode balance-rr miimon 100" \
		"link set s0 master b0" \
		"link set s1 master b0" \
		"link set b0 up" | ip -batch -
	mac=$(</sys/class/net/s0/address)
	check_eq "MAC of s1 as a slave" "$mac" "$(</sys/class/net/s1/address)"
	unload
	after=$(macs_and_mtus)
	check_eq "MACs and MTUs" "$before" "$after"
	ip -o link show s0 | grep -qv SLAVE || fail "s0 is a slave"
	load
}

macs_and_mtus() {
	cat /sys/class/net/s[01]/address /sys/class/net/s[01]/mtu | xargs
}

# extra_space - a third namespace with bonds of all modes, up, on dummies
extra_space() {
	local mode i=0

	ip netns add "$BOND_NS-x"
	for mode in $modes; do
		echo "link add b$i type bond mode $mode miimon 10"
		echo "link add d$i type dummy"
		echo "link set d$i master b$i"
		echo "link set b$i up"
		i=$((i + 1))
	done | ip -n "$BOND_NS-x" -batch -
}

# Its devices are gone when the end of a veth pair that reaches out of it is.
namespace_ends() {
	local round

	for round in 1 2 3 4 5; do
		extra_space
		ip link add v0 type veth peer name v1 netns "$BOND_NS-x"
		ip -n "$BOND_NS-x" link set v1 master b0
		ip netns del "$BOND_NS-x"
		wait_for 10000 "the namespace is gone" test ! -e /sys/class/net/v0
	done
	note "round $round"
}

namespace_ends_then_unload() {
	local round

	same_module
	for round in 1 2 3; do
		extra_space
		ip netns del "$BOND_NS-x"
		unload
		load
	done
	note "round $round"
}

# The slaves' own namespace is the bond's; their peers' goes away under it.
slave_namespace_ends() {
	ip netns add "$BOND_NS-x"
	ip link add b0 type bond mode active-backup miimon 100
	for i in 0 1; do
		ip link add "s$i" type veth peer name "p$i" netns "$BOND_NS-x"
		ip link set "s$i" master b0
	done
	ip link set b0 up
	ip netns del "$BOND_NS-x"
	wait_for 10000 "s0 is gone" test ! -e /sys/class/net/s0
	wait_for 10000 "s1 is gone" test ! -e /sys/class/net/s1
	check_eq "slaves" "" "$(bond_get slaves)"
	check_eq "active slave" "" "$(bond_get active_slave)"
}

# first_get BOND OPTION - sysfs of the machine's own namespace
first_get() {
	# shellcheck disable=SC2016 # expanded inside
	in_first sh -c '
		mount -t sysfs s "$1" && cat "$1/class/net/$2"; umount "$1"' \
		sh "$BOND_TMP/first" "$1/bonding/$2"
}

parameters_make_bonds() {
	mkdir "$BOND_TMP/first"
	same_module
	unload
	load max_bonds=3 mode=active-backup miimon=200 updelay=400 \
		primary=s0 fail_over_mac=2
	check_eq "bonds" "bond0 bond1 bond2" \
		"$(in_first ip -o link show type bond |
			sed 's/^[0-9]*: \([^:@]*\).*/\1/' | xargs)"
	check_eq "mode" "active-backup 1" "$(first_get bond2 mode)"
	check_eq "miimon" 200 "$(first_get bond2 miimon)"
	check_eq "updelay" 400 "$(first_get bond2 updelay)"
	check_eq "fail_over_mac" "follow 2" "$(first_get bond2 fail_over_mac)"
	[ ! -e /sys/class/net/bond0 ] || fail "bond0 in another namespace"
	unload
	load max_bonds=1
	check_eq "mode by default" "balance-rr 0" "$(first_get bond0 mode)"
	unload
	load
}

parameters_are_defaults() {
	allow_kmsg 'miimon must be specified|arp_interval'
	same_module
	unload
	load max_bonds=0 mode=2 xmit_hash_policy=layer3+4 miimon=50 \
		tx_queues=4 resend_igmp=7
	ip link add b0 type bond
	check_eq "mode" "balance-xor 2" "$(bond_get mode)"
	check_eq "xmit_hash_policy" "layer3+4 1" "$(bond_get xmit_hash_policy)"
	check_eq "miimon" 50 "$(bond_get miimon)"
	check_eq "resend_igmp" 7 "$(bond_get resend_igmp)"
	[ -e /sys/class/net/b0/queues/tx-3 ] || fail "fewer than 4 queues"
	[ ! -e /sys/class/net/b0/queues/tx-4 ] || fail "more than 4 queues"
	ip link add b1 type bond mode active-backup
	check_eq "mode of b1" "active-backup 1" "$(bond_get mode b1)"
	check_eq "miimon of b1" 50 "$(bond_get miimon b1)"
	check_eq "parameter" 50 "$(cat /sys/module/bonding/parameters/miimon \
		2>/dev/null || echo 50)"
	unload
	load
}

# What sysfs shows of a bad one is what is used in its place.
parameters_put_right() {
	local name

	allow_kmsg 'num_grat_arp|num_unsol_na'
	same_module
	for name in num_grat_arp num_unsol_na; do
		unload
		load max_bonds=0 "$name=256"
		ip link add b0 type bond
		check_eq "$name of a bond" 1 "$(bond_get "$name")"
		check_eq "$name" 1 \
			"$(cat "/sys/module/bonding/parameters/$name")"
	done
	unload
	load
}

parameters_refused() {
	local bad refused

	allow_kmsg 'nvalid|unknown|option|bonding'
	same_module
	unload
	for bad in mode=nonsense mode=7 mode=-1 xmit_hash_policy=layer9 \
		lacp_rate=medium ad_select=best primary_reselect=never \
		fail_over_mac=perhaps miimon=x; do
		case $bad in
		xmit_hash_policy=*) load max_bonds=0 mode=balance-xor "$bad" ;;
		lacp_rate=* | ad_select=*) load max_bonds=0 mode=4 "$bad" ;;
		fail_over_mac=* | primary_reselect=*)
			load max_bonds=0 mode=1 primary=s0 "$bad" ;;
		*) load max_bonds=0 "$bad" ;;
		esac && refused=no || refused=yes
		note "$bad refused: $refused"
		[ ! -d /sys/module/bonding ] || rmmod bonding
		check_eq "$bad refused" yes "$refused"
	done
	load
}

loads_by_itself() {
	same_module
	unload
	veth_make 0
	ip link add b0 type bond mode active-backup miimon 100
	[ -d /sys/module/bonding ] || fail "not loaded"
	ip link set s0 master b0
	ip link set b0 up
	wait_for 5000 "s0 up" slave_link_is s0 up
	unload
	load
}

bond_run "$@"
