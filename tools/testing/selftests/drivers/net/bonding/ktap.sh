# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Results in the Kernel Test Anything Protocol, version 1: plan first, one line
# a case, totals last. Sourced only.
#
#   ktap_begin COUNT       header and plan
#   ktap_note TEXT...      a diagnostic line
#   ktap_pass NAME
#   ktap_fail NAME WHY
#   ktap_skip NAME WHY
#   ktap_end               totals; returns 0, 1 (failures) or 4 (only skips)

ktap_planned=0
ktap_passed=0
ktap_failed=0
ktap_skipped=0

ktap_begin() {
	ktap_planned=$1
	printf 'KTAP version 1\n1..%d\n' "$ktap_planned"
}

ktap_note() {
	printf '# %s\n' "$*"
}

# ktap_line STATUS NAME [REMARK] - the result line of the next case
ktap_line() {
	local done=$((ktap_passed + ktap_failed + ktap_skipped))

	printf '%s %d %s%s\n' "$1" "$done" "$2" "${3:+ # $3}"
}

ktap_pass() {
	ktap_passed=$((ktap_passed + 1))
	ktap_line ok "$1"
}

ktap_fail() {
	ktap_failed=$((ktap_failed + 1))
	ktap_line 'not ok' "$1" "${2//$'\n'/ }"
}

ktap_skip() {
	ktap_skipped=$((ktap_skipped + 1))
	ktap_line ok "$1" "SKIP ${2//$'\n'/ }"
}

ktap_end() {
	local done=$((ktap_passed + ktap_failed + ktap_skipped))

	printf '# Totals: pass:%d fail:%d xfail:0 xpass:0 skip:%d error:%d\n' \
		"$ktap_passed" "$ktap_failed" "$ktap_skipped" \
		$((ktap_planned - done))
	[ "$ktap_failed" -eq 0 ] && [ "$done" -eq "$ktap_planned" ] || return 1
	[ "$ktap_passed" -gt 0 ] || return 4
}
