/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two systems back to back that speak 802.3ad, and a clock: what lacp_unit.c
 * has of lacp_world.c.  One thread.
 */
#ifndef _UNIT_LACP_WORLD_H
#define _UNIT_LACP_WORLD_H

#include "bond_3ad.h"

#define PORTS_MAX	4

struct system {
	struct bond_lacp lacp;
	struct bonding bond;
	struct slave slaves[PORTS_MAX];
	struct bond_lacp_port *ports[PORTS_MAX];
	struct system *peer;
	u16 next_port;
	u8 mac[ETH_ALEN];
	bool lost[PORTS_MAX];	/* what it sends by a port does not arrive */
	unsigned int dropped;
};

extern struct system sys[2];
extern unsigned long jiffies;	/* the clock */
extern unsigned long sent;	/* LACPDUs */
extern const char *now_doing;	/* name of the case */

/* Say what is wrong, and when. */
void die(const char *fmt, ...);
/* Run the machines of one system, and check what they left. */
void run(struct system *s);
/* Take in what is under way. */
void deliver(void);
/* Until nothing is under way. */
void run_both(void);
/* Let time go by. */
void pass(double seconds);
/* Who a system is has changed. */
void identity(struct system *s, struct bond_lacp_port *port);
/* As RTNL holders do it when a link changes. */
void link_set(struct system *s, unsigned int i, bool up, u32 speed,
	      bool full);
/* A wire between ports of that number is plugged or pulled. */
void wire_up(unsigned int i, bool up);
void port_add(struct system *s, unsigned int i);
void port_del(struct system *s, unsigned int i);
/* Set a system down. */
void stop(struct system *s);
/* Two systems, for the case of that name. */
void make(const char *what, unsigned int ports, bool coupled);
/* Does a port send? */
void expect(int n, unsigned int i, bool tx);
/* Do these ports, at both ends? */
void expect_all(unsigned int ports, bool tx);

#endif /* _UNIT_LACP_WORLD_H */
