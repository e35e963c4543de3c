// SPDX-License-Identifier: GPL-2.0
/*
 * A network device whose counters say what a test wants them to say: c0, made
 * in the namespace of who loads the module, with a carrier, sending nowhere.
 *
 * Parameters, to be set at any time: tx_packets, rx_bytes.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

static unsigned long tx_packets;
module_param(tx_packets, ulong, 0644);
static unsigned long rx_bytes;
module_param(rx_bytes, ulong, 0644);

static struct net_device *counters_dev;

static netdev_tx_t counters_xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static void counters_get_stats64(struct net_device *dev,
				 struct rtnl_link_stats64 *stats)
{
	stats->tx_packets = READ_ONCE(tx_packets);
	stats->rx_bytes = READ_ONCE(rx_bytes);
}

static const struct net_device_ops counters_ops = {
	.ndo_start_xmit = counters_xmit,
	.ndo_get_stats64 = counters_get_stats64,
	.ndo_set_mac_address = eth_mac_addr,
};

static void counters_setup(struct net_device *dev)
{
	ether_setup(dev);
	eth_hw_addr_random(dev);
	dev->netdev_ops = &counters_ops;
}

static int __init counters_init(void)
{
	int err;

	counters_dev = alloc_netdev(0, "c0", NET_NAME_UNKNOWN, counters_setup);
	if (!counters_dev)
		return -ENOMEM;
	dev_net_set(counters_dev, current->nsproxy->net_ns);
	err = register_netdev(counters_dev);
	if (err)
		free_netdev(counters_dev);
	return err;
}

static void __exit counters_exit(void)
{
	unregister_netdev(counters_dev);
	free_netdev(counters_dev);
}

module_init(counters_init);
module_exit(counters_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A device with the counters that a test gives it");
