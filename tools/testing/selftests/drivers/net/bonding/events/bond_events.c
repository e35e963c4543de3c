// SPDX-License-Identifier: GPL-2.0
/*
 * The rest of the kernel, for tests of the bonding driver: everybody who hears
 * of a device, and may refuse what is about to be done with it.
 *
 * /proc/bond_events has a line for every netdev notification since the file was
 * last written to: milliseconds, event, device, and what came with it as pairs
 * of name and value.
 *
 * Parameters, to be set at any time:
 *   event  the notification to refuse, e.g. PRE_UP; "-" for none
 *   dev    the device that it must be about
 *   error  the errno to refuse it with
 *   skip   how many of those to let pass first
 *   hits   how many have been refused (read)
 *   take   a device that has a sysfs directory "bonding_slave"; "-" for none
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <net/net_namespace.h>

#define EVENTS_TEXT	(64 * 1024)

static char event[32];
module_param_string(event, event, sizeof(event), 0644);
static char dev[IFNAMSIZ];
module_param_string(dev, dev, sizeof(dev), 0644);
static unsigned int error = EPERM;
module_param(error, uint, 0644);
static unsigned int skip;
module_param(skip, uint, 0644);
static unsigned int hits;
module_param(hits, uint, 0644);

/* --- what is heard --- */

static DEFINE_SPINLOCK(events_lock);
static char *events_text;
static size_t events_len;

static __printf(1, 2) void events_add(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	spin_lock_bh(&events_lock);
	events_len += vscnprintf(events_text + events_len,
				 EVENTS_TEXT - events_len, fmt, args);
	spin_unlock_bh(&events_lock);
	va_end(args);
}

static void
events_add_upper(const struct netdev_notifier_changeupper_info *info)
{
	const struct netdev_lag_upper_info *lag = info->upper_info;

	events_add(" upper %s linking %u master %u", info->upper_dev->name,
		   info->linking, info->master);
	if (lag && netif_is_bond_master(info->upper_dev))
		events_add(" tx_type %u hash_type %u", lag->tx_type,
			   lag->hash_type);
}

static void
events_add_lower(const struct netdev_notifier_changelowerstate_info *info)
{
	const struct netdev_lag_lower_state_info *lag = info->lower_state_info;

	events_add(" link_up %u tx_enabled %u", lag->link_up, lag->tx_enabled);
}

static void events_add_info(const struct netdev_notifier_bonding_info *info)
{
	const struct ifslave *slave = &info->bonding_info.slave;
	const struct ifbond *bond = &info->bonding_info.master;

	events_add(" mode %d miimon %d slaves %d", bond->bond_mode,
		   bond->miimon, bond->num_slaves);
	events_add(" slave %s link %d state %d failures %u", slave->slave_name,
		   slave->link, slave->state, slave->link_failure_count);
}

static void events_hear(unsigned long what, const struct net_device *on,
			const void *info)
{
	events_add("%lld %s %s", ktime_get_ns() / NSEC_PER_MSEC,
		   netdev_cmd_to_name(what) + strlen("NETDEV_"), on->name);
	switch (what) {
	case NETDEV_PRECHANGEUPPER:
	case NETDEV_CHANGEUPPER:
		events_add_upper(info);
		break;
	case NETDEV_CHANGELOWERSTATE:
		if (netif_is_bond_slave(on))
			events_add_lower(info);
		break;
	case NETDEV_BONDING_INFO:
		events_add_info(info);
		break;
	case NETDEV_CHANGEADDR:
		events_add(" address %*phC type %u", on->addr_len,
			   on->dev_addr, on->addr_assign_type);
		break;
	}
	events_add("\n");
}

/* --- what is said --- */

static int events_answer(unsigned long what, const struct net_device *on)
{
	const char *name = netdev_cmd_to_name(what) + strlen("NETDEV_");

	if (strcmp(name, event) || strcmp(on->name, dev))
		return NOTIFY_DONE;
	if (skip) {
		skip--;
		return NOTIFY_DONE;
	}
	hits++;
	return notifier_from_errno(-(int)error);
}

static int events_call(struct notifier_block *nb, unsigned long what,
		       void *info)
{
	struct net_device *on = netdev_notifier_info_to_dev(info);

	events_hear(what, on, info);
	return events_answer(what, on);
}

/* After everybody else, who then have to hear that it was refused. */
static struct notifier_block events_block = {
	.notifier_call	= events_call,
	.priority	= INT_MIN,
};

/* --- a name that is taken --- */

static char events_take_name[IFNAMSIZ];
static struct net_device *events_take_dev;
static struct kobject *events_take_kobj;

static void events_take_none(void)
{
	if (!events_take_dev)
		return;
	kobject_put(events_take_kobj);
	dev_put(events_take_dev);
	events_take_dev = NULL;
	events_take_name[0] = '\0';
}

static int events_take_set(const char *text, const struct kernel_param *kp)
{
	char name[IFNAMSIZ];

	strscpy(name, text, sizeof(name));
	events_take_none();
	if (!strcmp(strim(name), "-"))
		return 0;
	events_take_dev = dev_get_by_name(current->nsproxy->net_ns,
					  strim(name));
	if (!events_take_dev)
		return -ENODEV;
	events_take_kobj = kobject_create_and_add("bonding_slave",
						  &events_take_dev->dev.kobj);
	if (!events_take_kobj) {
		dev_put(events_take_dev);
		events_take_dev = NULL;
		return -ENOMEM;
	}
	strscpy(events_take_name, strim(name), sizeof(events_take_name));
	return 0;
}

static int events_take_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%s\n", events_take_name);
}

static const struct kernel_param_ops events_take_ops = {
	.set = events_take_set,
	.get = events_take_get,
};
module_param_cb(take, &events_take_ops, NULL, 0644);

/* --- the file --- */

static int events_show(struct seq_file *seq, void *v)
{
	spin_lock_bh(&events_lock);
	seq_write(seq, events_text, events_len);
	spin_unlock_bh(&events_lock);
	return 0;
}

static ssize_t events_write(struct file *file, const char __user *buf,
			    size_t len, loff_t *pos)
{
	spin_lock_bh(&events_lock);
	events_len = 0;
	spin_unlock_bh(&events_lock);
	return len;
}

static int events_open(struct inode *inode, struct file *file)
{
	return single_open_size(file, events_show, NULL, EVENTS_TEXT);
}

static const struct proc_ops events_proc_ops = {
	.proc_open	= events_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_write	= events_write,
	.proc_release	= single_release,
};

static int __init events_init(void)
{
	int err;

	events_text = kmalloc(EVENTS_TEXT, GFP_KERNEL);
	if (!events_text)
		return -ENOMEM;
	err = -ENOMEM;
	if (!proc_create("bond_events", 0600, NULL, &events_proc_ops))
		goto free_text;
	err = register_netdevice_notifier(&events_block);
	if (err)
		goto remove_proc;
	/* what there was before is of no interest */
	events_len = 0;
	return 0;

remove_proc:
	remove_proc_entry("bond_events", NULL);
free_text:
	kfree(events_text);
	return err;
}

static void __exit events_exit(void)
{
	unregister_netdevice_notifier(&events_block);
	remove_proc_entry("bond_events", NULL);
	events_take_none();
	kfree(events_text);
}

module_init(events_init);
module_exit(events_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Hears and refuses netdev notifications, for tests");
