// SPDX-License-Identifier: GPL-2.0
/*
 * The ARP/NS monitor: a link is up while answers come back by it.
 *
 * Time runs in ticks, one every arp_interval.  At a tick the answers of the
 * interval that ends are counted, links are judged by that, and the next probes
 * are sent.  A link fails when arp_missed_max intervals in a row were silent,
 * each of them a whole one: counting intervals, not time, keeps a monitor that
 * was held up from blaming the links for it.  A slave that starts anew, because
 * it was enslaved, has become active or has other targets, has two intervals
 * before its first verdict.
 *
 * Modes in which all slaves send have all of them ask.  With
 * BOND_CAP_ARP_ACTIVE the active slave asks; the others are judged by what they
 * overhear, one interval more leniently, and when no slave is active they ask
 * one after another until one of them gets an answer.
 *
 * Owns bond->arp_work, bond->arp and the slaves' arp, with the exceptions that
 * bond.h names.  The work counts and looks under RCU; it takes RTNL only to
 * change a link and never waits for it, so that it can be cancelled by whoever
 * holds it.  Called by bond_miimon.c, where monitors start and stop, and by
 * bond_link.c when a carrier changes.
 */
#include <linux/ipv6.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "bond_arpmon.h"

/* Ticks without a verdict for a slave that starts anew. */
#define BOND_ARP_GRACE		2

static unsigned long bond_arp_interval(const struct bonding *bond)
{
	return max(msecs_to_jiffies(READ_ONCE(bond->params.arp_interval)), 1UL);
}

static bool bond_arp_active_only(const struct bonding *bond)
{
	return bond_has_cap(bond, BOND_CAP_ARP_ACTIVE);
}

/* --- counting --- */

/* The sources heard since the last time, which start anew. */
static void bond_arp_heard_take(struct bond_arp_slave *arp, unsigned long *got)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(arp->heard); i++)
		got[i] = xchg(&arp->heard[i], 0);
}

static void bond_arp_new_start(struct bond_arp_slave *arp)
{
	DECLARE_BITMAP(old, BOND_ARP_SRC_MAX);

	bond_arp_heard_take(arp, old);
	memset(arp->silent, 0, sizeof(arp->silent));
	arp->missed = 0;
	arp->age = 0;
	arp->asked = false;
	arp->answered = false;
}

/*
 * A slave that has just become active is judged by what it does from now on.
 * Its first request proves nothing to those who overhear it, as it has no
 * answer yet: for them this is the part of an interval, too.
 */
static void bond_arp_asker_changed(struct bonding *bond)
{
	struct slave *active = rcu_dereference(bond->curr_active_slave);
	struct slave *slave;

	bond_for_each_slave_rcu(bond, slave) {
		if (slave == active)
			bond_arp_new_start(&slave->arp);
		else
			slave->arp.age = 0;
	}
}

static void bond_arp_active_notice(struct bonding *bond)
{
	u32 seq;

	/* before the slave: see bond_arpmon_active_changed() */
	seq = smp_load_acquire(&bond->arp.active_seq);
	if (seq == bond->arp.noticed)
		return;
	bond->arp.noticed = seq;
	if (!bond_arp_active_only(bond))
		return;
	rcu_read_lock();
	bond_arp_asker_changed(bond);
	rcu_read_unlock();
}

static void bond_arp_silence_count(struct bond_arp_slave *arp,
				   const unsigned long *got)
{
	bool whole = arp->age || arp->asked;
	unsigned int i;

	for (i = 0; i < BOND_ARP_SRC_MAX; i++) {
		if (test_bit(i, got))
			arp->silent[i] = 0;
		else if (whole && arp->silent[i] < U16_MAX)
			arp->silent[i]++;
	}
}

/* One target is enough: the source that was heard last. */
static void bond_arp_sum_any(struct bond_arp_slave *arp,
			     const unsigned long *got)
{
	unsigned int i;

	arp->answered = !bitmap_empty(got, BOND_ARP_SRC_MAX);
	arp->missed = arp->silent[0];
	for (i = 1; i < BOND_ARP_SRC_MAX; i++)
		arp->missed = min(arp->missed, arp->silent[i]);
}

/* Every target has to answer: the one that was heard longest ago. */
static void bond_arp_sum_all(struct bond_arp_slave *arp,
			     const unsigned long *got,
			     const struct bond_arp_targets *targets)
{
	unsigned int i;

	arp->answered = bitmap_subset(targets->mask, got, BOND_ARP_SRC_MAX);
	arp->missed = 0;
	for_each_set_bit(i, targets->mask, BOND_ARP_SRC_MAX)
		arp->missed = max(arp->missed, arp->silent[i]);
}

/*
 * Who should ask and could not was not answered either, whatever it heard.  The
 * interval in which a slave starts is a part of one, and is not counted unless
 * it was asked at its beginning.
 */
static void bond_arp_slave_count(struct bonding *bond,
				 const struct bond_arp_targets *targets,
				 struct slave *slave)
{
	bool asking = bond_arp_is_asking(bond, slave);
	struct bond_arp_slave *arp = &slave->arp;
	DECLARE_BITMAP(got, BOND_ARP_SRC_MAX);

	bond_arp_heard_take(arp, got);
	if (asking && !arp->asked)
		bitmap_zero(got, BOND_ARP_SRC_MAX);
	bond_arp_silence_count(arp, got);
	if (READ_ONCE(bond->params.arp_all_targets) &&
	    bond_arp_active_only(bond) && bond_arp_is_validated(bond, asking))
		bond_arp_sum_all(arp, got, targets);
	else
		bond_arp_sum_any(arp, got);
	arp->asked = false;
	if (arp->age < U8_MAX)
		arp->age++;
}

static void bond_arp_count(struct bonding *bond)
{
	const struct bond_arp_targets *targets;
	struct slave *slave;

	targets = rcu_dereference(bond->arp_targets);
	if (!targets)
		return;
	bond_for_each_slave_rcu(bond, slave)
		if (bond_arp_is_listening(slave))
			bond_arp_slave_count(bond, targets, slave);
}

/* --- judging --- */

static u8 bond_arp_judge_up(const struct bonding *bond,
			    const struct slave *slave)
{
	const struct bond_arp_slave *arp = &slave->arp;
	u32 limit = READ_ONCE(bond->params.arp_missed_max);

	if (!bond_arp_is_asking(bond, slave))
		limit++;
	return arp->age > BOND_ARP_GRACE && arp->missed >= limit ?
	       BOND_LINK_DOWN : BOND_LINK_UP;
}

/*
 * Without a target nothing can be learned but what the carrier says.  Delays of
 * the MII monitor that were under way when it was turned off end here.
 */
static u8 bond_arp_next(const struct bonding *bond,
			const struct bond_arp_targets *targets,
			const struct slave *slave)
{
	u8 link = READ_ONCE(slave->link);

	if (!bond_dev_is_up(slave->dev))
		return BOND_LINK_DOWN;
	if (bitmap_empty(targets->mask, BOND_ARP_SRC_MAX))
		return BOND_LINK_UP;
	if (link == BOND_LINK_UP || link == BOND_LINK_FAIL)
		return bond_arp_judge_up(bond, slave);
	return slave->arp.answered ? BOND_LINK_UP : BOND_LINK_DOWN;
}

static bool bond_arp_pending(const struct bonding *bond)
{
	const struct bond_arp_targets *targets;
	struct slave *slave;

	targets = rcu_dereference(bond->arp_targets);
	if (!targets)
		return false;
	bond_for_each_slave_rcu(bond, slave)
		if (bond_arp_next(bond, targets, slave) !=
		    READ_ONCE(slave->link))
			return true;
	return false;
}

/*
 * All verdicts are carried out before the bond is brought in line: none of the
 * slaves that fail at the same tick must become active in between.
 */
static void bond_arp_commit(struct bonding *bond)
{
	const struct bond_arp_targets *targets;
	struct slave *slave;
	u8 next;

	ASSERT_RTNL();
	targets = rtnl_dereference(bond->arp_targets);
	if (!targets)
		return;
	bond_arp_active_notice(bond);
	bond_for_each_slave(bond, slave) {
		next = bond_arp_next(bond, targets, slave);
		if (next != slave->link)
			bond_link_set(bond, slave, next);
	}
	bond_apply(bond);
}

/* --- searching --- */

static void bond_arp_search_end(struct bonding *bond)
{
	struct slave *slave;

	bond_for_each_slave_rcu(bond, slave)
		if (slave->arp.searching)
			WRITE_ONCE(slave->arp.searching, false);
}

/*
 * The slave that comes after the one whose turn it is.  One at a time: with the
 * same address on several ports a switch would not know where to send answers.
 */
static struct slave *bond_arp_search_next(const struct bonding *bond)
{
	struct slave *first = NULL;
	struct slave *slave;
	bool after = false;

	bond_for_each_slave_rcu(bond, slave) {
		if (after && bond_dev_is_up(slave->dev))
			return slave;
		if (!first && bond_dev_is_up(slave->dev))
			first = slave;
		if (slave->arp.searching)
			after = true;
	}
	return first;
}

static void bond_arp_search(struct bonding *bond)
{
	struct slave *next = NULL;

	if (bond_arp_active_only(bond) &&
	    !rcu_access_pointer(bond->curr_active_slave))
		next = bond_arp_search_next(bond);
	bond_arp_search_end(bond);
	if (next)
		WRITE_ONCE(next->arp.searching, true);
}

/* --- the work --- */

/* Return: false when there is something to do and RTNL is taken. */
static bool bond_arp_look(struct bonding *bond, bool tick)
{
	bool pending;

	rcu_read_lock();
	bond_arp_active_notice(bond);
	if (tick)
		bond_arp_count(bond);
	pending = bond_arp_pending(bond);
	rcu_read_unlock();

	if (!pending)
		return true;
	if (!rtnl_trylock())
		return false;
	bond_arp_commit(bond);
	rtnl_unlock();
	return true;
}

/* A tick that comes late puts off the next: answers have a whole interval. */
static void bond_arp_tick_end(struct bonding *bond)
{
	rcu_read_lock();
	bond_arp_active_notice(bond);
	bond_arp_search(bond);
	bond_arp_probe(bond);
	rcu_read_unlock();
	bond->arp.next = jiffies + bond_arp_interval(bond);
}

static unsigned long bond_arp_delay(const struct bonding *bond)
{
	long left = bond->arp.next - jiffies;

	return max(left, 0L);
}

static void bond_arpmon_work(struct work_struct *work)
{
	struct bonding *bond = container_of(to_delayed_work(work),
					    struct bonding, arp_work);
	bool tick = time_after_eq(jiffies, bond->arp.next);
	bool done;

	if (!READ_ONCE(bond->params.arp_interval))
		return;
	done = bond_arp_look(bond, tick);
	if (tick)
		bond_arp_tick_end(bond);
	queue_delayed_work(bond->wq, &bond->arp_work,
			   done ? bond_arp_delay(bond) : 1);
}

void bond_arpmon_init(struct bonding *bond)
{
	bond->arp.next = jiffies;
	INIT_DELAYED_WORK(&bond->arp_work, bond_arpmon_work);
}

void bond_arpmon_carrier_event(struct slave *slave)
{
	struct bonding *bond = slave->bond;

	ASSERT_RTNL();
	if (!rcu_access_pointer(bond->arp_targets))
		return;
	if (bond_dev_is_up(slave->dev))
		mod_delayed_work(bond->wq, &bond->arp_work, 0);
	else if (slave->link != BOND_LINK_DOWN)
		bond_link_set(bond, slave, BOND_LINK_DOWN);
}

/* --- start and stop --- */

/*
 * The targets as they are set.  Turning the monitor off for want of a few bytes
 * would leave dead links in use, so they are waited for.
 */
static struct bond_arp_targets *bond_arp_targets_new(const struct bonding *bond)
{
	const struct bond_params *params = &bond->params;
	struct bond_arp_targets *targets;
	unsigned int i;

	targets = kzalloc(sizeof(*targets), GFP_KERNEL | __GFP_NOFAIL);
	for (i = 0; i < BOND_MAX_TARGETS && params->arp_ip_target[i]; i++)
		targets->ip4[i] = params->arp_ip_target[i];
	targets->n4 = i;
	bitmap_set(targets->mask, 0, i);
	if (!ipv6_mod_enabled())
		return targets;
	for (i = 0; i < BOND_MAX_TARGETS &&
	     !ipv6_addr_any(&params->ns_ip6_target[i]); i++)
		targets->ip6[i] = params->ns_ip6_target[i];
	targets->n6 = i;
	bitmap_set(targets->mask, BOND_ARP_SRC_IP6, i);
	return targets;
}

static bool bond_arp_targets_equal(const struct bond_arp_targets *a,
				   const struct bond_arp_targets *b)
{
	if (!a || !b)
		return a == b;
	return bitmap_equal(a->mask, b->mask, BOND_ARP_SRC_MAX) &&
	       !memcmp(a->ip4, b->ip4, sizeof(a->ip4)) &&
	       !memcmp(a->ip6, b->ip6, sizeof(a->ip6));
}

/*
 * Have the receive path listen for @next; what slaves have heard of other
 * targets is forgotten.
 */
static void bond_arp_targets_publish(struct bonding *bond,
				     struct bond_arp_targets *next)
{
	struct bond_arp_targets *old = rtnl_dereference(bond->arp_targets);
	struct slave *slave;

	if (bond_arp_targets_equal(old, next)) {
		kfree(next);
		return;
	}
	rcu_assign_pointer(bond->arp_targets, next);
	if (old)
		kfree_rcu(old, rcu);
	memset(bond->arp.way, BOND_WAY_FOUND, sizeof(bond->arp.way));
	bond_for_each_slave(bond, slave) {
		bond_arp_new_start(&slave->arp);
		WRITE_ONCE(slave->arp.searching, false);
	}
}

/* Options may be set many times a second: that must not raise the pace. */
static void bond_arp_next_keep(struct bonding *bond)
{
	unsigned long now = jiffies;
	unsigned long limit = now + bond_arp_interval(bond);

	if (time_before(bond->arp.next, now))
		bond->arp.next = now;
	else if (time_after(bond->arp.next, limit))
		bond->arp.next = limit;
}

void bond_arpmon_start(struct bonding *bond)
{
	struct bond_arp_targets *targets = NULL;

	ASSERT_RTNL();
	if (bond->params.arp_interval && bond_has_cap(bond, BOND_CAP_ARPMON))
		targets = bond_arp_targets_new(bond);
	bond_arp_targets_publish(bond, targets);
	bond_ns_joins_update(bond);
	if (!rcu_access_pointer(bond->arp_targets))
		return;
	bond_arp_next_keep(bond);
	queue_delayed_work(bond->wq, &bond->arp_work, bond_arp_delay(bond));
}

void bond_arpmon_stop(struct bonding *bond)
{
	ASSERT_RTNL();
	cancel_delayed_work_sync(&bond->arp_work);
	if (netif_running(bond->dev))
		return;
	bond_arp_targets_publish(bond, NULL);
	bond_ns_joins_update(bond);
}
