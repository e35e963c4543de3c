// SPDX-License-Identifier: GPL-2.0
/*
 * active-backup: one slave carries all, the others wait.
 *
 * The choice of that slave is bond_active.c's; this file says what being it
 * means.  Hooks run under RTNL, pick under RCU.
 */
#include "bond_slaves.h"

static int bond_ab_slave_add(struct bonding *bond, struct slave *slave,
			     struct netlink_ext_ack *extack)
{
	bond_slave_set_backup(slave);
	return 0;
}

static bool bond_ab_slave_usable(const struct bonding *bond,
				 const struct slave *slave)
{
	return slave == bond_active_rtnl(bond) && bond_slave_is_up(slave);
}

static void bond_ab_active_changed(struct bonding *bond, struct slave *old,
				   struct slave *new)
{
	if (old)
		bond_slave_set_backup(old);
	if (new)
		bond_slave_set_active(new);
}

struct slave *bond_ab_pick(const struct bonding *bond,
			   struct bond_pkt pkt)
{
	return bond_active_rcu(bond);
}

const struct bond_mode_ops bond_mode_ab = {
	.name		= "active-backup",
	.proc_name	= "fault-tolerance (active-backup)",
	.id		= BOND_MODE_ACTIVEBACKUP,
	.lag_tx_type	= NETDEV_LAG_TX_TYPE_ACTIVEBACKUP,
	.caps		= BOND_CAP_PRIMARY | BOND_CAP_ARPMON |
			  BOND_CAP_ONE_MAC | BOND_CAP_FOM |
			  BOND_CAP_QUEUE_ID | BOND_CAP_IGMP |
			  BOND_CAP_UNLINKED_MCAST | BOND_CAP_XFRM |
			  BOND_CAP_ARP_ACTIVE,
	.slave_add	= bond_ab_slave_add,
	.slave_usable	= bond_ab_slave_usable,
	.active_changed	= bond_ab_active_changed,
	.pick		= bond_ab_pick,
};
