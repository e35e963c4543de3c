// SPDX-License-Identifier: GPL-2.0
/*
 * balance-alb: balance-tlb, and frames come in by all slaves, too.
 *
 * Each client is told another slave's MAC address (bond_alb_arp.c,
 * bond_alb_clients.c).  What is placed on a slave is not a flow but a peer, by
 * its IP address.  The rest is bond_tlb.c's.
 *
 * Owns bond->mode_priv and bond->mode_pcpu while it is the mode.  Hooks run
 * under RTNL, pick, xmit and rx under RCU with BH off.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "bond_alb.h"

/* --- life --- */

static int bond_alb_init(struct bonding *bond)
{
	struct bond_alb *alb = kvzalloc(sizeof(*alb), GFP_KERNEL);
	int err;

	if (!alb)
		return -ENOMEM;
	spin_lock_init(&alb->lock);
	INIT_DELAYED_WORK(&alb->tell_work, bond_alb_tell_work);
	err = bond_tlb_setup(bond, &alb->tlb);
	if (err)
		kvfree(alb);
	return err;
}

/* What clients had to be told when the bond went down, they are told now. */
static void bond_alb_start(struct bonding *bond)
{
	bond_tlb_start(bond);
	bond_alb_clients_follow(bond);
}

static void bond_alb_stop(struct bonding *bond)
{
	bond_tlb_stop(bond);
	cancel_delayed_work_sync(&bond_alb_of(bond)->tell_work);
}

static void bond_alb_params_adopt(struct bond_params *next)
{
	next->tlb_dynamic_lb = 1;
}

/* --- changes --- */

static void bond_alb_usable_changed(struct bonding *bond)
{
	bond_tlb_settle(bond);
	bond_alb_clients_follow(bond);
}

static void bond_alb_active_ready(struct bonding *bond, struct slave *old,
				  struct slave *new)
{
	bond_tlb_active_ready(bond, old, new);
	bond_alb_clients_follow(bond);
}

/* --- pick and send --- */

static u32 bond_alb_fold(u32 hash)
{
	hash ^= hash >> 16;
	return hash ^ hash >> 8;
}

/* By whom it is for; the frame is IP, and its header is in one piece. */
static __always_inline u32 bond_alb_hash(const struct bond_view *view)
{
	const struct ipv6hdr *ip6 = (const void *)view->net;
	const struct iphdr *ip4 = (const void *)view->net;
	const __be32 *addr = ip6->daddr.s6_addr32;

	if (likely(view->proto == htons(ETH_P_IP)))
		return bond_alb_fold((__force u32)ip4->daddr);
	return bond_alb_fold((__force u32)(addr[0] ^ addr[1] ^
					   addr[2] ^ addr[3]));
}

static struct slave *bond_alb_pick(const struct bonding *bond,
				   struct bond_pkt pkt)
{
	const struct bond_view view = bond_view(pkt);

	if (!bond_tlb_ready(bond))
		return NULL;
	if (!bond_tlb_spreads(&view))
		return bond_tlb_unplaced(bond, pkt);
	return bond_tlb_placed(bond, pkt, bond_alb_hash(&view));
}

static bond_pick_fn *bond_alb_pick_now(const struct bonding *bond)
{
	return bond->params.tlb_dynamic_lb ? bond_alb_pick :
					     bond_tlb_pick_static;
}

static netdev_tx_t bond_alb_xmit(struct bonding *bond, struct sk_buff *skb)
{
	bond_pick_fn *pick = READ_ONCE(bond->pick);
	struct slave *slave;

	if (unlikely(skb->protocol == htons(ETH_P_ARP)))
		return bond_alb_arp_xmit(bond, skb);
	slave = INDIRECT_CALL_2(pick, bond_alb_pick, bond_tlb_pick_static,
				bond, bond_pkt_of_skb(skb));
	return bond_tlb_send(bond, skb, slave);
}

/* --- receive --- */

/*
 * A bridge knows the bond by one address, and would take what came for another
 * slave's for a stranger's.
 */
static void bond_alb_rx_readdress(const struct bonding *bond,
				  struct sk_buff *skb)
{
	if (ether_addr_equal(eth_hdr(skb)->h_dest, bond->dev->dev_addr) ||
	    skb_cow_head(skb, skb->data - skb_mac_header(skb)))
		return;
	ether_addr_copy(eth_hdr(skb)->h_dest, bond->dev->dev_addr);
}

static bool bond_alb_rx(struct bonding *bond, struct slave *slave,
			struct sk_buff *skb)
{
	if (unlikely(skb->protocol == htons(ETH_P_ARP)))
		bond_alb_arp_rx(bond, skb);
	if (unlikely(netif_is_bridge_port(bond->dev)) &&
	    skb->pkt_type == PACKET_HOST)
		bond_alb_rx_readdress(bond, skb);
	return false;
}

const struct bond_mode_ops bond_mode_alb = {
	.name		= "balance-alb",
	.proc_name	= "adaptive load balancing",
	.id		= BOND_MODE_ALB,
	.lag_tx_type	= NETDEV_LAG_TX_TYPE_UNKNOWN,
	.caps		= BOND_CAP_PRIMARY | BOND_CAP_NEEDS_MII |
			  BOND_CAP_TLB |
			  BOND_CAP_ETHER_ONLY | BOND_CAP_UNLINKED_MCAST |
			  BOND_CAP_OWN_MACS | BOND_CAP_OWN_XMIT |
			  BOND_CAP_RX_UNICAST,
	.init		= bond_alb_init,
	.exit		= bond_tlb_exit,
	.start		= bond_alb_start,
	.stop		= bond_alb_stop,
	.slave_add	= bond_tlb_slave_add,
	.slave_del	= bond_tlb_slave_del,
	.usable_changed	= bond_alb_usable_changed,
	.speed_changed	= bond_tlb_speed_changed,
	.mac_changed	= bond_alb_clients_follow,
	.active_changed	= bond_tlb_active_changed,
	.active_ready	= bond_alb_active_ready,
	.params_adopt	= bond_alb_params_adopt,
	.params_changed	= bond_tlb_params_changed,
	.pick		= bond_alb_pick,
	.pick_now	= bond_alb_pick_now,
	.xmit		= bond_alb_xmit,
	.rx		= bond_alb_rx,
	.debug_show	= bond_alb_clients_show,
};
