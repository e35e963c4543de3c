// SPDX-License-Identifier: GPL-2.0
/*
 * Looks into bonds the way other modules of the kernel do: through the
 * structures of the target's own <net/bonding.h>, in netdev_priv() of a bond
 * and in rx_handler_data of a slave (RDMA, switch and NIC drivers do that). So
 * what it shows is what they see, whatever the loaded bonding module says of
 * itself. abi_layout.sh compares the two.
 *
 * /proc/net/bond_abi has, for every bond of the network namespace, a line
 *	bond NAME mode N active NAME|-
 * and for every one of their slaves
 *	slave NAME dev NAME bond NAME link N backup N inactive N txable N
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/seq_file_net.h>
#include <net/bonding.h>
#include <net/lag.h>
#include <net/net_namespace.h>

/* A pointer that came from a wrong offset is not followed. */
static const char *dev_name_of(struct net *net, const struct net_device *want)
{
	struct net_device *dev;

	for_each_netdev_rcu(net, dev)
		if (dev == want)
			return dev->name;
	return "garbage";
}

static void show_bond(struct seq_file *seq, struct net *net,
		      struct net_device *dev)
{
	struct bonding *bond = netdev_priv(dev);
	struct slave *active = rcu_dereference(bond->curr_active_slave);

	seq_printf(seq, "bond %s mode %d active %s\n",
		   dev_name_of(net, bond->dev), bond->params.mode,
		   active ? dev_name_of(net, active->dev) : "-");
}

static void show_slave(struct seq_file *seq, struct net *net,
		       struct net_device *dev)
{
	struct slave *slave = rcu_dereference(dev->rx_handler_data);
	struct net_device *master = netdev_master_upper_dev_get_rcu(dev);

	if (!slave || !master)
		return;
	seq_printf(seq, "slave %s dev %s bond %s", dev->name,
		   dev_name_of(net, slave->dev),
		   slave->bond == netdev_priv(master) ? master->name :
		   "garbage");
	seq_printf(seq, " link %d backup %d inactive %d txable %d\n",
		   slave->link, slave->backup, slave->inactive,
		   net_lag_port_dev_txable(dev));
}

static int show(struct seq_file *seq, void *unused)
{
	struct net *net = seq_file_single_net(seq);
	struct net_device *dev;

	rcu_read_lock();
	for_each_netdev_rcu(net, dev) {
		if (netif_is_bond_master(dev))
			show_bond(seq, net, dev);
		if (netif_is_bond_slave(dev))
			show_slave(seq, net, dev);
	}
	rcu_read_unlock();
	return 0;
}

static int __net_init space_init(struct net *net)
{
	if (!proc_create_net_single("bond_abi", 0444, net->proc_net, show,
				    NULL))
		return -ENOMEM;
	return 0;
}

static void __net_exit space_exit(struct net *net)
{
	remove_proc_entry("bond_abi", net->proc_net);
}

static struct pernet_operations spaces = {
	.init = space_init,
	.exit = space_exit,
};

static int __init bond_abi_test_init(void)
{
	return register_pernet_subsys(&spaces);
}

static void __exit bond_abi_test_exit(void)
{
	unregister_pernet_subsys(&spaces);
}

module_init(bond_abi_test_init);
module_exit(bond_abi_test_exit);

MODULE_DESCRIPTION("Shows what other modules see of a bond");
MODULE_LICENSE("GPL");
