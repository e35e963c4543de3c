// SPDX-License-Identifier: GPL-2.0
/*
 * 802.3ad with broadcast_neighbor: a partner that is several switches without a
 * link between them has to hear by each of its members where an address is, so
 * what asks and answers that is sent by all ports.
 *
 * Packet path: RCU and BH off, no lock, no state.
 */
#include <linux/ipv6.h>
#include <net/ndisc.h>

#include "bond_3ad.h"
#include "bond_hash.h"
#include "bond_xmit.h"

static bool bond_lacp_is_nd(const struct sk_buff *skb)
{
	struct {
		struct ipv6hdr ip6;
		struct icmp6hdr icmp;
	} __packed buf;
	const typeof(buf) *head;

	head = skb_header_pointer(skb, skb_network_offset(skb), sizeof(buf),
				  &buf);
	return head && head->ip6.nexthdr == IPPROTO_ICMPV6 &&
	       (head->icmp.icmp6_type == NDISC_NEIGHBOUR_SOLICITATION ||
		head->icmp.icmp6_type == NDISC_NEIGHBOUR_ADVERTISEMENT);
}

static bool bond_lacp_is_neighbor(const struct sk_buff *skb)
{
	switch (skb->protocol) {
	case htons(ETH_P_ARP):
		return true;
	case htons(ETH_P_IPV6):
		return bond_lacp_is_nd(skb);
	default:
		return false;
	}
}

/* Nobody for a frame that all have to send: bond_lacp_xmit() is next then. */
static struct slave *bond_lacp_pick_neighbor(const struct bonding *bond,
					     struct bond_pkt pkt)
{
	if (!bond_pkt_is_xdp(pkt) && bond_lacp_is_neighbor(bond_pkt_skb(pkt)))
		return NULL;
	return bond_hash_pick(bond, pkt);
}

bond_pick_fn *bond_lacp_pick_now(const struct bonding *bond)
{
	return bond->params.broadcast_neighbor ? bond_lacp_pick_neighbor :
						 bond_hash_pick;
}

netdev_tx_t bond_lacp_xmit(struct bonding *bond, struct sk_buff *skb)
{
	struct slave *slave;

	if (READ_ONCE(bond->params.broadcast_neighbor) &&
	    bond_lacp_is_neighbor(skb))
		return bond_xmit_all(bond, skb);
	slave = bond_hash_pick(bond, bond_pkt_of_skb(skb));
	if (unlikely(!slave))
		return bond_xmit_drop(bond, skb, BOND_DROP_NO_SLAVE);
	return bond_hand_off(bond, skb, slave);
}
