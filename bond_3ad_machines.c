// SPDX-License-Identifier: GPL-2.0
/*
 * 802.3ad: the machines of a port, and the loop that runs them.
 *
 * Each machine is written as the standard draws it: a function that says which
 * state follows from the variables, one that does what has to be done on entry
 * to a state, and one with the machine's name that goes from state to state
 * until it rests.  Clauses are those of IEEE Std 802.1AX-2014.
 *
 * All of it under bond_lacp.lock; called by bond_3ad.c whenever a variable has
 * changed or a timer has expired, and by bond_3ad_pdu.c with an LACPDU.
 */
#include <net/sch_generic.h>

#include "bond_3ad.h"

/* More rounds than any change needs; what is left waits for the timer. */
#define BOND_LACP_ROUNDS	32

/* How long until it is tried again to send by a device that is not ready. */
#define BOND_LACP_SETTLE	(HZ / 10)

/* --- functions of the standard, 6.4.9 --- */

/* What of a party makes up the link that it is one end of. */
static bool bond_lacp_party_same(const struct bond_lacp_party *a,
				 const struct bond_lacp_party *b)
{
	return a->port == b->port && a->port_prio == b->port_prio &&
	       ether_addr_equal(a->system, b->system) &&
	       a->sys_prio == b->sys_prio && a->key == b->key &&
	       !((a->state ^ b->state) & LACP_STATE_AGGREGATION);
}

/* Partner_Admin: nobody, and nothing known of him. */
static const struct bond_lacp_party bond_lacp_nobody = {
	.sys_prio = U16_MAX,
	.key = 1,
	.port_prio = BOND_PORT_PRIO_DEFAULT,
	.port = 1,
};

/* update_Selected, and update_Default_Selected with bond_lacp_nobody */
static void bond_lacp_update_selected(struct bond_lacp_port *port,
				      const struct bond_lacp_party *heard)
{
	if (!bond_lacp_party_same(heard, &port->partner))
		port->selected = BOND_LACP_UNSELECTED;
}

/* update_NTT: @known is what the partner knows of us */
static void bond_lacp_update_ntt(struct bond_lacp_port *port,
				 const struct bond_lacp_party *known)
{
	const u8 mask = LACP_STATE_LACP_ACTIVITY | LACP_STATE_LACP_TIMEOUT |
			LACP_STATE_SYNCHRONIZATION;

	if (!bond_lacp_party_same(known, &port->actor) ||
	    (known->state ^ port->actor.state) & mask)
		port->ntt = true;
}

static void bond_lacp_record_default(struct bond_lacp_port *port)
{
	port->partner = bond_lacp_nobody;
	port->actor.state |= LACP_STATE_DEFAULTED;
}

/* Will LACPDUs keep coming, so that we learn when the link goes away? */
static bool bond_lacp_maintained(const struct bond_lacp_port *port,
				 const struct bond_lacp_party *heard,
				 const struct bond_lacp_party *known)
{
	return bond_lacp_is(heard, LACP_STATE_LACP_ACTIVITY) ||
	       (bond_lacp_is(&port->actor, LACP_STATE_LACP_ACTIVITY) &&
		bond_lacp_is(known, LACP_STATE_LACP_ACTIVITY));
}

/* recordPDU */
static void bond_lacp_record_pdu(struct bond_lacp_port *port,
				 const struct bond_lacp_party *heard,
				 const struct bond_lacp_party *known)
{
	bool agreed = bond_lacp_party_same(known, &port->actor) ||
		      !bond_lacp_is(heard, LACP_STATE_AGGREGATION);

	port->partner = *heard;
	if (!agreed || !bond_lacp_maintained(port, heard, known))
		port->partner.state &= ~LACP_STATE_SYNCHRONIZATION;
	port->actor.state &= ~LACP_STATE_DEFAULTED;
}

/* --- Receive machine, 6.4.12 --- */

static enum bond_lacp_rx_state
bond_lacp_rx_next(const struct bond_lacp_port *port)
{
	bool expired = bond_lacp_timer_expired(port, &port->current_while);
	bool disabled = port->rx == BOND_LACP_LACP_DISABLED;

	if (port->rx == BOND_LACP_INITIALIZE)
		return BOND_LACP_PORT_DISABLED;
	if (port->rx == BOND_LACP_PORT_DISABLED) {
		if (port->moved)
			return BOND_LACP_INITIALIZE;
		if (!port->enabled)
			return port->rx;
		return port->lacp_enabled ? BOND_LACP_EXPIRED :
					    BOND_LACP_LACP_DISABLED;
	}
	/* the standard has no way back from a link that becomes half duplex */
	if (!port->enabled || port->lacp_enabled == disabled)
		return BOND_LACP_PORT_DISABLED;
	if (port->rx == BOND_LACP_EXPIRED && expired)
		return BOND_LACP_DEFAULTED;
	if (port->rx == BOND_LACP_CURRENT && expired)
		return BOND_LACP_EXPIRED;
	return port->rx;
}

static void bond_lacp_rx_enter(struct bond_lacp_port *port)
{
	bond_lacp_timer_stop(&port->current_while);
	switch (port->rx) {
	case BOND_LACP_INITIALIZE:
		port->selected = BOND_LACP_UNSELECTED;
		bond_lacp_record_default(port);
		port->actor.state &= ~LACP_STATE_EXPIRED;
		port->moved = false;
		break;
	case BOND_LACP_PORT_DISABLED:
		port->partner.state &= ~LACP_STATE_SYNCHRONIZATION;
		break;
	case BOND_LACP_LACP_DISABLED:
		port->selected = BOND_LACP_UNSELECTED;
		bond_lacp_record_default(port);
		port->actor.state &= ~LACP_STATE_EXPIRED;
		break;
	case BOND_LACP_EXPIRED:
		port->partner.state &= ~LACP_STATE_SYNCHRONIZATION;
		port->partner.state |= LACP_STATE_LACP_TIMEOUT;
		bond_lacp_timer_start(port, &port->current_while,
				      BOND_LACP_SHORT_TIMEOUT);
		port->actor.state |= LACP_STATE_EXPIRED;
		break;
	case BOND_LACP_DEFAULTED:
		bond_lacp_update_selected(port, &bond_lacp_nobody);
		bond_lacp_record_default(port);
		port->actor.state &= ~LACP_STATE_EXPIRED;
		break;
	case BOND_LACP_CURRENT:
		/* bond_lacp_rx_current() */
		break;
	}
}

static bool bond_lacp_rx_machine(struct bond_lacp_port *port)
{
	enum bond_lacp_rx_state next;
	bool changed = false;

	for (;;) {
		next = bond_lacp_rx_next(port);
		if (next == port->rx)
			return changed;
		port->rx = next;
		bond_lacp_rx_enter(port);
		changed = true;
	}
}

/* On entry to CURRENT, from where it may be entered by an LACPDU. */
static void bond_lacp_rx_current(struct bond_lacp_port *port,
				 const struct bond_lacp_party *heard,
				 const struct bond_lacp_party *known)
{
	bool fast = bond_lacp_is(&port->actor, LACP_STATE_LACP_TIMEOUT);

	port->rx = BOND_LACP_CURRENT;
	bond_lacp_update_selected(port, heard);
	bond_lacp_update_ntt(port, known);
	bond_lacp_record_pdu(port, heard, known);
	bond_lacp_timer_start(port, &port->current_while,
			      fast ? BOND_LACP_SHORT_TIMEOUT :
				     BOND_LACP_LONG_TIMEOUT);
	port->actor.state &= ~LACP_STATE_EXPIRED;
}

/* The partner's port that a dead port of ours had has come to another one. */
static void bond_lacp_moved(const struct bond_lacp_port *to,
			    const struct bond_lacp_party *heard)
{
	struct bond_lacp_port *port;

	bond_lacp_for_each(to->lacp, port)
		if (port != to && port->rx == BOND_LACP_PORT_DISABLED &&
		    port->partner.port == heard->port &&
		    ether_addr_equal(port->partner.system, heard->system))
			port->moved = true;
}

void bond_lacp_pdu_received(struct bond_lacp_port *port,
			    const struct bond_lacpdu *pdu)
{
	struct bond_lacp_party heard, known;

	if (port->rx != BOND_LACP_EXPIRED && port->rx != BOND_LACP_DEFAULTED &&
	    port->rx != BOND_LACP_CURRENT)
		return;
	bond_lacp_party_of(&pdu->actor, &heard);
	bond_lacp_party_of(&pdu->partner, &known);
	bond_lacp_rx_current(port, &heard, &known);
	bond_lacp_moved(port, &heard);
}

/* --- Periodic Transmission machine, 6.4.13 --- */

static enum bond_lacp_periodic_state
bond_lacp_periodic_next(const struct bond_lacp_port *port)
{
	bool fast = bond_lacp_is(&port->partner, LACP_STATE_LACP_TIMEOUT);

	if (!port->enabled || !port->lacp_enabled ||
	    !((port->actor.state | port->partner.state) &
	      LACP_STATE_LACP_ACTIVITY))
		return BOND_LACP_NO_PERIODIC;
	switch (port->periodic) {
	case BOND_LACP_NO_PERIODIC:
		return BOND_LACP_FAST_PERIODIC_TX;
	case BOND_LACP_FAST_PERIODIC_TX:
		if (bond_lacp_timer_expired(port, &port->periodic_timer))
			return BOND_LACP_PERIODIC_TX;
		return fast ? port->periodic : BOND_LACP_SLOW_PERIODIC_TX;
	case BOND_LACP_SLOW_PERIODIC_TX:
		if (fast || bond_lacp_timer_expired(port,
						    &port->periodic_timer))
			return BOND_LACP_PERIODIC_TX;
		return port->periodic;
	default:
		return fast ? BOND_LACP_FAST_PERIODIC_TX :
			      BOND_LACP_SLOW_PERIODIC_TX;
	}
}

static void bond_lacp_periodic_enter(struct bond_lacp_port *port)
{
	switch (port->periodic) {
	case BOND_LACP_NO_PERIODIC:
		bond_lacp_timer_stop(&port->periodic_timer);
		break;
	case BOND_LACP_FAST_PERIODIC_TX:
		bond_lacp_timer_start(port, &port->periodic_timer,
				      BOND_LACP_FAST_PERIODIC);
		break;
	case BOND_LACP_SLOW_PERIODIC_TX:
		bond_lacp_timer_start(port, &port->periodic_timer,
				      BOND_LACP_SLOW_PERIODIC);
		break;
	case BOND_LACP_PERIODIC_TX:
		port->ntt = true;
		break;
	}
}

static void bond_lacp_periodic_machine(struct bond_lacp_port *port)
{
	enum bond_lacp_periodic_state next;

	for (;;) {
		next = bond_lacp_periodic_next(port);
		if (next == port->periodic)
			return;
		port->periodic = next;
		bond_lacp_periodic_enter(port);
	}
}

/* --- Mux machine, 6.4.15 --- */

/* Ready: nobody who is about to use the same aggregator is still waiting. */
static bool bond_lacp_mux_ready(const struct bond_lacp_port *port)
{
	const struct bond_lacp_port *other;

	bond_lacp_for_each(port->lacp, other)
		if (other->agg == port->agg &&
		    other->mux == BOND_LACP_WAITING &&
		    !bond_lacp_timer_expired(other, &other->wait_while))
			return false;
	return true;
}

/* The states of independent control, or of coupled control. */
static enum bond_lacp_mux_state
bond_lacp_mux_next_attached(const struct bond_lacp_port *port)
{
	bool sync = bond_lacp_is(&port->partner, LACP_STATE_SYNCHRONIZATION);
	bool take = port->selected == BOND_LACP_SELECTED && sync;
	bool give = take && bond_lacp_is(&port->partner, LACP_STATE_COLLECTING);

	switch (port->mux) {
	case BOND_LACP_ATTACHED:
		if (port->selected != BOND_LACP_SELECTED)
			return BOND_LACP_DETACHED;
		if (!take)
			return port->mux;
		return port->lacp->coupled ? BOND_LACP_COLLECTING_DISTRIBUTING :
					     BOND_LACP_COLLECTING;
	case BOND_LACP_COLLECTING:
		if (!take)
			return BOND_LACP_ATTACHED;
		return give ? BOND_LACP_DISTRIBUTING : port->mux;
	case BOND_LACP_DISTRIBUTING:
		return give ? port->mux : BOND_LACP_COLLECTING;
	default:
		return take ? port->mux : BOND_LACP_ATTACHED;
	}
}

static enum bond_lacp_mux_state
bond_lacp_mux_next(const struct bond_lacp_port *port)
{
	switch (port->mux) {
	case BOND_LACP_DETACHED:
		return port->selected == BOND_LACP_UNSELECTED ?
			       port->mux : BOND_LACP_WAITING;
	case BOND_LACP_WAITING:
		if (port->selected == BOND_LACP_UNSELECTED)
			return BOND_LACP_DETACHED;
		if (port->selected == BOND_LACP_SELECTED &&
		    bond_lacp_mux_ready(port))
			return BOND_LACP_ATTACHED;
		return port->mux;
	default:
		return bond_lacp_mux_next_attached(port);
	}
}

#define BOND_LACP_MUX_STATE						\
	(LACP_STATE_SYNCHRONIZATION | LACP_STATE_COLLECTING |		\
	 LACP_STATE_DISTRIBUTING)

/* Synchronization, Collecting, Distributing of the Actor, by state */
static const u8 bond_lacp_mux_bits[] = {
	[BOND_LACP_DETACHED]	= 0,
	[BOND_LACP_WAITING]	= 0,
	[BOND_LACP_ATTACHED]	= LACP_STATE_SYNCHRONIZATION,
	[BOND_LACP_COLLECTING]	= LACP_STATE_SYNCHRONIZATION |
				  LACP_STATE_COLLECTING,
	[BOND_LACP_DISTRIBUTING] = BOND_LACP_MUX_STATE,
	[BOND_LACP_COLLECTING_DISTRIBUTING] = BOND_LACP_MUX_STATE,
};

static void bond_lacp_mux_enter(struct bond_lacp_port *port)
{
	port->actor.state &= ~BOND_LACP_MUX_STATE;
	port->actor.state |= bond_lacp_mux_bits[port->mux];
	bond_lacp_timer_stop(&port->wait_while);
	if (port->mux == BOND_LACP_WAITING)
		bond_lacp_timer_start(port, &port->wait_while,
				      BOND_LACP_AGGREGATE_WAIT);
	else
		port->ntt = true;
}

static bool bond_lacp_mux_machine(struct bond_lacp_port *port)
{
	enum bond_lacp_mux_state next;
	bool changed = false;

	for (;;) {
		next = bond_lacp_mux_next(port);
		if (next == port->mux)
			return changed;
		port->mux = next;
		bond_lacp_mux_enter(port);
		changed = true;
	}
}

/* --- Churn Detection machines, 6.4.17 --- */

static enum bond_lacp_churn_state
bond_lacp_churn_next(const struct bond_lacp_port *port,
		     const struct bond_lacp_party *party,
		     enum bond_lacp_churn_state state,
		     const struct bond_lacp_timer *timer)
{
	if (!port->enabled)
		return BOND_LACP_CHURN_MONITOR;
	if (bond_lacp_is(party, LACP_STATE_SYNCHRONIZATION))
		return BOND_LACP_NO_CHURN;
	switch (state) {
	case BOND_LACP_CHURN_MONITOR:
		return bond_lacp_timer_expired(port, timer) ?
			       BOND_LACP_CHURNED : state;
	case BOND_LACP_NO_CHURN:
		return BOND_LACP_CHURN_MONITOR;
	default:
		return state;
	}
}

/* The timer of a port without a link does not run: that is no churn. */
static bool bond_lacp_churn_enter(const struct bond_lacp_port *port,
				  enum bond_lacp_churn_state *state,
				  enum bond_lacp_churn_state next,
				  struct bond_lacp_timer *timer, u16 *churned)
{
	bool changed = next != *state;

	*state = next;
	if (next != BOND_LACP_CHURN_MONITOR || !port->enabled)
		bond_lacp_timer_stop(timer);
	else if (changed || !timer->on)
		bond_lacp_timer_start(port, timer, BOND_LACP_CHURN);
	if (changed && next == BOND_LACP_CHURNED)
		(*churned)++;
	return changed;
}

static bool bond_lacp_actor_churn_machine(struct bond_lacp_port *port)
{
	enum bond_lacp_churn_state next;

	next = bond_lacp_churn_next(port, &port->actor, port->churn_actor,
				    &port->actor_churn_timer);
	return bond_lacp_churn_enter(port, &port->churn_actor, next,
				     &port->actor_churn_timer,
				     &port->actor_churned);
}

static bool bond_lacp_partner_churn_machine(struct bond_lacp_port *port)
{
	enum bond_lacp_churn_state next;

	next = bond_lacp_churn_next(port, &port->partner, port->churn_partner,
				    &port->partner_churn_timer);
	return bond_lacp_churn_enter(port, &port->churn_partner, next,
				     &port->partner_churn_timer,
				     &port->partner_churned);
}

/* --- Transmit machine, 6.4.16 --- */

/*
 * When the next LACPDU may be sent; a past time when it may be sent now.  A
 * device that has just got a link throws frames away until the link watch has
 * been there.
 */
static unsigned long bond_lacp_tx_earliest(const struct bond_lacp_port *port)
{
	if (qdisc_tx_is_noop(port->slave->dev))
		return port->lacp->now + BOND_LACP_SETTLE;
	if (port->sent_cnt < BOND_LACP_TX_MAX)
		return port->lacp->now;
	return port->sent[port->sent_next] +
	       BOND_LACP_FAST_PERIODIC * HZ;
}

static void bond_lacp_tx_send(struct bond_lacp_port *port)
{
	if (!bond_lacp_pdu_queue(port))
		return;
	port->ntt = false;
	port->sent[port->sent_next] = port->lacp->now;
	port->sent_next = (port->sent_next + 1) % BOND_LACP_TX_MAX;
	if (port->sent_cnt < BOND_LACP_TX_MAX)
		port->sent_cnt++;
}

static void bond_lacp_transmit_machine(struct bond_lacp_port *port)
{
	if (port->periodic == BOND_LACP_NO_PERIODIC)
		port->ntt = false;
	if (port->ntt &&
	    time_after_eq(port->lacp->now, bond_lacp_tx_earliest(port)))
		bond_lacp_tx_send(port);
}

void bond_lacp_port_farewell(struct bond_lacp_port *port, bool aggregation)
{
	u8 state = port->actor.state;

	if (port->periodic == BOND_LACP_NO_PERIODIC)
		return;
	port->actor.state &= ~BOND_LACP_MUX_STATE;
	if (!aggregation)
		port->actor.state &= ~LACP_STATE_AGGREGATION;
	bond_lacp_pdu_queue(port);
	/* the mux machine has not moved */
	port->actor.state = state;
}

/* --- all of them --- */

void bond_lacp_port_init(struct bond_lacp_port *port)
{
	port->rx = BOND_LACP_INITIALIZE;
	bond_lacp_rx_enter(port);
	port->periodic = BOND_LACP_NO_PERIODIC;
	port->mux = BOND_LACP_DETACHED;
	port->churn_actor = BOND_LACP_CHURN_MONITOR;
	port->churn_partner = BOND_LACP_CHURN_MONITOR;
}

static bool bond_lacp_port_round(struct bond_lacp_port *port)
{
	bool changed;

	changed = bond_lacp_rx_machine(port);
	changed |= bond_lacp_mux_machine(port);
	changed |= bond_lacp_actor_churn_machine(port);
	changed |= bond_lacp_partner_churn_machine(port);
	if (port->lacp->running && port->mux == BOND_LACP_DETACHED &&
	    port->selected == BOND_LACP_UNSELECTED) {
		bond_lacp_agg_select(port);
		changed = true;
	}
	return changed;
}

static bool bond_lacp_round(struct bond_lacp *lacp)
{
	struct bond_lacp_port *port;
	bool changed = false;

	bond_lacp_for_each(lacp, port)
		changed |= bond_lacp_port_round(port);
	if (lacp->running)
		changed |= bond_lacp_active_choose(lacp);
	return changed;
}

/* From the states to what others do: who takes frames, who gives them. */
static bool bond_lacp_port_output(struct bond_lacp_port *port)
{
	bool serves = bond_lacp_fallback_on(port);
	bool tx, rx;

	tx = serves || bond_lacp_is(&port->actor, LACP_STATE_DISTRIBUTING);
	rx = serves || bond_lacp_is(&port->actor, LACP_STATE_COLLECTING);
	if (tx == port->tx_on && rx == port->rx_on)
		return false;
	WRITE_ONCE(port->rx_on, rx);
	WRITE_ONCE(port->tx_on, tx);
	if (!tx)
		bond_slaves_drop(port->lacp->bond, port->slave);
	return true;
}

bool bond_lacp_machines_run(struct bond_lacp *lacp)
{
	struct bond_lacp_port *port;
	unsigned int rounds = 0;
	bool changed = false;

	lockdep_assert_held(&lacp->lock);
	lacp->again = true;
	while (lacp->again && rounds++ < BOND_LACP_ROUNDS) {
		lacp->again = bond_lacp_round(lacp);
		changed |= lacp->again;
	}
	bond_lacp_for_each(lacp, port) {
		changed |= bond_lacp_port_output(port);
		bond_lacp_periodic_machine(port);
		bond_lacp_transmit_machine(port);
		bond_lacp_why_update(port);
	}
	return changed;
}

static void bond_lacp_sooner(const struct bond_lacp *lacp, unsigned long at,
			     bool *any, unsigned long *next)
{
	/* what has expired has been acted on */
	if (time_before_eq(at, lacp->now))
		return;
	if (!*any || time_before(at, *next))
		*next = at;
	*any = true;
}

/* What could be sent now, and has not been, has found no memory. */
static unsigned long bond_lacp_tx_retry(const struct bond_lacp_port *port)
{
	unsigned long at = bond_lacp_tx_earliest(port);

	return time_after(at, port->lacp->now) ? at : port->lacp->now + 1;
}

bool bond_lacp_machines_next(const struct bond_lacp *lacp, unsigned long *next)
{
	const struct bond_lacp_port *port;
	bool any = false;
	size_t i;

	if (lacp->again)
		bond_lacp_sooner(lacp, lacp->now + 1, &any, next);
	bond_lacp_for_each(lacp, port) {
		const struct bond_lacp_timer *const timers[] = {
			&port->current_while, &port->periodic_timer,
			&port->wait_while, &port->actor_churn_timer,
			&port->partner_churn_timer,
		};

		for (i = 0; i < ARRAY_SIZE(timers); i++)
			if (timers[i]->on)
				bond_lacp_sooner(lacp, timers[i]->at, &any,
						 next);
		if (port->enabled)
			bond_lacp_sooner(lacp, bond_lacp_fallback_at(port),
					 &any, next);
		if (port->ntt)
			bond_lacp_sooner(lacp, bond_lacp_tx_retry(port), &any,
					 next);
	}
	return any;
}
