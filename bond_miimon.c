// SPDX-License-Identifier: GPL-2.0
/*
 * The MII monitor: the fallback for devices that change their carrier without
 * an event, and the timekeeper of updelay and downdelay.
 *
 * Owns bond->mii_work.  The work looks under RCU, and takes RTNL only when
 * something has changed; it never waits for RTNL, so that it can be cancelled
 * by whoever holds it.
 */
#include "bond_core.h"

static unsigned long bond_miimon_interval(const struct bonding *bond)
{
	return max(msecs_to_jiffies(READ_ONCE(bond->params.miimon)), 1UL);
}

void bond_miimon_kick(struct bonding *bond, unsigned long delay)
{
	if (bond->params.miimon && netif_running(bond->dev))
		mod_delayed_work(bond->wq, &bond->mii_work, delay);
}

/* Return: jiffies until the next look. */
static unsigned long bond_miimon_look(struct bonding *bond)
{
	unsigned long next;
	bool pending;

	rcu_read_lock();
	pending = bond_links_pending(bond);
	rcu_read_unlock();

	if (pending) {
		if (!rtnl_trylock())
			return 1;
		bond_links_commit(bond);
		rtnl_unlock();
	}

	rcu_read_lock();
	next = bond_links_next_deadline(bond, bond_miimon_interval(bond));
	rcu_read_unlock();
	return next;
}

static void bond_miimon_work(struct work_struct *work)
{
	struct bonding *bond = container_of(to_delayed_work(work),
					    struct bonding, mii_work);
	unsigned long next;

	if (!READ_ONCE(bond->params.miimon))
		return;
	next = bond_miimon_look(bond);
	queue_delayed_work(bond->wq, &bond->mii_work, next);
}

void bond_miimon_init(struct bonding *bond)
{
	INIT_DELAYED_WORK(&bond->mii_work, bond_miimon_work);
}

void bond_monitors_start(struct bonding *bond)
{
	ASSERT_RTNL();
	bond_monitors_stop(bond);
	if (!netif_running(bond->dev))
		return;
	bond_arpmon_start(bond);
	if (!bond->params.miimon)
		return;
	bond_links_commit(bond);
	bond_miimon_kick(bond, bond_miimon_interval(bond));
}

void bond_monitors_stop(struct bonding *bond)
{
	ASSERT_RTNL();
	cancel_delayed_work_sync(&bond->mii_work);
	bond_arpmon_stop(bond);
}
