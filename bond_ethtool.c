// SPDX-License-Identifier: GPL-2.0
/*
 * What ethtool sees of a bond: driver, link, speed, counters, and time
 * stamping, which is the active slave's.
 *
 * All callbacks run under RTNL.  Called by the ethtool core, the time stamping
 * part also by bond_ioctl.c.
 */
#include <linux/net_tstamp.h>

#include "bond_surfaces.h"

const char bond_drop_names[BOND_DROP_MAX][ETH_GSTRING_LEN] = {
	[BOND_DROP_NO_SLAVE]	= "drop_no_slave",
	[BOND_DROP_CLONE]	= "drop_no_memory",
	[BOND_DROP_RX_INACTIVE]	= "drop_rx_inactive",
	[BOND_DROP_XDP_NO_SLAVE] = "drop_xdp_no_slave",
};

u64 bond_drop_sum(const struct bonding *bond, enum bond_drop why)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(bond->pcpu, cpu)->drop[why]);
	return sum;
}

static void bond_get_drvinfo(struct net_device *dev,
			     struct ethtool_drvinfo *info)
{
	strscpy(info->driver, KBUILD_MODNAME, sizeof(info->driver));
	/* ifenslave and its kind look here for what the ioctls can do */
	snprintf(info->fw_version, sizeof(info->fw_version), "%d",
		 BOND_ABI_VERSION);
}

/* --- speed --- */

/*
 * The speed of the usable slaves as it is now: not every driver tells when it
 * changes.  Together they are as fast as their sum, or, if each of them has to
 * send every frame, as the slowest.
 */
static void bond_speed_add(struct ethtool_link_settings *sum,
			   const struct slave *slave, bool all_tx)
{
	struct ethtool_link_ksettings set;

	if (__ethtool_get_link_ksettings(slave->dev, &set))
		return;
	if (sum->duplex == DUPLEX_UNKNOWN)
		sum->duplex = set.base.duplex;
	if (!set.base.speed || set.base.speed == (u32)SPEED_UNKNOWN)
		return;
	if (!all_tx)
		sum->speed += set.base.speed;
	else if (!sum->speed || set.base.speed < sum->speed)
		sum->speed = set.base.speed;
}

static int bond_get_link_ksettings(struct net_device *dev,
				   struct ethtool_link_ksettings *cmd)
{
	struct bonding *bond = netdev_priv(dev);
	bool all_tx = bond_has_cap(bond, BOND_CAP_ALL_TX);
	struct slave *slave;

	cmd->base.duplex = DUPLEX_UNKNOWN;
	cmd->base.port = PORT_OTHER;
	cmd->base.speed = 0;
	bond_for_each_slave(bond, slave)
		if (bond_slave_usable(bond, slave))
			bond_speed_add(&cmd->base, slave, all_tx);
	if (!cmd->base.speed)
		cmd->base.speed = SPEED_UNKNOWN;
	return 0;
}

/* --- counters: drops of the bond, then XDP frames slave by slave --- */

static const char *const bond_xdp_names[BOND_XDP_MAX] = {
	[BOND_XDP_TX]		= "xdp_tx",
	[BOND_XDP_REDIRECT]	= "xdp_redirect",
	[BOND_XDP_DROP]		= "xdp_drop",
	[BOND_XDP_ERROR]	= "xdp_error",
};

static u64 bond_xdp_sum(const struct slave *slave, enum bond_xdp_count what)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(slave->pcpu, cpu)->xdp[what]);
	return sum;
}

static int bond_get_sset_count(struct net_device *dev, int sset)
{
	const struct bonding *bond = netdev_priv(dev);

	if (sset != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return BOND_DROP_MAX + BOND_XDP_MAX * bond->slave_cnt;
}

static void bond_get_strings(struct net_device *dev, u32 sset, u8 *data)
{
	const struct bonding *bond = netdev_priv(dev);
	const struct slave *slave;
	int i;

	if (sset != ETH_SS_STATS)
		return;
	memcpy(data, bond_drop_names, sizeof(bond_drop_names));
	data += sizeof(bond_drop_names);
	bond_for_each_slave(bond, slave) {
		for (i = 0; i < BOND_XDP_MAX; i++) {
			snprintf(data, ETH_GSTRING_LEN, "%s_%s",
				 slave->dev->name, bond_xdp_names[i]);
			data += ETH_GSTRING_LEN;
		}
	}
}

static void bond_get_ethtool_stats(struct net_device *dev,
				   struct ethtool_stats *stats, u64 *data)
{
	const struct bonding *bond = netdev_priv(dev);
	const struct slave *slave;
	int i;

	for (i = 0; i < BOND_DROP_MAX; i++)
		*data++ = bond_drop_sum(bond, i);
	bond_for_each_slave(bond, slave)
		for (i = 0; i < BOND_XDP_MAX; i++)
			*data++ = bond_xdp_sum(slave, i);
}

/* --- time stamping --- */

/* The device whose clock the bond shows, NULL when it has none now. */
static struct net_device *bond_phc_dev(const struct bonding *bond)
{
	const struct slave *active = bond_active_rtnl(bond);

	if (!active || !bond_has_cap(bond, BOND_CAP_PRIMARY))
		return NULL;
	return active->dev;
}

/* Can every slave stamp in software what it sends? */
static bool bond_tx_software_stamps(const struct bonding *bond)
{
	struct slave *slave;

	bond_for_each_slave(bond, slave) {
		struct bond_ts_info info = { .phc_index = -1 };

		if (bond_compat_ts_info(slave->dev, &info) ||
		    !(info.so_timestamping & SOF_TIMESTAMPING_TX_SOFTWARE))
			return false;
	}
	return bond_has_slaves(bond);
}

static int bond_get_ts_info(struct net_device *dev, struct bond_ts_info *info)
{
	const struct bonding *bond = netdev_priv(dev);
	struct net_device *phc_dev = bond_phc_dev(bond);

	if (phc_dev)
		return bond_compat_ts_info(phc_dev, info);
	info->so_timestamping = SOF_TIMESTAMPING_RX_SOFTWARE |
				SOF_TIMESTAMPING_SOFTWARE;
	info->phc_index = -1;
	if (bond_tx_software_stamps(bond))
		info->so_timestamping |= SOF_TIMESTAMPING_TX_SOFTWARE;
	return 0;
}

int bond_hwtstamp_get(struct net_device *dev,
		      struct bond_hwtstamp_config *config)
{
	struct net_device *phc_dev = bond_phc_dev(netdev_priv(dev));
	int err;

	if (!phc_dev)
		return -EOPNOTSUPP;
	err = bond_compat_hwtstamp_lower_get(phc_dev, config);
	if (err)
		return err;
	config->flags |= HWTSTAMP_FLAG_BONDED_PHC_INDEX;
	return 0;
}

int bond_hwtstamp_set(struct net_device *dev,
		      struct bond_hwtstamp_config *config,
		      struct netlink_ext_ack *extack)
{
	struct net_device *phc_dev = bond_phc_dev(netdev_priv(dev));
	int err;

	if (!(config->flags & HWTSTAMP_FLAG_BONDED_PHC_INDEX)) {
		bond_extack(extack,
			    "a bond needs HWTSTAMP_FLAG_BONDED_PHC_INDEX");
		return -EOPNOTSUPP;
	}
	if (!phc_dev) {
		bond_extack(extack, "no active slave whose clock to use");
		return -EOPNOTSUPP;
	}
	err = bond_compat_hwtstamp_lower_set(phc_dev, config, extack);
	if (err)
		return err;
	config->flags |= HWTSTAMP_FLAG_BONDED_PHC_INDEX;
	return 0;
}

const struct ethtool_ops bond_ethtool_ops = {
	.get_drvinfo		= bond_get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= bond_get_link_ksettings,
	.get_sset_count		= bond_get_sset_count,
	.get_strings		= bond_get_strings,
	.get_ethtool_stats	= bond_get_ethtool_stats,
	.get_ts_info		= bond_get_ts_info,
};
