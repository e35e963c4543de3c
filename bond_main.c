// SPDX-License-Identifier: GPL-2.0
/*
 * Module load and unload, the life of a bond's net_device, and the wiring of
 * everything else.  Nobody calls into this file but the kernel, and those who
 * make a bond (bond_create(), bond_setup()).
 *
 * All of it runs under RTNL, load and unload apart.
 */
#include <linux/module.h>
#include <net/net_namespace.h>

#include "bond_surfaces.h"

unsigned int bond_net_id;

/* --- life of a bond --- */

static const struct device_type bond_device_type = {
	.name = "bond",
};

static int bond_init(struct net_device *dev)
{
	struct bonding *bond = netdev_priv(dev);
	int err;

	bond->wq = alloc_ordered_workqueue("%s", WQ_MEM_RECLAIM, dev->name);
	if (!bond->wq)
		return -ENOMEM;
	bond->pcpu = alloc_percpu(struct bond_pcpu);
	err = -ENOMEM;
	if (!bond->pcpu)
		goto free_wq;
	err = bond->ops->init ? bond->ops->init(bond) : 0;
	if (err)
		goto free_pcpu;
	bond->mode_ready = true;

	spin_lock_init(&bond->stats_lock);
	lockdep_register_key(&bond->stats_lock_key);
	lockdep_set_class(&bond->stats_lock, &bond->stats_lock_key);
	netdev_lockdep_set_classes(dev);
	list_add_tail(&bond->node, &bond_net_of(dev_net(dev))->bonds);
	if (!is_valid_ether_addr(dev->dev_addr))
		eth_hw_addr_random(dev);
	bond_debugfs_add(bond);
	return 0;

free_pcpu:
	free_percpu(bond->pcpu);
	bond->pcpu = NULL;
free_wq:
	destroy_workqueue(bond->wq);
	bond->wq = NULL;
	return err;
}

static void bond_release_all(struct bonding *bond)
{
	struct slave *slave, *next;

	list_for_each_entry_safe(slave, next, &bond->slaves, list)
		bond_release(bond->dev, slave->dev);
}

static void bond_uninit(struct net_device *dev)
{
	struct bonding *bond = netdev_priv(dev);

	bond_release_all(bond);
	bond_monitors_stop(bond);
	bond_notify_stop(bond);
	cancel_delayed_work_sync(&bond->apply_work);
	bond_debugfs_del(bond);
	list_del(&bond->node);
	if (bond->ops->exit)
		bond->ops->exit(bond);
	bond->mode_ready = false;
	bond_slaves_free(bond);
}

/*
 * What statistics readers may still use until the device is really gone.  Only
 * called for a device that got through ndo_init.
 */
static void bond_destructor(struct net_device *dev)
{
	struct bonding *bond = netdev_priv(dev);

	destroy_workqueue(bond->wq);
	free_percpu(bond->pcpu);
	lockdep_unregister_key(&bond->stats_lock_key);
}

static int bond_open(struct net_device *dev)
{
	struct bonding *bond = netdev_priv(dev);

	if (bond->ops->start)
		bond->ops->start(bond);
	bond_monitors_start(bond);
	bond_mark(bond, BOND_DIRTY_ARRAY);
	bond_mark(bond, BOND_DIRTY_CARRIER);
	bond_apply(bond);
	bond_xdp_pick_update(dev);
	return 0;
}

static int bond_stop(struct net_device *dev)
{
	struct bonding *bond = netdev_priv(dev);

	bond_xdp_pick_update(dev);
	bond_monitors_stop(bond);
	bond_notify_stop(bond);
	bond_rx_mode_drop(bond);
	if (bond->ops->stop)
		bond->ops->stop(bond);
	return 0;
}

static int bond_add_slave(struct net_device *dev, struct net_device *slave_dev,
			  struct netlink_ext_ack *extack)
{
	return bond_enslave(dev, slave_dev, extack);
}

const struct net_device_ops bond_netdev_ops = {
	.ndo_init		= bond_init,
	.ndo_uninit		= bond_uninit,
	.ndo_open		= bond_open,
	.ndo_stop		= bond_stop,
	.ndo_start_xmit		= bond_start_xmit,
	.ndo_select_queue	= bond_select_queue,
	.ndo_get_stats64	= bond_get_stats64,
	.ndo_eth_ioctl		= bond_eth_ioctl,
	.ndo_siocbond		= bond_siocbond,
	.ndo_siocdevprivate	= bond_siocdevprivate,
	.ndo_change_rx_flags	= bond_change_rx_flags,
	.ndo_set_rx_mode	= bond_set_rx_mode,
	.ndo_change_mtu		= bond_change_mtu,
	.ndo_set_mac_address	= bond_set_mac_address,
	.ndo_neigh_setup	= bond_neigh_setup,
	.ndo_vlan_rx_add_vid	= bond_vlan_rx_add_vid,
	.ndo_vlan_rx_kill_vid	= bond_vlan_rx_kill_vid,
#ifdef CONFIG_NET_POLL_CONTROLLER
	.ndo_netpoll_setup	= bond_netpoll_setup,
	.ndo_netpoll_cleanup	= bond_netpoll_cleanup,
	.ndo_poll_controller	= bond_netpoll_poll,
#endif
	.ndo_add_slave		= bond_add_slave,
	.ndo_del_slave		= bond_release,
	.ndo_fix_features	= bond_fix_features,
	.ndo_features_check	= passthru_features_check,
	.ndo_get_xmit_slave	= bond_get_xmit_slave,
	.ndo_bpf		= bond_bpf,
	.ndo_xdp_xmit		= bond_xdp_xmit,
	.ndo_xdp_get_xmit_slave	= bond_xdp_get_xmit_slave,
	BOND_NDO_HWTSTAMP
};

void bond_ether_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->max_mtu = ETH_MAX_MTU;
	dev->flags |= IFF_MASTER;
	dev->priv_flags |= IFF_BONDING | IFF_UNICAST_FLT | IFF_NO_QUEUE;
	dev->priv_flags &= ~(IFF_XMIT_DST_RELEASE | IFF_TX_SKB_SHARING);
}

static void bond_priv_setup(struct bonding *bond)
{
	bond->params = bond_param_defaults;
	bond->ops = bond_mode_by_id(bond->params.mode);
	bond_pick_update(bond);
	INIT_LIST_HEAD(&bond->slaves);
	INIT_LIST_HEAD(&bond->node);
	spin_lock_init(&bond->array_lock);
	INIT_DELAYED_WORK(&bond->apply_work, bond_apply_work);
	bond_miimon_init(bond);
	bond_arpmon_init(bond);
	bond_notify_init(bond);
}

void bond_setup(struct net_device *dev)
{
	struct bonding *bond = netdev_priv(dev);

	bond->dev = dev;
	bond_ether_setup(dev);
	bond_priv_setup(bond);
	dev->netdev_ops = &bond_netdev_ops;
	dev->ethtool_ops = &bond_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->priv_destructor = bond_destructor;
	dev->sysfs_groups[0] = &bond_sysfs_group;
	SET_NETDEV_DEVTYPE(dev, &bond_device_type);
	bond_dev_set_lltx(dev);
	bond_dev_set_netns_immutable(dev);
	bond_features_init(dev);
	netif_carrier_off(dev);
}

int bond_create(struct net *net, const char *name)
{
	struct net_device *dev;
	int err;

	rtnl_lock();
	dev = alloc_netdev_mq(sizeof(struct bonding), name ?: "bond%d",
			      NET_NAME_UNKNOWN, bond_setup,
			      bond_param_tx_queues);
	err = -ENOMEM;
	if (!dev)
		goto unlock;
	dev_net_set(dev, net);
	dev->rtnl_link_ops = &bond_link_ops;
	err = register_netdevice(dev);
	if (err)
		free_netdev(dev);
unlock:
	rtnl_unlock();
	return err;
}

/* --- files that go by the name of a bond --- */

static int bond_main_event(struct notifier_block *nb, unsigned long event,
			   void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct bonding *bond;

	if (!bond_dev_is_bond(dev))
		return NOTIFY_DONE;
	bond = netdev_priv(dev);
	switch (event) {
	case NETDEV_REGISTER:
		bond_proc_add(bond);
		break;
	case NETDEV_UNREGISTER:
		bond_proc_del(bond);
		break;
	case NETDEV_CHANGENAME:
		bond_proc_del(bond);
		bond_proc_add(bond);
		bond_debugfs_rename(bond);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block bond_main_notifier = {
	.notifier_call = bond_main_event,
};

/* --- namespaces --- */

static int __net_init bond_net_init(struct net *net)
{
	struct bond_net *bn = bond_net_of(net);

	bn->net = net;
	INIT_LIST_HEAD(&bn->bonds);
	bond_proc_net_init(bn);
	bond_sysfs_net_init(bn);
	return 0;
}

static void __net_exit bond_net_exit(struct net *net)
{
	struct bond_net *bn = bond_net_of(net);

	bond_sysfs_net_exit(bn);
	bond_proc_net_exit(bn);
}

static struct pernet_operations bond_net_ops = {
	.init = bond_net_init,
	.exit = bond_net_exit,
	.id   = &bond_net_id,
	.size = sizeof(struct bond_net),
};

/* --- load and unload --- */

static int __init bond_create_default(void)
{
	int err = 0;
	int i;

	for (i = 0; i < bond_param_max_bonds && !err; i++)
		err = bond_create(&init_net, NULL);
	return err;
}

static int __init bond_module_init(void)
{
	int err;

	err = bond_modes_check();
	if (err)
		return err;
	err = bond_params_load();
	if (err)
		return err;
	err = register_pernet_subsys(&bond_net_ops);
	if (err)
		return err;
	bond_debugfs_init();
	err = bond_notify_register();
	if (err)
		goto exit_net;
	err = register_netdevice_notifier(&bond_main_notifier);
	if (err)
		goto exit_notify;
	err = rtnl_link_register(&bond_link_ops);
	if (err)
		goto exit_main_notifier;
	err = bond_create_default();
	if (err)
		goto exit_link;
	return 0;

exit_link:
	rtnl_link_unregister(&bond_link_ops);
exit_main_notifier:
	unregister_netdevice_notifier(&bond_main_notifier);
exit_notify:
	bond_notify_unregister();
exit_net:
	bond_debugfs_exit();
	unregister_pernet_subsys(&bond_net_ops);
	return err;
}

static void __exit bond_module_exit(void)
{
	rtnl_link_unregister(&bond_link_ops);
	unregister_netdevice_notifier(&bond_main_notifier);
	bond_notify_unregister();
	bond_debugfs_exit();
	unregister_pernet_subsys(&bond_net_ops);
	/* struct slave and the arrays are freed by RCU callbacks of ours */
	rcu_barrier();
}

module_init(bond_module_init);
module_exit(bond_module_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Ethernet channel bonding: link aggregation and failover");
MODULE_AUTHOR("The bonding module's authors");
MODULE_ALIAS_RTNL_LINK("bond");
MODULE_VERSION(BOND_VERSION);
