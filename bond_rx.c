// SPDX-License-Identifier: GPL-2.0
/*
 * From a slave to the bond: the rx handler of the slaves.
 *
 * Packet path: RCU, BH off, no lock.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>

#include "bond_core.h"

/* Some protocols (LLDP, STP) speak of the link itself, not of the bond. */
static bool bond_rx_link_local(const struct sk_buff *skb)
{
	return skb->dev->type == ARPHRD_ETHER &&
	       is_link_local_ether_addr(eth_hdr(skb)->h_dest);
}

/* What is sent to one address comes once, whatever slave it comes by. */
static bool bond_rx_unicast(const struct bonding *bond,
			    const struct sk_buff *skb)
{
	return bond_has_cap(bond, BOND_CAP_RX_UNICAST) &&
	       skb->pkt_type != PACKET_BROADCAST &&
	       skb->pkt_type != PACKET_MULTICAST;
}

/*
 * The peers may send the same frame by several links: only one copy is the
 * bond's.  Who listens on the slave itself gets it from there.
 */
static rx_handler_result_t bond_rx_inactive(const struct bonding *bond,
					    struct sk_buff *skb)
{
	if (bond_rx_unicast(bond, skb)) {
		skb->dev = bond->dev;
		return RX_HANDLER_ANOTHER;
	}
	if (bond_rx_link_local(skb))
		return RX_HANDLER_PASS;
	bond_drop_count(bond, BOND_DROP_RX_INACTIVE);
	return RX_HANDLER_EXACT;
}

rx_handler_result_t bond_rx_handler(struct sk_buff **pskb)
{
	const struct bond_mode_ops *ops;
	struct sk_buff *skb = *pskb;
	struct bonding *bond;
	struct slave *slave;

	slave = bond_slave_get_rcu(skb->dev);
	bond = slave->bond;
	skb = skb_share_check(skb, GFP_ATOMIC);
	*pskb = skb;
	if (unlikely(!skb)) {
		bond_drop_count(bond, BOND_DROP_CLONE);
		return RX_HANDLER_CONSUMED;
	}

	if (unlikely(rcu_access_pointer(bond->arp_targets)))
		bond_arpmon_rx(bond, slave, skb);
	ops = READ_ONCE(bond->ops);
	if (ops->rx && ops->rx(bond, slave, skb))
		return RX_HANDLER_CONSUMED;
	if (unlikely(bond_slave_is_inactive(slave)))
		return bond_rx_inactive(bond, skb);
	skb->dev = bond->dev;
	return RX_HANDLER_ANOTHER;
}
