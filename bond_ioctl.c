// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctls of old times, which ifenslave and monitoring tools still use:
 * SIOCBOND*, their predecessors in the private range, and the MII registers of
 * a bond that has no PHY.
 *
 * All of them run under RTNL.  Called by the core's ioctl code through
 * net_device_ops.
 */
#include <linux/capability.h>
#include <linux/mii.h>
#include <linux/uaccess.h>

#include "bond_surfaces.h"

/* --- questions --- */

static int bond_ioctl_info(struct bonding *bond, void __user *data)
{
	struct ifbond info;

	if (copy_from_user(&info, data, sizeof(info)))
		return -EFAULT;
	bond_fill_ifbond(bond, &info);
	if (copy_to_user(data, &info, sizeof(info)))
		return -EFAULT;
	return 0;
}

/* The slave whose number the user has put into slave_id, from 0. */
static int bond_ioctl_slave_info(struct bonding *bond, void __user *data)
{
	struct ifslave info;
	struct slave *slave;
	s32 i = 0;

	if (copy_from_user(&info, data, sizeof(info)))
		return -EFAULT;
	bond_for_each_slave(bond, slave) {
		if (i++ != info.slave_id)
			continue;
		bond_fill_ifslave(slave, &info);
		if (copy_to_user(data, &info, sizeof(info)))
			return -EFAULT;
		return 0;
	}
	return -ENODEV;
}

/* --- commands --- */

/* The bond takes another device's MAC address; slaves keep theirs. */
static int bond_ioctl_set_hwaddr(struct bonding *bond,
				 struct net_device *from_dev)
{
	struct net_device *dev = bond->dev;
	int err;

	if (from_dev->addr_len != dev->addr_len)
		return -EINVAL;
	err = bond_compat_pre_changeaddr(dev, from_dev->dev_addr);
	if (err)
		return err;
	dev_addr_set(dev, from_dev->dev_addr);
	dev->addr_assign_type = NET_ADDR_STOLEN;
	call_netdevice_notifiers(NETDEV_CHANGEADDR, dev);
	return 0;
}

static int bond_ioctl_change_active(struct bonding *bond, const char *name)
{
	const struct bond_opt_value value = { .text = name };
	struct netlink_ext_ack extack = { };
	int err;

	err = bond_option_set(bond, BOND_OPT_ACTIVE_SLAVE, &value, &extack);
	if (err) {
		bond_refusal_log(bond, &extack);
		return err;
	}
	bond_options_notify(bond);
	return 0;
}

static int bond_ioctl_enslave(struct bonding *bond,
			      struct net_device *slave_dev)
{
	struct netlink_ext_ack extack = { };
	int err;

	err = bond_enslave(bond->dev, slave_dev, &extack);
	if (err)
		bond_refusal_log(bond, &extack);
	return err;
}

static int bond_ioctl_command(struct bonding *bond, struct ifreq *ifr, int cmd)
{
	struct net *net = dev_net(bond->dev);
	struct net_device *slave_dev;

	if (!ns_capable(net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	ifr->ifr_slave[IFNAMSIZ - 1] = '\0';
	slave_dev = __dev_get_by_name(net, ifr->ifr_slave);
	if (!slave_dev)
		return -ENODEV;
	switch (cmd) {
	case SIOCBONDENSLAVE:
		return bond_ioctl_enslave(bond, slave_dev);
	case SIOCBONDRELEASE:
		return bond_release(bond->dev, slave_dev);
	case SIOCBONDSETHWADDR:
		return bond_ioctl_set_hwaddr(bond, slave_dev);
	case SIOCBONDCHANGEACTIVE:
		return bond_ioctl_change_active(bond, slave_dev->name);
	default:
		return -EOPNOTSUPP;
	}
}

static int bond_ioctl(struct net_device *dev, struct ifreq *ifr,
		      void __user *data, int cmd)
{
	struct bonding *bond = netdev_priv(dev);

	switch (cmd) {
	case SIOCBONDINFOQUERY:
		return bond_ioctl_info(bond, data);
	case SIOCBONDSLAVEINFOQUERY:
		return bond_ioctl_slave_info(bond, data);
	default:
		return bond_ioctl_command(bond, ifr, cmd);
	}
}

int bond_siocbond(struct net_device *dev, struct ifreq *ifr, int cmd)
{
	return bond_ioctl(dev, ifr, ifr->ifr_data, cmd);
}

int bond_siocdevprivate(struct net_device *dev, struct ifreq *ifr,
			void __user *data, int cmd)
{
	switch (cmd) {
	case BOND_ENSLAVE_OLD:
		return bond_ioctl(dev, ifr, data, SIOCBONDENSLAVE);
	case BOND_RELEASE_OLD:
		return bond_ioctl(dev, ifr, data, SIOCBONDRELEASE);
	case BOND_SETHWADDR_OLD:
		return bond_ioctl(dev, ifr, data, SIOCBONDSETHWADDR);
	case BOND_SLAVE_INFO_QUERY_OLD:
		return bond_ioctl(dev, ifr, data, SIOCBONDSLAVEINFOQUERY);
	case BOND_INFO_QUERY_OLD:
		return bond_ioctl(dev, ifr, data, SIOCBONDINFOQUERY);
	case BOND_CHANGE_ACTIVE_OLD:
		return bond_ioctl(dev, ifr, data, SIOCBONDCHANGEACTIVE);
	default:
		return -EOPNOTSUPP;
	}
}

/* --- registers, time stamping --- */

/* The only register that a bond can say something of is the link bit. */
static int bond_ioctl_mii_read(const struct net_device *dev,
			       struct mii_ioctl_data *mii)
{
	if (mii->reg_num != MII_BMSR)
		return 0;
	mii->val_out = netif_carrier_ok(dev) ? BMSR_LSTATUS : 0;
	return 0;
}

static int bond_ioctl_hwtstamp_set(struct net_device *dev,
				   struct bond_hwtstamp_config *config)
{
	int err;

	err = bond_compat_hwtstamp_read(config);
	if (err)
		return err;
	return bond_hwtstamp_set(dev, config, NULL);
}

static int bond_ioctl_hwtstamp(struct net_device *dev, struct ifreq *ifr,
			       bool set)
{
	struct bond_hwtstamp_config config = { .ifr = ifr };
	int err;

	if (set)
		err = bond_ioctl_hwtstamp_set(dev, &config);
	else
		err = bond_hwtstamp_get(dev, &config);
	if (err)
		return err;
	return bond_compat_hwtstamp_write(&config);
}

int bond_eth_ioctl(struct net_device *dev, struct ifreq *ifr, int cmd)
{
	struct mii_ioctl_data *mii = if_mii(ifr);

	switch (cmd) {
	case SIOCGMIIPHY:
		mii->phy_id = 0;
		return bond_ioctl_mii_read(dev, mii);
	case SIOCGMIIREG:
		return bond_ioctl_mii_read(dev, mii);
	case SIOCGHWTSTAMP:
		return bond_ioctl_hwtstamp(dev, ifr, false);
	case SIOCSHWTSTAMP:
		return bond_ioctl_hwtstamp(dev, ifr, true);
	default:
		return -EOPNOTSUPP;
	}
}
