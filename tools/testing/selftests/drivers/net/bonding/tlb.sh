#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# balance-tlb: who sends what, under which address, and who receives; flows stay
# where they are unless that slave fails or a move evens out the load.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"
# shellcheck source=lb_lib.sh
. "$bond_dir/lb_lib.sh"

bond_tests="
	spread_without_load
	spread_by_speed
	own_source_address
	foreign_source_address
	alone_by_the_active
	active_receives
	all_slaves_active
	failover
	failover_moves_no_other
	failover_loss
	returning_slave
	no_slave_left
	rebalance_evens_out
	static_placement
	dynamic_only_when_down
	gone_under_traffic
	released_under_traffic"
bond_beyond="
	spread_without_load
	spread_by_speed
	failover_moves_no_other
	returning_slave
	rebalance_evens_out"

lb_peers=(p0 p1 p2)

spread_without_load() {
	local i

	lb_make balance-tlb 3
	flows_map 240
	for i in 0 1 2; do
		check_range "flows on s$i" 60 100 "$(map_on "$map" "p$i")"
	done
}

# tap_frames - frames that t0 t1 have sent since tap_count_start, into $sent0
# and $sent1
tap_count_start() {
	was0=$(dev_stat t0 tx_packets)
	was1=$(dev_stat t1 tx_packets)
}

tap_frames() {
	sent0=$(($(dev_stat t0 tx_packets) - was0))
	sent1=$(($(dev_stat t1 tx_packets) - was1))
	note "t0 $sent0, t1 $sent1"
}

# taps_bond SPEED0 SPEED1
taps_bond() {
	taps_start "t0=$1" "t1=$2"
	ip -batch - <<-END
		link add b0 type bond mode balance-tlb miimon 100 lp_interval 10000
		link set t0 master b0
		link set t1 master b0
		link set b0 up
	END
	wait_for 5000 "t0 up" slave_link_is t0 up
	wait_for 5000 "t1 up" slave_link_is t1 up
	nap 0.3
}

spread_by_speed() {
	taps_bond 10 30
	tap_count_start
	frames 240 -f 240
	tap_frames
	check_range "frames on t0, a quarter" 45 75 "$sent0"
	check_range "frames on t1, the rest" 165 195 "$sent1"
}

# The bond's address comes by the active slave, the others' own by them.
own_source_address() {
	local i other

	lb_make balance-tlb 3
	macs_differ s0 s1 s2
	hear_start p0 p1 p2
	frames 240 -f 240
	ip link set b0 type bond lp_interval 1
	nap 2.5
	hear_stop
	for i in 0 1 2; do
		other=$(grep "^p$i " "$heard" |
			grep -cvE "^p$i [0-9]+ .{12}$(hex_mac "$(mac "s$i")")" || :)
		check_eq "frames on p$i from another address" 0 "$other"
		[ "$(heard_count "p$i" '')" -gt 0 ] || fail "nothing on p$i"
	done
	check_eq "s0's address" "$(mac b0)" "$(mac s0)"
}

# A bridged guest's frames look as if they came from the slave, too; its address
# is known by what only the active slave sends.
foreign_source_address() {
	local i guest=02:00:00:00:55:66

	lb_make balance-tlb 3
	hear_start p0 p1 p2
	frames 240 -f 240 -S "$guest"
	frames 10 -S "$guest" -t arp -d ff:ff:ff:ff:ff:ff
	hear_stop
	check_eq "the guest's ARP on p0" 10 \
		"$(heard_count p0 "f{12}$(hex_mac "$guest")0806")"
	for i in 1 2; do
		check_eq "the guest's address on p$i" 0 \
			"$(heard_count "p$i" ".{12}$(hex_mac "$guest")")"
	done
}

# by_active WHAT REGEX SEND_FRAMES-OPTION...
by_active() {
	local i

	hear_start p0 p1 p2
	frames 50 -f 50 "${@:3}"
	hear_stop
	check_eq "$1 on p0" 50 "$(heard_count p0 ".{12}.{12}$2")"
	for i in 1 2; do
		check_eq "$1 on p$i" 0 "$(heard_count "p$i" ".{12}.{12}$2")"
	done
}

alone_by_the_active() {
	local ns code dst

	lb_make balance-tlb 3
	by_active broadcast 0800 -d ff:ff:ff:ff:ff:ff
	by_active multicast 0800 -d 01:00:5e:00:01:00
	by_active IGMP 0800 -t igmp
	by_active ARP 0806 -t arp
	by_active "IPv6 multicast" 86dd -t udp6 -d 33:33:00:00:00:00
	by_active "another protocol" 88b5 -t raw
	# neighbour and router discovery to one address
	hear_start p0 p1 p2
	for code in 85 86 87 88 89; do
		for dst in 00 41 82 c3; do
			ns=0200000001${dst}$(hex_mac "$(mac b0)")86dd
			ns+=6000000000183aff$(printf 'fd%030d' 1)
			ns+=$(printf 'fd%028d' 0)$dst${code}000000
			ns+=$(printf '%040d' 0)
			"$bond_dir/arp_wire" send 0 1 b0 "$ns" >/dev/null
		done
	done
	hear_stop
	check_eq "discovery on p0" 20 "$(heard_count p0 '.{24}86dd6.{11}3a')"
	check_eq "discovery on p1, p2" 0 \
		"$(heard_count 'p[12]' '.{24}86dd6.{11}3a')"
}

# heard_by_bond INDEX MAC - is a frame that its peer sends to that address
# received by the bond?
heard_by_bond() {
	local file=$BOND_TMP/bond pid

	: >"$file"
	"$bond_dir/arp_wire" listen 600000 b0 >"$file" &
	pid=$!
	wait_for 5000 "a listener" grep -qs listening "$file"
	on_peer "$bond_dir/send_frames" -i "p$1" -n 1 -d "$2" >/dev/null
	nap 0.4
	kill "$pid"
	wait "$pid" 2>/dev/null || :
	grep -q "^b0 .* *$(hex_mac "$2")" "$file"
}

active_receives() {
	local all=ff:ff:ff:ff:ff:ff

	lb_make balance-tlb 2
	heard_by_bond 0 "$(mac b0)" || fail "not by s0"
	heard_by_bond 0 "$all" || fail "broadcast not by s0"
	must_fail heard_by_bond 1 "$(mac s1)"
	must_fail heard_by_bond 1 "$all"
	bond_set active_slave s1
	heard_by_bond 1 "$(mac b0)" || fail "not by s1"
	must_fail heard_by_bond 0 "$all"
	check_eq "state of s0" active "$(slave_get s0 state)"
}

all_slaves_active() {
	lb_make balance-tlb 2
	bond_set all_slaves_active 1
	heard_by_bond 1 ff:ff:ff:ff:ff:ff || fail "broadcast not by s1"
	bond_set all_slaves_active 0
	must_fail heard_by_bond 1 ff:ff:ff:ff:ff:ff
}

failover() {
	local bond own1

	lb_make balance-tlb 3
	bond=$(mac b0) own1=$(mac s1)
	hear_start p1 p2
	peer_down 0
	wait_for 5000 "s1 active" active_is s1
	hear_stop
	check_eq "s1's address" "$bond" "$(mac s1)"
	check_eq "s0's address" "$own1" "$(mac s0)"
	check_eq "b0's address" "$bond" "$(mac b0)"
	macs_differ s0 s1 s2
	[ "$(heard_count p1 "$(hex_mac "$bond$bond")9000")" -gt 0 ] ||
		fail "switches have not been told"
	flows_map 60
	check_eq "flows on s0" 0 "$(map_on "$map" p0)"
}

failover_moves_no_other() {
	local before i

	lb_make balance-tlb 3
	flows_map 240
	before=$map
	peer_down 1
	wait_for 5000 "s1 down" slave_link_is s1 down
	flows_map 240
	check_eq "flows on s1" 0 "$(map_on "$map" p1)"
	check_eq "flows that moved but had no need" "" \
		"$(grep -v ' p1$' "$before" | comm -23 - "$map")"
	for i in 0 2; do
		check_range "flows on s$i" 90 150 "$(map_on "$map" "p$i")"
	done
}

failover_loss() {
	local sent lost

	lb_make balance-tlb 2
	count_start
	sender_start -f 100
	flow_on 0 100
	peer_down 0
	wait_for 5000 "s1 active" active_is s1
	flow_on 1 200
	sender_stop
	count_read
	lost=$((sent - got_sum))
	note "sent $sent, got ${got[*]}, lost $lost"
	# those of two polling intervals, less a few learning packets
	check_range "frames lost" -20 250 "$lost"
}

# It gets its part of what carries nothing at once.
returning_slave() {
	lb_make balance-tlb 3
	peer_down 2
	wait_for 5000 "s2 down" slave_link_is s2 down
	peer_up 2
	wait_for 5000 "s2 up" slave_link_is s2 up
	flows_map 240
	check_range "flows on s2" 60 100 "$(map_on "$map" p2)"
	active_is s0 || fail "active: $(bond_get active_slave)"
}

no_slave_left() {
	lb_make balance-tlb 2
	peer_down 0 1
	wait_for 5000 "no active slave" active_is ""
	frames 10 -k
	peer_up 1
	wait_for 5000 "s1 active" active_is s1
	lb_peers=(p0 p1)
	flows_map 20
	check_eq "flows on s1" 20 "$(map_on "$map" p1)"
}

# flows_of_t0 COUNT - destinations of so many flows that leave by t0, found by a
# frame each, into $flows
flows_of_t0() {
	local i dst

	flows=()
	for ((i = 0; ${#flows[@]} < $1 && i < 64; i++)); do
		dst=$(printf '02:00:00:00:01:%02x' "$i")
		tap_count_start
		frames 1 -d "$dst" >/dev/null
		tap_frames
		[ "$sent0" -eq 0 ] || flows+=("$dst")
	done
	check_eq "flows on t0" "$1" "${#flows[@]}"
}

# Four heavy flows that happen to share a slave are parted within two windows,
# two and two, and then stay.
rebalance_evens_out() {
	local dst senders=()

	taps_bond 10 10
	flows_of_t0 4
	tap_count_start
	for dst in "${flows[@]}"; do
		sender_start -d "$dst" -r 50 -s 1000
		senders+=("$bond_sender")
	done
	nap 1
	tap_frames
	[ "$sent0" -gt 100 ] || fail "t0 has sent but $sent0"
	check_eq "frames on t1" 0 "$sent1"
	wait_for 25000 "even load" load_is_even
	holds_for 11000 "even load" load_is_even
	kill "${senders[@]}"
}

# Of the frames of half a second each has nearly half.
load_is_even() {
	tap_count_start
	nap 0.5
	tap_frames
	[ "$sent0" -gt 20 ] && [ "$sent1" -gt 20 ] &&
		[ $((sent0 - sent1)) -lt $(((sent0 + sent1) / 4)) ] &&
		[ $((sent1 - sent0)) -lt $(((sent0 + sent1) / 4)) ]
}

# The hash says the slave, load does not matter.
static_placement() {
	local before i

	lb_make balance-tlb 3 tlb_dynamic_lb 0 xmit_hash_policy layer2
	flows_map 240
	before=$map
	for i in 0 1 2; do
		check_range "flows on s$i" 70 90 "$(map_on "$map" "p$i")"
	done
	frames 20000 -f 4
	flows_map 240
	check_eq "flows that moved" "" "$(comm -23 "$before" "$map")"
	check_eq "/proc" "layer2 (0)" "$(bond_proc 'Transmit Hash Policy')"
	peer_down 1
	wait_for 5000 "s1 down" slave_link_is s1 down
	flows_map 240
	check_eq "flows on s1" 0 "$(map_on "$map" p1)"
	by_active broadcast 0800 -d ff:ff:ff:ff:ff:ff
}

dynamic_only_when_down() {
	lb_make balance-tlb 1
	check_eq "at first" 1 "$(bond_get tlb_dynamic_lb)"
	must_fail ip link set b0 type bond tlb_dynamic_lb 0
	check_eq "after the refusal" 1 "$(bond_get tlb_dynamic_lb)"
	ip link set b0 down
	ip link set b0 type bond tlb_dynamic_lb 0
	ip link set b0 up
	check_eq "at last" 0 "$(bond_get tlb_dynamic_lb)"
	must_fail ip link set b0 type bond arp_interval 100
}

gone_under_traffic() {
	local i

	for i in 1 2 3; do
		lb_make balance-tlb 2
		sender_start -f 100 -r 5000
		flow_on 0 100
		ip link del b0
		sender_stop
		ip -batch - <<-END
			link del s0
			link del s1
		END
	done
}

released_under_traffic() {
	local own=() i

	allow_kmsg 'permanent (HWaddr|MAC)'
	lb_make balance-tlb 3
	for i in 0 1 2; do
		own[i]=$(slave_get "s$i" perm_hwaddr)
	done
	sender_start -f 100 -r 2000
	for i in 0 1 2 0 1 2; do
		ip link set "s$i" nomaster
		check_eq "s$i's address" "${own[i]}" "$(mac "s$i")"
		ip link set "s$i" master b0
		wait_for 5000 "s$i up" slave_link_is "s$i" up
	done
	sender_stop
	macs_differ s0 s1 s2
	[ "$sent" -gt 0 ] || fail "nothing was sent"
}

bond_run "$@"
