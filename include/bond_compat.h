/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only file that knows that kernels differ.
 *
 * The logic is written against the newest kernel.  BOND_HAVE_* come from
 * tools/probe.sh, which asks the target's headers; what an older kernel lacks
 * is made up here under a bond_ name, so that a later backport cannot clash.
 */
#ifndef _BOND_COMPAT_H
#define _BOND_COMPAT_H

#include <linux/debugfs.h>
#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/phy.h>
#include <net/rtnetlink.h>
#include <net/xdp.h>

#include "bond_config.h"

/* mac_pton() has moved there from linux/kernel.h */
#ifdef BOND_HAVE_LINUX_HEX
#include <linux/hex.h>
#endif /* BOND_HAVE_LINUX_HEX */

#ifdef BOND_HAVE_NETDEV_LOCK_OPS
#include <net/netdev_lock.h>
#endif /* BOND_HAVE_NETDEV_LOCK_OPS */

#ifndef __counted_by
#define __counted_by(member)
#endif

/* --- device flags --- */

/**
 * bond_dev_set_lltx() - transmit without the queue lock
 * @dev: a bond that is being set up
 */
static inline void bond_dev_set_lltx(struct net_device *dev)
{
#ifdef BOND_HAVE_DEV_LLTX
	dev->lltx = true;
#else
	dev->features |= NETIF_F_LLTX;
#endif /* BOND_HAVE_DEV_LLTX */
}

/**
 * bond_dev_set_netns_immutable() - the device stays in its namespace
 * @dev: a bond that is being set up
 */
static inline void bond_dev_set_netns_immutable(struct net_device *dev)
{
#ifdef BOND_HAVE_DEV_NETNS_IMMUTABLE
	dev->netns_immutable = true;
#else
	dev->features |= NETIF_F_NETNS_LOCAL;
#endif /* BOND_HAVE_DEV_NETNS_IMMUTABLE */
}

/* --- slave devices --- */

/**
 * bond_compat_link_ksettings() - read a device's speed and duplex
 * @dev: a slave's device
 * @set: receives them
 *
 * Context: RTNL; legal in a notifier of a device that has a lock of its own,
 * which is held there.
 * Return: 0 or a negative errno.
 */
static inline int
bond_compat_link_ksettings(struct net_device *dev,
			   struct ethtool_link_ksettings *set)
{
#ifdef BOND_HAVE_NETIF_LINK_KSETTINGS
	return netif_get_link_ksettings(dev, set);
#else
	return __ethtool_get_link_ksettings(dev, set);
#endif /* BOND_HAVE_NETIF_LINK_KSETTINGS */
}

/**
 * bond_compat_set_mac() - give a device another MAC address
 * @dev: the device
 * @addr: the address
 * @len: its length
 *
 * Context: RTNL, may sleep.
 * Return: 0 or a negative errno.
 */
static inline int bond_compat_set_mac(struct net_device *dev, const u8 *addr,
				      unsigned int len)
{
	struct sockaddr_storage ss = { .ss_family = dev->type };

#ifdef BOND_HAVE_MAC_SOCKADDR_STORAGE
	memcpy(ss.__data, addr, len);
	return dev_set_mac_address(dev, &ss, NULL);
#else
	memcpy(((struct sockaddr *)&ss)->sa_data, addr, len);
	return dev_set_mac_address(dev, (struct sockaddr *)&ss, NULL);
#endif /* BOND_HAVE_MAC_SOCKADDR_STORAGE */
}

/**
 * bond_compat_pre_changeaddr() - may a device take an address?
 * @dev: the bond
 * @addr: the address
 *
 * Asks the notifier chain, as the core does before it sets an address.
 *
 * Context: RTNL.
 * Return: 0 or the errno of who refused.
 */
static inline int bond_compat_pre_changeaddr(struct net_device *dev,
					     const u8 *addr)
{
#ifdef BOND_HAVE_PRE_CHANGEADDR_NETIF
	return netif_pre_changeaddr_notify(dev, addr, NULL);
#else
	return dev_pre_changeaddr_notify(dev, addr, NULL);
#endif /* BOND_HAVE_PRE_CHANGEADDR_NETIF */
}

/**
 * bond_dev_ops_locked() - does a device have a lock of its own for operations?
 * @dev: a slave's device
 *
 * Functions named dev_ and netdev_ take that lock, functions named netif_ and
 * the notifications of link state expect it to be held.
 */
static inline bool bond_dev_ops_locked(const struct net_device *dev)
{
#ifdef BOND_HAVE_NETDEV_LOCK_OPS
	return netdev_need_ops_lock(dev);
#else
	return false;
#endif /* BOND_HAVE_NETDEV_LOCK_OPS */
}

/* Take the lock of bond_dev_ops_locked(), if the device has one.  RTNL. */
static inline void bond_dev_lock(struct net_device *dev)
{
#ifdef BOND_HAVE_NETDEV_LOCK_OPS
	netdev_lock_ops(dev);
#endif /* BOND_HAVE_NETDEV_LOCK_OPS */
}

static inline void bond_dev_unlock(struct net_device *dev)
{
#ifdef BOND_HAVE_NETDEV_LOCK_OPS
	netdev_unlock_ops(dev);
#endif /* BOND_HAVE_NETDEV_LOCK_OPS */
}

/**
 * bond_dev_addrconf_off() - keep IPv6 from giving the device an address
 * @dev: a device that is about to become a slave, still down
 *
 * IPv6 looks at a flag of its own, or at IFF_SLAVE.
 *
 * Context: RTNL.
 */
static inline void bond_dev_addrconf_off(struct net_device *dev)
{
#ifdef BOND_HAVE_IFF_NO_ADDRCONF
	dev->priv_flags |= IFF_NO_ADDRCONF;
#else
	dev->flags |= IFF_SLAVE;
#endif /* BOND_HAVE_IFF_NO_ADDRCONF */
}

/* Undo bond_dev_addrconf_off(); the device is down again.  RTNL. */
static inline void bond_dev_addrconf_on(struct net_device *dev)
{
#ifdef BOND_HAVE_IFF_NO_ADDRCONF
	dev->priv_flags &= ~IFF_NO_ADDRCONF;
#else
	dev->flags &= ~IFF_SLAVE;
#endif /* BOND_HAVE_IFF_NO_ADDRCONF */
}

/* --- features and headers --- */

/**
 * bond_compat_upper_features() - what a bond has of its slaves' abilities
 * @dev: the bond
 * @header: room for headers, too, which is at least that of Ethernet
 *
 * Feature sets of VLANs, tunnels and MPLS, limits of segmentation.  Ends with
 * netdev_change_features().
 *
 * Context: RTNL.
 */
#ifdef BOND_HAVE_MASTER_UPPER_FEATURES
#define BOND_PARTIAL_FEATURES	NETIF_F_GSO_PARTIAL

static inline void bond_compat_upper_features(struct net_device *dev,
					      bool header)
{
	netdev_compute_master_upper_features(dev, header);
}
#else
#define BOND_PARTIAL_FEATURES	0

void bond_compat_upper_features(struct net_device *dev, bool header);
#endif /* BOND_HAVE_MASTER_UPPER_FEATURES */

int bond_header_parse_dev(const struct sk_buff *skb,
			  const struct net_device *dev, unsigned char *haddr);

/* header_ops.parse of a bond, and a call of a slave's. RCU. */
#ifdef BOND_HAVE_HEADER_PARSE_DEV
static inline int bond_header_parse(const struct sk_buff *skb,
				    const struct net_device *dev,
				    unsigned char *haddr)
{
	return bond_header_parse_dev(skb, dev, haddr);
}

static inline int bond_compat_header_parse(const struct header_ops *ops,
					   const struct sk_buff *skb,
					   const struct net_device *dev,
					   unsigned char *haddr)
{
	return ops->parse(skb, dev, haddr);
}
#else
static inline int bond_header_parse(const struct sk_buff *skb,
				    unsigned char *haddr)
{
	return bond_header_parse_dev(skb, skb->dev, haddr);
}

static inline int bond_compat_header_parse(const struct header_ops *ops,
					   const struct sk_buff *skb,
					   const struct net_device *dev,
					   unsigned char *haddr)
{
	return ops->parse(skb, haddr);
}
#endif /* BOND_HAVE_HEADER_PARSE_DEV */

/* --- XDP --- */

/**
 * bond_compat_xdp_propagate() - give a device an XDP program
 * @dev: a slave's device
 * @bpf: the command; ndo_bpf() of the device exists
 *
 * Context: RTNL, may sleep; takes the device's own lock.
 * Return: 0 or the driver's errno.
 */
static inline int bond_compat_xdp_propagate(struct net_device *dev,
					    struct netdev_bpf *bpf)
{
#ifdef BOND_HAVE_XDP_PROPAGATE
	return dev_xdp_propagate(dev, bpf);
#else
	return dev->netdev_ops->ndo_bpf(dev, bpf);
#endif /* BOND_HAVE_XDP_PROPAGATE */
}

/*
 * What a device offers of XDP, for the core and for user space.  Zero copy is
 * not among what a bond can offer: the core compares the queue's device with
 * the socket's.
 */
#ifdef BOND_HAVE_XDP_FEATURES
#define BOND_XDP_FEATURES	\
	(NETDEV_XDP_ACT_MASK & ~NETDEV_XDP_ACT_XSK_ZEROCOPY)

static inline u32 bond_compat_xdp_features(const struct net_device *dev)
{
	return READ_ONCE(dev->xdp_features);
}

/* RTNL; takes the device's own lock. */
static inline void bond_compat_xdp_features_set(struct net_device *dev,
						u32 features)
{
	xdp_set_features_flag(dev, features);
}
#else
#define BOND_XDP_FEATURES	0

static inline u32 bond_compat_xdp_features(const struct net_device *dev)
{
	return 0;
}

static inline void bond_compat_xdp_features_set(struct net_device *dev,
						u32 features)
{
}
#endif /* BOND_HAVE_XDP_FEATURES */

/**
 * bond_compat_xdp_frame_set_page() - whose memory is a frame in?
 * @frame: a frame in a page of its own, from dev_alloc_page()
 *
 * Context: any.
 */
static inline void bond_compat_xdp_frame_set_page(struct xdp_frame *frame)
{
#ifdef BOND_HAVE_XDP_FRAME_MEM_TYPE
	frame->mem_type = MEM_TYPE_PAGE_ORDER0;
#else
	frame->mem.type = MEM_TYPE_PAGE_ORDER0;
	frame->mem.id = 0;
#endif /* BOND_HAVE_XDP_FRAME_MEM_TYPE */
}

/* One piece of a frame: @size bytes at the start of @page. */
static inline void bond_compat_frag_fill(skb_frag_t *frag, struct page *page,
					 unsigned int size)
{
#ifdef BOND_HAVE_SKB_FRAG_FILL
	skb_frag_fill_page_desc(frag, page, 0, size);
#else
	__skb_frag_set_page(frag, page);
	skb_frag_off_set(frag, 0);
	skb_frag_size_set(frag, size);
#endif /* BOND_HAVE_SKB_FRAG_FILL */
}

/* --- notifications --- */

/* The event that says what a device offers of XDP; 0 is none. */
#ifdef BOND_HAVE_XDP_FEAT_CHANGE
#define BOND_EVENT_XDP_FEATURES	NETDEV_XDP_FEAT_CHANGE
#else
#define BOND_EVENT_XDP_FEATURES	0
#endif /* BOND_HAVE_XDP_FEAT_CHANGE */

/* --- netlink --- */

/*
 * Attributes of 7.3 under names of ours, since older headers lack some of them.
 * The numbers are user API: no kernel can give them another meaning.
 */
#define BOND_NL_COUPLED_CONTROL		32	/* IFLA_BOND_COUPLED_CONTROL */
#define BOND_NL_BROADCAST_NEIGH		33	/* IFLA_BOND_BROADCAST_NEIGH */
#define BOND_NL_LACP_STRICT		34	/* IFLA_BOND_LACP_STRICT */
#define BOND_NL_MAX			BOND_NL_LACP_STRICT
#define BOND_NL_SLAVE_ACTOR_PORT_PRIO	10	/* IFLA_BOND_SLAVE_* */
#define BOND_NL_SLAVE_CHURN_ACTOR	11
#define BOND_NL_SLAVE_CHURN_PARTNER	12
#define BOND_NL_SLAVE_MAX		BOND_NL_SLAVE_CHURN_PARTNER

int bond_newlink(struct net_device *dev, struct nlattr *data[],
		 struct netlink_ext_ack *extack);

/* rtnl_link_ops.newlink, with the arguments that the kernel gives it. RTNL. */
#ifdef BOND_HAVE_NEWLINK_PARAMS
static inline int bond_newlink_op(struct net_device *dev,
				  struct rtnl_newlink_params *params,
				  struct netlink_ext_ack *extack)
{
	return bond_newlink(dev, params->data, extack);
}
#else
static inline int bond_newlink_op(struct net *src_net, struct net_device *dev,
				  struct nlattr *tb[], struct nlattr *data[],
				  struct netlink_ext_ack *extack)
{
	return bond_newlink(dev, data, extack);
}
#endif /* BOND_HAVE_NEWLINK_PARAMS */

/* --- extack --- */

/**
 * bond_extack() - refuse with a formatted sentence
 * @extack: receives it, may be NULL
 * @fmt: printf format, no newline
 *
 * Kernels whose extack holds only a pointer get the text from a ring of
 * buffers (bond_extack_buf()), which lives until it has been sent.
 *
 * Context: any.
 */
#ifdef BOND_HAVE_EXTACK_FMT
#define bond_extack(extack, fmt, ...) \
	NL_SET_ERR_MSG_FMT_MOD(extack, fmt, ##__VA_ARGS__)
#else
char *bond_extack_buf(void);
#define BOND_EXTACK_LEN		160

#define bond_extack(extack, fmt, ...)					\
do {									\
	struct netlink_ext_ack *__ack = (extack);			\
									\
	if (__ack) {							\
		char *__buf = bond_extack_buf();			\
									\
		snprintf(__buf, BOND_EXTACK_LEN,			\
			 KBUILD_MODNAME ": " fmt, ##__VA_ARGS__);	\
		__ack->_msg = __buf;					\
	}								\
} while (0)
#endif /* BOND_HAVE_EXTACK_FMT */

/* --- netpoll --- */

#ifdef CONFIG_NET_POLL_CONTROLLER
int bond_netpoll_enable(struct net_device *dev);

/* ndo_netpoll_setup, with the arguments that the kernel gives it. RTNL. */
#ifdef BOND_HAVE_NETPOLL_SETUP_NPINFO
static inline int bond_netpoll_setup(struct net_device *dev,
				     struct netpoll_info *info)
{
	return bond_netpoll_enable(dev);
}
#else
static inline int bond_netpoll_setup(struct net_device *dev)
{
	return bond_netpoll_enable(dev);
}
#endif /* BOND_HAVE_NETPOLL_SETUP_NPINFO */
#endif /* CONFIG_NET_POLL_CONTROLLER */

/* --- class files and debugfs --- */

/* The attribute that a class file's show and store get may be a constant. */
#ifdef BOND_HAVE_CLASS_ATTR_CONST
#define bond_const_class	const struct class
#define bond_const_class_attr	const struct class_attribute
#else
#define bond_const_class	struct class
#define bond_const_class_attr	struct class_attribute
#endif /* BOND_HAVE_CLASS_ATTR_CONST */

/**
 * bond_compat_class_file_create() - add a file to /sys/class/net of a namespace
 * @attr: the file
 * @net: the namespace
 *
 * Return: 0 or a negative errno, -EEXIST when there is such a file.
 */
static inline int
bond_compat_class_file_create(const struct class_attribute *attr,
			      struct net *net)
{
#ifdef BOND_HAVE_CLASS_FILE_NS_COMMON
	return netdev_class_create_file_ns(attr, &net->ns);
#else
	return netdev_class_create_file_ns(attr, net);
#endif /* BOND_HAVE_CLASS_FILE_NS_COMMON */
}

/* Remove what bond_compat_class_file_create() made. */
static inline void
bond_compat_class_file_remove(const struct class_attribute *attr,
			      struct net *net)
{
#ifdef BOND_HAVE_CLASS_FILE_NS_COMMON
	netdev_class_remove_file_ns(attr, &net->ns);
#else
	netdev_class_remove_file_ns(attr, net);
#endif /* BOND_HAVE_CLASS_FILE_NS_COMMON */
}

/**
 * bond_compat_debugfs_rename() - rename a directory of debugfs in its place
 * @dir: the directory
 * @parent: where it is
 * @name: its new name
 */
static inline void bond_compat_debugfs_rename(struct dentry *dir,
					      struct dentry *parent,
					      const char *name)
{
#ifdef BOND_HAVE_DEBUGFS_CHANGE_NAME
	debugfs_change_name(dir, "%s", name);
#else
	debugfs_rename(parent, dir, parent, name);
#endif /* BOND_HAVE_DEBUGFS_CHANGE_NAME */
}

/* --- time stamping --- */

#ifdef BOND_HAVE_KERNEL_TS_INFO
#define bond_ts_info		kernel_ethtool_ts_info
#else
#define bond_ts_info		ethtool_ts_info
#endif /* BOND_HAVE_KERNEL_TS_INFO */

/**
 * bond_compat_ts_info() - what another device can time stamp
 * @dev: the device
 * @info: receives the answer, zeroed by the caller
 *
 * The PHY answers if it can, then the device's driver, then nobody: software
 * receive time stamps work everywhere.
 *
 * Context: RTNL.
 * Return: 0 or a negative errno.
 */
static inline int bond_compat_ts_info(struct net_device *dev,
				      struct bond_ts_info *info)
{
#ifdef BOND_HAVE_TS_INFO_BY_LAYER
	return ethtool_get_ts_info_by_layer(dev, info);
#else
	info->so_timestamping = SOF_TIMESTAMPING_RX_SOFTWARE |
				SOF_TIMESTAMPING_SOFTWARE;
	info->phc_index = -1;
	if (phy_has_tsinfo(dev->phydev))
		return phy_ts_info(dev->phydev, info);
	if (dev->ethtool_ops->get_ts_info)
		return dev->ethtool_ops->get_ts_info(dev, info);
	return 0;
#endif /* BOND_HAVE_TS_INFO_BY_LAYER */
}

/*
 * Hardware time stamping.  A kernel without ndo_hwtstamp_get and _set hands the
 * user's ioctl to the driver: there a setting is read from the user's memory
 * first (bond_compat_hwtstamp_read()) and given back to it at last.
 */
#ifdef BOND_HAVE_NDO_HWTSTAMP
#define bond_hwtstamp_config	kernel_hwtstamp_config
#define BOND_NDO_HWTSTAMP					\
	.ndo_hwtstamp_get	= bond_hwtstamp_get,		\
	.ndo_hwtstamp_set	= bond_hwtstamp_set,

static inline int
bond_compat_hwtstamp_lower_get(struct net_device *dev,
			       struct bond_hwtstamp_config *config)
{
	return generic_hwtstamp_get_lower(dev, config);
}

static inline int
bond_compat_hwtstamp_lower_set(struct net_device *dev,
			       struct bond_hwtstamp_config *config,
			       struct netlink_ext_ack *extack)
{
	return generic_hwtstamp_set_lower(dev, config, extack);
}

static inline int
bond_compat_hwtstamp_read(struct bond_hwtstamp_config *config)
{
	return -EOPNOTSUPP;
}

static inline int
bond_compat_hwtstamp_write(const struct bond_hwtstamp_config *config)
{
	return -EOPNOTSUPP;
}
#else
/**
 * struct bond_hwtstamp_config - a hardware time stamping setting
 * @flags: HWTSTAMP_FLAG_*
 * @tx_type: HWTSTAMP_TX_*
 * @rx_filter: HWTSTAMP_FILTER_*
 * @ifr: the user's request
 */
struct bond_hwtstamp_config {
	int flags;
	int tx_type;
	int rx_filter;
	struct ifreq *ifr;
};

#define BOND_NDO_HWTSTAMP

/* Ask a device for its setting, or give it one; RTNL; 0 or an errno. */
int bond_compat_hwtstamp_lower_get(struct net_device *dev,
				   struct bond_hwtstamp_config *config);
int bond_compat_hwtstamp_lower_set(struct net_device *dev,
				   struct bond_hwtstamp_config *config,
				   struct netlink_ext_ack *extack);

/* From and to the user's memory; 0 or -EFAULT. */
int bond_compat_hwtstamp_read(struct bond_hwtstamp_config *config);
int bond_compat_hwtstamp_write(const struct bond_hwtstamp_config *config);
#endif /* BOND_HAVE_NDO_HWTSTAMP */

#endif /* _BOND_COMPAT_H */
