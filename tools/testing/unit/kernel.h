/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of a kernel as bond_xmit_hash.c and bond_slaves.h need, for user
 * space.
 *
 * Structures have only the members that are used, in any order.  Included
 * first, by the compiler's -include.
 */
#ifndef _UNIT_KERNEL_H
#define _UNIT_KERNEL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <arpa/inet.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/if_bonding.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define __read_mostly
#define __force
#define __counted_by(member)
#define BIT(n)		(1UL << (n))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define READ_ONCE(x)	(x)
#define BUILD_BUG_ON(cond)	static_assert(!(cond), #cond)
#define be16_to_cpu(x)	ntohs(x)
#define rcu_access_pointer(p)	READ_ONCE(p)
#define rcu_dereference_check(p, cond)	READ_ONCE(p)
#define U64_MAX		(~0ULL)

struct rcu_head {
	void *next;
};

#define get_unaligned(ptr) ({						\
	__auto_type __p = (ptr);					\
	__typeof__(*__p + 0) __v;					\
	memcpy(&__v, __p, sizeof(__v));					\
	__v; })
#define get_unaligned_be32(ptr)	ntohl(get_unaligned((const u32 *)(ptr)))

/* --- devices --- */

enum {
	NETNS_BPF_FLOW_DISSECTOR,
};

struct net {
	struct {
		void *run_array[1];
	} bpf;
};

struct net_device {
	struct net *nd_net;
};

extern struct net init_net;

static inline struct net *dev_net(const struct net_device *dev)
{
	return dev->nd_net;
}

enum netdev_lag_hash {
	NETDEV_LAG_HASH_NONE,
	NETDEV_LAG_HASH_L2,
	NETDEV_LAG_HASH_L34,
	NETDEV_LAG_HASH_L23,
	NETDEV_LAG_HASH_E23,
	NETDEV_LAG_HASH_E34,
	NETDEV_LAG_HASH_VLAN_SRCMAC,
	NETDEV_LAG_HASH_UNKNOWN,
};

/* --- frames --- */

/**
 * struct sk_buff - a frame in one or two pieces
 * @head: start of the buffer
 * @data: the frame
 * @len: its length
 * @data_len: how much of that is in @more, not at @data
 * @more: the second piece
 */
struct sk_buff {
	unsigned char *head;
	unsigned char *data;
	unsigned int len;
	unsigned int data_len;
	unsigned char *more;
	u16 network_header;
	__be16 protocol;
	__be16 vlan_proto;
	u16 vlan_tci;
	u32 hash;
	u8 vlan_present:1,
	   l4_hash:1;
};

struct xdp_buff {
	void *data;
	void *data_end;
};

struct vlan_hdr {
	__be16 h_vlan_TCI;
	__be16 h_vlan_encapsulated_proto;
};

static inline bool eth_type_vlan(__be16 proto)
{
	return proto == htons(ETH_P_8021Q) || proto == htons(ETH_P_8021AD);
}

static inline unsigned int skb_headlen(const struct sk_buff *skb)
{
	return skb->len - skb->data_len;
}

static inline unsigned char *skb_network_header(const struct sk_buff *skb)
{
	return skb->head + skb->network_header;
}

#define skb_vlan_tag_present(skb)	((skb)->vlan_present)
#define skb_vlan_tag_get(skb)		((skb)->vlan_tci)

void *__skb_header_pointer(const struct sk_buff *skb, int offset, int len,
			   const void *data, int hlen, void *buffer);

static inline bool ip_is_fragment(const struct iphdr *iph)
{
	return iph->frag_off & htons(0x3fff);
}

bool icmp_is_err(int type);
bool icmpv6_is_err(int type);
int proto_ports_offset(int proto);

/* --- flow dissector --- */

enum flow_dissector_key_id {
	FLOW_DISSECTOR_KEY_CONTROL,
	FLOW_DISSECTOR_KEY_BASIC,
	FLOW_DISSECTOR_KEY_IPV4_ADDRS,
	FLOW_DISSECTOR_KEY_IPV6_ADDRS,
	FLOW_DISSECTOR_KEY_TIPC,
	FLOW_DISSECTOR_KEY_PORTS,
	FLOW_DISSECTOR_KEY_ICMP,
	FLOW_DISSECTOR_KEY_MAX,
};

struct flow_dissector {
	unsigned int used_keys;
	unsigned short offset[FLOW_DISSECTOR_KEY_MAX];
};

struct flow_dissector_key_icmp {
	u8 type;
	u8 code;
	u16 id;
};

struct flow_keys {
	struct {
		u16 thoff;
		u16 addr_type;
		u32 flags;
	} control;
	struct {
		__be16 n_proto;
		u8 ip_proto;
	} basic;
	struct {
		__be32 ports;
	} ports;
	struct flow_dissector_key_icmp icmp;
	struct {
		union {
			struct {
				__be32 src;
				__be32 dst;
			} v4addrs;
			struct {
				struct in6_addr src;
				struct in6_addr dst;
			} v6addrs;
			struct {
				__be32 key;
			} tipckey;
		};
	} addrs;
};

bool __skb_flow_dissect(const struct net *net, const struct sk_buff *skb,
			struct flow_dissector *flow_dissector,
			void *target_container, const void *data, __be16 proto,
			int nhoff, int hlen, unsigned int flags);
void skb_flow_get_icmp_tci(const struct sk_buff *skb,
			   struct flow_dissector_key_icmp *key_icmp,
			   const void *data, int thoff, int hlen);

/* --- the bond --- */

struct slave;
struct bond_slave_array;

enum bond_dirty {
	BOND_DIRTY_NONE,
};

struct bonding {
	struct net_device *dev;
	struct bond_slave_array *usable;
	struct {
		u32 xmit_hash_policy;
	} params;
};

#include "bond_pkt.h"

/* How often the dissector was asked (hash_kernel.c) */
extern unsigned long unit_dissected;

#endif /* _UNIT_KERNEL_H */
