// SPDX-License-Identifier: GPL-2.0
/*
 * A directory for each bond in debugfs, for the operator who wants to know what
 * the packet path sees: the drop counters, the slave arrays, and the clients of
 * balance-alb under the name that the in-tree driver has for them.
 *
 * bonding/<bond> for a bond of the first namespace, bonding/<bond>@<inode of
 * the namespace> for any other.  Directories are made, renamed and removed
 * under RTNL by bond_main.c; removal waits for readers, so readers must not
 * take RTNL.
 */
#include <linux/debugfs.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>

#include "bond_surfaces.h"

#define BOND_DEBUGFS_NAME	(IFNAMSIZ + 12)

static struct dentry *bond_debugfs_root;

static int bond_debugfs_drops_show(struct seq_file *seq, void *unused)
{
	const struct bonding *bond = seq->private;
	int why;

	for (why = 0; why < BOND_DROP_MAX; why++)
		seq_printf(seq, "%s %llu\n", bond_drop_names[why],
			   bond_drop_sum(bond, why));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(bond_debugfs_drops);

static void bond_debugfs_array_show(struct seq_file *seq, const char *name,
				    const struct bond_slave_array *array)
{
	u32 i;

	seq_printf(seq, "%s:", name);
	for (i = 0; array && i < array->count; i++)
		seq_printf(seq, " %s", array->slave[i]->dev->name);
	seq_putc(seq, '\n');
}

static int bond_debugfs_arrays_show(struct seq_file *seq, void *unused)
{
	const struct bonding *bond = seq->private;

	rcu_read_lock();
	bond_debugfs_array_show(seq, "usable", rcu_dereference(bond->usable));
	bond_debugfs_array_show(seq, "all", rcu_dereference(bond->all));
	rcu_read_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(bond_debugfs_arrays);

/*
 * What it shows belongs to the mode, which can be changed under RTNL.  Whoever
 * removes the file holds RTNL while he waits for us.
 */
static int bond_debugfs_rlb_show(struct seq_file *seq, void *unused)
{
	const struct bonding *bond = seq->private;

	if (!bond_has_cap(bond, BOND_CAP_TLB))
		return 0;
	if (!rtnl_trylock())
		return restart_syscall();
	if (bond->ops->debug_show)
		bond->ops->debug_show(seq, bond);
	rtnl_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(bond_debugfs_rlb);

static void bond_debugfs_name(const struct bonding *bond, char *name)
{
	const struct net *net = dev_net(bond->dev);

	if (net_eq(net, &init_net))
		strscpy(name, bond->dev->name, BOND_DEBUGFS_NAME);
	else
		snprintf(name, BOND_DEBUGFS_NAME, "%s@%u", bond->dev->name,
			 net->ns.inum);
}

void bond_debugfs_add(struct bonding *bond)
{
	char name[BOND_DEBUGFS_NAME];

	if (IS_ERR_OR_NULL(bond_debugfs_root))
		return;
	bond_debugfs_name(bond, name);
	bond->debug_dir = debugfs_create_dir(name, bond_debugfs_root);
	debugfs_create_file("drops", 0400, bond->debug_dir, bond,
			    &bond_debugfs_drops_fops);
	debugfs_create_file("arrays", 0400, bond->debug_dir, bond,
			    &bond_debugfs_arrays_fops);
	debugfs_create_file("rlb_hash_table", 0400, bond->debug_dir, bond,
			    &bond_debugfs_rlb_fops);
}

void bond_debugfs_del(struct bonding *bond)
{
	/* when the module goes, the root may have gone before a bond */
	if (bond_debugfs_root)
		debugfs_remove_recursive(bond->debug_dir);
	bond->debug_dir = NULL;
}

void bond_debugfs_rename(struct bonding *bond)
{
	char name[BOND_DEBUGFS_NAME];

	if (IS_ERR_OR_NULL(bond_debugfs_root) ||
	    IS_ERR_OR_NULL(bond->debug_dir))
		return;
	bond_debugfs_name(bond, name);
	bond_compat_debugfs_rename(bond->debug_dir, bond_debugfs_root, name);
}

void bond_debugfs_init(void)
{
	bond_debugfs_root = debugfs_create_dir(KBUILD_MODNAME, NULL);
}

void bond_debugfs_exit(void)
{
	rtnl_lock();
	debugfs_remove_recursive(bond_debugfs_root);
	bond_debugfs_root = NULL;
	rtnl_unlock();
}
