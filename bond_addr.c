// SPDX-License-Identifier: GPL-2.0
/*
 * What a bond hands down to its slaves: promiscuity, address lists, VLAN
 * filters, MTU and MAC address.
 *
 * In most modes every slave has what the bond has.  Where only the active slave
 * receives (BOND_CAP_UNLINKED_MCAST), only that one has promiscuity and address
 * lists, and they move with it.  Address lists are on slaves only while the
 * bond is up.
 *
 * RTNL, but bond_set_rx_mode(): that runs with the bond's address lock held and
 * must not sleep.  What fails for one slave is undone for the others.
 */
#include <linux/if_arp.h>
#include <linux/if_vlan.h>

#include "bond_enslave.h"

/* --- promiscuity and address lists --- */

static void bond_flags_take(const struct bonding *bond, struct net_device *dev)
{
	if (bond->dev->flags & IFF_ALLMULTI)
		dev_set_allmulti(dev, -1);
	if (bond->dev->flags & IFF_PROMISC)
		dev_set_promiscuity(dev, -1);
}

static int bond_flags_give(const struct bonding *bond, struct net_device *dev)
{
	int err = 0;

	if (bond->dev->flags & IFF_PROMISC)
		err = dev_set_promiscuity(dev, 1);
	if (err)
		return err;
	if (bond->dev->flags & IFF_ALLMULTI)
		err = dev_set_allmulti(dev, 1);
	if (err && (bond->dev->flags & IFF_PROMISC))
		dev_set_promiscuity(dev, -1);
	return err;
}

static void bond_lists_take(const struct bonding *bond, struct net_device *dev)
{
	dev_uc_unsync(dev, bond->dev);
	dev_mc_unsync(dev, bond->dev);
}

/* The caller holds the bond's address lock. */
static int bond_lists_sync(const struct bonding *bond, struct net_device *dev)
{
	int err;

	if (bond_has_cap(bond, BOND_CAP_UNLINKED_MCAST)) {
		err = dev_uc_sync(dev, bond->dev);
		return err ?: dev_mc_sync(dev, bond->dev);
	}
	err = dev_uc_sync_multiple(dev, bond->dev);
	return err ?: dev_mc_sync_multiple(dev, bond->dev);
}

static int bond_lists_give(const struct bonding *bond, struct net_device *dev)
{
	int err;

	if (!(bond->dev->flags & IFF_UP))
		return 0;
	netif_addr_lock_bh(bond->dev);
	err = bond_lists_sync(bond, dev);
	netif_addr_unlock_bh(bond->dev);
	if (err)
		bond_lists_take(bond, dev);
	return err;
}

static int bond_rx_mode_add(const struct bonding *bond, struct net_device *dev)
{
	int err;

	err = bond_flags_give(bond, dev);
	if (err)
		return err;
	err = bond_lists_give(bond, dev);
	if (err)
		bond_flags_take(bond, dev);
	return err;
}

int bond_rx_mode_give(struct bonding *bond, struct net_device *dev)
{
	if (bond_has_cap(bond, BOND_CAP_UNLINKED_MCAST))
		return 0;
	return bond_rx_mode_add(bond, dev);
}

void bond_rx_mode_take(struct bonding *bond, struct net_device *dev)
{
	if (bond_has_cap(bond, BOND_CAP_UNLINKED_MCAST))
		return;
	bond_flags_take(bond, dev);
	bond_lists_take(bond, dev);
}

void bond_rx_mode_move(struct bonding *bond, struct slave *old,
		       struct slave *new)
{
	ASSERT_RTNL();
	if (old) {
		bond_flags_take(bond, old->dev);
		bond_lists_take(bond, old->dev);
	}
	if (new && bond_rx_mode_add(bond, new->dev))
		bond_slave_warn(bond, new->dev,
				"addresses of the bond cannot be added\n");
}

void bond_rx_mode_drop(struct bonding *bond)
{
	struct slave *slave;

	ASSERT_RTNL();
	bond_for_each_slave(bond, slave)
		bond_lists_take(bond, slave->dev);
}

void bond_set_rx_mode(struct net_device *dev)
{
	struct bonding *bond = netdev_priv(dev);
	struct slave *slave;

	rcu_read_lock();
	if (bond_has_cap(bond, BOND_CAP_UNLINKED_MCAST)) {
		slave = rcu_dereference(bond->curr_active_slave);
		if (slave)
			bond_lists_sync(bond, slave->dev);
	} else {
		bond_for_each_slave_rcu(bond, slave)
			bond_lists_sync(bond, slave->dev);
	}
	rcu_read_unlock();
}

static void bond_slave_rx_flags(const struct bonding *bond,
				const struct slave *slave, int change)
{
	unsigned int flags = bond->dev->flags;

	if (change & IFF_PROMISC)
		dev_set_promiscuity(slave->dev, flags & IFF_PROMISC ? 1 : -1);
	if (change & IFF_ALLMULTI)
		dev_set_allmulti(slave->dev, flags & IFF_ALLMULTI ? 1 : -1);
}

void bond_change_rx_flags(struct net_device *dev, int change)
{
	struct bonding *bond = netdev_priv(dev);
	struct slave *slave;

	if (bond_has_cap(bond, BOND_CAP_UNLINKED_MCAST)) {
		slave = bond_active_rtnl(bond);
		if (slave)
			bond_slave_rx_flags(bond, slave, change);
		return;
	}
	bond_for_each_slave(bond, slave)
		bond_slave_rx_flags(bond, slave, change);
}

/* --- VLAN filters --- */

int bond_vlan_rx_add_vid(struct net_device *dev, __be16 proto, u16 vid)
{
	struct bonding *bond = netdev_priv(dev);
	struct slave *slave;
	int err;

	bond_for_each_slave(bond, slave) {
		err = vlan_vid_add(slave->dev, proto, vid);
		if (err)
			goto del;
	}
	return 0;

del:
	list_for_each_entry_continue_reverse(slave, &bond->slaves, list)
		vlan_vid_del(slave->dev, proto, vid);
	return err;
}

int bond_vlan_rx_kill_vid(struct net_device *dev, __be16 proto, u16 vid)
{
	struct bonding *bond = netdev_priv(dev);
	struct slave *slave;

	bond_for_each_slave(bond, slave)
		vlan_vid_del(slave->dev, proto, vid);
	return 0;
}

/* --- MTU --- */

int bond_change_mtu(struct net_device *dev, int mtu)
{
	struct bonding *bond = netdev_priv(dev);
	struct slave *slave;
	int err;

	bond_for_each_slave(bond, slave) {
		slave->undo_mtu = slave->dev->mtu;
		err = dev_set_mtu(slave->dev, mtu);
		if (err)
			goto restore;
	}
	WRITE_ONCE(dev->mtu, mtu);
	return 0;

restore:
	bond_slave_warn(bond, slave->dev, "MTU of %d bytes is not possible (%d)\n",
			mtu, err);
	list_for_each_entry_continue_reverse(slave, &bond->slaves, list)
		if (dev_set_mtu(slave->dev, slave->undo_mtu))
			bond_slave_warn(bond, slave->dev,
					"MTU cannot be set back to %u bytes\n",
					slave->undo_mtu);
	return err;
}

/* --- MAC address --- */

static int bond_slave_mac_try(struct slave *slave, const u8 *addr)
{
	struct net_device *dev = slave->dev;

	slave->undo_addr_type = dev->addr_assign_type;
	memcpy(slave->undo_addr, dev->dev_addr, dev->addr_len);
	return bond_compat_set_mac(dev, addr, dev->addr_len);
}

static void bond_slave_mac_undo(struct slave *slave)
{
	struct net_device *dev = slave->dev;

	if (bond_compat_set_mac(dev, slave->undo_addr, dev->addr_len))
		bond_slave_warn(slave->bond, dev,
				"MAC address cannot be set back\n");
	else
		dev->addr_assign_type = slave->undo_addr_type;
}

static int bond_slaves_set_mac(struct bonding *bond, const u8 *addr)
{
	struct slave *slave;
	int err;

	bond_for_each_slave(bond, slave) {
		err = bond_slave_mac_try(slave, addr);
		if (err)
			goto restore;
	}
	return 0;

restore:
	bond_slave_warn(bond, slave->dev, "MAC address %pM is not possible (%d)\n",
			addr, err);
	list_for_each_entry_continue_reverse(slave, &bond->slaves, list)
		bond_slave_mac_undo(slave);
	return err;
}

int bond_set_mac_address(struct net_device *dev, void *addr)
{
	const u8 *mac = ((struct sockaddr *)addr)->sa_data;
	struct bonding *bond = netdev_priv(dev);
	int err = 0;

	/* the slaves say which address the bond has; asking is no error */
	if (bond_has_cap(bond, BOND_CAP_FOM) &&
	    bond->params.fail_over_mac != BOND_FOM_NONE)
		return 0;
	if (dev->type == ARPHRD_ETHER && !is_valid_ether_addr(mac))
		return -EADDRNOTAVAIL;
	if (bond_has_cap(bond, BOND_CAP_ONE_MAC))
		err = bond_slaves_set_mac(bond, mac);
	else if (bond_has_cap(bond, BOND_CAP_OWN_MACS))
		err = bond_macs_change(bond, mac);
	if (err)
		return err;
	__dev_addr_set(dev, mac, dev->addr_len);
	if (bond->ops->mac_changed)
		bond->ops->mac_changed(bond);
	return 0;
}
