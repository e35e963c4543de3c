#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Build, install and remove the module with Debian's dkms, and with `make
# install`, in a guest of the default kernel; modprobe must find ours after
# each installation and the in-tree module after each removal.
#
# Usage: check.sh
set -euo pipefail

vm=$(cd "$(dirname "$0")/../vm" && pwd)

"$vm/deps.sh"
"$vm/root.sh" 6.1
"$vm/build.sh" 6.1 --sync
exec "$vm/run.sh" -k 6.1 -t 600 -m 1536 --module intree -- \
	bash tools/package/guest.sh
