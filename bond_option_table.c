// SPDX-License-Identifier: GPL-2.0
/*
 * The option table: what each option is called, what it takes, in which modes
 * and states of the bond, and what has to follow when it is set.
 *
 * Constant, so without a lock.  Read by bond_options.c and by the surfaces,
 * which show and accept what is a row here without knowing more of it.
 */
#include "bond_option_set.h"

/* --- numbers that have names, and ranges --- */

#define IS_DEFAULT	BOND_OPT_N_DEFAULT
#define IS_MIN	BOND_OPT_N_MIN
#define IS_MAX	BOND_OPT_N_MAX

/* All modes there are; bond_mode_by_id() knows which of them were built. */
static const struct bond_opt_name bond_names_mode[] = {
	{ "balance-rr", 0, IS_DEFAULT },
	{ "active-backup", 1 },
	{ "balance-xor", 2 },
	{ "broadcast", 3 },
	{ "802.3ad", 4 },
	{ "balance-tlb", 5 },
	{ "balance-alb", 6 },
	{ }
};

static const struct bond_opt_name bond_names_interval[] = {
	{ "off", 0, IS_DEFAULT },
	{ "maxval", INT_MAX, IS_MAX },
	{ }
};

static const struct bond_opt_name bond_names_peer_delay[] = {
	{ "off", 0 },
	{ "maxval", BOND_PEER_DELAY_MAX, IS_MAX },
	{ }
};

static const struct bond_opt_name bond_names_off[] = {
	{ "off", 0, IS_DEFAULT },
	{ "on", 1 },
	{ }
};

static const struct bond_opt_name bond_names_on[] = {
	{ "off", 0 },
	{ "on", 1, IS_DEFAULT },
	{ }
};

static const struct bond_opt_name bond_names_validate[] = {
	{ "none", 0, IS_DEFAULT },
	{ "active", 1 },
	{ "backup", 2 },
	{ "all", 3 },
	{ "filter", 4 },
	{ "filter_active", 5 },
	{ "filter_backup", 6 },
	{ }
};

static const struct bond_opt_name bond_names_all_targets[] = {
	{ "any", 0, IS_DEFAULT },
	{ "all", 1 },
	{ }
};

static const struct bond_opt_name bond_names_reselect[] = {
	{ "always", BOND_RESELECT_ALWAYS, IS_DEFAULT },
	{ "better", BOND_RESELECT_BETTER },
	{ "failure", BOND_RESELECT_FAILURE },
	{ }
};

static const struct bond_opt_name bond_names_fail_over_mac[] = {
	{ "none", BOND_FOM_NONE, IS_DEFAULT },
	{ "active", BOND_FOM_ACTIVE },
	{ "follow", BOND_FOM_FOLLOW },
	{ }
};

static const struct bond_opt_name bond_names_policy[] = {
	{ "layer2", BOND_XMIT_POLICY_LAYER2, IS_DEFAULT },
	{ "layer3+4", BOND_XMIT_POLICY_LAYER34 },
	{ "layer2+3", BOND_XMIT_POLICY_LAYER23 },
	{ "encap2+3", BOND_XMIT_POLICY_ENCAP23 },
	{ "encap3+4", BOND_XMIT_POLICY_ENCAP34 },
	{ "vlan+srcmac", BOND_XMIT_POLICY_VLAN_SRCMAC },
	{ }
};

static const struct bond_opt_name bond_names_repeat[] = {
	{ "off", 0 },
	{ "default", 1, IS_DEFAULT },
	{ "maxval", 255, IS_MAX },
	{ }
};

static const struct bond_opt_name bond_names_missed[] = {
	{ "minval", 1, IS_MIN },
	{ "default", 2, IS_DEFAULT },
	{ "maxval", 255, IS_MAX },
	{ }
};

static const struct bond_opt_name bond_names_lp_interval[] = {
	{ "minval", 1, IS_MIN | IS_DEFAULT },
	{ "maxval", INT_MAX, IS_MAX },
	{ }
};

static const struct bond_opt_name bond_names_packets[] = {
	{ "default", 1, IS_DEFAULT },
	{ "maxval", U16_MAX, IS_MAX },
	{ }
};

static const struct bond_opt_name bond_names_lacp_rate[] = {
	{ "slow", 0 },
	{ "fast", 1 },
	{ }
};

static const struct bond_opt_name bond_names_ad_select[] = {
	{ "stable", 0, IS_DEFAULT },
	{ "bandwidth", 1 },
	{ "count", 2 },
	{ "actor_port_prio", 3 },
	{ }
};

static const struct bond_opt_name bond_names_lacp_fallback[] = {
	{ "none", 0 },
	{ "single", 1, IS_DEFAULT },
	{ "active-backup", 2 },
	{ "all", 3 },
	{ }
};

static const struct bond_opt_name bond_names_lacp_timeout[] = {
	{ "off", 0, IS_DEFAULT },
	{ "maxval", U16_MAX, IS_MAX },
	{ }
};

static const struct bond_opt_name bond_names_sys_prio[] = {
	{ "minval", 1, IS_MIN },
	{ "maxval", U16_MAX, IS_MAX | IS_DEFAULT },
	{ }
};

static const struct bond_opt_name bond_names_user_key[] = {
	{ "minval", 0, IS_MIN | IS_DEFAULT },
	{ "maxval", 1023, IS_MAX },
	{ }
};

/* --- the rows --- */

/* A number: where it is kept, how sysfs shows it, what it may be. */
#define NUMBER(field, how, list)					\
	.type = BOND_OPT_T_NUMBER,					\
	.offset = offsetof(struct bond_params, field),			\
	.show = BOND_OPT_SHOW_##how,					\
	.names = bond_names_##list

static const struct bond_option bond_option_table[BOND_OPT_MAX] = {
	[BOND_OPT_MODE] = {
		.name = "mode",
		NUMBER(mode, NAME, mode),
		.nl_attr = IFLA_BOND_MODE,
		.flags = BOND_OPT_F_DOWN | BOND_OPT_F_NOSLAVES,
		.effects = BOND_EFFECT_MODE | BOND_EFFECT_MONITOR,
		.propose = bond_propose_mode,
	},
	[BOND_OPT_ACTIVE_SLAVE] = {
		.name = "active_slave",
		.type = BOND_OPT_T_DEV,
		.show = BOND_OPT_SHOW_OWN,
		.nl_attr = IFLA_BOND_ACTIVE_SLAVE,
		.need_caps = BOND_CAP_PRIMARY,
		.effects = BOND_EFFECT_ACTIVE,
		.propose = bond_propose_active_slave,
	},
	[BOND_OPT_MIIMON] = {
		.name = "miimon",
		NUMBER(miimon, NUMBER, interval),
		.nl_attr = IFLA_BOND_MIIMON,
		.effects = BOND_EFFECT_MONITOR,
		.propose = bond_propose_miimon,
	},
	[BOND_OPT_UPDELAY] = {
		.name = "updelay",
		NUMBER(updelay, NUMBER, interval),
		.nl_attr = IFLA_BOND_UPDELAY,
		.propose = bond_propose_delay,
	},
	[BOND_OPT_DOWNDELAY] = {
		.name = "downdelay",
		NUMBER(downdelay, NUMBER, interval),
		.nl_attr = IFLA_BOND_DOWNDELAY,
		.propose = bond_propose_delay,
	},
	[BOND_OPT_PEER_NOTIF_DELAY] = {
		.name = "peer_notif_delay",
		NUMBER(peer_notif_delay, NUMBER, peer_delay),
		.nl_attr = IFLA_BOND_PEER_NOTIF_DELAY,
		.propose = bond_propose_delay,
	},
	[BOND_OPT_USE_CARRIER] = {
		.name = "use_carrier",
		NUMBER(use_carrier, NUMBER, on),
		.nl_attr = IFLA_BOND_USE_CARRIER,
		.propose = bond_propose_use_carrier,
	},
	[BOND_OPT_ARP_INTERVAL] = {
		.name = "arp_interval",
		NUMBER(arp_interval, NUMBER, interval),
		.nl_attr = IFLA_BOND_ARP_INTERVAL,
		.need_caps = BOND_CAP_ARPMON,
		.effects = BOND_EFFECT_MONITOR,
		.propose = bond_propose_arp_interval,
	},
	[BOND_OPT_ARP_IP_TARGET] = {
		.name = "arp_ip_target",
		.type = BOND_OPT_T_IP4,
		.show = BOND_OPT_SHOW_OWN,
		.nl_attr = IFLA_BOND_ARP_IP_TARGET,
		.effects = BOND_EFFECT_MONITOR,
		.propose = bond_propose_arp_ip_target,
	},
	[BOND_OPT_ARP_VALIDATE] = {
		.name = "arp_validate",
		NUMBER(arp_validate, NAME, validate),
		.nl_attr = IFLA_BOND_ARP_VALIDATE,
		.need_caps = BOND_CAP_ARPMON,
		.effects = BOND_EFFECT_MONITOR,
		.propose = bond_propose_arp_validate,
	},
	[BOND_OPT_ARP_ALL_TARGETS] = {
		.name = "arp_all_targets",
		NUMBER(arp_all_targets, NAME, all_targets),
		.nl_attr = IFLA_BOND_ARP_ALL_TARGETS,
	},
	[BOND_OPT_NS_IP6_TARGET] = {
		.name = "ns_ip6_target",
		.type = BOND_OPT_T_IP6,
		.nl_attr = IFLA_BOND_NS_IP6_TARGET,
		.effects = BOND_EFFECT_MONITOR,
		.propose = bond_propose_ns_ip6_target,
	},
	[BOND_OPT_PRIMARY] = {
		.name = "primary",
		.type = BOND_OPT_T_DEV,
		.show = BOND_OPT_SHOW_OWN,
		.nl_attr = IFLA_BOND_PRIMARY,
		.need_caps = BOND_CAP_PRIMARY,
		.effects = BOND_EFFECT_PRIMARY,
		.propose = bond_propose_primary,
	},
	[BOND_OPT_PRIMARY_RESELECT] = {
		.name = "primary_reselect",
		NUMBER(primary_reselect, NAME, reselect),
		.nl_attr = IFLA_BOND_PRIMARY_RESELECT,
		.effects = BOND_EFFECT_SELECT,
	},
	[BOND_OPT_FAIL_OVER_MAC] = {
		.name = "fail_over_mac",
		NUMBER(fail_over_mac, NAME, fail_over_mac),
		.nl_attr = IFLA_BOND_FAIL_OVER_MAC,
		.flags = BOND_OPT_F_NOSLAVES,
	},
	[BOND_OPT_XMIT_HASH_POLICY] = {
		.name = "xmit_hash_policy",
		NUMBER(xmit_hash_policy, NAME, policy),
		.nl_attr = IFLA_BOND_XMIT_HASH_POLICY,
		.effects = BOND_EFFECT_PARAMS,
	},
	[BOND_OPT_RESEND_IGMP] = {
		.name = "resend_igmp",
		NUMBER(resend_igmp, NUMBER, repeat),
		.nl_attr = IFLA_BOND_RESEND_IGMP,
	},
	[BOND_OPT_NUM_PEER_NOTIF] = {
		.name = "num_grat_arp",
		.alias = "num_unsol_na",
		NUMBER(num_peer_notif, NUMBER, repeat),
		.nl_attr = IFLA_BOND_NUM_PEER_NOTIF,
	},
	[BOND_OPT_ALL_SLAVES_ACTIVE] = {
		.name = "all_slaves_active",
		NUMBER(all_slaves_active, NUMBER, off),
		.nl_attr = IFLA_BOND_ALL_SLAVES_ACTIVE,
		.effects = BOND_EFFECT_RXFLAGS | BOND_EFFECT_PARAMS,
	},
	[BOND_OPT_MIN_LINKS] = {
		.name = "min_links",
		NUMBER(min_links, NUMBER, interval),
		.nl_attr = IFLA_BOND_MIN_LINKS,
		.effects = BOND_EFFECT_CARRIER,
	},
	[BOND_OPT_LP_INTERVAL] = {
		.name = "lp_interval",
		NUMBER(lp_interval, NUMBER, lp_interval),
		.nl_attr = IFLA_BOND_LP_INTERVAL,
		.effects = BOND_EFFECT_PARAMS,
	},
	[BOND_OPT_PACKETS_PER_SLAVE] = {
		.name = "packets_per_slave",
		NUMBER(packets_per_slave, NUMBER, packets),
		.nl_attr = IFLA_BOND_PACKETS_PER_SLAVE,
		.need_caps = BOND_CAP_RR,
		.effects = BOND_EFFECT_PARAMS,
	},
	[BOND_OPT_LACP_ACTIVE] = {
		.name = "lacp_active",
		NUMBER(lacp_active, NAME, on),
		.nl_attr = IFLA_BOND_AD_LACP_ACTIVE,
		.flags = BOND_OPT_F_DOWN,
		.need_caps = BOND_CAP_LACP,
		.effects = BOND_EFFECT_PARAMS,
	},
	[BOND_OPT_LACP_RATE] = {
		.name = "lacp_rate",
		NUMBER(lacp_rate, NAME, lacp_rate),
		.nl_attr = IFLA_BOND_AD_LACP_RATE,
		.flags = BOND_OPT_F_DOWN,
		.need_caps = BOND_CAP_LACP,
		.effects = BOND_EFFECT_PARAMS,
	},
	[BOND_OPT_AD_SELECT] = {
		.name = "ad_select",
		NUMBER(ad_select, NAME, ad_select),
		.nl_attr = IFLA_BOND_AD_SELECT,
		.flags = BOND_OPT_F_DOWN,
		.effects = BOND_EFFECT_PARAMS,
	},
	[BOND_OPT_AD_ACTOR_SYS_PRIO] = {
		.name = "ad_actor_sys_prio",
		NUMBER(ad_actor_sys_prio, OWN, sys_prio),
		.nl_attr = IFLA_BOND_AD_ACTOR_SYS_PRIO,
		.flags = BOND_OPT_F_PRIVATE,
		.need_caps = BOND_CAP_LACP,
		.effects = BOND_EFFECT_PARAMS,
	},
	[BOND_OPT_AD_USER_PORT_KEY] = {
		.name = "ad_user_port_key",
		NUMBER(ad_user_port_key, OWN, user_key),
		.nl_attr = IFLA_BOND_AD_USER_PORT_KEY,
		.flags = BOND_OPT_F_DOWN | BOND_OPT_F_PRIVATE,
		.need_caps = BOND_CAP_LACP,
		.effects = BOND_EFFECT_PARAMS,
	},
	[BOND_OPT_AD_ACTOR_SYSTEM] = {
		.name = "ad_actor_system",
		.type = BOND_OPT_T_MAC,
		.show = BOND_OPT_SHOW_OWN,
		.nl_attr = IFLA_BOND_AD_ACTOR_SYSTEM,
		.flags = BOND_OPT_F_PRIVATE,
		.need_caps = BOND_CAP_LACP,
		.effects = BOND_EFFECT_PARAMS,
		.propose = bond_propose_ad_actor_system,
	},
	[BOND_OPT_TLB_DYNAMIC_LB] = {
		.name = "tlb_dynamic_lb",
		NUMBER(tlb_dynamic_lb, NUMBER, on),
		.nl_attr = IFLA_BOND_TLB_DYNAMIC_LB,
		.flags = BOND_OPT_F_DOWN,
		.need_caps = BOND_CAP_TLB,
		.effects = BOND_EFFECT_PARAMS,
	},
	[BOND_OPT_MISSED_MAX] = {
		.name = "arp_missed_max",
		NUMBER(arp_missed_max, NUMBER, missed),
		.nl_attr = IFLA_BOND_MISSED_MAX,
		.need_caps = BOND_CAP_ARPMON,
	},
	[BOND_OPT_COUPLED_CONTROL] = {
		.name = "coupled_control",
		NUMBER(coupled_control, NONE, on),
		.nl_attr = BOND_NL_COUPLED_CONTROL,
		.flags = BOND_OPT_F_DOWN,
		.need_caps = BOND_CAP_LACP,
		.effects = BOND_EFFECT_PARAMS,
	},
	[BOND_OPT_BROADCAST_NEIGHBOR] = {
		.name = "broadcast_neighbor",
		NUMBER(broadcast_neighbor, NONE, off),
		.nl_attr = BOND_NL_BROADCAST_NEIGH,
		.need_caps = BOND_CAP_LACP,
		.effects = BOND_EFFECT_PARAMS,
	},
	[BOND_OPT_LACP_STRICT] = {
		.name = "lacp_strict",
		NUMBER(lacp_strict, NONE, off),
		.nl_attr = BOND_NL_LACP_STRICT,
		.need_caps = BOND_CAP_LACP,
		.effects = BOND_EFFECT_PARAMS | BOND_EFFECT_CARRIER,
	},
	[BOND_OPT_LACP_FALLBACK] = {
		.name = "lacp_fallback",
		NUMBER(lacp_fallback, NAME, lacp_fallback),
		.need_caps = BOND_CAP_LACP,
		.effects = BOND_EFFECT_PARAMS,
	},
	[BOND_OPT_LACP_FALLBACK_TIMEOUT] = {
		.name = "lacp_fallback_timeout",
		NUMBER(lacp_fallback_timeout, NUMBER, lacp_timeout),
		.need_caps = BOND_CAP_LACP,
		.effects = BOND_EFFECT_PARAMS,
	},
	[BOND_OPT_SLAVES] = {
		.name = "slaves",
		.type = BOND_OPT_T_OWN,
		.show = BOND_OPT_SHOW_OWN,
		.propose = bond_propose_slaves,
	},
	[BOND_OPT_QUEUE_ID] = {
		.name = "queue_id",
		.type = BOND_OPT_T_OWN,
		.show = BOND_OPT_SHOW_OWN,
		.propose = bond_propose_queue_id,
	},
	[BOND_OPT_PRIO] = {
		.name = "prio",
		.type = BOND_OPT_T_OWN,
		.need_caps = BOND_CAP_PRIMARY,
		.propose = bond_propose_prio,
	},
	[BOND_OPT_ACTOR_PORT_PRIO] = {
		.name = "actor_port_prio",
		.type = BOND_OPT_T_OWN,
		.need_caps = BOND_CAP_LACP,
		.effects = BOND_EFFECT_PARAMS,
		.propose = bond_propose_actor_port_prio,
	},
};

/* --- reading it --- */

const struct bond_option *bond_option_get(enum bond_opt_id id)
{
	return &bond_option_table[id];
}

const struct bond_option *bond_option_by_name(const char *name)
{
	const struct bond_option *opt;

	for (opt = bond_option_table;
	     opt < bond_option_table + BOND_OPT_MAX; opt++) {
		if (!strcmp(opt->name, name))
			return opt;
		if (opt->alias && !strcmp(opt->alias, name))
			return opt;
	}
	return NULL;
}

enum bond_opt_id bond_option_id(const struct bond_option *opt)
{
	return opt - bond_option_table;
}

const char *bond_option_number_name(const struct bond_option *opt, u32 number)
{
	const struct bond_opt_name *entry;

	for (entry = opt->names; entry->name; entry++)
		if (entry->number == number)
			return entry->name;
	return NULL;
}

void bond_option_range(const struct bond_option *opt, u32 *low, u32 *high)
{
	const struct bond_opt_name *entry;

	*low = 0;
	*high = 0;
	for (entry = opt->names; entry->name; entry++) {
		if (entry->flags & BOND_OPT_N_MIN)
			*low = entry->number;
		*high = max(*high, entry->number);
	}
}

u32 bond_option_number(const struct bond_option *opt,
		       const struct bond_params *params)
{
	const u32 *place = (const void *)params + opt->offset;

	return READ_ONCE(*place);
}

void bond_option_store(const struct bond_option *opt,
		       struct bond_params *params, u32 number)
{
	u32 *place = (void *)params + opt->offset;

	WRITE_ONCE(*place, number);
}

void bond_params_default(struct bond_params *params)
{
	const struct bond_opt_name *entry;
	const struct bond_option *opt;

	memset(params, 0, sizeof(*params));
	for (opt = bond_option_table;
	     opt < bond_option_table + BOND_OPT_MAX; opt++) {
		if (opt->type != BOND_OPT_T_NUMBER)
			continue;
		for (entry = opt->names; entry->name; entry++)
			if (entry->flags & BOND_OPT_N_DEFAULT)
				bond_option_store(opt, params, entry->number);
	}
}
