// SPDX-License-Identifier: GPL-2.0
/*
 * A bond as rtnetlink sees it: attributes to options and back, for the bond and
 * for its slaves, and the modes' own statistics.
 *
 * Translates only: which attributes there are is in the option table, what they
 * do in the gate.  Called by rtnetlink, all of it under RTNL.
 */
#include <linux/capability.h>
#include <net/ipv6.h>
#include <net/netlink.h>

#include "bond_surfaces.h"

static struct netlink_range_validation bond_peer_delay_range = {
	.max = BOND_PEER_DELAY_MAX,
};

#define BOND_NL_IS(attr_type, attr) \
	[attr] = { .type = attr_type }

static const struct nla_policy bond_policy[BOND_NL_MAX + 1] = {
	/* numbers of one byte */
	BOND_NL_IS(NLA_U8, IFLA_BOND_AD_LACP_ACTIVE),
	BOND_NL_IS(NLA_U8, IFLA_BOND_AD_LACP_RATE),
	BOND_NL_IS(NLA_U8, IFLA_BOND_AD_SELECT),
	BOND_NL_IS(NLA_U8, IFLA_BOND_ALL_SLAVES_ACTIVE),
	BOND_NL_IS(NLA_U8, BOND_NL_BROADCAST_NEIGH),
	BOND_NL_IS(NLA_U8, BOND_NL_COUPLED_CONTROL),
	BOND_NL_IS(NLA_U8, IFLA_BOND_FAIL_OVER_MAC),
	BOND_NL_IS(NLA_U8, BOND_NL_LACP_STRICT),
	BOND_NL_IS(NLA_U8, IFLA_BOND_MISSED_MAX),
	BOND_NL_IS(NLA_U8, IFLA_BOND_MODE),
	BOND_NL_IS(NLA_U8, IFLA_BOND_NUM_PEER_NOTIF),
	BOND_NL_IS(NLA_U8, IFLA_BOND_PRIMARY_RESELECT),
	BOND_NL_IS(NLA_U8, IFLA_BOND_TLB_DYNAMIC_LB),
	BOND_NL_IS(NLA_U8, IFLA_BOND_USE_CARRIER),
	BOND_NL_IS(NLA_U8, IFLA_BOND_XMIT_HASH_POLICY),
	/* of two */
	BOND_NL_IS(NLA_U16, IFLA_BOND_AD_ACTOR_SYS_PRIO),
	BOND_NL_IS(NLA_U16, IFLA_BOND_AD_USER_PORT_KEY),
	/* of four */
	BOND_NL_IS(NLA_U32, IFLA_BOND_ACTIVE_SLAVE),
	BOND_NL_IS(NLA_U32, IFLA_BOND_ARP_ALL_TARGETS),
	BOND_NL_IS(NLA_U32, IFLA_BOND_ARP_INTERVAL),
	BOND_NL_IS(NLA_U32, IFLA_BOND_ARP_VALIDATE),
	BOND_NL_IS(NLA_U32, IFLA_BOND_DOWNDELAY),
	BOND_NL_IS(NLA_U32, IFLA_BOND_LP_INTERVAL),
	BOND_NL_IS(NLA_U32, IFLA_BOND_MIIMON),
	BOND_NL_IS(NLA_U32, IFLA_BOND_MIN_LINKS),
	BOND_NL_IS(NLA_U32, IFLA_BOND_PACKETS_PER_SLAVE),
	BOND_NL_IS(NLA_U32, IFLA_BOND_PRIMARY),
	BOND_NL_IS(NLA_U32, IFLA_BOND_RESEND_IGMP),
	BOND_NL_IS(NLA_U32, IFLA_BOND_UPDELAY),
	[IFLA_BOND_PEER_NOTIF_DELAY] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &bond_peer_delay_range),
	/* others */
	BOND_NL_IS(NLA_NESTED, IFLA_BOND_AD_INFO),
	BOND_NL_IS(NLA_NESTED, IFLA_BOND_ARP_IP_TARGET),
	BOND_NL_IS(NLA_NESTED, IFLA_BOND_NS_IP6_TARGET),
	[IFLA_BOND_AD_ACTOR_SYSTEM] = { .type = NLA_BINARY, .len = ETH_ALEN },
};

static const struct nla_policy bond_slave_policy[BOND_NL_SLAVE_MAX + 1] = {
	[IFLA_BOND_SLAVE_QUEUE_ID]	= { .type = NLA_U16 },
	[IFLA_BOND_SLAVE_PRIO]		= { .type = NLA_S32 },
	[BOND_NL_SLAVE_ACTOR_PORT_PRIO]	= { .type = NLA_U16 },
};

static int bond_validate(struct nlattr *tb[], struct nlattr *data[],
			 struct netlink_ext_ack *extack)
{
	if (!tb[IFLA_ADDRESS])
		return 0;
	if (nla_len(tb[IFLA_ADDRESS]) != ETH_ALEN) {
		NL_SET_ERR_MSG_MOD(extack, "address: not of six bytes");
		return -EINVAL;
	}
	if (!is_valid_ether_addr(nla_data(tb[IFLA_ADDRESS]))) {
		NL_SET_ERR_MSG_MOD(extack, "address: zero or multicast");
		return -EADDRNOTAVAIL;
	}
	return 0;
}

/* --- options in --- */

static u32 bond_nl_number(const struct nlattr *attr, u8 type)
{
	switch (type) {
	case NLA_U8:
		return nla_get_u8(attr);
	case NLA_U16:
		return nla_get_u16(attr);
	default:
		return nla_get_u32(attr);
	}
}

/* Room for one more than there may be, so that too many are seen as such. */
struct bond_nl_list {
	struct in6_addr item[BOND_MAX_TARGETS + 1];
	size_t len;
};

static int bond_nl_list_get(const struct nlattr *nest, size_t size,
			    struct bond_nl_list *list)
{
	const struct nlattr *attr;
	int rem;

	list->len = 0;
	nla_for_each_nested(attr, nest, rem) {
		if (nla_len(attr) < size)
			return -EINVAL;
		if (list->len / size > BOND_MAX_TARGETS)
			break;
		memcpy((u8 *)list->item + list->len, nla_data(attr), size);
		list->len += size;
	}
	return 0;
}

static int bond_nl_add_list(struct bond_change *change, enum bond_opt_id id,
			    const struct nlattr *nest, size_t size)
{
	struct bond_opt_value value = { };
	struct bond_nl_list list;

	if (bond_nl_list_get(nest, size, &list)) {
		bond_extack(change->extack, "%s: an address is cut short",
			    bond_option_get(id)->name);
		return -EINVAL;
	}
	value.data = list.item;
	value.len = list.len;
	return bond_change_add(change, id, &value);
}

static int bond_nl_add(struct bond_change *change, enum bond_opt_id id,
		       const struct nlattr *attr)
{
	const struct bond_option *opt = bond_option_get(id);
	struct bond_opt_value value = { };

	switch (opt->type) {
	case BOND_OPT_T_IP4:
		return bond_nl_add_list(change, id, attr, sizeof(__be32));
	case BOND_OPT_T_IP6:
		return bond_nl_add_list(change, id, attr,
					sizeof(struct in6_addr));
	case BOND_OPT_T_MAC:
		value.data = nla_data(attr);
		value.len = nla_len(attr);
		break;
	default:
		value.number = bond_nl_number(attr,
					      bond_policy[opt->nl_attr].type);
	}
	return bond_change_add(change, id, &value);
}

/* All options of a request, or none of them. */
static int bond_nl_set(struct bonding *bond, struct nlattr *data[],
		       struct netlink_ext_ack *extack)
{
	struct bond_change change;
	unsigned int id;
	u8 attr;
	int err;

	if (!data)
		return 0;
	bond_change_begin(&change, bond, extack);
	for (id = 0; id < BOND_OPT_MAX; id++) {
		attr = bond_option_get(id)->nl_attr;
		if (!attr || !data[attr])
			continue;
		err = bond_nl_add(&change, id, data[attr]);
		if (err)
			return err;
	}
	return bond_change_commit(&change);
}

/*
 * Options come first: what is refused then has never been a device, and what
 * the kernel tells of the new one is complete.
 */
int bond_newlink(struct net_device *dev, struct nlattr *data[],
		 struct netlink_ext_ack *extack)
{
	int err;

	err = bond_nl_set(netdev_priv(dev), data, extack);
	if (err)
		return err;
	return register_netdevice(dev);
}

static int bond_changelink(struct net_device *dev, struct nlattr *tb[],
			   struct nlattr *data[],
			   struct netlink_ext_ack *extack)
{
	return bond_nl_set(netdev_priv(dev), data, extack);
}

static void bond_dellink(struct net_device *dev, struct list_head *head)
{
	unregister_netdevice_queue(dev, head);
}

static int bond_nl_slave_add(struct bond_change *change, enum bond_opt_id id,
			     s32 number)
{
	struct bond_opt_value value = { .number = (s64)number };

	return bond_change_add(change, id, &value);
}

static int bond_slave_changelink(struct net_device *bond_dev,
				 struct net_device *slave_dev,
				 struct nlattr *tb[], struct nlattr *data[],
				 struct netlink_ext_ack *extack)
{
	struct bond_change change;
	struct nlattr *attr;
	int err = 0;

	if (!data)
		return 0;
	bond_change_begin_slave(&change, bond_slave_get_rtnl(slave_dev),
				extack);
	attr = data[IFLA_BOND_SLAVE_QUEUE_ID];
	if (attr)
		err = bond_nl_slave_add(&change, BOND_OPT_QUEUE_ID,
					nla_get_u16(attr));
	attr = data[IFLA_BOND_SLAVE_PRIO];
	if (attr && !err)
		err = bond_nl_slave_add(&change, BOND_OPT_PRIO,
					nla_get_s32(attr));
	attr = data[BOND_NL_SLAVE_ACTOR_PORT_PRIO];
	if (attr && !err)
		err = bond_nl_slave_add(&change, BOND_OPT_ACTOR_PORT_PRIO,
					nla_get_u16(attr));
	return err ?: bond_change_commit(&change);
}

/* --- options out --- */

static int bond_nl_put_number(struct sk_buff *skb, u8 attr, u32 number)
{
	switch (bond_policy[attr].type) {
	case NLA_U8:
		return nla_put_u8(skb, attr, number);
	case NLA_U16:
		return nla_put_u16(skb, attr, number);
	default:
		return nla_put_u32(skb, attr, number);
	}
}

static int bond_nl_put_dev(struct sk_buff *skb, u8 attr,
			   const struct slave *slave)
{
	return slave ? nla_put_u32(skb, attr, slave->dev->ifindex) : 0;
}

/* Without a flag in the nest's type: dumps are older than the flag. */
static int bond_nl_put_ip4(struct sk_buff *skb, u8 attr,
			   const struct bond_params *params)
{
	struct nlattr *nest;
	unsigned int i;

	if (!params->arp_ip_target[0])
		return 0;
	nest = nla_nest_start_noflag(skb, attr);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < BOND_MAX_TARGETS && params->arp_ip_target[i]; i++)
		if (nla_put_in_addr(skb, i, params->arp_ip_target[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int bond_nl_put_ip6(struct sk_buff *skb, u8 attr,
			   const struct bond_params *params)
{
	struct nlattr *nest;
	unsigned int i;

	if (ipv6_addr_any(&params->ns_ip6_target[0]))
		return 0;
	nest = nla_nest_start_noflag(skb, attr);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < BOND_MAX_TARGETS; i++) {
		if (ipv6_addr_any(&params->ns_ip6_target[i]))
			break;
		if (nla_put_in6_addr(skb, i, &params->ns_ip6_target[i]))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int bond_nl_put(struct sk_buff *skb, const struct bonding *bond,
		       enum bond_opt_id id)
{
	const struct bond_option *opt = bond_option_get(id);
	const struct bond_params *params = &bond->params;
	u8 attr = opt->nl_attr;

	switch (opt->type) {
	case BOND_OPT_T_DEV:
		if (!bond_has_cap(bond, opt->need_caps))
			return 0;
		return bond_nl_put_dev(skb, attr, id == BOND_OPT_PRIMARY ?
				       bond_primary_rtnl(bond) :
				       bond_active_rtnl(bond));
	case BOND_OPT_T_IP4:
		return bond_nl_put_ip4(skb, attr, params);
	case BOND_OPT_T_IP6:
		return bond_nl_put_ip6(skb, attr, params);
	case BOND_OPT_T_MAC:
		return nla_put(skb, attr, ETH_ALEN, params->ad_actor_system);
	default:
		return bond_nl_put_number(skb, attr,
					  bond_option_number(opt, params));
	}
}

static int bond_nl_put_all(struct sk_buff *skb, const struct bonding *bond,
			   bool private)
{
	const struct bond_option *opt;
	unsigned int id;

	for (id = 0; id < BOND_OPT_MAX; id++) {
		opt = bond_option_get(id);
		if (!opt->nl_attr)
			continue;
		if (private != !!(opt->flags & BOND_OPT_F_PRIVATE))
			continue;
		if (private && !bond_has_cap(bond, opt->need_caps))
			continue;
		if (bond_nl_put(skb, bond, id))
			return -EMSGSIZE;
	}
	return 0;
}

static int bond_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	const struct bonding *bond = netdev_priv(dev);

	if (bond_nl_put_all(skb, bond, false))
		return -EMSGSIZE;
	if (capable(CAP_NET_ADMIN) && bond_nl_put_all(skb, bond, true))
		return -EMSGSIZE;
	return bond->ops->fill_info ? bond->ops->fill_info(skb, bond) : 0;
}

static size_t bond_nl_size(const struct bond_option *opt)
{
	switch (opt->type) {
	case BOND_OPT_T_IP4:
		return nla_total_size(0) +
		       BOND_MAX_TARGETS * nla_total_size(sizeof(__be32));
	case BOND_OPT_T_IP6:
		return nla_total_size(0) + BOND_MAX_TARGETS *
		       nla_total_size(sizeof(struct in6_addr));
	case BOND_OPT_T_MAC:
		return nla_total_size(ETH_ALEN);
	default:
		return nla_total_size(sizeof(u32));
	}
}

static size_t bond_get_size(const struct net_device *dev)
{
	const struct bonding *bond = netdev_priv(dev);
	const struct bond_option *opt;
	unsigned int id;
	size_t size = 0;

	for (id = 0; id < BOND_OPT_MAX; id++) {
		opt = bond_option_get(id);
		if (opt->nl_attr)
			size += bond_nl_size(opt);
	}
	if (bond->ops->info_size)
		size += bond->ops->info_size(bond);
	return size;
}

/* --- slaves out --- */

static int bond_fill_slave_info(struct sk_buff *skb,
				const struct net_device *bond_dev,
				const struct net_device *slave_dev)
{
	const struct slave *slave = bond_slave_get_rtnl(slave_dev);
	const struct bonding *bond = netdev_priv(bond_dev);

	/* Told of in the middle of being released. */
	if (!slave)
		return 0;
	if (nla_put_u8(skb, IFLA_BOND_SLAVE_STATE,
		       bond_slave_is_backup(slave) ? BOND_STATE_BACKUP :
						     BOND_STATE_ACTIVE) ||
	    nla_put_u8(skb, IFLA_BOND_SLAVE_MII_STATUS, slave->link) ||
	    nla_put_u32(skb, IFLA_BOND_SLAVE_LINK_FAILURE_COUNT,
			slave->link_failure_count) ||
	    nla_put(skb, IFLA_BOND_SLAVE_PERM_HWADDR, slave_dev->addr_len,
		    slave->perm_hwaddr) ||
	    nla_put_u16(skb, IFLA_BOND_SLAVE_QUEUE_ID, slave->queue_id) ||
	    nla_put_s32(skb, IFLA_BOND_SLAVE_PRIO, slave->prio))
		return -EMSGSIZE;
	if (!bond->ops->fill_slave_info)
		return 0;
	return bond->ops->fill_slave_info(skb, slave);
}

static size_t bond_get_slave_size(const struct net_device *bond_dev,
				  const struct net_device *slave_dev)
{
	const struct slave *slave = bond_slave_get_rtnl(slave_dev);
	const struct bonding *bond = netdev_priv(bond_dev);
	size_t size;

	size = nla_total_size(sizeof(u8)) +	/* STATE */
	       nla_total_size(sizeof(u8)) +	/* MII_STATUS */
	       nla_total_size(sizeof(u32)) +	/* LINK_FAILURE_COUNT */
	       nla_total_size(MAX_ADDR_LEN) +	/* PERM_HWADDR */
	       nla_total_size(sizeof(u16)) +	/* QUEUE_ID */
	       nla_total_size(sizeof(s32));	/* PRIO */
	if (slave && bond->ops->slave_info_size)
		size += bond->ops->slave_info_size(slave);
	return size;
}

/* --- statistics out --- */

/* Statistics of a bond, or of the slave that @dev is. */
static const struct bonding *bond_nl_xstats_of(const struct net_device *dev,
					       int attr,
					       const struct slave **slave)
{
	*slave = NULL;
	switch (attr) {
	case IFLA_STATS_LINK_XSTATS:
		return netdev_priv(dev);
	case IFLA_STATS_LINK_XSTATS_SLAVE:
		*slave = bond_slave_get_rtnl(dev);
		return *slave ? (*slave)->bond : NULL;
	}
	return NULL;
}

static size_t bond_get_xstats_size(const struct net_device *dev, int attr)
{
	const struct bonding *bond;
	const struct slave *slave;
	size_t size;

	bond = bond_nl_xstats_of(dev, attr, &slave);
	if (!bond)
		return 0;
	size = nla_total_size(0);
	if (bond->ops->xstats_size)
		size += bond->ops->xstats_size(bond);
	return size;
}

static int bond_fill_xstats(struct sk_buff *skb, const struct net_device *dev,
			    int *prividx, int attr)
{
	const struct bonding *bond;
	const struct slave *slave;
	struct nlattr *nest;

	bond = bond_nl_xstats_of(dev, attr, &slave);
	if (!bond)
		return -EINVAL;
	nest = nla_nest_start_noflag(skb, LINK_XSTATS_TYPE_BOND);
	if (!nest)
		return -EMSGSIZE;
	if (bond->ops->fill_xstats &&
	    bond->ops->fill_xstats(skb, bond, slave)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static unsigned int bond_get_num_queues(void)
{
	return bond_param_tx_queues;
}

struct rtnl_link_ops bond_link_ops = {
	.kind			= "bond",
	.priv_size		= sizeof(struct bonding),
	.setup			= bond_setup,
	.maxtype		= BOND_NL_MAX,
	.policy			= bond_policy,
	.validate		= bond_validate,
	.newlink		= bond_newlink_op,
	.changelink		= bond_changelink,
	.dellink		= bond_dellink,
	.get_size		= bond_get_size,
	.fill_info		= bond_fill_info,
	.get_num_tx_queues	= bond_get_num_queues,
	.get_num_rx_queues	= bond_get_num_queues,
	.slave_maxtype		= BOND_NL_SLAVE_MAX,
	.slave_policy		= bond_slave_policy,
	.slave_changelink	= bond_slave_changelink,
	.get_slave_size		= bond_get_slave_size,
	.fill_slave_info	= bond_fill_slave_info,
	.get_linkxstats_size	= bond_get_xstats_size,
	.fill_linkxstats	= bond_fill_xstats,
};
