// SPDX-License-Identifier: GPL-2.0
/*
 * Link states of slaves, and the one place where a bond is brought in line with
 * what has changed.
 *
 * Everything here runs under RTNL but bond_links_pending(), with which the
 * monitor looks before it asks for the lock.  Called by the monitors, by the
 * notifier of the slaves, by enslave, release and the option setters.
 */
#include <linux/ethtool.h>

#include "bond_core.h"

/* --- what the next state of a link is --- */

/*
 * With nothing else to send by, waiting for updelay only costs traffic.
 */
static bool bond_link_updelay_waived(const struct bonding *bond)
{
	if (bond_has_cap(bond, BOND_CAP_PRIMARY))
		return !rcu_access_pointer(bond->curr_active_slave);
	return !rcu_access_pointer(bond->usable);
}

static bool bond_link_sensed(const struct bonding *bond,
			     const struct slave *slave)
{
	if (!bond_dev_is_up(slave->dev))
		return false;
	return !bond_has_cap(bond, BOND_CAP_SPEED) ||
	       (READ_ONCE(slave->speed) != SPEED_UNKNOWN &&
		READ_ONCE(slave->duplex) != DUPLEX_UNKNOWN);
}

static bool bond_link_waited(const struct slave *slave)
{
	return time_after_eq(jiffies, READ_ONCE(slave->deadline));
}

static u8 bond_link_next_up(const struct bonding *bond,
			    const struct slave *slave, u8 link)
{
	switch (link) {
	case BOND_LINK_FAIL:
		return BOND_LINK_UP;
	case BOND_LINK_DOWN:
		if (bond->params.updelay && !bond_link_updelay_waived(bond))
			return BOND_LINK_BACK;
		return BOND_LINK_UP;
	case BOND_LINK_BACK:
		if (bond_link_waited(slave) || bond_link_updelay_waived(bond))
			return BOND_LINK_UP;
		return link;
	default:
		return link;
	}
}

static u8 bond_link_next_down(const struct bonding *bond,
			      const struct slave *slave, u8 link)
{
	switch (link) {
	case BOND_LINK_UP:
		return bond->params.downdelay ? BOND_LINK_FAIL : BOND_LINK_DOWN;
	case BOND_LINK_FAIL:
		return bond_link_waited(slave) ? BOND_LINK_DOWN : link;
	default:
		return BOND_LINK_DOWN;
	}
}

static u8 bond_link_next(const struct bonding *bond, const struct slave *slave)
{
	u8 link = READ_ONCE(slave->link);

	if (bond_link_sensed(bond, slave))
		return bond_link_next_up(bond, slave, link);
	return bond_link_next_down(bond, slave, link);
}

bool bond_links_pending(const struct bonding *bond)
{
	struct slave *slave;

	bond_for_each_slave_rcu(bond, slave)
		if (bond_link_next(bond, slave) != READ_ONCE(slave->link))
			return true;
	return false;
}

unsigned long bond_links_next_deadline(const struct bonding *bond,
				       unsigned long limit)
{
	struct slave *slave;
	long left;
	u8 link;

	bond_for_each_slave_rcu(bond, slave) {
		link = READ_ONCE(slave->link);
		if (link != BOND_LINK_FAIL && link != BOND_LINK_BACK)
			continue;
		left = READ_ONCE(slave->deadline) - jiffies;
		limit = min_t(unsigned long, limit, max(left, 1L));
	}
	return limit;
}

/* --- changing it --- */

static void bond_link_log(const struct bonding *bond, const struct slave *slave)
{
	if (!net_ratelimit())
		return;
	switch (slave->link) {
	case BOND_LINK_UP:
		if (slave->speed == SPEED_UNKNOWN)
			bond_slave_info(bond, slave->dev, "link up\n");
		else
			bond_slave_info(bond, slave->dev,
					"link up, %u Mbps %s duplex\n",
					slave->speed, slave->duplex ==
					DUPLEX_FULL ? "full" : "half");
		break;
	case BOND_LINK_FAIL:
		bond_slave_info(bond, slave->dev,
				"link lost, down in %u ms\n",
				bond->params.downdelay);
		break;
	case BOND_LINK_DOWN:
		bond_slave_info(bond, slave->dev, "link down\n");
		break;
	case BOND_LINK_BACK:
		bond_slave_info(bond, slave->dev, "link back, up in %u ms\n",
				bond->params.updelay);
		break;
	}
}

void bond_link_set(struct bonding *bond, struct slave *slave, u8 link)
{
	u8 old = slave->link;

	if (link == BOND_LINK_FAIL)
		WRITE_ONCE(slave->deadline, jiffies +
			   msecs_to_jiffies(bond->params.downdelay));
	else if (link == BOND_LINK_BACK)
		WRITE_ONCE(slave->deadline, jiffies +
			   msecs_to_jiffies(bond->params.updelay));
	bond_slave_set_link(slave, link);
	bond_link_log(bond, slave);
	if (bond->ops->link_changed)
		bond->ops->link_changed(bond, slave, old);
}

static bool bond_link_update(struct bonding *bond, struct slave *slave)
{
	u8 next = bond_link_next(bond, slave);

	if (next == slave->link)
		return false;
	bond_link_set(bond, slave, next);
	return true;
}

/*
 * Marks are worked off after each slave, so that an updelay is waived for the
 * first link that comes back and not for those that come back with it.
 */
void bond_links_commit(struct bonding *bond)
{
	struct slave *slave;

	ASSERT_RTNL();
	bond_for_each_slave(bond, slave)
		if (bond_link_update(bond, slave))
			bond_apply(bond);
}

void bond_link_carrier_event(struct slave *slave)
{
	struct bonding *bond = slave->bond;

	ASSERT_RTNL();
	if (bond->params.miimon && netif_running(bond->dev) &&
	    bond_link_update(bond, slave))
		bond_miimon_kick(bond, 0);
	bond_arpmon_carrier_event(slave);
	bond_mark(bond, BOND_DIRTY_ARRAY);
	bond_apply(bond);
}

static bool bond_link_monitored(const struct bonding *bond)
{
	return bond->params.miimon || bond->params.arp_interval;
}

void bond_link_initial(struct slave *slave)
{
	struct bonding *bond = slave->bond;
	u8 link = BOND_LINK_UP;

	ASSERT_RTNL();
	if (bond_link_monitored(bond) && !bond_link_sensed(bond, slave))
		link = BOND_LINK_DOWN;
	else if (bond->params.miimon && bond->params.updelay &&
		 !bond_link_updelay_waived(bond))
		link = BOND_LINK_BACK;

	slave->deadline = jiffies + msecs_to_jiffies(bond->params.updelay);
	slave->last_link_up = jiffies;
	/* from nowhere: this is no failure and no return */
	WRITE_ONCE(slave->link_new_state, BOND_LINK_NOCHANGE);
	WRITE_ONCE(slave->link, link);
	slave->info_dirty = 1;
	bond_mark(bond, BOND_DIRTY_ACTIVE);
	bond_mark(bond, BOND_DIRTY_ARRAY);
	bond_mark(bond, BOND_DIRTY_CARRIER);
	bond_mark(bond, BOND_DIRTY_LOWER);
	bond_mark(bond, BOND_DIRTY_INFO);
}

bool bond_slave_read_speed(struct slave *slave)
{
	u32 speed = SPEED_UNKNOWN;
	u8 duplex = DUPLEX_UNKNOWN;
	struct ethtool_link_ksettings set;

	ASSERT_RTNL();
	if (!bond_compat_link_ksettings(slave->dev, &set) &&
	    set.base.speed && set.base.speed != (u32)SPEED_UNKNOWN &&
	    set.base.duplex <= DUPLEX_FULL) {
		speed = set.base.speed;
		duplex = set.base.duplex;
	}
	if (slave->speed == speed && slave->duplex == duplex)
		return false;
	WRITE_ONCE(slave->speed, speed);
	WRITE_ONCE(slave->duplex, duplex);
	if (slave->bond->ops->speed_changed)
		slave->bond->ops->speed_changed(slave->bond, slave);
	return true;
}

/* --- bringing the bond in line --- */

static bool bond_carrier_wanted(const struct bonding *bond)
{
	struct slave *slave;

	if (bond->ops->carrier)
		return bond->ops->carrier(bond);
	bond_for_each_slave(bond, slave)
		if (slave->link == BOND_LINK_UP ||
		    slave->link == BOND_LINK_FAIL)
			return true;
	return false;
}

static void bond_carrier_update(struct bonding *bond)
{
	if (bond_carrier_wanted(bond) == netif_carrier_ok(bond->dev))
		return;
	if (netif_carrier_ok(bond->dev))
		netif_carrier_off(bond->dev);
	else
		netif_carrier_on(bond->dev);
}

static void bond_lower_update(struct bonding *bond)
{
	struct slave *slave;

	bond_ns_joins_update(bond);
	bond_for_each_slave(bond, slave)
		bond_lower_state_notify(slave);
}

static void bond_info_update(struct bonding *bond)
{
	struct slave *slave;

	bond_for_each_slave(bond, slave) {
		if (!slave->info_dirty)
			continue;
		slave->info_dirty = 0;
		bond_info_queue(slave);
	}
}

static bool bond_unmark(struct bonding *bond, enum bond_dirty what)
{
	return test_and_clear_bit(what, &bond->dirty);
}

void bond_apply(struct bonding *bond)
{
	ASSERT_RTNL();
	while (READ_ONCE(bond->dirty)) {
		if (bond_unmark(bond, BOND_DIRTY_MODE) && bond->ops->apply)
			bond->ops->apply(bond);
		if (bond_unmark(bond, BOND_DIRTY_ACTIVE))
			bond_active_select(bond);
		if (bond_unmark(bond, BOND_DIRTY_ARRAY))
			bond_slaves_publish(bond);
		if (bond_unmark(bond, BOND_DIRTY_CARRIER))
			bond_carrier_update(bond);
		if (bond_unmark(bond, BOND_DIRTY_LOWER))
			bond_lower_update(bond);
		if (bond_unmark(bond, BOND_DIRTY_INFO))
			bond_info_update(bond);
		if (bond_unmark(bond, BOND_DIRTY_PEERS))
			bond_peers_notify(bond);
	}
}

void bond_apply_work(struct work_struct *work)
{
	struct bonding *bond = container_of(to_delayed_work(work),
					    struct bonding, apply_work);

	if (!rtnl_trylock()) {
		/* waiting here would block those who cancel us under RTNL */
		queue_delayed_work(bond->wq, &bond->apply_work, 1);
		return;
	}
	bond_apply(bond);
	rtnl_unlock();
}
