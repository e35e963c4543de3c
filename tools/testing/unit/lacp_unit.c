// SPDX-License-Identifier: GPL-2.0
/*
 * The machines of 802.3ad in user space: single changes of state, and long
 * random histories at whose end all has to be well again.
 *
 * Usage: lacp_unit [SEED [ROUNDS]]
 */
#include <stdio.h>

#include "lacp_world.h"

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

static void lost_set(unsigned int i, bool lost)
{
	sys[0].lost[i] = lost;
	sys[1].lost[i] = lost;
}

static void case_fallback(void)
{
	struct bond_lacp *lacp = &sys[0].lacp;

	make("fallback", 2, true);
	lost_set(0, true);
	lost_set(1, true);
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
	lost_set(0, false);
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
