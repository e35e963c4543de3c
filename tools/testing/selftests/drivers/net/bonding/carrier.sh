#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The bond has carrier exactly while a slave can send, in each mode, and says
# the same everywhere it says it.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	without_slaves
	down_without_slaves
	bond_set_down
	rename"

for mode in balance_rr active_backup balance_xor broadcast; do
	eval "follows_links_$mode() { follows_links ${mode/_/-}; }"
	eval "follows_slaves_$mode() { follows_slaves ${mode/_/-}; }"
	eval "at_once_$mode() { at_once ${mode/_/-}; }"
	bond_tests+=" follows_links_$mode follows_slaves_$mode at_once_$mode"
	bond_beyond+=" at_once_$mode"
done

# carrier_becomes 0|1 [MS] - and all readers agree
carrier_becomes() {
	local word=down

	[ "$1" = 0 ] || word=up
	wait_for "${2-5000}" "carrier $1" carrier_is b0 "$1"
	check_eq "sysfs mii_status" "$word" "$(bond_get mii_status)"
	check_eq "/proc MII Status" "$word" "$(bond_proc 'MII Status')"
	wait_for 2000 "operstate $word" operstate_is "$word"
}

operstate_is() {
	local state

	read -r state </sys/class/net/b0/operstate
	[ "$state" = "$1" ]
}

follows_links() {
	bond_make "$1" 2
	carrier_becomes 1
	peer_down 0
	wait_for 5000 "s0 down" slave_link_is s0 down
	carrier_becomes 1
	peer_down 1
	carrier_becomes 0
	peer_up 0
	carrier_becomes 1
}

# Taken out one by one, put down and up, put back.
follows_slaves() {
	allow_kmsg 'permanent (HWaddr|MAC)'
	bond_make "$1" 2
	carrier_becomes 1
	ip link set s0 nomaster
	carrier_becomes 1
	ip link set s1 down
	carrier_becomes 0
	ip link set s1 up
	carrier_becomes 1
	ip link set s1 nomaster
	carrier_becomes 0
	ip link set s0 down
	ip link set s0 master b0
	carrier_becomes 1
}

# By the slave's own carrier event, not by the next poll.
at_once() {
	bond_make "$1" 2 miimon 20000
	peer_down 0 1
	carrier_becomes 0 2000
	peer_up 0
	carrier_becomes 1 2000
}

without_slaves() {
	ip link add b0 type bond mode balance-rr miimon 100
	ip link set b0 up
	holds_for 400 "no carrier" carrier_is b0 0
	check_eq "sysfs mii_status" down "$(bond_get mii_status)"
	check_eq "/proc MII Status" down "$(bond_proc 'MII Status')"
	frames 10 -k
}

down_without_slaves() {
	ip link add b0 type bond mode active-backup miimon 100
	check_eq "sysfs mii_status" down "$(bond_get mii_status)"
	carrier_is b0 0 || fail "carrier"
}

bond_set_down() {
	bond_make balance-xor 2
	carrier_becomes 1
	ip link set b0 down
	wait_for 1000 "operstate down" operstate_is down
	ip link set b0 up
	carrier_becomes 1
	count_start
	frames 100 -f 10
	count_read
	check_eq "frames that arrived" 100 "$got_sum"
}

rename() {
	bond_make balance-rr 2
	ip link set b0 down
	ip link set b0 name b1
	ip link set b1 up
	wait_for 5000 "carrier on" carrier_is b1 1
	check_eq "/proc MII Status" up "$(bond_proc 'MII Status' b1)"
	[ ! -e /proc/net/bonding/b0 ] || fail "/proc/net/bonding/b0 remains"
}

bond_run "$@"
