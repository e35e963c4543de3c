#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# balance-alb: which MAC address each client is told, and that it is told anew
# when that one leads nowhere; what of ARP is left alone; who receives.
#
# Clients are frames made by hand: client N is 10.0.0.N with the MAC address
# 02:00:00:00:0c:N.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"
# shellcheck source=lb_lib.sh
. "$bond_dir/lb_lib.sh"

bond_tests="
	each_client_its_slave
	same_client_same_address
	clients_of_a_vlan
	told_again_after_broadcast
	probe_keeps_address
	client_that_answers
	slave_lost
	active_lost
	active_chosen
	slave_back
	slave_released
	bond_address_set
	others_arp_left_alone
	ip6_left_alone
	all_receive_unicast
	below_a_bridge
	spread_by_peer
	real_client
	too_many_clients
	table_in_debugfs
	gone_under_traffic"
bond_beyond="
	probe_keeps_address
	active_lost
	spread_by_peer
	table_in_debugfs"

lb_peers=(p0 p1 p2)
every="p[0-9]"

# alb_make COUNT [IP-LINK-BOND-OPTION...] - with the address 10.0.0.1
alb_make() {
	lb_make balance-alb "$@"
	ip addr add 10.0.0.1/24 dev b0
}

# client_mac N / client_ip N - in digits
client_mac() {
	printf '020000000c%02x' "$1"
}

client_ip() {
	printf '%s%02x' "${lb_net-0a0000}" "$1"
}

# client_arp OP DST N [TAG] - an ARP frame by client N about 10.0.0.1
client_arp() {
	printf '%s%s%s08060001080006040%03x' "$2" "$(client_mac "$3")" \
		"${4-}" "$1"
	printf '%s%s%012d%s' "$(client_mac "$3")" "$(client_ip "$3")" 0 \
		"$(lb_net=${lb_ours-${lb_net-0a0000}} client_ip 1)"
}

# clients_ask FIRST LAST [TAG] - each of them asks for the bond's address; the
# switch has that come in by the slave of $ask_by, which has to be the active one
ask_by=p0
clients_ask() {
	local n

	for n in $(seq "$1" "$2"); do
		on_peer "$bond_dir/arp_wire" send 0 1 "$ask_by" \
			"$(client_arp 1 ffffffffffff "$n" "${3-}")" >/dev/null
	done
}

# told N - the last MAC address that client N has been told, and where that
# came in, into $told and $told_by
told() {
	local re

	re="$every [0-9]+ $(client_mac "$1").{12}(8100....)?08060001080006040002"
	read -r told_by told < <({ grep -E "^$re" "$heard" || :; } | tail -n 1 |
		sed -E 's/^(p.) [0-9]+ .*08060001080006040002(.{12}).*/\1 \2/') ||
		told='' told_by=''
}

told_something() {
	told "$1"
	[ -n "$told" ]
}

# told_slaves FIRST LAST - the slaves whose address each was told, sorted; each
# has been told by the slave itself
told_slaves() {
	local n i slave

	for n in $(seq "$1" "$2"); do
		told "$n"
		slave=none
		for i in 0 1 2; do
			[ ! -e "/sys/class/net/s$i" ] ||
				[ "$told" != "$(hex_mac "$(mac "s$i")")" ] ||
				slave=s$i
		done
		note "client $n: $slave ($told by $told_by)" >&2
		[ "p${slave#s}" = "$told_by" ] ||
			fail "client $n was told of $slave by $told_by"
		echo "$slave"
	done | sort | xargs
}

# client_on SLAVE FIRST LAST - the first client that has been told its address
client_on() {
	local n want

	want=$(hex_mac "$(mac "$1")")
	for n in $(seq "$2" "$3"); do
		told "$n"
		[ "$told" != "$want" ] || { echo "$n"; return; }
	done
	fail "no client on $1"
}

each_client_its_slave() {
	alb_make 3
	hear_start p0 p1 p2
	clients_ask 10 15
	wait_for 5000 "an answer" told_something 15
	hear_stop
	check_eq "addresses told" "s0 s0 s1 s1 s2 s2" "$(told_slaves 10 15)"
}

same_client_same_address() {
	local first

	alb_make 3
	hear_start p0 p1 p2
	clients_ask 10 12
	wait_for 5000 "an answer" told_something 12
	hear_stop
	told 11
	first=$told
	hear_start p0 p1 p2
	clients_ask 11 11
	wait_for 5000 "an answer" told_something 11
	hear_stop
	told 11
	check_eq "address told" "$first" "$told"
}

clients_of_a_vlan() {
	local n

	alb_make 2
	ip -batch - <<-END
		link add link b0 name v5 type vlan id 5
		link set v5 up
		addr add 10.5.0.1/24 dev v5
	END
	lb_net=0a0500
	hear_start p0 p1
	clients_ask 10 13 81000005
	wait_for 5000 "an answer" told_something 13
	hear_stop
	check_eq "addresses told" "s0 s0 s1 s1" "$(told_slaves 10 13)"
	check_eq "tagged ones" 4 "$(heard_count "$every" '.{24}810000050806')"
	# a change is told in the VLAN, too
	n=$(client_on s1 10 13)
	hear_start p0
	peer_down 1
	wait_for 8000 "client $n told" told_something "$n"
	hear_stop
	told "$n"
	check_eq "told" "$(hex_mac "$(mac s0)")" "$told"
	[ "$(heard_count p0 "$(client_mac "$n").{12}810000050806")" -gt 0 ] ||
		fail "not told in the VLAN"
}

# A request to all collapses everybody to the bond's address, for a while.
told_again_after_broadcast() {
	local n want

	alb_make 3
	hear_start p0 p1 p2
	clients_ask 10 12
	wait_for 5000 "an answer" told_something 12
	hear_stop
	n=$(client_on s1 10 12)
	told "$n"
	want=$told
	hear_start p0 p1 p2
	ping -c 1 -W 1 10.0.0.99 >/dev/null || :
	wait_for 8000 "client $n told again" told_something "$n"
	hear_stop
	[ "$(heard_count "$every" 'f{12}.{12}0806')" -gt 0 ] ||
		fail "there was no request"
	told "$n"
	check_eq "told again" "$want" "$told"
	check_eq "by" p1 "$told_by"
}

# The kernel asks those that it knows, and names an address in doing so.
probe_keeps_address() {
	local n probe

	alb_make 3
	hear_start p0 p1 p2
	clients_ask 10 12
	wait_for 5000 "an answer" told_something 12
	hear_stop
	n=$(client_on s1 10 12)
	probe=$(client_mac "$n")$(hex_mac "$(mac b0)")08060001080006040001
	probe+=$(hex_mac "$(mac b0)")$(client_ip 1)$(printf '%012d' 0)
	hear_start p0 p1 p2
	"$bond_dir/arp_wire" send 0 1 b0 "$probe$(client_ip "$n")" >/dev/null
	hear_stop
	check_eq "probes with s1's address" 1 "$(heard_count p1 \
		"$(client_mac "$n").{12}08060001080006040001$(hex_mac "$(mac s1)")")"
}

# Who has only answered is a client, too.
client_that_answers() {
	local n

	alb_make 3
	for n in 10 11 12; do
		ping -c 1 -W 1 "10.0.0.$n" >/dev/null &
	done
	hear_start p0 p1 p2
	nap 0.3
	for n in 10 11 12; do
		on_peer "$bond_dir/arp_wire" send 0 1 p0 "$(client_arp 2 \
			"$(hex_mac "$(mac b0)")" "$n")" >/dev/null
	done
	wait_for 8000 "a client told" told_somebody 10 12
	hear_stop
}

told_somebody() {
	local n

	for n in $(seq "$1" "$2"); do
		! told_something "$n" || return 0
	done
	return 1
}

slave_lost() {
	local n lost

	alb_make 3
	hear_start p0 p1 p2
	clients_ask 10 15
	wait_for 5000 "an answer" told_something 15
	hear_stop
	n=$(client_on s1 10 15)
	lost=$(hex_mac "$(mac s1)")
	hear_start p0 p2
	peer_down 1
	wait_for 8000 "client $n told" told_something "$n"
	hear_stop
	told "$n"
	[ "$told" != "$lost" ] || fail "told the lost address"
	check_eq "addresses of that client" 1 "$(told_slaves "$n" "$n" | wc -w)"
	hear_start p0 p2
	clients_ask 10 15
	wait_for 5000 "an answer" told_something 15
	hear_stop
	check_eq "addresses told" "s0 s0 s0 s2 s2 s2" "$(told_slaves 10 15)"
}

# Whom the address that the new active slave takes over belongs to goes with it;
# only who had that slave's old one has to be told.
active_lost() {
	local kept moved

	alb_make 2
	hear_start p0 p1
	clients_ask 10 13
	wait_for 5000 "an answer" told_something 13
	hear_stop
	kept=$(client_on s0 10 13)
	moved=$(client_on s1 10 13)
	hear_start p1
	peer_down 0
	wait_for 5000 "s1 active" active_is s1
	wait_for 8000 "client $moved told" told_something "$moved"
	nap 5
	hear_stop
	told "$moved"
	check_eq "told" "$(hex_mac "$(mac b0)")" "$told"
	told "$kept"
	check_eq "told those who have it already" "" "$told"
}

# Addresses change places; so do clients, if nobody has to be told.
active_chosen() {
	alb_make 2
	hear_start p0 p1
	clients_ask 10 13
	wait_for 5000 "an answer" told_something 13
	hear_stop
	check_eq "addresses told" "s0 s0 s1 s1" "$(told_slaves 10 13)"
	bond_set active_slave s1
	ask_by=p1
	hear_start p0 p1
	clients_ask 10 13
	wait_for 5000 "an answer" told_something 13
	hear_stop
	check_eq "addresses told" "s0 s0 s1 s1" "$(told_slaves 10 13)"
}

slave_back() {
	alb_make 2
	peer_down 1
	wait_for 5000 "s1 down" slave_link_is s1 down
	hear_start p0
	clients_ask 10 13
	wait_for 5000 "an answer" told_something 13
	hear_stop
	check_eq "addresses told" "s0 s0 s0 s0" "$(told_slaves 10 13)"
	peer_up 1
	wait_for 5000 "s1 up" slave_link_is s1 up
	hear_start p0 p1
	# not at once: a host that has just been told does not listen
	wait_for 9000 "a client on s1" told_by_slave 1
	hear_stop
}

told_by_slave() {
	[ "$(heard_count "p$1" \
		"020000000c.{14}08060001080006040002$(hex_mac "$(mac "s$1")")")" \
		-gt 0 ]
}

slave_released() {
	local n

	allow_kmsg 'permanent (HWaddr|MAC)'
	alb_make 3
	hear_start p0 p1 p2
	clients_ask 10 12
	wait_for 5000 "an answer" told_something 12
	hear_stop
	n=$(client_on s2 10 12)
	hear_start p0 p1
	ip link set s2 nomaster
	wait_for 8000 "client $n told" told_something "$n"
	hear_stop
}

# Only the active slave's address changes with the bond's.
bond_address_set() {
	local own1 n

	alb_make 2
	own1=$(mac s1)
	hear_start p0 p1
	clients_ask 10 13
	wait_for 5000 "an answer" told_something 13
	hear_stop
	n=$(client_on s0 10 13)
	hear_start p0 p1
	ip link set b0 address 02:11:22:33:44:55
	check_eq "s0's" 02:11:22:33:44:55 "$(mac s0)"
	check_eq "s1's" "$own1" "$(mac s1)"
	hear_stop
	hear_start p0 p1
	clients_ask "$n" "$n"
	wait_for 8000 "client $n told" told_something "$n"
	hear_stop
	told "$n"
	[ "$told" = 021122334455 ] || [ "$told" = "$(hex_mac "$own1")" ] ||
		fail "told $told"
}

# arp_by_bond DST OP SHA SPA - an ARP frame, all in digits, sent by b0
arp_by_bond() {
	"$bond_dir/arp_wire" send 0 1 b0 \
		"${1}${3}08060001080006040${2}${3}${4}${1}0a000063" >/dev/null
}

others_arp_left_alone() {
	local i guest=020000005566 bond

	alb_make 3
	bond=$(hex_mac "$(mac b0)")
	hear_start p0 p1 p2
	for i in 1 2 3 4 5 6; do
		# a bridged guest's, to one client each
		arp_by_bond "$(client_mac "$i")" 002 "$guest" "0a00000$i"
		# is this address free?
		arp_by_bond ffffffffffff 001 "$bond" 00000000
	done
	hear_stop
	check_eq "the guest's, unchanged, by the active slave" 6 \
		"$(heard_count p0 "020000000c..${guest}08060001080006040002$guest")"
	check_eq "its address elsewhere" 0 \
		"$(heard_count 'p[12]' ".*$guest")"
	check_eq "address probes with another address" 0 "$(grep -E \
		'08060001080006040001.{12}00000000' "$heard" |
		grep -vc "08060001080006040001$bond" || :)"
}

# Neighbour discovery goes by the active slave, with the address that it names.
ip6_left_alone() {
	local code dst frame

	alb_make 3
	hear_start p0 p1 p2
	for code in 85 86 87 88; do
		for dst in 00 41 82 c3; do
			frame=0200000001${dst}$(hex_mac "$(mac b0)")86dd
			frame+=6000000000203aff$(printf 'fd%030d' 1)
			frame+=$(printf 'fd%028d' 0)$dst${code}000000
			frame+=$(printf '%040d' 0)0201$(hex_mac "$(mac b0)")
			"$bond_dir/arp_wire" send 0 1 b0 "$frame" >/dev/null
		done
	done
	# the kernel's own duplicate address detection
	ipv6_set 0
	ip addr add fd00::5/64 dev b0
	nap 2
	ipv6_set 1
	hear_stop
	check_eq "discovery on s0, as it was" 16 "$(heard_count p0 \
		"0200000001..$(hex_mac "$(mac b0)")86dd6.*0201$(hex_mac "$(mac b0)")\$")"
	check_eq "discovery on s1, s2" 0 \
		"$(heard_count 'p[12]' '.{24}86dd6.{11}3aff')"
}

# heard_by_bond INDEX MAC - as what address does the bond receive a frame that
# the peer sends to that one? Into $heard_as, empty if it does not.
heard_by_bond() {
	local file=$BOND_TMP/bond pid

	: >"$file"
	"$bond_dir/arp_wire" listen 600000 b0 >"$file" &
	pid=$!
	wait_for 5000 "a listener" grep -qs listening "$file"
	on_peer "$bond_dir/send_frames" -i "p$1" -n 1 -d "$2" \
		-S 02:00:00:00:77:77 >/dev/null
	nap 0.4
	kill "$pid"
	wait "$pid" 2>/dev/null || :
	heard_as=$(sed -nE 's/^b0 [0-9]+ (.{12})020000007777.*/\1/p' "$file")
}

all_receive_unicast() {
	local i

	alb_make 3
	for i in 0 1 2; do
		heard_by_bond "$i" "$(mac "s$i")"
		check_eq "unicast by s$i" "$(hex_mac "$(mac "s$i")")" \
			"$heard_as"
		heard_by_bond "$i" ff:ff:ff:ff:ff:ff
		if [ "$i" -eq 0 ]; then
			check_eq "broadcast by s0" ffffffffffff "$heard_as"
		else
			check_eq "broadcast by s$i" "" "$heard_as"
		fi
	done
}

# A bridge looks for the bond's address only.
below_a_bridge() {
	alb_make 2
	ip -batch - <<-END
		link add br0 type bridge
		link set br0 up
		link set b0 master br0
	END
	heard_by_bond 1 "$(mac s1)"
	check_eq "what came to s1's address" "$(hex_mac "$(mac b0)")" \
		"$heard_as"
	heard_by_bond 0 02:00:00:00:88:88
	check_eq "what came for a guest" 020000008888 "$heard_as"
	ip link del br0
}

# What goes to one peer goes by one slave, peers are spread.
spread_by_peer() {
	local i

	alb_make 3
	flows_map 240 -D
	for i in 0 1 2; do
		check_range "peers on s$i" 60 100 "$(map_on "$map" "p$i")"
	done
	flows_map 100
	check_eq "slaves for one peer" 1 \
		"$(cut -d ' ' -f 2 "$map" | sort -u | wc -l)"
}

# A host of another make: what it believes is always the address of a slave that
# works.
peer_believes() {
	local mac

	mac=$(ip -n "$BOND_PEER" neigh show 10.0.0.1 dev lan |
		sed -nE 's/.*lladdr ([^ ]*).*/\1/p')
	[ "$mac" = "$(mac "$1")" ]
}

peer_believes_other_than() {
	! peer_believes "$1"
}

peer_reaches() {
	on_peer ping -c 1 -W 1 10.0.0.1 >/dev/null
}

real_client() {
	local i had

	alb_make 2
	ip -n "$BOND_PEER" -batch - <<-END
		link add lan type bridge mcast_snooping 0
		link set lan up
		link set p0 master lan
		link set p1 master lan
		addr add 10.0.0.2/24 dev lan
	END
	wait_for 10000 "the client reaches the bond" peer_reaches
	for i in 1 2; do
		had=s0
		! peer_believes s1 || had=s1
		note "it has the address of $had"
		peer_down "${had#s}"
		wait_for 5000 "$had down" slave_link_is "$had" down
		wait_for 15000 "another address" peer_believes_other_than "$had"
		peer_reaches || peer_reaches || fail "not reached any more"
		peer_up "${had#s}"
		wait_for 5000 "$had up" slave_link_is "$had" up
		nap 3
	done
}

# More clients than there is room for, each is told an address of ours.
too_many_clients() {
	local n i tells=0 on

	alb_make 2
	lb_ours=0a0000
	hear_start p0 p1
	for n in $(seq 2 8); do
		lb_net=0a0${n}0$n
		clients_ask 10 12
	done
	lb_net=0a0000
	clients_ask 20 23
	wait_for 5000 "an answer" told_something 23
	hear_stop
	for i in 0 1; do
		on=$(hex_mac "$(mac "s$i")")
		on=$(heard_count "p$i" ".{12}${on}08060001080006040002$on")
		note "told by s$i: $on"
		tells=$((tells + on))
	done
	check_eq "answers" 25 "$tells"
}

table_in_debugfs() {
	local file=/sys/kernel/debug/bonding

	mountpoint -q /sys/kernel/debug ||
		mount -t debugfs none /sys/kernel/debug || skip "needs debugfs"
	alb_make 2
	hear_start p0 p1
	clients_ask 10 11
	wait_for 5000 "an answer" told_something 11
	hear_stop
	file=$(grep -l '10.0.0.1 ' "$file"/b0*/rlb_hash_table)
	check_eq "clients" "10.0.0.10 10.0.0.11" \
		"$(awk 'NR > 1 { print $2 }' "$file" | sort | xargs)"
	grep -q "02:00:00:00:0c:0b s[01]" "$file" || fail "no line of client 11"
	check_eq "title" "SourceIP DestinationIP Destination MAC DEV" \
		"$(head -n 1 "$file" | xargs)"
}

gone_under_traffic() {
	local i pid

	allow_kmsg 'permanent (HWaddr|MAC)'
	for i in 1 2 3; do
		alb_make 2
		clients_ask 10 20
		ip netns exec "$BOND_PEER" "$bond_dir/arp_wire" send 1 0 p0 \
			"$(client_arp 1 ffffffffffff 30)" \
			p1 "$(client_arp 2 "$(hex_mac "$(mac s1)")" 31)" \
			>/dev/null &
		pid=$!
		sender_start -f 100 -r 5000
		flow_on 0 100
		ip link set s0 nomaster
		ip link del b0
		sender_stop
		kill "$pid"
		wait "$pid" 2>/dev/null || :
		ip -batch - <<-END
			link del s0
			link del s1
		END
	done
}

bond_run "$@"
