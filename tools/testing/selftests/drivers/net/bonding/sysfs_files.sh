#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The files in sysfs, which scripts and programs read and write: their names,
# modes and texts, how writes are refused, and bonding_masters.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	names_and_modes
	slave_names_and_modes
	read_only
	lists
	full_page
	active_and_primary
	slave_files
	slave_files_follow
	slaves_refusals
	active_slave_refusals
	queue_id_writes
	two_names
	masters
	masters_names
	masters_refusals
	masters_own_name
	masters_namespaces
	busy_rtnl
	event
	no_event
	not_for_nobody"
bond_beyond="full_page masters_own_name"

for mode in balance_rr active_backup balance_xor broadcast; do
	eval "texts_$mode() { texts ${mode/_/-}; }"
	bond_tests+=" texts_$mode"
done

masters=/sys/class/net/bonding_masters

# writes WANT FILE TEXT - WANT is "ok" or the C library's text for the error
writes() {
	local got

	got=$({ printf %s "$3" >"$2"; } 2>&1) || :
	got=${got##*: }
	check_eq "writing '$3' to ${2##*/}" "$1" "${got:-ok}"
}

# writes_b0 WANT OPTION TEXT
writes_b0() {
	writes "$1" "/sys/class/net/b0/bonding/$2" "$3"
}

# Files that the in-tree driver does not have.
beyond_files='lacp_fallback lacp_fallback_timeout lacp_reason'

modes_of() {
	(cd "$1" && stat -c '%n %a %U' -- * | sort |
		grep -v "^\(${beyond_files// /\\|}\) ")
}

names_and_modes() {
	local name want=''

	ip link add b0 type bond
	for name in active_slave ad_actor_sys_prio ad_actor_system ad_select \
		ad_user_port_key all_slaves_active arp_all_targets \
		arp_interval arp_ip_target arp_missed_max arp_validate \
		downdelay fail_over_mac lacp_active lacp_rate lp_interval \
		miimon min_links mode num_grat_arp num_unsol_na \
		packets_per_slave peer_notif_delay primary primary_reselect \
		queue_id resend_igmp slaves tlb_dynamic_lb updelay \
		use_carrier xmit_hash_policy; do
		want+="$name 644 root"$'\n'
	done
	for name in ad_actor_key ad_aggregator ad_num_ports ad_partner_key \
		ad_partner_mac mii_status; do
		want+="$name 444 root"$'\n'
	done
	check_eq files "$(sort <<<"${want%?}")" \
		"$(modes_of /sys/class/net/b0/bonding)"
}

slave_names_and_modes() {
	local name want=''

	bond_make balance-rr 1
	for name in ad_actor_oper_port_state ad_aggregator_id \
		ad_partner_oper_port_state link_failure_count mii_status \
		perm_hwaddr queue_id state; do
		want+="$name 444 root"$'\n'
	done
	check_eq files "$(sort <<<"${want%?}")" \
		"$(modes_of /sys/class/net/s0/bonding_slave)"
	ip link set s0 nomaster
	[ ! -e /sys/class/net/s0/bonding_slave ] || fail "files remain"
}

# The text of every file that is not empty, of a bond that has just been made.
texts() {
	local file text='' line

	ip link add b0 type bond mode "$1"
	for file in /sys/class/net/b0/bonding/*; do
		! bond_in_list "${file##*/}" "$beyond_files" || continue
		line=$(<"$file")
		[ -z "$line" ] || text+="${file##*/}: $line"$'\n'
	done
	check_eq texts "ad_select: stable 0
all_slaves_active: 0
arp_all_targets: any 0
arp_interval: 0
arp_missed_max: 2
arp_validate: none 0
downdelay: 0
fail_over_mac: none 0
lacp_active: on 1
lacp_rate: slow 0
lp_interval: 1
mii_status: down
miimon: 0
min_links: 0
mode: $1 $(mode_number "$1")
num_grat_arp: 1
num_unsol_na: 1
packets_per_slave: 1
peer_notif_delay: 0
primary_reselect: always 0
resend_igmp: 1
tlb_dynamic_lb: 1
updelay: 0
use_carrier: 1
xmit_hash_policy: layer2 0" "${text%?}"
	# each text is one line, or there is none at all
	check_eq "files that end in a newline" 25 \
		"$(find /sys/class/net/b0/bonding/ -type f \
			! -name 'lacp_fallback*' -exec tail -q -c 1 {} + |
			grep -c '^$')"
}

mode_number() {
	case $1 in
	balance-rr) echo 0 ;;
	active-backup) echo 1 ;;
	balance-xor) echo 2 ;;
	broadcast) echo 3 ;;
	802.3ad) echo 4 ;;
	esac
}

read_only() {
	local file

	bond_make balance-rr 1
	for file in mii_status ad_aggregator ad_num_ports ad_actor_key \
		ad_partner_key ad_partner_mac; do
		writes_b0 "Permission denied" "$file" 1
	done
	for file in /sys/class/net/s0/bonding_slave/*; do
		writes "Permission denied" "$file" 1
	done
}

# Words with one blank between them, and a newline at the end.
lists() {
	bond_make balance-rr 2
	check_eq slaves "s0 s1" "$(bond_get slaves)"
	check_eq queue_id "s0:0 s1:0" "$(bond_get queue_id)"
	echo s1:3 >/sys/class/net/b0/bonding/queue_id
	check_eq queue_id "s0:0 s1:3" "$(bond_get queue_id)"
	check_eq "queue_id of s1" 3 "$(slave_get s1 queue_id)"
	echo +10.0.0.1 >/sys/class/net/b0/bonding/arp_ip_target
	echo +10.0.0.2 >/sys/class/net/b0/bonding/arp_ip_target
	check_eq arp_ip_target "10.0.0.1 10.0.0.2" "$(bond_get arp_ip_target)"
	echo -10.0.0.1 >/sys/class/net/b0/bonding/arp_ip_target
	check_eq arp_ip_target "10.0.0.2" "$(bond_get arp_ip_target)"
	check_eq "bytes of slaves" 6 "$(wc -c </sys/class/net/b0/bonding/slaves)"
}

# What does not fit into a page is not cut in the middle of a name, and the text
# says that there is more.
full_page() {
	local words word i

	{
		echo "link add b0 type bond mode active-backup miimon 100"
		for ((i = 0; i < 270; i++)); do
			printf 'link add d%013dx type dummy\n' "$i"
			printf 'link set d%013dx master b0\n' "$i"
		done
	} | ip -batch -
	read -r -a words </sys/class/net/b0/bonding/slaves
	check_eq "last word of slaves" "++more++" "${words[-1]}"
	unset 'words[-1]'
	[ ${#words[@]} -ge 250 ] || fail "only ${#words[@]} names"
	for word in "${words[@]}"; do
		[ -e "/sys/class/net/$word" ] || fail "no device $word"
	done
	read -r -a words </sys/class/net/b0/bonding/queue_id
	check_eq "last word of queue_id" "++more++" "${words[-1]}"
	check_eq "one before" "d0000000000226x:0" "${words[-2]}"
}

active_and_primary() {
	bond_make active-backup 2
	wait_for 2000 "s0 active" active_is s0
	check_eq primary "" "$(bond_get primary)"
	bond_set primary s1
	wait_for 2000 "s1 active" active_is s1
	check_eq primary s1 "$(bond_get primary)"
	# a name that is no slave is kept, but not shown
	writes_b0 ok primary nope
	check_eq primary "" "$(bond_get primary)"
	writes_b0 ok primary $'\n'
	check_eq primary "" "$(bond_get primary)"
	writes_b0 ok active_slave $'\n'
	wait_for 2000 "one is active" active_is s0
	bond_make_b1
	check_eq "active_slave in balance-rr" "" "$(bond_get active_slave b1)"
}

bond_make_b1() {
	veth_make 2
	printf '%s\n' "link add b1 type bond mode balance-rr miimon 100" \
		"link set s2 master b1" "link set b1 up" | ip -batch -
}

slave_files() {
	bond_make active-backup 2
	wait_for 2000 "s0 active" active_is s0
	check_eq state active "$(slave_get s0 state)"
	check_eq state backup "$(slave_get s1 state)"
	check_eq mii_status up "$(slave_get s1 mii_status)"
	check_eq link_failure_count 0 "$(slave_get s1 link_failure_count)"
	check_eq perm_hwaddr "$(slave_proc s1 'Permanent HW addr')" \
		"$(slave_get s1 perm_hwaddr)"
	[ "$(slave_get s1 perm_hwaddr)" != "$(</sys/class/net/b0/address)" ] ||
		fail "perm_hwaddr of s1 is the bond's address"
	check_eq queue_id 0 "$(slave_get s1 queue_id)"
	check_eq ad_aggregator_id N/A "$(slave_get s1 ad_aggregator_id)"
	check_eq ad_actor_oper_port_state N/A \
		"$(slave_get s1 ad_actor_oper_port_state)"
	check_eq ad_partner_oper_port_state N/A \
		"$(slave_get s1 ad_partner_oper_port_state)"
}

slave_files_follow() {
	bond_make active-backup 2
	wait_for 2000 "s0 active" active_is s0
	bond_set updelay 20000
	bond_set downdelay 20000
	peer_down 1
	wait_for 5000 "going down" slave_link_is s1 "going down"
	check_eq link_failure_count 0 "$(slave_get s1 link_failure_count)"
	peer_up 1
	wait_for 5000 up slave_link_is s1 up
	bond_set downdelay 0
	peer_down 1
	wait_for 5000 down slave_link_is s1 down
	check_eq link_failure_count 1 "$(slave_get s1 link_failure_count)"
	peer_up 1
	wait_for 5000 "going back" slave_link_is s1 "going back"
	check_eq state backup "$(slave_get s1 state)"
}

slaves_refusals() {
	allow_kmsg 'Error: ' 'option slaves' 'no command found' 'interface does'
	bond_make balance-rr 1
	veth_make 1
	writes_b0 "Operation not permitted" slaves $'\n'
	writes_b0 "Operation not permitted" slaves +
	writes_b0 "Operation not permitted" slaves s1
	writes_b0 "Operation not permitted" slaves "+ s1"
	writes_b0 "No such device" slaves +nope
	writes_b0 "No such device" slaves -nope
	writes_b0 "Device or resource busy" slaves +s0
	writes_b0 "Invalid argument" slaves -s1
	writes_b0 "Operation not permitted" slaves +b0
	check_eq slaves s0 "$(bond_get slaves)"
	writes_b0 ok slaves " +s1"
	check_eq slaves "s0 s1" "$(bond_get slaves)"
	writes_b0 ok slaves $'-s1\n'
	check_eq slaves s0 "$(bond_get slaves)"
}

active_slave_refusals() {
	allow_kmsg 'option active_slave' 'not (bonding|our) slave' \
		'Could not set' 'option primary' 'interface does'
	bond_make active-backup 2
	bond_make_b1
	wait_for 2000 "s0 active" active_is s0
	writes_b0 "No such device" active_slave nope
	writes_b0 "Invalid argument" active_slave lo
	writes_b0 "Invalid argument" active_slave s2
	peer_down 1
	wait_for 5000 "s1 down" slave_link_is s1 down
	writes_b0 "Invalid argument" active_slave s1
	check_eq active_slave s0 "$(bond_get active_slave)"
	writes "Permission denied" /sys/class/net/b1/bonding/active_slave s2
	writes "Permission denied" /sys/class/net/b1/bonding/primary s2
}

queue_id_writes() {
	allow_kmsg 'option queue_id' 'invalid value'
	bond_make active-backup 2
	writes_b0 ok queue_id s0:1
	writes_b0 "Operation not permitted" queue_id s1:1
	writes_b0 "Operation not permitted" queue_id s0
	writes_b0 "Operation not permitted" queue_id s0:
	writes_b0 "Operation not permitted" queue_id s0:99
	writes_b0 "Operation not permitted" queue_id s0:-1
	writes_b0 "Operation not permitted" queue_id s0:x
	writes_b0 "Operation not permitted" queue_id nope:1
	check_eq queue_id "s0:1 s1:0" "$(bond_get queue_id)"
	writes_b0 ok queue_id $'s0:0\n'
	writes_b0 ok queue_id s1:16
	check_eq queue_id "s0:0 s1:16" "$(bond_get queue_id)"
}

# num_grat_arp and num_unsol_na are one option.
two_names() {
	ip link add b0 type bond
	bond_set num_grat_arp 7
	check_eq num_unsol_na 7 "$(bond_get num_unsol_na)"
	bond_set num_unsol_na 9
	check_eq num_grat_arp 9 "$(bond_get num_grat_arp)"
}

masters() {
	check_eq mode "644 root" "$(stat -c '%a %U' "$masters")"
	check_eq bonds "" "$(<"$masters")"
	echo +b0 >"$masters"
	echo +b1 >"$masters"
	check_eq bonds "b0 b1" "$(<"$masters")"
	check_eq bytes 6 "$(wc -c <"$masters")"
	ip link add b2 type bond
	check_eq bonds "b0 b1 b2" "$(<"$masters")"
	ip link set b0 name b3
	echo -b1 >"$masters"
	check_eq bonds "b3 b2" "$(<"$masters")"
	# also one that is in use
	veth_make 0
	ip link set s0 master b2
	ip link set b2 up
	echo -b2 >"$masters"
	check_eq bonds b3 "$(<"$masters")"
	[ ! -e /sys/class/net/s0/master ] || fail "s0 has a master"
}

# What is made of a text that is not just a sign and a name.
masters_names() {
	writes ok "$masters" "+b0 b1"
	writes ok "$masters" " +b1"
	writes ok "$masters" $'+b2\n'
	writes ok "$masters" +c%d
	writes ok "$masters" +c%d
	check_eq bonds "b0 b1 b2 c0 c1" "$(<"$masters")"
	writes ok "$masters" "-c0 "
	writes ok "$masters" " -c1"
	check_eq bonds "b0 b1 b2" "$(<"$masters")"
}

masters_refusals() {
	local text

	allow_kmsg 'no command found' 'already exists' 'unable to delete'
	ip link add d0 type dummy
	writes ok "$masters" +b0
	for text in $'\n' " " + - b0 "+ b1" +a/b +. +.. +a:b -a:b; do
		writes "Operation not permitted" "$masters" "$text"
	done
	writes "File exists" "$masters" +b0
	writes "File exists" "$masters" +d0
	writes "No such device" "$masters" -b1
	writes "No such device" "$masters" -d0
	writes "Invalid argument" "$masters" +a%s
	check_eq bonds b0 "$(<"$masters")"
}

# A bond cannot have the name of the file; the kernel would complain loudly.
masters_own_name() {
	allow_kmsg 'already exists'
	writes "File exists" "$masters" +bonding_masters
	check_eq bonds "" "$(<"$masters")"
}

masters_namespaces() {
	local file=$PEER_SYS/class/net/bonding_masters

	allow_kmsg 'unable to delete'
	echo +b0 >"$masters"
	check_eq "peer's bonds" "" "$(<"$file")"
	echo +b1 >"$file"
	echo +b0 >"$file"
	check_eq bonds b0 "$(<"$masters")"
	check_eq "peer's bonds" "b1 b0" "$(<"$file")"
	writes "No such device" "$masters" -b1
	echo -b0 >"$file"
	check_eq bonds b0 "$(<"$masters")"
	check_eq "peer's bonds" b1 "$(<"$file")"
}

# A write waits when somebody else holds RTNL, whatever happens meanwhile.
busy_rtnl() {
	local i

	bond_make active-backup 2
	for i in 1 2; do
		(while :; do
			ip link add "x$i" type dummy
			ip link del "x$i"
		done) &
	done
	for ((i = 1; i <= 200; i++)); do
		echo $((i % 2)) >/sys/class/net/b0/bonding/all_slaves_active
		echo "s$((i % 2))" >/sys/class/net/b0/bonding/active_slave
		active_is "s$((i % 2))" || fail "round $i"
	done
}

# events_of COMMAND... - names of the events that "ip monitor" saw meanwhile
events_of() {
	local pid

	ip monitor link >"$BOND_TMP/events" &
	pid=$!
	# the monitor listens when it reports this one
	wait_for 5000 "monitor" monitor_hears
	: >"$BOND_TMP/events"
	"$@"
	ip link set lo mtu 9998
	wait_for 5000 "end of events" grep -q 'mtu 9998' "$BOND_TMP/events"
	kill "$pid"
	wait "$pid" || :
	sed -n 's/.*event \([A-Z ]*[A-Z]\).*/\1/p' "$BOND_TMP/events"
}

monitor_hears() {
	ip link set lo mtu 9999
	ip link set lo mtu 10000
	grep -q 'mtu 9999' "$BOND_TMP/events"
}

event() {
	ip link add b0 type bond
	check_eq "events of a write" "BONDING OPTION" \
		"$(events_of writes_b0 ok miimon 100 | sort -u)"
}

no_event() {
	allow_kmsg 'option miimon'
	ip link add b0 type bond
	check_eq "events of a refused write" "" \
		"$(events_of writes_b0 "Invalid argument" miimon x)"
}

as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

not_for_nobody() {
	need setpriv
	ip link add b0 type bond miimon 100
	must_fail as_nobody sh -c 'echo 5 >/sys/class/net/b0/bonding/miimon'
	must_fail as_nobody sh -c "echo +b1 >$masters"
	check_eq miimon 100 \
		"$(as_nobody cat /sys/class/net/b0/bonding/miimon)"
	check_eq bonds b0 "$(as_nobody cat "$masters")"
}

bond_run "$@"
