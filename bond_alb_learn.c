// SPDX-License-Identifier: GPL-2.0
/*
 * Learning packets: frames from an address to itself, that do nothing but show
 * switches which port the address is behind.
 *
 * Slaves that seldom send would be forgotten otherwise, and after a failover
 * the addresses are behind other ports.  Each slave shows its own address in
 * every VLAN that is used above the bond, and the active one also the addresses
 * of the devices there that have others than the bond (macvlans, bridges): what
 * they send to all leaves by it.
 *
 * Sent every lp_interval seconds from the bond's work queue, and after a
 * failover under RTNL.  Upper devices are walked under RCU.
 */
#include <linux/if_vlan.h>
#include <linux/pkt_sched.h>

#include "bond_alb.h"

#define BOND_LEARN_MAX_S	3600U	/* the longest that a timer is set to */
#define BOND_LEARN_TAGS		2	/* as deep as switches can tag */
#define BOND_LEARN_DEPTH	8	/* as deep as devices can be stacked */

/**
 * struct bond_learn_tag - a VLAN tag
 * @proto: its Ethernet type
 * @vid: the VLAN
 */
struct bond_learn_tag {
	__be16 proto;
	u16 vid;
};

/**
 * struct bond_learn - learning packets of one slave
 * @slave: the slave
 * @active: it is the active one
 * @tags: how many tags lead to the device where the walk is
 * @tag: these, outermost first
 */
struct bond_learn {
	struct slave *slave;
	bool active;
	unsigned int tags;
	struct bond_learn_tag tag[BOND_LEARN_TAGS];
};

static struct sk_buff *bond_learn_frame(struct net_device *dev, const u8 *addr)
{
	struct sk_buff *skb;
	struct ethhdr *eth;

	skb = alloc_skb(LL_RESERVED_SPACE(dev) + ETH_ZLEN +
			BOND_LEARN_TAGS * VLAN_HLEN + dev->needed_tailroom,
			GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, LL_RESERVED_SPACE(dev) - ETH_HLEN +
			 BOND_LEARN_TAGS * VLAN_HLEN);
	skb_reset_mac_header(skb);
	eth = skb_put_zero(skb, ETH_ZLEN);
	ether_addr_copy(eth->h_dest, addr);
	ether_addr_copy(eth->h_source, addr);
	eth->h_proto = htons(ETH_P_LOOPBACK);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = eth->h_proto;
	skb->priority = TC_PRIO_CONTROL;
	skb->dev = dev;
	return skb;
}

/* The device takes care of the outermost tag, the others are payload. */
static struct sk_buff *bond_learn_tags(struct sk_buff *skb,
				       const struct bond_learn *learn)
{
	unsigned int i;

	for (i = learn->tags; skb && i > 1; i--)
		skb = vlan_insert_tag_set_proto(skb, learn->tag[i - 1].proto,
						learn->tag[i - 1].vid);
	if (skb && learn->tags)
		__vlan_hwaccel_put_tag(skb, learn->tag[0].proto,
				       learn->tag[0].vid);
	return skb;
}

static void bond_learn_send(const struct bond_learn *learn, const u8 *addr)
{
	struct sk_buff *skb;

	skb = bond_learn_frame(learn->slave->dev, addr);
	if (!skb)
		return;
	skb = bond_learn_tags(skb, learn);
	if (skb)
		dev_queue_xmit(skb);
}

/* A device above the bond, with learn->tags between it and the wire. */
static void bond_learn_upper(const struct bond_learn *learn,
			     const struct net_device *upper)
{
	const struct slave *slave = learn->slave;

	if (is_vlan_dev(upper))
		bond_learn_send(learn, slave->dev->dev_addr);
	if (learn->active && upper->addr_len == ETH_ALEN &&
	    !ether_addr_equal(upper->dev_addr, slave->dev->dev_addr))
		bond_learn_send(learn, upper->dev_addr);
}

static bool bond_learn_enter(struct bond_learn *learn,
			     const struct net_device *upper)
{
	struct bond_learn_tag *tag = &learn->tag[learn->tags];

	if (!netif_running(upper) || !netif_carrier_ok(upper) ||
	    netif_is_l3_master(upper))
		return false;
	if (!is_vlan_dev(upper))
		return true;
	if (learn->tags == BOND_LEARN_TAGS)
		return false;
	tag->proto = vlan_dev_vlan_proto(upper);
	tag->vid = vlan_dev_vlan_id(upper);
	learn->tags++;
	return true;
}

static void bond_learn_above(struct bond_learn *learn, struct net_device *dev,
			     unsigned int depth)
{
	struct net_device *upper;
	struct list_head *iter;

	if (depth == BOND_LEARN_DEPTH)
		return;
	netdev_for_each_upper_dev_rcu(dev, upper, iter) {
		if (!bond_learn_enter(learn, upper))
			continue;
		bond_learn_upper(learn, upper);
		bond_learn_above(learn, upper, depth + 1);
		if (is_vlan_dev(upper))
			learn->tags--;
	}
}

void bond_alb_learn(struct slave *slave)
{
	struct bonding *bond = slave->bond;
	struct bond_learn learn = { .slave = slave };

	if (!bond_slave_is_up(slave))
		return;
	rcu_read_lock();
	learn.active = slave == rcu_access_pointer(bond->curr_active_slave);
	bond_learn_send(&learn, slave->dev->dev_addr);
	bond_learn_above(&learn, bond->dev, 0);
	rcu_read_unlock();
}

void bond_alb_learn_work(struct work_struct *work)
{
	struct bond_tlb *tlb = container_of(to_delayed_work(work),
					    struct bond_tlb, learn_work);
	struct bonding *bond = tlb->bond;
	struct slave *slave;

	rcu_read_lock();
	bond_for_each_slave_rcu(bond, slave)
		bond_alb_learn(slave);
	rcu_read_unlock();
	queue_delayed_work(bond->wq, &tlb->learn_work,
			   min(READ_ONCE(bond->params.lp_interval),
			       BOND_LEARN_MAX_S) * HZ);
}
