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

static void bond_broadcast_clone(struct bonding *bond, struct sk_buff *skb,
				 struct slave *slave)
{
	struct sk_buff *clone = skb_clone(skb, GFP_ATOMIC);

	if (unlikely(!clone)) {
		bond_drop_count(bond, BOND_DROP_CLONE);
		dev_core_stats_tx_dropped_inc(bond->dev);
		return;
	}
	bond_hand_off(bond, clone, slave);
}

static netdev_tx_t bond_broadcast_xmit(struct bonding *bond,
				       struct sk_buff *skb)
{
	const struct bond_slave_array *array = rcu_dereference(bond->usable);
	u32 i;

	if (unlikely(!array))
		return bond_xmit_drop(bond, skb, BOND_DROP_NO_SLAVE);
	for (i = 0; i < array->count - 1; i++)
		bond_broadcast_clone(bond, skb, array->slave[i]);
	return bond_hand_off(bond, skb, array->slave[i]);
}

const struct bond_mode_ops bond_mode_broadcast = {
	.name		= "broadcast",
	.proc_name	= "fault-tolerance (broadcast)",
	.id		= BOND_MODE_BROADCAST,
	.lag_tx_type	= NETDEV_LAG_TX_TYPE_BROADCAST,
	.caps		= BOND_CAP_ARPMON | BOND_CAP_ONE_MAC | BOND_CAP_ALL_TX,
	.pick		= bond_broadcast_pick,
	.xmit		= bond_broadcast_xmit,
};
