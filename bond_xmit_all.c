// SPDX-License-Identifier: GPL-2.0
/*
 * One frame by every usable slave.
 *
 * For modes that send some or all frames so.  No state of its own: it walks the
 * array that bond_slaves.c publishes.  Runs under RCU with BH off.
 */
#include "bond_slaves.h"
#include "bond_xmit.h"

static void bond_xmit_clone(struct bonding *bond, struct sk_buff *skb,
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

netdev_tx_t bond_xmit_all(struct bonding *bond, struct sk_buff *skb)
{
	const struct bond_slave_array *array = bond_usable(bond);
	u32 i;

	if (unlikely(!array))
		return bond_xmit_drop(bond, skb, BOND_DROP_NO_SLAVE);
	for (i = 0; i < array->count - 1; i++)
		bond_xmit_clone(bond, skb, array->slave[i]);
	return bond_hand_off(bond, skb, array->slave[i]);
}
