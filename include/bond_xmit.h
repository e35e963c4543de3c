/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The last steps of a frame: to a slave, or to the bin.
 *
 * Layer 1: used by bond_start_xmit() and by modes that send in their own way.
 */
#ifndef _BOND_XMIT_H
#define _BOND_XMIT_H

#include <linux/netpoll.h>
#include <net/sch_generic.h>

#include "bond.h"

#ifdef CONFIG_NET_POLL_CONTROLLER
/* Send by a slave's netpoll; RCU, interrupts off. (bond_netpoll.c) */
netdev_tx_t bond_netpoll_send(struct slave *slave, struct sk_buff *skb);
#else
static inline netdev_tx_t bond_netpoll_send(struct slave *slave,
					    struct sk_buff *skb)
{
	return dev_queue_xmit(skb);
}
#endif

/**
 * bond_hand_off_plain() - give a frame to a slave, no netpoll under way
 * @skb: the frame; always consumed
 * @slave: the slave
 *
 * bond_select_queue() put the queue that the frame came with aside; the slave
 * gets it back.
 *
 * Context: RCU and BH off.
 * Return: what the slave's queue said, so that a socket learns of congestion.
 */
static inline netdev_tx_t bond_hand_off_plain(struct sk_buff *skb,
					      struct slave *slave)
{
	skb->dev = slave->dev;
	skb_set_queue_mapping(skb, qdisc_skb_cb(skb)->slave_dev_queue_mapping);
	return dev_queue_xmit(skb);
}

/**
 * bond_hand_off() - give a frame to a slave
 * @bond: the bond
 * @skb: the frame; always consumed
 * @slave: the slave
 *
 * Context: RCU and BH off.
 * Return: as bond_hand_off_plain().
 */
static inline netdev_tx_t bond_hand_off(const struct bonding *bond,
					struct sk_buff *skb,
					struct slave *slave)
{
	if (unlikely(READ_ONCE(bond->tx_special) & BOND_TX_NETPOLL) &&
	    netpoll_tx_running(bond->dev)) {
		skb->dev = slave->dev;
		return bond_netpoll_send(slave, skb);
	}
	return bond_hand_off_plain(skb, slave);
}

/**
 * bond_xmit_drop() - a frame goes nowhere
 * @bond: the bond
 * @skb: the frame; freed
 * @why: the reason
 *
 * Context: any.
 */
static inline netdev_tx_t bond_xmit_drop(const struct bonding *bond,
					 struct sk_buff *skb,
					 enum bond_drop why)
{
	bond_drop_count(bond, why);
	dev_core_stats_tx_dropped_inc(bond->dev);
	dev_kfree_skb_any(skb);
	return NET_XMIT_DROP;
}

/**
 * bond_xmit_all() - send a frame by every usable slave (bond_xmit_all.c)
 * @bond: the bond
 * @skb: the frame; always consumed
 *
 * Fits bond_mode_ops.xmit.
 *
 * Context: RCU and BH off.
 * Return: what the queue of the last slave said.
 */
netdev_tx_t bond_xmit_all(struct bonding *bond, struct sk_buff *skb);

#endif /* _BOND_XMIT_H */
