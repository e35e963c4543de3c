/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the ARP/NS monitor share: bond_arpmon.c judges the links,
 * bond_arp_probe.c asks, bond_arp_rx.c listens, bond_arp_ns.c does both for
 * IPv6.
 *
 * Layer 3, private to these files.
 */
#ifndef _BOND_ARPMON_H
#define _BOND_ARPMON_H

#include "bond_core.h"

/* arp_validate */
#define BOND_ARP_VALIDATE_ACTIVE	BIT(0)
#define BOND_ARP_VALIDATE_BACKUP	BIT(1)
#define BOND_ARP_FILTER			BIT(2)

#define BOND_PROBE_TAGS		8	/* devices are not nested deeper */

/**
 * struct bond_probe_path - VLAN tags that lead from a bond to a device above it
 * @count: number of tags
 * @tag: the tags, the outermost first
 */
struct bond_probe_path {
	unsigned int count;
	struct {
		__be16 proto;
		u16 vid;
	} tag[BOND_PROBE_TAGS];
};

/**
 * enum bond_probe_way - how a target is asked
 * @BOND_WAY_FOUND: over the bond, with a source address
 * @BOND_WAY_NOBODY: on the bond itself, as nobody: there is no route, or no
 *	address to ask from.  The route may come with the link.
 * @BOND_WAY_ELSEWHERE: not at all, the route does not lead over the bond
 */
enum bond_probe_way {
	BOND_WAY_FOUND,
	BOND_WAY_NOBODY,
	BOND_WAY_ELSEWHERE,
};

/**
 * bond_arp_is_asking() - does this slave send probes, and wait for answers?
 * @bond: the bond
 * @slave: the slave
 *
 * Others are judged by what they overhear.
 *
 * Context: RCU.
 */
static inline bool bond_arp_is_asking(const struct bonding *bond,
				      const struct slave *slave)
{
	return !bond_has_cap(bond, BOND_CAP_ARP_ACTIVE) ||
	       slave == rcu_access_pointer(bond->curr_active_slave) ||
	       READ_ONCE(slave->arp.searching);
}

/* Can it hear at all?  A slave is in the list before it can.  RCU. */
static inline bool bond_arp_is_listening(const struct slave *slave)
{
	return rcu_access_pointer(slave->dev->rx_handler);
}

/* Is it to send probes now?  RCU. */
static inline bool bond_arp_may_ask(const struct bonding *bond,
				    const struct slave *slave)
{
	return bond_dev_is_up(slave->dev) && bond_arp_is_listening(slave) &&
	       bond_arp_is_asking(bond, slave);
}

/**
 * bond_arp_is_validated() - do only frames from and for targets count?
 * @bond: the bond
 * @asking: what bond_arp_is_asking() says of the slave
 *
 * Context: any.
 */
static inline bool bond_arp_is_validated(const struct bonding *bond,
					 bool asking)
{
	return READ_ONCE(bond->params.arp_validate) &
	       (asking ? BOND_ARP_VALIDATE_ACTIVE : BOND_ARP_VALIDATE_BACKUP);
}

/* --- bond_arp_probe.c --- */

/**
 * bond_arp_probe() - send the probes of a tick by all slaves that are asking
 * @bond: the bond
 *
 * Context: RCU, not in interrupt.
 */
void bond_arp_probe(struct bonding *bond);

/**
 * bond_probe_path_find() - how a device above a bond is reached
 * @bond: the bond
 * @dev: the device that a route leads to
 * @path: receives the VLAN tags
 *
 * Context: RCU.
 * Return: false when @dev is not above the bond.
 */
bool bond_probe_path_find(const struct bonding *bond,
			  const struct net_device *dev,
			  struct bond_probe_path *path);

/**
 * bond_probe_way_note() - remember how a target is asked
 * @bond: the bond
 * @i: the target, as a source of struct bond_arp_slave
 * @way: how
 *
 * Context: the monitor's work.
 * Return: what to tell the user of it, or NULL when he knows.
 */
const char *bond_probe_way_note(struct bonding *bond, unsigned int i,
				enum bond_probe_way way);

/**
 * bond_probe_tag() - put VLAN tags on a finished frame
 * @skb: the frame, from its link layer header on; freed on failure
 * @path: the tags
 *
 * Return: the frame, or NULL without memory.
 */
struct sk_buff *bond_probe_tag(struct sk_buff *skb,
			       const struct bond_probe_path *path);

/* --- bond_arp_rx.c --- */

/**
 * struct bond_arp_rx - a received frame, while it is being looked at
 * @bond: the bond
 * @slave: the slave that received it
 * @skb: the frame
 * @targets: whom the monitor listens for
 * @active: the active slave
 * @seq: bond_arp.active_seq, read before @active
 * @asking: what bond_arp_is_asking() says of @slave
 * @proto: EtherType behind all VLAN tags
 * @offset: where that protocol's header is, from the start of @skb's data
 */
struct bond_arp_rx {
	struct bonding *bond;
	struct slave *slave;
	const struct sk_buff *skb;
	const struct bond_arp_targets *targets;
	const struct slave *active;
	u32 seq;
	bool asking;
	__be16 proto;
	unsigned int offset;
};

/**
 * bond_arp_rx_heard() - note a sign of life of the slave
 * @rx: the frame that is one
 * @source: where it came from, BOND_ARP_SRC_*
 */
void bond_arp_rx_heard(const struct bond_arp_rx *rx, unsigned int source);

/* Is this target asked without a source, so that answers are for nobody? */
static inline bool bond_arp_rx_nobody(const struct bond_arp_rx *rx, int source)
{
	return READ_ONCE(rx->bond->arp.way[source]) == BOND_WAY_NOBODY;
}

/**
 * bond_arp_rx_answers() - may this slave prove itself by answers?
 * @rx: the frame
 *
 * Who asks may; without an active slave all may, since answers can come late.
 */
static inline bool bond_arp_rx_answers(const struct bond_arp_rx *rx)
{
	return rx->asking || !rx->active;
}

/**
 * bond_arp_rx_requests() - may it prove itself by the active slave's requests?
 * @rx: the frame
 *
 * Only while the active slave has answers: otherwise slaves of a lost network
 * would keep each other alive.
 */
static inline bool bond_arp_rx_requests(const struct bond_arp_rx *rx)
{
	return !rx->asking && rx->active &&
	       READ_ONCE(rx->bond->arp.heard_seq) == rx->seq;
}

/* --- bond_arp_ns.c --- */

#if IS_ENABLED(CONFIG_IPV6)
/* Probe source @i, an IPv6 target, by all slaves that ask; bond_arp_probe(). */
void bond_ns_probe(struct bonding *bond, unsigned int i,
		   const struct in6_addr *target);

/* Is it a neighbour solicitation or advertisement? */
bool bond_ns_rx_is_ndisc(const struct bond_arp_rx *rx);

/* Note it if it is one from or for a target. */
void bond_ns_rx(const struct bond_arp_rx *rx);
#else
static inline void bond_ns_probe(struct bonding *bond, unsigned int i,
				 const struct in6_addr *target)
{
}

static inline bool bond_ns_rx_is_ndisc(const struct bond_arp_rx *rx)
{
	return false;
}

static inline void bond_ns_rx(const struct bond_arp_rx *rx)
{
}
#endif

#endif /* _BOND_ARPMON_H */
