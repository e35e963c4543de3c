#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The MII monitor as a timekeeper: a link counts as down (up) when it has been
# down (up) for downdelay (updelay), not before and not much later; what it is
# meanwhile; and what is counted. The carrier of a slave is cut at its peer.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	no_delays
	downdelay_lasts
	updelay_lasts
	downdelay_interrupted
	updelay_interrupted
	failures_are_counted
	delays_are_multiples
	delays_need_miimon
	monitor_off
	interval_changed_while_up
	delay_set_while_waiting
	ends_with_the_bond"
bond_beyond="
	interval_changed_while_up"

link_becomes() {
	wait_for "${3-5000}" "s$1 $2" slave_link_is "s$1" "$2"
}

# agrees INDEX WORD - what /proc and netlink say of a slave's link, unless it
# has changed by the time that they have been asked
agrees() {
	local proc nl

	proc=$(slave_proc "s$1" 'MII Status')
	nl=$(ip -d -o link show "s$1" |
		sed -n 's/.* mii_status \(GOING_[A-Z]*\|[A-Z]*\) .*/\1/p')
	slave_link_is "s$1" "$2" || return 0
	check_eq "/proc of s$1" "$2" "$proc"
	check_eq "netlink of s$1" "${2^^}" "${nl//_/ }"
}

# took WHAT MS - since $begin: not less than MS and not much more (polls, and a
# machine that has other things to do)
took() {
	local now

	now_ms
	note "$1: $((now - begin)) ms, of which $bond_late late"
	check_range "ms until $1" "$2" $(($2 + 500 + bond_late)) $((now - begin))
}

# starting - from when took() counts
starting() {
	local now

	now_ms
	begin=$now
	bond_late=0
}

no_delays() {
	local begin

	bond_make balance-rr 2 miimon 50
	starting
	peer_down 1
	link_becomes 1 down
	took "s1 is down" 0
	agrees 1 down
	agrees 0 up
	starting
	peer_up 1
	link_becomes 1 up
	took "s1 is up" 0
	agrees 1 up
}

downdelay_lasts() {
	local begin

	bond_make balance-rr 2 miimon 100 downdelay 1000
	starting
	peer_down 1
	link_becomes 1 "going down" 1000
	agrees 1 "going down"
	link_becomes 1 down
	took "s1 is down" 1000
	agrees 1 down
}

updelay_lasts() {
	local begin

	bond_make balance-rr 2 miimon 100 updelay 1500
	peer_down 1
	link_becomes 1 down
	starting
	peer_up 1
	link_becomes 1 "going back" 1000
	agrees 1 "going back"
	link_becomes 1 up
	took "s1 is up" 1500
	agrees 1 up
}

# A link that returns in time was never down.
downdelay_interrupted() {
	bond_make active-backup 2 miimon 100 downdelay 2000
	peer_down 0
	link_becomes 0 "going down"
	peer_up 0
	link_becomes 0 up 1000
	active_is s0 || fail "active: $(bond_get active_slave)"
	# and the next time it has the whole delay again
	peer_down 0
	link_becomes 0 "going down"
	holds_for 1000 "s0 going down" slave_link_is s0 "going down"
	link_becomes 0 down 4000
}

updelay_interrupted() {
	bond_make balance-rr 2 miimon 100 updelay 2000
	peer_down 1
	link_becomes 1 down
	peer_up 1
	link_becomes 1 "going back"
	peer_down 1
	link_becomes 1 down 1000
	peer_up 1
	link_becomes 1 "going back"
	holds_for 1000 "s1 going back" slave_link_is s1 "going back"
	link_becomes 1 up 4000
}

failures_are_counted() {
	local i

	bond_make balance-rr 2
	check_eq "link failures of s1" 0 "$(slave_get s1 link_failure_count)"
	for i in 1 2 3; do
		peer_down 1
		link_becomes 1 down
		peer_up 1
		link_becomes 1 up
		check_eq "link failures of s1" "$i" \
			"$(slave_get s1 link_failure_count)"
	done
	check_eq "/proc" 3 "$(slave_proc s1 'Link Failure Count')"
	check_eq "netlink" 3 "$(link_attr s1 link_failure_count)"
	check_eq "link failures of s0" 0 "$(slave_get s0 link_failure_count)"
}

delays_are_multiples() {
	allow_kmsg 'multiple of miimon'
	bond_make balance-rr 1 miimon 100
	echo 250 >/sys/class/net/b0/bonding/updelay
	check_eq "updelay 250 at miimon 100" 200 "$(bond_get updelay)"
	echo 99 >/sys/class/net/b0/bonding/downdelay
	check_eq "downdelay 99 at miimon 100" 0 "$(bond_get downdelay)"
	bond_set downdelay 300
	check_eq "/proc Up Delay" 200 "$(bond_proc 'Up Delay (ms)')"
	check_eq "/proc Down Delay" 300 "$(bond_proc 'Down Delay (ms)')"
	check_eq "netlink updelay" 200 "$(link_attr b0 updelay)"
}

delays_need_miimon() {
	allow_kmsg 'MII|miimon|delay'
	ip link add b0 type bond mode balance-rr
	must_fail bash -c 'echo 100 >/sys/class/net/b0/bonding/updelay'
	must_fail bash -c 'echo 100 >/sys/class/net/b0/bonding/downdelay'
	must_fail ip link set b0 type bond updelay 100
	check_eq "updelay" 0 "$(bond_get updelay)"
	check_eq "downdelay" 0 "$(bond_get downdelay)"
}

# Without a monitor, every slave counts as up.
monitor_off() {
	bond_make balance-rr 2
	bond_set miimon 0
	peer_down 1
	holds_for 500 "s1 up" slave_link_is s1 up
	bond_set miimon 100
	link_becomes 1 down
}

interval_changed_while_up() {
	local begin

	bond_make balance-rr 2 miimon 30000
	bond_set miimon 50
	starting
	peer_down 1
	link_becomes 1 down
	took "s1 is down" 0
}

# The delay of a change that has begun is the one at its beginning.
delay_set_while_waiting() {
	bond_make balance-rr 2 miimon 100 downdelay 1500
	peer_down 1
	link_becomes 1 "going down"
	bond_set updelay 200
	bond_set downdelay 0
	link_becomes 1 down 2500
	peer_up 1
	link_becomes 1 up 2000
}

ends_with_the_bond() {
	bond_make balance-rr 2 miimon 10 downdelay 1000
	peer_down 1
	link_becomes 1 "going down"
	ip link set b0 down
	ip link set b0 up
	ip link del b0
	[ ! -e /sys/class/net/s1/bonding_slave ] || fail "s1 is still a slave"
}

bond_run "$@"
