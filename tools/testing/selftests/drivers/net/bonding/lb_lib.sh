# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # bond_lib.sh sets and reads them
#
# What the tests of balance-tlb and balance-alb share: who has which MAC
# address, and what leaves by which slave. Sourced after bond_lib.sh.
#
# Slaves send learning packets whenever they like, so frames are told apart by
# their type where that matters.

# mac DEV - its address
mac() {
	echo "$(<"/sys/class/net/$1/address")"
}

# mac_is DEV ADDRESS
mac_is() {
	[ "$(mac "$1")" = "$2" ]
}

hex_mac() {
	echo "${1//:/}"
}

# macs_differ DEV... - no two of them have the same address
macs_differ() {
	local dev

	for dev; do
		mac "$dev"
	done | sort | uniq -d | {
		! read -r dev || fail "two of $* have the address $dev"
	}
}

# lb_make MODE COUNT [IP-LINK-BOND-OPTION...] - a bond, s0 active, that is not
# about to send learning packets
lb_make() {
	bond_make "$1" "$2" lp_interval 100000 "${@:3}"
	wait_for 5000 "s0 active" active_is s0
	nap 0.3
}

# hear_start DEV... / hear_stop - what comes in on the peers' devices meanwhile
# is in the file $heard: device, milliseconds, the frame's digits
hear_start() {
	heard=$BOND_TMP/heard
	: >"$heard"
	[ -x "$bond_dir/arp_wire" ] || skip "run make in $bond_dir first"
	ip netns exec "$BOND_PEER" "$bond_dir/arp_wire" listen 600000 "$@" \
		>"$heard" &
	hear_pid=$!
	wait_for 5000 "a listener" grep -qs listening "$heard"
}

hear_stop() {
	nap 0.3
	kill "$hear_pid"
	wait "$hear_pid" 2>/dev/null || :
}

# heard_count DEV REGEX - how many frames came in there that begin like that;
# a frame is destination, source, type
heard_count() {
	grep -cE "^$1 [0-9]+ $2" "$heard" || :
}

# flows_map FLOWS [SEND_FRAMES-OPTION...] - send a frame of each flow; which
# slave it left by is in $map, one "flow slave" a line
flows_map() {
	map=$BOND_TMP/map.$RANDOM
	hear_start "${lb_peers[@]}"
	frames "$@" -f "$1"
	hear_stop
	awk '$3 ~ /^0200000001..............0800/ {
		print substr($3, 11, 2), $1
	}' "$heard" | sort >"$map"
	check_eq "flows that arrived" "$1" "$(wc -l <"$map")"
}

# map_on MAP DEV - how many flows of it
map_on() {
	grep -c " $2\$" "$1" || :
}
