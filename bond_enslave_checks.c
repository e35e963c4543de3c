// SPDX-License-Identifier: GPL-2.0
/*
 * What a device must be like to become a slave.
 *
 * Checks look and answer, they change nothing.  Their order is part of the
 * interface: when several would refuse, the user gets the errno of the first.
 * RTNL; called by bond_enslave().
 */
#include <linux/if_arp.h>
#include <linux/if_vlan.h>

#include "bond_enslave.h"

static int bond_check_can(struct bond_enslave *e)
{
	if (e->dev->type != ARPHRD_CAN)
		return 0;
	bond_enslave_why(e, "CAN devices cannot be enslaved");
	return -EPERM;
}

static int bond_check_master(struct bond_enslave *e)
{
	if (!(e->dev->flags & IFF_MASTER) || netif_is_bond_master(e->dev))
		return 0;
	bond_enslave_why(e, "device is a master, but not a bond");
	return -EPERM;
}

static int bond_check_handler(struct bond_enslave *e)
{
	struct net_device *master;

	if (!netdev_is_rx_handler_busy(e->dev))
		return 0;
	master = netdev_master_upper_dev_get(e->dev);
	if (master)
		bond_enslave_why(e, "device already belongs to %s",
				 master->name);
	else
		bond_enslave_why(e, "another device takes what it receives");
	return -EBUSY;
}

static int bond_check_self(struct bond_enslave *e)
{
	if (e->dev != e->bond->dev)
		return 0;
	bond_enslave_why(e, "a bond cannot be its own slave");
	return -EPERM;
}

static int bond_check_vlan(struct bond_enslave *e)
{
	if (!(e->dev->features & NETIF_F_VLAN_CHALLENGED) ||
	    !vlan_uses_dev(e->bond->dev))
		return 0;
	bond_enslave_why(e, "cannot carry the VLANs of %s", e->bond->dev->name);
	return -EPERM;
}

static int bond_check_down(struct bond_enslave *e)
{
	if (!(e->dev->flags & IFF_UP))
		return 0;
	bond_enslave_why(e, "device is up, set it down first");
	return -EPERM;
}

static int bond_check_type(struct bond_enslave *e)
{
	if (bond_has_cap(e->bond, BOND_CAP_ETHER_ONLY) &&
	    e->dev->type != ARPHRD_ETHER) {
		bond_enslave_why(e, "mode %s needs Ethernet devices",
				 e->bond->ops->name);
		return -EINVAL;
	}
	e->new_type = e->dev->type != e->bond->dev->type;
	if (!e->new_type || !bond_has_slaves(e->bond))
		return 0;
	bond_enslave_why(e, "link type %u, other slaves have %u",
			 e->dev->type, e->bond->dev->type);
	return -EINVAL;
}

static int bond_check_infiniband(struct bond_enslave *e)
{
	if (e->dev->type != ARPHRD_INFINIBAND ||
	    bond_has_cap(e->bond, BOND_CAP_FOM))
		return 0;
	bond_enslave_why(e, "mode %s cannot carry InfiniBand",
			 e->bond->ops->name);
	return -EOPNOTSUPP;
}

/* A GID comes from the hardware and the subnet: it is no address to give. */
static bool bond_dev_takes_mac(const struct net_device *dev)
{
	return dev->netdev_ops->ndo_set_mac_address &&
	       dev->type != ARPHRD_INFINIBAND;
}

static int bond_check_mac(struct bond_enslave *e)
{
	struct bonding *bond = e->bond;

	e->inherit = !bond_has_slaves(bond) &&
		     (e->new_type ||
		      bond->dev->addr_assign_type == NET_ADDR_RANDOM);
	if (bond_dev_takes_mac(e->dev))
		return 0;
	if (bond_has_cap(bond, BOND_CAP_FOM)) {
		if (bond->params.fail_over_mac == BOND_FOM_ACTIVE)
			return 0;
		e->fom_active = !bond_has_slaves(bond);
		if (e->fom_active)
			return 0;
		bond_enslave_why(e, "MAC is fixed, needs fail_over_mac active");
		return -EOPNOTSUPP;
	}
	bond_enslave_why(e, "MAC is fixed, mode %s has to change it",
			 bond->ops->name);
	return -EOPNOTSUPP;
}

/* Where slaves have addresses of their own, each has to be another one. */
static int bond_check_own_mac(struct bond_enslave *e)
{
	const struct bonding *bond = e->bond;

	if (!bond_has_cap(bond, BOND_CAP_OWN_MACS) || !bond_has_slaves(bond) ||
	    !bond_macs_taken(bond, e->dev->dev_addr) ||
	    bond_macs_vacant(bond, e->dev))
		return 0;
	bond_enslave_why(e, "%s uses its MAC, and no other is free",
			 bond->dev->name);
	return -EFAULT;
}

/* The core would find out, too, but only after the device has been opened. */
static int bond_check_upper(struct bond_enslave *e)
{
	struct net_device *master;

	master = netdev_master_upper_dev_get(e->dev);
	if (master) {
		bond_enslave_why(e, "device already belongs to %s",
				 master->name);
		return -EBUSY;
	}
	if (netdev_has_upper_dev(e->bond->dev, e->dev)) {
		bond_enslave_why(e, "device is on top of %s",
				 e->bond->dev->name);
		return -EBUSY;
	}
	return 0;
}

static int bond_check_xdp(struct bond_enslave *e)
{
	const char *why;

	if (!e->bond->xdp_prog)
		return 0;
	why = bond_xdp_obstacle(e->dev);
	if (!why)
		return 0;
	bond_enslave_why(e, "%s; the bond has a program", why);
	return -EOPNOTSUPP;
}

int bond_enslave_check(struct bond_enslave *e)
{
	static int (*const checks[])(struct bond_enslave *e) = {
		bond_check_can,
		bond_check_master,
		bond_check_handler,
		bond_check_self,
		bond_check_vlan,
		bond_check_down,
		bond_check_type,
		bond_check_infiniband,
		bond_check_mac,
		bond_check_own_mac,
		bond_check_upper,
		bond_check_xdp,
	};
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		err = checks[i](e);
		if (err)
			return err;
	}
	return 0;
}
