// SPDX-License-Identifier: GPL-2.0
/*
 * broadcast: each frame by every usable slave.
 *
 * No state of its own.  Runs under RCU with BH off.
 */
#include "bond_slaves.h"
#include "bond_xmit.h"

/* No single slave is the one that a frame leaves by. */
static struct slave *bond_broadcast_pick(const struct bonding *bond,
					 struct bond_pkt pkt)
{
	return NULL;
}

const struct bond_mode_ops bond_mode_broadcast = {
	.name		= "broadcast",
	.proc_name	= "fault-tolerance (broadcast)",
	.id		= BOND_MODE_BROADCAST,
	.lag_tx_type	= NETDEV_LAG_TX_TYPE_BROADCAST,
	.caps		= BOND_CAP_ARPMON | BOND_CAP_ONE_MAC | BOND_CAP_ALL_TX,
	.pick		= bond_broadcast_pick,
	.xmit		= bond_xmit_all,
};
