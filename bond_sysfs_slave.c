// SPDX-License-Identifier: GPL-2.0
/*
 * The directory bonding_slave below a slave's device, and the end of a slave:
 * the kobject behind the directory owns its memory.
 *
 * Files are read-only.  They are read under RCU; the enslave path adds and
 * removes the directory under RTNL, and removal waits for readers.
 */
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "bond_surfaces.h"

/**
 * struct bond_slave_file - one file of the directory
 * @attr: name and permissions
 * @show: prints the file's text to buf; RCU
 */
struct bond_slave_file {
	struct attribute attr;
	ssize_t (*show)(const struct slave *slave, char *buf);
};

static ssize_t bond_slave_state_show(const struct slave *slave, char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  bond_slave_is_backup(slave) ? "backup" : "active");
}

static ssize_t bond_slave_mii_status_show(const struct slave *slave, char *buf)
{
	return sysfs_emit(buf, "%s\n", bond_link_name(READ_ONCE(slave->link)));
}

static ssize_t bond_slave_link_failure_count_show(const struct slave *slave,
						  char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(slave->link_failure_count));
}

static ssize_t bond_slave_perm_hwaddr_show(const struct slave *slave,
					   char *buf)
{
	return sysfs_emit(buf, "%*phC\n", slave->perm_len, slave->perm_hwaddr);
}

static ssize_t bond_slave_queue_id_show(const struct slave *slave, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(slave->queue_id));
}

static bool bond_slave_ad_port(const struct slave *slave,
			       struct bond_ad_port *port)
{
	const struct bond_mode_ops *ops = READ_ONCE(slave->bond->ops);

	return ops->ad_port && ops->ad_port(slave, port);
}

static ssize_t bond_slave_ad_aggregator_id_show(const struct slave *slave,
						char *buf)
{
	struct bond_ad_port port;

	if (!bond_slave_ad_port(slave, &port))
		return sysfs_emit(buf, "N/A\n");
	return sysfs_emit(buf, "%u\n", port.aggregator);
}

static ssize_t
bond_slave_ad_actor_oper_port_state_show(const struct slave *slave, char *buf)
{
	struct bond_ad_port port;

	if (!bond_slave_ad_port(slave, &port))
		return sysfs_emit(buf, "N/A\n");
	return sysfs_emit(buf, "%u\n", port.actor_state);
}

static ssize_t
bond_slave_ad_partner_oper_port_state_show(const struct slave *slave, char *buf)
{
	struct bond_ad_port port;

	if (!bond_slave_ad_port(slave, &port))
		return sysfs_emit(buf, "N/A\n");
	return sysfs_emit(buf, "%u\n", port.partner_state);
}

static ssize_t bond_slave_lacp_reason_show(const struct slave *slave, char *buf)
{
	const struct bond_mode_ops *ops = READ_ONCE(slave->bond->ops);
	const char *word = NULL;

	if (ops->port_reason)
		word = ops->port_reason(slave);
	return sysfs_emit(buf, "%s\n", word ?: "N/A");
}

#define BOND_SLAVE_FILE(_name)						\
static struct bond_slave_file bond_slave_file_##_name = {		\
	.attr = { .name = #_name, .mode = 0444 },			\
	.show = bond_slave_##_name##_show,				\
}

BOND_SLAVE_FILE(state);
BOND_SLAVE_FILE(mii_status);
BOND_SLAVE_FILE(link_failure_count);
BOND_SLAVE_FILE(perm_hwaddr);
BOND_SLAVE_FILE(queue_id);
BOND_SLAVE_FILE(ad_aggregator_id);
BOND_SLAVE_FILE(ad_actor_oper_port_state);
BOND_SLAVE_FILE(ad_partner_oper_port_state);
BOND_SLAVE_FILE(lacp_reason);

static struct attribute *bond_slave_attrs[] = {
	&bond_slave_file_state.attr,
	&bond_slave_file_mii_status.attr,
	&bond_slave_file_link_failure_count.attr,
	&bond_slave_file_perm_hwaddr.attr,
	&bond_slave_file_queue_id.attr,
	&bond_slave_file_ad_aggregator_id.attr,
	&bond_slave_file_ad_actor_oper_port_state.attr,
	&bond_slave_file_ad_partner_oper_port_state.attr,
	&bond_slave_file_lacp_reason.attr,
	NULL
};
ATTRIBUTE_GROUPS(bond_slave);

static struct slave *bond_slave_of_kobj(struct kobject *kobj)
{
	return container_of(kobj, struct slave, kobj);
}

static ssize_t bond_slave_file_show(struct kobject *kobj,
				    struct attribute *attr, char *buf)
{
	const struct bond_slave_file *file;
	ssize_t len;

	file = container_of(attr, struct bond_slave_file, attr);
	rcu_read_lock();
	len = file->show(bond_slave_of_kobj(kobj), buf);
	rcu_read_unlock();
	return len;
}

static const struct sysfs_ops bond_slave_sysfs_ops = {
	.show = bond_slave_file_show,
};

static void bond_slave_free(struct rcu_head *rcu)
{
	struct slave *slave = container_of(rcu, struct slave, rcu);

	free_percpu(slave->pcpu);
	kfree(slave);
}

/* The packet path may still have the slave from an array. */
static void bond_slave_release(struct kobject *kobj)
{
	call_rcu(&bond_slave_of_kobj(kobj)->rcu, bond_slave_free);
}

const struct kobj_type bond_slave_ktype = {
	.release	= bond_slave_release,
	.sysfs_ops	= &bond_slave_sysfs_ops,
	.default_groups	= bond_slave_groups,
};
