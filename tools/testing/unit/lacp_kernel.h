/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of a kernel as bond_3ad_machines.c and bond_3ad_select.c need, for
 * user space: one thread, a clock that the test advances.
 *
 * Included first, by the compiler's -include; stands for bond_slaves.h, too.
 */
#ifndef _UNIT_LACP_KERNEL_H
#define _UNIT_LACP_KERNEL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <linux/if_bonding.h>
#include <linux/if_ether.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

#define _BOND_SLAVES_H

#define HZ		250
#define U16_MAX		0xffff
#define __packed	__attribute__((packed))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define READ_ONCE(x)	(x)
#define WRITE_ONCE(x, v)	((x) = (v))
#define lockdep_assert_held(lock)	((void)(lock))
#define max(a, b)	((a) > (b) ? (a) : (b))
#define min(a, b)	((a) < (b) ? (a) : (b))
#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)
#define time_before_eq(a, b)	time_after_eq(b, a)
#define time_before(a, b)	(!time_after_eq(a, b))

typedef struct { int unused; } spinlock_t;

struct rcu_head {
	void *next;
};

struct timer_list {
	int unused;
};

struct sk_buff_head {
	int unused;
};

struct list_head {
	struct list_head *next, *prev;
};

#define list_entry(ptr, type, member)					\
	((type *)((char *)(ptr) - offsetof(type, member)))
#define list_for_each_entry(pos, head, member)				\
	for (pos = list_entry((head)->next, __typeof__(*pos), member);	\
	     &pos->member != (head);					\
	     pos = list_entry(pos->member.next, __typeof__(*pos), member))

static inline void list_add_tail(struct list_head *new, struct list_head *head)
{
	new->prev = head->prev;
	new->next = head;
	head->prev->next = new;
	head->prev = new;
}

static inline void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
}

static inline bool ether_addr_equal(const u8 *a, const u8 *b)
{
	return !memcmp(a, b, ETH_ALEN);
}

static inline bool is_zero_ether_addr(const u8 *a)
{
	static const u8 zero[ETH_ALEN];

	return ether_addr_equal(a, zero);
}

static inline void ether_addr_copy(u8 *to, const u8 *from)
{
	memcpy(to, from, ETH_ALEN);
}

/* --- the bond --- */

#define BOND_PORT_PRIO_DEFAULT	255

typedef int netdev_tx_t;
typedef int bond_pick_fn;
struct bond_ad_port;
struct net_device;
struct seq_file;
struct sk_buff;

struct bonding {
	void *mode_priv;
};

struct slave {
	struct net_device *dev;
	struct bonding *bond;
	void *mode_priv;
};

static inline bool qdisc_tx_is_noop(const struct net_device *dev)
{
	return false;
}

void bond_slaves_drop(struct bonding *bond, const struct slave *slave);

#endif /* _UNIT_LACP_KERNEL_H */
