// SPDX-License-Identifier: GPL-2.0
/*
 * The machines of 802.3ad in user space: two systems back to back, a clock that
 * jumps from event to event, and rules that must hold whatever happens.
 *
 * Usage: lacp_unit [SEED [ROUNDS]]
 *
 * The systems are driven as bond_3ad.c does it: links and options change, the
 * machines are run, what they want to send is delivered (or lost).
 */
#include <stdarg.h>
#include <stdio.h>

#include "bond_3ad.h"

#define PORTS_MAX	4
#define WIRE_MAX	1024

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

static struct system sys[2];
static unsigned long jiffies;
static unsigned long sent;

/* PDUs under way: they are taken in when nobody holds a lock */
static struct wire {
	struct system *to;
	unsigned int port;
	struct bond_lacpdu pdu;
} wire[WIRE_MAX];
static unsigned int wire_len;

static const char *now_doing = "nothing";

static void die(const char *fmt, ...)
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

static void run(struct system *s)
{
	s->lacp.now = jiffies;
	bond_lacp_machines_run(&s->lacp);
	check_rest(s);
}

static void deliver(void)
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

static void run_both(void)
{
	run(&sys[0]);
	run(&sys[1]);
	deliver();
}

/* Advance the clock, event by event. */
static void pass(double seconds)
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

static void identity(struct system *s, struct bond_lacp_port *port)
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

static void link_set(struct system *s, unsigned int i, bool up, u32 speed,
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

static void wire_up(unsigned int i, bool up)
{
	link_set(&sys[0], i, up, 10000, true);
	link_set(&sys[1], i, up, 10000, true);
	run_both();
}

static void port_add(struct system *s, unsigned int i)
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

static void port_del(struct system *s, unsigned int i)
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

static void stop(struct system *s)
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

static void make(const char *what, unsigned int ports, bool coupled)
{
	now_doing = what;
	wire_len = 0;
	system_make(0, ports, coupled);
	system_make(1, ports, coupled);
}

static void expect(int n, unsigned int i, bool tx)
{
	const struct bond_lacp_port *port = sys[n].ports[i];

	if (port->tx_on != tx)
		die("port %u of system %d %s: rx %d mux %d selected %d actor %#x partner %#x",
		    i, n, tx ? "does not send" : "sends", port->rx, port->mux,
		    port->selected, port->actor.state, port->partner.state);
}

static void expect_all(unsigned int ports, bool tx)
{
	unsigned int i;

	for (i = 0; i < ports; i++) {
		expect(0, i, tx);
		expect(1, i, tx);
	}
}

/* --- cases --- */

static void case_converge(bool coupled)
{
	unsigned int i;

	make("converge", 3, coupled);
	for (i = 0; i < 3; i++)
		wire_up(i, true);
	pass(1.9);
	for (i = 0; i < 3; i++)
		if (sys[0].ports[i]->mux > BOND_LACP_ATTACHED)
			die("no wait for others");
	pass(1.2);
	expect_all(3, true);
	if (bond_lacp_agg_ports(&sys[0].lacp, sys[0].lacp.active, 0) != 3)
		die("not one aggregator");
	sent = 0;
	pass(60);
	if (sent > 3 * 2 * 3)
		die("%lu LACPDUs in a minute of peace", sent);
	expect_all(3, true);
}

static void case_link(bool coupled)
{
	make("link", 2, coupled);
	wire_up(0, true);
	wire_up(1, true);
	pass(4);
	expect_all(2, true);
	wire_up(1, false);
	expect(0, 1, false);
	expect(1, 1, false);
	pass(1);
	expect(0, 0, true);
	wire_up(1, true);
	pass(1.2);
	expect_all(2, true);
}

static void case_silence(void)
{
	make("silence", 2, true);
	sys[0].lacp.fast = true;
	identity(&sys[0], sys[0].ports[0]);
	identity(&sys[0], sys[0].ports[1]);
	wire_up(0, true);
	wire_up(1, true);
	pass(4);
	expect_all(2, true);
	sys[1].lost[1] = true;
	pass(2.0 - 0.01);
	expect(0, 1, true);
	pass(1.1);
	expect(0, 1, false);
	if (sys[0].ports[1]->rx != BOND_LACP_EXPIRED)
		die("not EXPIRED");
	pass(3);
	if (sys[0].ports[1]->rx != BOND_LACP_DEFAULTED)
		die("not DEFAULTED");
	expect(0, 0, true);
	sys[1].lost[1] = false;
	pass(4);
	expect_all(2, true);
}

static void case_farewell(void)
{
	make("farewell", 2, true);
	wire_up(0, true);
	wire_up(1, true);
	pass(4);
	port_del(&sys[0], 1);
	deliver();
	expect(1, 1, false);
	expect(1, 0, true);
	port_add(&sys[0], 1);
	link_set(&sys[0], 1, true, 10000, true);
	pass(4);
	expect_all(2, true);
	stop(&sys[1]);
	deliver();
	expect(0, 0, false);
	expect(0, 1, false);
}

/* The one that brought the aggregator goes, the others stay as they are. */
static void case_heir(void)
{
	make("heir", 3, true);
	wire_up(0, true);
	wire_up(1, true);
	wire_up(2, true);
	pass(4);
	port_del(&sys[0], 0);
	deliver();
	expect(0, 1, true);
	expect(0, 2, true);
	if (sys[0].lacp.active != sys[0].ports[1]->agg ||
	    (sys[0].lacp.active != &sys[0].ports[1]->own &&
	     sys[0].lacp.active != &sys[0].ports[2]->own))
		die("the aggregator has gone with the port");
	pass(1);
	expect(0, 1, true);
}

static void case_fallback(void)
{
	struct bond_lacp *lacp = &sys[0].lacp;

	make("fallback", 2, true);
	sys[0].lost[0] = sys[0].lost[1] = true;
	sys[1].lost[0] = sys[1].lost[1] = true;
	sys[0].ports[1]->actor.port_prio = 10;
	wire_up(0, true);
	expect(0, 0, true);
	wire_up(1, true);
	expect(0, 1, true);
	expect(0, 0, false);
	lacp->fallback = BOND_LACP_FALLBACK_ALL;
	run(&sys[0]);
	expect(0, 0, true);
	expect(0, 1, true);
	lacp->fallback = BOND_LACP_FALLBACK_NONE;
	run(&sys[0]);
	expect(0, 0, false);
	expect(0, 1, false);
	if (lacp->active)
		die("an active aggregator of nobody");
	lacp->fallback = BOND_LACP_FALLBACK_SINGLE;
	lacp->fallback_after = 20 * HZ;
	pass(19.9);
	expect(0, 1, false);
	pass(0.2);
	expect(0, 1, true);
	sys[0].lost[0] = sys[1].lost[0] = false;
	/* nobody knows of the other: both send every 30 seconds */
	pass(35);
	expect(0, 0, true);
	expect(0, 1, false);
}

static void case_passive(void)
{
	make("passive", 1, true);
	sys[0].lacp.active_mode = false;
	sys[1].lacp.active_mode = false;
	identity(&sys[0], sys[0].ports[0]);
	identity(&sys[1], sys[1].ports[0]);
	sent = 0;
	wire_up(0, true);
	pass(100);
	if (sent)
		die("%lu LACPDUs between passive ends", sent);
	sys[1].lacp.active_mode = true;
	identity(&sys[1], sys[1].ports[0]);
	pass(5);
	expect(0, 0, true);
	expect(1, 0, true);
}

static void case_churn(void)
{
	struct bond_lacp_port *port;

	make("churn", 1, true);
	sys[1].lost[0] = true;
	wire_up(0, true);
	pass(59);
	port = sys[0].ports[0];
	if (port->churn_partner != BOND_LACP_CHURN_MONITOR)
		die("churned too early");
	pass(2);
	if (port->churn_partner != BOND_LACP_CHURNED ||
	    port->partner_churned != 1)
		die("not churned");
	sys[1].lost[0] = false;
	pass(32);
	pass(4);
	if (port->churn_partner != BOND_LACP_NO_CHURN)
		die("still churned");
}

static void case_keys(void)
{
	static const u32 speeds[] = {
		1, 10, 100, 1000, 2500, 5000, 10000, 14000, 20000, 25000,
		40000, 50000, 56000, 80000, 100000, 200000, 400000, 800000,
		1600000,
	};
	size_t i;

	now_doing = "keys";
	for (i = 0; i < ARRAY_SIZE(speeds); i++)
		if (bond_lacp_key(3, speeds[i], true) !=
		    (3 << 6 | (i + 1) << 1 | 1))
			die("key of %u", speeds[i]);
	if (bond_lacp_key(1023, 0, false) != 1023 << 6 ||
	    bond_lacp_key(0, 123, true) != 1)
		die("key of an unknown speed");
}

/* --- whatever comes --- */

static unsigned int rnd(unsigned int n)
{
	return (unsigned int)random() % n;
}

static void garbage(struct system *s, unsigned int i)
{
	struct bond_lacpdu pdu;
	u8 *byte = (u8 *)&pdu;
	size_t k;

	if (!s->ports[i] || !s->ports[i]->enabled)
		return;
	for (k = 0; k < sizeof(pdu); k++)
		byte[k] = rnd(4) ? rnd(3) : rnd(256);
	s->lacp.now = jiffies;
	bond_lacp_pdu_received(s->ports[i], &pdu);
	run(s);
}

static void disturb(void)
{
	struct system *s = &sys[rnd(2)];
	unsigned int i = rnd(PORTS_MAX);

	switch (rnd(10)) {
	case 0:
		wire_up(i, rnd(2));
		break;
	case 1:
		link_set(s, i, rnd(2), rnd(2) ? 1000 : 10000, rnd(4));
		break;
	case 2:
		s->lost[i] = rnd(2);
		break;
	case 3:
		garbage(s, i);
		break;
	case 4:
		if (s->ports[i])
			port_del(s, i);
		else
			port_add(s, i);
		break;
	case 5:
		s->lacp.select = rnd(4);
		break;
	case 6:
		s->lacp.fallback = rnd(4);
		break;
	case 7:
		s->lacp.coupled = rnd(2);
		break;
	case 8:
		if (s->lacp.running) {
			stop(s);
		} else {
			s->lacp.running = true;
			for (i = 0; i < PORTS_MAX; i++)
				link_set(s, i, rnd(2), 10000, true);
		}
		break;
	case 9:
		s->mac[4] = rnd(3);
		for (i = 0; i < PORTS_MAX; i++)
			if (s->ports[i])
				identity(s, s->ports[i]);
		break;
	}
	run_both();
}

/* And when it is over, all is well again. */
static void calm(void)
{
	unsigned int i, n;

	for (n = 0; n < 2; n++) {
		sys[n].lacp.running = true;
		sys[n].lacp.select = BOND_LACP_SELECT_STABLE;
		sys[n].lacp.fallback = BOND_LACP_FALLBACK_SINGLE;
		memset(sys[n].lost, 0, sizeof(sys[n].lost));
		for (i = 0; i < PORTS_MAX; i++)
			if (!sys[n].ports[i])
				port_add(&sys[n], i);
	}
	for (i = 0; i < PORTS_MAX; i++)
		wire_up(i, true);
	pass(200);
	expect_all(PORTS_MAX, true);
}

static void case_random(unsigned int rounds)
{
	unsigned int i, k;

	make("random", PORTS_MAX, true);
	for (i = 0; i < rounds; i++) {
		for (k = 0; k < 40; k++) {
			disturb();
			pass(rnd(500) / 100.0);
		}
		calm();
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 2 ? atoi(argv[2]) : 300;

	srandom(argc > 1 ? atoi(argv[1]) : 1);
	jiffies = -300UL * HZ;	/* as the kernel has it: wraps early */
	case_keys();
	case_converge(true);
	case_converge(false);
	case_link(true);
	case_link(false);
	case_silence();
	case_farewell();
	case_heir();
	case_fallback();
	case_passive();
	case_churn();
	case_random(rounds);
	printf("ok: 802.3ad, %u rounds\n", rounds);
	return 0;
}
