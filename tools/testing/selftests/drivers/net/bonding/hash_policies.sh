#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Transmit hash policies: each frame of a large, mixed lot leaves by the slave
# that the documented formula names. The formula is worked out a second time in
# user space (hash_model.c); frames are IPv4, IPv6, fragments, options, extension
# headers, ICMP and its errors, VLANs in and beside the frame, tunnels, other
# protocols, cut and damaged ones, and skbs in pieces (hash_corpus.c).

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	layer2
	layer2_3
	layer3_4
	encap2_3
	encap3_4
	vlan_srcmac
	l4_hash_taken
	l4_hash_only_by_encap3_4
	dissector_only_for_tunnels"
bond_beyond="
	dissector_only_for_tunnels"

frames=2500			# for each policy and number of slaves
seed=20

hash_frames() {
	"$bond_dir/hash_frames" "$@"
}

# hash_bond POLICY N - b0 with N dummies as slaves, and the VLAN devices that
# the frames want; sets slaves and vlans to their names
hash_bond() {
	local number tpid id prio i

	{
		echo link add b0 mtu 5000 type bond mode balance-xor \
			miimon 100 xmit_hash_policy "$1"
		for ((i = 0; i < $2; i++)); do
			echo link add "s$i" mtu 5000 type dummy
			echo link set "s$i" master b0
		done
		echo link set b0 up
		hash_frames vlans | while read -r number tpid id prio; do
			case $tpid in 0x8100) tpid=802.1Q ;; *) tpid=802.1ad ;; esac
			echo link add link b0 "v$number" type vlan \
				proto "$tpid" id "$id" \
				egress-qos-map "0:$prio"
			echo link set "v$number" up
		done
	} | ip -batch -
	check_eq policy "$1" "$(bond_get xmit_hash_policy | cut -d ' ' -f 1)"
	slaves=$(seq -s, -f 's%g' 0 $(($2 - 1)))
	vlans=v0,v1,v2,v3,v4
	wait_for 5000 "all slaves up" slaves_up "$2"
}

slaves_up() {
	local i

	for ((i = 0; i < $1; i++)); do
		slave_link_is "s$i" up || return 1
	done
}

# policy NAME - every frame, with 2, 3, 4 and 8 slaves
policy() {
	local n bad i

	for n in 2 3 4 8; do
		hash_bond "$1" "$n"
		hash_frames send -i b0 -S "$slaves" -V "$vlans" \
			-s $((seed + n)) -c "$frames" >"$BOND_TMP/got"
		hash_frames model -p "$1" -N "$n" -V - \
			-s $((seed + n)) -c "$frames" >"$BOND_TMP/want"
		bad=$(diff "$BOND_TMP/want" "$BOND_TMP/got" |
			grep -c '^<') || :
		if [ "$bad" -ne 0 ]; then
			diff "$BOND_TMP/want" "$BOND_TMP/got" | head -n 20
			fail "$n slaves: $bad of $frames frames went astray"
		fi
		check_eq "slaves that frames left by" "$n" \
			"$(cut -d ' ' -f 2 "$BOND_TMP/got" | sort -u | wc -l)"
		ip link del b0
		for ((i = 0; i < n; i++)); do
			echo "link del s$i"
		done | ip -batch -
	done
}

layer2() { policy layer2; }
layer2_3() { policy layer2+3; }
layer3_4() { policy layer3+4; }
encap2_3() { policy encap2+3; }
encap3_4() { policy encap3+4; }
vlan_srcmac() { policy vlan+srcmac; }

# connections POLICY - the slaves that 200 SYNs left by, beside what skb->hash
# would have said
connections() {
	hash_bond "$1" 8
	ip addr add 192.0.2.1/24 dev b0
	ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev b0
	hash_frames l4hash -i b0 -S "$slaves" -a 192.0.2.2 -c 200 \
		>"$BOND_TMP/syn"
	check_eq SYNs 200 "$(wc -l <"$BOND_TMP/syn")"
	same=$(awk '$1 == $2' "$BOND_TMP/syn" | wc -l)
	note "$same of 200 as skb->hash says"
}

# TCP gives its skbs a hash: encap3+4 takes it as it is.
l4_hash_taken() {
	connections encap3+4
	check_eq "SYNs that left by skb->hash" 200 "$same"
	check_eq "slaves used" 8 \
		"$(cut -d ' ' -f 1 "$BOND_TMP/syn" | sort -u | wc -l)"
}

# Chance alone makes an eighth of them agree.
l4_hash_only_by_encap3_4() {
	connections layer3+4
	check_range "SYNs that left by skb->hash" 0 80 "$same"
}

# dissected KIND... - how many frames of these kinds were sent, and how often
# the bond asked the flow dissector about one: $sent, $asked
dissected() {
	local kinds=" $* " seq kind

	: >"$trace/trace"
	sent=0
	while read -r seq _ kind; do
		case $kinds in *" $kind "*) ;; *) continue ;; esac
		hash_frames send -i b0 -S "$slaves" -s 7 -f "$seq" -c 1 \
			>/dev/null
		sent=$((sent + 1))
		[ "$sent" -lt 20 ] || break
	done < <(hash_frames model -p layer2 -N 1 -s 7 -c 400)
	# (packet sockets ask, too, before the bond has the frame)
	asked=$(grep '__skb_flow_dissect <-' "$trace/trace" |
		grep -vc '<-packet_') || :
	note "$sent frames ($*): dissector asked $asked times"
}

trace_begin() {
	local dir=$BOND_TMP/tracing trace_rc

	mkdir "$dir"
	mount -t tracefs none "$dir" || skip "needs tracefs"
	grep -qw function "$dir/available_tracers" ||
		skip "needs the function tracer"
	trace=$dir/instances/$BOND_NS
	mkdir "$trace"
	trap 'trace_rc=$?; set +e; rmdir "$trace"; (exit "$trace_rc")
		bond_child_exit' EXIT
	echo __skb_flow_dissect >"$trace/set_ftrace_filter"
	echo function >"$trace/current_tracer"
}

# The short path: plain TCP and UDP over IP never see the dissector. (Frames
# that were cut, damaged or laid out in pieces may.)
dissector_only_for_tunnels() {
	local trace sent asked

	trace_begin
	hash_bond encap3+4 4
	dissected gre ip-in-ip
	check_eq "tunnels" 20 "$sent"
	check_range "calls for tunnels" 15 20 "$asked"
	dissected ip4 ip6
	check_eq "plain frames" 20 "$sent"
	check_range "calls for plain frames" 0 8 "$asked"
}

bond_run "$@"
