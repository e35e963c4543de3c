#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# netconsole over a bond: kernel messages leave by the active slave, by the next
# one after a failover, and by slaves that came later.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"

bond_tests="
	active_backup
	balance_rr
	balance_xor
	broadcast
	failover
	slave_added
	slave_removed
	last_slave
	stopped
	bond_deleted"

configfs=/sys/kernel/config
target=$configfs/netconsole/bond

netconsole_exit() {
	rc=$?
	trap - ERR
	set +e
	netconsole_end
	[ -z "${old_level-}" ] || dmesg -n "$old_level"
	(exit "$rc")
	bond_child_exit
}

netconsole_end() {
	echo 0 2>/dev/null >"$target/enabled" || :
	rmdir "$target" 2>/dev/null || :
}

# netconsole_start - messages of level critical to the peers
netconsole_start() {
	[ -d /sys/module/netconsole ] || modprobe -q netconsole ||
		skip "needs netconsole"
	[ -d "${target%/*}" ] || mount -t configfs none "$configfs" 2>/dev/null ||
		skip "needs configfs"
	netconsole_end
	mkdir "$target" || skip "netconsole is not dynamic"
	trap netconsole_exit EXIT
	read -r old_level _ </proc/sys/kernel/printk
	dmesg -n err
	echo b0 >"$target/dev_name"
	echo 192.0.2.1 >"$target/local_ip"
	echo 192.0.2.2 >"$target/remote_ip"
	echo 02:00:00:00:02:02 >"$target/remote_mac"
	echo 1 >"$target/enabled"
	check_eq "netconsole" 1 "$(<"$target/enabled")"
}

# messages COUNT - into the kernel's log
messages() {
	local i

	allow_kmsg 'bond_netpoll_test'
	for ((i = 1; i <= $1; i++)); do
		echo "<2>bond_netpoll_test $i" >/dev/kmsg
	done
}

# arrived WANT... - frames that each peer has got, in the end
arrived() {
	wait_for 3000 "frames $*" arrived_now "$@"
}

arrived_now() {
	count_read
	[ "${got[*]}" = "$*" ]
}

sends_by() {
	local mode=$1

	shift
	bond_make "$mode" 2
	wait_for 5000 carrier carrier_is b0 1
	netconsole_start
	count_start
	messages 10
	arrived "$@"
}

active_backup() { sends_by active-backup 10 0; }
broadcast() { sends_by broadcast 10 10; }

# Which slave is the mode's business: each message by one of them.
by_one_of_them() {
	bond_make "$1" 2
	wait_for 5000 carrier carrier_is b0 1
	netconsole_start
	count_start
	messages 10
	wait_for 3000 "10 frames" arrived_sum 10
}

arrived_sum() {
	count_read
	[ "$got_sum" -eq "$1" ]
}

balance_rr() { by_one_of_them balance-rr; }
balance_xor() { by_one_of_them balance-xor; }

failover() {
	bond_make active-backup 2
	wait_for 5000 "s0 active" active_is s0
	netconsole_start
	peer_down 0
	wait_for 5000 "s1 active" active_is s1
	count_start
	messages 10
	arrived 0 10
}

slave_added() {
	bond_make active-backup 1
	wait_for 5000 "s0 active" active_is s0
	netconsole_start
	veth_make 1
	ip link set s1 master b0
	wait_for 5000 "s1 up" slave_link_is s1 up
	bond_set active_slave s1
	count_start
	messages 10
	arrived 0 10
}

slave_removed() {
	allow_kmsg 'permanent (HWaddr|MAC)'
	bond_make active-backup 2
	wait_for 5000 "s0 active" active_is s0
	netconsole_start
	ip link set s0 nomaster
	wait_for 5000 "s1 active" active_is s1
	count_start
	messages 10
	arrived 0 10
	# the one that left is free for others
	ip link add b1 type bond mode balance-rr
	ip link set s0 down
	ip link set s0 master b1
}

# netconsole gives up a device that has let go its last slave.
last_slave() {
	allow_kmsg 'netconsole: network logging stopped'
	bond_make active-backup 1
	netconsole_start
	ip link set s0 nomaster
	wait_for 3000 "netconsole off" grep -qx 0 "$target/enabled"
	messages 10
	ip link set s0 down
	ip link set s0 master b0
	wait_for 5000 "s0 active" active_is s0
	count_start
	messages 10
	holds_for 300 "nothing sent" arrived_now 0
}

stopped() {
	bond_make active-backup 2
	wait_for 5000 "s0 active" active_is s0
	netconsole_start
	echo 0 >"$target/enabled"
	count_start
	messages 10
	holds_for 300 "nothing sent" arrived_now 0 0
	frames 10
	count_read
	check_eq "frames sent" "10 0" "${got[*]}"
}

bond_deleted() {
	bond_make active-backup 2
	netconsole_start
	allow_kmsg 'netconsole: network logging stopped'
	ip link del b0
	wait_for 3000 "netconsole off" grep -qx 0 "$target/enabled"
	[ ! -e /sys/class/net/s0/master ] || fail "s0 has a master"
}

bond_run "$@"
