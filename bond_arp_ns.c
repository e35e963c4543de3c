// SPDX-License-Identifier: GPL-2.0
/*
 * The ARP/NS monitor with IPv6: neighbour solicitations out, neighbour
 * discovery in, and the multicast addresses that slaves need to overhear it.
 *
 * Optional: not built without IPv6.  Probing runs under RCU from the monitor's
 * work, listening under RCU in the packet path, multicast addresses under RTNL.
 */
#include <linux/icmpv6.h>
#include <linux/ipv6.h>
#include <linux/pkt_sched.h>
#include <net/addrconf.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ndisc.h>

#include "bond_arpmon.h"

/* --- asking --- */

/* As bond_arp_route(). */
static enum bond_probe_way bond_ns_route(const struct bonding *bond,
					 const struct in6_addr *target,
					 struct bond_probe_path *path,
					 struct in6_addr *source)
{
	struct net *net = dev_net(bond->dev);
	struct flowi6 fl6 = { .daddr = *target };
	struct dst_entry *dst;
	bool found = true;

	*source = in6addr_any;
	path->count = 0;
	/* such an address means something on one link only: the bond's */
	if (ipv6_addr_type(target) & IPV6_ADDR_LINKLOCAL)
		fl6.flowi6_oif = bond->dev->ifindex;
	dst = ip6_route_output(net, NULL, &fl6);
	if (!dst->error) {
		found = bond_probe_path_find(bond, dst_dev(dst), path);
		if (found && ipv6_dev_get_saddr(net, dst_dev(dst), target, 0,
						source))
			*source = in6addr_any;
	}
	dst_release(dst);
	if (!found)
		return BOND_WAY_ELSEWHERE;
	return ipv6_addr_any(source) ? BOND_WAY_NOBODY : BOND_WAY_FOUND;
}

/* Put the IPv6 and the link layer header before a message; frees it if not. */
static struct sk_buff *bond_ns_header(struct sk_buff *skb,
				      const struct in6_addr *source,
				      const struct in6_addr *dest)
{
	struct icmp6hdr *icmp = icmp6_hdr(skb);
	unsigned int len = skb->len;
	u8 mac[MAX_ADDR_LEN];
	struct ipv6hdr *ip;

	icmp->icmp6_cksum = csum_ipv6_magic(source, dest, len, IPPROTO_ICMPV6,
					    csum_partial(icmp, len, 0));
	ip = skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	ip6_flow_hdr(ip, 0, 0);
	ip->payload_len = htons(len);
	ip->nexthdr = IPPROTO_ICMPV6;
	ip->hop_limit = 255;	/* RFC 4861: proof of not being forwarded */
	ip->saddr = *source;
	ip->daddr = *dest;
	if (!ndisc_mc_map(dest, mac, skb->dev, 1) &&
	    dev_hard_header(skb, skb->dev, ETH_P_IPV6, mac, NULL,
			    skb->len) >= 0)
		return skb;
	kfree_skb(skb);
	return NULL;
}

/*
 * The frame is built here and not by the IPv6 stack: its output would put tags
 * in the wrong place, and slaves have no IPv6 of their own.
 */
static void bond_ns_send(struct slave *slave, const struct in6_addr *target,
			 const struct in6_addr *source,
			 const struct bond_probe_path *path)
{
	struct in6_addr dest;
	struct sk_buff *skb;

	skb = ndisc_ns_create(slave->dev, target, source, 0);
	if (!skb)
		return;
	skb->priority = TC_PRIO_CONTROL;
	addrconf_addr_solict_mult(target, &dest);
	skb = bond_ns_header(skb, source, &dest);
	if (!skb)
		return;
	skb = bond_probe_tag(skb, path);
	if (!skb)
		return;
	slave->arp.asked = true;
	dev_queue_xmit(skb);
}

void bond_ns_probe(struct bonding *bond, unsigned int i,
		   const struct in6_addr *target)
{
	struct bond_probe_path path;
	enum bond_probe_way way;
	struct in6_addr source;
	struct slave *slave;
	const char *news;

	way = bond_ns_route(bond, target, &path, &source);
	news = bond_probe_way_note(bond, i, way);
	if (news)
		bond_info(bond, "target %pI6c: %s\n", target, news);
	if (way == BOND_WAY_ELSEWHERE)
		return;
	bond_for_each_slave_rcu(bond, slave)
		if (bond_arp_may_ask(bond, slave))
			bond_ns_send(slave, target, &source, &path);
}

/* --- listening --- */

/**
 * struct bond_ns_msg - a neighbour discovery message with what it came in
 * @ip: IPv6 header
 * @nd: the message; no extension headers come before it
 */
struct bond_ns_msg {
	struct ipv6hdr ip;
	struct nd_msg nd;
};

static const struct bond_ns_msg *bond_ns_parse(const struct bond_arp_rx *rx,
					       struct bond_ns_msg *buf)
{
	const struct bond_ns_msg *msg;

	if (rx->proto != htons(ETH_P_IPV6))
		return NULL;
	msg = skb_header_pointer(rx->skb, rx->offset, sizeof(*buf), buf);
	if (!msg || msg->ip.nexthdr != IPPROTO_ICMPV6 ||
	    msg->ip.hop_limit != 255)
		return NULL;
	switch (msg->nd.icmph.icmp6_type) {
	case NDISC_NEIGHBOUR_SOLICITATION:
	case NDISC_NEIGHBOUR_ADVERTISEMENT:
		return msg;
	}
	return NULL;
}

bool bond_ns_rx_is_ndisc(const struct bond_arp_rx *rx)
{
	struct bond_ns_msg buf;

	return bond_ns_parse(rx, &buf);
}

static int bond_ns_rx_source(const struct bond_arp_rx *rx,
			     const struct in6_addr *addr)
{
	int i;

	for (i = 0; i < rx->targets->n6; i++)
		if (ipv6_addr_equal(&rx->targets->ip6[i], addr))
			return BOND_ARP_SRC_IP6 + i;
	return -1;
}

static bool bond_ns_rx_is_ours(const struct bond_arp_rx *rx,
			       const struct in6_addr *addr)
{
	return ipv6_chk_addr(dev_net(rx->bond->dev), addr, NULL, 0);
}

/*
 * An answer comes to one of our addresses, or to all nodes when the question
 * named no source.  A question of the target for us says as much.
 */
static int bond_ns_rx_answer(const struct bond_arp_rx *rx,
			     const struct bond_ns_msg *msg)
{
	int source;

	if (msg->nd.icmph.icmp6_type == NDISC_NEIGHBOUR_SOLICITATION)
		return bond_ns_rx_is_ours(rx, &msg->nd.target) ?
		       bond_ns_rx_source(rx, &msg->ip.saddr) : -1;
	source = bond_ns_rx_source(rx, &msg->nd.target);
	if (source < 0 || bond_ns_rx_is_ours(rx, &msg->ip.daddr) ||
	    (bond_arp_rx_nobody(rx, source) &&
	     ipv6_addr_is_ll_all_nodes(&msg->ip.daddr)))
		return source;
	return -1;
}

static int bond_ns_rx_request(const struct bond_arp_rx *rx,
			      const struct bond_ns_msg *msg)
{
	int source;

	if (msg->nd.icmph.icmp6_type != NDISC_NEIGHBOUR_SOLICITATION)
		return -1;
	source = bond_ns_rx_source(rx, &msg->nd.target);
	if (source < 0 || bond_ns_rx_is_ours(rx, &msg->ip.saddr) ||
	    (bond_arp_rx_nobody(rx, source) && ipv6_addr_any(&msg->ip.saddr)))
		return source;
	return -1;
}

void bond_ns_rx(const struct bond_arp_rx *rx)
{
	const struct bond_ns_msg *msg;
	struct bond_ns_msg buf;
	int source = -1;

	msg = bond_ns_parse(rx, &buf);
	if (!msg)
		return;
	if (bond_arp_rx_answers(rx))
		source = bond_ns_rx_answer(rx, msg);
	else if (bond_arp_rx_requests(rx))
		source = bond_ns_rx_request(rx, msg);
	if (source >= 0)
		bond_arp_rx_heard(rx, source);
}

/* --- multicast addresses --- */

static void bond_ns_join(struct slave *slave, bool join)
{
	const struct bond_arp *arp = &slave->bond->arp;
	struct net_device *dev = slave->dev;
	struct in6_addr group;
	u8 mac[MAX_ADDR_LEN];
	unsigned int i;

	if (slave->arp.joined == join)
		return;
	slave->arp.joined = join;
	for (i = 0; i < arp->joined_cnt; i++) {
		addrconf_addr_solict_mult(&arp->joined[i], &group);
		if (ndisc_mc_map(&group, mac, dev, 0))
			continue;
		if (!join)
			dev_mc_del(dev, mac);
		else if (dev_mc_add(dev, mac))
			bond_slave_warn(slave->bond, dev,
					"may not hear probes for %pI6c\n",
					&arp->joined[i]);
	}
}

/* The active slave hears what the bond does, and what it sent itself not. */
static bool bond_ns_join_wanted(const struct slave *slave)
{
	const struct bonding *bond = slave->bond;

	return rcu_access_pointer(bond->arp_targets) &&
	       bond_has_cap(bond, BOND_CAP_ARP_ACTIVE) &&
	       bond->params.arp_validate && bond_slave_is_backup(slave);
}

/* What was joined has to be left by the same list. */
static void bond_ns_joined_replace(struct bonding *bond)
{
	const struct bond_arp_targets *targets;
	struct bond_arp *arp = &bond->arp;
	struct slave *slave;

	targets = rtnl_dereference(bond->arp_targets);
	if (!targets || (targets->n6 == arp->joined_cnt &&
			 !memcmp(targets->ip6, arp->joined,
				 targets->n6 * sizeof(arp->joined[0]))))
		return;
	bond_for_each_slave(bond, slave)
		bond_ns_join(slave, false);
	memcpy(arp->joined, targets->ip6, sizeof(arp->joined));
	arp->joined_cnt = targets->n6;
}

void bond_ns_joins_update(struct bonding *bond)
{
	struct slave *slave;

	ASSERT_RTNL();
	bond_ns_joined_replace(bond);
	bond_for_each_slave(bond, slave)
		bond_ns_join(slave, bond_ns_join_wanted(slave));
}

void bond_ns_slave_del(struct slave *slave)
{
	ASSERT_RTNL();
	bond_ns_join(slave, false);
}
