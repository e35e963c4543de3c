// SPDX-License-Identifier: GPL-2.0
/*
 * A device becomes a slave.
 *
 * Three parts: bond_enslave_check() refuses what cannot work, a table of steps
 * does what may fail, each with its undo, and bond_enslave_commit() does what
 * cannot fail, above all what others see of the bond: link type, MAC address,
 * features, and at last the traffic.  So a failure in any step leaves bond and
 * device as they were.
 *
 * All of it under RTNL; called by ndo_add_slave, the sysfs file "slaves" and
 * the ioctls.
 */
#include <linux/if_vlan.h>
#include <linux/slab.h>

#include "bond_enslave.h"
#include "bond_hash.h"

/* --- steps --- */

static int bond_step_type(struct bond_enslave *e)
{
	int err;

	if (!e->new_type)
		return 0;
	err = bond_type_ask(e->bond);
	if (err)
		bond_enslave_why(e, "%s may not take link type %u",
				 e->bond->dev->name, e->dev->type);
	return err;
}

static void bond_step_type_undo(struct bond_enslave *e)
{
	if (e->new_type)
		bond_type_told(e->bond);
}

static int bond_step_fom(struct bond_enslave *e)
{
	e->old_fom = e->bond->params.fail_over_mac;
	if (e->fom_active)
		e->bond->params.fail_over_mac = BOND_FOM_ACTIVE;
	return 0;
}

static void bond_step_fom_undo(struct bond_enslave *e)
{
	e->bond->params.fail_over_mac = e->old_fom;
}

static int bond_step_slave(struct bond_enslave *e)
{
	struct net_device *dev = e->dev;
	struct slave *slave;

	slave = kzalloc(sizeof(*slave), GFP_KERNEL);
	if (!slave)
		return -ENOMEM;
	slave->pcpu = alloc_percpu(struct bond_slave_pcpu);
	if (!slave->pcpu) {
		kfree(slave);
		return -ENOMEM;
	}
	slave->bond = e->bond;
	slave->dev = dev;
	slave->speed = SPEED_UNKNOWN;
	slave->duplex = DUPLEX_UNKNOWN;
	slave->link_new_state = BOND_LINK_NOCHANGE;
	slave->actor_port_prio = BOND_PORT_PRIO_DEFAULT;
	slave->orig_mtu = dev->mtu;
	slave->orig_addr_type = dev->addr_assign_type;
	slave->perm_len = dev->addr_len;
	memcpy(slave->perm_hwaddr, dev->dev_addr, dev->addr_len);
	INIT_DELAYED_WORK(&slave->info_work, bond_info_work);
	kobject_init(&slave->kobj, &bond_slave_ktype);
	e->slave = slave;
	return 0;
}

static void bond_step_slave_undo(struct bond_enslave *e)
{
	kobject_put(&e->slave->kobj);
}

/* Only a question: the address is taken over when nothing can fail any more. */
static int bond_step_inherit(struct bond_enslave *e)
{
	int err;

	if (!e->inherit)
		return 0;
	err = bond_compat_pre_changeaddr(e->bond->dev, e->dev->dev_addr);
	if (err)
		bond_enslave_why(e, "%s may not have its MAC (%d)",
				 e->bond->dev->name, err);
	return err;
}

static int bond_step_mtu(struct bond_enslave *e)
{
	int err;

	err = dev_set_mtu(e->dev, e->bond->dev->mtu);
	if (err)
		bond_enslave_why(e, "MTU of %u is not possible (%d)",
				 e->bond->dev->mtu, err);
	return err;
}

static void bond_step_mtu_undo(struct bond_enslave *e)
{
	if (dev_set_mtu(e->dev, e->slave->orig_mtu))
		bond_slave_warn(e->bond, e->dev,
				"MTU cannot be set back to %u bytes\n",
				e->slave->orig_mtu);
}

static bool bond_mac_is_bonds(const struct bond_enslave *e)
{
	return !e->inherit && e->dev->addr_len == ETH_ALEN &&
	       ether_addr_equal(e->dev->dev_addr, e->bond->dev->dev_addr);
}

/*
 * The address that the slave has to have; NULL when it keeps its own.  With
 * fail_over_mac=follow only the active slave may carry the bond's address, so
 * one that happens to have the same gets another.
 */
static const u8 *bond_mac_wanted(const struct bond_enslave *e, u8 *buf)
{
	const struct bonding *bond = e->bond;

	if (bond_has_cap(bond, BOND_CAP_OWN_MACS)) {
		if (!bond_has_slaves(bond) ||
		    !bond_macs_taken(bond, e->dev->dev_addr))
			return NULL;
		return bond_macs_vacant(bond, e->dev);
	}
	if (bond_has_cap(bond, BOND_CAP_FOM)) {
		if (bond->params.fail_over_mac == BOND_FOM_ACTIVE)
			return NULL;
		if (bond->params.fail_over_mac == BOND_FOM_FOLLOW) {
			if (!bond_has_slaves(bond) || !bond_mac_is_bonds(e))
				return NULL;
			eth_random_addr(buf);
			return buf;
		}
	}
	memcpy(buf, e->inherit ? e->dev->dev_addr : bond->dev->dev_addr,
	       e->dev->addr_len);
	return buf;
}

static int bond_step_mac(struct bond_enslave *e)
{
	u8 buf[MAX_ADDR_LEN];
	const u8 *addr;
	int err;

	addr = bond_mac_wanted(e, buf);
	if (!addr)
		return 0;
	err = bond_compat_set_mac(e->dev, addr, e->dev->addr_len);
	if (err)
		bond_enslave_why(e, "MAC address cannot be changed (%d)", err);
	return err;
}

static void bond_step_mac_undo(struct bond_enslave *e)
{
	bond_slave_mac_restore(e->slave);
}

static int bond_step_open(struct bond_enslave *e)
{
	int err;

	bond_dev_addrconf_off(e->dev);
	err = dev_open(e->dev, e->extack);
	if (!err)
		return 0;
	bond_dev_addrconf_on(e->dev);
	bond_enslave_why(e, "device cannot be set up (%d)", err);
	return err;
}

static void bond_step_open_undo(struct bond_enslave *e)
{
	dev_close(e->dev);
	bond_dev_addrconf_on(e->dev);
}

static int bond_step_vlans(struct bond_enslave *e)
{
	int err;

	err = vlan_vids_add_by_dev(e->dev, e->bond->dev);
	if (err)
		bond_enslave_why(e, "VLANs of %s are refused (%d)",
				 e->bond->dev->name, err);
	return err;
}

static void bond_step_vlans_undo(struct bond_enslave *e)
{
	vlan_vids_del_by_dev(e->dev, e->bond->dev);
}

static void bond_slave_list_add(struct slave *slave)
{
	struct bonding *bond = slave->bond;

	list_add_tail_rcu(&slave->list, &bond->slaves);
	WRITE_ONCE(bond->slave_cnt, bond->slave_cnt + 1);
}

static void bond_slave_list_del(struct slave *slave)
{
	struct bonding *bond = slave->bond;

	list_del_rcu(&slave->list);
	WRITE_ONCE(bond->slave_cnt, bond->slave_cnt - 1);
}

static void bond_slave_first_speed(struct slave *slave)
{
	bond_dev_lock(slave->dev);
	bond_slave_read_speed(slave);
	bond_dev_unlock(slave->dev);
}

/* From here on the bond and its mode know the slave; no traffic goes to it. */
static int bond_step_mode(struct bond_enslave *e)
{
	const struct bond_mode_ops *ops = e->bond->ops;
	struct slave *slave = e->slave;
	int err;

	bond_stats_slave_add(slave);
	bond_slave_list_add(slave);
	err = ops->slave_add ? ops->slave_add(e->bond, slave, e->extack) : 0;
	if (err) {
		bond_slave_list_del(slave);
		bond_enslave_why(e, "mode %s refused (%d)", ops->name, err);
		return err;
	}
	bond_slave_first_speed(slave);
	bond_link_initial(slave);
	return 0;
}

void bond_slave_detach(struct slave *slave)
{
	struct bonding *bond = slave->bond;

	bond_slaves_retire(bond, slave);
	if (bond_active_rtnl(bond) == slave)
		bond_active_change(bond, NULL);
	if (bond->ops->slave_del)
		bond->ops->slave_del(bond, slave);
	bond_ns_slave_del(slave);
	bond_slave_list_del(slave);
	bond_primary_resolve(bond);
	bond_mark(bond, BOND_DIRTY_ACTIVE);
	bond_mark(bond, BOND_DIRTY_ARRAY);
	bond_mark(bond, BOND_DIRTY_CARRIER);
	bond_apply(bond);
}

static void bond_step_mode_undo(struct bond_enslave *e)
{
	bond_slave_detach(e->slave);
}

static int bond_step_netpoll(struct bond_enslave *e)
{
	int err;

	err = bond_netpoll_slave_add(e->slave);
	if (err)
		bond_enslave_why(e, "no netpoll, %s needs it (%d)",
				 e->bond->dev->name, err);
	return err;
}

static void bond_step_netpoll_undo(struct bond_enslave *e)
{
	bond_netpoll_slave_del(e->slave);
}

/* Before the bond receives anything: the program may be there to stop it. */
static int bond_step_xdp(struct bond_enslave *e)
{
	int err;

	err = bond_xdp_slave_add(e->slave, e->extack);
	if (err)
		bond_enslave_why(e, "XDP program of %s is refused (%d)",
				 e->bond->dev->name, err);
	return err;
}

static void bond_step_xdp_undo(struct bond_enslave *e)
{
	bond_xdp_slave_del(e->slave);
}

static int bond_step_handler(struct bond_enslave *e)
{
	int err;

	err = netdev_rx_handler_register(e->dev, bond_rx_handler, e->slave);
	if (err)
		bond_enslave_why(e, "its frames cannot be received (%d)", err);
	return err;
}

static void bond_step_handler_undo(struct bond_enslave *e)
{
	netdev_rx_handler_unregister(e->dev);
}

/* Who sees the flags finds the bond: they come after the link. */
static int bond_step_link(struct bond_enslave *e)
{
	const struct bonding *bond = e->bond;
	struct netdev_lag_upper_info info = {
		.tx_type = bond->ops->lag_tx_type,
		.hash_type = NETDEV_LAG_HASH_NONE,
	};
	int err;

	if (bond_has_cap(bond, BOND_CAP_HASH))
		info.hash_type =
			bond_hash_lag_type(bond->params.xmit_hash_policy);
	err = netdev_master_upper_dev_link(e->dev, bond->dev, e->slave, &info,
					   e->extack);
	if (err) {
		bond_enslave_why(e, "cannot be put below %s (%d)",
				 bond->dev->name, err);
		return err;
	}
	e->dev->flags |= IFF_SLAVE;
	bond_xdp_pick_update(e->dev);
	e->dev->priv_flags |= IFF_BONDING;
	return 0;
}

static void bond_step_link_undo(struct bond_enslave *e)
{
	bond_dev_flag_clear(e->dev);
	e->dev->flags &= ~IFF_SLAVE;
	bond_xdp_pick_update(e->dev);
	/* an XDP program of the device may have seen the flags */
	synchronize_net();
	netdev_upper_dev_unlink(e->dev, e->bond->dev);
}

static int bond_step_sysfs(struct bond_enslave *e)
{
	int err;

	err = kobject_add(&e->slave->kobj, &e->dev->dev.kobj, "bonding_slave");
	if (err) {
		bond_enslave_why(e, "no sysfs directory (%d)", err);
		return err;
	}
	e->slave->kobj_live = 1;
	return 0;
}

static void bond_step_sysfs_undo(struct bond_enslave *e)
{
	e->slave->kobj_live = 0;
	kobject_del(&e->slave->kobj);
}

static int bond_step_rx_mode(struct bond_enslave *e)
{
	int err;

	/* lists of another type are emptied before they reach the slave */
	if (e->new_type)
		return 0;
	err = bond_rx_mode_give(e->bond, e->dev);
	if (err)
		bond_enslave_why(e, "addresses of %s are refused (%d)",
				 e->bond->dev->name, err);
	return err;
}

static void bond_step_rx_mode_undo(struct bond_enslave *e)
{
	if (!e->new_type)
		bond_rx_mode_take(e->bond, e->dev);
}

static const struct bond_step {
	int (*act)(struct bond_enslave *e);
	void (*undo)(struct bond_enslave *e);
} bond_steps[] = {
	{ bond_step_type,	bond_step_type_undo },
	{ bond_step_fom,	bond_step_fom_undo },
	{ bond_step_slave,	bond_step_slave_undo },
	{ bond_step_inherit,	NULL },
	{ bond_step_mtu,	bond_step_mtu_undo },
	{ bond_step_mac,	bond_step_mac_undo },
	{ bond_step_open,	bond_step_open_undo },
	{ bond_step_vlans,	bond_step_vlans_undo },
	{ bond_step_mode,	bond_step_mode_undo },
	{ bond_step_netpoll,	bond_step_netpoll_undo },
	{ bond_step_xdp,	bond_step_xdp_undo },
	{ bond_step_handler,	bond_step_handler_undo },
	{ bond_step_link,	bond_step_link_undo },
	{ bond_step_sysfs,	bond_step_sysfs_undo },
	{ bond_step_rx_mode,	bond_step_rx_mode_undo },
};

static int bond_enslave_steps(struct bond_enslave *e)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(bond_steps); i++) {
		err = bond_steps[i].act(e);
		if (err)
			goto undo;
	}
	return 0;

undo:
	while (i--)
		if (bond_steps[i].undo)
			bond_steps[i].undo(e);
	return err;
}

/* --- what cannot fail --- */

static void bond_inherit_mac(struct bonding *bond, const struct net_device *dev)
{
	__dev_addr_set(bond->dev, dev->dev_addr, dev->addr_len);
	bond->dev->addr_assign_type = NET_ADDR_STOLEN;
}

static void bond_commit_identity(struct bond_enslave *e)
{
	struct bonding *bond = e->bond;

	if (e->new_type)
		bond_type_take(bond, e->dev);
	if (e->inherit)
		bond_inherit_mac(bond, e->dev);
	if (e->new_type) {
		bond_type_told(bond);
		if (bond_rx_mode_give(bond, e->dev))
			bond_slave_warn(bond, e->dev,
					"addresses cannot be added\n");
	}
	if (e->inherit) {
		call_netdevice_notifiers(NETDEV_CHANGEADDR, bond->dev);
		if (bond->ops->mac_changed)
			bond->ops->mac_changed(bond);
	}
}

static void bond_commit_features(struct bond_enslave *e)
{
	/* with the bond on top of it, the device has to do without LRO, too */
	if (!(e->bond->dev->wanted_features & NETIF_F_LRO) &&
	    (e->dev->features & NETIF_F_LRO)) {
		bond_dev_lock(e->dev);
		netdev_update_features(e->dev);
		bond_dev_unlock(e->dev);
	}
	bond_features_update(e->bond);
	bond_xdp_features_update(e->bond);
}

static void bond_commit_log(const struct bond_enslave *e)
{
	const struct bonding *bond = e->bond;

	if (e->fom_active)
		bond_slave_info(bond, e->dev,
				"MAC address cannot be changed, fail_over_mac is now active\n");
	if (e->dev->features & NETIF_F_VLAN_CHALLENGED)
		bond_slave_warn(bond, e->dev,
				"cannot carry VLANs, neither can the bond now\n");
	bond_slave_info(bond, e->dev, "enslaved, %s, link %s\n",
			bond_slave_is_backup(e->slave) ? "backup" : "active",
			e->slave->link == BOND_LINK_UP ? "up" : "not up");
}

static void bond_enslave_commit(struct bond_enslave *e)
{
	bond_commit_identity(e);
	call_netdevice_notifiers(NETDEV_JOIN, e->dev);
	bond_commit_features(e);
	bond_primary_resolve(e->bond);
	/* one that comes anew takes over whatever primary_reselect says */
	if (bond_primary_rtnl(e->bond) == e->slave)
		e->bond->force_primary = true;
	bond_apply(e->bond);
	bond_commit_log(e);
}

int bond_enslave(struct net_device *bond_dev, struct net_device *slave_dev,
		 struct netlink_ext_ack *extack)
{
	struct bond_enslave e = {
		.bond = netdev_priv(bond_dev),
		.dev = slave_dev,
		.extack = extack,
	};
	int err;

	ASSERT_RTNL();
	err = bond_enslave_check(&e);
	if (!err)
		err = bond_enslave_steps(&e);
	if (err)
		return err;
	bond_enslave_commit(&e);
	return 0;
}
