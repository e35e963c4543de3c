// SPDX-License-Identifier: GPL-2.0
/*
 * 802.3ad: the mode's room.  Between the machines, which live under a spinlock,
 * and the rest of the driver, which lives under RTNL.
 *
 * What RTNL holders change (links, speeds, addresses, options, slaves) leaves
 * the mark BOND_DIRTY_MODE; bond_apply() answers it with bond_lacp_apply(),
 * which tells the machines, runs them, and makes of the result what slaves are:
 * active, backup, receiving.  What softirqs change (an LACPDU, a timer) is run
 * at once, leaves the same mark and has it worked off later.  Only a port that
 * may not send any more cannot wait: it is taken out of bond->usable there and
 * then.
 */
#include <linux/slab.h>

#include "bond_3ad.h"

/* --- the lock, and what happens when it is given back --- */

void bond_lacp_lock(struct bond_lacp *lacp)
	__acquires(RCU) __acquires(&lacp->lock)
{
	rcu_read_lock();
	spin_lock_bh(&lacp->lock);
	lacp->now = jiffies;
}

/*
 * One at a time, so that an LACPDU does not overtake an older one: the partner
 * would believe that one.
 */
static void bond_lacp_send_all(struct bond_lacp *lacp)
{
	struct sk_buff *skb;

	do {
		if (test_and_set_bit_lock(0, &lacp->sending))
			return;
		for (;;) {
			spin_lock_bh(&lacp->lock);
			skb = __skb_dequeue(&lacp->txq);
			spin_unlock_bh(&lacp->lock);
			if (!skb)
				break;
			dev_queue_xmit(skb);
		}
		clear_bit_unlock(0, &lacp->sending);
		/* who has queued one in between has found us sending */
		smp_mb__after_atomic();
	} while (!skb_queue_empty_lockless(&lacp->txq));
}

static void bond_lacp_timer_arm(struct bond_lacp *lacp)
{
	unsigned long next;

	if (lacp->running && bond_lacp_machines_next(lacp, &next))
		mod_timer(&lacp->timer, next);
}

/* Return: true when RTNL holders have to take something over. */
static bool bond_lacp_run_unlock(struct bond_lacp *lacp)
	__releases(&lacp->lock) __releases(RCU)
{
	bool changed;

	changed = bond_lacp_machines_run(lacp);
	bond_lacp_timer_arm(lacp);
	spin_unlock_bh(&lacp->lock);
	bond_lacp_send_all(lacp);
	rcu_read_unlock();
	return changed;
}

void bond_lacp_unlock(struct bond_lacp *lacp)
	__releases(&lacp->lock) __releases(RCU)
{
	struct bonding *bond = lacp->bond;

	if (!bond_lacp_run_unlock(lacp))
		return;
	bond_mark(bond, BOND_DIRTY_MODE);
	bond_apply_later(bond);
}

static void bond_lacp_timer_run(struct timer_list *timer)
{
	struct bond_lacp *lacp = container_of(timer, struct bond_lacp, timer);

	bond_lacp_lock(lacp);
	bond_lacp_unlock(lacp);
}

/* --- from RTNL to the machines --- */

static const u8 *bond_lacp_system(const struct bonding *bond)
{
	const u8 *system = bond->params.ad_actor_system;

	return is_zero_ether_addr(system) ? bond->dev->dev_addr : system;
}

static void bond_lacp_take_params(struct bond_lacp *lacp)
{
	const struct bond_params *params = &lacp->bond->params;

	lacp->running = netif_running(lacp->bond->dev);
	lacp->coupled = params->coupled_control;
	lacp->active_mode = params->lacp_active;
	lacp->fast = params->lacp_rate;
	lacp->select = params->ad_select;
	lacp->fallback = params->lacp_fallback;
	lacp->fallback_after = params->lacp_fallback_timeout * HZ;
}

/* Who we are has changed: the partner has to know. */
static void bond_lacp_port_identity(struct bond_lacp_port *port)
{
	const struct bonding *bond = port->lacp->bond;
	struct bond_lacp_party *actor = &port->actor;
	struct bond_lacp_party old = *actor;

	actor->sys_prio = bond->params.ad_actor_sys_prio;
	ether_addr_copy(actor->system, bond_lacp_system(bond));
	actor->port_prio = port->slave->actor_port_prio;
	actor->state &= ~(LACP_STATE_LACP_ACTIVITY | LACP_STATE_LACP_TIMEOUT);
	if (port->lacp->active_mode)
		actor->state |= LACP_STATE_LACP_ACTIVITY;
	if (port->lacp->fast)
		actor->state |= LACP_STATE_LACP_TIMEOUT;
	if (memcmp(&old, actor, sizeof(old)))
		port->ntt = true;
}

/*
 * A port without a link keeps its place among the others; whether it still
 * belongs there shows when the link is back.
 */
static void bond_lacp_port_link(struct bond_lacp_port *port)
{
	u16 user = port->lacp->bond->params.ad_user_port_key;
	const struct slave *slave = port->slave;
	bool full = slave->duplex == DUPLEX_FULL;
	bool known = slave->speed != (u32)SPEED_UNKNOWN;
	bool link = slave->link == BOND_LINK_UP ||
		    slave->link == BOND_LINK_FAIL;

	port->speed = known ? slave->speed : BOND_NO_SPEED;
	port->actor.key = bond_lacp_key(user, link ? port->speed :
						     BOND_NO_SPEED,
					link && full);
	port->lacp_enabled = full;
	if (!port->enabled)
		port->since = port->lacp->now;
	port->enabled = link && port->lacp->running;
	if (port->enabled && port->actor.key != port->select_key)
		port->selected = BOND_LACP_UNSELECTED;
}

/* --- from the machines to RTNL --- */

/* Switches have to learn that the bond's addresses are there now, too. */
static void bond_lacp_port_announce(const struct bond_lacp_port *port)
{
	struct bonding *bond = port->lacp->bond;

	if (!bond_slave_is_backup(port->slave))
		return;
	if (bond->params.broadcast_neighbor ||
	    bond->params.lacp_fallback == BOND_LACP_FALLBACK_ACTIVE_BACKUP)
		bond_mark(bond, BOND_DIRTY_PEERS);
}

static void bond_lacp_port_give(const struct bond_lacp_port *port)
{
	struct slave *slave = port->slave;

	if (READ_ONCE(port->tx_on)) {
		bond_lacp_port_announce(port);
		bond_slave_set_active(slave);
	} else if (READ_ONCE(port->rx_on)) {
		bond_slave_set_receiving(slave);
	} else {
		bond_slave_set_backup(slave);
	}
}

static void bond_lacp_apply(struct bonding *bond)
{
	struct bond_lacp *lacp = bond_lacp_of(bond);
	struct bond_lacp_port *port;

	ASSERT_RTNL();
	/* a mark may outlive the bond's last steps */
	if (!lacp)
		return;
	bond_lacp_lock(lacp);
	bond_lacp_take_params(lacp);
	bond_lacp_for_each(lacp, port) {
		bond_lacp_port_identity(port);
		bond_lacp_port_link(port);
	}
	bond_lacp_run_unlock(lacp);

	/* RTNL holds the list; what changes meanwhile leaves a mark again */
	bond_lacp_for_each(lacp, port)
		bond_lacp_port_give(port);
	/* a port may have stopped and started again in between */
	bond_mark(bond, BOND_DIRTY_ARRAY);
	bond_mark(bond, BOND_DIRTY_CARRIER);
}

static bool bond_lacp_usable(const struct bonding *bond,
			     const struct slave *slave)
{
	const struct bond_lacp_port *port = bond_lacp_port_of(slave);

	return bond_slave_is_up(slave) && port && READ_ONCE(port->tx_on);
}

/* Ports of the active aggregator, or all that do without one. */
static unsigned int bond_lacp_serving(const struct bond_lacp *lacp, u8 need)
{
	unsigned int n = bond_lacp_agg_ports(lacp, lacp->active, need);
	const struct bond_lacp_port *port;

	bond_lacp_for_each(lacp, port)
		if (!need && port->agg != lacp->active &&
		    bond_lacp_fallback_on(port))
			n++;
	return n;
}

static int bond_lacp_carrier(const struct bonding *bond)
{
	struct bond_lacp *lacp = bond_lacp_of(bond);
	u8 need = 0;
	int carrier;

	if (bond->params.lacp_strict)
		need = LACP_STATE_COLLECTING | LACP_STATE_DISTRIBUTING;
	spin_lock_bh(&lacp->lock);
	carrier = lacp->active && bond_lacp_serving(lacp, need) >=
					  max(bond->params.min_links, 1U);
	spin_unlock_bh(&lacp->lock);
	return carrier;
}

/* --- events --- */

static void bond_lacp_changed(struct bonding *bond)
{
	bond_mark(bond, BOND_DIRTY_MODE);
}

static void bond_lacp_link_changed(struct bonding *bond, struct slave *slave,
				   u8 old)
{
	bond_lacp_changed(bond);
}

/* Callers of these two do not always work marks off. */
static void bond_lacp_speed_changed(struct bonding *bond, struct slave *slave)
{
	bond_lacp_changed(bond);
	bond_apply_later(bond);
}

static void bond_lacp_mac_changed(struct bonding *bond)
{
	bond_lacp_changed(bond);
	bond_apply_later(bond);
}

/* --- life --- */

static int bond_lacp_init(struct bonding *bond)
{
	struct bond_lacp *lacp;

	lacp = kzalloc(sizeof(*lacp), GFP_KERNEL);
	if (!lacp)
		return -ENOMEM;
	spin_lock_init(&lacp->lock);
	lacp->bond = bond;
	timer_setup(&lacp->timer, bond_lacp_timer_run, 0);
	__skb_queue_head_init(&lacp->txq);
	INIT_LIST_HEAD(&lacp->ports);
	WRITE_ONCE(bond->mode_priv, lacp);
	return 0;
}

static void bond_lacp_exit(struct bonding *bond)
{
	struct bond_lacp *lacp = bond_lacp_of(bond);

	timer_delete_sync(&lacp->timer);
	WRITE_ONCE(bond->mode_priv, NULL);
	/* files of the bond may still be read */
	kfree_rcu(lacp, rcu);
}

/* Slaves listen to LACPDUs while the bond is up. */
static void bond_lacp_start(struct bonding *bond)
{
	struct slave *slave;

	bond_for_each_slave(bond, slave)
		dev_mc_add(slave->dev, bond_lacp_group);
	bond_lacp_changed(bond);
}

/* The partner should not have to find out by silence. */
static void bond_lacp_stop(struct bonding *bond)
{
	struct bond_lacp *lacp = bond_lacp_of(bond);
	struct bond_lacp_port *port;
	struct slave *slave;

	bond_for_each_slave(bond, slave)
		dev_mc_del(slave->dev, bond_lacp_group);
	bond_lacp_lock(lacp);
	lacp->running = false;
	bond_lacp_for_each(lacp, port) {
		bond_lacp_port_farewell(port, true);
		port->enabled = false;
	}
	bond_lacp_unlock(lacp);
	bond_lacp_apply(bond);
	timer_delete_sync(&lacp->timer);
	bond_apply_later(bond);
}

static u16 bond_lacp_port_number(const struct bond_lacp *lacp)
{
	const struct bond_lacp_port *last;

	if (list_empty(&lacp->ports))
		return 1;
	last = list_last_entry(&lacp->ports, struct bond_lacp_port, node);
	/* 0 is no port */
	return (u16)(last->actor.port + 1) ?: 1;
}

static int bond_lacp_slave_add(struct bonding *bond, struct slave *slave,
			       struct netlink_ext_ack *extack)
{
	struct bond_lacp *lacp = bond_lacp_of(bond);
	struct bond_lacp_port *port;

	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return -ENOMEM;
	port->slave = slave;
	port->lacp = lacp;
	bond_lacp_lock(lacp);
	port->actor.port = bond_lacp_port_number(lacp);
	port->actor.state = LACP_STATE_AGGREGATION;
	port->own.id = port->actor.port;
	bond_lacp_port_init(port);
	list_add_tail(&port->node, &lacp->ports);
	WRITE_ONCE(slave->mode_priv, port);
	bond_lacp_unlock(lacp);
	if (netif_running(bond->dev))
		dev_mc_add(slave->dev, bond_lacp_group);
	bond_slave_set_backup(slave);
	bond_lacp_changed(bond);
	return 0;
}

static void bond_lacp_slave_del(struct bonding *bond, struct slave *slave)
{
	struct bond_lacp_port *port = bond_lacp_port_of(slave);
	struct bond_lacp *lacp = bond_lacp_of(bond);

	bond_lacp_lock(lacp);
	bond_lacp_port_farewell(port, false);
	bond_lacp_agg_leave(port);
	list_del(&port->node);
	port->slave = NULL;
	WRITE_ONCE(slave->mode_priv, NULL);
	bond_lacp_unlock(lacp);
	kfree_rcu(port, rcu);
	if (netif_running(bond->dev))
		dev_mc_del(slave->dev, bond_lacp_group);
	bond_lacp_changed(bond);
}

const struct bond_mode_ops bond_mode_8023ad = {
	.name		= "802.3ad",
	.proc_name	= "IEEE 802.3ad Dynamic link aggregation",
	.id		= BOND_MODE_8023AD,
	.lag_tx_type	= NETDEV_LAG_TX_TYPE_HASH,
	.caps		= BOND_CAP_HASH | BOND_CAP_NEEDS_MII | BOND_CAP_SPEED |
			  BOND_CAP_ONE_MAC | BOND_CAP_LACP |
			  BOND_CAP_ETHER_ONLY,
	.init		= bond_lacp_init,
	.exit		= bond_lacp_exit,
	.start		= bond_lacp_start,
	.stop		= bond_lacp_stop,
	.slave_add	= bond_lacp_slave_add,
	.slave_del	= bond_lacp_slave_del,
	.slave_usable	= bond_lacp_usable,
	.link_changed	= bond_lacp_link_changed,
	.speed_changed	= bond_lacp_speed_changed,
	.mac_changed	= bond_lacp_mac_changed,
	.params_changed	= bond_lacp_changed,
	.apply		= bond_lacp_apply,
	.carrier	= bond_lacp_carrier,
	.pick		= bond_hash_pick,
	.pick_now	= bond_lacp_pick_now,
	.xmit		= bond_lacp_xmit,
	.rx		= bond_lacp_rx,
	.proc_show	= bond_lacp_proc_show,
	.proc_show_slave = bond_lacp_proc_show_slave,
	.ad_info	= bond_lacp_ad_info,
	.ad_port	= bond_lacp_ad_port,
	.port_reason	= bond_lacp_port_reason,
	.fill_info	= bond_lacp_fill_info,
	.fill_slave_info = bond_lacp_fill_slave_info,
	.info_size	= bond_lacp_info_size,
	.slave_info_size = bond_lacp_slave_info_size,
	.fill_xstats	= bond_lacp_fill_xstats,
	.xstats_size	= bond_lacp_xstats_size,
};
