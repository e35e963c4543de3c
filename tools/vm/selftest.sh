#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Try the scripts of this directory themselves: that a command's status and
# output come through, that every way a guest can go wrong fails the run, that
# modprobe finds the module it should, and that nothing is left behind.
#
# Usage: selftest.sh [-k KERNEL]   (default 6.1)
set -uo pipefail

# shellcheck source=tools/vm/lib.sh
. "$(dirname "$0")/lib.sh"

kernel=6.1
case ${1-} in
-k) kernel=${2:?} ;;
'') ;;
*) vm_usage 123 ;;
esac
vm_check_kernel "$kernel"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
rc=0

# check NAME COMMAND... - one case: it passes when the command succeeds. Shows
# what the last guest said when not.
check() {
	local name=$1

	shift
	if "$@"; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) $name"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) $name"
		tail -n 15 "$tmp/out" "$tmp/err" 2>/dev/null | sed 's/^/# /'
		echo "# status $rc"
	fi
}

# guest ARG... - run.sh with its output in $tmp/out, messages in $tmp/err,
# status in rc
guest() {
	rc=0
	"$vm_dir/run.sh" -k "$kernel" --src "$tmp/src" "$@" \
		>"$tmp/out" 2>"$tmp/err" || rc=$?
}

is() {
	[ "$1" = "$2" ]
}

said() {
	grep -q "$2" "$tmp/$1"
}

# started PATTERN - how many QEMU processes have it in their command line
started() {
	pgrep -fc "qemu-system.*$1" || true
}

# wait_until SECONDS COMMAND... - until it succeeds; false when it never does
wait_until() {
	local end=$((SECONDS + $1))

	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.2
	done
}

build_module() {
	mkdir -p "$tmp/src"
	cp "$vm_dir/selftest.c" "$tmp/src/"
	printf 'obj-m := bonding.o\nbonding-y := selftest.o\n' >"$tmp/src/Kbuild"
	"$vm_dir/root.sh" "$kernel" &&
		vm_as_root "$vm_dir/chroot.sh" \
		"$("$vm_dir/root.sh" --path "$kernel")" "$tmp/src" \
		"$(id -u):$(id -g)" "make -C /lib/modules/$(\
			"$vm_dir/root.sh" --release "$kernel")/build M=/src" \
		>"$tmp/out" 2>"$tmp/err"
}

test_status() {
	local status

	for status in 0 1 42 255; do
		guest -- "exit $status"
		check "status $status passes through" is "$rc" "$status"
	done
	guest -- "kill -KILL \$\$"
	check "a killed command's status is 137" is "$rc" 137
	guest -- no-such-command
	check "a command that is not there gives 127" is "$rc" 127
}

test_output() {
	local want all

	# shellcheck disable=SC2016 # the guest expands it
	guest -- 'for i in 1 2 3; do echo out $i; echo err $i >&2; done'
	want=$(printf 'out %d\nerr %d\n' 1 1 2 2 3 3)
	check "output and errors arrive in order" is "$(cat "$tmp/out")" "$want"

	# shellcheck disable=SC2016 # the guest expands it
	all=$(printf '%s' 'for i in $(seq 0 255); do' \
		' printf "\\x$(printf %x $i)"; done')
	bash -c "$all" >"$tmp/want"
	guest -- "$all"
	check "all bytes arrive as they are" cmp "$tmp/want" "$tmp/out"

	guest -- 'sleep 1000 & echo done'
	check "a process left behind does not hold the run up" is \
		"$rc$(cat "$tmp/out")" 0done

	seq 100000 >"$tmp/want"
	guest -- seq 100000
	check "half a megabyte arrives whole" cmp -s "$tmp/want" "$tmp/out"

	# shellcheck disable=SC2016 # not to be expanded at all
	guest -- printf '<%s>' 'a b' "c'd" '' '$e'
	check "words stay words" is "$(cat "$tmp/out")" "<a b><c'd><><\$e>"
}

test_shares() {
	guest -o "$tmp/o" -- 'echo there >/out/file; echo x >/src/new; ls /src'
	check "/out is kept" is "$(cat "$tmp/o/file")" there
	check "/src can be written" said out '^new$'
	check "/src is not changed" test ! -e "$tmp/src/new"
	check "output.log is kept" cmp -s "$tmp/o/output.log" "$tmp/out"
}

test_crash() {
	guest -- 'echo c >/proc/sysrq-trigger; sleep 60'
	check "a panic fails the run" is "$rc" 125
	check "its console is shown" said err 'console:.*sysrq triggered crash'

	for act in oops bug; do
		guest --module ours -- "modprobe bonding act=$act; exit 0"
		check "$act fails the run" is "$rc" 125
		check "$act: its console is shown" said err \
			'console:.*selftest_init\|console:.*init_module'
	done

	guest --module ours -- 'modprobe bonding act=warn; exit 3'
	check "a warning fails the run" is "$rc" 125
	check "warning: the command's status is told" said err 'command: 3'
	guest --warn-ok --module ours -- 'modprobe bonding act=warn; exit 3'
	check "--warn-ok lets a warning pass" is "$rc" 3
}

test_hang() {
	local start=$SECONDS

	guest -t 25 -- sleep 1000
	check "a command that hangs is ended" is "$rc" 124
	check "it is ended in time" test $((SECONDS - start)) -lt 45

	guest -t 60 --module ours -- 'modprobe bonding act=rtnl'
	check "a task that hangs is ended" is "$rc" 124
	check "it is shown where" said err 'console:.*selftest_rtnl'

	guest -t 60 --module ours -- 'modprobe bonding act=spin'
	check "a CPU that hangs is ended" is "$rc" 124
	check "it is shown where it spins" said err 'console:.*selftest_spin'
}

test_module() {
	local version='cat /sys/module/bonding/version'

	guest -- "lsmod | grep bonding; modinfo -n bonding
		! $version && ip link add b0 type bond && ! $version &&
		cat /sys/class/net/b0/bonding/mode"
	check "in-tree: the kernel loads it when a bond is made" is "$rc" 0
	check "in-tree: nothing is loaded before" is \
		"$(sed '/kernel.drivers.net.bonding/q' "$tmp/out" | wc -l)" 1
	check "in-tree: the bond is there" said out '^balance-rr 0'

	guest --module ours -- "lsmod | grep bonding; modinfo -n bonding
		ip link add type bond; $version"
	check "ours: the kernel loads it when a bond is made" is \
		"$(tail -n 1 "$tmp/out")" selftest
	check "ours: it is found under updates/, not loaded before" is \
		"$(sed 's,.*updates/,,;1q' "$tmp/out")" bonding.ko
	guest --module ours -- modprobe veth
	check "ours: other modules are found" is "$rc" 0

	guest --module none -- 'modprobe bonding || ip link add type bond'
	check "none: there is none" test "$rc" -ne 0 -a "$rc" -lt 123

	mkdir -p "$tmp/empty"
	rc=0
	"$vm_dir/run.sh" -k "$kernel" --src "$tmp/empty" --module ours -- true \
		>"$tmp/out" 2>"$tmp/err" || rc=$?
	check "ours, but not built: 123" is "$rc" 123
}

test_clock() {
	local line count

	# The guest's real-time clock is this machine's: at two of its ticks
	# the time that the guest counts by itself has to agree, however
	# loaded this machine is.
	# shellcheck disable=SC2016 # the guest expands it
	guest -- 'rtc() { read -r now </sys/class/rtc/rtc0/since_epoch; }
		tick() { rtc; old=$now; while [ $now = $old ]; do rtc; done; }
		tick; r=$now u=$EPOCHREALTIME; sleep 10
		tick; echo $((now - r)) $u $EPOCHREALTIME'
	echo "# by the machine, from, to: $(cat "$tmp/out")"
	# shellcheck disable=SC2016 # awk expands it
	check "the guest's clock runs at the right rate" awk '
		{ d = $3 - $2 - $1; exit !($1 > 9 && d * d < 1) }' "$tmp/out"

	for line in 1 2; do
		guest --icount --module ours -- \
			'modprobe bonding act=count; dmesg | grep -o "count [0-9]*"'
		cp "$tmp/out" "$tmp/count$line"
	done
	count=$(cat "$tmp/out")
	check "--icount: a loop was counted" test "${count#count }" -gt 10000
	check "--icount: twice the same" cmp -s "$tmp/count1" "$tmp/count2"
	guest --multi -c 2 -- nproc
	check "--multi: two CPUs" is "$(cat "$tmp/out")" 2
}

# kill_run SIGNAL - kill a run in full swing; whether its guest goes too
kill_run() {
	local mark=selftest.$$.$1 pid

	"$vm_dir/run.sh" -k "$kernel" --src "$tmp/src" --append "$mark" -- \
		sleep 100 >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_until 60 eval "[ \"\$(started $mark)\" = 1 ]" || return 1
	kill "-$1" "$pid"
	wait "$pid" 2>/dev/null
	wait_until 10 eval "[ \"\$(started $mark)\" = 0 ]"
}

test_kill() {
	local signal

	for signal in TERM INT KILL; do
		check "no guest outlives a run killed by $signal" \
			kill_run "$signal"
	done
}

# A small project of its own, to see what build.sh copies
test_build() {
	local top=$tmp/project copy=$tmp/copies/$kernel run

	export BONDING_BUILD=$tmp/copies
	mkdir -p "$top/tools" "$top/sub" "$top/include/generated"
	cp -r "$vm_dir" "$top/tools/"
	run=$top/tools/vm/build.sh
	# shellcheck disable=SC2016 # make expands it
	printf 'all:\n\ttest -d $(KDIR) && cp in out && exit $(CODE)\n' \
		>"$top/Makefile"
	echo one >"$top/in"
	touch "$top/sub/gone" "$top/stray.o" "$top/include/generated/x.h"
	git -C "$top" init -q
	"$run" "$kernel" CODE=0 >"$tmp/out" 2>"$tmp/err"
	check "build: make runs in the copy" is "$(cat "$copy/out")" one
	check "build: products of the checkout stay there" \
		test ! -e "$copy/stray.o" -a ! -e "$copy/include"
	rc=0
	"$run" "$kernel" CODE=3 >"$tmp/out" 2>"$tmp/err" || rc=$?
	check "build: a failure is passed on" is "$rc" 2
	touch -d '1 hour ago' "$top/in.new"
	echo two >"$top/in.new"
	touch -d '1 hour ago' "$top/in.new"
	mv "$top/in.new" "$top/in"
	rm "$top/sub/gone"
	"$run" "$kernel" --sync >"$tmp/out" 2>"$tmp/err"
	check "build: a changed file is copied, however old" is \
		"$(cat "$copy/in")" two
	check "build: a vanished file goes" test ! -e "$copy/sub/gone"
	check "build: what was built stays" test -e "$copy/out"
	# shellcheck disable=SC2016 # expanded there
	"$run" "$kernel" --sh '! touch /usr/x && test -e $KDIR/Makefile &&
		exit 9' >"$tmp/out" 2>"$tmp/err"
	rc=$?
	check "build: the root is read-only, --sh passes its status" is "$rc" 9
	rm -rf "$top/.git"
	"$run" "$kernel" --sync >"$tmp/out" 2>"$tmp/err"
	check "build: works without git" test -e "$copy/in" -a \
		! -e "$copy/stray.o" -a ! -e "$copy/include" -a -e "$copy/tools/vm/run.sh"
	unset BONDING_BUILD
}

# apt_uri FILE - what the scripts make of these apt sources
apt_uri() {
	VM_APT_DIR=$tmp/apt vm_apt_uri "$1"
}

test_deps() {
	mkdir -p "$tmp/bin" "$tmp/apt/sources.list.d"
	printf '#!/bin/sh\necho called >>%q\nexit 1\n' "$tmp/called" \
		>"$tmp/bin/apt-get"
	chmod +x "$tmp/bin/apt-get"
	rc=0
	PATH=$tmp/bin:$PATH "$vm_dir/deps.sh" >"$tmp/out" 2>&1 || rc=$?
	check "deps: all there, nothing done" is "$rc$(cat "$tmp/out")" 0
	check "deps: apt is not even called" test ! -e "$tmp/called"
	PATH=$tmp/bin:$PATH "$vm_dir/deps.sh" no-such-package \
		>"$tmp/out" 2>&1 || rc=$?
	check "deps: a failed install fails" is "$rc" 123

	check "mirror: none is Debian's own" is "$(apt_uri debian)" \
		http://deb.debian.org/debian
	cat >"$tmp/apt/sources.list.d/a.sources" <<-'EOS'
		Types: deb
		URIs: http://off.example/debian
		Suites: x
		Enabled: no

		Types: deb deb-src
		# a comment
		URIs: http://sec.example/debian-security/
		Suites: x

		Types: deb
		URIs: http://main.example/path/debian
		Suites: x
	EOS
	check "mirror: deb822" is "$(apt_uri debian)" \
		http://main.example/path/debian
	check "mirror: deb822, security" is "$(apt_uri debian-security)" \
		http://sec.example/debian-security
	rm "$tmp/apt/sources.list.d/a.sources"
	echo "http://listed.example/debian # x" >"$tmp/mirrors"
	echo "deb [arch=amd64] mirror+file:$tmp/mirrors x main" \
		>"$tmp/apt/sources.list"
	check "mirror: one line, mirror+file" is "$(apt_uri debian)" \
		http://listed.example/debian
}

build_module || vm_die "could not build the stand-in: $(tail "$tmp/err")"
test_deps
test_build
test_status
test_output
test_shares
test_module
test_crash
test_hang
test_clock
test_kill
echo "1..$((passed + failed))"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
