// SPDX-License-Identifier: GPL-2.0
/*
 * The ARP/NS monitor listens: is a received frame a sign that the link works?
 *
 * arp_validate says which frames are: any (none), any ARP or ND (filter), or
 * answers of the targets to a slave that asks, and requests for targets that a
 * slave overhears.
 *
 * Packet path, RCU; called from the rx handler of the slaves before it sorts
 * out what inactive slaves receive.  Frames are only looked at.  Owns the heard
 * bits of the slaves, which the monitor's work takes away, and
 * bond_arp.heard_seq.
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <net/arp.h>

#include "bond_arpmon.h"

void bond_arp_rx_heard(const struct bond_arp_rx *rx, unsigned int source)
{
	struct bond_arp *arp = &rx->bond->arp;

	if (!test_bit(source, rx->slave->arp.heard))
		set_bit(source, rx->slave->arp.heard);
	if (rx->slave == rx->active && READ_ONCE(arp->heard_seq) != rx->seq)
		WRITE_ONCE(arp->heard_seq, rx->seq);
}

/*
 * The core has taken off at most one tag, so look behind those that are left,
 * as far as a probe can have them.
 */
static bool bond_arp_rx_proto(struct bond_arp_rx *rx)
{
	const struct vlan_hdr *vlan;
	struct vlan_hdr buf;
	unsigned int i;

	rx->proto = rx->skb->protocol;
	rx->offset = 0;
	for (i = 0; i < BOND_PROBE_TAGS && eth_type_vlan(rx->proto); i++) {
		vlan = skb_header_pointer(rx->skb, rx->offset, sizeof(buf),
					  &buf);
		if (!vlan)
			return false;
		rx->proto = vlan->h_vlan_encapsulated_proto;
		rx->offset += sizeof(buf);
	}
	return true;
}

/* --- ARP --- */

/**
 * struct bond_arp_pair - whom an ARP frame speaks of
 * @sender: sender protocol address
 * @target: target protocol address
 */
struct bond_arp_pair {
	__be32 sender;
	__be32 target;
};

#define BOND_ARP_LEN_MAX	(sizeof(struct arphdr) + \
				 2 * (MAX_ADDR_LEN + sizeof(__be32)))

static bool bond_arp_rx_parse(const struct bond_arp_rx *rx,
			      struct bond_arp_pair *pair)
{
	const struct net_device *dev = rx->slave->dev;
	const struct arphdr *arp;
	u8 buf[BOND_ARP_LEN_MAX] __aligned(4);
	const u8 *at;

	arp = skb_header_pointer(rx->skb, rx->offset, arp_hdr_len(dev), buf);
	if (!arp || arp->ar_hln != dev->addr_len ||
	    arp->ar_pln != sizeof(__be32) || arp->ar_pro != htons(ETH_P_IP))
		return false;
	at = (const u8 *)(arp + 1) + dev->addr_len;
	memcpy(&pair->sender, at, sizeof(pair->sender));
	at += sizeof(pair->sender) + dev->addr_len;
	memcpy(&pair->target, at, sizeof(pair->target));
	return true;
}

static int bond_arp_rx_source(const struct bond_arp_rx *rx, __be32 addr)
{
	int i;

	for (i = 0; i < rx->targets->n4; i++)
		if (rx->targets->ip4[i] == addr)
			return i;
	return -1;
}

static bool bond_arp_rx_is_ours(const struct bond_arp_rx *rx, __be32 addr,
				int source)
{
	if (!addr)
		return bond_arp_rx_nobody(rx, source);
	return __ip_dev_find(dev_net(rx->bond->dev), addr, false);
}

/* A frame between a target and us; heard when both are what they should be. */
static void bond_arp_rx_between(const struct bond_arp_rx *rx, __be32 target,
				__be32 ours)
{
	int source = bond_arp_rx_source(rx, target);

	if (source >= 0 && bond_arp_rx_is_ours(rx, ours, source))
		bond_arp_rx_heard(rx, source);
}

static void bond_arp_rx_arp(const struct bond_arp_rx *rx)
{
	struct bond_arp_pair pair;

	if (!bond_arp_rx_parse(rx, &pair))
		return;
	if (bond_arp_rx_answers(rx))
		bond_arp_rx_between(rx, pair.sender, pair.target);
	else if (bond_arp_rx_requests(rx))
		bond_arp_rx_between(rx, pair.target, pair.sender);
}

/* --- any frame --- */

static bool bond_arp_rx_is_neigh(const struct bond_arp_rx *rx)
{
	return rx->proto == htons(ETH_P_ARP) || bond_ns_rx_is_ndisc(rx);
}

static void bond_arp_rx_validate(const struct bond_arp_rx *rx)
{
	if (rx->skb->pkt_type == PACKET_OTHERHOST ||
	    rx->skb->pkt_type == PACKET_LOOPBACK)
		return;
	if (rx->proto == htons(ETH_P_ARP))
		bond_arp_rx_arp(rx);
	else if (bond_ns_rx_is_ndisc(rx))
		bond_ns_rx(rx);
}

void bond_arpmon_rx(struct bonding *bond, struct slave *slave,
		    const struct sk_buff *skb)
{
	struct bond_arp_rx rx = {
		.bond = bond,
		.slave = slave,
		.skb = skb,
		.targets = rcu_dereference(bond->arp_targets),
		.asking = bond_arp_is_asking(bond, slave),
	};

	if (!rx.targets || !bond_arp_rx_proto(&rx))
		return;
	/* before the slave: see bond_arpmon_active_changed() */
	rx.seq = smp_load_acquire(&bond->arp.active_seq);
	rx.active = rcu_dereference(bond->curr_active_slave);
	if (bond_arp_is_validated(bond, rx.asking))
		bond_arp_rx_validate(&rx);
	else if (!(READ_ONCE(bond->params.arp_validate) & BOND_ARP_FILTER) ||
		 bond_arp_rx_is_neigh(&rx))
		bond_arp_rx_heard(&rx, BOND_ARP_SRC_ANY);
}
