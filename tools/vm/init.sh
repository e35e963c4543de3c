#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The guest's first process: /init of the initramfs that run.sh puts together.
# Mounts the guest's root (9p, read-only, under a tmpfs), moves into it, runs
# the command and reports. It switches root itself and never forks for that:
# the kernel's own calls of modprobe follow this process' root.
#
# /job/env   settings, written by run.sh: VM_MODULE, VM_RELEASE, VM_DUMP_AT,
#            VM_PRINTK, VM_PROBE
# /job/run   the command
# /job/mod   files for /lib/modules/RELEASE, with VM_MODULE=ours
# Serial ports: ttyS0 the kernel's console, ttyS1 the command's output, ttyS2
# reports to run.sh.

b=/bin/busybox

# Runs in the initramfs: all mounts, so that nothing is read over 9p for them
stage_mount() {
	$b mount -t devtmpfs dev /dev
	$b mount -t proc proc /proc
	$b mount -t sysfs sys /sys
	if [ -n "$VM_PROBE" ]; then
		echo "exit 0 0" >/dev/ttyS2
		$b poweroff -f
	fi
	while read -r mod; do
		$b insmod "/lib/$mod.ko"
	done </lib/order

	opts=trans=virtio,version=9p2000.L,msize=262144
	$b mount -t 9p -o "ro,cache=loose,$opts" root /ro
	$b mount -t tmpfs -o mode=755 rw /rw
	$b mkdir /rw/root /rw/root.work /rw/src /rw/src.work
	$b mount -t overlay -o \
		lowerdir=/ro,upperdir=/rw/root,workdir=/rw/root.work root /new
	$b mount -t 9p -o "ro,cache=loose,$opts" src /srcro
	$b mount -t overlay -o \
		lowerdir=/srcro,upperdir=/rw/src,workdir=/rw/src.work src \
		/new/src
	$b mount -t 9p -o "rw,cache=none,$opts" out /new/out

	$b mount --move /dev /new/dev
	$b mount --move /proc /new/proc
	$b mount --move /sys /new/sys
	$b mount -t tmpfs -o mode=755 run /new/run
	$b mount -t tmpfs -o mode=1777 tmp /new/tmp
	# not of 9p: QEMU may run as a user who cannot read it
	$b mount -t tmpfs -o mode=700 home /new/root
	$b mkdir /new/dev/pts /new/dev/shm /new/run/vm
	$b mount -t devpts -o mode=620,gid=5,ptmxmode=666 pts /new/dev/pts
	$b mount -t tmpfs -o mode=1777 shm /new/dev/shm
	$b mount -t debugfs debug /new/sys/kernel/debug
	$b mount -t tracefs trace /new/sys/kernel/tracing
	$b mount -t bpf bpf /new/sys/fs/bpf
	$b mount -t cgroup2 cgroup /new/sys/fs/cgroup
	$b ln -s /proc/self/fd /new/dev/fd
	$b ln -s /proc/self/fd/0 /new/dev/stdin
	$b ln -s /proc/self/fd/1 /new/dev/stdout
	$b ln -s /proc/self/fd/2 /new/dev/stderr
}

# Which bonding.ko modprobe finds: the distribution's (nothing to do), ours
# beside it, or none
stage_module() {
	dir=/new/lib/modules/$VM_RELEASE
	case $VM_MODULE in
	ours) $b cp -r /job/mod/. "$dir/" ;;
	none) $b rm -f "$dir"/kernel/drivers/net/bonding/bonding.ko* ;;
	esac
}

# Runs in the guest's root, still as the first process
stage_run() {
	b=/run/vm/busybox
	$b hostname guest
	$b ip link set lo up
	$b stty -F /dev/ttyS1 raw -echo
	echo "$VM_PRINTK" >/proc/sys/kernel/printk
	# by the clock on the wall, which is the machine's: how long the machine
	# took to get this guest going, the guest cannot know
	left=$((VM_DUMP_AT - $($b date +%s)))
	if [ "$left" -gt 0 ]; then
		(
			$b sleep "$left"
			echo "vm: the time limit is near" >/dev/kmsg
			# blocked tasks, then what the CPUs do
			echo w >/proc/sysrq-trigger
			echo l >/proc/sysrq-trigger
		) &
	fi
	echo "start" >/dev/ttyS2
	export HOME=/root USER=root TERM=dumb LC_ALL=C.UTF-8 SHELL=/bin/bash
	export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	cd /src || exit
	# Through a pipe, since programs write in another way to a terminal.
	# What the command leaves running may hold it open: it gets 2 s.
	rc=0
	$b mkfifo /run/vm/pipe
	$b cat /run/vm/pipe >/dev/ttyS1 &
	cat=$!
	$b setsid /run/vm/run </dev/null >/run/vm/pipe 2>&1 || rc=$?
	($b sleep 2; kill "$cat" 2>/dev/null) &
	wait "$cat" || true
	# waits until the port has sent everything
	$b stty -F /dev/ttyS1 raw
	# by cat: a sysctl gives no more than its first byte to a shell's read
	echo "exit $rc $($b cat /proc/sys/kernel/tainted)" >/dev/ttyS2
	$b poweroff -f
}

if [ "$1" = run ]; then
	# shellcheck source=/dev/null
	. /run/vm/env
	stage_run
fi
# shellcheck source=/dev/null
. /job/env
# a failure ends this process: the kernel panics, which run.sh reports
set -e
stage_mount
stage_module
$b cp /init /job/env /job/run /bin/busybox /new/run/vm/
exec $b switch_root /new /run/vm/busybox sh /run/vm/init run
