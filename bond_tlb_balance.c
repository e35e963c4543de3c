// SPDX-License-Identifier: GPL-2.0
/*
 * Which slave a bucket of flows belongs to.
 *
 * Three rules.  A bucket whose slave cannot send any more gets another one, in
 * the step that finds it; all others stay.  A bucket without traffic has
 * nothing to put out of order: those are dealt out by how much room each slave
 * has, so that new flows go where there is some.  A bucket with traffic moves
 * only at the end of a window, only from the busiest slave to the least busy
 * one, only when that leaves both less apart than before, and only while the
 * busiest one is worth relieving.
 *
 * Busy is meant relative to a slave's speed.  Owns the buckets and everything
 * that is measured; all under RTNL.  The packet path reads the slave of a
 * bucket under RCU, so a slave that is taken out of all of them is out of use a
 * grace period later.
 */
#include <linux/math64.h>
#include <linux/percpu.h>

#include "bond_alb.h"

/* A window's bytes at a speed of 1 Mbit/s */
#define BOND_TLB_MBIT_BYTES	(BOND_TLB_WINDOW_S * 1000000ULL / 8)

/*
 * What is worth the risk to put a flow out of order: the busiest slave has more
 * than one part in so many of its speed in use, is busier than the least busy
 * one by one part in so many, and a move takes a fair part of the difference.
 */
#define BOND_TLB_WORTH_USE	128
#define BOND_TLB_WORTH_GAP	8
#define BOND_TLB_WORTH_MOVE	16
#define BOND_TLB_MOVES_MAX	(BOND_TLB_BUCKETS / 8)

/*
 * Buckets are dealt out in steps of the golden section, so that neighbours,
 * which are neighbouring addresses, get different slaves.
 */
#define BOND_TLB_STEP		159

/* --- measuring --- */

static unsigned long bond_tlb_sum(const struct bonding *bond, u32 counter)
{
	struct bond_tlb_cpu __percpu *cpus = bond->mode_pcpu;
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(cpus, cpu)->bytes[counter]);
	return sum;
}

static void bond_tlb_window_end(struct bonding *bond)
{
	struct bond_tlb *tlb = bond_tlb_of(bond);
	unsigned long sum;
	u32 i;

	for (i = 0; i < BOND_TLB_COUNTERS; i++) {
		sum = bond_tlb_sum(bond, i);
		tlb->load[i] = sum - tlb->seen[i];
		tlb->seen[i] = sum;
	}
}

/* What a bucket carries: in the last window, or in this one so far. */
static unsigned long bond_tlb_load(const struct bonding *bond, u32 counter)
{
	const struct bond_tlb *tlb = bond_tlb_of(bond);

	return max(tlb->load[counter],
		   bond_tlb_sum(bond, counter) - tlb->seen[counter]);
}

/* --- slaves as they are weighed --- */

static void bond_tlb_weigh(const struct slave *slave)
{
	struct bond_tlb_slave *weight = bond_tlb_slave_of(slave);

	weight->usable = false;
	weight->load = 0;
	weight->idle = 0;
	weight->speed = 1;
	if (slave->speed != (u32)SPEED_UNKNOWN && slave->speed)
		weight->speed = slave->speed;
}

/* Is @a busier than @b?  With @more bytes for both. */
static bool bond_tlb_busier(const struct slave *a, const struct slave *b,
			    u64 more)
{
	const struct bond_tlb_slave *weight_a = bond_tlb_slave_of(a);
	const struct bond_tlb_slave *weight_b = bond_tlb_slave_of(b);

	return (weight_a->load + more) * weight_b->speed >
	       (weight_b->load + more) * weight_a->speed;
}

static struct slave *bond_tlb_least(const struct bond_slave_array *usable,
				    u64 more)
{
	struct slave *least = usable->slave[0];
	u32 i;

	for (i = 1; i < usable->count; i++)
		if (bond_tlb_busier(least, usable->slave[i], more))
			least = usable->slave[i];
	return least;
}

static struct slave *bond_tlb_busiest(const struct bond_slave_array *usable)
{
	struct slave *most = usable->slave[0];
	u32 i;

	for (i = 1; i < usable->count; i++)
		if (bond_tlb_busier(usable->slave[i], most, 0))
			most = usable->slave[i];
	return most;
}

/* --- buckets --- */

/*
 * NULL for one that cannot send: frames go on reading that one until another
 * one takes its place, since they would find nobody otherwise.
 */
static struct slave *bond_tlb_owner(const struct bond_tlb *tlb, u32 bucket)
{
	struct slave *slave = rtnl_dereference(tlb->slave[bucket]);

	return slave && bond_tlb_slave_of(slave)->usable ? slave : NULL;
}

static void bond_tlb_give(struct bond_tlb *tlb, u32 bucket, struct slave *slave,
			  u64 load)
{
	rcu_assign_pointer(tlb->slave[bucket], slave);
	bond_tlb_slave_of(slave)->load += load;
}

/* Add up what the slaves have. */
static u32 bond_tlb_take_stock(struct bonding *bond,
			       const struct bond_slave_array *usable,
			       unsigned long *load)
{
	struct slave *active = bond_active_rtnl(bond);
	struct bond_tlb *tlb = bond_tlb_of(bond);
	struct slave *owner, *slave;
	u32 idle = 0;
	u32 i;

	bond_for_each_slave(bond, slave)
		bond_tlb_weigh(slave);
	for (i = 0; i < usable->count; i++)
		bond_tlb_slave_of(usable->slave[i])->usable = true;
	if (active)
		bond_tlb_slave_of(active)->load =
			bond_tlb_load(bond, BOND_TLB_UNPLACED);
	for (i = 0; i < BOND_TLB_BUCKETS; i++) {
		load[i] = bond_tlb_load(bond, i);
		if (!load[i])
			idle++;
		owner = bond_tlb_owner(tlb, i);
		if (owner && load[i])
			bond_tlb_slave_of(owner)->load += load[i];
		else if (owner)
			bond_tlb_slave_of(owner)->idle++;
	}
	return idle;
}

/* Flows whose slave is gone. */
static void bond_tlb_rescue(struct bond_tlb *tlb,
			    const struct bond_slave_array *usable,
			    const unsigned long *load)
{
	u32 i;

	for (i = 0; i < BOND_TLB_BUCKETS; i++)
		if (load[i] && !bond_tlb_owner(tlb, i))
			bond_tlb_give(tlb, i, bond_tlb_least(usable, load[i]),
				      load[i]);
}

/* Bytes that a slave could send in a window beyond what it does. */
static u64 bond_tlb_gap(const struct slave *slave)
{
	const struct bond_tlb_slave *weight = bond_tlb_slave_of(slave);
	u64 most = weight->speed * BOND_TLB_MBIT_BYTES;
	u64 least = most / BOND_TLB_WORTH_USE;

	return weight->load + least < most ? most - weight->load : least;
}

/* Of @idle buckets each slave gets a part as its gap is of all gaps. */
static void bond_tlb_rooms(const struct bond_slave_array *usable, u32 idle)
{
	u64 gaps = 0;
	u64 sum = 0;
	u32 dealt = 0;
	u32 upto;
	u32 i;

	for (i = 0; i < usable->count; i++)
		gaps += bond_tlb_gap(usable->slave[i]);
	for (i = 0; i < usable->count; i++) {
		sum += bond_tlb_gap(usable->slave[i]);
		upto = div64_u64(sum * idle, gaps);
		bond_tlb_slave_of(usable->slave[i])->room = upto - dealt;
		dealt = upto;
	}
}

/* The next slave, from @pos on, that has less idle buckets than it should. */
static struct slave *bond_tlb_roomy(const struct bond_slave_array *usable,
				    u32 *pos)
{
	const struct bond_tlb_slave *weight;

	for (; *pos < usable->count; (*pos)++) {
		weight = bond_tlb_slave_of(usable->slave[*pos]);
		if (weight->idle < weight->room)
			return usable->slave[*pos];
	}
	return NULL;
}

static bool bond_tlb_keeps(const struct slave *owner)
{
	return owner && bond_tlb_slave_of(owner)->idle <=
			bond_tlb_slave_of(owner)->room;
}

/*
 * Idle buckets go from slaves that have too many to those with too few.  There
 * is room for each one that has nobody.
 */
static void bond_tlb_deal(struct bond_tlb *tlb,
			  const struct bond_slave_array *usable,
			  const unsigned long *load)
{
	struct slave *owner, *slave;
	u32 pos = 0;
	u32 i, n;

	for (n = 0; n < BOND_TLB_BUCKETS; n++) {
		i = n * BOND_TLB_STEP % BOND_TLB_BUCKETS;
		owner = bond_tlb_owner(tlb, i);
		if (load[i] || bond_tlb_keeps(owner))
			continue;
		slave = bond_tlb_roomy(usable, &pos);
		if (!slave)
			break;
		if (owner)
			bond_tlb_slave_of(owner)->idle--;
		bond_tlb_slave_of(slave)->idle++;
		bond_tlb_give(tlb, i, slave, 0);
	}
}

/* --- moving flows --- */

/*
 * The most that may move: what would make both equally busy, and a quarter
 * more.  With that much the difference is a quarter of what it was, and the
 * flow is too big to go back for it.  0 when moving is not worth it.
 */
static u64 bond_tlb_excess(const struct slave *from, const struct slave *to)
{
	const struct bond_tlb_slave *a = bond_tlb_slave_of(from);
	const struct bond_tlb_slave *b = bond_tlb_slave_of(to);
	u64 high = a->load * b->speed;
	u64 low = b->load * a->speed;

	if (a->load * BOND_TLB_WORTH_USE < a->speed * BOND_TLB_MBIT_BYTES ||
	    high <= low || high - low < high / BOND_TLB_WORTH_GAP)
		return 0;
	return div_u64(5 * ((high - low) / 4), a->speed + b->speed);
}

/* The bucket of a slave that carries most, but not more than @limit. */
static int bond_tlb_biggest(const struct bond_tlb *tlb,
			    const struct slave *slave,
			    const unsigned long *load, u64 limit)
{
	int best = -1;
	int i;

	for (i = 0; i < BOND_TLB_BUCKETS; i++)
		if (load[i] && load[i] <= limit &&
		    bond_tlb_owner(tlb, i) == slave &&
		    (best < 0 || load[i] > load[best]))
			best = i;
	return best;
}

static bool bond_tlb_relieve(struct bond_tlb *tlb,
			     const struct bond_slave_array *usable,
			     const unsigned long *load)
{
	struct slave *from = bond_tlb_busiest(usable);
	struct slave *to = bond_tlb_least(usable, 0);
	u64 excess = bond_tlb_excess(from, to);
	int bucket;

	if (!excess)
		return false;
	bucket = bond_tlb_biggest(tlb, from, load, excess);
	if (bucket < 0 || load[bucket] < excess / BOND_TLB_WORTH_MOVE)
		return false;
	bond_tlb_slave_of(from)->load -= load[bucket];
	bond_tlb_give(tlb, bucket, to, load[bucket]);
	return true;
}

/* --- both occasions --- */

static void bond_tlb_clear(struct bond_tlb *tlb)
{
	u32 i;

	for (i = 0; i < BOND_TLB_BUCKETS; i++)
		RCU_INIT_POINTER(tlb->slave[i], NULL);
}

static void bond_tlb_assign(struct bonding *bond, int moves)
{
	const struct bond_slave_array *usable = rtnl_dereference(bond->usable);
	struct bond_tlb *tlb = bond_tlb_of(bond);
	unsigned long *load = tlb->now;
	u32 idle;

	ASSERT_RTNL();
	if (!usable) {
		bond_tlb_clear(tlb);
		return;
	}
	idle = bond_tlb_take_stock(bond, usable, load);
	bond_tlb_rescue(tlb, usable, load);
	while (moves-- > 0 && bond_tlb_relieve(tlb, usable, load))
		;
	bond_tlb_rooms(usable, idle);
	bond_tlb_deal(tlb, usable, load);
}

void bond_tlb_settle(struct bonding *bond)
{
	bond_tlb_assign(bond, 0);
}

void bond_tlb_balance(struct bonding *bond)
{
	bond_tlb_window_end(bond);
	bond_tlb_assign(bond, BOND_TLB_MOVES_MAX);
}
