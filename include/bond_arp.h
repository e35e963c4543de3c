/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the ARP/NS monitor keeps with a bond and with a slave.
 *
 * Layer 0: parts of the structures in bond.h, which includes this one.  Fields
 * say who owns them; bond_arpmon.c and its neighbours work on them.
 */
#ifndef _BOND_ARP_H
#define _BOND_ARP_H

#include <linux/bitmap.h>
#include <linux/in6.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#define BOND_MAX_TARGETS	16	/* ARP targets, as many NS targets */

/*
 * What the ARP/NS monitor can hear a slave by: its IPv4 targets, its IPv6
 * targets, and any frame that counts without being from one of them.
 */
#define BOND_ARP_SRC_IP6	BOND_MAX_TARGETS
#define BOND_ARP_SRC_ANY	(2 * BOND_MAX_TARGETS)
#define BOND_ARP_SRC_MAX	(BOND_ARP_SRC_ANY + 1)

/**
 * struct bond_arp_targets - whom the ARP/NS monitor asks; immutable
 * @rcu: frees it
 * @ip4: IPv4 targets
 * @ip6: IPv6 targets
 * @n4: length of @ip4
 * @n6: length of @ip6
 * @mask: the sources that they are
 */
struct bond_arp_targets {
	struct rcu_head rcu;
	__be32 ip4[BOND_MAX_TARGETS];
	struct in6_addr ip6[BOND_MAX_TARGETS];
	u8 n4;
	u8 n6;
	DECLARE_BITMAP(mask, BOND_ARP_SRC_MAX);
};

/**
 * struct bond_arp - state of the ARP/NS monitor of a bond
 *
 * Where nothing is said, the monitor's work owns the field, and RTNL while the
 * work is stopped.
 *
 * @next: jiffies when the next tick is due
 * @noticed: @active_seq as the work has last seen it
 * @active_seq: counts changes of the active slave; RTNL to write
 * @heard_seq: @active_seq under which the active slave was last heard; written
 *	by the receive path
 * @way: by target, enum bond_probe_way of the last tick; READ_ONCE() by the
 *	receive path
 * @joined: IPv6 targets whose multicast addresses slaves have; RTNL
 * @joined_cnt: length of @joined; RTNL
 */
struct bond_arp {
	unsigned long next;
	u32 noticed;
	u32 active_seq;
	u32 heard_seq;
	u8 way[BOND_ARP_SRC_ANY];
	struct in6_addr joined[BOND_MAX_TARGETS];
	u8 joined_cnt;
};

/**
 * struct bond_arp_slave - what the ARP/NS monitor knows of a slave
 *
 * A tick is the end of an interval, when answers are counted and the next
 * probes are sent.  Owned as struct bond_arp is.
 *
 * @heard: sources heard since the last tick; atomic
 * @silent: ticks in a row in which a source was not heard; saturating
 * @missed: the same for the slave as a whole
 * @age: ticks since the slave was last given a new start; saturating
 * @asked: probes have left since the last tick
 * @answered: it was heard in the last interval
 * @searching: without an active slave, it is this one's turn to ask
 * @joined: has the multicast addresses of bond_arp.joined; RTNL
 */
struct bond_arp_slave {
	unsigned long heard[BITS_TO_LONGS(BOND_ARP_SRC_MAX)];
	u16 silent[BOND_ARP_SRC_MAX];
	u16 missed;
	u8 age;
	bool asked;
	bool answered;
	bool searching;
	bool joined;
};

#endif /* _BOND_ARP_H */
