#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run tests one after another: KTAP on stdout with one result a test, the
# test's own lines indented below it, as they come.
#
# Usage: run.sh TEST...     (files of this directory)
# Exit status: 0, 1 when a test failed, 4 when all were skipped.

cd "$(dirname "$0")" || exit 1
# shellcheck source=ktap.sh
. ./ktap.sh

ktap_begin $#
for test; do
	"./$test" </dev/null 2>&1 | sed -u 's/^/    /'
	rc=${PIPESTATUS[0]}
	case $rc in
	0) ktap_pass "$test" ;;
	4) ktap_skip "$test" "see above" ;;
	*) ktap_fail "$test" "exit status $rc" ;;
	esac
done
ktap_end
