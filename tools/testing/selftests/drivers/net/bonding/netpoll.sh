#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# netconsole over a bond: kernel messages leave by the active slave, by the next
# one after a failover, and by slaves that came later.
#
# Slaves are dummies here, since newer kernels have no netpoll on veth.

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
	bond_deleted
	slave_without_netpoll"

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

# netconsole_start [DEV] - messages of level critical by b0; status 1 when the
# device cannot do it
netconsole_start() {
	[ -d /sys/module/netconsole ] || modprobe -q netconsole ||
		skip "needs netconsole"
	[ -d "${target%/*}" ] || mount -t configfs none "$configfs" 2>/dev/null ||
		skip "needs configfs"
	netconsole_end
	mkdir "$target" || skip "netconsole is not dynamic"
	trap netconsole_exit EXIT
	[ -n "${old_level-}" ] || read -r old_level _ </proc/sys/kernel/printk
	dmesg -n err
	echo "${1-b0}" >"$target/dev_name"
	echo 192.0.2.1 >"$target/local_ip"
	echo 192.0.2.2 >"$target/remote_ip"
	echo 02:00:00:00:02:02 >"$target/remote_mac"
	echo 1 >"$target/enabled" || return 1
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

# bond_of_dummies MODE COUNT - b0, up, with slaves s0 s1 ... that are usable
bond_of_dummies() {
	local i

	{
		echo "link add b0 type bond mode $1 miimon 100"
		for ((i = 0; i < $2; i++)); do
			echo "link add s$i type dummy"
			echo "link set s$i master b0"
		done
		echo "link set b0 up"
	} | ip -batch -
	for ((i = 0; i < $2; i++)); do
		wait_for 5000 "s$i up" slave_link_is "s$i" up
	done
	wait_for 5000 carrier carrier_is b0 1
}

# sent_start - remember what each slave has sent; sent_read - frames since then
# into the array $got, and their sum into $got_sum
sent_start() {
	local dev

	sent_seen=()
	for dev in /sys/class/net/s[0-9]; do
		sent_seen+=("$(<"$dev/statistics/tx_packets")")
	done
}

sent_read() {
	local dev i=0

	got=()
	got_sum=0
	for dev in /sys/class/net/s[0-9]; do
		got+=($(($(<"$dev/statistics/tx_packets") - sent_seen[i])))
		got_sum=$((got_sum + got[i]))
		i=$((i + 1))
	done
}

# sent WANT... - frames by each slave, in the end
sent() {
	wait_for 3000 "frames $*" sent_now "$@"
}

sent_now() {
	sent_read
	[ "${got[*]}" = "$*" ]
}

sent_sum() {
	sent_read
	[ "$got_sum" -eq "$1" ]
}

sends_by() {
	local mode=$1

	shift
	bond_of_dummies "$mode" 2
	netconsole_start
	sent_start
	messages 10
	sent "$@"
}

active_backup() { sends_by active-backup 10 0; }
broadcast() { sends_by broadcast 10 10; }

# Which slave is the mode's business: each message by one of them.
by_one_of_them() {
	bond_of_dummies "$1" 2
	netconsole_start
	sent_start
	messages 10
	wait_for 3000 "10 frames" sent_sum 10
}

balance_rr() { by_one_of_them balance-rr; }
balance_xor() { by_one_of_them balance-xor; }

failover() {
	bond_of_dummies active-backup 2
	wait_for 5000 "s0 active" active_is s0
	netconsole_start
	echo 0 >/sys/class/net/s0/carrier
	wait_for 5000 "s1 active" active_is s1
	sent_start
	messages 10
	sent 0 10
}

slave_added() {
	bond_of_dummies active-backup 1
	wait_for 5000 "s0 active" active_is s0
	netconsole_start
	ip link add s1 type dummy
	ip link set s1 master b0
	wait_for 5000 "s1 up" slave_link_is s1 up
	bond_set active_slave s1
	sent_start
	messages 10
	sent 0 10
}

slave_removed() {
	allow_kmsg 'permanent (HWaddr|MAC)'
	bond_of_dummies active-backup 2
	wait_for 5000 "s0 active" active_is s0
	netconsole_start
	ip link set s0 nomaster
	wait_for 5000 "s1 active" active_is s1
	sent_start
	messages 10
	sent 0 10
	# the one that left is free for others
	ip link add b1 type bond mode balance-rr
	ip link set s0 down
	ip link set s0 master b1
}

# netconsole gives up a device that has let go its last slave.
last_slave() {
	allow_kmsg 'netconsole: network logging stopped'
	bond_of_dummies active-backup 1
	netconsole_start
	ip link set s0 nomaster
	wait_for 3000 "netconsole off" grep -qx 0 "$target/enabled"
	messages 10
	ip link set s0 down
	ip link set s0 master b0
	wait_for 5000 "s0 active" active_is s0
	sent_start
	messages 10
	holds_for 300 "nothing sent" sent_now 0
}

stopped() {
	bond_of_dummies active-backup 2
	wait_for 5000 "s0 active" active_is s0
	netconsole_start
	echo 0 >"$target/enabled"
	sent_start
	messages 10
	holds_for 300 "nothing sent" sent_now 0 0
	frames 10
	sent_read
	check_eq "frames sent" "10 0" "${got[*]}"
}

bond_deleted() {
	bond_of_dummies active-backup 2
	netconsole_start
	allow_kmsg 'netconsole: network logging stopped'
	ip link del b0
	wait_for 3000 "netconsole off" grep -qx 0 "$target/enabled"
	[ ! -e /sys/class/net/s0/master ] || fail "s0 has a master"
}

# A device that cannot do it is no slave for a bond that needs it.
slave_without_netpoll() {
	allow_kmsg "doesn't support polling" 'Error'
	veth_make 5
	netconsole_start s5 2>/dev/null && skip "veth has netpoll here"
	ip link set s5 down
	bond_of_dummies active-backup 1
	netconsole_start
	must_fail ip link set s5 master b0
	check_eq slaves s0 "$(bond_get slaves)"
	[ ! -e /sys/class/net/s5/master ] || fail "s5 has a master"
	sent_start
	messages 10
	wait_for 3000 "10 frames" sent_sum 10
	netconsole_end
	ip link set s5 master b0
	check_eq slaves "s0 s5" "$(bond_get slaves)"
}

bond_run "$@"
