#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The ARP/NS monitor under everything at once: a short interval, frames of all
# kinds coming in, slaves that come and go, targets, validation, the active
# slave and the bond's state changing. For a machine with truly parallel CPUs;
# the kernel must not complain, and the monitor has to work afterwards.

# shellcheck source-path=SCRIPTDIR source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"
# shellcheck source-path=SCRIPTDIR source=arpmon_lib.sh
. "$(dirname "$0")/arpmon_lib.sh"

bond_limit=180
bond_tests="active_backup balance"

storm_seconds=15

# until_over COMMAND... - again and again; it may fail
until_over() {
	while [ ! -e "$BOND_TMP/over" ]; do
		"$@" 2>/dev/null || :
	done
}

put() {
	echo "$1" >"/sys/class/net/b0/bonding/$2"
}

storm_targets() {
	put +10.0.0.3 arp_ip_target || :
	put +10.0.0.4 arp_ip_target || :
	put -10.0.0.3 arp_ip_target || :
	ip link set b0 type bond ns_ip6_target fd00::2,fd00::3 || :
	put -10.0.0.4 arp_ip_target || :
	ip link set b0 type bond ns_ip6_target fd00::2 || :
}

storm_options() {
	local value

	for value in all none filter backup filter_active active; do
		put "$value" arp_validate || :
	done
	put all arp_all_targets || :
	put 1 arp_missed_max || :
	put any arp_all_targets || :
	put 0 arp_interval || :
	put 2 arp_missed_max || :
	put 8 arp_interval || :
}

storm_slaves() {
	ip link set s2 nomaster || :
	put s1 active_slave || :
	ip link set s2 master b0 || :
	put s0 active_slave || :
}

storm_links() {
	ip link set b0 down || :
	peer_down 0 || :
	ip link set b0 up || :
	peer_up 0 || :
	peer_down 1 || :
	peer_up 1 || :
}

# Answers, requests and solicitations, a thousand a second on each port
storm_frames() {
	local mac all=ffffffffffff none=000000000000 he=020000000022 args=() i
	local ns

	read -r mac </sys/class/net/b0/address
	mac=$(hex_mac "$mac")
	ns=3333ff000002${mac}86dd6000000000183aff$(printf %032d 0)
	ns+=ff0200000000000000000001ff0000028700000000000000
	ns+=fd000000000000000000000000000002
	for i in 0 1 2; do
		args+=("p$i" "$(arp "$mac" 2 "$he" 10.0.0.2 "$mac" 10.0.0.1)")
		args+=("p$i" "$(arp "$all" 1 "$mac" 10.0.0.1 "$none" 10.0.0.2)")
		args+=("p$i" "$ns")
	done
	ip netns exec "$BOND_PEER" "$bond_dir/arp_wire" send 1 0 "${args[@]}" >/dev/null &
	sender=$!
}

# storm MODE
storm() {
	local job jobs=() what

	ipv6_set 0
	on_peer sysctl -qw net.ipv6.conf.all.disable_ipv6=0 \
		net.ipv6.conf.default.disable_ipv6=0
	allow_kmsg net_ratelimit 'permanent MAC' 'Error while setting' \
		arp_ip_target arp_missed_max 'received packet on s'
	arp_bond "$1" 3 arp_ip_target 10.0.0.2 ns_ip6_target fd00::2
	target_add lan fd00::2/64
	put 8 arp_interval
	storm_frames
	for what in targets options slaves links; do
		until_over "storm_$what" &
		jobs+=($!)
	done
	nap "$storm_seconds"
	: >"$BOND_TMP/over"
	for job in "${jobs[@]}"; do
		wait "$job"
	done
	kill "$sender"
	wait "$sender" || :
}

# works_again - the monitor has survived
works_again() {
	ip link set s2 master b0 2>/dev/null || :
	ip link set b0 up
	ip addr replace 10.0.0.1/24 dev b0
	bond_set arp_validate all
	bond_set arp_missed_max 2
	bond_set arp_interval "$iv"
	wait_for $((6 * iv + late)) "all up" links_are up up up
	lan_cut 1
	wait_for $((4 * iv + late)) "only s1 down" links_are up down up
	lan_join 1
	wait_for $((3 * iv + late)) "all up" links_are up up up
}

active_backup() {
	storm active-backup
	works_again
}

balance() {
	storm balance-rr
	works_again
}

bond_run "$@"
