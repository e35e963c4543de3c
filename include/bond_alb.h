/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What balance-tlb and balance-alb share: buckets of flows, who they belong to,
 * and how much they carry.
 *
 * Layer 2, private to bond_tlb*.c and bond_alb*.c.
 */
#ifndef _BOND_ALB_H
#define _BOND_ALB_H

#include <linux/igmp.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/ndisc.h>

#include "bond_hash.h"
#include "bond_slaves.h"
#include "bond_view.h"
#include "bond_xmit.h"

#define BOND_TLB_BUCKETS	256
#define BOND_TLB_WINDOW_S	10	/* load is measured over this time */

/* What is not placed by a bucket is counted here: it is the active slave's */
#define BOND_TLB_UNPLACED	BOND_TLB_BUCKETS
#define BOND_TLB_COUNTERS	(BOND_TLB_BUCKETS + 1)

/**
 * struct bond_tlb_cpu - what one CPU has sent; bond->mode_pcpu
 * @bytes: by bucket, and of frames without one; wraps
 */
struct bond_tlb_cpu {
	unsigned long bytes[BOND_TLB_COUNTERS];
};

/**
 * struct bond_tlb - bond->mode_priv
 *
 * Everything but @slave is under RTNL.
 *
 * @slave: the slave of each bucket, NULL when no slave can send; RTNL to write,
 *	RCU to read
 * @bond: the bond
 * @seen: counters at the end of the last window
 * @load: bytes of the last window
 * @now: what each bucket carries while buckets are being placed
 * @balance_work: ends a window
 * @learn_work: sends learning packets
 */
struct bond_tlb {
	struct slave __rcu *slave[BOND_TLB_BUCKETS];
	struct bonding *bond;
	unsigned long seen[BOND_TLB_COUNTERS];
	unsigned long load[BOND_TLB_COUNTERS];
	unsigned long now[BOND_TLB_BUCKETS];
	struct delayed_work balance_work;
	struct delayed_work learn_work;
};

/**
 * struct bond_tlb_slave - slave->mode_priv
 *
 * Worked out anew whenever buckets are placed, under RTNL.
 *
 * @usable: is in bond->usable
 * @load: bytes that its buckets carried in a window
 * @speed: Mbit/s, at least 1
 * @idle: buckets of it that carry nothing
 * @room: buckets of that kind that it should have
 * @clients: clients of balance-alb that are bound to it; bond_alb.lock
 */
struct bond_tlb_slave {
	bool usable;
	u64 load;
	u32 speed;
	u32 idle;
	u32 room;
	u32 clients;
};

static inline struct bond_tlb *bond_tlb_of(const struct bonding *bond)
{
	return bond->mode_priv;
}

static inline struct bond_tlb_slave *bond_tlb_slave_of(const struct slave *s)
{
	return s->mode_priv;
}

/* --- bond_tlb.c: the mode, and what balance-alb takes over from it --- */

/* Hooks of both modes, see struct bond_mode_ops */
int bond_tlb_init(struct bonding *bond);
void bond_tlb_exit(struct bonding *bond);
void bond_tlb_start(struct bonding *bond);
void bond_tlb_stop(struct bonding *bond);
int bond_tlb_slave_add(struct bonding *bond, struct slave *slave,
		       struct netlink_ext_ack *extack);
void bond_tlb_slave_del(struct bonding *bond, struct slave *slave);
void bond_tlb_speed_changed(struct bonding *bond, struct slave *slave);
void bond_tlb_active_changed(struct bonding *bond, struct slave *old,
			     struct slave *new);
void bond_tlb_active_ready(struct bonding *bond, struct slave *old,
			   struct slave *new);
void bond_tlb_params_changed(struct bonding *bond);
netdev_tx_t bond_tlb_xmit(struct bonding *bond, struct sk_buff *skb);

/* tlb_dynamic_lb off, in both modes: flows are placed by their hash. */
bond_pick_fn bond_tlb_pick_static;

/**
 * bond_tlb_setup() - fill in what the two modes have in common
 * @bond: the bond
 * @tlb: zeroed
 *
 * Sets bond->mode_priv.
 *
 * Context: RTNL.
 * Return: 0 or -ENOMEM, and @tlb is still the caller's.
 */
int bond_tlb_setup(struct bonding *bond, struct bond_tlb *tlb);

/**
 * bond_tlb_send() - a frame leaves by a slave
 * @bond: the bond
 * @skb: the frame; always consumed
 * @slave: the slave
 *
 * Only the active slave may use the bond's MAC address as the source, or the
 * switches would look for the bond in several places.
 *
 * Context: RCU and BH off.
 */
netdev_tx_t bond_tlb_send(struct bonding *bond, struct sk_buff *skb,
			  struct slave *slave);

/**
 * bond_tlb_count() - a frame was placed
 * @bond: the bond
 * @counter: its bucket, or BOND_TLB_UNPLACED
 * @pkt: the frame
 *
 * Context: BH off.
 */
static __always_inline void bond_tlb_count(const struct bonding *bond,
					   u32 counter, struct bond_pkt pkt)
{
	struct bond_tlb_cpu __percpu *cpu = bond->mode_pcpu;

	this_cpu_add(cpu->bytes[counter], bond_pkt_len(pkt));
}

/**
 * bond_tlb_ready() - is there a slave, and with it the mode's data?
 * @bond: the bond
 *
 * While the mode is being changed, others may still ask its pick for a slave.
 *
 * Context: RCU and BH off.
 */
static __always_inline bool bond_tlb_ready(const struct bonding *bond)
{
	return likely(rcu_access_pointer(bond->usable));
}

/**
 * bond_tlb_unplaced() - the slave of a frame that has no bucket
 * @bond: the bond
 * @pkt: the frame
 *
 * Context: RCU and BH off.
 * Return: the active slave or NULL.
 */
static __always_inline struct slave *
bond_tlb_unplaced(const struct bonding *bond, struct bond_pkt pkt)
{
	bond_tlb_count(bond, BOND_TLB_UNPLACED, pkt);
	return rcu_dereference(bond->curr_active_slave);
}

/**
 * bond_tlb_placed() - the slave of a frame that has a bucket
 * @bond: the bond
 * @pkt: the frame
 * @hash: any number; its low byte is the bucket
 *
 * Context: RCU and BH off.
 * Return: the slave or NULL.
 */
static __always_inline struct slave *
bond_tlb_placed(const struct bonding *bond, struct bond_pkt pkt, u32 hash)
{
	const struct bond_tlb *tlb = bond_tlb_of(bond);
	u32 bucket = hash % BOND_TLB_BUCKETS;

	bond_tlb_count(bond, bucket, pkt);
	return rcu_dereference(tlb->slave[bucket]);
}

/* --- which frames may leave by any slave --- */

static __always_inline bool bond_tlb_has(const struct bond_view *view,
					 const void *end)
{
	return (const u8 *)end <= view->data + view->len;
}

static __always_inline bool bond_tlb_spreads_ip4(const struct bond_view *view)
{
	const struct iphdr *ip = (const void *)view->net;

	return likely(bond_tlb_has(view, ip + 1)) &&
	       ip->protocol != IPPROTO_IGMP &&
	       ip->daddr != htonl(INADDR_BROADCAST);
}

/* Solicitations and advertisements say which address belongs to whom. */
static inline bool bond_tlb_is_ndisc(const struct bond_view *view)
{
	const struct ipv6hdr *ip = (const void *)view->net;
	const struct icmp6hdr *icmp = (const void *)(ip + 1);

	return !bond_tlb_has(view, icmp + 1) ||
	       (icmp->icmp6_type >= NDISC_ROUTER_SOLICITATION &&
		icmp->icmp6_type <= NDISC_REDIRECT);
}

static __always_inline bool bond_tlb_spreads_ip6(const struct bond_view *view)
{
	const struct ipv6hdr *ip = (const void *)view->net;

	return likely(bond_tlb_has(view, ip + 1)) &&
	       (likely(ip->nexthdr != IPPROTO_ICMPV6) ||
		!bond_tlb_is_ndisc(view));
}

/**
 * bond_tlb_spreads() - may a frame leave by another slave than the active one?
 * @view: the frame
 *
 * Only unicast IP whose header is in one piece, and what does not say which
 * address belongs to whom.
 *
 * Context: any.
 */
static __always_inline bool bond_tlb_spreads(const struct bond_view *view)
{
	if (unlikely(view->len < ETH_HLEN) ||
	    is_multicast_ether_addr(view->data))
		return false;
	if (likely(view->proto == htons(ETH_P_IP)))
		return bond_tlb_spreads_ip4(view);
	if (view->proto == htons(ETH_P_IPV6))
		return bond_tlb_spreads_ip6(view);
	return false;
}

/* --- bond_tlb_balance.c --- */

/**
 * bond_tlb_settle() - give every bucket a slave that can send
 * @bond: the bond
 *
 * Flows whose slave can still send stay where they are.  Buckets without
 * traffic are dealt out by the room that the slaves have.
 *
 * Context: RTNL.  Also the hook usable_changed of both modes.
 */
void bond_tlb_settle(struct bonding *bond);

/**
 * bond_tlb_balance() - the end of a window: measure, and move what helps
 * @bond: the bond
 *
 * Context: RTNL.
 */
void bond_tlb_balance(struct bonding *bond);

/* --- balance-alb: bond_alb_clients.c --- */

#define BOND_ALB_SETS		256
#define BOND_ALB_WAYS		4
#define BOND_ALB_CLIENTS	(BOND_ALB_SETS * BOND_ALB_WAYS)

/**
 * struct bond_alb_pair - a client and the address of ours that it knows
 * @client: the client
 * @ours: our address
 * @vlan_proto: type of the VLAN tag between them, 0 for none
 * @vid: the VLAN
 */
struct bond_alb_pair {
	__be32 client;
	__be32 ours;
	__be16 vlan_proto;
	u16 vid;
};

/**
 * struct bond_alb_client - one client; bond_alb.lock
 * @pair: who it is
 * @slave: the slave that it should send to, in bond->usable, NULL without any
 * @seen: jiffies of the last ARP frame between us
 * @mac: its MAC address
 * @told: the MAC address that it has been told that we have
 * @left: times that it is still to be told anew
 * @used: this is a client
 */
struct bond_alb_client {
	struct bond_alb_pair pair;
	struct slave *slave;
	unsigned long seen;
	u8 mac[ETH_ALEN];
	u8 told[ETH_ALEN];
	u8 left;
	bool used;
};

/**
 * struct bond_alb - bond->mode_priv of balance-alb
 * @tlb: what it has in common with balance-tlb, first
 * @tell_work: tells clients
 * @lock: guards @client
 * @client: the clients, by sets
 */
struct bond_alb {
	struct bond_tlb tlb;
	struct delayed_work tell_work;
	spinlock_t lock;	/* guards client */
	struct bond_alb_client client[BOND_ALB_CLIENTS];
};

static_assert(!offsetof(struct bond_alb, tlb));

static inline struct bond_alb *bond_alb_of(const struct bonding *bond)
{
	return bond->mode_priv;
}

/**
 * bond_alb_client_place() - a client is about to be told our address
 * @bond: the bond
 * @pair: who
 * @mac: the client's MAC address
 *
 * The caller tells it the address of the slave.
 *
 * Context: RCU and BH off.
 * Return: the slave, or NULL when the client should be told the bond's address.
 */
struct slave *bond_alb_client_place(struct bonding *bond,
				    const struct bond_alb_pair *pair,
				    const u8 *mac);

/**
 * bond_alb_client_heard() - a client has told us its address
 * @bond: the bond
 * @pair: who
 * @mac: the client's MAC address
 *
 * Context: RCU and BH off.
 */
void bond_alb_client_heard(struct bonding *bond,
			   const struct bond_alb_pair *pair, const u8 *mac);

/**
 * bond_alb_clients_misled() - all hosts hear the bond's address
 * @bond: the bond
 * @pair: our address and its VLAN; the client does not matter
 *
 * Clients take it for theirs, and will be told again what theirs is.
 *
 * Context: BH off.
 */
void bond_alb_clients_misled(struct bonding *bond,
			     const struct bond_alb_pair *pair);

/**
 * bond_alb_clients_follow() - slaves or their addresses have changed
 * @bond: the bond
 *
 * Context: RTNL; bond->usable is already the new one.
 */
void bond_alb_clients_follow(struct bonding *bond);

/* The function of bond_alb.tell_work. */
void bond_alb_tell_work(struct work_struct *work);

/* The table of clients, a line each; any context but hard interrupts. */
void bond_alb_clients_show(struct seq_file *seq, const struct bonding *bond);

/* --- bond_alb_arp.c --- */

/**
 * bond_alb_arp_xmit() - an ARP frame leaves
 * @bond: the bond
 * @skb: the frame; always consumed
 *
 * Context: RCU and BH off.
 */
netdev_tx_t bond_alb_arp_xmit(struct bonding *bond, struct sk_buff *skb);

/* An ARP frame has come; only looked at.  RCU and BH off. */
void bond_alb_arp_rx(struct bonding *bond, const struct sk_buff *skb);

/* Send a client, or a copy of it, what it is told.  RCU, no lock held. */
void bond_alb_arp_tell(const struct bond_alb_client *client);

/* --- bond_alb_learn.c --- */

/**
 * bond_alb_learn() - have the switches learn where a slave's addresses are
 * @slave: the slave
 *
 * Context: process, RCU or RTNL.
 */
void bond_alb_learn(struct slave *slave);

/* The function of bond_tlb.learn_work. */
void bond_alb_learn_work(struct work_struct *work);

#endif /* _BOND_ALB_H */
