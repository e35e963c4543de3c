// SPDX-License-Identifier: GPL-2.0
/*
 * A bond's 64-bit counters.
 *
 * What users see of a bond is the sum of what each slave has counted while it
 * was enslaved.  Each slave remembers the counters that were last taken over
 * (slave->stats); every reader adds the steps since then to the bond's totals
 * (bond->stats).  So the totals outlive slaves, and they never go backwards.
 *
 * bond->stats_lock guards both.  A slave is asked for its counters with the
 * lock held, or two readers could take them over in the wrong order.  A slave
 * may be a bond, so each bond's lock is a lock class of its own.
 */
#include "bond_core.h"

#define BOND_STATS_WORDS	(sizeof(struct rtnl_link_stats64) / sizeof(u64))

static_assert(sizeof(struct rtnl_link_stats64) % sizeof(u64) == 0);

/*
 * How far a counter has moved.  It may be one of 32 bits that has wrapped, or
 * may have been reset by its driver; a reset is no progress.
 */
static u64 bond_stats_step(u64 last, u64 now)
{
	s32 wrapped = (u32)now - (u32)last;

	if (now >= last)
		return now - last;
	if (last <= U32_MAX && wrapped > 0)
		return wrapped;
	return 0;
}

/* Caller holds the bond's stats_lock, and RCU or RTNL. */
static void bond_stats_fold(struct bonding *bond, struct slave *slave)
{
	struct rtnl_link_stats64 now;
	u64 *total = (u64 *)&bond->stats;
	u64 *last = (u64 *)&slave->stats;
	const u64 *word = (u64 *)&now;
	size_t i;

	dev_get_stats(slave->dev, &now);
	for (i = 0; i < BOND_STATS_WORDS; i++) {
		total[i] += bond_stats_step(last[i], word[i]);
		last[i] = word[i];
	}
}

void bond_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *stats)
{
	struct bonding *bond = netdev_priv(dev);
	struct slave *slave;

	rcu_read_lock();
	spin_lock_bh(&bond->stats_lock);
	bond_for_each_slave_rcu(bond, slave)
		bond_stats_fold(bond, slave);
	*stats = bond->stats;
	spin_unlock_bh(&bond->stats_lock);
	rcu_read_unlock();
}

void bond_stats_slave_add(struct slave *slave)
{
	ASSERT_RTNL();
	dev_get_stats(slave->dev, &slave->stats);
}

void bond_stats_slave_del(struct slave *slave)
{
	struct bonding *bond = slave->bond;

	ASSERT_RTNL();
	spin_lock_bh(&bond->stats_lock);
	bond_stats_fold(bond, slave);
	spin_unlock_bh(&bond->stats_lock);
}
