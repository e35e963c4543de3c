// SPDX-License-Identifier: GPL-2.0
/*
 * From the bond to a slave: ndo_start_xmit and its relatives.
 *
 * Runs under RCU with BH off and takes no lock.  Owns bond->tx_special, the
 * word that says whether a frame may need more than pick and hand-off; that is
 * written under RTNL.
 */
#include "bond_core.h"

/* The slave that the user bound this frame's queue to, if it can send. */
static struct slave *bond_queue_id_slave(const struct bonding *bond,
					 const struct sk_buff *skb)
{
	struct slave *slave;
	u16 queue;

	queue = skb_get_queue_mapping(skb);
	if (!queue || !bond_has_cap(bond, BOND_CAP_QUEUE_ID))
		return NULL;
	bond_for_each_slave_rcu(bond, slave)
		if (READ_ONCE(slave->queue_id) == queue)
			return bond_slave_is_up(slave) ? slave : NULL;
	return NULL;
}

/* For frames that may need more than pick and hand-off. */
static noinline netdev_tx_t bond_xmit_special(struct sk_buff *skb,
					      struct net_device *dev)
{
	struct bonding *bond = netdev_priv(dev);
	const struct bond_mode_ops *ops = READ_ONCE(bond->ops);
	u32 special = READ_ONCE(bond->tx_special);
	struct slave *slave = NULL;

	if (likely(special == BOND_TX_MODE && ops->xmit))
		return ops->xmit(bond, skb);
	if (special & BOND_TX_QUEUE_ID)
		slave = bond_queue_id_slave(bond, skb);
	if (!slave && ops->xmit)
		return ops->xmit(bond, skb);
	if (!slave)
		slave = bond_pick(bond, bond_pkt_of_skb(skb));
	if (!slave)
		return bond_xmit_drop(bond, skb, BOND_DROP_NO_SLAVE);
	return bond_hand_off(bond, skb, slave);
}

/* A mode with an xmit of its own picks nobody, as one without a slave does. */
static noinline netdev_tx_t bond_xmit_unpicked(struct sk_buff *skb)
{
	struct bonding *bond = netdev_priv(skb->dev);
	const struct bond_mode_ops *ops = READ_ONCE(bond->ops);

	if (ops->xmit)
		return ops->xmit(bond, skb);
	return bond_xmit_drop(bond, skb, BOND_DROP_NO_SLAVE);
}

netdev_tx_t bond_start_xmit(struct sk_buff *skb, struct net_device *dev)
{
	const struct bonding *bond = netdev_priv(dev);
	struct slave *slave;

	if (unlikely(READ_ONCE(bond->tx_special)))
		return bond_xmit_special(skb, dev);
	slave = bond_pick(bond, bond_pkt_of_skb(skb));
	if (unlikely(!slave))
		return bond_xmit_unpicked(skb);
	return bond_hand_off_plain(skb, slave);
}

/*
 * The bond has no queues of its own: the frame's mapping is kept for the slave
 * and answered with what the frame was received on, or sent to by the user.
 */
u16 bond_select_queue(struct net_device *dev, struct sk_buff *skb,
		      struct net_device *sb_dev)
{
	unsigned int count = READ_ONCE(dev->real_num_tx_queues);
	u16 queue = skb_rx_queue_recorded(skb) ? skb_get_rx_queue(skb) : 0;

	qdisc_skb_cb(skb)->slave_dev_queue_mapping = skb_get_queue_mapping(skb);
	while (unlikely(queue >= count))
		queue -= count;
	return queue;
}

struct net_device *bond_get_xmit_slave(struct net_device *dev,
				       struct sk_buff *skb, bool all_slaves)
{
	struct bonding *bond = netdev_priv(dev);
	struct bond_pkt pkt = bond_pkt_of_skb(skb);
	struct slave *slave;

	if (all_slaves && bond_has_cap(bond, BOND_CAP_HASH))
		slave = bond_slave_at(rcu_dereference(bond->all),
				      bond_hash(bond, pkt));
	else
		slave = bond_pick(bond, pkt);
	return slave ? slave->dev : NULL;
}

void bond_xmit_special_update(struct bonding *bond)
{
	struct slave *slave;
	u32 special = bond->tx_special & BOND_TX_MODE;

	ASSERT_RTNL();
	bond_for_each_slave(bond, slave) {
		if (slave->queue_id)
			special |= BOND_TX_QUEUE_ID;
		if (slave->np)
			special |= BOND_TX_NETPOLL;
	}
	WRITE_ONCE(bond->tx_special, special);
}
