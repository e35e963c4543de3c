// SPDX-License-Identifier: GPL-2.0
/*
 * sysfs: the directory "bonding" of a bond's device, and the class file
 * bonding_masters of each namespace.
 *
 * The directory has a file for each row of the option table that says so, and
 * some read-only files.  Files are read under RCU.  Writers try to get RTNL and
 * have the system call restarted when they do not get it, since who removes a
 * file under RTNL waits for its writers.
 */
#include <linux/capability.h>
#include <linux/sched/signal.h>
#include <linux/sysfs.h>

#include "bond_surfaces.h"

struct bond_sysfs_file;

typedef ssize_t (*bond_sysfs_show_fn)(const struct bonding *bond,
				      const struct bond_option *opt, char *buf);

/**
 * struct bond_sysfs_file - one file of the directory
 * @dev_attr: what sysfs knows of it
 * @opt: the option behind it, NULL for a read-only file
 * @show: prints the file's text; RCU
 */
struct bond_sysfs_file {
	struct device_attribute dev_attr;
	const struct bond_option *opt;
	bond_sysfs_show_fn show;
};

/* --- lists of words in one line --- */

#define BOND_LIST_WORD	(IFNAMSIZ + 8)
#define BOND_LIST_MORE	"++more++ "

/* Add a word; false when the page was full, which the text then says. */
static bool bond_list_add(char *buf, int *len, const char *word)
{
	size_t room = PAGE_SIZE - sizeof(BOND_LIST_MORE) - *len;
	bool fits = strlen(word) < room;

	if (fits)
		*len += sysfs_emit_at(buf, *len, "%s ", word);
	else
		*len += sysfs_emit_at(buf, *len, BOND_LIST_MORE);
	return fits;
}

static int bond_list_end(char *buf, int len)
{
	if (len)
		buf[len - 1] = '\n';
	return len;
}

/* --- how options show themselves --- */

static ssize_t bond_sysfs_number_show(const struct bonding *bond,
				      const struct bond_option *opt, char *buf)
{
	return sysfs_emit(buf, "%u\n", bond_option_number(opt, &bond->params));
}

static ssize_t bond_sysfs_name_show(const struct bonding *bond,
				    const struct bond_option *opt, char *buf)
{
	u32 number = bond_option_number(opt, &bond->params);

	return sysfs_emit(buf, "%s %u\n", bond_option_number_name(opt, number),
			  number);
}

/* An option that not everybody may see, and that not every mode has. */
static bool bond_sysfs_visible(const struct bonding *bond,
			       const struct bond_option *opt)
{
	return bond_has_cap(bond, opt->need_caps) && capable(CAP_NET_ADMIN);
}

static ssize_t bond_sysfs_private_show(const struct bonding *bond,
				       const struct bond_option *opt, char *buf)
{
	if (!bond_sysfs_visible(bond, opt))
		return 0;
	return bond_sysfs_number_show(bond, opt, buf);
}

static ssize_t bond_sysfs_system_show(const struct bonding *bond,
				      const struct bond_option *opt, char *buf)
{
	if (!bond_sysfs_visible(bond, opt))
		return 0;
	return sysfs_emit(buf, "%pM\n", bond->params.ad_actor_system);
}

static ssize_t bond_sysfs_slave_name_show(const struct slave *slave, char *buf)
{
	return slave ? sysfs_emit(buf, "%s\n", slave->dev->name) : 0;
}

static ssize_t bond_sysfs_active_show(const struct bonding *bond,
				      const struct bond_option *opt, char *buf)
{
	const struct slave *active = rcu_dereference(bond->curr_active_slave);

	if (!bond_has_cap(bond, opt->need_caps))
		return 0;
	return bond_sysfs_slave_name_show(active, buf);
}

static ssize_t bond_sysfs_primary_show(const struct bonding *bond,
				       const struct bond_option *opt, char *buf)
{
	return bond_sysfs_slave_name_show(rcu_dereference(bond->primary), buf);
}

static ssize_t bond_sysfs_slaves_show(const struct bonding *bond,
				      const struct bond_option *opt, char *buf)
{
	struct slave *slave;
	int len = 0;

	bond_for_each_slave_rcu(bond, slave)
		if (!bond_list_add(buf, &len, slave->dev->name))
			break;
	return bond_list_end(buf, len);
}

static ssize_t bond_sysfs_queue_id_show(const struct bonding *bond,
					const struct bond_option *opt,
					char *buf)
{
	char word[BOND_LIST_WORD];
	struct slave *slave;
	int len = 0;

	bond_for_each_slave_rcu(bond, slave) {
		snprintf(word, sizeof(word), "%s:%u", slave->dev->name,
			 READ_ONCE(slave->queue_id));
		if (!bond_list_add(buf, &len, word))
			break;
	}
	return bond_list_end(buf, len);
}

static ssize_t bond_sysfs_targets_show(const struct bonding *bond,
				       const struct bond_option *opt, char *buf)
{
	char word[BOND_LIST_WORD];
	__be32 target;
	int len = 0;
	int i;

	for (i = 0; i < BOND_MAX_TARGETS; i++) {
		target = READ_ONCE(bond->params.arp_ip_target[i]);
		if (!target)
			break;
		snprintf(word, sizeof(word), "%pI4", &target);
		bond_list_add(buf, &len, word);
	}
	return bond_list_end(buf, len);
}

/* Rows with BOND_OPT_SHOW_OWN */
static const bond_sysfs_show_fn bond_sysfs_own_shows[BOND_OPT_MAX] = {
	[BOND_OPT_ACTIVE_SLAVE]		= bond_sysfs_active_show,
	[BOND_OPT_ARP_IP_TARGET]	= bond_sysfs_targets_show,
	[BOND_OPT_PRIMARY]		= bond_sysfs_primary_show,
	[BOND_OPT_AD_ACTOR_SYS_PRIO]	= bond_sysfs_private_show,
	[BOND_OPT_AD_USER_PORT_KEY]	= bond_sysfs_private_show,
	[BOND_OPT_AD_ACTOR_SYSTEM]	= bond_sysfs_system_show,
	[BOND_OPT_SLAVES]		= bond_sysfs_slaves_show,
	[BOND_OPT_QUEUE_ID]		= bond_sysfs_queue_id_show,
};

/* --- read-only files --- */

static ssize_t bond_sysfs_mii_status_show(const struct bonding *bond,
					  const struct bond_option *opt,
					  char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  netif_carrier_ok(bond->dev) ? "up" : "down");
}

/* The active aggregator, all zero when there is none; false: no LACP here. */
static bool bond_sysfs_ad_info(const struct bonding *bond, struct ad_info *info)
{
	const struct bond_mode_ops *ops = READ_ONCE(bond->ops);

	memset(info, 0, sizeof(*info));
	if (!ops->ad_info)
		return false;
	ops->ad_info(bond, info);
	return true;
}

static ssize_t bond_sysfs_aggregator_show(const struct bonding *bond,
					  const struct bond_option *opt,
					  char *buf)
{
	struct ad_info info;

	if (!bond_sysfs_ad_info(bond, &info))
		return 0;
	return sysfs_emit(buf, "%u\n", info.aggregator_id);
}

static ssize_t bond_sysfs_num_ports_show(const struct bonding *bond,
					 const struct bond_option *opt,
					 char *buf)
{
	struct ad_info info;

	if (!bond_sysfs_ad_info(bond, &info))
		return 0;
	return sysfs_emit(buf, "%u\n", info.ports);
}

static ssize_t bond_sysfs_actor_key_show(const struct bonding *bond,
					 const struct bond_option *opt,
					 char *buf)
{
	struct ad_info info;

	if (!bond_sysfs_ad_info(bond, &info) || !capable(CAP_NET_ADMIN))
		return 0;
	return sysfs_emit(buf, "%u\n", info.actor_key);
}

static ssize_t bond_sysfs_partner_key_show(const struct bonding *bond,
					   const struct bond_option *opt,
					   char *buf)
{
	struct ad_info info;

	if (!bond_sysfs_ad_info(bond, &info) || !capable(CAP_NET_ADMIN))
		return 0;
	return sysfs_emit(buf, "%u\n", info.partner_key);
}

static ssize_t bond_sysfs_partner_mac_show(const struct bonding *bond,
					   const struct bond_option *opt,
					   char *buf)
{
	const struct bond_mode_ops *ops = READ_ONCE(bond->ops);
	struct ad_info info;

	if (!ops->ad_info || !capable(CAP_NET_ADMIN) ||
	    !ops->ad_info(bond, &info))
		return 0;
	return sysfs_emit(buf, "%pM\n", info.partner_system);
}

static const struct {
	const char *name;
	bond_sysfs_show_fn show;
} bond_sysfs_infos[] = {
	{ "mii_status",		bond_sysfs_mii_status_show },
	{ "ad_aggregator",	bond_sysfs_aggregator_show },
	{ "ad_num_ports",	bond_sysfs_num_ports_show },
	{ "ad_actor_key",	bond_sysfs_actor_key_show },
	{ "ad_partner_key",	bond_sysfs_partner_key_show },
	{ "ad_partner_mac",	bond_sysfs_partner_mac_show },
};

/* --- the directory --- */

static ssize_t bond_sysfs_show(struct device *d, struct device_attribute *attr,
			       char *buf)
{
	const struct bonding *bond = netdev_priv(to_net_dev(d));
	const struct bond_sysfs_file *file;
	ssize_t len;

	file = container_of(attr, struct bond_sysfs_file, dev_attr);
	rcu_read_lock();
	len = file->show(bond, file->opt, buf);
	rcu_read_unlock();
	return len;
}

void bond_options_notify(struct bonding *bond)
{
	ASSERT_RTNL();
	if (bond->dev->reg_state == NETREG_REGISTERED)
		call_netdevice_notifiers(NETDEV_CHANGEINFODATA, bond->dev);
}

void bond_refusal_log(const struct bonding *bond,
		      const struct netlink_ext_ack *extack)
{
	if (extack->_msg)
		bond_info(bond, "%s\n", extack->_msg);
}

/* RTNL */
static int bond_sysfs_set(struct bonding *bond, const struct bond_option *opt,
			  const char *buf)
{
	const struct bond_opt_value value = { .text = buf };
	struct netlink_ext_ack extack = { };
	int err;

	err = bond_option_set(bond, bond_option_id(opt), &value, &extack);
	if (err) {
		bond_refusal_log(bond, &extack);
		return err;
	}
	bond_options_notify(bond);
	return 0;
}

static ssize_t bond_sysfs_store(struct device *d, struct device_attribute *attr,
				const char *buf, size_t count)
{
	struct bonding *bond = netdev_priv(to_net_dev(d));
	const struct bond_sysfs_file *file;
	int err;

	file = container_of(attr, struct bond_sysfs_file, dev_attr);
	if (!rtnl_trylock())
		return restart_syscall();
	err = bond_sysfs_set(bond, file->opt, buf);
	rtnl_unlock();
	return err ?: count;
}

/* An option may have a second name. */
#define BOND_SYSFS_MAX	(2 * BOND_OPT_MAX + ARRAY_SIZE(bond_sysfs_infos))

static struct bond_sysfs_file bond_sysfs_files[BOND_SYSFS_MAX];
static struct attribute *bond_sysfs_attrs[BOND_SYSFS_MAX + 1];
static unsigned int bond_sysfs_count;

const struct attribute_group bond_sysfs_group = {
	.name = "bonding",
	.attrs = bond_sysfs_attrs,
};

static void bond_sysfs_file_add(const char *name, const struct bond_option *opt,
				bond_sysfs_show_fn show)
{
	struct bond_sysfs_file *file = &bond_sysfs_files[bond_sysfs_count];

	file->dev_attr.attr.name = name;
	file->dev_attr.attr.mode = opt ? 0644 : 0444;
	file->dev_attr.show = bond_sysfs_show;
	if (opt)
		file->dev_attr.store = bond_sysfs_store;
	file->opt = opt;
	file->show = show;
	bond_sysfs_attrs[bond_sysfs_count++] = &file->dev_attr.attr;
}

static bond_sysfs_show_fn bond_sysfs_show_of(const struct bond_option *opt)
{
	switch (opt->show) {
	case BOND_OPT_SHOW_NUMBER:
		return bond_sysfs_number_show;
	case BOND_OPT_SHOW_NAME:
		return bond_sysfs_name_show;
	case BOND_OPT_SHOW_OWN:
		return bond_sysfs_own_shows[bond_option_id(opt)];
	default:
		return NULL;
	}
}

static void bond_sysfs_fill(void)
{
	const struct bond_option *opt;
	bond_sysfs_show_fn show;
	unsigned int i;

	for (i = 0; i < BOND_OPT_MAX; i++) {
		opt = bond_option_get(i);
		show = bond_sysfs_show_of(opt);
		if (!show)
			continue;
		bond_sysfs_file_add(opt->name, opt, show);
		if (opt->alias)
			bond_sysfs_file_add(opt->alias, opt, show);
	}
	for (i = 0; i < ARRAY_SIZE(bond_sysfs_infos); i++)
		bond_sysfs_file_add(bond_sysfs_infos[i].name, NULL,
				    bond_sysfs_infos[i].show);
}

/* --- bonding_masters --- */

static ssize_t bond_masters_show(bond_const_class *class,
				 bond_const_class_attr *attr, char *buf)
{
	const struct bond_net *bn = container_of(attr, struct bond_net,
						 masters);
	struct bonding *bond;
	int len = 0;

	rtnl_lock();
	list_for_each_entry(bond, &bn->bonds, node)
		if (!bond_list_add(buf, &len, bond->dev->name))
			break;
	rtnl_unlock();
	return bond_list_end(buf, len);
}

static int bond_masters_add(const struct bond_net *bn, const char *name)
{
	/* the name is taken, but the core would notice with a stack trace */
	if (!strcmp(name, bn->masters.attr.name))
		return -EEXIST;
	return bond_create(bn->net, name);
}

static int bond_masters_del(const struct bond_net *bn, const char *name)
{
	struct bonding *bond;
	int err = -ENODEV;

	rtnl_lock();
	list_for_each_entry(bond, &bn->bonds, node) {
		if (strcmp(bond->dev->name, name))
			continue;
		unregister_netdevice(bond->dev);
		err = 0;
		break;
	}
	rtnl_unlock();
	return err;
}

/* "+name" makes a bond, "-name" removes one; blanks before it do not count. */
static ssize_t bond_masters_store(bond_const_class *class,
				  bond_const_class_attr *attr, const char *buf,
				  size_t count)
{
	const struct bond_net *bn = container_of(attr, struct bond_net,
						 masters);
	char command[IFNAMSIZ + 1] = "";
	int err = -EPERM;

	static_assert(IFNAMSIZ == 16);
	if (sscanf(buf, "%16s", command) != 1 || !dev_valid_name(command + 1))
		return -EPERM;
	if (command[0] == '+')
		err = bond_masters_add(bn, command + 1);
	else if (command[0] == '-')
		err = bond_masters_del(bn, command + 1);
	return err ?: count;
}

int bond_sysfs_net_init(struct bond_net *bn)
{
	int err;

	/* the first namespace comes before the first bond, and alone */
	if (!bond_sysfs_count)
		bond_sysfs_fill();

	bn->masters.attr.name = "bonding_masters";
	bn->masters.attr.mode = 0644;
	bn->masters.show = bond_masters_show;
	bn->masters.store = bond_masters_store;
	sysfs_attr_init(&bn->masters.attr);
	err = bond_compat_class_file_create(&bn->masters, bn->net);
	bn->masters_live = !err;
	/* a device may have the name: bonds can still be made by netlink */
	if (err == -EEXIST)
		pr_warn("bonding_masters: a device has this name\n");
	return err == -EEXIST ? 0 : err;
}

/*
 * When the module goes, its link type is unregistered first, with the bonds
 * there are; a bond may then still have been made through the file.
 */
static void bond_masters_clear(const struct bond_net *bn)
{
	struct bonding *bond;
	LIST_HEAD(leaving);

	rtnl_lock();
	list_for_each_entry(bond, &bn->bonds, node)
		unregister_netdevice_queue(bond->dev, &leaving);
	unregister_netdevice_many(&leaving);
	rtnl_unlock();
}

void bond_sysfs_net_exit(struct bond_net *bn)
{
	if (bn->masters_live)
		bond_compat_class_file_remove(&bn->masters, bn->net);
	bond_masters_clear(bn);
}
