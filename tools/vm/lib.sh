# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the scripts of tools/vm: where things are, how to say and to fail,
# how to become root, and where the machine gets its Debian packages from.
# Sourced only.
#
# Environment:
#   XDG_CACHE_HOME   guest roots are kept in $XDG_CACHE_HOME/bonding-vm
#                    (default ~/.cache/bonding-vm)
#   BONDING_BUILD    build copies and module indexes (default build/ at the top)

# shellcheck disable=SC2034 # vm_* are for the scripts that source this

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
vm_top=$(cd "$vm_dir/../.." && pwd)
vm_cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/bonding-vm
vm_build=${BONDING_BUILD:-$vm_top/build}
export VM_KERNELS="6.1 6.12 7.3"

# Exit codes of the runner itself. Any other code is the command's own.
export VM_EXIT_SETUP=123 VM_EXIT_TIMEOUT=124 VM_EXIT_CRASH=125

vm_say() {
	printf 'vm: %s\n' "$*" >&2
}

vm_die() {
	vm_say "$*"
	exit "$VM_EXIT_SETUP"
}

vm_usage() {
	sed -n '/^# Usage/,/^[^#]/{/^#/!d; s/^# \{0,1\}//; p}' "$0" >&2
	exit "${1:-$VM_EXIT_SETUP}"
}

vm_as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		vm_die "this needs root: run it as root or install sudo"
	fi
}

# vm_check_kernel NAME - fail unless NAME is a kernel that we know
vm_check_kernel() {
	case " $VM_KERNELS " in
	*" $1 "*) ;;
	*) vm_die "unknown kernel '$1' (known: $VM_KERNELS)" ;;
	esac
}

# vm_apt_uris - URIs of the machine's own, enabled apt sources, one a line
vm_apt_uris() {
	local etc=${VM_APT_DIR:-/etc/apt}

	cat "$etc"/sources.list.d/*.sources 2>/dev/null | awk '
		function flush() { if (deb && on) printf "%s", uris
				   deb = 0; on = 1; uris = "" }
		BEGIN { on = 1 }
		/^[ \t]*$/ { flush(); next }
		/^#/ { next }
		tolower($1) == "types:" { deb = / deb( |$)/ }
		tolower($1) == "enabled:" { on = tolower($2) != "no" }
		tolower($1) == "uris:" { for (i = 2; i <= NF; i++)
						uris = uris $i "\n" }
		END { flush() }'
	cat "$etc"/sources.list "$etc"/sources.list.d/*.list 2>/dev/null |
		sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p'
}

# vm_apt_uri NAME - the machine's mirror whose path ends in /NAME ("debian" or
# "debian-security"), or Debian's own
vm_apt_uri() {
	local uri list

	while read -r uri; do
		case $uri in
		mirror+file:*)
			list=${uri#mirror+file:}
			uri=$(sed -n '/^http/{s/[ \t].*//;p;q}' "$list" \
				2>/dev/null) ;;
		esac
		case ${uri%/} in
		http*"/$1") echo "${uri%/}"; return ;;
		esac
	done < <(vm_apt_uris)
	echo "http://deb.debian.org/$1"
}
