#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# 802.3ad with partners that others have written: Open vSwitch (user space) and
# teamd.  Each case is skipped where its partner is not installed.

# shellcheck source=bond_lib.sh
. "$(dirname "$0")/bond_lib.sh"
# shellcheck source=lacp_lib.sh
. "$bond_dir/lacp_lib.sh"

bond_limit=180
bond_tests="
	teamd
	teamd_link_lost
	ovs
	ovs_passive
	ovs_link_lost"

team_is_there() {
	[ -e "$PEER_SYS/class/net/c0" ]
}

# teamd says nothing while its device is down
teamd_start() {
	need teamd
	on_peer modprobe team_mode_loadbalance || skip "needs the team driver"
	printf 'link set p%d down\n' 0 1 | ip -n "$BOND_PEER" -batch -
	mkdir -p /run/teamd
	cat >"$BOND_TMP/teamd.conf" <<-'END'
	{ "device": "c0",
	  "runner": { "name": "lacp", "active": true, "fast_rate": true,
	    "tx_hash": [ "eth", "ipv4" ] },
	  "link_watch": { "name": "ethtool" },
	  "ports": { "p0": {}, "p1": {} } }
	END
	on_peer teamd -f "$BOND_TMP/teamd.conf" -p "$BOND_TMP/teamd.pid" &
	wait_for 20000 "c0" team_is_there
	ip -n "$BOND_PEER" link set c0 up
}

# foreign_joined COUNT - our ports distribute, in one aggregator
foreign_joined() {
	local i

	for ((i = 0; i < $1; i++)); do
		wait_for 40000 "s$i distributes" lacp_has "s$i" "$LACP_WORKS"
		wait_for 5000 "s$i active" slave_is "s$i" active
	done
	wait_for 5000 "$1 ports" ports_are "$1"
}

# foreign_link_lost - one link goes, and comes back
foreign_link_lost() {
	foreign_joined 2
	ip -n "$BOND_PEER" link set p1 down
	wait_for 10000 "s1 out" slave_is s1 backup
	check_eq "ports" 1 "$(bond_get ad_num_ports)"
	check_eq "s0" active "$(slave_get s0 state)"
	ip -n "$BOND_PEER" link set p1 up
	foreign_joined 2
}

teamd() {
	bond_make 802.3ad 2 lacp_rate fast
	teamd_start
	foreign_joined 2
	lacp_spread "0 1" ""
}

teamd_link_lost() {
	bond_make 802.3ad 2 lacp_rate fast
	teamd_start
	foreign_link_lost
}

ovs_do() {
	ovs-vsctl --db="unix:$BOND_TMP/db.sock" --timeout=60 "$@"
}

ovs_ready() {
	[ -S "$BOND_TMP/db.sock" ]
}

# ovs_start LACP - a bridge with a bond of p0 p1 that is active or passive
ovs_start() {
	need ovsdb-server ovsdb-tool ovs-vsctl ovs-vswitchd
	[ -e /dev/net/tun ] || modprobe tun || skip "needs tun"
	export OVS_RUNDIR=$BOND_TMP OVS_LOGDIR=$BOND_TMP
	ovsdb-tool create "$BOND_TMP/conf.db" \
		/usr/share/openvswitch/vswitch.ovsschema
	on_peer ovsdb-server --remote="punix:$BOND_TMP/db.sock" \
		"$BOND_TMP/conf.db" &
	wait_for 20000 "ovsdb-server" ovs_ready
	ovs_do --no-wait init
	on_peer ovs-vswitchd "unix:$BOND_TMP/db.sock" --disable-system &
	ovs_do add-br br0 -- set bridge br0 datapath_type=netdev -- \
		add-bond br0 lag p0 p1 "lacp=$1" bond_mode=balance-slb \
		other_config:lacp-time=fast
}

ovs() {
	bond_make 802.3ad 2 lacp_rate fast
	ovs_start active
	foreign_joined 2
	lacp_spread "0 1" ""
}

ovs_passive() {
	bond_make 802.3ad 2
	ovs_start passive
	foreign_joined 2
}

ovs_link_lost() {
	bond_make 802.3ad 2 lacp_rate fast
	ovs_start active
	foreign_link_lost
}

bond_run "$@"
