// SPDX-License-Identifier: GPL-2.0
/*
 * ARP frames of balance-alb: what the bond says of its own addresses, what
 * clients answer, and what they are told anew.
 *
 * What goes to one client names the MAC address of its slave and leaves by that
 * one.  What goes to all names the bond's, since it is what everybody may know;
 * clients are told theirs again a little later.  Frames of others that pass
 * through the bond (a bridge's guests) speak of their own addresses and are
 * left alone, as are those that only ask whether an address is free.
 *
 * Packet path: RCU and BH off, clients under their lock.
 */
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/pkt_sched.h>
#include <net/arp.h>

#include "bond_alb.h"

/**
 * struct bond_arp_frame - ARP for Ethernet and IPv4, as it is on the wire
 * @hdr: what the rest is
 * @sender_mac: hardware address of who sends it
 * @sender: its protocol address
 * @target_mac: hardware address of whom it is for, zero in a request
 * @target: its protocol address
 */
struct bond_arp_frame {
	struct arphdr hdr;
	u8 sender_mac[ETH_ALEN];
	__be32 sender;
	u8 target_mac[ETH_ALEN];
	__be32 target;
} __packed;

static bool bond_arp_frame_ok(const struct bond_arp_frame *arp)
{
	return arp->hdr.ar_hrd == htons(ARPHRD_ETHER) &&
	       arp->hdr.ar_pro == htons(ETH_P_IP) &&
	       arp->hdr.ar_hln == ETH_ALEN &&
	       arp->hdr.ar_pln == sizeof(__be32);
}

static void bond_alb_pair_vlan(struct bond_alb_pair *pair,
			       const struct sk_buff *skb)
{
	if (!skb_vlan_tag_present(skb))
		return;
	pair->vlan_proto = skb->vlan_proto;
	pair->vid = skb_vlan_tag_get_id(skb);
}

/* --- out --- */

/* The ARP part of a frame that speaks of an address of the bond's own. */
static const struct bond_arp_frame *
bond_alb_arp_own(const struct bonding *bond, const struct sk_buff *skb)
{
	const struct bond_view view = bond_view_skb(skb);
	const struct bond_arp_frame *arp = (const void *)view.net;

	if (view.net != view.data + ETH_HLEN ||
	    (const u8 *)(arp + 1) > view.data + view.len ||
	    !bond_arp_frame_ok(arp) || !arp->sender ||
	    !ether_addr_equal(arp->sender_mac, bond->dev->dev_addr))
		return NULL;
	return arp;
}

static struct slave *bond_alb_arp_place(struct bonding *bond,
					const struct sk_buff *skb)
{
	const struct bond_arp_frame *arp = bond_alb_arp_own(bond, skb);
	struct bond_alb_pair pair = { };

	if (!arp)
		return NULL;
	pair.client = arp->target;
	pair.ours = arp->sender;
	bond_alb_pair_vlan(&pair, skb);
	if (is_multicast_ether_addr(skb->data)) {
		bond_alb_clients_misled(bond, &pair);
		return NULL;
	}
	if (arp->target == arp->sender)
		return NULL;
	return bond_alb_client_place(bond, &pair, skb->data);
}

netdev_tx_t bond_alb_arp_xmit(struct bonding *bond, struct sk_buff *skb)
{
	struct slave *slave = bond_alb_arp_place(bond, skb);
	struct bond_arp_frame *arp;

	if (!slave || slave == rcu_access_pointer(bond->curr_active_slave))
		return bond_tlb_send(bond, skb,
				     bond_tlb_unplaced(bond,
						       bond_pkt_of_skb(skb)));
	if (skb_ensure_writable(skb, ETH_HLEN + sizeof(*arp)))
		return bond_xmit_drop(bond, skb, BOND_DROP_CLONE);
	arp = (struct bond_arp_frame *)(skb->data + ETH_HLEN);
	ether_addr_copy(arp->sender_mac, slave->dev->dev_addr);
	return bond_tlb_send(bond, skb, slave);
}

/* --- in --- */

void bond_alb_arp_rx(struct bonding *bond, const struct sk_buff *skb)
{
	const struct bond_arp_frame *arp;
	struct bond_alb_pair pair = { };
	struct bond_arp_frame buf;

	if (skb->pkt_type != PACKET_HOST)
		return;
	arp = skb_header_pointer(skb, 0, sizeof(buf), &buf);
	if (!arp || !bond_arp_frame_ok(arp) ||
	    arp->hdr.ar_op != htons(ARPOP_REPLY) || !arp->sender ||
	    arp->sender == arp->target ||
	    !is_valid_ether_addr(arp->sender_mac))
		return;
	pair.client = arp->sender;
	pair.ours = arp->target;
	bond_alb_pair_vlan(&pair, skb);
	bond_alb_client_heard(bond, &pair, arp->sender_mac);
}

/* --- telling --- */

void bond_alb_arp_tell(const struct bond_alb_client *client)
{
	struct net_device *dev = client->slave->dev;
	struct sk_buff *skb;

	skb = arp_create(ARPOP_REPLY, ETH_P_ARP, client->pair.client, dev,
			 client->pair.ours, client->mac, client->told,
			 client->mac);
	if (!skb)
		return;
	skb->priority = TC_PRIO_CONTROL;
	if (client->pair.vlan_proto)
		__vlan_hwaccel_put_tag(skb, client->pair.vlan_proto,
				       client->pair.vid);
	arp_xmit(skb);
}
