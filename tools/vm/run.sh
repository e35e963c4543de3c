#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boot one of the kernels in QEMU and run a command there, as root.
#
# Usage: run.sh [OPTION...] -- COMMAND...
#   One argument is a bash script; several are a command and its arguments.
#   It starts in /src, the project (see --src); what it writes there is gone
#   afterwards, what it writes to /out is in OUTDIR. Its output is shown as it
#   comes.
#
#   -k KERNEL    6.1 (default), 6.12 or 7.3; the guest's root is made if need be
#   -t SECONDS   time limit, boot included (default 300)
#   -c CPUS      (default 2)
#   -m MIB       memory (default 1024)
#   -o OUTDIR    keep console.log, output.log and what is written to /out
#   -v           say how long the boot took
#   --multi      a host thread for every CPU: truly parallel, for races and
#                stress; without it forks and execs are far cheaper
#   --icount     the exact bed: one CPU, the guest's clock advances 1 ns an
#                instruction, the same in every run
#   --module M   intree (default): the distribution's bonding.ko; ours: the
#                project's bonding.ko is under updates/, so that modprobe finds
#                it first; none: there is none. None is loaded before the
#                command asks for it
#   --src DIR    what /src is (default: the copy that build.sh made for this
#                kernel, brought up to date; nothing is compiled)
#   --warn-ok    a kernel warning does not fail the run
#   --append A   one more kernel argument
#   --qemu A     one more QEMU argument, may be given more than once
#
# Exit status: the command's own, or
#   123  the guest could not be set up
#   124  the time limit has passed
#   125  the kernel crashed or complained (panic, oops, BUG, warning, hung task)
set -euo pipefail

# shellcheck source=tools/vm/lib.sh
. "$(dirname "$0")/lib.sh"

# What a kernel says when something is wrong with it. Warnings that leave no
# word here are found by the taint flags that the guest reports.
complaints='Kernel panic|Oops:|BUG:|kernel BUG at|general protection fault'
complaints+='|INFO: task .* blocked for more|self-detected stall'
complaints+='|detected stalls|unregister_netdevice: waiting for'
complaints+='|WARNING: (possible|suspicious|inconsistent|bad unlock)'
complaints+='|refcount_t: |list_(add|del) corruption|KASAN:|UBSAN:'
# taint flags: bad page 32, died 128, warned 512, soft lockup 16384
taint_died=$((32 + 128 + 16384)) taint_warned=512

kernel=6.1 limit=300 cpus=2 memory=1024 out='' verbose='' thread=single
icount='' module=intree src='' warn_ok='' append=() extra=() command=()
root='' release='' boot='' kvm='' qpid='' tpid='' tmp=''

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		-k | -t | -c | -m | -o | --module | --src | --append | --qemu)
			[ $# -ge 2 ] || vm_die "$1 needs a value" ;;
		esac
		case $1 in
		-k) kernel=$2; shift ;;
		-t) limit=$2; shift ;;
		-c) cpus=$2; shift ;;
		-m) memory=$2; shift ;;
		-o) out=$2; shift ;;
		-v) verbose=y ;;
		--multi) thread=multi ;;
		--icount) icount=y cpus=1 ;;
		--module) module=$2; shift ;;
		--src) src=$2; shift ;;
		--warn-ok) warn_ok=y ;;
		--append) append+=("$2"); shift ;;
		--qemu) extra+=("$2"); shift ;;
		-h | --help) vm_usage 0 ;;
		--) shift; command=("$@"); break ;;
		*) vm_die "unknown option '$1' (--help lists them)" ;;
		esac
		shift
	done
	[ "${#command[@]}" -gt 0 ] || vm_usage
	vm_check_kernel "$kernel"
	case $module in
	ours | intree | none) ;;
	*) vm_die "--module is ours, intree or none, not '$module'" ;;
	esac
	case $limit$cpus$memory in
	*[!0-9]*) vm_die "-t, -c and -m take numbers" ;;
	esac
}

# shellcheck disable=SC2317 # a trap calls it
cleanup() {
	local pid

	for pid in $qpid $tpid; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	[ -z "$tmp" ] || rm -rf "$tmp" || true
}

# tsc_khz - rate of the counter that a guest under TCG reads
tsc_khz() {
	local tool

	tool=$vm_cache/tsc-$(sha256sum "$vm_dir/tsc.c" | cut -c1-12)
	if [ ! -x "$tool" ]; then
		cc -O2 -o "$tool.$$" "$vm_dir/tsc.c" && mv "$tool.$$" "$tool"
	fi
	"$tool"
}

# kvm_boots - whether KVM works here. /dev/kvm alone says nothing: it can be
# there and run no stock kernel. So this very kernel has to reach its first
# process under it, once per boot of this machine.
kvm_boots() {
	local verdict=$vm_cache/$kernel.kvm key

	[ -z "$icount" ] && [ -w /dev/kvm ] || return 1
	grep -qwE 'vmx|svm' /proc/cpuinfo || return 1
	key="$(cat /proc/sys/kernel/random/boot_id) $release"
	if [ "$(head -n 1 "$verdict" 2>/dev/null || true)" != "$key" ]; then
		{
			echo "$key"
			# silent: bash would report that QEMU aborted
			{ kvm_probe; } 2>/dev/null && echo yes || echo no
		} >"$verdict.$$"
		mv "$verdict.$$" "$verdict"
	fi
	[ "$(tail -n 1 "$verdict")" = yes ]
}

kvm_probe() {
	local module=none

	make_initrd "$tmp/probe" VM_PROBE=y
	timeout -s KILL 20 qemu-system-x86_64 -M q35,smm=off,usb=off \
		-accel kvm -cpu host -m 512 -nodefaults -no-user-config \
		-display none -no-reboot -kernel "$boot/kernel" \
		-initrd "$tmp/probe" -append "panic=-1 quiet" \
		-serial null -serial null -serial "file:$tmp/probe.out" \
		>/dev/null 2>&1 </dev/null
	grep -q '^exit 0' "$tmp/probe.out"
}

# make_initrd FILE ENV... - the root's initramfs and this run's job behind it
make_initrd() {
	local tree=$1.tree file=$1 mod

	shift
	mkdir -p "$tree/job"
	cp "$vm_dir/init.sh" "$tree/init"
	chmod +x "$tree/init"
	printf '%s\n' "$@" >"$tree/job/env"
	{
		echo '#!/bin/bash'
		if [ "${#command[@]}" -eq 1 ]; then
			printf '%s\n' "${command[0]}"
		else
			echo "exec $(printf '%q ' "${command[@]}")"
		fi
	} >"$tree/job/run"
	chmod +x "$tree/job/run"
	if [ "$module" = ours ]; then
		mod=$tree/job/mod
		mkdir -p "$mod/updates"
		cp "$tmp/depmod/lib/modules/$release/updates/bonding.ko" \
			"$mod/updates/"
		cp "$vm_build/$kernel.depmod"/modules.* "$mod/"
	fi
	(cd "$tree" && find . | cpio -o -H newc --quiet -R 0:0) |
		cat "$boot/initrd" - >"$file"
	rm -rf "$tree"
}

# index_module - what depmod says with our module under updates/. Done here,
# natively in the guest's root: the guest itself would take far longer. Holds
# the lock on it (fd 7) until the caller has copied the files.
index_module() {
	local dir=$vm_build/$kernel.depmod
	local tree=$tmp/depmod/usr/lib/modules/$release sum

	[ -e "$src/bonding.ko" ] ||
		vm_die "no bonding.ko in $src: run build.sh $kernel first"
	mkdir -p "$vm_build" "$tree"/{updates,kernel}
	ln -s usr/lib "$tmp/depmod/lib"
	cp "$src/bonding.ko" "$tree/updates/"
	exec 7>"$dir.lock"
	flock 7
	sum="$release $(sha256sum <"$tree/updates/bonding.ko")"
	[ "$(cat "$dir/sum" 2>/dev/null || true)" != "$sum" ] || return 0
	cp "$root/lib/modules/$release"/modules.{builtin*,order} "$tree/"
	vm_as_root "$vm_dir/chroot.sh" "$root" "$tmp/depmod" 0:0 "
		mount --bind /lib/modules/$release/kernel \
			lib/modules/$release/kernel &&
		depmod -b /src $release" || vm_die "depmod failed"
	rm -rf "$dir"
	mkdir "$dir"
	cp "$tree"/modules.* "$dir/"
	echo "$sum" >"$dir/sum"
}

# kernel_args - prints the kernel's command line
kernel_args() {
	local args khz

	args="console=ttyS0 quiet loglevel=5 panic=-1 oops=panic norandmaps"
	args+=" mitigations=off nokaslr no_timer_check random.trust_cpu=on"
	args+=" nmi_watchdog=0 cryptomgr.notests net.ifnames=0"
	if [ -n "$icount" ]; then
		khz=1000000
	elif [ -z "$kvm" ]; then
		khz=$(tsc_khz)
		args+=" unknown_nmi_panic"
	fi
	if [ -n "${khz-}" ]; then
		args+=" tsc=reliable tsc_early_khz=$khz"
		args+=" lpj=$((khz * 1000 / $(cat "$vm_cache/$kernel/hz")))"
	fi
	echo "$args ${append[*]}"
}

# start_qemu - sets qpid. The command's output goes to our stdout by fd 5,
# reports to fd 6.
start_qemu() {
	local args=(-M "q35,smm=off,usb=off,vmport=off" -smp "$cpus"
		-m "$memory" -nodefaults -no-user-config -display none
		-no-reboot -kernel "$boot/kernel" -initrd "$tmp/initrd")
	local tag dir

	if [ -n "$kvm" ]; then
		args+=(-accel kvm -cpu host)
	else
		args+=(-accel "tcg,thread=$thread,tb-size=512"
			-cpu "max,la57=off")
	fi
	[ -z "$icount" ] ||
		args+=(-icount "shift=0,sleep=off"
			-rtc "base=2024-01-01,clock=vm")
	args+=(-append "$(kernel_args)"
		-chardev "file,id=con,path=$out/console.log"
		-chardev "file,id=out,path=/dev/fd/5"
		-chardev "file,id=rep,path=/dev/fd/6"
		-chardev "pipe,id=mon,path=$tmp/monitor"
		-serial chardev:con -serial chardev:out -serial chardev:rep
		-mon "chardev=mon,mode=readline")
	for tag in root src out; do
		case $tag in
		root) dir=$root,readonly=on ;;
		src) dir=$src,readonly=on ;;
		out) dir=$out ;;
		esac
		args+=(-fsdev "local,id=$tag,path=$dir,security_model=none"
			-device "virtio-9p-pci,fsdev=$tag,mount_tag=$tag")
	done
	mkfifo "$tmp/monitor.in" "$tmp/monitor.out" "$tmp/never"
	setpriv --pdeathsig KILL qemu-system-x86_64 "${args[@]}" \
		"${extra[@]}" </dev/null >"$tmp/qemu.log" 2>&1 &
	qpid=$!
}

# near_limit - whether the guest has said itself where it hangs
near_limit() {
	grep -aq 'vm: the time limit is near' "$out/console.log"
}

# start_timer - sets tpid. A guest that says nothing as it hangs with interrupts
# off still takes an NMI, and its panic then says where.
start_timer() {
	(
		exec 5>&- 6>&- 7>&- 8>&-
		read -r -t "$limit" <>"$tmp/never" || true
		kill -0 $$ 2>/dev/null || exit 0
		: >"$tmp/timed-out"
		if ! near_limit; then
			echo nmi 1<>"$tmp/monitor.in"
			read -r -t 5 <>"$tmp/never" || true
		fi
		kill -KILL "$qpid" 2>/dev/null || true
	) &
	tpid=$!
	# or bash reports that it was killed
	disown "$tpid"
}

# read_reports - runs beside the guest: notes when the command started
read_reports() {
	local line

	while read -r line; do
		line=${line%$'\r'}
		case $line in
		start*) echo "$EPOCHREALTIME" >"$tmp/started" ;;
		exit*) echo "$line" >"$tmp/exit" ;;
		esac
	done
}

# show_console - its last lines, or what it said about a hang
show_console() {
	vm_say "the console's last lines:"
	if near_limit; then
		sed -n '/vm: the time limit is near/,$p' "$out/console.log" |
			head -n 200
	else
		tail -n 60 "$out/console.log"
	fi | tr -d '\r' | sed 's/^/console: /' >&2
}

# verdict - look at what is left of the guest; the run's exit status
verdict() {
	local word='' rc=0 taint=0 bad=''

	if [ -e "$tmp/timed-out" ] && [ ! -e "$tmp/exit" ]; then
		show_console
		vm_say "time limit of $limit s has passed"
		return "$VM_EXIT_TIMEOUT"
	fi
	if [ -e "$tmp/exit" ]; then
		read -r word rc taint <"$tmp/exit"
	fi
	bad=$(grep -aoEm 1 "$complaints" "$out/console.log" || true)
	[ -n "$bad" ] || [ $((taint & taint_died)) -eq 0 ] ||
		bad="kernel tainted ($taint)"
	[ -n "$bad" ] || [ -n "$warn_ok" ] ||
		[ $((taint & taint_warned)) -eq 0 ] || bad="kernel warning"
	if [ -n "$bad" ] || [ -z "$word" ]; then
		[ -s "$out/console.log" ] || tail "$tmp/qemu.log" >&2
		show_console
		vm_say "the guest failed: ${bad:-it ended without a report}" \
			"${word:+(status of the command: $rc)}"
		return "$VM_EXIT_CRASH"
	fi
	return "$rc"
}

setup() {
	local dump_at=0 printk=5

	[ -d "$vm_cache/$kernel/boot" ] || vm_say "preparing $kernel"
	"$vm_dir/root.sh" "$kernel"
	exec 8>"$("$vm_dir/root.sh" --lock "$kernel")"
	flock -s 8
	root=$("$vm_dir/root.sh" --path "$kernel")
	release=$("$vm_dir/root.sh" --release "$kernel")
	boot=$vm_cache/$kernel/boot
	if [ -z "$src" ]; then
		"$vm_dir/build.sh" "$kernel" --sync
		src=$vm_build/$kernel
	fi
	src=$(cd "$src" && pwd)
	tmp=$(mktemp -d)
	[ -n "$out" ] || out=$tmp/out
	mkdir -p "$out"
	out=$(cd "$out" && pwd)
	rm -f "$out/console.log" "$out/output.log"
	! kvm_boots || kvm=y
	[ "$module" != ours ] || index_module
	[ -n "$icount" ] || dump_at=$((EPOCHSECONDS + limit - 8)) printk=8
	make_initrd "$tmp/initrd" VM_PROBE= VM_MODULE="$module" \
		VM_RELEASE="$release" VM_DUMP_AT="$dump_at" VM_PRINTK="$printk"
	exec 7>&-
}

main() {
	local begin teepid reppid rc=0

	parse "$@"
	trap cleanup EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	setup
	exec 5> >(exec 8>&-; exec tee "$out/output.log")
	teepid=$!
	exec 6> >(exec 5>&- 8>&-; read_reports)
	reppid=$!
	begin=$EPOCHREALTIME
	start_qemu
	start_timer
	exec 5>&- 6>&-
	# silent: bash would report that the timer killed it
	wait "$qpid" 2>/dev/null || true
	qpid=''
	wait "$teepid" "$reppid" || true
	if [ -n "$verbose" ] && [ -e "$tmp/started" ]; then
		vm_say "$release, $([ -n "$kvm" ] && echo KVM || echo TCG):" \
			"first command after $(awk -v b="$begin" \
			'{ printf "%.1f", $1 - b }' "$tmp/started") s"
	fi
	verdict || rc=$?
	exit "$rc"
}

main "$@"
