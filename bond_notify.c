// SPDX-License-Identifier: GPL-2.0
/*
 * Events in and out: what happens to the slaves' devices, and what the rest of
 * the kernel, user space and the network are told.
 *
 * Notifications come and go under RTNL.  The works behind the announcements
 * never wait for RTNL, they come back a tick later: so they can be cancelled
 * under it.
 */
#include <net/sch_generic.h>

#include "bond_core.h"

#define BOND_PEERS_INTERVAL_MS	100	/* without monitor and option */
#define BOND_IGMP_INTERVAL_MS	200

/* --- what happens to slaves --- */

/*
 * A device with a lock of its own is locked while it tells of its link.  What
 * the packet path reads can follow at once; what calls into the device, as a
 * failover does, has to wait until the lock is free.
 */
static void bond_event_link(struct slave *slave)
{
	struct bonding *bond = slave->bond;

	if (!bond_dev_ops_locked(slave->dev)) {
		bond_link_carrier_event(slave);
		return;
	}
	bond_slaves_publish(bond);
	bond_miimon_kick(bond, 0);
}

static void bond_event_renamed(struct slave *slave)
{
	struct bonding *bond = slave->bond;

	bond_primary_resolve(bond);
	bond_mark(bond, BOND_DIRTY_ACTIVE);
	if (bond_dev_ops_locked(slave->dev))
		bond_apply_later(bond);
	else
		bond_apply(bond);
}

static int bond_slave_event(struct slave *slave, unsigned long event)
{
	struct bonding *bond = slave->bond;

	switch (event) {
	case NETDEV_UNREGISTER:
		bond_release_gone(bond->dev, slave->dev);
		break;
	case NETDEV_UP:
	case NETDEV_CHANGE:
		bond_slave_read_speed(slave);
		bond_event_link(slave);
		break;
	case NETDEV_DOWN:
		bond_event_link(slave);
		break;
	case NETDEV_CHANGENAME:
		bond_event_renamed(slave);
		break;
	case NETDEV_FEAT_CHANGE:
		bond_features_update(bond);
		break;
	case BOND_EVENT_XDP_FEATURES:
		bond_xdp_features_update(bond);
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		/* the bond and the other slaves are of the old type */
		return NOTIFY_BAD;
	case NETDEV_RESEND_IGMP:
		call_netdevice_notifiers(event, bond->dev);
		break;
	}
	return NOTIFY_DONE;
}

static int bond_notify_event(struct notifier_block *nb, unsigned long event,
			     void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	/* flags do not tell: a bond has them, and has some of them early */
	if (rtnl_dereference(dev->rx_handler) != bond_rx_handler)
		return NOTIFY_DONE;
	return bond_slave_event(bond_slave_get_rtnl(dev), event);
}

static struct notifier_block bond_notifier = {
	.notifier_call = bond_notify_event,
};

int bond_notify_register(void)
{
	return register_netdevice_notifier(&bond_notifier);
}

void bond_notify_unregister(void)
{
	unregister_netdevice_notifier(&bond_notifier);
}

/* --- gratuitous ARP and unsolicited NA --- */

static unsigned long bond_peers_interval(const struct bonding *bond)
{
	const struct bond_params *params = &bond->params;
	u32 ms = params->peer_notif_delay;

	if (!ms)
		ms = params->miimon ?: params->arp_interval;
	return msecs_to_jiffies(ms ?: BOND_PEERS_INTERVAL_MS);
}

/*
 * Frames that are sent before the link watch has looked at a device are lost in
 * its empty qdisc.  A bond that came up with its carrier on has a qdisc,
 * whatever the link watch has still to do for it.
 */
static bool bond_link_settling(const struct bonding *bond)
{
	const struct slave *slave = bond_active_rtnl(bond);

	return qdisc_tx_is_noop(bond->dev) ||
	       (slave && test_bit(__LINK_STATE_LINKWATCH_PENDING,
				  &slave->dev->state));
}

static void bond_peers_step(struct bonding *bond)
{
	unsigned long delay = bond_peers_interval(bond);

	/* the next active slave starts anew */
	if (bond_has_cap(bond, BOND_CAP_PRIMARY) && !bond_active_rtnl(bond))
		bond->peers_left = 0;
	if (!bond->peers_left)
		return;
	if (bond_link_settling(bond)) {
		delay = 1;
	} else if (netif_carrier_ok(bond->dev)) {
		bond->peers_left--;
		call_netdevice_notifiers(NETDEV_NOTIFY_PEERS, bond->dev);
	}
	if (bond->peers_left)
		mod_delayed_work(bond->wq, &bond->peers_work, delay);
}

static void bond_peers_work(struct work_struct *work)
{
	struct bonding *bond = container_of(to_delayed_work(work),
					    struct bonding, peers_work);

	if (!rtnl_trylock()) {
		queue_delayed_work(bond->wq, &bond->peers_work, 1);
		return;
	}
	bond_peers_step(bond);
	rtnl_unlock();
}

void bond_peers_notify(struct bonding *bond)
{
	ASSERT_RTNL();
	if (!netif_running(bond->dev))
		return;
	bond->peers_left = bond->params.num_peer_notif;
	bond_peers_step(bond);
}

/* --- IGMP and MLD --- */

/* Listeners are used to hearing of the new slave's address first. */
static bool bond_peers_unsent(const struct bonding *bond)
{
	return netif_carrier_ok(bond->dev) && bond->peers_left &&
	       bond->peers_left == bond->params.num_peer_notif;
}

static void bond_igmp_step(struct bonding *bond)
{
	unsigned long delay = msecs_to_jiffies(BOND_IGMP_INTERVAL_MS);

	if (!bond_active_rtnl(bond))
		bond->igmp_left = 0;
	if (!bond->igmp_left)
		return;
	if (bond_link_settling(bond) || bond_peers_unsent(bond)) {
		delay = 1;
	} else {
		bond->igmp_left--;
		call_netdevice_notifiers(NETDEV_RESEND_IGMP, bond->dev);
	}
	if (bond->igmp_left)
		mod_delayed_work(bond->wq, &bond->igmp_work, delay);
}

static void bond_igmp_work(struct work_struct *work)
{
	struct bonding *bond = container_of(to_delayed_work(work),
					    struct bonding, igmp_work);

	if (!rtnl_trylock()) {
		queue_delayed_work(bond->wq, &bond->igmp_work, 1);
		return;
	}
	bond_igmp_step(bond);
	rtnl_unlock();
}

void bond_igmp_resend(struct bonding *bond)
{
	ASSERT_RTNL();
	if (!netif_running(bond->dev))
		return;
	bond->igmp_left = bond->params.resend_igmp;
	if (bond->igmp_left)
		mod_delayed_work(bond->wq, &bond->igmp_work, 1);
}

void bond_notify_init(struct bonding *bond)
{
	INIT_DELAYED_WORK(&bond->peers_work, bond_peers_work);
	INIT_DELAYED_WORK(&bond->igmp_work, bond_igmp_work);
}

void bond_notify_stop(struct bonding *bond)
{
	ASSERT_RTNL();
	bond->peers_left = 0;
	bond->igmp_left = 0;
	cancel_delayed_work_sync(&bond->peers_work);
	cancel_delayed_work_sync(&bond->igmp_work);
}

/* --- state of slaves --- */

void bond_fill_ifbond(const struct bonding *bond, struct ifbond *info)
{
	info->bond_mode = bond->ops->id;
	info->num_slaves = bond->slave_cnt;
	info->miimon = bond->params.miimon;
}

static int bond_slave_index(const struct slave *slave)
{
	const struct slave *other;
	int i = 0;

	bond_for_each_slave(slave->bond, other) {
		if (other == slave)
			break;
		i++;
	}
	return i;
}

void bond_fill_ifslave(const struct slave *slave, struct ifslave *info)
{
	info->slave_id = bond_slave_index(slave);
	strscpy(info->slave_name, slave->dev->name, sizeof(info->slave_name));
	info->link = slave->link;
	info->state = bond_slave_is_backup(slave) ? BOND_STATE_BACKUP :
						    BOND_STATE_ACTIVE;
	info->link_failure_count = slave->link_failure_count;
}

void bond_info_work(struct work_struct *work)
{
	struct slave *slave = container_of(to_delayed_work(work), struct slave,
					   info_work);
	struct netdev_bonding_info info = {};

	if (!rtnl_trylock()) {
		queue_delayed_work(slave->bond->wq, &slave->info_work, 1);
		return;
	}
	bond_fill_ifslave(slave, &info.slave);
	bond_fill_ifbond(slave->bond, &info.master);
	netdev_bonding_info_change(slave->dev, &info);
	rtnl_unlock();
}

void bond_info_queue(struct slave *slave)
{
	queue_delayed_work(slave->bond->wq, &slave->info_work, 0);
}

void bond_lower_state_notify(struct slave *slave)
{
	struct netdev_lag_lower_state_info info = {
		.link_up = slave->link == BOND_LINK_UP ||
			   slave->link == BOND_LINK_FAIL,
		.tx_enabled = !bond_slave_is_backup(slave),
	};

	ASSERT_RTNL();
	/* netlink listeners hear of any change of state by this event */
	if (!slave->info_dirty && info.link_up == slave->lower_link_up &&
	    info.tx_enabled == slave->lower_tx_enabled)
		return;
	slave->lower_link_up = info.link_up;
	slave->lower_tx_enabled = info.tx_enabled;
	netdev_lower_state_changed(slave->dev, &info);
}
