// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of the compat layer that are too long for a header: texts of
 * refusals for kernels whose extack is a pointer to a constant, time stamping
 * settings for kernels that have an ioctl where newer ones have a callback, and
 * the features of a bond for kernels whose core does not work them out.
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
int bond_compat_hwtstamp_read(struct bond_hwtstamp_config *config)
{
	struct hwtstamp_config user;

	if (copy_from_user(&user, config->ifr->ifr_data, sizeof(user)))
		return -EFAULT;
	config->flags = user.flags;
	config->tx_type = user.tx_type;
	config->rx_filter = user.rx_filter;
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
	return bond_compat_hwtstamp_read(config);
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

#ifndef BOND_HAVE_MASTER_UPPER_FEATURES
#define BOND_UPPER_MPLS_FEATURES \
	(NETIF_F_HW_CSUM | NETIF_F_SG | NETIF_F_GSO_SOFTWARE)
#define BOND_UPPER_ENC_FEATURES \
	(BOND_UPPER_MPLS_FEATURES | NETIF_F_RXCSUM)
#define BOND_UPPER_VLAN_FEATURES					\
	(BOND_UPPER_MPLS_FEATURES | NETIF_F_FRAGLIST |			\
	 NETIF_F_GSO_ENCAP_ALL | NETIF_F_HIGHDMA | NETIF_F_LRO)
#define BOND_DST_RELEASE \
	(IFF_XMIT_DST_RELEASE | IFF_XMIT_DST_RELEASE_PERM)

/* What is gathered while the lower devices are walked. */
struct bond_upper {
	netdev_features_t vlan;
	netdev_features_t enc;
	netdev_features_t mpls;
	unsigned int dst_release;
	unsigned int tso_size;
	u16 tso_segs;
	unsigned short header;
	unsigned short headroom;
	unsigned short tailroom;
};

static netdev_features_t bond_upper_base(netdev_features_t features)
{
	return (features & ~NETIF_F_ONE_FOR_ALL) | NETIF_F_ALL_FOR_ALL;
}

static void bond_upper_add(struct bond_upper *up, const struct net_device *dev)
{
	up->vlan = netdev_increment_features(up->vlan, dev->vlan_features,
					     BOND_UPPER_VLAN_FEATURES);
	up->enc = netdev_increment_features(up->enc, dev->hw_enc_features,
					    BOND_UPPER_ENC_FEATURES);
	up->mpls = netdev_increment_features(up->mpls, dev->mpls_features,
					     BOND_UPPER_MPLS_FEATURES);
	up->dst_release &= dev->priv_flags;
	up->tso_size = min(up->tso_size, dev->tso_max_size);
	up->tso_segs = min(up->tso_segs, dev->tso_max_segs);
	up->header = max(up->header, dev->hard_header_len);
	up->headroom = max(up->headroom, dev->needed_headroom);
	up->tailroom = max(up->tailroom, dev->needed_tailroom);
}

static void bond_upper_set(const struct bond_upper *up, struct net_device *dev,
			   bool header)
{
	dev->vlan_features = up->vlan;
	dev->hw_enc_features = up->enc | NETIF_F_GSO_ENCAP_ALL |
			       NETIF_F_HW_VLAN_CTAG_TX |
			       NETIF_F_HW_VLAN_STAG_TX;
	dev->mpls_features = up->mpls;
	dev->priv_flags &= ~IFF_XMIT_DST_RELEASE;
	if ((dev->priv_flags & IFF_XMIT_DST_RELEASE_PERM) &&
	    up->dst_release == BOND_DST_RELEASE)
		dev->priv_flags |= IFF_XMIT_DST_RELEASE;
	if (header) {
		dev->hard_header_len = up->header;
		dev->needed_headroom = up->headroom;
		dev->needed_tailroom = up->tailroom;
	}
	netif_set_tso_max_segs(dev, up->tso_segs);
	netif_set_tso_max_size(dev, up->tso_size);
}

void bond_compat_upper_features(struct net_device *dev, bool header)
{
	struct bond_upper up = {
		.vlan = bond_upper_base(BOND_UPPER_VLAN_FEATURES),
		.enc = bond_upper_base(BOND_UPPER_ENC_FEATURES),
		.mpls = bond_upper_base(BOND_UPPER_MPLS_FEATURES),
		.dst_release = BOND_DST_RELEASE,
		.tso_size = TSO_MAX_SIZE,
		.tso_segs = TSO_MAX_SEGS,
		.header = ETH_HLEN,
	};
	struct net_device *lower;
	struct list_head *iter;

	netdev_for_each_lower_dev(dev, lower, iter)
		bond_upper_add(&up, lower);
	bond_upper_set(&up, dev, header);
	netdev_change_features(dev);
}
#endif /* BOND_HAVE_MASTER_UPPER_FEATURES */
