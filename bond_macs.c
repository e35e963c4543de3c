// SPDX-License-Identifier: GPL-2.0
/*
 * MAC addresses of slaves that do not all carry the bond's: the active slave
 * has the bond's address, each other one an address that no other slave has.
 *
 * Addresses change hands at a failover, and so a slave that leaves may find its
 * own with another one.  With n slaves there are n permanent addresses and n
 * in use, so the address for whom has to give up his is always there, unless
 * devices came with the same.
 *
 * All under RTNL; called by bond_active.c, bond_addr.c, enslave and release.
 */
#include "bond_core.h"

static int bond_macs_set(struct bonding *bond, struct slave *slave,
			 const u8 *addr)
{
	int err;

	err = bond_compat_set_mac(slave->dev, addr, bond->dev->addr_len);
	if (err)
		bond_slave_warn(bond, slave->dev,
				"MAC address cannot be changed (%d)\n", err);
	return err;
}

/* The slave, other than @but, that uses an address. */
static struct slave *bond_macs_holder(const struct bonding *bond,
				      const u8 *addr, const struct slave *but)
{
	struct slave *slave;

	bond_for_each_slave(bond, slave)
		if (slave != but && !memcmp(slave->dev->dev_addr, addr,
					    bond->dev->addr_len))
			return slave;
	return NULL;
}

/* @slave gets @addr, who has had it gets that of @slave. */
static int bond_macs_swap(struct bonding *bond, struct slave *slave,
			  const u8 *addr)
{
	struct slave *holder = bond_macs_holder(bond, addr, slave);
	u8 vacated[MAX_ADDR_LEN];
	int err;

	if (!memcmp(slave->dev->dev_addr, addr, bond->dev->addr_len))
		return 0;
	memcpy(vacated, slave->dev->dev_addr, bond->dev->addr_len);
	err = bond_macs_set(bond, slave, addr);
	if (!err && holder)
		bond_macs_set(bond, holder, vacated);
	return err;
}

void bond_macs_follow(struct bonding *bond, struct slave *new)
{
	ASSERT_RTNL();
	bond_macs_swap(bond, new, bond->dev->dev_addr);
}

int bond_macs_change(struct bonding *bond, const u8 *addr)
{
	struct slave *active = bond_active_rtnl(bond);

	ASSERT_RTNL();
	return active ? bond_macs_swap(bond, active, addr) : 0;
}

bool bond_macs_taken(const struct bonding *bond, const u8 *addr)
{
	return !memcmp(bond->dev->dev_addr, addr, bond->dev->addr_len) ||
	       bond_macs_holder(bond, addr, NULL);
}

const u8 *bond_macs_vacant(const struct bonding *bond,
			   const struct net_device *dev)
{
	const struct slave *slave;

	bond_for_each_slave(bond, slave)
		if (!bond_macs_taken(bond, slave->perm_hwaddr) &&
		    (!dev || memcmp(dev->dev_addr, slave->perm_hwaddr,
				    bond->dev->addr_len)))
			return slave->perm_hwaddr;
	return NULL;
}

void bond_macs_yield(struct bonding *bond, const u8 *addr)
{
	struct slave *holder = bond_macs_holder(bond, addr, NULL);
	u8 random[ETH_ALEN];
	const u8 *vacant;

	ASSERT_RTNL();
	if (!holder || holder == bond_active_rtnl(bond))
		return;
	vacant = bond_macs_vacant(bond, NULL);
	if (!vacant) {
		eth_random_addr(random);
		vacant = random;
	}
	bond_macs_set(bond, holder, vacant);
	if (bond->ops->mac_changed)
		bond->ops->mac_changed(bond);
}
