#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The ARP monitor's receive side: which frames keep a link up, for each value
# of arp_validate, on an active and on a backup slave. Seven bonds, one for each
# value, get the same frames at the same time.

# shellcheck source-path=SCRIPTDIR source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"
# shellcheck source-path=SCRIPTDIR source=arpmon_lib.sh
. "$(dirname "$0")/arpmon_lib.sh"

bond_limit=240
bond_tests="
	active
	search_is_strict
	malformed
	backup
	backup_before_the_active
	balance
	tagged_arp_is_arp
	stacked_answer
	answer_to_nobody"
bond_beyond="
	search_is_strict
	balance
	stacked_answer
	answer_to_nobody"

values=(none active backup all filter filter_active filter_backup)

# frame_make KIND NUMBER MAC - what the peer of a slave of that bond sends; MAC
# is the bond's
frame_make() {
	local mac ours=10.0.$2.1 target=10.0.$2.2 net=10.0.$2
	local all=ffffffffffff none=000000000000
	local he=020000000022 other=029999999999

	mac=$(hex_mac "$3")
	case $1 in
	answer) arp "$mac" 2 "$he" "$target" "$mac" "$ours" ;;
	question) arp "$all" 1 "$he" "$target" "$none" "$ours" ;;
	announcement) arp "$all" 1 "$he" "$target" "$none" "$target" ;;
	own_request) arp "$all" 1 "$mac" "$ours" "$none" "$target" ;;
	strangers) arp "$all" 1 "$he" "$net.77" "$none" "$net.78" ;;
	answer_to_other_ip) arp "$mac" 2 "$he" "$target" "$mac" "$net.9" ;;
	answer_to_other_mac) arp "$other" 2 "$he" "$target" "$other" "$ours" ;;
	answer_to_nobody) arp "$mac" 2 "$he" "$target" "$mac" 0.0.0.0 ;;
	tagged_answer)
		arp "$mac" 2 "$he" "$target" "$mac" "$ours" 81000009 ;;
	stacked_answer)
		arp "$mac" 2 "$he" "$target" "$mac" "$ours" 88a800098100000a ;;
	short_arp) echo "$mac${he}08060001080006040002" ;;
	long_address)
		echo "$mac${he}08060001080020040002$(printf '%0128d' 0)" ;;
	ip)
		echo "$mac${he}08004500001c0001000040110000$(hex_ip "$target")\
$(hex_ip "$ours")00090009000800000000000000000000000000000000" ;;
	esac
}

sender=

# send_only KIND SLAVE-OF... - from now on frames of that kind and no others, ten
# a second, to the slaves given as SLAVE:BOND-NUMBER; "quiet" is none. Without a
# gap: the old ones end when the new ones have begun.
send_only() {
	local before=$sender

	sender=
	[ "$1" = quiet ] || send_start "$@"
	[ -z "$before" ] || kill "$before"
}

send_start() {
	local kind=$1 args=() at mac

	shift
	# what the stack has to say of such frames
	allow_kmsg '^net_ratelimit: '
	[ -x "$bond_dir/arp_wire" ] || skip "run make in $bond_dir first"
	for at; do
		read -r mac <"/sys/class/net/b${at#*:}/address"
		args+=("p${at%:*}" "$(frame_make "$kind" "${at#*:}" "$mac")")
	done
	[ -p "$BOND_TMP/ready" ] || mkfifo "$BOND_TMP/ready"
	# no function, so that this is the process that gets killed
	ip netns exec "$BOND_PEER" "$bond_dir/arp_wire" send 100 0 \
		"${args[@]}" >"$BOND_TMP/ready" &
	sender=$!
	read -r <"$BOND_TMP/ready"
}

# states SLAVE... - up or down, in one line, into $got_states
states() {
	local slave word

	got_states=
	for slave; do
		read -r word <"/sys/class/net/$slave/bonding_slave/mii_status"
		[ "$word" = up ] || word=down
		got_states+="${got_states:+ }$word"
	done
}

# states_are WANTED SLAVE...
states_are() {
	local wanted=$1

	shift
	states "$@"
	[ "$got_states" = "$wanted" ]
}

# states_stay WANTED SLAVE... - those that should be up, and if $strict all
states_stay() {
	local want got i

	states_are "$@" && return
	read -r -a want <<<"$1"
	read -r -a got <<<"$got_states"
	for i in "${!want[@]}"; do
		[ "${got[i]}" = "${want[i]}" ] && continue
		[ -n "$strict" ] || [ "${want[i]}" = up ] || continue
		note "then: $got_states"
		return 1
	done
}

# The in-tree driver takes a slave that looks for a target now for an active and
# now for a backup one, and may for a moment believe what it should not: only
# cases that are beyond it ask that dead links stay dead.
strict=

# judged KIND WANTED SLAVE:BOND... - with those frames the links become, and
# stay, as wanted ("up down ...", in the order of the values)
judged() {
	local kind=$1 wanted=$2 slaves=() at

	shift 2
	for at; do
		slaves+=("s${at%:*}")
	done
	send_only "$kind" "$@"
	busywait $((6 * iv + late)) states_are "$wanted" "${slaves[@]}" ||
		fail "$kind: wanted $wanted, got $got_states (${values[*]})"
	holds_for $((5 * iv)) "$kind: $wanted (${values[*]})" \
		states_stay "$wanted" "${slaves[@]}"
}

# bonds_active - bond N validates by value N; its only slave is sN, whose peer
# is silent
bonds_active() {
	local n

	veth_make 0 1 2 3 4 5 6
	peers_strict
	for n in 0 1 2 3 4 5 6; do
		arp_bond_new "$n" "${1-active-backup}" "s$n" -- \
			arp_ip_target "10.0.$n.2" arp_validate "${values[n]}"
		check_eq "arp_validate of b$n" "${values[n]} $n" \
			"$(bond_get arp_validate "b$n")"
	done
}

on_active=(0:0 1:1 2:2 3:3 4:4 5:5 6:6)

active() {
	local any="up down up down up down up"
	local all_up="up up up up up up up"
	local all_down="down down down down down down down"

	bonds_active
	judged answer "$all_up" "${on_active[@]}"
	judged quiet "$all_down" "${on_active[@]}"
	judged strangers "$any" "${on_active[@]}"
	judged question "$all_up" "${on_active[@]}"
	judged announcement "$any" "${on_active[@]}"
	judged answer "$all_up" "${on_active[@]}"
	judged own_request "$any" "${on_active[@]}"
	judged answer_to_other_ip "$any" "${on_active[@]}"
	judged answer_to_other_mac "$any" "${on_active[@]}"
	judged ip "up down up down down down down" "${on_active[@]}"
}

# The same while a slave looks for a target.
search_is_strict() {
	local any="up down up down up down up"

	strict=y
	bonds_active
	judged quiet "down down down down down down down" "${on_active[@]}"
	judged strangers "$any" "${on_active[@]}"
	judged own_request "$any" "${on_active[@]}"
	judged announcement "$any" "${on_active[@]}"
}

# Where the content matters, what has none is nothing.
malformed() {
	bonds_active
	judged short_arp "down down down" 1:1 3:3 5:5
	judged long_address "down down down" 1:1 3:3 5:5
	judged answer "up up up" 1:1 3:3 5:5
}

# bonds_backup - bond N has the slaves s(2N), whose peer is the target, and
# s(2N+1), whose peer is silent
bonds_backup() {
	local n a b

	mapfile -t n < <(seq 0 13)
	veth_make "${n[@]}"
	peers_strict
	for n in 0 1 2 3 4 5 6; do
		a=$((2 * n)) b=$((2 * n + 1))
		target_add "p$a" "10.0.$n.2/24"
		arp_bond_new "$n" active-backup "s$a" "s$b" -- \
			arp_ip_target "10.0.$n.2" arp_validate "${values[n]}" \
			primary "s$a"
	done
	for n in 0 1 2 3 4 5 6; do
		wait_for 5000 "s$((2 * n)) active" \
			active_is "s$((2 * n))" "b$n"
	done
}

on_backup=(1:0 3:1 5:2 7:3 9:4 11:5 13:6)

backup() {
	local any="up up down down up up down"
	local n

	bonds_backup
	judged quiet "down down down down down down down" "${on_backup[@]}"
	judged own_request "up up up up up up up" "${on_backup[@]}"
	judged strangers "$any" "${on_backup[@]}"
	judged answer "$any" "${on_backup[@]}"
	judged announcement "$any" "${on_backup[@]}"
	judged ip "up up down down down down down" "${on_backup[@]}"
	for n in 0 1 2 3 4 5 6; do
		check_eq "failures of the active slave of b$n" 0 \
			"$(failures "s$((2 * n))")"
	done
}

# What a backup slave overhears is no sign of life while nobody has an answer;
# an answer is one then, on any slave.
backup_before_the_active() {
	veth_make 0 1
	peers_strict
	arp_bond_new 0 active-backup s0 s1 -- \
		arp_ip_target 10.0.0.2 arp_validate all
	wait_for $((9 * iv + late)) "no active slave" active_is ""
	send_only own_request 1:0
	holds_for $((6 * iv)) "no active slave" active_is ""
	send_only answer 1:0
	wait_for $((4 * iv + late)) "s1 active" active_is s1
}

# Where all slaves ask, all of them are judged by answers, also after a failure:
# another slave's requests must not bring a dead link back.
balance() {
	local any="up down up down up down up"

	strict=y
	bonds_active balance-xor
	judged answer "up up up up up up up" "${on_active[@]}"
	judged own_request "$any" "${on_active[@]}"
	judged strangers "$any" "${on_active[@]}"
	judged ip "up down up down down down down" "${on_active[@]}"
}

tagged_arp_is_arp() {
	bonds_active
	judged quiet "down down down down down down down" "${on_active[@]}"
	judged tagged_answer "up up up up up up up" "${on_active[@]}"
}

stacked_answer() {
	bonds_active
	judged quiet "down down down down down down down" "${on_active[@]}"
	judged stacked_answer "up up up up up up up" "${on_active[@]}"
}

# A probe without a route names no source, and so does its answer; with a route
# it is no answer of ours.
answer_to_nobody() {
	local n

	bonds_active
	judged answer_to_nobody "up down up down up down up" "${on_active[@]}"
	for n in 0 1 2 3 4 5 6; do
		ip route del "10.0.$n.0/24" dev "b$n"
	done
	judged answer_to_nobody "up up up up up up up" "${on_active[@]}"
}

bond_run "$@"
