// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/bonding/<bond>: the text that people and many programs read.
 *
 * Its lines, their order and their blanks are an interface: new lines go to the
 * end of a block.  Files are made and removed under RTNL and read under RCU;
 * removal waits for readers, so readers must not take RTNL.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <net/ipv6.h>
#include <generated/utsrelease.h>

#include "bond_surfaces.h"

const char *bond_link_name(u8 link)
{
	switch (link) {
	case BOND_LINK_UP:
		return "up";
	case BOND_LINK_FAIL:
		return "going down";
	case BOND_LINK_DOWN:
		return "down";
	case BOND_LINK_BACK:
		return "going back";
	default:
		return "unknown";
	}
}

/* --- the bond --- */

static const char *bond_proc_name_of(enum bond_opt_id id, u32 number)
{
	return bond_option_number_name(bond_option_get(id), number);
}

static void bond_proc_mode(struct seq_file *seq, const struct bonding *bond)
{
	u32 policy = READ_ONCE(bond->params.fail_over_mac);

	seq_printf(seq, "Bonding Mode: %s", READ_ONCE(bond->ops)->proc_name);
	if (policy != BOND_FOM_NONE && bond_has_cap(bond, BOND_CAP_FOM))
		seq_printf(seq, " (fail_over_mac %s)",
			   bond_proc_name_of(BOND_OPT_FAIL_OVER_MAC, policy));
	seq_putc(seq, '\n');
}

static bool bond_proc_hashes(const struct bonding *bond)
{
	if (bond_has_cap(bond, BOND_CAP_TLB))
		return !READ_ONCE(bond->params.tlb_dynamic_lb);
	return bond_has_cap(bond, BOND_CAP_HASH);
}

static void bond_proc_hash(struct seq_file *seq, const struct bonding *bond)
{
	u32 policy = READ_ONCE(bond->params.xmit_hash_policy);

	if (bond_proc_hashes(bond))
		seq_printf(seq, "Transmit Hash Policy: %s (%u)\n",
			   bond_proc_name_of(BOND_OPT_XMIT_HASH_POLICY, policy),
			   policy);
}

static void bond_proc_primary(struct seq_file *seq, const struct bonding *bond)
{
	const struct slave *primary = rcu_dereference(bond->primary);
	u32 reselect = READ_ONCE(bond->params.primary_reselect);
	const struct slave *active;

	if (!bond_has_cap(bond, BOND_CAP_PRIMARY))
		return;
	seq_printf(seq, "Primary Slave: %s",
		   primary ? primary->dev->name : "None");
	if (primary)
		seq_printf(seq, " (primary_reselect %s)",
			   bond_proc_name_of(BOND_OPT_PRIMARY_RESELECT,
					     reselect));
	active = rcu_dereference(bond->curr_active_slave);
	seq_printf(seq, "\nCurrently Active Slave: %s\n",
		   active ? active->dev->name : "None");
}

static void bond_proc_mii(struct seq_file *seq, const struct bonding *bond)
{
	const struct bond_params *params = &bond->params;

	seq_printf(seq, "MII Status: %s\n",
		   netif_carrier_ok(bond->dev) ? "up" : "down");
	seq_printf(seq, "MII Polling Interval (ms): %u\n",
		   READ_ONCE(params->miimon));
	seq_printf(seq, "Up Delay (ms): %u\n", READ_ONCE(params->updelay));
	seq_printf(seq, "Down Delay (ms): %u\n", READ_ONCE(params->downdelay));
	seq_printf(seq, "Peer Notification Delay (ms): %u\n",
		   READ_ONCE(params->peer_notif_delay));
}

static void bond_proc_ip6_targets(struct seq_file *seq,
				  const struct bond_params *params)
{
	int i;

	if (!IS_ENABLED(CONFIG_IPV6))
		return;
	seq_puts(seq, "NS IPv6 target/s (xx::xx form):");
	for (i = 0; i < BOND_MAX_TARGETS; i++) {
		if (ipv6_addr_any(&params->ns_ip6_target[i]))
			break;
		seq_printf(seq, "%s %pI6c", i ? "," : "",
			   &params->ns_ip6_target[i]);
	}
	seq_putc(seq, '\n');
}

static void bond_proc_arp(struct seq_file *seq, const struct bonding *bond)
{
	const struct bond_params *params = &bond->params;
	u32 interval = READ_ONCE(params->arp_interval);
	int i;

	if (!interval)
		return;
	seq_printf(seq, "ARP Polling Interval (ms): %u\n", interval);
	seq_printf(seq, "ARP Missed Max: %u\n",
		   READ_ONCE(params->arp_missed_max));
	seq_puts(seq, "ARP IP target/s (n.n.n.n form):");
	for (i = 0; i < BOND_MAX_TARGETS && params->arp_ip_target[i]; i++)
		seq_printf(seq, "%s %pI4", i ? "," : "",
			   &params->arp_ip_target[i]);
	seq_putc(seq, '\n');
	bond_proc_ip6_targets(seq, params);
}

static void bond_proc_bond(struct seq_file *seq, const struct bonding *bond)
{
	const struct bond_mode_ops *ops = READ_ONCE(bond->ops);

	seq_puts(seq, "Ethernet Channel Bonding Driver: v" UTS_RELEASE "\n\n");
	bond_proc_mode(seq, bond);
	bond_proc_hash(seq, bond);
	bond_proc_primary(seq, bond);
	bond_proc_mii(seq, bond);
	bond_proc_arp(seq, bond);
	if (ops->proc_show)
		ops->proc_show(seq, bond);
}

/* --- its slaves --- */

static const char *bond_proc_duplex(u8 duplex)
{
	switch (duplex) {
	case DUPLEX_FULL:
		return "full";
	case DUPLEX_HALF:
		return "half";
	default:
		return "Unknown";
	}
}

static void bond_proc_slave(struct seq_file *seq, const struct slave *slave)
{
	const struct bond_mode_ops *ops = READ_ONCE(slave->bond->ops);
	u32 speed = READ_ONCE(slave->speed);

	seq_printf(seq, "\nSlave Interface: %s\n", slave->dev->name);
	seq_printf(seq, "MII Status: %s\n",
		   bond_link_name(READ_ONCE(slave->link)));
	if (speed == (u32)SPEED_UNKNOWN)
		seq_puts(seq, "Speed: Unknown\n");
	else
		seq_printf(seq, "Speed: %u Mbps\n", speed);
	seq_printf(seq, "Duplex: %s\n",
		   bond_proc_duplex(READ_ONCE(slave->duplex)));
	seq_printf(seq, "Link Failure Count: %u\n",
		   READ_ONCE(slave->link_failure_count));
	seq_printf(seq, "Permanent HW addr: %*phC\n", slave->perm_len,
		   slave->perm_hwaddr);
	seq_printf(seq, "Slave queue ID: %u\n", READ_ONCE(slave->queue_id));
	if (ops->proc_show_slave)
		ops->proc_show_slave(seq, slave);
}

static int bond_proc_show(struct seq_file *seq, void *unused)
{
	const struct bonding *bond = seq->private;
	const struct slave *slave;

	rcu_read_lock();
	bond_proc_bond(seq, bond);
	bond_for_each_slave_rcu(bond, slave)
		bond_proc_slave(seq, slave);
	rcu_read_unlock();
	return 0;
}

/* --- files --- */

void bond_proc_add(struct bonding *bond)
{
	struct bond_net *bn = bond_net_of(dev_net(bond->dev));

	if (!bn->proc_dir)
		return;
	bond->proc_entry = proc_create_single_data(bond->dev->name, 0444,
						   bn->proc_dir, bond_proc_show,
						   bond);
	if (!bond->proc_entry)
		bond_warn(bond, "no file in /proc/net/bonding\n");
}

void bond_proc_del(struct bonding *bond)
{
	if (!bond->proc_entry)
		return;
	proc_remove(bond->proc_entry);
	bond->proc_entry = NULL;
}

void bond_proc_net_init(struct bond_net *bn)
{
	bn->proc_dir = proc_mkdir("bonding", bn->net->proc_net);
	if (!bn->proc_dir)
		pr_warn("no directory /proc/net/bonding\n");
}

void bond_proc_net_exit(struct bond_net *bn)
{
	proc_remove(bn->proc_dir);
	bn->proc_dir = NULL;
}
