#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# /proc/net/bonding/<bond>: its exact text in each mode, and what programs of
# the field take from it. The readers here fail where those programs fail: at a
# line they do not know, a key they miss, an order they do not expect.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	text_balance_rr
	text_active_backup
	text_balance_xor
	text_broadcast
	text_without_slaves
	primary
	fail_over_mac
	hash_policies
	delays
	arp_monitor
	ns_targets
	link_states
	no_speed
	half_duplex
	queue_id
	reader_lldpd
	reader_telegraf
	reader_checkmk
	reader_insights
	reader_nagios
	reader_munin
	reader_facter
	file
	rename_and_delete
	namespaces
	read_in_pieces
	read_after_delete"

proc_dir=/proc/net/bonding

header="Ethernet Channel Bonding Driver: v$(uname -r)

Bonding Mode:"

# mii STATUS [MIIMON] - the lines that every mode has
mii() {
	echo "MII Status: $1
MII Polling Interval (ms): ${2-100}
Up Delay (ms): 0
Down Delay (ms): 0
Peer Notification Delay (ms): 0"
}

# slave_text SLAVE STATUS FAILURES
slave_text() {
	echo
	echo "Slave Interface: $1
MII Status: $2
Speed: 10000 Mbps
Duplex: full
Link Failure Count: $3
Permanent HW addr: $(slave_get "$1" perm_hwaddr)
Slave queue ID: 0"
}

text_is() {
	check_eq "text" "$1" "$(<"$proc_dir/b0")"
}

text_balance_rr() {
	bond_make balance-rr 2
	wait_for 5000 carrier carrier_is b0 1
	text_is "$header load balancing (round-robin)
$(mii up)
$(slave_text s0 up 0)
$(slave_text s1 up 0)"
	peer_down 1
	wait_for 5000 "s1 down" slave_link_is s1 down
	text_is "$header load balancing (round-robin)
$(mii up)
$(slave_text s0 up 0)
$(slave_text s1 down 1)"
}

text_active_backup() {
	bond_make active-backup 2
	wait_for 5000 "s0 active" active_is s0
	text_is "$header fault-tolerance (active-backup)
Primary Slave: None
Currently Active Slave: s0
$(mii up)
$(slave_text s0 up 0)
$(slave_text s1 up 0)"
	peer_down 0 1
	wait_for 5000 "no carrier" carrier_is b0 0
	wait_for 5000 "none active" active_is ""
	text_is "$header fault-tolerance (active-backup)
Primary Slave: None
Currently Active Slave: None
$(mii down)
$(slave_text s0 down 1)
$(slave_text s1 down 1)"
}

text_balance_xor() {
	bond_make balance-xor 1
	wait_for 5000 carrier carrier_is b0 1
	text_is "$header load balancing (xor)
Transmit Hash Policy: layer2 (0)
$(mii up)
$(slave_text s0 up 0)"
}

text_broadcast() {
	bond_make broadcast 2
	wait_for 5000 carrier carrier_is b0 1
	text_is "$header fault-tolerance (broadcast)
$(mii up)
$(slave_text s0 up 0)
$(slave_text s1 up 0)"
}

text_without_slaves() {
	ip link add b0 type bond mode active-backup
	text_is "$header fault-tolerance (active-backup)
Primary Slave: None
Currently Active Slave: None
$(mii down 0)"
	check_eq "blank line at the end" "" \
		"$(tail -c 2 "$proc_dir/b0" | tr -d '0\n')"
}

primary() {
	local how

	bond_make active-backup 2
	bond_set primary s1
	for how in always better failure; do
		bond_set primary_reselect "$how"
		check_eq "Primary Slave" "s1 (primary_reselect $how)" \
			"$(bond_proc 'Primary Slave')"
	done
	echo nope >/sys/class/net/b0/bonding/primary
	check_eq "Primary Slave" None "$(bond_proc 'Primary Slave')"
}

# Only told where it counts.
fail_over_mac() {
	local how

	ip link add b0 type bond mode active-backup miimon 100
	for how in active follow; do
		bond_set fail_over_mac "$how"
		check_eq "Bonding Mode" \
			"fault-tolerance (active-backup) (fail_over_mac $how)" \
			"$(bond_proc 'Bonding Mode')"
	done
	bond_set fail_over_mac none
	check_eq "Bonding Mode" "fault-tolerance (active-backup)" \
		"$(bond_proc 'Bonding Mode')"
	bond_set fail_over_mac active
	bond_set mode balance-rr
	check_eq "Bonding Mode" "load balancing (round-robin)" \
		"$(bond_proc 'Bonding Mode')"
}

hash_policies() {
	local policy n=0

	ip link add b0 type bond mode balance-xor miimon 100
	for policy in layer2 layer3+4 layer2+3 encap2+3 encap3+4 vlan+srcmac; do
		bond_set xmit_hash_policy "$policy"
		check_eq "Transmit Hash Policy" "$policy ($n)" \
			"$(bond_proc 'Transmit Hash Policy')"
		n=$((n + 1))
	done
	bond_set mode broadcast
	must_fail bond_proc 'Transmit Hash Policy'
}

delays() {
	ip link add b0 type bond mode balance-rr miimon 50
	bond_set updelay 100
	bond_set downdelay 200
	bond_set peer_notif_delay 150
	text_is "$header load balancing (round-robin)
MII Status: down
MII Polling Interval (ms): 50
Up Delay (ms): 100
Down Delay (ms): 200
Peer Notification Delay (ms): 150"
}

arp_monitor() {
	ip link add b0 type bond mode active-backup
	bond_set arp_interval 700
	text_is "$header fault-tolerance (active-backup)
Primary Slave: None
Currently Active Slave: None
$(mii down 0)
ARP Polling Interval (ms): 700
ARP Missed Max: 2
ARP IP target/s (n.n.n.n form):
NS IPv6 target/s (xx::xx form):"
	echo +10.0.0.1 >/sys/class/net/b0/bonding/arp_ip_target
	echo +192.168.1.254 >/sys/class/net/b0/bonding/arp_ip_target
	bond_set arp_missed_max 5
	check_eq "ARP Missed Max" 5 "$(bond_proc 'ARP Missed Max')"
	check_eq "ARP targets" "10.0.0.1, 192.168.1.254" \
		"$(bond_proc 'ARP IP target/s (n.n.n.n form)')"
	# targets without the monitor are not told
	bond_set arp_interval 0
	must_fail bond_proc 'ARP IP target/s (n.n.n.n form)'
}

ns_targets() {
	ip link add b0 type bond mode active-backup arp_interval 500 \
		ns_ip6_target 2001:db8::1,2001:db8::2 2>/dev/null ||
		skip "ip knows no ns_ip6_target"
	check_eq "NS targets" "2001:db8::1, 2001:db8::2" \
		"$(bond_proc 'NS IPv6 target/s (xx::xx form)')"
}

link_states() {
	bond_make active-backup 2
	bond_set updelay 20000
	bond_set downdelay 20000
	peer_down 1
	wait_for 5000 "going down" slave_link_is s1 "going down"
	check_eq "MII Status of s1" "going down" "$(slave_proc s1 'MII Status')"
	bond_set downdelay 0
	peer_up 1
	wait_for 5000 up slave_link_is s1 up
	peer_down 1
	wait_for 5000 down slave_link_is s1 down
	check_eq "MII Status of s1" down "$(slave_proc s1 'MII Status')"
	peer_up 1
	wait_for 5000 "going back" slave_link_is s1 "going back"
	check_eq "MII Status of s1" "going back" "$(slave_proc s1 'MII Status')"
}

no_speed() {
	ip -batch - <<-COMMANDS
		link add b0 type bond mode balance-rr miimon 100
		link add d0 type dummy
		link set d0 master b0
		link set b0 up
	COMMANDS
	wait_for 5000 "d0 up" slave_link_is d0 up
	check_eq Speed Unknown "$(slave_proc d0 Speed)"
	check_eq Duplex Unknown "$(slave_proc d0 Duplex)"
}

half_duplex() {
	taps_start t0=100/half
	ip -batch - <<-COMMANDS
		link add b0 type bond mode balance-rr miimon 100
		link set t0 master b0
		link set b0 up
	COMMANDS
	wait_for 5000 "t0 up" slave_link_is t0 up
	check_eq Speed "100 Mbps" "$(slave_proc t0 Speed)"
	check_eq Duplex half "$(slave_proc t0 Duplex)"
}

queue_id() {
	bond_make active-backup 2
	echo s1:3 >/sys/class/net/b0/bonding/queue_id
	check_eq "queue of s0" 0 "$(slave_proc s0 'Slave queue ID')"
	check_eq "queue of s1" 3 "$(slave_proc s1 'Slave queue ID')"
}

# --- what programs of the field make of it ---

# read_by AWK-PROGRAM WANT - in a bond with a slave up and one down
read_by() {
	local mode

	for mode in active-backup balance-xor; do
		bond_make "$mode" 2
		peer_down 1
		wait_for 5000 "s1 down" slave_link_is s1 down
		check_eq "$mode" "$2" "$(awk "$1" "$proc_dir/b0")"
		ip -batch - <<-COMMANDS
			link del b0
			link del s0
			link del s1
		COMMANDS
	done
}

# The permanent address is the first such line after the slave's own.
reader_lldpd() {
	local mac i

	bond_make active-backup 2
	for i in 0 1; do
		mac=$(awk -v slave="s$i" '
			index($0, "Slave Interface: ") == 1 {
				on = substr($0, 18) == slave
			}
			on && index($0, "Permanent HW addr: ") == 1 {
				print substr($0, 20)
				exit
			}' "$proc_dir/b0")
		check_eq "address of s$i" "$(slave_get "s$i" perm_hwaddr)" \
			"$mac"
	done
}

# A state machine: the bond's status is the first, a slave's stands before its
# failure count.
reader_telegraf() {
	# shellcheck disable=SC2016 # awk expands
	read_by '
		{ n = index($0, ":"); key = substr($0, 1, n - 1)
		  value = substr($0, n + 1); gsub(/^ +| +$/, "", value) }
		n && key == "Slave Interface" { slave = value; status = "" }
		key == "MII Status" && slave == "" { print "bond", value }
		key == "MII Status" && slave != "" { status = value }
		key == "Link Failure Count" {
			if (slave == "" || status == "" || value !~ /^[0-9]+$/)
				print "out of order"
			print slave, status, value
		}' "bond up
s0 up 0
s1 down 1"
}

# Every key that is asked for later has to be there.
reader_checkmk() {
	# shellcheck disable=SC2016 # awk expands
	read_by '
		BEGIN { want["Bonding Mode"]; want["MII Status"] }
		/^Slave Interface: / {
			check(); delete want; slave = $3
			want["MII Status"]; want["Link Failure Count"]
		}
		{ sub(/:.*/, ""); delete want[$0] }
		function check(key) {
			for (key in want)
				print "missing", key, slave
		}
		END { check(); print "all there" }' "all there"
}

reader_insights() {
	local mode

	for mode in balance-rr active-backup balance-xor broadcast; do
		ip link add b0 type bond mode "$mode"
		grep -qxE -e 'Bonding Mode: load balancing \((round-robin|xor)\)' \
			-e 'Bonding Mode: fault-tolerance \((active-backup|broadcast)\)' \
			"$proc_dir/b0" || fail "$mode: $(bond_proc 'Bonding Mode')"
		ip link del b0
	done
}

# Key, colon, one blank, value; nothing between.
reader_nagios() {
	# shellcheck disable=SC2016 # awk expands
	read_by '
		/^$/ || /^ARP IP|^NS IPv6/ { next }
		!/^[^:]+: [^ ]/ { print "odd line: " $0 }
		/^MII Status: / { print substr($0, 13) }' "up
up
down"
}

# A blank line ends a block, the fourth word is the count.
reader_munin() {
	# shellcheck disable=SC2016 # awk expands
	read_by '
		/^Slave Interface:/ { slave = $3 }
		/^$/ { slave = "" }
		/^Link Failure Count:/ { print slave, $4 }' "s0 0
s1 1"
}

# The address in the same block as the interface.
reader_facter() {
	local slave

	bond_make balance-rr 2
	for slave in s0 s1; do
		check_eq "address of $slave" "$(slave_get "$slave" perm_hwaddr)" \
			"$(awk -v RS= -v FS='\n' -v slave="$slave" '
				$1 == "Slave Interface: " slave {
					sub(/.*\nPermanent HW addr: */, "")
					print $1
				}' "$proc_dir/b0")"
	done
}

# --- the file itself ---

# bond_files - the names of all files, in one line
bond_files() {
	(shopt -s nullglob; cd "$proc_dir" && echo *)
}

file() {
	ip link add b0 type bond
	check_eq "directory" "555 root" "$(stat -c '%a %U' "$proc_dir")"
	check_eq "file" "444 root" "$(stat -c '%a %U' "$proc_dir/b0")"
	check_eq "files" b0 "$(bond_files)"
	must_fail tee "$proc_dir/b0" <<<x
	need setpriv
	check_eq "text for nobody" "$(<"$proc_dir/b0")" "$(setpriv --reuid 65534 \
		--regid 65534 --clear-groups cat "$proc_dir/b0")"
}

rename_and_delete() {
	ip link add b0 type bond
	ip link set b0 name b1
	check_eq "files" b1 "$(bond_files)"
	check_eq "Bonding Mode" "load balancing (round-robin)" \
		"$(bond_proc 'Bonding Mode' b1)"
	ip link add b0 type bond
	check_eq "files" "b0 b1" "$(bond_files)"
	ip link del b1
	check_eq "files" b0 "$(bond_files)"
	ip link del b0
	check_eq "files" "" "$(bond_files)"
}

namespaces() {
	ip link add b0 type bond
	on_peer ip link add b0 type bond mode broadcast
	on_peer ip link add b1 type bond
	check_eq "files" b0 "$(bond_files)"
	check_eq "peer's files" "b0 b1" "$(on_peer ls "$proc_dir" | xargs)"
	check_eq "Bonding Mode" "load balancing (round-robin)" \
		"$(bond_proc 'Bonding Mode')"
}

# Long texts come whole, however they are read.
read_in_pieces() {
	local i text

	{
		echo "link add b0 type bond mode active-backup miimon 100"
		for ((i = 0; i < 60; i++)); do
			echo "link add d$i type dummy"
			echo "link set d$i master b0"
		done
	} | ip -batch -
	text=$(<"$proc_dir/b0")
	check_eq "slaves" 60 "$(grep -c '^Slave Interface: ' <<<"$text")"
	check_eq "text in pieces" "$text" \
		"$(dd if="$proc_dir/b0" bs=333 status=none)"
}

# Who holds the file open when the bond goes sees no more of it, and no harm.
read_after_delete() {
	local fd line

	bond_make balance-rr 1
	exec {fd}<"$proc_dir/b0"
	ip link del b0
	if read -r -u "$fd" line 2>/dev/null; then
		fail "read '$line'"
	fi
	exec {fd}<&-
}

bond_run "$@"
