// SPDX-License-Identifier: GPL-2.0
/*
 * 802.3ad: why a port does not send, in one word, for bonding_slave/lacp_reason
 * and for a trace event.
 *
 * Under bond_lacp.lock; called when the machines have come to rest.
 */
#include "bond_3ad.h"

#define CREATE_TRACE_POINTS
#include "bond_trace.h"

static const char *const bond_lacp_words[BOND_LACP_WHY_MAX] = {
	[BOND_LACP_WHY_BOND_DOWN]	= "bond_down",
	[BOND_LACP_WHY_NO_LINK]		= "no_link",
	[BOND_LACP_WHY_FALLBACK]	= "fallback",
	[BOND_LACP_WHY_AGGREGATED]	= "aggregated",
	[BOND_LACP_WHY_HALF_DUPLEX]	= "half_duplex",
	[BOND_LACP_WHY_NO_PARTNER]	= "no_partner",
	[BOND_LACP_WHY_EXPIRED]		= "expired",
	[BOND_LACP_WHY_CHURNED]		= "churned",
	[BOND_LACP_WHY_INDIVIDUAL]	= "individual",
	[BOND_LACP_WHY_OTHER_PARTNER]	= "other_partner",
	[BOND_LACP_WHY_KEY_MISMATCH]	= "key_mismatch",
	[BOND_LACP_WHY_STANDBY]		= "standby",
	[BOND_LACP_WHY_WAITING]		= "waiting",
	[BOND_LACP_WHY_NOT_IN_SYNC]	= "partner_not_in_sync",
	[BOND_LACP_WHY_NOT_COLLECTING]	= "partner_not_collecting",
};

/* What makes the difference to the ports that are in use? */
static enum bond_lacp_why bond_lacp_why_apart(const struct bond_lacp_port *port)
{
	const struct bond_lacp_agg *active = port->lacp->active;
	const struct bond_lacp_agg *agg = port->agg;

	if (agg->individual)
		return BOND_LACP_WHY_INDIVIDUAL;
	if (!active || !bond_lacp_party_known(&active->partner))
		return BOND_LACP_WHY_STANDBY;
	if (active->partner.sys_prio != agg->partner.sys_prio ||
	    !ether_addr_equal(active->partner.system, agg->partner.system))
		return BOND_LACP_WHY_OTHER_PARTNER;
	if (active->key != agg->key || active->partner.key != agg->partner.key)
		return BOND_LACP_WHY_KEY_MISMATCH;
	return BOND_LACP_WHY_STANDBY;
}

static enum bond_lacp_why
bond_lacp_why_attached(const struct bond_lacp_port *port)
{
	if (port->mux == BOND_LACP_DETACHED || port->mux == BOND_LACP_WAITING)
		return BOND_LACP_WHY_WAITING;
	if (!bond_lacp_is(&port->partner, LACP_STATE_SYNCHRONIZATION))
		return port->churn_partner == BOND_LACP_CHURNED ?
			       BOND_LACP_WHY_CHURNED :
			       BOND_LACP_WHY_NOT_IN_SYNC;
	return BOND_LACP_WHY_NOT_COLLECTING;
}

static enum bond_lacp_why bond_lacp_why_of(const struct bond_lacp_port *port)
{
	if (!port->lacp->running)
		return BOND_LACP_WHY_BOND_DOWN;
	if (!port->enabled)
		return BOND_LACP_WHY_NO_LINK;
	if (port->tx_on)
		return bond_lacp_fallback_on(port) ? BOND_LACP_WHY_FALLBACK :
						     BOND_LACP_WHY_AGGREGATED;
	if (!port->lacp_enabled)
		return BOND_LACP_WHY_HALF_DUPLEX;
	if (!bond_lacp_party_known(&port->partner))
		return BOND_LACP_WHY_NO_PARTNER;
	if (port->rx == BOND_LACP_EXPIRED)
		return BOND_LACP_WHY_EXPIRED;
	if (port->agg && port->selected == BOND_LACP_STANDBY)
		return bond_lacp_why_apart(port);
	return bond_lacp_why_attached(port);
}

void bond_lacp_why_update(struct bond_lacp_port *port)
{
	enum bond_lacp_why why = bond_lacp_why_of(port);

	if (port->why == why)
		return;
	WRITE_ONCE(port->why, why);
	trace_bond_lacp_port(port, bond_lacp_words[why]);
}

const char *bond_lacp_port_reason(const struct slave *slave)
{
	const struct bond_lacp_port *port = bond_lacp_port_of(slave);

	return port ? bond_lacp_words[READ_ONCE(port->why)] : NULL;
}
