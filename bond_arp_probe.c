// SPDX-License-Identifier: GPL-2.0
/*
 * The ARP/NS monitor asks: which source address and VLAN tags lead to a target,
 * and the ARP requests that go there.
 *
 * Called at each tick from the monitor's work, under RCU.  Owns nothing but the
 * asked mark of the slaves, which is the work's.
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/pkt_sched.h>
#include <net/arp.h>
#include <net/route.h>

#include "bond_arpmon.h"

/* --- the way --- */

/* The device directly above @dev that is @dest or below it. */
static struct net_device *bond_path_step(struct net_device *dev,
					 const struct net_device *dest)
{
	struct net_device *upper;
	struct list_head *iter;

	netdev_for_each_upper_dev_rcu(dev, upper, iter)
		if (upper == dest ||
		    netdev_has_upper_dev_all_rcu(upper,
						 (struct net_device *)dest))
			return upper;
	return NULL;
}

bool bond_probe_path_find(const struct bonding *bond,
			  const struct net_device *dev,
			  struct bond_probe_path *path)
{
	struct net_device *at = bond->dev;

	path->count = 0;
	while (at != dev) {
		at = bond_path_step(at, dev);
		if (!at)
			return false;
		if (!is_vlan_dev(at))
			continue;
		if (path->count == BOND_PROBE_TAGS)
			return false;
		path->tag[path->count].proto = vlan_dev_vlan_proto(at);
		path->tag[path->count].vid = vlan_dev_vlan_id(at);
		path->count++;
	}
	return true;
}

const char *bond_probe_way_note(struct bonding *bond, unsigned int i,
				enum bond_probe_way way)
{
	enum bond_probe_way old = bond->arp.way[i];

	WRITE_ONCE(bond->arp.way[i], way);
	if (way == old || way == BOND_WAY_FOUND || !net_ratelimit())
		return NULL;
	return way == BOND_WAY_NOBODY ?
	       "no route or no address, asked without a source" :
	       "not reached over the bond, not asked";
}

/* The device takes care of the outermost tag, the others are payload. */
struct sk_buff *bond_probe_tag(struct sk_buff *skb,
			       const struct bond_probe_path *path)
{
	unsigned int i;

	skb_reset_mac_header(skb);
	for (i = path->count; skb && i > 1; i--)
		skb = vlan_insert_tag_set_proto(skb, path->tag[i - 1].proto,
						path->tag[i - 1].vid);
	if (skb && path->count)
		__vlan_hwaccel_put_tag(skb, path->tag[0].proto,
				       path->tag[0].vid);
	return skb;
}

/* --- ARP --- */

/* An address that the device itself has, so that no other network learns it. */
static __be32 bond_arp_own_addr(const struct bonding *bond,
				const struct net_device *dev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rcu(dev);

	if (!addr || !in_dev)
		return 0;
	return inet_confirm_addr(dev_net(bond->dev), in_dev, 0, addr,
				 RT_SCOPE_HOST);
}

/* How to ask for @target: by which VLANs, and as whom. */
static enum bond_probe_way bond_arp_route(const struct bonding *bond,
					  __be32 target,
					  struct bond_probe_path *path,
					  __be32 *source)
{
	struct flowi4 fl4 = { .daddr = target };
	struct net_device *dev;
	struct rtable *rt;
	bool found;

	*source = 0;
	path->count = 0;
	rt = ip_route_output_key(dev_net(bond->dev), &fl4);
	if (IS_ERR(rt))
		return BOND_WAY_NOBODY;
	dev = dst_dev(&rt->dst);
	found = bond_probe_path_find(bond, dev, path);
	if (found)
		*source = bond_arp_own_addr(bond, dev, fl4.saddr);
	ip_rt_put(rt);
	if (!found)
		return BOND_WAY_ELSEWHERE;
	return *source ? BOND_WAY_FOUND : BOND_WAY_NOBODY;
}

static void bond_arp_send(struct slave *slave, __be32 target, __be32 source,
			  const struct bond_probe_path *path)
{
	struct sk_buff *skb;

	skb = arp_create(ARPOP_REQUEST, ETH_P_ARP, target, slave->dev, source,
			 NULL, slave->dev->dev_addr, NULL);
	if (!skb)
		return;
	skb->priority = TC_PRIO_CONTROL;
	skb = bond_probe_tag(skb, path);
	if (!skb)
		return;
	slave->arp.asked = true;
	arp_xmit(skb);
}

static void bond_arp_probe_one(struct bonding *bond, unsigned int i,
			       __be32 target)
{
	struct bond_probe_path path;
	enum bond_probe_way way;
	struct slave *slave;
	const char *news;
	__be32 source;

	way = bond_arp_route(bond, target, &path, &source);
	news = bond_probe_way_note(bond, i, way);
	if (news)
		bond_info(bond, "target %pI4: %s\n", &target, news);
	if (way == BOND_WAY_ELSEWHERE)
		return;
	bond_for_each_slave_rcu(bond, slave)
		if (bond_arp_may_ask(bond, slave))
			bond_arp_send(slave, target, source, &path);
}

void bond_arp_probe(struct bonding *bond)
{
	const struct bond_arp_targets *targets;
	unsigned int i;

	targets = rcu_dereference(bond->arp_targets);
	if (!targets)
		return;
	for (i = 0; i < targets->n4; i++)
		bond_arp_probe_one(bond, i, targets->ip4[i]);
	for (i = 0; i < targets->n6; i++)
		bond_ns_probe(bond, BOND_ARP_SRC_IP6 + i, &targets->ip6[i]);
}
