// SPDX-License-Identifier: GPL-2.0
/*
 * Two systems back to back that speak 802.3ad, in user space: what the machines
 * call, what bond_3ad.c does for them, wires between ports, and a clock that
 * jumps from event to event.  After each run it checks rules that must hold
 * whatever happens.
 *
 * The systems are driven as bond_3ad.c does it: links and options change, the
 * machines are run, what they want to send is delivered (or lost).
 */
#include <stdarg.h>
#include <stdio.h>

#include "lacp_world.h"

#define WIRE_MAX	1024

struct system sys[2];
unsigned long jiffies;
unsigned long sent;

/* PDUs under way: they are taken in when nobody holds a lock */
static struct wire {
	struct system *to;
	unsigned int port;
	struct bond_lacpdu pdu;
} wire[WIRE_MAX];
static unsigned int wire_len;

const char *now_doing = "nothing";

void die(const char *fmt, ...)
{
	va_list args;

	printf("not ok: %s, at %lu.%03lu s: ", now_doing, jiffies / HZ,
	       jiffies % HZ * 1000 / HZ);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	exit(1);
}

/* --- what the machines call --- */

void bond_slaves_drop(struct bonding *bond, const struct slave *slave)
{
	struct system *s = (struct system *)((char *)bond -
					     offsetof(struct system, bond));
	const struct bond_lacp_port *port = slave->mode_priv;

	if (port->tx_on)
		die("a port is dropped that may send");
	s->dropped++;
}

void bond_lacp_why_update(struct bond_lacp_port *port)
{
	if (port->tx_on && !port->enabled)
		die("a port sends that has no link");
}

static void tlv_fill(struct bond_lacp_tlv *tlv,
		     const struct bond_lacp_party *party)
{
	tlv->sys_prio = htons(party->sys_prio);
	memcpy(tlv->system, party->system, ETH_ALEN);
	tlv->key = htons(party->key);
	tlv->port_prio = htons(party->port_prio);
	tlv->port = htons(party->port);
	tlv->state = party->state;
}

void bond_lacp_party_of(const struct bond_lacp_tlv *tlv,
			struct bond_lacp_party *party)
{
	party->sys_prio = ntohs(tlv->sys_prio);
	memcpy(party->system, tlv->system, ETH_ALEN);
	party->key = ntohs(tlv->key);
	party->port_prio = ntohs(tlv->port_prio);
	party->port = ntohs(tlv->port);
	party->state = tlv->state;
}

static struct system *system_of(const struct bond_lacp_port *port)
{
	return port->lacp == &sys[0].lacp ? &sys[0] : &sys[1];
}

static unsigned int index_of(const struct system *s,
			     const struct bond_lacp_port *port)
{
	unsigned int i;

	for (i = 0; i < PORTS_MAX; i++)
		if (s->ports[i] == port)
			return i;
	die("a port sends that is not there");
	return 0;
}

bool bond_lacp_pdu_queue(struct bond_lacp_port *port)
{
	struct system *s = system_of(port);
	unsigned int i = index_of(s, port);
	struct wire *w;

	sent++;
	if (s->lost[i])
		return true;
	if (wire_len == WIRE_MAX)
		die("LACPDUs without end");
	w = &wire[wire_len++];
	w->to = s->peer;
	w->port = i;
	tlv_fill(&w->pdu.actor, &port->actor);
	tlv_fill(&w->pdu.partner, &port->partner);
	return true;
}

/* --- what bond_3ad.c does --- */

static bool may_serve(const struct bond_lacp_port *port)
{
	return port->tx_on || port->rx_on;
}

/* Rules for one system at rest. */
static void check_rest(struct system *s)
{
	const struct bond_lacp_port *port, *other;

	if (s->lacp.again)
		die("the machines do not come to rest");
	bond_lacp_for_each(&s->lacp, port) {
		if (may_serve(port) && !port->enabled)
			die("port %u serves without a link", port->actor.port);
		if (port->tx_on && !port->rx_on)
			die("port %u sends but does not receive",
			    port->actor.port);
		if (may_serve(port) && port->agg != s->lacp.active &&
		    s->lacp.fallback != BOND_LACP_FALLBACK_ALL)
			die("port %u of another aggregator serves",
			    port->actor.port);
		bond_lacp_for_each(&s->lacp, other) {
			if (other == port || !port->agg ||
			    other->agg != port->agg)
				continue;
			if (port->agg->individual)
				die("individual ports together");
			if (port->mux == BOND_LACP_DETACHED ||
			    other->mux == BOND_LACP_DETACHED)
				continue;
			if (!ether_addr_equal(port->partner.system,
					      other->partner.system) ||
			    port->partner.key != other->partner.key)
				die("ports of different partners together");
		}
	}
}

void run(struct system *s)
{
	s->lacp.now = jiffies;
	bond_lacp_machines_run(&s->lacp);
	check_rest(s);
}

void deliver(void)
{
	struct wire w;
	struct bond_lacp_port *port;

	while (wire_len) {
		w = wire[0];
		memmove(wire, wire + 1, --wire_len * sizeof(wire[0]));
		port = w.to->ports[w.port];
		if (!port || !w.to->lacp.running || !port->enabled)
			continue;
		w.to->lacp.now = jiffies;
		bond_lacp_pdu_received(port, &w.pdu);
		run(w.to);
	}
}

void run_both(void)
{
	run(&sys[0]);
	run(&sys[1]);
	deliver();
}

/* Advance the clock, event by event. */
void pass(double seconds)
{
	unsigned long end = jiffies + (unsigned long)(seconds * HZ);
	unsigned long next, at;
	int i;

	for (;;) {
		at = end;
		for (i = 0; i < 2; i++)
			if (sys[i].lacp.running &&
			    bond_lacp_machines_next(&sys[i].lacp, &next) &&
			    time_before(next, at))
				at = next;
		if (time_before_eq(at, jiffies) && at != end)
			die("a timer that is over is waited for");
		jiffies = at;
		run_both();
		if (at == end)
			return;
	}
}

void identity(struct system *s, struct bond_lacp_port *port)
{
	port->actor.state |= LACP_STATE_AGGREGATION;
	port->actor.state &= ~(LACP_STATE_LACP_ACTIVITY |
			       LACP_STATE_LACP_TIMEOUT);
	if (s->lacp.active_mode)
		port->actor.state |= LACP_STATE_LACP_ACTIVITY;
	if (s->lacp.fast)
		port->actor.state |= LACP_STATE_LACP_TIMEOUT;
	memcpy(port->actor.system, s->mac, ETH_ALEN);
	port->ntt = true;
}

void link_set(struct system *s, unsigned int i, bool up, u32 speed,
	      bool full)
{
	struct bond_lacp_port *port = s->ports[i];

	if (!port)
		return;
	port->speed = speed;
	port->actor.key = bond_lacp_key(0, up ? speed : 0, up && full);
	port->lacp_enabled = full;
	if (!port->enabled)
		port->since = jiffies;
	port->enabled = up && s->lacp.running;
	if (port->enabled && port->actor.key != port->select_key)
		port->selected = BOND_LACP_UNSELECTED;
}

void wire_up(unsigned int i, bool up)
{
	link_set(&sys[0], i, up, 10000, true);
	link_set(&sys[1], i, up, 10000, true);
	run_both();
}

void port_add(struct system *s, unsigned int i)
{
	struct bond_lacp_port *port = calloc(1, sizeof(*port));

	s->slaves[i].bond = &s->bond;
	s->slaves[i].mode_priv = port;
	port->slave = &s->slaves[i];
	port->lacp = &s->lacp;
	port->actor.port = ++s->next_port;
	port->own.id = port->actor.port;
	port->actor.sys_prio = 65535;
	port->actor.port_prio = BOND_PORT_PRIO_DEFAULT;
	bond_lacp_port_init(port);
	list_add_tail(&port->node, &s->lacp.ports);
	s->ports[i] = port;
	identity(s, port);
}

void port_del(struct system *s, unsigned int i)
{
	struct bond_lacp_port *port = s->ports[i];

	if (!port)
		return;
	s->lacp.now = jiffies;
	bond_lacp_port_farewell(port, false);
	bond_lacp_agg_leave(port);
	list_del(&port->node);
	s->ports[i] = NULL;
	free(port);
	run(s);
}

void stop(struct system *s)
{
	unsigned int i;

	s->lacp.now = jiffies;
	for (i = 0; i < PORTS_MAX; i++)
		if (s->ports[i])
			bond_lacp_port_farewell(s->ports[i], true);
	s->lacp.running = false;
	for (i = 0; i < PORTS_MAX; i++)
		link_set(s, i, true, 10000, true);
	run(s);
}

static void system_make(int n, unsigned int ports, bool coupled)
{
	struct system *s = &sys[n];
	unsigned int i;

	for (i = 0; i < PORTS_MAX; i++)
		free(s->ports[i]);
	memset(s, 0, sizeof(*s));
	s->lacp.bond = &s->bond;
	s->lacp.ports.next = &s->lacp.ports;
	s->lacp.ports.prev = &s->lacp.ports;
	s->lacp.running = true;
	s->lacp.coupled = coupled;
	s->lacp.active_mode = true;
	s->lacp.fallback = BOND_LACP_FALLBACK_SINGLE;
	s->peer = &sys[!n];
	s->mac[0] = 2;
	s->mac[5] = n + 1;
	for (i = 0; i < ports; i++)
		port_add(s, i);
}

void make(const char *what, unsigned int ports, bool coupled)
{
	now_doing = what;
	wire_len = 0;
	system_make(0, ports, coupled);
	system_make(1, ports, coupled);
}

static const char *port_text(const struct bond_lacp_port *port)
{
	static char text[100];

	snprintf(text, sizeof(text),
		 "rx %d mux %d selected %d actor %#x partner %#x", port->rx,
		 port->mux, port->selected, port->actor.state,
		 port->partner.state);
	return text;
}

void expect(int n, unsigned int i, bool tx)
{
	const struct bond_lacp_port *port = sys[n].ports[i];

	if (port->tx_on != tx)
		die("port %u of system %d %s: %s", i, n,
		    tx ? "does not send" : "sends", port_text(port));
}

void expect_all(unsigned int ports, bool tx)
{
	unsigned int i;

	for (i = 0; i < ports; i++) {
		expect(0, i, tx);
		expect(1, i, tx);
	}
}
