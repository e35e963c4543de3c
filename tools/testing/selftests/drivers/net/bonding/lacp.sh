#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# 802.3ad: two bonds back to back.  That they aggregate, what becomes of ports
# that lose their link, their partner or their bond, and that frames follow.
# (Single transitions and frames of a scripted partner: lacp_partner.py.)

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"
# shellcheck source=lacp_lib.sh
. "$bond_dir/lacp_lib.sh"

bond_limit=120
bond_tests="
	aggregates
	one_slave_in_time
	links_lost_and_back
	last_link_lost
	no_partner
	partner_goes_silent
	partner_says_goodbye
	we_say_goodbye
	slave_released
	slave_released_by_partner
	slaves_come_and_go
	bond_down_and_up
	bond_deleted_under_traffic
	mode_changed_back
	passive
	independent_control
	fast_rate
	min_links
	strict
	two_partners
	user_key
	system_address
	mac_changed
	actor_system
	speed_changes
	speeds_of_today
	half_duplex
	cut_under_traffic
	proc_text
	netlink_info
	multicast_address
	fallback_none
	fallback_all
	fallback_active_backup
	fallback_timeout
	fallback_by_priority
	reasons
	trace"
bond_beyond="
	partner_says_goodbye
	strict
	fallback_none
	fallback_all
	fallback_active_backup
	fallback_timeout
	fallback_by_priority
	reasons
	trace"
# the number for 80 Gbit/s came late, and moved those behind it
case $(uname -r) in 6.*) bond_beyond+=" speeds_of_today" ;; esac

aggregates() {
	lacp_make 3
	lacp_spread "0 1 2" ""
	check_eq "aggregator of s1" "$(slave_get s0 ad_aggregator_id)" \
		"$(slave_get s1 ad_aggregator_id)"
	check_eq "active aggregator" "$(slave_get s0 ad_aggregator_id)" \
		"$(bond_get ad_aggregator)"
	check_eq "partner" "$(<"$PEER_SYS/class/net/c0/address")" \
		"$(bond_get ad_partner_mac)"
}

# A partner that answers at once needs the wait of two seconds and little more.
one_slave_in_time() {
	local now since

	bond_make 802.3ad 1
	now_ms
	since=$now
	lacp_peer_add 1
	lacp_joined 1
	now_ms
	note "aggregated after $((now - since)) ms"
	check_range "ms" 1000 9000 $((now - since))
}

links_lost_and_back() {
	lacp_make 3
	peer_down 1
	wait_for 5000 "s1 down" slave_link_is s1 down
	wait_for 1000 "s1 out" slave_is s1 backup
	check_eq "ports" 2 "$(bond_get ad_num_ports)"
	lacp_spread "0 2" "1"
	peer_up 1
	lacp_joined 3
	lacp_spread "0 1 2" ""
}

last_link_lost() {
	lacp_make 2
	peer_down 0 1
	wait_for 5000 "carrier off" carrier_is b0 0
	peer_up 0
	lacp_wait_port 0
	lacp_spread "0" "1"
	peer_up 1
	lacp_joined 2
}

lacp_wait_port() {
	wait_for 20000 "s$1 distributes" lacp_has "s$1" "$LACP_WORKS"
	wait_for 5000 "s$1 active" slave_is "s$1" active
	wait_for 5000 "carrier" carrier_is b0 1
}

# One port serves though nobody answers, and when it cannot another one does.
no_partner() {
	bond_make 802.3ad 2
	wait_for 10000 "carrier" carrier_is b0 1
	wait_for 5000 "s0 serves" slave_is s0 active
	wait_for 15000 "s0 in sync, defaulted" lacp_has s0 72
	check_eq "s1" backup "$(slave_get s1 state)"
	check_eq "partner" 00:00:00:00:00:00 "$(bond_get ad_partner_mac)"
	lacp_spread "0" "1"
	peer_down 0
	wait_for 10000 "s1 serves" slave_is s1 active
	wait_for 5000 "carrier" carrier_is b0 1
	lacp_spread "1" "0"
}

partner_goes_silent() {
	lacp_make 2 lacp_rate fast
	# what it sends from now on is lost
	tc -n "$BOND_PEER" qdisc add dev p1 clsact
	tc -n "$BOND_PEER" filter add dev p1 egress protocol all matchall \
		action drop
	wait_for 15000 "s1 out" slave_is s1 backup
	wait_for 15000 "s1 defaulted" lacp_has s1 64
	check_eq "ports" 1 "$(bond_get ad_num_ports)"
	lacp_spread "0" "1"
	tc -n "$BOND_PEER" qdisc del dev p1 clsact
	lacp_joined 2
}

# A bond that is set down does not leave it to its partner to find out.
partner_says_goodbye() {
	lacp_make 2
	ip -n "$BOND_PEER" link set c0 down
	wait_for 3000 "s0 not distributing" lacp_lacks s0 32
	wait_for 3000 "s1 not distributing" lacp_lacks s1 32
	ip -n "$BOND_PEER" link set c0 up
	lacp_joined 2
}

we_say_goodbye() {
	lacp_make 2
	ip link set s1 nomaster
	wait_for 3000 "p1 not distributing" peer_is p1 backup
	ip link set s1 master b0
	lacp_joined 2
}

slave_released() {
	lacp_make 3
	ip link set s0 nomaster
	wait_for 1000 "2 ports" ports_are 2
	lacp_spread "1 2" "0"
	ip link set s0 master b0
	lacp_joined 3
	lacp_spread "0 1 2" ""
}

slave_released_by_partner() {
	lacp_make 2
	ip -n "$BOND_PEER" link set p1 nomaster
	wait_for 5000 "s1 out" slave_is s1 backup
	lacp_spread "0" "1"
	ip -n "$BOND_PEER" link set p1 up
	wait_for 5000 "s1 has a link" slave_link_is s1 up
	nap 3
	check_eq "s1" backup "$(slave_get s1 state)"
	ip -n "$BOND_PEER" link set p1 down
	ip -n "$BOND_PEER" link set p1 master c0
	lacp_joined 2
}

slaves_come_and_go() {
	local i

	lacp_make 2
	sender_start -f 100
	for i in 0 1 0 1; do
		ip link set "s$i" nomaster
		nap 0.3
		ip link set "s$i" master b0
		nap 0.3
	done
	lacp_joined 2
	flow_on 0 50
	flow_on 1 50
	sender_stop
}

bond_down_and_up() {
	lacp_make 2
	ip link set b0 down
	nap 0.5
	ip link set b0 up
	lacp_joined 2
	lacp_spread "0 1" ""
}

bond_deleted_under_traffic() {
	lacp_make 2 lacp_rate fast
	on_peer "$bond_dir/send_frames" -i c0 -n 1000000000 -r 1000 -k -f 50 &
	nap 0.5
	ip link del b0
	ip link set s0 up
	ip link set s1 up
	nap 0.5
	kill $!
	wait $! || :
	ip link add b0 type bond mode 802.3ad miimon 100
	ip link set s0 down
	ip link set s0 master b0
	ip link set b0 up
	wait_for 20000 "s0 distributes" lacp_has s0 "$LACP_WORKS"
}

mode_changed_back() {
	bond_make 802.3ad 0
	ip link set b0 down
	bond_set mode balance-xor
	check_eq "ad_aggregator" "" "$(bond_get ad_aggregator)"
	bond_set mode 802.3ad
	ip link set b0 up
	veth_make 0
	ip link set s0 master b0
	lacp_peer_add 1
	lacp_joined 1
}

# Whoever is passive answers an active one; two passive ones stay silent.
passive() {
	bond_make 802.3ad 1 lacp_active off
	lacp_peer_add 1
	lacp_joined 1
	check_eq "LACP_Activity" 0 $(($(lacp_state s0) & 1))
}

independent_control() {
	lacp_make 2 coupled_control off
	lacp_spread "0 1" ""
	peer_down 1
	wait_for 5000 "s1 out" slave_is s1 backup
	peer_up 1
	lacp_joined 2
}

fast_rate() {
	local n

	lacp_make 1 lacp_rate fast
	n=$(dev_stat s0 rx_packets)
	nap 5
	check_range "LACPDUs in 5 s" 3 8 $(($(dev_stat s0 rx_packets) - n))
}

min_links() {
	lacp_make 2 min_links 2
	peer_down 1
	wait_for 5000 "carrier off" carrier_is b0 0
	peer_up 1
	lacp_joined 2
	bond_set min_links 3
	wait_for 1000 "carrier off" carrier_is b0 0
	bond_set min_links 1
	wait_for 1000 "carrier" carrier_is b0 1
}

strict() {
	bond_make 802.3ad 1
	wait_for 10000 "carrier" carrier_is b0 1
	nl_change 'change("b0", "bond", [attr(34, b"\1")])'
	wait_for 1000 "carrier off" carrier_is b0 0
	lacp_peer_add 1
	lacp_joined 1
}

# Two bonds at the other end: one of them is chosen, the other one stands by.
# Does s2 know the system that d0 is?
d0_is_partner() {
	local mac

	mac=$(on_peer cat /sys/class/net/d0/address)
	grep -q "system mac address: $mac" /proc/net/bonding/b0
}

two_partners() {
	bond_make 802.3ad 3
	lacp_peer_add 2
	lacp_joined 2
	# only now: the first partner that answers would be the one that counts
	{
		echo "link add d0 type bond mode 802.3ad miimon 100"
		echo "link set p2 down"
		echo "link set p2 master d0"
		echo "link set d0 up"
	} | ip -n "$BOND_PEER" -batch -
	wait_for 20000 "d0 heard of by s2" d0_is_partner
	check_eq "s2" backup "$(slave_get s2 state)"
	lacp_has s2 8 && fail "s2 is in sync"
	lacp_spread "0 1" "2"
	peer_down 0 1
	wait_for 20000 "s2 distributes" lacp_has s2 "$LACP_WORKS"
	lacp_spread "2" "0 1"
	peer_up 0 1
	wait_for 5000 "s0 up" slave_link_is s0 up
	nap 4
	# stable: it stays as long as it works
	slave_is s2 active || fail "s2 has been given up"
}

user_key() {
	lacp_make 2 ad_user_port_key 5
	check_eq "key" $((5 << 6 | 15)) "$(bond_get ad_actor_key)"
}

system_address() {
	lacp_make 2
	check_eq "system" "$(<"/sys/class/net/b0/address")" \
		"$(bond_proc "System MAC address")"
	check_eq "as the partner has it" "$(<"/sys/class/net/b0/address")" \
		"$(on_peer cat /sys/class/net/c0/bonding/ad_partner_mac)"
}

partner_knows() {
	[ "$(on_peer cat /sys/class/net/c0/bonding/ad_partner_mac)" = "$1" ]
}

mac_changed() {
	lacp_make 2
	ip link set b0 address 02:00:00:00:aa:01
	wait_for 5000 "the partner knows" partner_knows 02:00:00:00:aa:01
	lacp_joined 2
}

actor_system() {
	lacp_make 2
	bond_set ad_actor_system 02:00:00:00:aa:02
	wait_for 5000 "the partner knows" partner_knows 02:00:00:00:aa:02
	bond_set ad_actor_sys_prio 100
	lacp_joined 2
	check_eq "system priority" 100 "$(bond_proc "System priority")"
	bond_set ad_actor_system 00:00:00:00:00:00
	wait_for 5000 "the partner knows" \
		partner_knows "$(<"/sys/class/net/b0/address")"
	lacp_joined 2
}

key_is() {
	[ "$(bond_get ad_actor_key)" = "$1" ]
}

# A device that changes its speed has no link meanwhile.
speed_changes() {
	speeds 0 1 10 100 1000 2500 5000 10000 14000 20000 25000 40000 50000 \
		56000
}

speeds_of_today() {
	speeds 13 80000 100000 200000 400000 800000 1600000
}

# speeds CODE SPEED... - Mbit/s; CODE is the one before the first one's
speeds() {
	local speed code=$1

	shift
	taps_start a0=1000
	ip link add b0 type bond mode 802.3ad miimon 100
	ip link set a0 master b0
	ip link set b0 up
	wait_for 5000 "a0 up" slave_link_is a0 up
	for speed; do
		code=$((code + 1))
		tap_down a0
		wait_for 5000 "a0 down" slave_link_is a0 down
		tap_speed a0 "$speed"
		tap_up a0
		wait_for 5000 "a0 up" slave_link_is a0 up
		wait_for 5000 "key at $speed Mbit/s" key_is $((code << 1 | 1))
	done
}

half_duplex() {
	taps_start a0=1000/half
	ip link add b0 type bond mode 802.3ad miimon 100
	ip link set a0 master b0
	ip link set b0 up
	wait_for 5000 "a0 up" slave_link_is a0 up
	wait_for 5000 "key" key_is $((4 << 1))
	if bond_module_is_ours; then
		# it would serve, for want of a partner
		bond_set lacp_fallback none
		wait_for 2000 "its reason" reason_is a0 half_duplex
		bond_set lacp_fallback single
	fi
	tap_down a0
	tap_speed a0 1000
	tap_up a0
	wait_for 5000 "key" key_is $((4 << 1 | 1))
}

cut_under_traffic() {
	local sent lost

	lacp_make 2
	count_start
	sender_start -f 100
	flow_on 0 100
	peer_down 0
	wait_for 5000 "s0 down" slave_link_is s0 down
	flow_on 1 200
	sender_stop
	count_read
	lost=$((sent - got_sum))
	note "sent $sent, got ${got[*]}, lost $lost"
	check_range "frames lost" -30 150 "$lost"
}

proc_expected() {
	local mac peer

	mac=$(<"/sys/class/net/b0/address")
	peer=$(<"$PEER_SYS/class/net/c0/address")
	sed 's/^|/\t/' <<-END
	802.3ad info
	LACP active: on
	LACP rate: slow
	Min links: 0
	Aggregator selection policy (ad_select): stable
	System priority: 65535
	System MAC address: $mac
	Active Aggregator Info:
	|Aggregator ID: 1
	|Number of ports: 1
	|Actor Key: 15
	|Partner Key: 15
	|Partner Mac Address: $peer

	Slave Interface: s0
	MII Status: up
	Speed: 10000 Mbps
	Duplex: full
	Link Failure Count: N
	Permanent HW addr: $mac
	Slave queue ID: 0
	Aggregator ID: 1
	Actor Churn State: CHURN
	Partner Churn State: CHURN
	Actor Churned Count: 0
	Partner Churned Count: 0
	details actor lacp pdu:
	    system priority: 65535
	    system mac address: $mac
	    port key: 15
	    port priority: 255
	    port number: 1
	    port state: 61
	details partner lacp pdu:
	    system priority: 65535
	    system mac address: $peer
	    oper key: 15
	    port priority: 255
	    port number: 1
	    port state: 61
	END
}

# In-tree drivers call churn monitored for a minute longer.
proc_text() {
	lacp_make 1
	sed -n '/^802.3ad info/,$p' /proc/net/bonding/b0 | sed -e \
		's/^\(Link Failure Count:\) .*/\1 N/' -e \
		's/^\(.* Churn State:\) \(none\|monitoring\)$/\1 CHURN/' \
		>"$BOND_TMP/got"
	proc_expected >"$BOND_TMP/want"
	diff "$BOND_TMP/want" "$BOND_TMP/got" ||
		fail "the text is another one"
	unshare -Ur cat /proc/net/bonding/b0 >"$BOND_TMP/unprivileged"
	! grep -E 'System|Partner (Key|Mac)|lacp pdu|port state' \
		"$BOND_TMP/unprivileged" || fail "users see too much"
	grep -q '^Aggregator ID: 1' "$BOND_TMP/unprivileged"
}

netlink_info() {
	lacp_make 2
	check_eq "ad_aggregator" "$(bond_get ad_aggregator)" \
		"$(link_attr b0 ad_aggregator)"
	check_eq "ad_num_ports" 2 "$(link_attr b0 ad_num_ports)"
	check_eq "ad_actor_key" 15 "$(link_attr b0 ad_actor_key)"
	check_eq "ad_partner_key" 15 "$(link_attr b0 ad_partner_key)"
	check_eq "ad_partner_mac" "$(bond_get ad_partner_mac)" \
		"$(link_attr b0 ad_partner_mac)"
	check_eq "actor state" 61 "$(link_attr s0 ad_actor_oper_port_state)"
	check_eq "partner state" 61 \
		"$(link_attr s0 ad_partner_oper_port_state)"
}

# LACPDUs are sent to an address of their own, which slaves have to accept.
multicast_address() {
	allow_kmsg 'permanent (HWaddr|MAC)'
	bond_make 802.3ad 1
	ip maddr show dev s0 | grep -q '01:80:c2:00:00:02' ||
		fail "s0 does not accept LACPDUs"
	ip link set s0 nomaster
	! ip maddr show dev s0 | grep '01:80:c2:00:00:02' ||
		fail "s0 still accepts them"
}

# --- when no partner answers ---

fallback_none() {
	fallback_make none 2
	holds_for 2000 "no carrier" carrier_is b0 0
	check_eq "s0" backup "$(slave_get s0 state)"
	bond_set lacp_fallback single
	wait_for 2000 "carrier" carrier_is b0 1
	bond_set lacp_fallback none
	wait_for 2000 "no carrier" carrier_is b0 0
	lacp_peer_add 2
	lacp_joined 2
}

fallback_all() {
	fallback_make all 3
	wait_for 2000 "s0 serves" slave_is s0 active
	wait_for 2000 "s1 serves" slave_is s1 active
	wait_for 2000 "s2 serves" slave_is s2 active
	lacp_spread "0 1 2" ""
	peer_down 1
	wait_for 5000 "s1 out" slave_is s1 backup
	lacp_spread "0 2" "1"
	peer_up 1
	lacp_peer_add 3
	lacp_joined 3
}

fallback_active_backup() {
	local n

	fallback_make active-backup 2
	ip address add 192.0.2.1/24 dev b0
	wait_for 2000 "s0 serves" slave_is s0 active
	nap 1
	n=$(<"$PEER_SYS/class/net/p1/statistics/rx_packets")
	peer_down 0
	wait_for 5000 "s1 serves" slave_is s1 active
	wait_for 5000 "it announces itself" flow_reached \
		"$PEER_SYS/class/net/p1/statistics/rx_packets" $((n + 1))
	lacp_spread "1" "0"
}

fallback_timeout() {
	bond_make 802.3ad 0
	bond_set lacp_fallback_timeout 4
	bond_more 1
	holds_for 2000 "no carrier" carrier_is b0 0
	wait_for 8000 "carrier" carrier_is b0 1
	check_eq "s0" active "$(slave_get s0 state)"
}

fallback_by_priority() {
	fallback_make single 2
	wait_for 2000 "s0 serves" slave_is s0 active
	nl_change 'slave_change("s1", [attr(10, b"\5\0")])'
	wait_for 2000 "s1 serves" slave_is s1 active
	check_eq "s0" backup "$(slave_get s0 state)"
}

reasons() {
	fallback_make single 2
	wait_for 2000 "fallback" reason_is s0 fallback
	wait_for 2000 "no_partner" reason_is s1 no_partner
	peer_down 1
	wait_for 5000 "no_link" reason_is s1 no_link
	peer_up 1
	lacp_peer_add 1
	wait_for 5000 "waiting" reason_is s0 waiting
	wait_for 9000 "aggregated" reason_is s0 aggregated
	{
		echo "link add d0 type bond mode 802.3ad miimon 100"
		echo "link set p1 down"
		echo "link set p1 master d0"
		echo "link set d0 up"
	} | ip -n "$BOND_PEER" -batch -
	wait_for 9000 "other_partner" reason_is s1 other_partner
	ip link set b0 down
	wait_for 2000 "bond_down" reason_is s0 bond_down
	ip link set b0 type bond mode balance-xor 2>/dev/null || :
	ip link set s1 nomaster
	ip link set s0 nomaster
	ip link set b0 type bond mode balance-xor
	ip link set s0 master b0
	check_eq "in another mode" N/A "$(slave_get s0 lacp_reason)"
}

# The same words, as they come, in the trace.
trace() {
	local dir=$BOND_TMP/trace

	mkdir "$dir"
	mount -t tracefs none "$dir" || skip "needs tracefs"
	[ -d "$dir/events/bonding/bond_lacp_port" ] || fail "no such event"
	echo >"$dir/trace"
	echo 1 >"$dir/events/bonding/bond_lacp_port/enable"
	lacp_make 1
	peer_down 0
	wait_for 5000 "no_link" reason_is s0 no_link
	echo 0 >"$dir/events/bonding/bond_lacp_port/enable"
	sed -n 's/.*bond_lacp_port: b0 s0: \([a-z_]*\) rx=.*/\1/p' \
		"$dir/trace" | tee "$BOND_TMP/words"
	umount "$dir"
	grep -qx waiting "$BOND_TMP/words" || fail "never waiting"
	grep -qx aggregated "$BOND_TMP/words" || fail "never aggregated"
	check_eq "the last word" no_link "$(tail -n 1 "$BOND_TMP/words")"
}

bond_run "$@"
