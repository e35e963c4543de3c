// SPDX-License-Identifier: GPL-2.0
/*
 * balance-tlb: flows are spread over slaves by how much they carry; frames come
 * in by the active slave.
 *
 * A flow has a bucket by its hash, a bucket has a slave.  The packet path only
 * looks that up and counts bytes on its own CPU; who gets which bucket is
 * bond_tlb_balance.c's, in every change of the usable slaves and every ten
 * seconds.  With tlb_dynamic_lb off the hash alone says the slave.
 *
 * The active slave carries the bond's MAC address, each other one its own,
 * which is also the source of what it sends.  So switches find each address in
 * one place, and the peers know but one.  What should not be seen to come from
 * several addresses (broadcast and multicast, ARP, IPv6 neighbour discovery)
 * leaves by the active slave.
 *
 * Owns bond->mode_priv and bond->mode_pcpu while it is the mode.  Hooks run
 * under RTNL, pick and xmit under RCU with BH off, without a lock.
 */
#include <linux/percpu.h>
#include <linux/slab.h>

#include "bond_alb.h"

/* --- life --- */

static void bond_tlb_balance_work(struct work_struct *work)
{
	struct bond_tlb *tlb = container_of(to_delayed_work(work),
					    struct bond_tlb, balance_work);
	struct bonding *bond = tlb->bond;

	if (!rtnl_trylock()) {
		queue_delayed_work(bond->wq, &tlb->balance_work, 1);
		return;
	}
	bond_tlb_balance(bond);
	rtnl_unlock();
	queue_delayed_work(bond->wq, &tlb->balance_work,
			   BOND_TLB_WINDOW_S * HZ);
}

int bond_tlb_setup(struct bonding *bond, struct bond_tlb *tlb)
{
	bond->mode_pcpu = alloc_percpu(struct bond_tlb_cpu);
	if (!bond->mode_pcpu)
		return -ENOMEM;
	tlb->bond = bond;
	INIT_DELAYED_WORK(&tlb->balance_work, bond_tlb_balance_work);
	INIT_DELAYED_WORK(&tlb->learn_work, bond_alb_learn_work);
	bond->mode_priv = tlb;
	return 0;
}

int bond_tlb_init(struct bonding *bond)
{
	struct bond_tlb *tlb = kzalloc(sizeof(*tlb), GFP_KERNEL);
	int err;

	if (!tlb)
		return -ENOMEM;
	err = bond_tlb_setup(bond, tlb);
	if (err)
		kfree(tlb);
	return err;
}

void bond_tlb_exit(struct bonding *bond)
{
	free_percpu(bond->mode_pcpu);
	bond->mode_pcpu = NULL;
	kvfree(bond->mode_priv);
	bond->mode_priv = NULL;
}

void bond_tlb_start(struct bonding *bond)
{
	struct bond_tlb *tlb = bond_tlb_of(bond);

	queue_delayed_work(bond->wq, &tlb->balance_work,
			   BOND_TLB_WINDOW_S * HZ);
	queue_delayed_work(bond->wq, &tlb->learn_work, 0);
}

void bond_tlb_stop(struct bonding *bond)
{
	struct bond_tlb *tlb = bond_tlb_of(bond);

	cancel_delayed_work_sync(&tlb->balance_work);
	cancel_delayed_work_sync(&tlb->learn_work);
}

/* --- slaves --- */

int bond_tlb_slave_add(struct bonding *bond, struct slave *slave,
		       struct netlink_ext_ack *extack)
{
	struct bond_tlb_slave *weight = kzalloc(sizeof(*weight), GFP_KERNEL);

	if (!weight)
		return -ENOMEM;
	slave->mode_priv = weight;
	bond_slave_set_standby(slave);
	return 0;
}

void bond_tlb_slave_del(struct bonding *bond, struct slave *slave)
{
	kfree(slave->mode_priv);
	slave->mode_priv = NULL;
}

void bond_tlb_speed_changed(struct bonding *bond, struct slave *slave)
{
	bond_tlb_settle(bond);
}

void bond_tlb_active_changed(struct bonding *bond, struct slave *old,
			     struct slave *new)
{
	if (old)
		bond_slave_set_standby(old);
	if (new)
		bond_slave_set_active(new);
}

/* Each address may be behind another port now; what is on its way follows. */
void bond_tlb_active_ready(struct bonding *bond, struct slave *old,
			   struct slave *new)
{
	if (!netif_running(bond->dev))
		return;
	if (new)
		bond_alb_learn(new);
	if (old)
		bond_alb_learn(old);
}

void bond_tlb_params_changed(struct bonding *bond)
{
	struct bond_tlb *tlb = bond_tlb_of(bond);
	struct slave *slave;

	bond_for_each_slave(bond, slave)
		if (slave != bond_active_rtnl(bond))
			bond_slave_set_standby(slave);
	if (netif_running(bond->dev))
		mod_delayed_work(bond->wq, &tlb->learn_work, 0);
}

/* --- pick and send --- */

static struct slave *bond_tlb_pick(const struct bonding *bond,
				   struct bond_pkt pkt)
{
	const struct bond_view view = bond_view(pkt);

	if (!bond_tlb_ready(bond))
		return NULL;
	if (!bond_tlb_spreads(&view))
		return bond_tlb_unplaced(bond, pkt);
	return bond_tlb_placed(bond, pkt, bond_hash(bond, pkt));
}

struct slave *bond_tlb_pick_static(const struct bonding *bond,
				   struct bond_pkt pkt)
{
	const struct bond_view view = bond_view(pkt);

	if (!bond_tlb_ready(bond))
		return NULL;
	if (!bond_tlb_spreads(&view))
		return rcu_dereference(bond->curr_active_slave);
	return bond_slave_at(bond_usable(bond), bond_hash(bond, pkt));
}

static bond_pick_fn *bond_tlb_pick_now(const struct bonding *bond)
{
	return bond->params.tlb_dynamic_lb ? bond_tlb_pick :
					     bond_tlb_pick_static;
}

/* A frame that others read, too (a capture), is copied before it changes. */
static bool bond_tlb_sign(struct sk_buff *skb, const struct slave *slave)
{
	struct ethhdr *eth;

	if (unlikely(skb_cow_head(skb, 0)))
		return false;
	eth = (struct ethhdr *)skb->data;
	ether_addr_copy(eth->h_source, slave->dev->dev_addr);
	return true;
}

static __always_inline netdev_tx_t
bond_tlb_send_by(struct bonding *bond, struct sk_buff *skb, struct slave *slave)
{
	if (unlikely(!slave))
		return bond_xmit_drop(bond, skb, BOND_DROP_NO_SLAVE);
	if (slave != rcu_access_pointer(bond->curr_active_slave) &&
	    unlikely(!bond_tlb_sign(skb, slave)))
		return bond_xmit_drop(bond, skb, BOND_DROP_CLONE);
	return bond_hand_off(bond, skb, slave);
}

netdev_tx_t bond_tlb_send(struct bonding *bond, struct sk_buff *skb,
			  struct slave *slave)
{
	return bond_tlb_send_by(bond, skb, slave);
}

netdev_tx_t bond_tlb_xmit(struct bonding *bond, struct sk_buff *skb)
{
	bond_pick_fn *pick = READ_ONCE(bond->pick);
	struct slave *slave;

	slave = INDIRECT_CALL_2(pick, bond_tlb_pick, bond_tlb_pick_static,
				bond, bond_pkt_of_skb(skb));
	return bond_tlb_send_by(bond, skb, slave);
}

const struct bond_mode_ops bond_mode_tlb = {
	.name		= "balance-tlb",
	.proc_name	= "transmit load balancing",
	.id		= BOND_MODE_TLB,
	.lag_tx_type	= NETDEV_LAG_TX_TYPE_UNKNOWN,
	.caps		= BOND_CAP_PRIMARY | BOND_CAP_NEEDS_MII |
			  BOND_CAP_TLB |
			  BOND_CAP_ETHER_ONLY | BOND_CAP_UNLINKED_MCAST |
			  BOND_CAP_OWN_MACS | BOND_CAP_OWN_XMIT,
	.init		= bond_tlb_init,
	.exit		= bond_tlb_exit,
	.start		= bond_tlb_start,
	.stop		= bond_tlb_stop,
	.slave_add	= bond_tlb_slave_add,
	.slave_del	= bond_tlb_slave_del,
	.usable_changed	= bond_tlb_settle,
	.speed_changed	= bond_tlb_speed_changed,
	.active_changed	= bond_tlb_active_changed,
	.active_ready	= bond_tlb_active_ready,
	.params_changed	= bond_tlb_params_changed,
	.pick		= bond_tlb_pick,
	.pick_now	= bond_tlb_pick_now,
	.xmit		= bond_tlb_xmit,
};
