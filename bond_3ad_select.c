// SPDX-License-Identifier: GPL-2.0
/*
 * 802.3ad: which ports belong together, and which of these groups is the
 * bond's.
 *
 * The standard leaves the first to the Selection Logic (6.4.14), whose rules it
 * gives, and does not know the second: there each aggregator is an interface of
 * its own, a bond has one.  Ports of the others are STANDBY.
 *
 * All of it under bond_lacp.lock; called from the loop in bond_3ad_machines.c.
 */
#include "bond_3ad.h"

/* --- keys --- */

/* A number for each speed; partners never see more of it than equality. */
static const u32 bond_lacp_speeds[] = {
	1, 10, 100, 1000, 2500, 5000, 10000, 14000, 20000, 25000, 40000, 50000,
	56000, 80000, 100000, 200000, 400000, 800000, 1600000,
};

u16 bond_lacp_key(u16 user, u32 speed, bool full)
{
	unsigned int code = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bond_lacp_speeds); i++)
		if (bond_lacp_speeds[i] == speed)
			code = i + 1;
	return user << 6 | code << 1 | full;
}

/* --- the Selection Logic --- */

/* May the port not be together with others? */
static bool bond_lacp_individual(const struct bond_lacp_port *port)
{
	return !port->lacp_enabled ||
	       !bond_lacp_is(&port->actor, LACP_STATE_AGGREGATION) ||
	       !bond_lacp_is(&port->partner, LACP_STATE_AGGREGATION) ||
	       !bond_lacp_party_known(&port->partner);
}

static bool bond_lacp_agg_used(const struct bond_lacp_agg *agg,
			       const struct bond_lacp_port *but)
{
	const struct bond_lacp_port *port;

	bond_lacp_for_each(but->lacp, port)
		if (port != but && port->agg == agg)
			return true;
	return false;
}

static bool bond_lacp_agg_fits(const struct bond_lacp_agg *agg,
			       const struct bond_lacp_port *port)
{
	const struct bond_lacp_party *theirs = &port->partner;

	return !agg->individual && agg->key == port->actor.key &&
	       agg->partner.key == theirs->key &&
	       agg->partner.sys_prio == theirs->sys_prio &&
	       ether_addr_equal(agg->partner.system, theirs->system);
}

/* One that others with the same ends use already. */
static struct bond_lacp_agg *
bond_lacp_agg_shared(const struct bond_lacp_port *port)
{
	struct bond_lacp_port *other;

	if (bond_lacp_individual(port))
		return NULL;
	bond_lacp_for_each(port->lacp, other)
		if (bond_lacp_agg_used(&other->own, port) &&
		    bond_lacp_agg_fits(&other->own, port))
			return &other->own;
	return NULL;
}

/* One that nobody else uses, its own if possible: there are enough of them. */
static struct bond_lacp_agg *bond_lacp_agg_free(struct bond_lacp_port *port)
{
	struct bond_lacp_port *other;

	if (!bond_lacp_agg_used(&port->own, port))
		return &port->own;
	bond_lacp_for_each(port->lacp, other)
		if (!bond_lacp_agg_used(&other->own, port))
			return &other->own;
	return &port->own;
}

static void bond_lacp_agg_found(struct bond_lacp_agg *agg,
				const struct bond_lacp_port *port)
{
	agg->key = port->actor.key;
	agg->partner = port->partner;
	agg->individual = bond_lacp_individual(port);
}

void bond_lacp_agg_select(struct bond_lacp_port *port)
{
	struct bond_lacp_agg *agg = bond_lacp_agg_shared(port);

	if (!agg) {
		agg = bond_lacp_agg_free(port);
		bond_lacp_agg_found(agg, port);
	}
	port->agg = agg;
	port->select_key = port->actor.key;
	port->selected = agg == port->lacp->active ? BOND_LACP_SELECTED :
						     BOND_LACP_STANDBY;
}

/* The one of a port that stays, for those who used the one of @port. */
static struct bond_lacp_agg *
bond_lacp_agg_heir(const struct bond_lacp_port *port)
{
	struct bond_lacp_port *other;

	bond_lacp_for_each(port->lacp, other)
		if (other != port && !bond_lacp_agg_used(&other->own, port))
			return &other->own;
	return NULL;
}

void bond_lacp_agg_leave(struct bond_lacp_port *port)
{
	struct bond_lacp_agg *heir = bond_lacp_agg_heir(port);
	bool used = bond_lacp_agg_used(&port->own, port);
	struct bond_lacp *lacp = port->lacp;
	struct bond_lacp_port *other;
	u16 id;

	port->agg = NULL;
	/* with so many aggregators as ports, one is free if one is shared */
	if (used && heir) {
		id = heir->id;
		*heir = port->own;
		heir->id = id;
		bond_lacp_for_each(lacp, other)
			if (other->agg == &port->own)
				other->agg = heir;
	}
	if (lacp->active == &port->own)
		lacp->active = used ? heir : NULL;
}

/* --- the active aggregator --- */

unsigned int bond_lacp_agg_ports(const struct bond_lacp *lacp,
				 const struct bond_lacp_agg *agg, u8 need)
{
	const struct bond_lacp_port *port;
	unsigned int n = 0;

	bond_lacp_for_each(lacp, port)
		if (port->agg == agg && port->enabled &&
		    (port->actor.state & need) == need)
			n++;
	return n;
}

/**
 * struct bond_lacp_score - what speaks for an aggregator
 * @ports: ports with a link
 * @known: somebody answers
 * @shared: it may have more than one port
 * @bandwidth: Mbit/s of all ports
 * @prio_sum: sum of the ports' priorities
 * @prio_best: the best one of them
 */
struct bond_lacp_score {
	unsigned int ports;
	bool known;
	bool shared;
	u64 bandwidth;
	u64 prio_sum;
	u16 prio_best;
};

/* May a port serve for want of a partner, if it is the one that should? */
static bool bond_lacp_fallback_ready(const struct bond_lacp_port *port)
{
	return port->lacp->fallback != BOND_LACP_FALLBACK_NONE &&
	       time_after_eq(port->lacp->now, bond_lacp_fallback_at(port));
}

static struct bond_lacp_score
bond_lacp_score_of(const struct bond_lacp *lacp,
		   const struct bond_lacp_agg *agg)
{
	struct bond_lacp_score score = { .prio_best = U16_MAX };
	const struct bond_lacp_port *port;

	if (!agg)
		return score;
	score.known = bond_lacp_party_known(&agg->partner);
	score.shared = !agg->individual;
	bond_lacp_for_each(lacp, port) {
		if (port->agg != agg || !port->enabled ||
		    (!score.known && !bond_lacp_fallback_ready(port)))
			continue;
		score.ports++;
		score.bandwidth += port->speed;
		score.prio_sum += port->actor.port_prio;
		score.prio_best = min(score.prio_best, port->actor.port_prio);
	}
	return score;
}

/* By what the option says, is @a more than @b? */
static bool bond_lacp_score_more(const struct bond_lacp *lacp,
				 const struct bond_lacp_score *a,
				 const struct bond_lacp_score *b)
{
	switch (lacp->select) {
	case BOND_LACP_SELECT_COUNT:
		return a->ports > b->ports;
	case BOND_LACP_SELECT_PRIO:
		return a->prio_sum > b->prio_sum;
	default:
		return a->bandwidth > b->bandwidth;
	}
}

/*
 * Should the aggregator with @cand take over from the one with @best, which is
 * the active one if @holds?
 */
static bool bond_lacp_score_better(const struct bond_lacp *lacp,
				   const struct bond_lacp_score *cand,
				   const struct bond_lacp_score *best,
				   bool holds)
{
	if (!cand->ports || !best->ports)
		return cand->ports && !best->ports;
	if (cand->known != best->known)
		return cand->known;
	/* with nobody at the other end, all that differs is the port */
	if (!cand->known && lacp->select != BOND_LACP_SELECT_PRIO &&
	    cand->prio_best != best->prio_best)
		return cand->prio_best < best->prio_best;
	if (holds && lacp->select == BOND_LACP_SELECT_STABLE)
		return false;
	if (cand->shared != best->shared)
		return cand->shared;
	return bond_lacp_score_more(lacp, cand, best);
}

static struct bond_lacp_agg *bond_lacp_active_best(const struct bond_lacp *lacp)
{
	struct bond_lacp_score score = bond_lacp_score_of(lacp, lacp->active);
	struct bond_lacp_agg *best = lacp->active;
	const struct bond_lacp_port *port;
	struct bond_lacp_score cand;

	bond_lacp_for_each(lacp, port) {
		if (!port->agg || port->agg == best)
			continue;
		cand = bond_lacp_score_of(lacp, port->agg);
		if (!bond_lacp_score_better(lacp, &cand, &score,
					    best == lacp->active))
			continue;
		best = port->agg;
		score = cand;
	}
	return score.ports ? best : NULL;
}

bool bond_lacp_active_choose(struct bond_lacp *lacp)
{
	struct bond_lacp_agg *active = bond_lacp_active_best(lacp);
	bool changed = active != lacp->active;
	enum bond_lacp_selected want;
	struct bond_lacp_port *port;

	lacp->active = active;
	bond_lacp_for_each(lacp, port) {
		if (port->selected == BOND_LACP_UNSELECTED)
			continue;
		want = port->agg == active ? BOND_LACP_SELECTED :
					     BOND_LACP_STANDBY;
		changed |= port->selected != want;
		port->selected = want;
	}
	return changed;
}

bool bond_lacp_fallback_on(const struct bond_lacp_port *port)
{
	const struct bond_lacp *lacp = port->lacp;
	const struct bond_lacp_agg *active = lacp->active;

	/* who has a partner anywhere does without those who have none */
	if (!port->enabled || !port->agg || !active ||
	    bond_lacp_party_known(&active->partner))
		return false;
	if (port->agg == active)
		return true;
	return lacp->fallback == BOND_LACP_FALLBACK_ALL &&
	       bond_lacp_fallback_ready(port);
}
