#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# XDP frames on their way out of a bond: XDP_TX and redirection leave by the
# slave that the mode picks, frame by frame, in every mode.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"
# shellcheck source=xdp_lib.sh
. "$(dirname "$0")/xdp_lib.sh"
# shellcheck source=lb_lib.sh
. "$bond_dir/lb_lib.sh"
# shellcheck source=lacp_lib.sh
. "$(dirname "$0")/lacp_lib.sh"

bond_limit=150
bond_tests="
	tx_rr
	tx_rr_packets_per_slave
	tx_active_backup
	tx_xor
	tx_broadcast
	tx_tlb
	tx_alb
	redirect_rr
	redirect_active_backup
	redirect_xor
	redirect_broadcast
	redirect_tlb
	redirect_tlb_static
	redirect_alb
	tx_8023ad
	redirect_8023ad
	no_aggregator
	failover_next_frame
	no_slave
	tx_after_changes
	bond_down
"
bond_beyond="
	tx_broadcast
	tx_tlb
	tx_alb
	redirect_broadcast
	redirect_tlb
	redirect_tlb_static
	redirect_alb
	redirect_xor
	redirect_active_backup
	redirect_rr
	no_slave
	tx_rr
	tx_8023ad
	redirect_8023ad
	no_aggregator
"

# --- XDP_TX ---

tx_rr() {
	xdp_bond balance-rr 4
	xdp attach -d b0 -p tx
	count_start
	from_peer 0 400
	wait_got 100 100 100 100
	for i in 0 1 2 3; do
		counter_is "s${i}_xdp_tx" 100
	done
}

tx_rr_packets_per_slave() {
	xdp_bond balance-rr 2 packets_per_slave 5
	xdp attach -d b0 -p tx
	count_start
	from_peer 0 100
	wait_got 50 50
	count_start
	from_peer 1 5
	busywait 5000 sum_is 5 || fail "lost"
	case "${got[*]}" in
	"5 0" | "0 5") ;;
	*) fail "a run of 5 was spread: ${got[*]}" ;;
	esac
}

sum_is() {
	count_read
	[ "$got_sum" = "$1" ]
}

tx_active_backup() {
	xdp_bond active-backup 2
	xdp attach -d b0 -p tx
	bond_set active_slave s0
	count_start
	from_peer 0 100
	wait_got 100 0
	counter_is s0_xdp_tx 100
	counter_is s1_xdp_tx 0
}

# Flows stay where the hash puts them, and all slaves are used.
tx_xor() {
	xdp_bond balance-xor 2 xmit_hash_policy vlan+srcmac
	xdp attach -d b0 -p tx
	count_start
	from_peer 1 300 -f 10 -S 02:00:00:00:02:10
	from_peer 1 300 -f 10 -S 02:00:00:00:02:11
	busywait 5000 sum_is 600 || fail "lost: ${got[*]}"
	check_range "frames by s0" 1 599 "${got[0]}"
	count_start
	from_peer 0 50 -f 1
	busywait 5000 sum_is 50 || fail "lost: ${got[*]}"
	case "${got[*]}" in
	"50 0" | "0 50") ;;
	*) fail "one flow was spread: ${got[*]}" ;;
	esac
}

tx_broadcast() {
	xdp_bond broadcast 3
	xdp attach -d b0 -p tx
	count_start
	from_peer 0 200
	wait_got 200 200 200
	for i in 0 1 2; do
		counter_is "s${i}_xdp_redirect" 200
	done
}

# flows_heard FLOWS - which peer each flow came to, one "flow peer" a line, into
# the file $map; sources have to be those of the slaves
flows_heard() {
	local i

	map=$BOND_TMP/map.$RANDOM
	awk '$3 ~ /^0200000001..............0800/ {
		print substr($3, 11, 2), $1
	}' "$heard" | sort >"$map"
	check_eq "flows that arrived" "$1" "$(wc -l <"$map")"
	for i in 0 1 2; do
		[ "$(map_on "$map" "p$i")" -gt 0 ] || fail "none by s$i"
	done
	for i in 1 2; do
		check_eq "frames by s$i with the slave's own source" \
			"$(map_on "$map" "p$i")" "$(heard_count "p$i" \
			"0200000001..$(hex_mac "$(mac "s$i")")0800")"
	done
}

# What the program answers leaves by the slave of its flow, under that slave's
# address unless it is the active one.
tx_flows() {
	lb_make "$@"
	peers_xdp 3
	xdp attach -d b0 -p tx
	hear_start p0 p1 p2
	from_peer 0 60 -f 60 -D
	from_peer 0 1 -t arp -d ff:ff:ff:ff:ff:ff -S 02:00:00:00:77:77
	wait_for 5000 "the last frame" grep -q '^p0 .*0200000077770806' \
		"$heard"
	hear_stop
	flows_heard 60
	check_eq "frames by s0 with the source that they had" \
		"$(map_on "$map" p0)" "$(heard_count p0 \
		"0200000001..$(hex_mac "$(<"$PEER_SYS/class/net/p0/address")")0800")"
	check_eq "ARP by s0, as it was" 1 \
		"$(heard_count p0 'f{12}0200000077770806')"
	check_eq "ARP by others" 0 "$(heard_count 'p[12]' 'f{12}.{12}0806')"
}

tx_tlb() { tx_flows balance-tlb 3; }
tx_alb() { tx_flows balance-alb 3; }

# --- redirection to the bond ---

redirect() {
	xdp_bond "$@"
	in_make
	xdp attach -d in0 -p redirect -t b0
	count_start
}

redirect_rr() {
	redirect balance-rr 4
	from_peer in 400
	wait_got 100 100 100 100
	for i in 0 1 2 3; do
		counter_is "s${i}_xdp_redirect" 100
		counter_is "s${i}_xdp_drop" 0
	done
	# a bulk that does not divide
	xdp run -d in0 -p redirect -t b0 -c 96 -b 13
	wait_got 124 124 124 124
}

redirect_active_backup() {
	redirect active-backup 2
	bond_set active_slave s1
	count_start
	from_peer in 300
	wait_got 0 300
	counter_is s1_xdp_redirect 300
}

redirect_xor() {
	local -a xdp

	redirect balance-xor 3 xmit_hash_policy layer3+4
	from_peer in 900 -f 90
	busywait 5000 sum_is 900 || fail "lost: ${got[*]}"
	xdp=("${got[@]}")
	# the same frames by the stack leave the same way
	count_start
	frames 900 -f 90 -S "$(<"$PEER_SYS/class/net/pin/address")"
	wait_got "${xdp[@]}"
}

redirect_broadcast() {
	redirect broadcast 3
	from_peer in 333
	wait_got 333 333 333
	counter_is s2_xdp_redirect 333
}

# What is redirected leaves as what the stack sends: by the same slave, under
# the same source.
redirect_flows() {
	local by_stack

	lb_peers=(p0 p1 p2)
	lb_make "$@"
	peers_xdp 3
	in_make
	xdp attach -d in0 -p redirect -t b0
	flows_map 90 -D
	by_stack=$map
	hear_start p0 p1 p2
	from_peer in 90 -f 90 -D
	wait_for 5000 "the last frame" grep -q '020000000159' "$heard"
	hear_stop
	flows_heard 90
	check_eq "flows that left by another slave" "" \
		"$(comm -3 "$by_stack" "$map")"
	check_eq "frames by s0 with the source that they had" \
		"$(map_on "$map" p0)" "$(heard_count p0 \
		"0200000001..$(hex_mac "$(<"$PEER_SYS/class/net/pin/address")")0800")"
}

# not by layer2, which looks at the source: that differs
redirect_tlb() { redirect_flows balance-tlb 3 xmit_hash_policy layer3+4; }
redirect_tlb_static() {
	redirect_flows balance-tlb 3 tlb_dynamic_lb 0 xmit_hash_policy layer3+4
}
redirect_alb() { redirect_flows balance-alb 3; }

# --- 802.3ad ---

# sent COUNT HOW SLAVE... - the slaves have sent so many in all since
# sent_start, each of them some of them; HOW is tx or redirect. XDP_TX returns
# LACPDUs, too.
sent() {
	local count=$1 how=$2 i n sum=0

	shift 2
	for i; do
		n=$(($(counter "s${i}_xdp_$how") - sent_before[i]))
		note "s$i: $n"
		[ "$n" -gt 0 ] || return 1
		sum=$((sum + n))
	done
	[ "$sum" -ge "$count" ] && [ "$sum" -le $((count + 2)) ]
}

sent_start() {
	local i

	for i in 0 1 2; do
		sent_before[i]=$(counter "s${i}_xdp_$1")
	done
}

# s0 s1 distribute, the peer of s2 does not speak LACP
two_of_three() {
	xdp_bond 802.3ad 3
	lacp_peer_add 2
	lacp_joined 2
	wait_for 5000 "s2 up" slave_link_is s2 up
}

tx_8023ad() {
	two_of_three
	xdp attach -d b0 -p tx
	sent_start tx
	from_peer 2 600 -f 60
	wait_for 5000 "600 frames by s0 s1" sent 600 tx 0 1
	check_eq "frames by s2" "${sent_before[2]}" "$(counter s2_xdp_tx)"
}

redirect_8023ad() {
	two_of_three
	in_make
	xdp attach -d in0 -p redirect -t b0
	sent_start redirect
	from_peer in 600 -f 60
	wait_for 5000 "600 frames by s0 s1" sent 600 redirect 0 1
	counter_is s2_xdp_redirect 0
	# the link of s1 is back, its partner is not
	ip -n "$BOND_PEER" link set p1 nomaster
	wait_for 5000 "s1 out" slave_is s1 backup
	ip -n "$BOND_PEER" link set p1 up
	wait_for 5000 "s1 up" slave_link_is s1 up
	sent_start redirect
	from_peer in 300 -f 60
	wait_for 5000 "300 frames by s0" sent 300 redirect 0
	check_eq "frames by s1" "${sent_before[1]}" \
		"$(counter s1_xdp_redirect)"
}

# Before anybody answers: dropped, and counted by reason.
no_aggregator() {
	xdp_bond 802.3ad 1
	bond_set lacp_fallback none
	wait_for 5000 "s0 out" slave_is s0 backup
	in_make
	xdp attach -d in0 -p redirect -t b0
	from_peer in 7
	wait_for 5000 "7 drops" drops_are 7
	lacp_peer_add 1
	lacp_joined 1
	sent_start redirect
	from_peer in 50
	wait_for 5000 "50 frames" sent 50 redirect 0
	counter_is drop_xdp_no_slave 7
}

# --- links come and go ---

# With the first frame after the change, not with the next bulk or poll.
failover_next_frame() {
	local i

	xdp_bond active-backup 2
	in_make
	xdp attach -d in0 -p redirect -t b0
	xdp attach -d b0 -p tx
	for i in 0 1 0 1; do
		bond_set active_slave "s$i"
		count_start
		from_peer in 1
		busywait 5000 sum_is 1 || fail "redirected frame is lost"
		check_eq "frames by s$i" 1 "${got[i]}"
		from_peer 0 1
		busywait 5000 sum_is 2 || fail "frame of XDP_TX is lost"
		check_eq "frames by s$i" 2 "${got[i]}"
	done
	bond_set active_slave s0
	peer_down 0
	wait_for 5000 "s1 active" active_is s1
	count_start
	from_peer in 10
	wait_got 0 10
}

# Nobody can send: dropped, and counted by reason.
no_slave() {
	xdp_bond active-backup 2
	in_make
	xdp attach -d in0 -p redirect -t b0
	peer_down 0 1
	wait_for 5000 "no active slave" active_is ""
	count_start
	from_peer in 7
	wait_for 5000 "7 drops" drops_are 7
	peer_up 0 1
	wait_for 5000 "an active slave" carrier_is b0 1
	from_peer in 7
	busywait 5000 sum_is 7 || fail "lost: ${got[*]}"
	counter_is drop_xdp_no_slave 7
}

drops_are() {
	[ "$(counter drop_xdp_no_slave)" = "$1" ]
}

# Options and the mode change under the program.
tx_after_changes() {
	allow_kmsg 'permanent HWaddr'
	xdp_bond balance-rr 2
	xdp attach -d b0 -p tx
	bond_set packets_per_slave 5
	count_start
	from_peer 1 5
	busywait 5000 sum_is 5 || fail "lost"
	case "${got[*]}" in
	"5 0" | "0 5") ;;
	*) fail "a run of 5 was spread: ${got[*]}" ;;
	esac
	ip link set b0 down
	ip link set s0 nomaster
	ip link set s1 nomaster
	bond_set mode active-backup
	ip link set s0 master b0
	ip link set s1 master b0
	ip link set b0 up
	wait_for 5000 "s0 active" active_is s0
	count_start
	from_peer 1 20
	wait_got 20 0
}

# A bond that is down sends nothing, nor do its slaves.
bond_down() {
	xdp_bond balance-rr 2
	xdp attach -d b0 -p tx
	ip link set b0 down
	ip link set s0 up
	ip link set s1 up
	count_start
	from_peer 0 20
	nap 0.3
	wait_got 0 0
	ip link set b0 up
	wait_for 5000 "s0 up" slave_link_is s0 up
	wait_for 5000 "s1 up" slave_link_is s1 up
	count_start
	from_peer 0 20
	wait_got 10 10
}

bond_run "$@"
