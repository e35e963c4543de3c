// SPDX-License-Identifier: GPL-2.0
/*
 * The active slave: who should be it, and what changes when another one is.
 *
 * Owns bond->curr_active_slave, bond->primary and bond->force_primary; all of
 * it under RTNL.  Called by bond_apply(), by enslave and release and by the
 * option setters.
 */
#include "bond_core.h"

/* --- who --- */

static bool bond_active_eligible(const struct slave *slave)
{
	return slave && slave->link == BOND_LINK_UP;
}

/* May the active slave stay?  While downdelay runs, it may. */
static bool bond_active_holds(const struct slave *slave)
{
	return slave && (slave->link == BOND_LINK_UP ||
			 slave->link == BOND_LINK_FAIL);
}

/* The primary if it can serve, else the first of the highest priority. */
static struct slave *bond_active_candidate(const struct bonding *bond,
					   struct slave *current_active)
{
	struct slave *best = bond_primary_rtnl(bond);
	struct slave *slave;

	if (bond_active_eligible(best))
		return best;
	best = NULL;
	if (bond_active_holds(current_active))
		best = current_active;
	bond_for_each_slave(bond, slave)
		if (bond_active_eligible(slave) &&
		    (!best || slave->prio > best->prio))
			best = slave;
	return best;
}

/* The link that will be up soonest. */
static struct slave *bond_active_returning(const struct bonding *bond)
{
	struct slave *best = NULL;
	struct slave *slave;

	bond_for_each_slave(bond, slave)
		if (slave->link == BOND_LINK_BACK &&
		    bond_dev_is_up(slave->dev) &&
		    (!best || time_before(slave->deadline, best->deadline)))
			best = slave;
	return best;
}

static bool bond_active_is_better(const struct slave *a, const struct slave *b)
{
	u32 speed_a = a->speed == SPEED_UNKNOWN ? BOND_NO_SPEED : a->speed;
	u32 speed_b = b->speed == SPEED_UNKNOWN ? BOND_NO_SPEED : b->speed;

	if (speed_a != speed_b)
		return speed_a > speed_b;
	return a->duplex == DUPLEX_FULL && b->duplex != DUPLEX_FULL;
}

static struct slave *bond_active_choose(struct bonding *bond)
{
	struct slave *now = bond_active_rtnl(bond);
	struct slave *cand;

	cand = bond_active_candidate(bond, now);
	if (!cand)
		return bond_active_returning(bond);
	if (!bond_active_holds(now) || cand == now)
		return cand;
	if (bond->force_primary && cand == bond_primary_rtnl(bond))
		return cand;
	switch (bond->params.primary_reselect) {
	case BOND_RESELECT_BETTER:
		return bond_active_is_better(cand, now) ? cand : now;
	case BOND_RESELECT_FAILURE:
		return now;
	default:
		return cand;
	}
}

void bond_active_select(struct bonding *bond)
{
	struct slave *best;

	ASSERT_RTNL();
	best = bond_active_choose(bond);
	if (best && best == bond_primary_rtnl(bond))
		bond->force_primary = false;
	bond_active_change(bond, best);
}

static struct slave *bond_primary_find(const struct bonding *bond)
{
	struct slave *slave;

	if (!bond_has_cap(bond, BOND_CAP_PRIMARY) || !bond->params.primary[0])
		return NULL;
	bond_for_each_slave(bond, slave)
		if (!strcmp(slave->dev->name, bond->params.primary))
			return slave;
	return NULL;
}

void bond_primary_resolve(struct bonding *bond)
{
	struct slave *primary;

	ASSERT_RTNL();
	primary = bond_primary_find(bond);
	if (!primary)
		bond->force_primary = false;
	rcu_assign_pointer(bond->primary, primary);
}

/* --- whose MAC address --- */

/* fail_over_mac=active: the bond takes the address of its active slave. */
static void bond_active_mac_to_bond(struct bonding *bond, struct slave *new)
{
	struct net_device *dev = bond->dev;

	if (!memcmp(dev->dev_addr, new->dev->dev_addr, dev->addr_len))
		return;
	if (bond_compat_pre_changeaddr(dev, new->dev->dev_addr)) {
		bond_warn(bond, "new MAC address was vetoed\n");
		return;
	}
	__dev_addr_set(dev, new->dev->dev_addr, dev->addr_len);
	dev->addr_assign_type = NET_ADDR_STOLEN;
	call_netdevice_notifiers(NETDEV_CHANGEADDR, dev);
	if (bond->ops->mac_changed)
		bond->ops->mac_changed(bond);
}

static void bond_active_mac(struct bonding *bond, struct slave *new)
{
	if (bond_has_cap(bond, BOND_CAP_OWN_MACS))
		bond_macs_follow(bond, new);
	if (!bond_has_cap(bond, BOND_CAP_FOM))
		return;
	switch (bond->params.fail_over_mac) {
	case BOND_FOM_ACTIVE:
		bond_active_mac_to_bond(bond, new);
		break;
	case BOND_FOM_FOLLOW:
		bond_macs_follow(bond, new);
		break;
	}
}

/* --- changing it --- */

/* Without another slave nothing has failed over, and nothing could be sent. */
static void bond_active_announce(struct bonding *bond, const struct slave *new)
{
	if (!new)
		return;
	if (bond_has_cap(bond, BOND_CAP_FOM)) {
		call_netdevice_notifiers(NETDEV_BONDING_FAILOVER, bond->dev);
		bond_peers_notify(bond);
	}
	if (netif_running(bond->dev) &&
	    bond_has_cap(bond, BOND_CAP_IGMP | BOND_CAP_PRIMARY))
		bond_igmp_resend(bond);
}

/* A link that still sits out its updelay comes up now when it is needed. */
static void bond_active_link_up(struct bonding *bond, struct slave *new)
{
	u8 old = new->link;

	if (old != BOND_LINK_BACK)
		return;
	bond_slave_info(bond, new->dev, "link up before the end of updelay\n");
	bond_slave_set_link(new, BOND_LINK_UP);
	if (bond->ops->link_changed)
		bond->ops->link_changed(bond, new, old);
}

void bond_active_change(struct bonding *bond, struct slave *new)
{
	struct slave *old = bond_active_rtnl(bond);

	ASSERT_RTNL();
	if (old == new)
		return;
	if (new)
		bond_active_link_up(bond, new);
	if (bond_has_cap(bond, BOND_CAP_UNLINKED_MCAST))
		bond_rx_mode_move(bond, old, new);
	rcu_assign_pointer(bond->curr_active_slave, new);
	bond_arpmon_active_changed(bond);
	if (bond->ops->active_changed)
		bond->ops->active_changed(bond, old, new);
	bond_mark(bond, BOND_DIRTY_ARRAY);
	if (bond_has_cap(bond, BOND_CAP_PRIMARY)) {
		if (new)
			bond_slave_info(bond, new->dev, "is now active\n");
		else
			bond_info(bond, "no active slave any more\n");
	}
	if (new)
		bond_active_mac(bond, new);
	if (bond->ops->active_ready)
		bond->ops->active_ready(bond, old, new);
	bond_active_announce(bond, new);
}
