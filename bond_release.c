// SPDX-License-Identifier: GPL-2.0
/*
 * A slave becomes a plain device again.
 *
 * Traffic is moved first, then everything that enslavement did is undone, and
 * the device ends as it came: its MAC address, its MTU, down.  Cannot fail.
 *
 * RTNL; called by ndo_del_slave, the sysfs file "slaves", the ioctls, by the
 * end of a bond and by the notifier when a slave's device goes away.
 */
#include <linux/if_arp.h>
#include <linux/if_vlan.h>

#include "bond_enslave.h"

static bool bond_slave_keeps_mac(const struct slave *slave)
{
	const struct bonding *bond = slave->bond;

	return bond_has_cap(bond, BOND_CAP_FOM) &&
	       bond->params.fail_over_mac == BOND_FOM_ACTIVE;
}

void bond_slave_mac_restore(struct slave *slave)
{
	struct net_device *dev = slave->dev;
	int err = 0;

	if (bond_slave_keeps_mac(slave))
		return;
	if (memcmp(dev->dev_addr, slave->perm_hwaddr, slave->perm_len))
		err = bond_compat_set_mac(dev, slave->perm_hwaddr,
					  slave->perm_len);
	if (err)
		bond_slave_warn(slave->bond, dev,
				"MAC address cannot be set back (%d)\n", err);
	else
		dev->addr_assign_type = slave->orig_addr_type;
}

/*
 * A device that has left the rest of the network must not be announced any
 * more: listeners would set up again what they have just torn down.
 */
static int bond_mtu_set_quietly(struct net_device *dev, u32 mtu)
{
	int err = 0;

	bond_dev_lock(dev);
	if (dev->netdev_ops->ndo_change_mtu)
		err = dev->netdev_ops->ndo_change_mtu(dev, mtu);
	else
		WRITE_ONCE(dev->mtu, mtu);
	bond_dev_unlock(dev);
	return err;
}

static void bond_slave_mtu_restore(struct slave *slave, bool gone)
{
	struct net_device *dev = slave->dev;
	int err;

	if (dev->mtu == slave->orig_mtu)
		return;
	if (gone)
		err = bond_mtu_set_quietly(dev, slave->orig_mtu);
	else
		err = dev_set_mtu(dev, slave->orig_mtu);
	if (err)
		bond_slave_warn(slave->bond, dev,
				"MTU cannot be set back to %u bytes (%d)\n",
				slave->orig_mtu, err);
}

static void bond_slave_mac_warn(const struct slave *slave)
{
	const struct bonding *bond = slave->bond;

	if (bond->dev->reg_state != NETREG_REGISTERED ||
	    bond->slave_cnt < 2 || bond_slave_keeps_mac(slave) ||
	    memcmp(slave->perm_hwaddr, bond->dev->dev_addr, slave->perm_len))
		return;
	bond_slave_warn(bond, slave->dev,
			"its permanent HWaddr %*phC is still the one of the bond\n",
			slave->perm_len, slave->perm_hwaddr);
}

/* A bond that was a slave is still a bond. */
void bond_dev_flag_clear(struct net_device *dev)
{
	if (!netif_is_bond_master(dev))
		dev->priv_flags &= ~IFF_BONDING;
}

/*
 * The flag that leads others from the device to the bond goes before the wait
 * for readers in netdev_rx_handler_unregister(), the link to the bond after it.
 */
static void bond_slave_unlink(struct slave *slave)
{
	struct net_device *bond_dev = slave->bond->dev;
	struct net_device *dev = slave->dev;

	slave->kobj_live = 0;
	kobject_del(&slave->kobj);
	bond_dev_flag_clear(dev);
	netdev_rx_handler_unregister(dev);
	bond_xdp_slave_del(slave);
	bond_stats_slave_del(slave);
	bond_netpoll_slave_del(slave);
	bond_xmit_special_update(slave->bond);
	netdev_upper_dev_unlink(dev, bond_dev);
	dev->flags &= ~IFF_SLAVE;
	bond_xdp_pick_update(dev);
	bond_rx_mode_take(slave->bond, dev);
	vlan_vids_del_by_dev(dev, bond_dev);
}

/* The address was the first slave's: it must not be seen in two places. */
static void bond_emptied(struct bonding *bond)
{
	struct net_device *dev = bond->dev;

	eth_hw_addr_random(dev);
	if (bond->ops->mac_changed)
		bond->ops->mac_changed(bond);
	if (dev->reg_state != NETREG_REGISTERED)
		return;
	call_netdevice_notifiers(NETDEV_CHANGEADDR, dev);
	call_netdevice_notifiers(NETDEV_RELEASE, dev);
}

static void bond_slave_dev_restore(struct slave *slave, bool gone)
{
	struct net_device *dev = slave->dev;

	dev_close(dev);
	bond_dev_addrconf_on(dev);
	if (bond_has_cap(slave->bond, BOND_CAP_OWN_MACS))
		bond_macs_yield(slave->bond, slave->perm_hwaddr);
	bond_slave_mac_restore(slave);
	bond_slave_mtu_restore(slave, gone);
	if (gone || !(dev->wanted_features & ~dev->features & NETIF_F_LRO))
		return;
	bond_dev_lock(dev);
	netdev_update_features(dev);
	bond_dev_unlock(dev);
}

static void bond_slave_release(struct slave *slave, bool gone)
{
	struct bonding *bond = slave->bond;

	bond_slave_mac_warn(slave);
	bond_slave_set_backup(slave);
	bond_lower_state_notify(slave);
	bond_slave_detach(slave);
	bond_slave_unlink(slave);
	if (!bond_has_slaves(bond))
		bond_emptied(bond);
	bond_features_update(bond);
	bond_xdp_features_update(bond);
	bond_slave_dev_restore(slave, gone);
	bond_slave_info(bond, slave->dev, "released\n");
	cancel_delayed_work_sync(&slave->info_work);
	kobject_put(&slave->kobj);
}

int bond_release(struct net_device *bond_dev, struct net_device *slave_dev)
{
	struct bonding *bond = netdev_priv(bond_dev);
	struct slave *slave;

	ASSERT_RTNL();
	slave = bond_slave_by_dev(bond, slave_dev);
	if (!slave) {
		bond_info(bond, "%s is not a slave of this bond\n",
			  slave_dev->name);
		return -EINVAL;
	}
	bond_slave_release(slave, false);
	return 0;
}

/*
 * Code that served the bond's old type may go away with the device's module, so
 * an empty bond of another type than Ethernet is not kept.
 */
static void bond_destroy_if_foreign(struct bonding *bond)
{
	if (bond->dev->type == ARPHRD_ETHER || bond_has_slaves(bond) ||
	    bond->dev->reg_state != NETREG_REGISTERED)
		return;
	bond_info(bond, "destroyed with its last slave\n");
	unregister_netdevice(bond->dev);
}

int bond_release_gone(struct net_device *bond_dev, struct net_device *slave_dev)
{
	struct bonding *bond = netdev_priv(bond_dev);
	struct slave *slave;

	ASSERT_RTNL();
	slave = bond_slave_by_dev(bond, slave_dev);
	if (!slave)
		return -EINVAL;
	bond_slave_release(slave, true);
	bond_destroy_if_foreign(bond);
	return 0;
}
