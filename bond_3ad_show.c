// SPDX-License-Identifier: GPL-2.0
/*
 * 802.3ad: what is shown of it in /proc/net/bonding, sysfs and netlink.
 *
 * Called by the surfaces under RTNL or RCU; takes bond_lacp.lock to read.
 */
#include <linux/capability.h>
#include <linux/seq_file.h>
#include <net/netlink.h>

#include "bond_3ad.h"

/* --- the bond --- */

static void bond_lacp_info_of(const struct bond_lacp *lacp,
			      struct ad_info *info)
{
	const struct bond_lacp_agg *agg = lacp->active;

	info->aggregator_id = agg->id;
	info->ports = bond_lacp_agg_ports(lacp, agg, 0);
	info->actor_key = agg->key;
	info->partner_key = agg->partner.key;
	ether_addr_copy(info->partner_system, agg->partner.system);
}

bool bond_lacp_ad_info(const struct bonding *bond, struct ad_info *info)
{
	struct bond_lacp *lacp = bond_lacp_of(bond);
	bool active;

	if (!lacp)
		return false;
	spin_lock_bh(&lacp->lock);
	active = lacp->active;
	if (active)
		bond_lacp_info_of(lacp, info);
	spin_unlock_bh(&lacp->lock);
	return active;
}

static const char *bond_lacp_select_name(u32 select)
{
	switch (select) {
	case BOND_LACP_SELECT_STABLE:
		return "stable";
	case BOND_LACP_SELECT_BANDWIDTH:
		return "bandwidth";
	case BOND_LACP_SELECT_COUNT:
		return "count";
	default:
		return "actor_port_prio";
	}
}

static void bond_lacp_proc_active(struct seq_file *seq,
				  const struct bonding *bond)
{
	struct ad_info info;

	if (!bond_lacp_ad_info(bond, &info)) {
		seq_printf(seq, "bond %s has no active aggregator\n",
			   bond->dev->name);
		return;
	}
	seq_puts(seq, "Active Aggregator Info:\n");
	seq_printf(seq, "\tAggregator ID: %u\n", info.aggregator_id);
	seq_printf(seq, "\tNumber of ports: %u\n", info.ports);
	seq_printf(seq, "\tActor Key: %u\n", info.actor_key);
	seq_printf(seq, "\tPartner Key: %u\n", info.partner_key);
	seq_printf(seq, "\tPartner Mac Address: %pM\n", info.partner_system);
}

void bond_lacp_proc_show(struct seq_file *seq, const struct bonding *bond)
{
	const struct bond_params *params = &bond->params;
	const u8 *system = params->ad_actor_system;

	if (is_zero_ether_addr(system))
		system = bond->dev->dev_addr;
	seq_puts(seq, "\n802.3ad info\n");
	seq_printf(seq, "LACP active: %s\n",
		   READ_ONCE(params->lacp_active) ? "on" : "off");
	seq_printf(seq, "LACP rate: %s\n",
		   READ_ONCE(params->lacp_rate) ? "fast" : "slow");
	seq_printf(seq, "Min links: %u\n", READ_ONCE(params->min_links));
	seq_printf(seq, "Aggregator selection policy (ad_select): %s\n",
		   bond_lacp_select_name(READ_ONCE(params->ad_select)));
	if (!capable(CAP_NET_ADMIN))
		return;
	seq_printf(seq, "System priority: %u\n",
		   READ_ONCE(params->ad_actor_sys_prio));
	seq_printf(seq, "System MAC address: %pM\n", system);
	bond_lacp_proc_active(seq, bond);
}

size_t bond_lacp_info_size(const struct bonding *bond)
{
	return nla_total_size(0) +		/* IFLA_BOND_AD_INFO */
	       4 * nla_total_size(sizeof(u16)) +
	       nla_total_size(ETH_ALEN);
}

int bond_lacp_fill_info(struct sk_buff *skb, const struct bonding *bond)
{
	struct nlattr *nest;
	struct ad_info info;

	if (!bond_lacp_ad_info(bond, &info))
		return 0;
	nest = nla_nest_start_noflag(skb, IFLA_BOND_AD_INFO);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u16(skb, IFLA_BOND_AD_INFO_AGGREGATOR,
			info.aggregator_id) ||
	    nla_put_u16(skb, IFLA_BOND_AD_INFO_NUM_PORTS, info.ports) ||
	    nla_put_u16(skb, IFLA_BOND_AD_INFO_ACTOR_KEY, info.actor_key) ||
	    nla_put_u16(skb, IFLA_BOND_AD_INFO_PARTNER_KEY,
			info.partner_key) ||
	    nla_put(skb, IFLA_BOND_AD_INFO_PARTNER_MAC, ETH_ALEN,
		    info.partner_system))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* --- a slave --- */

/**
 * struct bond_lacp_view - a copy of what is shown of a port
 * @actor: its own parameters
 * @partner: its partner's
 * @agg: number of its aggregator, 0 for none
 * @churn_actor: state of the actor churn machine
 * @churn_partner: of the partner churn machine
 * @actor_churned: times that it was found to churn
 * @partner_churned: times that its partner was
 */
struct bond_lacp_view {
	struct bond_lacp_party actor;
	struct bond_lacp_party partner;
	u16 agg;
	enum bond_lacp_churn_state churn_actor;
	enum bond_lacp_churn_state churn_partner;
	u16 actor_churned;
	u16 partner_churned;
};

/* Return: false when the port belongs to no aggregator. */
static bool bond_lacp_look(const struct slave *slave,
			   struct bond_lacp_view *view)
{
	struct bond_lacp_port *port = bond_lacp_port_of(slave);

	if (!port)
		return false;
	spin_lock_bh(&port->lacp->lock);
	*view = (struct bond_lacp_view){
		.actor = port->actor,
		.partner = port->partner,
		.agg = port->agg ? port->agg->id : 0,
		.churn_actor = port->churn_actor,
		.churn_partner = port->churn_partner,
		.actor_churned = port->actor_churned,
		.partner_churned = port->partner_churned,
	};
	spin_unlock_bh(&port->lacp->lock);
	return view->agg;
}

bool bond_lacp_ad_port(const struct slave *slave, struct bond_ad_port *port)
{
	struct bond_lacp_view view;

	if (!bond_lacp_look(slave, &view))
		return false;
	port->aggregator = view.agg;
	port->actor_state = view.actor.state;
	port->partner_state = view.partner.state;
	return true;
}

static const char *bond_lacp_churn_name(enum bond_lacp_churn_state state)
{
	switch (state) {
	case BOND_LACP_CHURN_MONITOR:
		return "monitoring";
	case BOND_LACP_CHURNED:
		return "churned";
	default:
		return "none";
	}
}

static void bond_lacp_proc_party(struct seq_file *seq, const char *who,
				 const char *key,
				 const struct bond_lacp_party *party)
{
	seq_printf(seq, "details %s lacp pdu:\n", who);
	seq_printf(seq, "    system priority: %u\n", party->sys_prio);
	seq_printf(seq, "    system mac address: %pM\n", party->system);
	seq_printf(seq, "    %s key: %u\n", key, party->key);
	seq_printf(seq, "    port priority: %u\n", party->port_prio);
	seq_printf(seq, "    port number: %u\n", party->port);
	seq_printf(seq, "    port state: %u\n", party->state);
}

void bond_lacp_proc_show_slave(struct seq_file *seq, const struct slave *slave)
{
	struct bond_lacp_view view;

	if (!bond_lacp_look(slave, &view)) {
		seq_puts(seq, "Aggregator ID: N/A\n");
		return;
	}
	seq_printf(seq, "Aggregator ID: %u\n", view.agg);
	seq_printf(seq, "Actor Churn State: %s\n",
		   bond_lacp_churn_name(view.churn_actor));
	seq_printf(seq, "Partner Churn State: %s\n",
		   bond_lacp_churn_name(view.churn_partner));
	seq_printf(seq, "Actor Churned Count: %u\n", view.actor_churned);
	seq_printf(seq, "Partner Churned Count: %u\n", view.partner_churned);
	if (!capable(CAP_NET_ADMIN))
		return;
	bond_lacp_proc_party(seq, "actor", "port", &view.actor);
	bond_lacp_proc_party(seq, "partner", "oper", &view.partner);
}

size_t bond_lacp_slave_info_size(const struct slave *slave)
{
	return 3 * nla_total_size(sizeof(u8)) +
	       3 * nla_total_size(sizeof(u16));
}

int bond_lacp_fill_slave_info(struct sk_buff *skb, const struct slave *slave)
{
	struct bond_lacp_view view;

	if (bond_lacp_look(slave, &view) &&
	    (nla_put_u16(skb, IFLA_BOND_SLAVE_AD_AGGREGATOR_ID, view.agg) ||
	     nla_put_u8(skb, IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE,
			view.actor.state) ||
	     nla_put_u16(skb, IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE,
			 view.partner.state) ||
	     nla_put_u8(skb, BOND_NL_SLAVE_CHURN_ACTOR, view.churn_actor) ||
	     nla_put_u8(skb, BOND_NL_SLAVE_CHURN_PARTNER,
			view.churn_partner)))
		return -EMSGSIZE;
	if (nla_put_u16(skb, BOND_NL_SLAVE_ACTOR_PORT_PRIO,
			slave->actor_port_prio))
		return -EMSGSIZE;
	return 0;
}

/* --- statistics --- */

size_t bond_lacp_xstats_size(const struct bonding *bond)
{
	return nla_total_size(0) +		/* BOND_XSTATS_3AD */
	       BOND_3AD_STAT_PAD * nla_total_size_64bit(sizeof(u64));
}

static void bond_lacp_stats_copy(const struct bonding *bond,
				 const struct slave *slave,
				 struct bond_lacp_stats *stats)
{
	struct bond_lacp *lacp = bond_lacp_of(bond);
	struct bond_lacp_port *port = slave ? bond_lacp_port_of(slave) : NULL;

	spin_lock_bh(&lacp->lock);
	*stats = port ? port->stats : lacp->stats;
	spin_unlock_bh(&lacp->lock);
}

int bond_lacp_fill_xstats(struct sk_buff *skb, const struct bonding *bond,
			  const struct slave *slave)
{
	struct bond_lacp_stats stats;
	struct nlattr *nest;
	unsigned int i;

	bond_lacp_stats_copy(bond, slave, &stats);
	nest = nla_nest_start_noflag(skb, BOND_XSTATS_3AD);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(stats.count); i++)
		if (nla_put_u64_64bit(skb, i, stats.count[i],
				      BOND_3AD_STAT_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
