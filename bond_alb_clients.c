// SPDX-License-Identifier: GPL-2.0
/*
 * The clients of balance-alb: hosts that have asked for an address of ours, or
 * answered us, and the slave whose MAC address each has been told.
 *
 * A client sends to the address that it was told last.  When that address is at
 * another slave after a failover, the client goes with it and needs not be
 * told; only when no slave that can send has it, or when slaves have to share
 * anew, the client gets another one, and is told so by ARP replies.
 *
 * The table has a fixed size.  A client without room is told the bond's own
 * address, which is always right.  bond_alb.lock guards it; taken with BH off
 * by ARP frames, by the hooks of the mode under RTNL, and by the work that
 * tells.  Slaves that clients are bound to are in bond->usable: who publishes
 * another array calls bond_alb_clients_follow() before a slave goes away.
 */
#include "bond_alb.h"

#define BOND_ALB_TELL_HZ	(2 * HZ)	/* hosts do not listen before */
#define BOND_ALB_ROUNDS		3	/* times that a client is told */
#define BOND_ALB_STALE_HZ	(600 * HZ)	/* may make room for others */

static struct bond_alb_client *bond_alb_end(struct bond_alb *alb)
{
	return alb->client + BOND_ALB_CLIENTS;
}

/* --- slaves --- */

static u64 bond_alb_speed(const struct slave *slave)
{
	u32 speed = READ_ONCE(slave->speed);

	return speed && speed != (u32)SPEED_UNKNOWN ? speed : 1;
}

/* Has @a more clients than @b, by speed, when each gets so many more? */
static bool bond_alb_busier(const struct slave *a, u32 more_a,
			    const struct slave *b, u32 more_b)
{
	return (bond_tlb_slave_of(a)->clients + more_a) * bond_alb_speed(b) >
	       (bond_tlb_slave_of(b)->clients + more_b) * bond_alb_speed(a);
}

static struct slave *bond_alb_least(const struct bond_slave_array *usable)
{
	struct slave *least;
	u32 i;

	if (!usable)
		return NULL;
	least = usable->slave[0];
	for (i = 1; i < usable->count; i++)
		if (bond_alb_busier(least, 1, usable->slave[i], 1))
			least = usable->slave[i];
	return least;
}

static struct slave *bond_alb_most(const struct bond_slave_array *usable)
{
	struct slave *most = usable->slave[0];
	u32 i;

	for (i = 1; i < usable->count; i++)
		if (bond_alb_busier(usable->slave[i], 0, most, 0))
			most = usable->slave[i];
	return most;
}

static bool bond_alb_is_usable(const struct bond_slave_array *usable,
			       const struct slave *slave)
{
	u32 i;

	for (i = 0; usable && i < usable->count; i++)
		if (usable->slave[i] == slave)
			return true;
	return false;
}

/* The slave that frames to @addr come by. */
static struct slave *bond_alb_holder(const struct bond_slave_array *usable,
				     const u8 *addr)
{
	u32 i;

	for (i = 0; usable && i < usable->count; i++)
		if (ether_addr_equal(usable->slave[i]->dev->dev_addr, addr))
			return usable->slave[i];
	return NULL;
}

/* --- clients; all with the lock held --- */

static void bond_alb_bind(struct bond_alb_client *client, struct slave *slave)
{
	if (client->slave)
		bond_tlb_slave_of(client->slave)->clients--;
	client->slave = slave;
	if (slave)
		bond_tlb_slave_of(slave)->clients++;
}

static bool bond_alb_is_client(const struct bond_alb_client *client,
			       const struct bond_alb_pair *pair)
{
	return client->used && client->pair.client == pair->client &&
	       client->pair.ours == pair->ours &&
	       client->pair.vlan_proto == pair->vlan_proto &&
	       client->pair.vid == pair->vid;
}

static struct bond_alb_client *bond_alb_way(struct bond_alb *alb,
					    const struct bond_alb_pair *pair)
{
	u32 hash = (__force u32)pair->client ^ pair->vid;

	hash ^= hash >> 16;
	hash ^= hash >> 8;
	return &alb->client[hash % BOND_ALB_SETS * BOND_ALB_WAYS];
}

static struct bond_alb_client *
bond_alb_client_find(struct bond_alb *alb, const struct bond_alb_pair *pair)
{
	struct bond_alb_client *way = bond_alb_way(alb, pair);
	u32 i;

	for (i = 0; i < BOND_ALB_WAYS; i++)
		if (bond_alb_is_client(&way[i], pair))
			return &way[i];
	return NULL;
}

/* A place that is free, or whose client has not been heard of for long. */
static struct bond_alb_client *
bond_alb_client_room(struct bond_alb *alb, const struct bond_alb_pair *pair)
{
	struct bond_alb_client *way = bond_alb_way(alb, pair);
	u32 i;

	for (i = 0; i < BOND_ALB_WAYS; i++)
		if (!way[i].used)
			return &way[i];
	for (i = 0; i < BOND_ALB_WAYS; i++)
		if (time_after(jiffies, way[i].seen + BOND_ALB_STALE_HZ))
			return &way[i];
	return NULL;
}

static struct bond_alb_client *
bond_alb_client_get(struct bonding *bond, const struct bond_alb_pair *pair,
		    const u8 *mac)
{
	const struct bond_slave_array *usable = rcu_dereference(bond->usable);
	struct bond_alb *alb = bond_alb_of(bond);
	struct bond_alb_client *client = bond_alb_client_find(alb, pair);

	if (!client) {
		client = bond_alb_client_room(alb, pair);
		if (!client)
			return NULL;
		client->pair = *pair;
		client->used = true;
		client->left = 0;
		ether_addr_copy(client->told, bond->dev->dev_addr);
		bond_alb_bind(client, bond_alb_least(usable));
	}
	ether_addr_copy(client->mac, mac);
	client->seen = jiffies;
	return client;
}

/* --- ARP frames come and go --- */

struct slave *bond_alb_client_place(struct bonding *bond,
				    const struct bond_alb_pair *pair,
				    const u8 *mac)
{
	struct bond_alb *alb = bond_alb_of(bond);
	struct bond_alb_client *client;
	struct slave *slave = NULL;

	spin_lock(&alb->lock);
	client = bond_alb_client_get(bond, pair, mac);
	if (client && client->slave) {
		slave = client->slave;
		ether_addr_copy(client->told, slave->dev->dev_addr);
	}
	spin_unlock(&alb->lock);
	return slave;
}

static void bond_alb_tell(struct bonding *bond, unsigned long delay)
{
	struct bond_alb *alb = bond_alb_of(bond);

	if (!netif_running(bond->dev))
		return;
	if (delay)
		queue_delayed_work(bond->wq, &alb->tell_work, delay);
	else
		mod_delayed_work(bond->wq, &alb->tell_work, 0);
}

/* Does it know another address than that of its slave?  Then it is told. */
static bool bond_alb_client_due(struct bond_alb_client *client)
{
	if (!client->slave ||
	    ether_addr_equal(client->told, client->slave->dev->dev_addr))
		return false;
	client->left = BOND_ALB_ROUNDS;
	return true;
}

void bond_alb_client_heard(struct bonding *bond,
			   const struct bond_alb_pair *pair, const u8 *mac)
{
	struct bond_alb *alb = bond_alb_of(bond);
	struct bond_alb_client *client;
	bool due = false;

	spin_lock(&alb->lock);
	client = bond_alb_client_get(bond, pair, mac);
	if (client)
		due = bond_alb_client_due(client);
	spin_unlock(&alb->lock);
	if (due)
		bond_alb_tell(bond, BOND_ALB_TELL_HZ);
}

void bond_alb_clients_misled(struct bonding *bond,
			     const struct bond_alb_pair *pair)
{
	struct bond_alb *alb = bond_alb_of(bond);
	struct bond_alb_client *client;
	bool due = false;

	spin_lock(&alb->lock);
	for (client = alb->client; client < bond_alb_end(alb); client++) {
		if (!client->used || client->pair.ours != pair->ours ||
		    client->pair.vlan_proto != pair->vlan_proto ||
		    client->pair.vid != pair->vid)
			continue;
		ether_addr_copy(client->told, bond->dev->dev_addr);
		due |= bond_alb_client_due(client);
	}
	spin_unlock(&alb->lock);
	if (due)
		bond_alb_tell(bond, BOND_ALB_TELL_HZ);
}

/* --- slaves come and go, and their addresses change --- */

static struct slave *
bond_alb_client_wants(const struct bond_alb_client *client,
		      const struct bond_slave_array *usable)
{
	struct slave *holder = bond_alb_holder(usable, client->told);
	bool stays = bond_alb_is_usable(usable, client->slave);

	/* it is about to be told */
	if (client->left && stays)
		return client->slave;
	if (holder)
		return holder;
	return stays ? client->slave : bond_alb_least(usable);
}

static struct bond_alb_client *bond_alb_client_on(struct bond_alb *alb,
						  const struct slave *slave)
{
	struct bond_alb_client *client;

	for (client = alb->client; client < bond_alb_end(alb); client++)
		if (client->used && client->slave == slave)
			return client;
	return NULL;
}

/* Who has too many gives one to who has too few, as long as that helps. */
static bool bond_alb_share(struct bond_alb *alb,
			   const struct bond_slave_array *usable)
{
	struct slave *most = bond_alb_most(usable);
	struct slave *least = bond_alb_least(usable);
	struct bond_alb_client *client;

	if (most == least || !bond_alb_busier(most, 0, least, 1))
		return false;
	client = bond_alb_client_on(alb, most);
	if (!client)
		return false;
	bond_alb_bind(client, least);
	return true;
}

static bool bond_alb_rebind(struct bonding *bond)
{
	const struct bond_slave_array *usable = rcu_dereference(bond->usable);
	struct bond_alb *alb = bond_alb_of(bond);
	struct bond_alb_client *client;
	bool due = false;

	for (client = alb->client; client < bond_alb_end(alb); client++)
		if (client->used)
			bond_alb_bind(client,
				      bond_alb_client_wants(client, usable));
	if (!usable)
		return false;
	while (bond_alb_share(alb, usable))
		;
	for (client = alb->client; client < bond_alb_end(alb); client++)
		if (client->used)
			due |= bond_alb_client_due(client);
	return due;
}

void bond_alb_clients_follow(struct bonding *bond)
{
	struct bond_alb *alb = bond_alb_of(bond);
	bool due;

	rcu_read_lock();
	spin_lock_bh(&alb->lock);
	due = bond_alb_rebind(bond);
	spin_unlock_bh(&alb->lock);
	rcu_read_unlock();
	if (due)
		bond_alb_tell(bond, 0);
}

/* --- telling them --- */

/* Note that the client is told, and say what. */
static bool bond_alb_client_take(struct bond_alb *alb,
				 struct bond_alb_client *client,
				 struct bond_alb_client *copy)
{
	bool take;

	spin_lock_bh(&alb->lock);
	take = client->used && client->left && client->slave;
	if (take) {
		client->left--;
		ether_addr_copy(client->told, client->slave->dev->dev_addr);
		*copy = *client;
	}
	spin_unlock_bh(&alb->lock);
	return take;
}

void bond_alb_tell_work(struct work_struct *work)
{
	struct bond_alb *alb = container_of(to_delayed_work(work),
					    struct bond_alb, tell_work);
	struct bonding *bond = alb->tlb.bond;
	struct bond_alb_client *client;
	struct bond_alb_client copy;
	bool more = false;

	rcu_read_lock();
	for (client = alb->client; client < bond_alb_end(alb); client++) {
		if (!READ_ONCE(client->left) ||
		    !bond_alb_client_take(alb, client, &copy))
			continue;
		bond_alb_arp_tell(&copy);
		more |= copy.left;
	}
	rcu_read_unlock();
	if (more)
		queue_delayed_work(bond->wq, &alb->tell_work,
				   BOND_ALB_TELL_HZ);
}

/* --- for users --- */

void bond_alb_clients_show(struct seq_file *seq, const struct bonding *bond)
{
	struct bond_alb *alb = bond_alb_of(bond);
	struct bond_alb_client *client;

	seq_puts(seq, "SourceIP        DestinationIP   Destination MAC   DEV\n");
	spin_lock_bh(&alb->lock);
	for (client = alb->client; client < bond_alb_end(alb); client++)
		if (client->used)
			seq_printf(seq, "%-15pI4 %-15pI4 %-17pM %s\n",
				   &client->pair.ours, &client->pair.client,
				   client->mac, client->slave ?
				   client->slave->dev->name : "-");
	spin_unlock_bh(&alb->lock);
}
