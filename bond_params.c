// SPDX-License-Identifier: GPL-2.0
/*
 * The module parameters: defaults of bonds that are made later.
 *
 * Read once, at load, by the rows of the option table.  What is wrong is put
 * right with a warning where the in-tree driver does so, and stops the load
 * where it does.  bond_param_defaults is constant from then on.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>

#include "bond_option_set.h"

struct bond_params bond_param_defaults __ro_after_init;
int bond_param_max_bonds = BOND_DEFAULT_MAX_BONDS;
int bond_param_tx_queues = BOND_DEFAULT_TX_QUEUES;

/* --- the parameters --- */

static int bond_param_num_peer_notif = 1;
static int bond_param_miimon;
static int bond_param_updelay;
static int bond_param_downdelay;
static int bond_param_use_carrier = 1;
static int bond_param_min_links;
static int bond_param_arp_interval;
static int bond_param_all_slaves_active;
static int bond_param_resend_igmp = BOND_DEFAULT_RESEND_IGMP;
static int bond_param_packets_per_slave = 1;
static unsigned int bond_param_lp_interval = 1;
static char *bond_param_mode;
static char *bond_param_primary;
static char *bond_param_primary_reselect;
static char *bond_param_lacp_rate;
static char *bond_param_ad_select;
static char *bond_param_lacp_fallback;
static int bond_param_lacp_fallback_timeout;
static char *bond_param_xmit_hash_policy;
static char *bond_param_arp_ip_target[BOND_MAX_TARGETS];
static int bond_param_arp_ip_targets;
static char *bond_param_arp_validate;
static char *bond_param_arp_all_targets;
static char *bond_param_fail_over_mac;

/* Only these two can be seen in sysfs; both are the same number. */
module_param_named(num_grat_arp, bond_param_num_peer_notif, int, 0644);
MODULE_PARM_DESC(num_grat_arp,
		 "Announcements after a failover (same as num_unsol_na)");
module_param_named(num_unsol_na, bond_param_num_peer_notif, int, 0644);
MODULE_PARM_DESC(num_unsol_na,
		 "Announcements after a failover (same as num_grat_arp)");

module_param_named(max_bonds, bond_param_max_bonds, int, 0);
MODULE_PARM_DESC(max_bonds, "Number of bonds to create at load (default 1)");
module_param_named(tx_queues, bond_param_tx_queues, int, 0);
MODULE_PARM_DESC(tx_queues, "Transmit queues of a bond (default 16)");
module_param_named(miimon, bond_param_miimon, int, 0);
MODULE_PARM_DESC(miimon, "Link check interval in ms, 0 is off (default)");
module_param_named(updelay, bond_param_updelay, int, 0);
MODULE_PARM_DESC(updelay, "ms from carrier on until a slave is used");
module_param_named(downdelay, bond_param_downdelay, int, 0);
MODULE_PARM_DESC(downdelay, "ms from carrier off until a slave is not used");
module_param_named(use_carrier, bond_param_use_carrier, int, 0);
MODULE_PARM_DESC(use_carrier, "Obsolete: carrier is used always");
module_param_named(mode, bond_param_mode, charp, 0);
MODULE_PARM_DESC(mode, "balance-rr 0 (default), active-backup 1, balance-xor 2, broadcast 3, 802.3ad 4, balance-tlb 5, balance-alb 6");
module_param_named(primary, bond_param_primary, charp, 0);
MODULE_PARM_DESC(primary, "Name of the preferred slave");
module_param_named(primary_reselect, bond_param_primary_reselect, charp, 0);
MODULE_PARM_DESC(primary_reselect, "When the primary takes over again: always 0 (default), better 1, failure 2");
module_param_named(lacp_rate, bond_param_lacp_rate, charp, 0);
MODULE_PARM_DESC(lacp_rate, "LACPDU rate to ask the partner for: slow 0 (default), fast 1");
module_param_named(ad_select, bond_param_ad_select, charp, 0);
MODULE_PARM_DESC(ad_select, "Choice of the 802.3ad aggregator: stable 0 (default), bandwidth 1, count 2, actor_port_prio 3");
module_param_named(lacp_fallback, bond_param_lacp_fallback, charp, 0);
MODULE_PARM_DESC(lacp_fallback, "Ports that serve when no partner answers: none 0, single 1 (default), active-backup 2, all 3");
module_param_named(lacp_fallback_timeout, bond_param_lacp_fallback_timeout,
		   int, 0);
MODULE_PARM_DESC(lacp_fallback_timeout, "Seconds to wait for a partner before that (default 0)");
module_param_named(min_links, bond_param_min_links, int, 0);
MODULE_PARM_DESC(min_links, "Links that the carrier takes (default 0)");
module_param_named(xmit_hash_policy, bond_param_xmit_hash_policy, charp, 0);
MODULE_PARM_DESC(xmit_hash_policy, "layer2 0 (default), layer3+4 1, layer2+3 2, encap2+3 3, encap3+4 4, vlan+srcmac 5");
module_param_named(arp_interval, bond_param_arp_interval, int, 0);
MODULE_PARM_DESC(arp_interval, "ARP monitor interval in ms, 0 is off (default)");
module_param_array_named(arp_ip_target, bond_param_arp_ip_target, charp,
			 &bond_param_arp_ip_targets, 0);
MODULE_PARM_DESC(arp_ip_target, "IPv4 addresses that the ARP monitor probes");
module_param_named(arp_validate, bond_param_arp_validate, charp, 0);
MODULE_PARM_DESC(arp_validate, "ARP to count only if from a target: none 0 (default), active 1, backup 2, all 3, filter 4, filter_active 5, filter_backup 6");
module_param_named(arp_all_targets, bond_param_arp_all_targets, charp, 0);
MODULE_PARM_DESC(arp_all_targets, "Targets that must answer: any 0 (default), all 1");
module_param_named(fail_over_mac, bond_param_fail_over_mac, charp, 0);
MODULE_PARM_DESC(fail_over_mac, "MAC of an active-backup bond: none 0 (default), active 1, follow 2");
module_param_named(all_slaves_active, bond_param_all_slaves_active, int, 0);
MODULE_PARM_DESC(all_slaves_active, "Receive on backup slaves: off 0 (default), on 1");
module_param_named(resend_igmp, bond_param_resend_igmp, int, 0);
MODULE_PARM_DESC(resend_igmp, "Times groups are joined again after a failover (default 1)");
module_param_named(packets_per_slave, bond_param_packets_per_slave, int, 0);
MODULE_PARM_DESC(packets_per_slave, "Frames in a row by one slave in balance-rr, 0 is random (default 1)");
module_param_named(lp_interval, bond_param_lp_interval, uint, 0);
MODULE_PARM_DESC(lp_interval, "Seconds between learning packets (default 1)");

/* --- numbers --- */

/* A bad number leaves the row's default. */
static void __init bond_param_number(enum bond_opt_id id, s64 number)
{
	const struct bond_option *opt = bond_option_get(id);
	struct bond_opt_value value = { .number = number };
	u32 low, high, result;

	if (!bond_option_parse(opt, &value, &result)) {
		bond_option_store(opt, &bond_param_defaults, result);
		return;
	}
	bond_option_range(opt, &low, &high);
	pr_warn("%s=%lld is not in %u..%u, %u is used\n", opt->name, number,
		low, high, bond_option_number(opt, &bond_param_defaults));
}

static void __init bond_params_numbers(void)
{
	bond_param_number(BOND_OPT_MIIMON, bond_param_miimon);
	bond_param_number(BOND_OPT_UPDELAY, bond_param_updelay);
	bond_param_number(BOND_OPT_DOWNDELAY, bond_param_downdelay);
	bond_param_number(BOND_OPT_USE_CARRIER, bond_param_use_carrier);
	bond_param_number(BOND_OPT_MIN_LINKS, bond_param_min_links);
	bond_param_number(BOND_OPT_ARP_INTERVAL, bond_param_arp_interval);
	bond_param_number(BOND_OPT_ALL_SLAVES_ACTIVE,
			  bond_param_all_slaves_active);
	bond_param_number(BOND_OPT_RESEND_IGMP, bond_param_resend_igmp);
	bond_param_number(BOND_OPT_NUM_PEER_NOTIF, bond_param_num_peer_notif);
	/* sysfs shows this one */
	bond_param_num_peer_notif = bond_param_defaults.num_peer_notif;
	bond_param_number(BOND_OPT_PACKETS_PER_SLAVE,
			  bond_param_packets_per_slave);
	bond_param_number(BOND_OPT_LP_INTERVAL, bond_param_lp_interval);
	bond_param_number(BOND_OPT_LACP_FALLBACK_TIMEOUT,
			  bond_param_lacp_fallback_timeout);
	if (!bond_param_defaults.use_carrier)
		pr_info("use_carrier=0 is obsolete: carrier is used always\n");
	bond_param_defaults.use_carrier = 1;
	if (bond_param_max_bonds < 0) {
		pr_warn("max_bonds=%d is negative, %d is used\n",
			bond_param_max_bonds, BOND_DEFAULT_MAX_BONDS);
		bond_param_max_bonds = BOND_DEFAULT_MAX_BONDS;
	}
	if (bond_param_tx_queues < 1 ||
	    bond_param_tx_queues > BOND_TX_QUEUES_MAX) {
		pr_warn("tx_queues=%d is not in 1..%d, %d is used\n",
			bond_param_tx_queues, BOND_TX_QUEUES_MAX,
			BOND_DEFAULT_TX_QUEUES);
		bond_param_tx_queues = BOND_DEFAULT_TX_QUEUES;
	}
}

/* --- monitors --- */

/* Any bad target puts the ARP monitor off. */
static void __init bond_params_targets(void)
{
	struct bond_params *params = &bond_param_defaults;
	const char *text;
	__be32 addr;
	int err, i;

	for (i = 0; i < bond_param_arp_ip_targets; i++) {
		text = bond_param_arp_ip_target[i];
		err = -EINVAL;
		if (bond_text_ip4(text, &addr))
			err = bond_target_add(params, addr);
		if (err == -EEXIST) {
			pr_warn("arp_ip_target=%s comes twice\n", text);
		} else if (err) {
			pr_warn("arp_ip_target=%s is bad, arp_interval is 0\n",
				text);
			params->arp_interval = 0;
		}
	}
	if (params->arp_interval && !params->arp_ip_target[0]) {
		pr_warn("arp_interval=%u has no arp_ip_target, 0 is used\n",
			params->arp_interval);
		params->arp_interval = 0;
	}
}

static void __init bond_params_monitors(const struct bond_mode_ops *ops)
{
	struct bond_params *params = &bond_param_defaults;

	if (ops->caps & BOND_CAP_NEEDS_MII && !params->miimon) {
		pr_warn("mode %s cannot do without miimon, %u is used\n",
			ops->name, BOND_MIIMON_FORCED);
		params->miimon = BOND_MIIMON_FORCED;
	}
	if (params->miimon && params->arp_interval) {
		pr_warn("miimon=%u and arp_interval=%u exclude each other, arp_interval is 0\n",
			params->miimon, params->arp_interval);
		params->arp_interval = 0;
	}
	bond_params_targets();
}

static void __init bond_param_delay(const char *name, u32 *delay)
{
	u32 miimon = bond_param_defaults.miimon;
	u32 rounded = miimon ? *delay - *delay % miimon : 0;

	if (*delay && !miimon)
		pr_warn("%s=%u has no effect without miimon\n", name, *delay);
	else if (*delay != rounded)
		pr_warn("%s=%u is no multiple of miimon=%u, %u is used\n",
			name, *delay, miimon, rounded);
	*delay = rounded;
}

/* --- words --- */

static int __init bond_param_word(enum bond_opt_id id, const char *text)
{
	const struct bond_option *opt = bond_option_get(id);
	struct bond_opt_value value = { .text = text };
	u32 number;

	if (!text)
		return 0;
	if (bond_option_parse(opt, &value, &number)) {
		pr_err("%s=%s is not a value of it\n", opt->name, text);
		return -EINVAL;
	}
	bond_option_store(opt, &bond_param_defaults, number);
	return 0;
}

/* For what is not even looked at where it could have no effect. */
static int __init bond_param_word_in(enum bond_opt_id id, const char *text,
				     const struct bond_mode_ops *ops, u32 caps)
{
	if (text && !(ops->caps & caps)) {
		pr_info("%s=%s has no effect in mode %s\n",
			bond_option_get(id)->name, text, ops->name);
		return 0;
	}
	return bond_param_word(id, text);
}

static int __init bond_param_validate(void)
{
	if (bond_param_arp_validate && !bond_param_defaults.arp_interval) {
		pr_err("arp_validate=%s needs arp_interval\n",
		       bond_param_arp_validate);
		return -EINVAL;
	}
	return bond_param_word(BOND_OPT_ARP_VALIDATE, bond_param_arp_validate);
}

static int __init bond_params_primary(const struct bond_mode_ops *ops)
{
	const char *name = bond_param_primary;

	if (!name)
		return 0;
	if (!(ops->caps & BOND_CAP_PRIMARY)) {
		pr_warn("primary=%s has no effect in mode %s\n", name,
			ops->name);
		return 0;
	}
	if (strlen(name) >= IFNAMSIZ) {
		pr_warn("primary=%s cannot be the name of a device\n", name);
		return 0;
	}
	strscpy(bond_param_defaults.primary, name, IFNAMSIZ);
	return bond_param_word(BOND_OPT_PRIMARY_RESELECT,
			       bond_param_primary_reselect);
}

static int __init bond_params_words(const struct bond_mode_ops *ops)
{
	int err;

	err = bond_param_word_in(BOND_OPT_XMIT_HASH_POLICY,
				 bond_param_xmit_hash_policy, ops,
				 BOND_CAP_HASH | BOND_CAP_TLB);
	if (err)
		return err;
	err = bond_param_word_in(BOND_OPT_LACP_RATE, bond_param_lacp_rate, ops,
				 BOND_CAP_LACP);
	if (err)
		return err;
	err = bond_param_word(BOND_OPT_LACP_FALLBACK, bond_param_lacp_fallback);
	if (err)
		return err;
	err = bond_param_word(BOND_OPT_AD_SELECT, bond_param_ad_select);
	if (err)
		return err;
	err = bond_param_word(BOND_OPT_FAIL_OVER_MAC,
			      bond_param_fail_over_mac);
	if (err)
		return err;
	err = bond_param_validate();
	if (err)
		return err;
	/* Said to be wrong, but the load goes on, as it always did. */
	bond_param_word(BOND_OPT_ARP_ALL_TARGETS, bond_param_arp_all_targets);
	return bond_params_primary(ops);
}

/* --- load --- */

int __init bond_params_load(void)
{
	struct bond_params *params = &bond_param_defaults;
	const struct bond_mode_ops *ops;
	int err;

	bond_params_default(params);
	err = bond_param_word(BOND_OPT_MODE, bond_param_mode);
	if (err)
		return err;
	ops = bond_mode_by_id(params->mode);
	if (!ops) {
		pr_err("mode=%s is not in this build\n", bond_param_mode);
		return -EOPNOTSUPP;
	}
	bond_params_numbers();
	bond_params_monitors(ops);
	bond_param_delay("updelay", &params->updelay);
	bond_param_delay("downdelay", &params->downdelay);
	if (ops->params_adopt)
		ops->params_adopt(params);
	return bond_params_words(ops);
}
