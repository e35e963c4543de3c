# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # bond_lib.sh has set these
#
# What the tests of 802.3ad share: two bonds back to back, b0 here over s0 s1
# ... and c0 in the peers' namespace over p0 p1 ...

# LACP states of /proc/net/bonding: 4 aggregation, 8 synchronization,
# 16 collecting, 32 distributing, 64 defaulted, 128 expired
LACP_WORKS=60

# lacp_peer_add COUNT [IP-LINK-BOND-OPTION...] - c0, up, over p0 p1 ...
lacp_peer_add() {
	local count=$1 i

	shift
	# its slaves go away with ours, one after another
	allow_kmsg 'permanent (HWaddr|MAC)'
	{
		echo "link add c0 type bond mode 802.3ad miimon 100 $*"
		for ((i = 0; i < count; i++)); do
			echo "link set p$i down"
			echo "link set p$i master c0"
		done
		echo "link set c0 up"
	} | ip -n "$BOND_PEER" -batch -
}

# lacp_make COUNT [IP-LINK-BOND-OPTION...] - both bonds, aggregated
lacp_make() {
	local count=$1

	bond_make 802.3ad "$@"
	lacp_peer_add "$count" "${@:2}"
	lacp_joined "$count"
}

# lacp_state SLAVE - the actor's state, as a number
lacp_state() {
	slave_get "$1" ad_actor_oper_port_state
}

# lacp_has SLAVE BITS - are all of these set in the actor's state?
lacp_has() {
	local state

	state=$(lacp_state "$1")
	[ "$state" != N/A ] && [ $((state & $2)) -eq "$2" ]
}

lacp_lacks() {
	local state

	state=$(lacp_state "$1")
	[ "$state" != N/A ] && [ $((state & $2)) -eq 0 ]
}

slave_is() {
	[ "$(slave_get "$1" state)" = "$2" ]
}

ports_are() {
	[ "$(bond_get ad_num_ports)" = "$1" ]
}

# lacp_joined COUNT - s0 ... distribute, all of them in one aggregator, and
# their peers do
lacp_joined() {
	local i

	for ((i = 0; i < $1; i++)); do
		wait_for 20000 "s$i distributes" lacp_has "s$i" "$LACP_WORKS"
		wait_for 5000 "s$i active" slave_is "s$i" active
		wait_for 20000 "p$i distributes" peer_has "p$i" "$LACP_WORKS"
		wait_for 5000 "p$i active" peer_is "p$i" active
	done
	wait_for 5000 "$1 ports" ports_are "$1"
	wait_for 5000 "carrier" carrier_is b0 1
}

# fallback_make VALUE COUNT - a bond whose peers do not speak LACP
fallback_make() {
	bond_make 802.3ad 0
	echo "$1" >/sys/class/net/b0/bonding/lacp_fallback ||
		fail "no lacp_fallback"
	bond_more "$2"
}

# bond_more COUNT - slaves for a bond that has none
bond_more() {
	local i

	mapfile -t i < <(seq 0 $(($1 - 1)))
	veth_make "${i[@]}"
	printf 'link set s%d master b0\n' "${i[@]}" | ip -batch -
	for i in "${i[@]}"; do
		wait_for 5000 "s$i up" slave_link_is "s$i" up
	done
}

reason_is() {
	[ "$(slave_get "$1" lacp_reason)" = "$2" ]
}

# nl_change CALL - of bond_lib.py's Rtnl, for what older ip does not know
nl_change() {
	need python3
	python3 -B -c 'import sys
sys.path.insert(0, sys.argv[1])
from bond_lib import Rtnl, attr
answer = eval("Rtnl()." + sys.argv[2])
sys.exit(f"{answer!r}" if answer.code else 0)' "$bond_dir" "$1"
}

peer_get() {
	echo "$(<"$PEER_SYS/class/net/$1/bonding_slave/$2")"
}

peer_has() {
	local state

	state=$(peer_get "$1" ad_actor_oper_port_state)
	[ "$state" != N/A ] && [ $((state & $2)) -eq "$2" ]
}

peer_is() {
	[ "$(peer_get "$1" state)" = "$2" ]
}

# lacp_spread LIVE DEAD - flows arrive, on each live port, on no dead one but
# for LACPDUs
lacp_spread() {
	local i flows=240 share

	count_start
	frames $((flows * 5)) -f "$flows"
	count_read
	note "live $1: got ${got[*]}"
	check_range "frames that arrived" $((flows * 5)) $((flows * 5 + 30)) \
		"$got_sum"
	share=$((flows * 5 / $(wc -w <<<"$1")))
	for i in $1; do
		check_range "frames on s$i" $((share / 2)) $((share * 2)) \
			"${got[i]}"
	done
	for i in $2; do
		check_range "frames on s$i, which is out" 0 10 "${got[i]}"
	done
}
