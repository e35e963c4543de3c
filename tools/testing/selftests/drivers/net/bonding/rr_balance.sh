#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# balance-rr: with k of n slaves able to send, each of the k carries exactly its
# share, whatever n, k and packets_per_slave; a slave without a link carries
# nothing; IGMP sticks to one slave and does not disturb the order.
#
# One sender on one CPU: over a whole number of rounds (k times
# packets_per_slave frames) all shares are equal, over any other number they
# differ by packets_per_slave at most.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

# shares_within P LIVE DEAD N - N frames were sent: those whose index is in the
# list DEAD got none, nothing is lost, the others differ by P at most
shares_within() {
	local i min=$4 max=0

	for i in $2; do
		[ "${got[i]}" -ge "$min" ] || min=${got[i]}
		[ "${got[i]}" -le "$max" ] || max=${got[i]}
	done
	note "sent $4, got ${got[*]}"
	for i in $3; do
		check_eq "frames on s$i, which has no link" 0 "${got[i]}"
	done
	check_eq "frames that arrived" "$4" "$got_sum"
	check_range "largest minus smallest share" 0 "$1" $((max - min))
}

# share_exact P LIVE DEAD - whole rounds, then a broken one
share_exact() {
	local k

	k=$(wc -w <<<"$2")
	bond_set packets_per_slave "$1"
	count_start
	frames $((k * $1 * 50)) -c 0
	count_read
	shares_within 0 "$2" "$3" $((k * $1 * 50))
	count_start
	frames $((k * $1 * 7 + $1 + 1)) -c 0
	count_read
	shares_within "$1" "$2" "$3" $((k * $1 * 7 + $1 + 1))
}

# share_random LIVE DEAD - packets_per_slave 0: each slave's number of frames is
# within six standard deviations of its share
share_random() {
	local k n i

	k=$(wc -w <<<"$1")
	n=$((k * 1000))
	bond_set packets_per_slave 0
	count_start
	frames "$n" -c 0
	count_read
	shares_within "$n" "$1" "$2" "$n"
	for i in $1; do
		check_range "squared distance of s$i from its share" \
			0 $((36 * n * (k - 1))) $(((got[i] * k - n) ** 2))
	done
}

# share N K - N slaves, the links of s1 and those that follow it cut until K
# are left, then put back
share() {
	local n=$1 k=$2 live dead p i all

	bond_make balance-rr "$n"
	dead=$(seq -s ' ' 1 $((n - k)))
	live="0 $(seq -s ' ' $((n - k + 1)) $((n - 1)))"
	all=$(seq -s ' ' 0 $((n - 1)))
	# shellcheck disable=SC2086 # lists of numbers
	peer_down $dead
	for i in $dead; do
		wait_for 5000 "s$i down" slave_link_is "s$i" down
	done
	for p in 1 3 8; do
		share_exact "$p" "$live" "$dead"
	done
	share_random "$live" "$dead"
	[ -n "$dead" ] || return 0
	# shellcheck disable=SC2086
	peer_up $dead
	for i in $dead; do
		wait_for 5000 "s$i up" slave_link_is "s$i" up
	done
	share_exact 3 "$all" ""
}

# One case for each n and k.
for n in 2 3 4 5; do
	for ((k = 1; k <= n; k++)); do
		eval "share_n${n}_k$k() { share $n $k; }"
		bond_tests+=" share_n${n}_k$k"
		[ "$k" -eq 1 ] || [ "$k" -eq "$n" ] ||
			bond_beyond+=" share_n${n}_k$k"
	done
done

# A round of the largest packets_per_slave: any 2 * 65535 frames in a row give
# each of two slaves 65535.
largest_packets_per_slave() {
	bond_make balance-rr 2
	bond_set packets_per_slave 65535
	count_start
	frames 131070 -c 0 -b 256
	count_read
	shares_within 0 "0 1" "" 131070
}

# Past the ends of 16, 17 and 18 bits, the shares are still equal.
many_frames() {
	bond_make balance-rr 3
	count_start
	frames 300000 -c 0 -b 256
	count_read
	shares_within 0 "0 1 2" "" 300000
}

# Two senders at once: one counter each.
two_cpus() {
	local live="0 1 2"

	[ "$(nproc)" -gt 1 ] || skip "needs two CPUs"
	bond_make balance-rr 3
	bond_set packets_per_slave 3
	count_start
	frames 3001 -c 0 &
	frames 3001 -c 1 -t udp6
	wait $!
	count_read
	shares_within 6 "$live" "" 6002
}

# moving LIVE DEAD - the slaves' shares of traffic that is flowing. Their
# counters are read one after another, hence the tolerance.
moving() {
	local live=$1 dead=$2 i share

	count_start
	flow_on 0 300
	count_read
	note "on the move: ${got[*]}"
	share=$((got_sum / $(wc -w <<<"$live")))
	for i in $live; do
		check_range "share of s$i" $((share * 95 / 100 - 5)) \
			$((share * 105 / 100 + 5)) "${got[i]}"
	done
	for i in $dead; do
		check_eq "frames on s$i, which has no link" 0 "${got[i]}"
	done
}

# A link is cut and put back while frames flow at a steady rate.
link_cut_under_traffic() {
	local sent lost
	local -a all

	bond_make balance-rr 3
	count_start
	all=("${bond_seen[@]}")
	sender_start
	moving "0 1 2" ""
	peer_down 1
	wait_for 3000 "s1 down" slave_link_is s1 down
	moving "0 2" "1"
	peer_up 1
	wait_for 3000 "s1 up" slave_link_is s1 up
	moving "0 1 2" ""
	sender_stop
	bond_seen=("${all[@]}")
	count_read
	lost=$((sent - got_sum))
	note "sent $sent, lost $lost"
	# every third of those that are sent until the cut is noticed
	check_range "frames lost" 0 25 "$lost"
}

# igmp_slave - send some IGMP reports; the one slave they went to into $igmp
igmp_slave() {
	local i

	count_start
	frames 30 -t igmp -c 0
	count_read
	igmp=
	for i in "${!got[@]}"; do
		[ "${got[i]}" -ne 30 ] || igmp=$i
	done
	[ -n "$igmp" ] || fail "IGMP was spread: ${got[*]}"
}

igmp_sticks_to_a_slave() {
	local igmp first

	bond_make balance-rr 3
	frames 1 -c 0
	igmp_slave
	first=$igmp
	frames 1 -c 0
	igmp_slave
	check_eq "slave of the second reports" "$first" "$igmp"
	peer_down "$first"
	wait_for 5000 "s$first down" slave_link_is "s$first" down
	igmp_slave
	[ "$igmp" != "$first" ] || fail "IGMP to a slave without link"
}

# sent_by - the slave that one frame goes to, into $at
sent_by() {
	local i

	count_start
	frames 1 -c 0
	count_read
	for i in "${!got[@]}"; do
		[ "${got[i]}" -eq 0 ] || at=$i
	done
	check_eq "frames that arrived" 1 "$got_sum"
}

igmp_leaves_the_order_alone() {
	local at igmp was round

	bond_make balance-rr 3
	sent_by
	for round in 1 2 3 4 5 6; do
		was=$at
		igmp_slave
		sent_by
		check_eq "slave in round $round" $(((was + 1) % 3)) "$at"
	done
}

bond_beyond+=" link_cut_under_traffic"
bond_tests+="
	largest_packets_per_slave
	many_frames
	two_cpus
	link_cut_under_traffic
	igmp_sticks_to_a_slave
	igmp_leaves_the_order_alone"
bond_run "$@"
