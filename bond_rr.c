// SPDX-License-Identifier: GPL-2.0
/*
 * balance-rr: each frame, or each run of packets_per_slave frames, by the next
 * usable slave.
 *
 * Owns bond->mode_pcpu while it is the mode: a position and a rest on each CPU,
 * touched by that CPU alone with BH off.  The position is one in the array of
 * usable slaves and starts over at its end, so that whichever slaves are left
 * share evenly and no counter ever wraps.
 */
#include <linux/igmp.h>
#include <linux/ip.h>
#include <linux/percpu.h>
#include <linux/random.h>

#include "bond_slaves.h"

/**
 * struct bond_rr_cpu - where one CPU stands
 * @pos: position in the array of usable slaves, of the run under way
 * @left: frames that this run still has
 */
struct bond_rr_cpu {
	u32 pos;
	u32 left;
};

static int bond_rr_init(struct bonding *bond)
{
	struct bond_rr_cpu __percpu *cpus;
	int cpu;

	cpus = alloc_percpu(struct bond_rr_cpu);
	if (!cpus)
		return -ENOMEM;
	/* CPUs that send at the same pace should not march in step. */
	for_each_possible_cpu(cpu)
		per_cpu_ptr(cpus, cpu)->pos = cpu;
	bond->mode_pcpu = cpus;
	return 0;
}

static void bond_rr_exit(struct bonding *bond)
{
	free_percpu(bond->mode_pcpu);
	bond->mode_pcpu = NULL;
}

/* A run of the old length must not go on under a new packets_per_slave. */
static void bond_rr_params_changed(struct bonding *bond)
{
	struct bond_rr_cpu __percpu *cpus = bond->mode_pcpu;
	int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(cpus, cpu)->left, 0);
}

/*
 * Membership reports must stay on one link: the switch sends the group where it
 * heard them.
 */
static struct slave *bond_rr_pick_igmp(const struct bonding *bond,
				       const struct bond_slave_array *array)
{
	struct slave *active = bond_active_rcu(bond);

	if (active && bond_slave_can_tx(active))
		return active;
	return array->slave[0];
}

static bool bond_rr_is_igmp(const struct sk_buff *skb)
{
	struct iphdr buf;
	const struct iphdr *ip;

	ip = skb_header_pointer(skb, skb_network_offset(skb), sizeof(buf),
				&buf);
	return ip && ip->protocol == IPPROTO_IGMP;
}

/* Is it IGMP, or an IPv4 header that is not in one piece? */
static __always_inline bool bond_rr_maybe_igmp(const struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (skb->protocol != htons(ETH_P_IP))
		return false;
	return (const u8 *)(ip + 1) > skb_tail_pointer(skb) ||
	       ip->protocol == IPPROTO_IGMP;
}

typedef u32 bond_rr_next_fn(const struct bonding *bond, u32 count);

/* Not inlined, so that what is in the straight path needs no stack. */
static noinline struct slave *
bond_rr_pick_careful(const struct bonding *bond, const struct sk_buff *skb,
		     bond_rr_next_fn *next)
{
	const struct bond_slave_array *array = bond_usable(bond);

	if (!array)
		return NULL;
	if (bond_rr_is_igmp(skb))
		return bond_rr_pick_igmp(bond, array);
	return array->slave[next(bond, array->count)];
}

static __always_inline struct slave *
bond_rr_pick_next(const struct bonding *bond, struct bond_pkt pkt,
		  bond_rr_next_fn *next)
{
	const struct bond_slave_array *array = bond_usable(bond);

	if (unlikely(!array))
		return NULL;
	if (!bond_pkt_is_xdp(pkt) &&
	    unlikely(bond_rr_maybe_igmp(bond_pkt_skb(pkt))))
		return bond_rr_pick_careful(bond, bond_pkt_skb(pkt), next);
	return array->slave[next(bond, array->count)];
}

static u32 bond_rr_next_one(const struct bonding *bond, u32 count)
{
	struct bond_rr_cpu __percpu *cpu = bond->mode_pcpu;
	u32 pos = this_cpu_read(cpu->pos) + 1;

	if (pos >= count)
		pos = 0;
	this_cpu_write(cpu->pos, pos);
	return pos;
}

struct slave *bond_rr_pick(const struct bonding *bond, struct bond_pkt pkt)
{
	return bond_rr_pick_next(bond, pkt, bond_rr_next_one);
}

static u32 bond_rr_next_run(const struct bonding *bond, u32 count)
{
	struct bond_rr_cpu __percpu *cpu = bond->mode_pcpu;
	u32 run = READ_ONCE(bond->params.packets_per_slave);
	u32 left = this_cpu_read(cpu->left);
	u32 pos = this_cpu_read(cpu->pos);

	if (!left) {
		pos++;
		/* 0 only for a frame that was under way when it was set */
		left = max(run, 1U);
	}
	if (pos >= count)
		pos = 0;
	this_cpu_write(cpu->left, left - 1);
	this_cpu_write(cpu->pos, pos);
	return pos;
}

static struct slave *bond_rr_pick_run(const struct bonding *bond,
				      struct bond_pkt pkt)
{
	return bond_rr_pick_next(bond, pkt, bond_rr_next_run);
}

static u32 bond_rr_next_random(const struct bonding *bond, u32 count)
{
	return reciprocal_scale(get_random_u32(), count);
}

static struct slave *bond_rr_pick_random(const struct bonding *bond,
					 struct bond_pkt pkt)
{
	return bond_rr_pick_next(bond, pkt, bond_rr_next_random);
}

static bond_pick_fn *bond_rr_pick_now(const struct bonding *bond)
{
	switch (bond->params.packets_per_slave) {
	case 0:
		return bond_rr_pick_random;
	case 1:
		return bond_rr_pick;
	default:
		return bond_rr_pick_run;
	}
}

const struct bond_mode_ops bond_mode_rr = {
	.name		= "balance-rr",
	.proc_name	= "load balancing (round-robin)",
	.id		= BOND_MODE_ROUNDROBIN,
	.lag_tx_type	= NETDEV_LAG_TX_TYPE_ROUNDROBIN,
	.caps		= BOND_CAP_RR | BOND_CAP_ARPMON | BOND_CAP_ONE_MAC |
			  BOND_CAP_QUEUE_ID | BOND_CAP_IGMP,
	.init		= bond_rr_init,
	.exit		= bond_rr_exit,
	.params_changed	= bond_rr_params_changed,
	.pick		= bond_rr_pick,
	.pick_now	= bond_rr_pick_now,
};
