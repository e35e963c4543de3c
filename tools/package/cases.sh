# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Cases of install.sh and guest.sh, which source this.

passed=0 failed=0

# check NAME COMMAND... - one case; what the command says is shown if it fails
check() {
	local name=$1

	shift
	if "$@" >/tmp/package.log 2>&1; then
		passed=$((passed + 1))
		echo "ok $name"
	else
		failed=$((failed + 1))
		tail -n 30 /tmp/package.log | sed 's/^/# /'
		echo "not ok $name"
	fi
}

# found_in RELEASE WHERE - is the module that modprobe takes that one, below
# /lib/modules/RELEASE?
found_in() {
	local file

	file=$(modinfo -k "$1" -F filename bonding) || return
	echo "$file"
	case $file in
	"/lib/modules/$1/$2"*) ;;
	*) return 1 ;;
	esac
}

# finish - this script's exit status
finish() {
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
