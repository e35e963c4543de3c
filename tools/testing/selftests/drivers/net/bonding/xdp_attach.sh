#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The XDP program of a bond comes and goes: attached, replaced, refused,
# detached, with slaves that come and go meanwhile. After each step it is held
# by exactly those who run it, and the key that has XDP_TX ask the bond is on
# once for each bond that has a program.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"
# shellcheck source=xdp_lib.sh
. "$(dirname "$0")/xdp_lib.sh"

bond_limit=150
bond_tests="
	attach_detach
	attach_in_every_mode
	replace_expected
	program_of_a_slave
	slave_without_xdp
	slave_refuses
	slave_refuses_replacement
	enslave_release
	failed_enslave
	enslaved_one_refuses
	mode_and_policy
	two_bonds
	bond_on_bond
	slave_goes_away
	bond_goes_away
	namespace_ends
	unload
	features
	iproute2_and_bpftool
	xdp_tools
"
bond_beyond="
	attach_detach
	attach_in_every_mode
	replace_expected
	slave_refuses_replacement
	enslave_release
	mode_and_policy
"

bond_at_end() {
	rmmod bond_xdp_peek bond_events 2>/dev/null || :
	[ -d /sys/module/bonding ] || modprobe bonding max_bonds=0 || :
}

peek_load() {
	local ko=$bond_dir/xdp_peek/bond_xdp_peek.ko

	[ -e "$ko" ] || skip "run make modules in $bond_dir first"
	allow_kmsg taint
	[ -d /sys/module/bond_xdp_peek ] || insmod "$ko"
	xdp_key=$(key)
}

key() {
	cat /sys/module/bond_xdp_peek/parameters/key
}

# held ID REFS KEY - the program is held so often (0: it is gone) by devices, and
# once by the core's dispatcher; and the key is on so often more than when the
# case began
held() {
	if [ "$2" -eq 0 ]; then
		wait_for 5000 "program $1 gone" gone "$1"
	else
		check_eq "references of program $1" $(($2 + 1)) \
			"$(xdp refs -i "$1")"
	fi
	check_eq "key" "$3" $(($(key) - xdp_key))
}

gone() {
	! xdp refs -i "$1" 2>/dev/null
}

# refused TEXT COMMAND... - it fails, and says so
refused() {
	local text=$1

	shift
	if "$@" >"$BOND_TMP/said" 2>&1; then
		fail "should have failed: $*"
	fi
	note "$(<"$BOND_TMP/said")"
	grep -q "$text" "$BOND_TMP/said" || fail "does not say '$text': $*"
}

# The core holds the program for the bond, so do the bond and each slave.
attach_detach() {
	local one two

	peek_load
	bond_make balance-rr 2
	one=$(xdp attach -d b0 -p pass)
	held "$one" 4 1
	check_eq "query" "$one 0" "$(xdp query -d b0)"
	check_eq "query of a slave" "0 0" "$(xdp query -d s0)"
	two=$(xdp attach -d b0 -p drop)
	held "$two" 4 1
	held "$one" 0 1
	xdp detach -d b0
	held "$two" 0 0
	check_eq "query" "0 0" "$(xdp query -d b0)"
	one=$(xdp attach -d b0 -p pass -g)
	held "$one" 2 0
	check_eq "query" "0 $one" "$(xdp query -d b0)"
	xdp detach -d b0 -g
	held "$one" 0 0
}

attach_in_every_mode() {
	local mode prog

	peek_load
	for mode in "${xdp_modes[@]}"; do
		has_mode "$mode" || continue
		bond_make "$mode" 2
		prog=$(xdp attach -d b0 -p tx)
		held "$prog" 4 1
		ip link set b0 down
		held "$prog" 4 1
		ip link set b0 up
		xdp detach -d b0
		held "$prog" 0 0
		printf 'link del %s\n' b0 s0 s1 | ip -batch -
	done
}

replace_expected() {
	local one two

	peek_load
	bond_make active-backup 2
	one=$(xdp attach -d b0 -p pass -r 0)
	two=$(xdp attach -d b0 -p drop -r "$one")
	held "$two" 4 1
	held "$one" 0 1
	refused "File exists" xdp attach -d b0 -p pass -r 0
	refused "busy" xdp attach -d b0 -p pass -n
	refused "File exists" xdp attach -d b0 -p pass -g
	refused "File exists" xdp detach -d b0 -r 0
	held "$two" 4 1
	xdp detach -d b0 -r "$two"
	held "$two" 0 0
}

# A slave runs either its own program or the bond's.
program_of_a_slave() {
	local own prog

	peek_load
	bond_make balance-xor 2
	own=$(xdp attach -d s1 -p pass)
	refused "s1: has its own XDP program" xdp attach -d b0 -p pass
	held "$own" 2 0
	xdp detach -d s1
	own=$(xdp attach -d s1 -p pass -g)
	refused "s1: has its own XDP program" xdp attach -d b0 -p pass
	xdp detach -d s1 -g
	prog=$(xdp attach -d b0 -p pass)
	refused "File exists" xdp attach -d s1 -p pass
	refused "File exists" xdp attach -d s1 -p pass -g
	held "$prog" 4 1
	# and one that wants to become a slave
	veth_make 2
	own=$(xdp attach -d s2 -p pass)
	refused "s2: has its own XDP program" ip link set s2 master b0
	check_eq "master" none "$(link_attr s2 master || echo none)"
	held "$own" 2 1
	held "$prog" 4 1
}

slave_without_xdp() {
	local prog

	peek_load
	bond_make broadcast 2
	ip link add d0 type dummy
	prog=$(xdp attach -d b0 -p pass)
	refused "d0: no native XDP" ip link set d0 master b0
	check_eq "slaves" "s0 s1" "$(bond_get slaves)"
	held "$prog" 4 1
	xdp detach -d b0
	ip link set d0 master b0
	refused "d0: no native XDP" xdp attach -d b0 -p pass
	held "$prog" 0 0
	# what does without the slaves' help still works
	prog=$(xdp attach -d b0 -p pass -g)
	held "$prog" 2 0
}

# veth refuses a program when its peer's frames could be too long for it.
slave_refuses() {
	local prog

	peek_load
	bond_make balance-rr 3
	ip -n "$BOND_PEER" link set p2 mtu 9000
	refused "MTU" xdp attach -d b0 -p pass
	check_eq "query" "0 0" "$(xdp query -d b0)"
	check_eq "key" 0 $(($(key) - xdp_key))
	ip -n "$BOND_PEER" link set p2 mtu 1500
	prog=$(xdp attach -d b0 -p pass)
	held "$prog" 5 1
}

# Then the slaves before it get the former program back.
slave_refuses_replacement() {
	local prog

	peek_load
	xdp_bond balance-rr 3
	prog=$(xdp attach -d b0 -p tx_frags)
	ip -n "$BOND_PEER" link set p2 mtu 9000
	refused "MTU" xdp attach -d b0 -p drop
	check_eq "query" "$prog 0" "$(xdp query -d b0)"
	held "$prog" 5 1
	count_start
	from_peer 0 30
	wait_got 10 10 10
	wait_for 5000 "30 frames seen" hits_are "$prog" 30
}

enslave_release() {
	local prog

	peek_load
	xdp_bond balance-rr 1
	prog=$(xdp attach -d b0 -p drop)
	held "$prog" 3 1
	veth_make 1
	peers_xdp 2
	ip link set s1 master b0
	wait_for 5000 "s1 up" slave_link_is s1 up
	held "$prog" 4 1
	from_peer 1 10
	wait_for 5000 "10 frames seen" hits_are "$prog" 10
	ip link set s1 nomaster
	held "$prog" 3 1
	ip link set s1 up
	wait_for 5000 "s1 with carrier" carrier_is s1 1
	from_peer 1 10
	from_peer 0 5
	wait_for 5000 "15 frames seen" hits_are "$prog" 15
	ip link set s0 nomaster
	held "$prog" 2 1
	ip link set s1 down
	ip link set s1 master b0
	held "$prog" 3 1
	xdp detach -d b0
	held "$prog" 0 0
}

# A step that comes after the program has been given fails.
failed_enslave() {
	local ko=$bond_dir/events/bond_events.ko prog
	local par=/sys/module/bond_events/parameters

	peek_load
	[ -e "$ko" ] || skip "run make modules in $bond_dir first"
	bond_make balance-rr 1
	prog=$(xdp attach -d b0 -p drop)
	veth_make 1
	[ -d "$par" ] || insmod "$ko"
	printf %s s1 >"$par/dev"
	printf %s PRECHANGEUPPER >"$par/event"
	must_fail ip link set s1 master b0
	check_eq "refusals" 1 "$(<"$par/hits")"
	held "$prog" 3 1
	printf %s - >"$par/event"
	# nothing is left of it: the device takes another program
	xdp attach -d s1 -p pass
	xdp detach -d s1
	ip link set s1 master b0
	held "$prog" 4 1
}

enslaved_one_refuses() {
	local prog

	peek_load
	bond_make balance-rr 1
	prog=$(xdp attach -d b0 -p drop)
	veth_make 1
	ip -n "$BOND_PEER" link set p1 mtu 9000
	refused "MTU" ip link set s1 master b0
	check_eq "slaves" s0 "$(bond_get slaves)"
	check_eq "master" none "$(link_attr s1 master || echo none)"
	held "$prog" 3 1
}

# Whatever mode and policy are changed to, the program goes on.
mode_and_policy() {
	local prog mode policy

	allow_kmsg 'permanent HWaddr'
	peek_load
	bond_make balance-xor 2
	prog=$(xdp attach -d b0 -p pass)
	for policy in layer2 layer2+3 layer3+4 encap2+3 encap3+4 vlan+srcmac
	do
		bond_set xmit_hash_policy "$policy"
	done
	held "$prog" 4 1
	ip link set b0 down
	ip link set s0 nomaster
	ip link set s1 nomaster
	held "$prog" 2 1
	for mode in "${xdp_modes[@]}"; do
		has_mode "$mode" || continue
		bond_set mode "$mode"
		held "$prog" 2 1
		ip link set s0 master b0
		held "$prog" 3 1
		ip link set s0 nomaster
	done
	xdp detach -d b0
	held "$prog" 0 0
}

two_bonds() {
	local one two

	peek_load
	bond_make balance-rr 1
	veth_make 1
	ip link add b1 type bond mode active-backup miimon 100
	ip link set s1 master b1
	one=$(xdp attach -d b0 -p pass)
	two=$(xdp attach -d b1 -p pass)
	held "$one" 3 2
	held "$two" 3 2
	one=$(xdp attach -d b0 -p drop)
	held "$one" 3 2
	xdp detach -d b0
	held "$one" 0 1
	ip link del b1
	held "$two" 0 0
}

# Every bond on the way is a bond with a program: the key counts both.
bond_on_bond() {
	local prog

	allow_kmsg 'permanent HWaddr'
	peek_load
	bond_make balance-rr 2
	ip link set b0 down
	ip link add b1 type bond mode active-backup miimon 100
	ip link set b0 master b1
	ip link set b1 up
	prog=$(xdp attach -d b1 -p tx)
	held "$prog" 5 2
	refused "File exists" xdp attach -d b0 -p pass
	ip link set s1 nomaster
	held "$prog" 4 2
	ip link set b0 nomaster
	held "$prog" 2 1
	ip link set b0 down
	ip link set b0 master b1
	held "$prog" 4 2
	xdp detach -d b1
	held "$prog" 0 0
}

slave_goes_away() {
	local prog

	allow_kmsg 'permanent HWaddr'
	peek_load
	bond_make balance-rr 2
	prog=$(xdp attach -d b0 -p pass)
	ip link del s0
	held "$prog" 3 1
	ip netns add "$BOND_NS-other"
	ip link set s1 netns "$BOND_NS-other"
	held "$prog" 2 1
	ip netns del "$BOND_NS-other"
	held "$prog" 2 1
}

bond_goes_away() {
	local prog

	peek_load
	bond_make balance-rr 2
	prog=$(xdp attach -d b0 -p pass)
	ip link del b0
	held "$prog" 0 0
	prog=$(xdp attach -d s0 -p pass)
	held "$prog" 2 0
}

namespace_ends() {
	local prog

	peek_load
	ip netns add "$BOND_NS-x"
	ip -n "$BOND_NS-x" -batch - <<-COMMANDS
		link add b0 type bond mode balance-xor miimon 100
		link add s0 type veth peer name p0
		link add s1 type veth peer name p1
		link set s0 master b0
		link set s1 master b0
		link set b0 up
	COMMANDS
	prog=$(ip netns exec "$BOND_NS-x" "$bond_dir/xdp_tool" attach -d b0 -p tx)
	held "$prog" 4 1
	ip netns del "$BOND_NS-x"
	held "$prog" 0 0
}

unload() {
	local prog

	peek_load
	[ "$(modinfo -F intree bonding)" != Y ] || ! bond_module_is_ours ||
		skip "modprobe would load another module"
	[ -z "$(nsenter --target 1 --net ip -o link show type bond)" ] ||
		skip "the machine has bonds of its own"
	bond_make broadcast 2
	prog=$(xdp attach -d b0 -p tx)
	held "$prog" 4 1
	rmmod bonding
	held "$prog" 0 0
	prog=$(xdp attach -d s0 -p tx)
	held "$prog" 2 0
	modprobe bonding max_bonds=0
}

# has DEV BIT - of NETDEV_XDP_ACT_*
feature() {
	(($(xdp features -d "$1") & $2))
}

# The bond offers what all slaves offer, and tells when that changes.
features() {
	local basic=1 redirect=2 xmit=4

	allow_kmsg 'permanent (HWaddr|MAC)'
	xdp_bond balance-rr 2
	feature s0 1 || skip "this kernel's devices do not say"
	feature b0 $((basic)) || fail "no basic XDP"
	feature b0 $((redirect)) || fail "no redirection"
	feature b0 $((xmit)) || fail "cannot be redirected to"
	peer_no_xdp p1
	wait_for 5000 "not to be redirected to" no_feature b0 "$xmit"
	feature b0 "$basic" || fail "no basic XDP any more"
	peer_xdp p1
	wait_for 5000 "to be redirected to" feature b0 "$xmit"
	ip link add d0 type dummy
	ip link set d0 master b0
	no_feature b0 $((basic | redirect)) || fail "more than the dummy can"
	ip link set d0 nomaster
	feature b0 "$xmit" || fail "not back"
	ip link set s0 nomaster
	feature b0 "$basic" || fail "not what s1 can"
	ip link set s1 nomaster
	check_eq "features without slaves" 0 "$(xdp features -d b0)"
}

no_feature() {
	! feature "$1" "$2"
}

# shown TEXT - by bpftool, of b0
shown() {
	local text

	text=$(bpftool net show dev b0)
	case $text in
	*"$1"*) ;;
	*) fail "bpftool: no '$1' in '$text'" ;;
	esac
}

# What users have: ip and bpftool.
iproute2_and_bpftool() {
	local PATH=$PATH:/usr/sbin obj=$bond_dir/xdp_progs.bpf.o id

	need bpftool
	[ -e "$obj" ] || skip "run make in $bond_dir first"
	bond_make broadcast 2
	ip link set b0 xdpdrv obj "$obj" program pass 2>/dev/null ||
		ip link set b0 xdpdrv obj "$obj" sec xdp
	id=$(xdp query -d b0)
	id=${id% *}
	shown "driver id $id"
	ip link set b0 xdpdrv off
	ip link set b0 xdpgeneric obj "$obj" sec xdp
	shown "generic id"
	ip link set b0 xdpgeneric off
	check_eq "query" "0 0" "$(xdp query -d b0)"
}

xdp_tools() {
	local PATH=$PATH:/usr/sbin

	need xdp-filter
	bond_make active-backup 2
	mkdir -p /sys/fs/bpf
	mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
	xdp-filter load -m native -p allow b0
	xdp-filter status >"$BOND_TMP/status"
	grep -q b0 "$BOND_TMP/status" || fail "not loaded"
	[ "$(xdp query -d b0)" != "0 0" ] || fail "no program"
	xdp-filter unload b0
	check_eq "query" "0 0" "$(xdp query -d b0)"
}

bond_run "$@"
