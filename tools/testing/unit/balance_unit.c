// SPDX-License-Identifier: GPL-2.0
/*
 * Does bond_tlb_balance.c keep its promises?  Compiled into this file, with as
 * much of the driver around it as it needs.
 *
 *	balance_unit SEED
 *
 * Slaves, speeds and loads are made up; a window is a call of
 * bond_tlb_balance() after loads have been added to the counters.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

/* --- as much of a kernel as that file needs --- */

#define READ_ONCE(x)			(x)
#define ASSERT_RTNL()			((void)0)
#define rtnl_dereference(p)		(p)
#define rcu_assign_pointer(p, v)	((p) = (v))
#define RCU_INIT_POINTER(p, v)		((p) = count_cleared(v))
#define for_each_possible_cpu(cpu)	for (; cpu_next(&(cpu)); )
#define per_cpu_ptr(p, cpu)		(&(p)[cpu])
#define div_u64(a, b)			((a) / (u32)(b))
#define div64_u64(a, b)			((a) / (b))
#define __percpu
#define SPEED_UNKNOWN			(-1)
#define CPUS				2

#define BOND_TLB_BUCKETS		256
#define BOND_TLB_UNPLACED		BOND_TLB_BUCKETS
#define BOND_TLB_COUNTERS		(BOND_TLB_BUCKETS + 1)
#define BOND_TLB_WINDOW_S		10
#define SLAVES				16

/* How often readers would have found NULL. */
static unsigned int cleared;

static void *count_cleared(void *value)
{
	cleared += !value;
	return value;
}

static unsigned long max(unsigned long a, unsigned long b)
{
	return a > b ? a : b;
}

/* Loops over all of them are run to their end. */
static bool cpu_next(int *cpu)
{
	static int next;

	*cpu = next++;
	if (*cpu < CPUS)
		return true;
	next = 0;
	return false;
}

struct bond_tlb_cpu {
	unsigned long bytes[BOND_TLB_COUNTERS];
};

struct bond_tlb_slave {
	bool usable;
	u64 load;
	u32 speed;
	u32 idle;
	u32 room;
};

struct slave {
	struct bond_tlb_slave priv;
	u32 speed;
	u32 index;
};

struct bond_slave_array {
	u32 count;
	struct slave *slave[SLAVES];
};

struct bond_tlb {
	struct slave *slave[BOND_TLB_BUCKETS];
	unsigned long seen[BOND_TLB_COUNTERS];
	unsigned long load[BOND_TLB_COUNTERS];
	unsigned long now[BOND_TLB_BUCKETS];
};

struct bonding {
	struct bond_tlb tlb;
	struct bond_tlb_cpu *mode_pcpu;
	struct bond_slave_array array;
	struct bond_slave_array *usable;
	struct slave *active;
	struct slave slaves[SLAVES];
	u32 slave_cnt;
};

static bool slave_next(const struct bonding *bond, struct slave **slave)
{
	static u32 next;

	*slave = (struct slave *)&bond->slaves[next++];
	if (next <= bond->slave_cnt)
		return true;
	next = 0;
	return false;
}

#define bond_for_each_slave(bond, s)	for (; slave_next(bond, &(s)); )

static struct bond_tlb *bond_tlb_of(const struct bonding *bond)
{
	return (struct bond_tlb *)&bond->tlb;
}

static struct bond_tlb_slave *bond_tlb_slave_of(const struct slave *slave)
{
	return (struct bond_tlb_slave *)&slave->priv;
}

static struct slave *bond_active_rtnl(const struct bonding *bond)
{
	return bond->active;
}

static void bond_tlb_settle(struct bonding *bond);
static void bond_tlb_balance(struct bonding *bond);

#include "bond_tlb_balance.c"

/* --- a bond to try it on --- */

static struct bond_tlb_cpu cpus[CPUS];
static struct bonding bond;
static int failed, cases;
static u64 seed;

static u32 noise(u32 below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

static void result(const char *what, bool ok)
{
	cases++;
	printf("%sok %d %s\n", ok ? "" : "not ", cases, what);
	failed |= !ok;
}

static void publish(u32 mask)
{
	u32 i;

	bond.array.count = 0;
	for (i = 0; i < bond.slave_cnt; i++)
		if (mask >> i & 1)
			bond.array.slave[bond.array.count++] = &bond.slaves[i];
	bond.usable = bond.array.count ? &bond.array : NULL;
	bond.active = bond.usable ? bond.array.slave[0] : NULL;
	bond_tlb_settle(&bond);
}

static void make(u32 slaves, const u32 *speed)
{
	u32 i;

	memset(&bond, 0, sizeof(bond));
	memset(cpus, 0, sizeof(cpus));
	bond.mode_pcpu = cpus;
	bond.slave_cnt = slaves;
	for (i = 0; i < slaves; i++) {
		bond.slaves[i].speed = speed ? speed[i] : 1000;
		bond.slaves[i].index = i;
	}
	publish((1U << slaves) - 1);
}

static void traffic(u32 bucket, unsigned long bytes)
{
	bond.mode_pcpu[bucket % CPUS].bytes[bucket] += bytes;
}

static u32 owner(u32 bucket)
{
	return bond.tlb.slave[bucket] ? bond.tlb.slave[bucket]->index : ~0U;
}

static u32 owned(u32 slave)
{
	u32 n = 0;
	u32 i;

	for (i = 0; i < BOND_TLB_BUCKETS; i++)
		n += owner(i) == slave;
	return n;
}

static void remember(u32 *place)
{
	u32 i;

	for (i = 0; i < BOND_TLB_BUCKETS; i++)
		place[i] = owner(i);
}

/* bytes of one part in a hundred of a slave's speed in a window */
#define PERCENT	(1000UL * 1000000 / 8 * 10 / 100)

/* --- cases --- */

static void test_dealt_evenly(void)
{
	static const u32 speed[] = { 1000, 3000, 4000 };
	bool ok = true;
	u32 n, i;

	for (n = 1; n <= SLAVES; n++) {
		make(n, NULL);
		for (i = 0; i < n; i++)
			ok &= owned(i) >= BOND_TLB_BUCKETS / n &&
			      owned(i) <= BOND_TLB_BUCKETS / n + 1;
	}
	result("idle buckets are dealt out evenly", ok);
	make(3, speed);
	ok = owned(0) == 32 && owned(1) == 96 && owned(2) == 128;
	result("and by speed", ok);
}

/* One slave after the other comes, as when a bond is set up. */
static void test_neighbours(void)
{
	u32 slaves, first, i, n, low = ~0U, high = 0;

	for (slaves = 2; slaves <= 3; slaves++) {
		make(slaves, NULL);
		for (i = 1; i <= slaves; i++)
			publish((1U << i) - 1);
		for (first = 0; first < BOND_TLB_BUCKETS; first += 8) {
			n = 0;
			for (i = 0; i < 60; i++)
				n += owner((first + i) % BOND_TLB_BUCKETS) == 0;
			low = n * slaves < low ? n * slaves : low;
			high = n * slaves > high ? n * slaves : high;
		}
	}
	result("neighbouring buckets are spread", low >= 40 && high <= 80);
}

static void test_unknown_speed(void)
{
	static const u32 none[] = { -1, 0, -1 };
	u32 i;

	make(3, none);
	for (i = 0; i < 3; i++)
		if (owned(i) < 85)
			break;
	result("slaves without a speed are alike", i == 3);
}

/* Whatever comes and goes: only buckets that have to move do, if busy. */
static void test_only_the_dead_move(void)
{
	u32 before[BOND_TLB_BUCKETS];
	bool dead_ok = true, stay_ok = true;
	u32 mask, was, i, round;

	make(8, NULL);
	was = 0xff;
	for (round = 0; round < 2000; round++) {
		for (i = 0; i < BOND_TLB_BUCKETS; i++)
			traffic(i, 1 + noise(1000));
		remember(before);
		mask = noise(256);
		publish(mask);
		for (i = 0; i < BOND_TLB_BUCKETS; i++) {
			if (!mask) {
				dead_ok &= owner(i) == ~0U;
				continue;
			}
			dead_ok &= owner(i) != ~0U && mask >> owner(i) & 1;
			if (was && mask >> before[i] & 1)
				stay_ok &= owner(i) == before[i];
		}
		was = mask;
	}
	result("no bucket has a dead slave", dead_ok);
	result("busy buckets of live slaves stay", stay_ok);
}

static u64 load_of(u32 slave, const unsigned long *load)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < BOND_TLB_BUCKETS; i++)
		if (owner(i) == slave)
			sum += load[i];
	return sum;
}

static u64 spread(const unsigned long *load)
{
	u64 low = ~0ULL, high = 0, sum;
	u32 i;

	for (i = 0; i < bond.slave_cnt; i++) {
		sum = load_of(i, load) * 1000 / bond.slaves[i].speed;
		low = sum < low ? sum : low;
		high = sum > high ? sum : high;
	}
	return high - low;
}

static u32 moved(const u32 *before)
{
	u32 n = 0;
	u32 i;

	for (i = 0; i < BOND_TLB_BUCKETS; i++)
		n += owner(i) != before[i];
	return n;
}

/* Frames are sent while buckets are given to others. */
static void test_always_somebody(void)
{
	u32 i;

	make(3, NULL);
	for (i = 0; i < BOND_TLB_BUCKETS; i += 2)
		traffic(i, 1000);
	cleared = 0;
	publish(3);
	publish(4);
	result("no bucket is without a slave at any time",
	       !cleared && owned(2) == BOND_TLB_BUCKETS);
}

static void window(const unsigned long *load)
{
	u32 i;

	for (i = 0; i < BOND_TLB_BUCKETS; i++)
		traffic(i, load[i]);
	bond_tlb_balance(&bond);
}

/* Random loads: the difference never grows, and there is an end to moving. */
static void test_converges(void)
{
	unsigned long load[BOND_TLB_BUCKETS];
	u32 before[BOND_TLB_BUCKETS];
	bool better = true, rest = true;
	u32 round, i, n;
	u64 was;

	for (round = 0; round < 300; round++) {
		make(2 + noise(7), NULL);
		for (i = 0; i < BOND_TLB_BUCKETS; i++)
			load[i] = noise(4) ? 1 + noise(PERCENT / 20) :
					     noise(8 * PERCENT);
		was = spread(load);
		for (n = 0; n < 20; n++) {
			remember(before);
			window(load);
			better &= spread(load) <= was;
			was = spread(load);
		}
		rest &= !moved(before);
	}
	result("moving makes loads less different", better);
	result("equal loads are moved no more after a while", rest);
}

/* The same with noise in the loads, as real ones have. */
static void test_hysteresis(void)
{
	unsigned long load[BOND_TLB_BUCKETS];
	u32 before[BOND_TLB_BUCKETS];
	u32 round, i, moves = 0;

	make(2, NULL);
	for (round = 0; round < 200; round++) {
		for (i = 0; i < BOND_TLB_BUCKETS; i++)
			load[i] = PERCENT / 5 + noise(PERCENT / 20);
		remember(before);
		window(load);
		moves += moved(before);
	}
	result("small differences move nothing", !moves);
}

static void test_heavy_flows(void)
{
	unsigned long load[BOND_TLB_BUCKETS] = { };
	u32 before[BOND_TLB_BUCKETS];
	u32 i;

	make(2, NULL);
	for (i = 0; i < 4; i++)
		load[i] = 10 * PERCENT + i % 2;
	window(load);
	result("four equal flows are parted two and two",
	       load_of(0, load) > 19 * PERCENT &&
	       load_of(1, load) > 19 * PERCENT);

	memset(load, 0, sizeof(load));
	make(2, NULL);
	load[7] = 50 * PERCENT;
	remember(before);
	for (i = 0; i < 5; i++)
		window(load);
	result("a lonely flow stays where it is", owner(7) == before[7]);
	result("new flows go elsewhere", owned(1 - owner(7)) > owned(owner(7)));

	make(2, NULL);
	load[8] = 10 * PERCENT;
	load[9] = 10 * PERCENT;
	for (i = 0; i < 5; i++)
		window(load);
	result("small ones make room for a big one",
	       owner(8) != owner(7) && owner(9) != owner(7));
}

static void test_light_load(void)
{
	unsigned long load[BOND_TLB_BUCKETS] = { };
	u32 before[BOND_TLB_BUCKETS];
	u32 i, n;

	make(2, NULL);
	for (i = 0; i < 4; i++)
		load[i] = PERCENT / 16;
	remember(before);
	for (n = 0; n < 5; n++)
		window(load);
	for (i = 0; i < 4; i++)
		if (owner(i) != before[i])
			break;
	result("links with nothing to do are left alone", i == 4);
}

static void test_fast(void)
{
	static const u32 speed[] = { 1600000, 800000, 100 };
	unsigned long load[BOND_TLB_BUCKETS] = { };
	u32 i;

	make(3, speed);
	for (i = 0; i < BOND_TLB_BUCKETS; i++)
		load[i] = 1600000 * 1000000ULL / 8 * 10 / 200;
	for (i = 0; i < 20; i++)
		window(load);
	result("speeds of today do not overflow",
	       load_of(0, load) > load_of(1, load) * 3 / 2 &&
	       load_of(0, load) < load_of(1, load) * 5 / 2 && owned(2) < 3);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s SEED\n", argv[0]);
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	printf("KTAP version 1\n1..15\n");
	test_dealt_evenly();
	test_neighbours();
	test_unknown_speed();
	test_only_the_dead_move();
	test_always_somebody();
	test_converges();
	test_hysteresis();
	test_heavy_flows();
	test_light_load();
	test_fast();
	return failed;
}
