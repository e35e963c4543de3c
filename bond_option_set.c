// SPDX-License-Identifier: GPL-2.0
/*
 * What setting an option means beyond storing a number: one short function a
 * row, that checks further and changes what else has to change in the
 * parameters to be.
 *
 * Called by bond_change_add() alone, under RTNL.  Reads the bond, writes
 * nothing but the transaction: it may still be refused as a whole.
 */
#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <net/ipv6.h>

#include "bond_option_set.h"

/* Is it in the same request, as a number other than 0? */
static bool bond_also_set(const struct bond_change *change,
			  enum bond_opt_id id)
{
	return change->touched & BIT_ULL(id) &&
	       bond_option_number(bond_option_get(id), &change->next);
}

/* --- mode --- */

BOND_PROPOSE(mode)
{
	struct bond_params *next = &change->next;
	const struct bond_mode_ops *ops;

	ops = bond_mode_by_id(next->mode);
	if (!ops)
		return bond_refuse(change, -EOPNOTSUPP,
				   "this build has no such mode");
	change->ops = ops;
	next->arp_validate = 0;
	next->broadcast_neighbor = 0;
	if (ops->caps & BOND_CAP_NEEDS_MII) {
		next->arp_interval = 0;
		if (!next->miimon)
			next->miimon = BOND_MIIMON_FORCED;
	}
	if (ops->params_adopt)
		ops->params_adopt(next);
	return 0;
}

/* --- monitors --- */

BOND_PROPOSE(miimon)
{
	struct bond_params *next = &change->next;

	if (next->miimon && next->arp_interval) {
		next->arp_interval = 0;
		next->arp_validate = 0;
	}
	return 0;
}

/*
 * Delays are kept as they were given, so that they still mean the same time
 * when miimon changes later.
 */
BOND_PROPOSE(delay)
{
	u32 delay = bond_option_number(change->opt, &change->next);
	u32 miimon = change->next.miimon;
	u32 rest;

	if (!miimon)
		return bond_refuse(change, -EPERM, "miimon is off");
	rest = delay % miimon;
	if (!rest)
		return 0;
	bond_warn(change->bond, "%s %u is no multiple of miimon %u: made %u\n",
		  change->opt->name, delay, miimon, delay - rest);
	bond_option_store(change->opt, &change->next, delay - rest);
	return 0;
}

/* Scripts written for older drivers set it: 0 is accepted, and not obeyed. */
BOND_PROPOSE(use_carrier)
{
	if (!change->next.use_carrier)
		bond_info(change->bond,
			  "use_carrier 0 is obsolete: carrier is used always\n");
	change->next.use_carrier = 1;
	return 0;
}

BOND_PROPOSE(arp_interval)
{
	if (!change->next.arp_interval)
		return 0;
	if (bond_also_set(change, BOND_OPT_MIIMON))
		return bond_refuse(change, -EINVAL,
				   "miimon is set by the same request");
	change->next.miimon = 0;
	return 0;
}

BOND_PROPOSE(arp_validate)
{
	if (change->next.arp_validate &&
	    bond_also_set(change, BOND_OPT_MIIMON))
		return bond_refuse(change, -EINVAL,
				   "miimon is set by the same request");
	return 0;
}

/* --- IPv4 targets --- */

int bond_target_add(struct bond_params *params, __be32 addr)
{
	unsigned int i;

	if (!addr || addr == htonl(INADDR_BROADCAST))
		return -EINVAL;
	for (i = 0; i < BOND_MAX_TARGETS; i++) {
		if (params->arp_ip_target[i] == addr)
			return -EEXIST;
		if (!params->arp_ip_target[i]) {
			params->arp_ip_target[i] = addr;
			return 0;
		}
	}
	return -ENOSPC;
}

static int bond_propose_target_add(struct bond_change *change, __be32 addr)
{
	switch (bond_target_add(&change->next, addr)) {
	case -EINVAL:
		return bond_refuse(change, -EINVAL, "%pI4 cannot be probed",
				   &addr);
	case -EEXIST:
		return bond_refuse(change, -EINVAL, "%pI4 is a target already",
				   &addr);
	case -ENOSPC:
		return bond_refuse(change, -EINVAL, "more than %u targets",
				   BOND_MAX_TARGETS);
	}
	return 0;
}

static int bond_propose_target_del(struct bond_change *change, __be32 addr)
{
	__be32 *target = change->next.arp_ip_target;
	unsigned int i;

	for (i = 0; i < BOND_MAX_TARGETS; i++)
		if (addr && target[i] == addr)
			break;
	if (i == BOND_MAX_TARGETS)
		return bond_refuse(change, -EINVAL, "%pI4 is not a target",
				   &addr);
	memmove(&target[i], &target[i + 1],
		(BOND_MAX_TARGETS - 1 - i) * sizeof(*target));
	target[BOND_MAX_TARGETS - 1] = 0;
	return 0;
}

static int bond_propose_target_list(struct bond_change *change,
				    const __be32 *addr, size_t count)
{
	int err = 0;

	memset(change->next.arp_ip_target, 0,
	       sizeof(change->next.arp_ip_target));
	for (; count && !err; count--)
		err = bond_propose_target_add(change, *addr++);
	return err;
}

BOND_PROPOSE(arp_ip_target)
{
	const char *text = value->text;
	__be32 addr;

	if (!text)
		return bond_propose_target_list(change, value->data,
						value->len / sizeof(addr));
	if ((text[0] != '+' && text[0] != '-') ||
	    !bond_text_ip4(text + 1, &addr))
		return bond_refuse(change, -EPERM,
				   "write +ADDRESS or -ADDRESS");
	if (text[0] == '+')
		return bond_propose_target_add(change, addr);
	return bond_propose_target_del(change, addr);
}

/* --- IPv6 targets --- */

static int bond_propose_ns_add(struct bond_change *change, unsigned int n,
			       const struct in6_addr *addr)
{
	struct in6_addr *target = change->next.ns_ip6_target;
	unsigned int i;

	if (ipv6_addr_any(addr) || ipv6_addr_loopback(addr) ||
	    ipv6_addr_is_multicast(addr))
		return bond_refuse(change, -EINVAL, "%pI6c cannot be probed",
				   addr);
	for (i = 0; i < n; i++)
		if (ipv6_addr_equal(&target[i], addr))
			return bond_refuse(change, -EINVAL, "%pI6c comes twice",
					   addr);
	if (n == BOND_MAX_TARGETS)
		return bond_refuse(change, -EINVAL, "more than %u targets",
				   BOND_MAX_TARGETS);
	target[n] = *addr;
	return 0;
}

BOND_PROPOSE(ns_ip6_target)
{
	const struct in6_addr *addr = value->data;
	size_t count = value->len / sizeof(*addr);
	unsigned int n;
	int err = 0;

	if (!IS_ENABLED(CONFIG_IPV6))
		return bond_refuse(change, -EPERM, "the kernel has no IPv6");
	memset(change->next.ns_ip6_target, 0,
	       sizeof(change->next.ns_ip6_target));
	for (n = 0; n < count && !err; n++)
		err = bond_propose_ns_add(change, n, &addr[n]);
	return err;
}

/* --- devices --- */

/* The device that a value names; NULL for none, an error for an unknown one. */
static struct net_device *bond_value_dev(const struct bond_change *change,
					 const struct bond_opt_value *value)
{
	struct net *net = dev_net(change->bond->dev);
	struct net_device *dev;
	char name[ALTIFNAMSIZ];

	if (value->text) {
		if (!bond_text_word(value->text, name, sizeof(name)))
			return NULL;
		dev = __dev_get_by_name(net, name);
	} else {
		if (!value->number)
			return NULL;
		dev = __dev_get_by_index(net, value->number);
	}
	return dev ?: ERR_PTR(-ENODEV);
}

BOND_PROPOSE(active_slave)
{
	struct slave *now = bond_active_rtnl(change->bond);
	struct net_device *dev;
	struct slave *slave;

	change->active = NULL;
	dev = bond_value_dev(change, value);
	if (!dev)
		return 0;
	if (IS_ERR(dev))
		return bond_refuse(change, -ENODEV, "no such device");
	slave = bond_slave_by_dev(change->bond, dev);
	if (!slave)
		return bond_refuse(change, -EINVAL, "no slave of this bond");
	if (slave != now && !now)
		return bond_refuse(change, -EINVAL, "no slave is active now");
	if (slave != now && !bond_slave_is_up(slave))
		return bond_refuse(change, -EINVAL, "its link is down");
	change->active = slave;
	return 0;
}

/* A name is kept for a device that may come later; an unknown index is none. */
BOND_PROPOSE(primary)
{
	char *primary = change->next.primary;
	char name[ALTIFNAMSIZ] = "";
	struct net_device *dev;

	if (value->text) {
		bond_text_word(value->text, name, sizeof(name));
	} else {
		dev = bond_value_dev(change, value);
		if (!IS_ERR_OR_NULL(dev))
			strscpy(name, dev->name, sizeof(name));
	}
	if (strscpy(primary, name, IFNAMSIZ) < 0)
		return bond_refuse(change, -EINVAL, "too long for a name");
	return 0;
}

static bool bond_value_is_mac(const struct bond_opt_value *value, u8 *mac)
{
	char word[sizeof("00:00:00:00:00:00.")];

	if (!value->text) {
		if (value->len == ETH_ALEN)
			memcpy(mac, value->data, ETH_ALEN);
		return value->len == ETH_ALEN;
	}
	bond_text_word(value->text, word, sizeof(word));
	return strlen(word) == 3 * ETH_ALEN - 1 && mac_pton(word, mac);
}

BOND_PROPOSE(ad_actor_system)
{
	u8 mac[ETH_ALEN];

	if (!bond_value_is_mac(value, mac))
		return bond_refuse(change, -EINVAL, "not a MAC address");
	if (is_multicast_ether_addr(mac))
		return bond_refuse(change, -EINVAL, "a multicast address");
	ether_addr_copy(change->next.ad_actor_system, mac);
	return 0;
}

/* --- slaves --- */

BOND_PROPOSE(slaves)
{
	struct net *net = dev_net(change->bond->dev);
	char word[ALTIFNAMSIZ + 1];

	bond_text_word(value->text, word, sizeof(word));
	if ((word[0] != '+' && word[0] != '-') || !word[1])
		return bond_refuse(change, -EPERM, "write +NAME or -NAME");
	change->dev = __dev_get_by_name(net, word + 1);
	if (!change->dev)
		return bond_refuse(change, -ENODEV, "no such device");
	change->effects |= word[0] == '+' ? BOND_EFFECT_ENSLAVE :
					    BOND_EFFECT_RELEASE;
	return 0;
}

static struct slave *bond_slave_by_name(const struct bonding *bond,
					const char *name)
{
	struct slave *slave;

	bond_for_each_slave(bond, slave)
		if (!strcmp(slave->dev->name, name))
			return slave;
	return NULL;
}

/* "NAME:ID": the slave goes to the transaction, the rest is left to parse. */
static bool bond_value_queue_id(struct bond_change *change,
				const char *text, u64 *id)
{
	size_t len = strcspn(text, ":\n");
	char word[IFNAMSIZ];
	struct slave *slave;

	if (text[len] != ':' || len >= sizeof(word))
		return false;
	memcpy(word, text, len);
	word[len] = '\0';
	slave = bond_slave_by_name(change->bond, word);
	if (!slave)
		return false;
	bond_change_slave(change, slave);
	bond_text_word(text + len + 1, word, sizeof(word));
	return !kstrtou64(word, 10, id);
}

BOND_PROPOSE(queue_id)
{
	unsigned int max = change->bond->dev->real_num_tx_queues;
	u64 id = value->number;
	struct slave *slave;

	if (value->text && !bond_value_queue_id(change, value->text, &id))
		return bond_refuse(change, -EPERM, "write SLAVE:NUMBER");
	if (id > max)
		return bond_refuse(change, -EPERM, "allowed are 0..%u", max);
	bond_for_each_slave(change->bond, slave)
		if (id && slave != change->slave && slave->queue_id == id)
			return bond_refuse(change, -EPERM, "%s has it already",
					   slave->dev->name);
	change->slave_next.queue_id = id;
	return 0;
}

BOND_PROPOSE(prio)
{
	const struct slave *primary = bond_primary_rtnl(change->bond);

	if (!change->slave)
		return bond_refuse(change, -ENODEV, "no slave");
	change->slave_next.prio = (s32)value->number;
	if (primary)
		bond_warn(change->bond,
			  "prio counts only while the primary %s is down\n",
			  primary->dev->name);
	else
		change->effects |= BOND_EFFECT_SELECT;
	return 0;
}

BOND_PROPOSE(actor_port_prio)
{
	if (!change->slave)
		return bond_refuse(change, -ENODEV, "no slave");
	change->slave_next.actor_port_prio = value->number;
	return 0;
}
