// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the compat layer that are too long for a header: texts of
 * refusals for kernels whose extack is a pointer to a constant, and time
 * stamping settings for kernels that have an ioctl where newer ones have a
 * callback.
 *
 * A text is read when the request has been answered, shortly after RTNL was
 * released; a ring that is much longer than the number of requests that can be
 * under way keeps it unchanged until then.  Called from anywhere, no lock.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "bond_compat.h"

#ifndef BOND_HAVE_EXTACK_FMT
#define BOND_EXTACK_RING	64

static char bond_extack_ring[BOND_EXTACK_RING][BOND_EXTACK_LEN];
static atomic_t bond_extack_next;

char *bond_extack_buf(void)
{
	unsigned int n = atomic_inc_return(&bond_extack_next);

	return bond_extack_ring[n % BOND_EXTACK_RING];
}
#endif /* BOND_HAVE_EXTACK_FMT */

#ifdef BOND_HAVE_PRE_CHANGEADDR_NETIF
MODULE_IMPORT_NS("NETDEV_INTERNAL");
#endif /* BOND_HAVE_PRE_CHANGEADDR_NETIF */

#ifndef BOND_HAVE_NDO_HWTSTAMP
int bond_compat_hwtstamp_read(struct ifreq *ifr,
			      struct bond_hwtstamp_config *config)
{
	struct hwtstamp_config user;

	if (copy_from_user(&user, ifr->ifr_data, sizeof(user)))
		return -EFAULT;
	config->flags = user.flags;
	config->tx_type = user.tx_type;
	config->rx_filter = user.rx_filter;
	config->ifr = ifr;
	return 0;
}

int bond_compat_hwtstamp_write(const struct bond_hwtstamp_config *config)
{
	const struct hwtstamp_config user = {
		.flags = config->flags,
		.tx_type = config->tx_type,
		.rx_filter = config->rx_filter,
	};

	if (copy_to_user(config->ifr->ifr_data, &user, sizeof(user)))
		return -EFAULT;
	return 0;
}

/* The device reads and writes the user's memory itself. */
static int bond_compat_hwtstamp_lower(struct net_device *dev,
				      struct bond_hwtstamp_config *config,
				      int cmd)
{
	const struct net_device_ops *ops = dev->netdev_ops;
	int err;

	if (!ops->ndo_eth_ioctl)
		return -EOPNOTSUPP;
	if (!netif_device_present(dev))
		return -ENODEV;
	err = ops->ndo_eth_ioctl(dev, config->ifr, cmd);
	if (err)
		return err;
	return bond_compat_hwtstamp_read(config->ifr, config);
}

int bond_compat_hwtstamp_lower_get(struct net_device *dev,
				   struct bond_hwtstamp_config *config)
{
	return bond_compat_hwtstamp_lower(dev, config, SIOCGHWTSTAMP);
}

int bond_compat_hwtstamp_lower_set(struct net_device *dev,
				   struct bond_hwtstamp_config *config,
				   struct netlink_ext_ack *extack)
{
	return bond_compat_hwtstamp_lower(dev, config, SIOCSHWTSTAMP);
}
#endif /* BOND_HAVE_NDO_HWTSTAMP */
