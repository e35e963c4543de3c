# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153,SC2154 # bond_lib.sh has set these
#
# What cases of the bonding tests send and count frames with, and devices that
# have a speed. Part of bond_lib.sh, which reads it.

# --- for cases: sending and counting ---

# frames COUNT [SEND_FRAMES-OPTION...] - send exactly COUNT frames by b0 (or by
# the device given with -i); see send_frames.c
frames() {
	local count=$1

	shift
	[ -x "$bond_dir/send_frames" ] || skip "run make in $bond_dir first"
	"$bond_dir/send_frames" -i b0 -n "$count" "$@"
}

# sender_start [SEND_FRAMES-OPTION...] - send by b0 until sender_stop, 1000
# frames a second unless -r says otherwise
sender_start() {
	[ -x "$bond_dir/send_frames" ] || skip "run make in $bond_dir first"
	"$bond_dir/send_frames" -i b0 -n 1000000000 -r 1000 -k "$@" \
		>"$BOND_TMP/sender" &
	bond_sender=$!
}

# sender_stop - how many it has sent, those that were refused among them, into
# $sent
sender_stop() {
	local refused

	kill "$bond_sender"
	wait "$bond_sender" || fail "the sender failed"
	read -r _ sent _ refused <"$BOND_TMP/sender"
	sent=$((sent + refused))
}

# flow_on INDEX COUNT - wait until that peer has received so many frames more
flow_on() {
	local file=$PEER_SYS/class/net/p$1/statistics/rx_packets

	wait_for 20000 "$2 frames on s$1" flow_reached "$file" \
		$(($(<"$file") + $2))
}

flow_reached() {
	local n

	read -r n <"$1"
	[ "$n" -ge "$2" ]
}

# count_start - remember what each peer has received until now
count_start() {
	local i

	bond_seen=()
	for ((i = 0; ; i++)); do
		[ -e "$PEER_SYS/class/net/p$i" ] || break
		bond_seen[i]=$(<"$PEER_SYS/class/net/p$i/statistics/rx_packets")
	done
}

# count_read - frames received by each peer since count_start, into the array
# $got, and their sum into $got_sum
count_read() {
	local i n

	got=()
	got_sum=0
	for ((i = 0; i < ${#bond_seen[@]}; i++)); do
		n=$(<"$PEER_SYS/class/net/p$i/statistics/rx_packets")
		got[i]=$((n - bond_seen[i]))
		got_sum=$((got_sum + got[i]))
	done
}

# ip_received - IPv4 packets that this namespace's stack took in so far
ip_received() {
	local keys values i

	while read -r -a keys && read -r -a values; do
		[ "${keys[0]}" = Ip: ] || continue
		for i in "${!keys[@]}"; do
			[ "${keys[i]}" != InReceives ] || echo "${values[i]}"
		done
		return
	done </proc/net/snmp
}

# --- for cases: devices with a speed ---

# taps_start NAME=SPEED[/half]... - tap devices (down, not enslaved) that have
# carrier and that speed in Mbit/s; see taps.c
taps_start() {
	local answer

	[ -x "$bond_dir/taps" ] || skip "run make in $bond_dir first"
	[ -e /dev/net/tun ] || modprobe tun || skip "needs tun"
	coproc BOND_TAPS { exec "$bond_dir/taps" "$@"; }
	read -r -u "${BOND_TAPS[0]}" answer || fail "taps: no answer"
	check_eq "answer of taps" ready "$answer"
}

# tap_do COMMAND - to the holder of the taps
tap_do() {
	local answer

	echo "$*" >&"${BOND_TAPS[1]}"
	read -r -u "${BOND_TAPS[0]}" answer
	check_eq "answer to $*" ok "$answer"
}

# tap_up NAME, tap_down NAME - carrier; tap_speed NAME SPEED[/half]|unknown
tap_up() { tap_do up "$1"; }
tap_down() { tap_do down "$1"; }
tap_speed() { tap_do speed "$1" "$2"; }
