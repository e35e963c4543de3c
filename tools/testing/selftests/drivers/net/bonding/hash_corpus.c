// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the frames that the transmit hash policies are tried on: each kind of
 * frame that a policy may look into, then cut, damaged, tagged, or laid out in
 * pieces.
 *
 * Pure: no state but the frame and its random numbers.  Used by hash_frames.c
 * and by the unit tests.
 */
#include <string.h>

#include "hash_headers.h"

#define LARGE_LEN	4300	/* over a page: then skbs have fragments */

const struct hash_vlan hash_vlans[HASH_VLAN_MAX] = {
	{ 0x8100, 1, 0 }, { 0x8100, 5, 5 }, { 0x8100, 100, 7 },
	{ 0x8100, 4094, 1 }, { 0x88a8, 1023, 3 },
};

struct kind {
	const char *name;
	unsigned int weight;
	void (*make)(struct maker *m);
};

/* --- kinds of frames --- */

static void put_eth(struct maker *m, __u16 proto)
{
	put_random(m, 12);
	put16(m, proto);
}

static void put_eth_ip4(struct maker *m, __u8 proto)
{
	put_eth(m, 0x0800);
	put_ip4(m, proto, 5, rnd(m) & 0x4000);
}

static void put_eth_ip6(struct maker *m, __u8 proto)
{
	put_eth(m, 0x86dd);
	put_ip6(m, proto);
}

static void make_ip4(struct maker *m)
{
	put_eth_ip4(m, one_in(m, 2) ? 6 : 17);
	put_udp(m);
	put_random(m, 12);
}

static void make_ip6(struct maker *m)
{
	put_eth_ip6(m, one_in(m, 2) ? 6 : 17);
	put_udp(m);
	put_random(m, 12);
}

static void make_ip4_options(struct maker *m)
{
	__u8 upper = upper_proto(m);
	unsigned int ihl = rnd(m) & 15;

	put_eth(m, 0x0800);
	put_ip4(m, upper, ihl, rnd(m) & 0x4000);
	put_l4(m, upper);
}

static void make_ip4_fragment(struct maker *m)
{
	static const __u16 frag[] = {
		0x2000, 0x2001, 0x0001, 0x8000, 0xa000, 0x1fff, 0x6000, 0x00ff,
	};
	__u8 upper = upper_proto(m);
	__u16 word = frag[below(m, ARRAY_SIZE(frag))];

	if (one_in(m, 4))
		word = rnd(m);
	put_eth(m, 0x0800);
	put_ip4(m, upper, 5, word);
	put_l4(m, upper);
}

static void make_ip4_icmp(struct maker *m)
{
	put_eth_ip4(m, 1);
	put_icmp(m);
}

static void make_ip4_icmp_error(struct maker *m)
{
	static const __u8 type[] = { 3, 3, 3, 11, 12, 4, 5 };

	put_eth_ip4(m, 1);
	put_icmp_error(m, type[below(m, ARRAY_SIZE(type))], 0x0800);
}

static void make_ip4_other(struct maker *m)
{
	__u8 proto = one_in(m, 2) ? upper_proto(m) : rnd(m);

	put_eth_ip4(m, proto);
	put_l4(m, proto);
}

static void make_ip6_ext(struct maker *m)
{
	put_eth(m, 0x86dd);
	put_ip6_ext(m);
}

static void make_ip6_icmp(struct maker *m)
{
	put_eth_ip6(m, 58);
	put_icmp6(m);
}

static void make_ip6_icmp_error(struct maker *m)
{
	put_eth_ip6(m, 58);
	put_icmp_error(m, 1 + below(m, 5), 0x86dd);
}

static void make_ip6_other(struct maker *m)
{
	__u8 proto = one_in(m, 2) ? upper_proto(m) : rnd(m);

	put_eth_ip6(m, proto);
	put_l4(m, proto);
}

static void make_vlan(struct maker *m)
{
	static const __u16 tpid[] = { 0x8100, 0x8100, 0x88a8, 0x9100 };
	__u16 proto = tpid[below(m, ARRAY_SIZE(tpid))];

	put_eth(m, proto);
	put_l3(m, proto == 0x9100 ? 0x8100 : proto);
}

static void make_gre(struct maker *m)
{
	if (one_in(m, 2))
		put_eth_ip4(m, 47);
	else
		put_eth_ip6(m, 47);
	put_l4(m, 47);
}

static void make_ip_in_ip(struct maker *m)
{
	__u8 proto = one_in(m, 2) ? 4 : 41;

	if (one_in(m, 2))
		put_eth_ip4(m, proto);
	else
		put_eth_ip6(m, proto);
	put_l4(m, proto);
}

static void make_vxlan(struct maker *m)
{
	if (one_in(m, 2))
		put_eth_ip4(m, 17);
	else
		put_eth_ip6(m, 17);
	put_vxlan(m);
}

static void make_other(struct maker *m)
{
	static const __u16 known[] = {
		0x8847, 0x8848, 0x8864, 0x8863, 0x0806, 0x8035, 0x88ca, 0x8906,
		0x88f7, 0x88fb, 0x892f, 0x4305, 0x88cc, 0x8809, 0x6558, 0x9100,
		0x0026, 0x05dc, 0x0000, 0xffff,
	};
	__u16 proto = known[below(m, ARRAY_SIZE(known))];

	if (one_in(m, 4))
		proto = rnd(m);
	put_eth(m, proto);
	put_l3(m, proto);
}

/* About as many headers as a dissector will follow */
static void make_deep(struct maker *m)
{
	static const __u8 last[] = { 58, 6, 17, 1 };
	unsigned int n = 12 + below(m, 6);
	__u8 upper = last[below(m, ARRAY_SIZE(last))];

	put_eth_ip6(m, 60);
	while (n--) {
		put8(m, n ? 60 : upper);
		put8(m, 0);
		put_zero(m, 6);
	}
	put_l4(m, upper);
}

static void make_noise(struct maker *m)
{
	put_random(m, 14 + below(m, 100));
}

static const struct kind kinds[] = {
	{ "ip4", 12, make_ip4 },
	{ "ip6", 12, make_ip6 },
	{ "ip4-options", 5, make_ip4_options },
	{ "ip4-fragment", 6, make_ip4_fragment },
	{ "ip4-icmp", 7, make_ip4_icmp },
	{ "ip4-icmp-error", 7, make_ip4_icmp_error },
	{ "ip4-other", 5, make_ip4_other },
	{ "ip6-ext", 7, make_ip6_ext },
	{ "ip6-icmp", 7, make_ip6_icmp },
	{ "ip6-icmp-error", 7, make_ip6_icmp_error },
	{ "ip6-other", 5, make_ip6_other },
	{ "vlan", 8, make_vlan },
	{ "gre", 7, make_gre },
	{ "ip-in-ip", 7, make_ip_in_ip },
	{ "vxlan", 5, make_vxlan },
	{ "other", 8, make_other },
	{ "deep", 1, make_deep },
	{ "noise", 3, make_noise },
};

/* --- what is then done to a frame --- */

static void damage(struct maker *m)
{
	unsigned int span = m->frame->len < 96 ? m->frame->len : 96;
	unsigned int n = 1 + below(m, 4), at;

	while (n--) {
		at = below(m, span);
		m->frame->data[at] = rnd(m);
	}
}

static void scatter(struct maker *m)
{
	unsigned int len = m->frame->len;

	while (m->frame->len < LARGE_LEN + len % 64)
		put8(m, 0x5a);
	m->frame->linear = 14 + below(m, one_in(m, 2) ? 8 : 90);
}

static void make_any(struct maker *m)
{
	unsigned int sum = 0, n, i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		sum += kinds[i].weight;
	n = below(m, sum);
	for (i = 0; n >= kinds[i].weight; i++)
		n -= kinds[i].weight;
	m->frame->kind = kinds[i].name;
	kinds[i].make(m);
}

/*
 * No frames whose hash depends on more than the frame: TIPC's keepalive probes
 * (a random number); FCoE in pieces through a VLAN device (whether that device
 * may send pieces).
 */
static void calm(struct hash_frame *frame)
{
	unsigned int type = frame->data[12] << 8 | frame->data[13];

	if (type == 0x88ca)
		frame->data[14] &= ~0x08;
	if (type == 0x8906 && frame->vlan)
		frame->linear = 0;
}

void hash_frame_make(struct hash_frame *frame, __u64 seed, __u32 seq)
{
	static const __u16 protos[] = {
		0x0800, 0x86dd, 0x8100, 0x88a8, 0x0806, 0x8847, 0x88b5, 0x8864,
	};
	struct maker m = { .frame = frame };

	m.state = seed * 0xd1342543de82ef95ull + seq;
	m.state = rnd(&m);
	memset(frame, 0, offsetof(struct hash_frame, data));
	frame->seq = seq;
	make_any(&m);
	if (one_in(&m, 10))
		damage(&m);
	if (one_in(&m, 10))
		frame->len = 14 + below(&m, frame->len - 13);
	if (one_in(&m, 12))
		scatter(&m);
	if (one_in(&m, 8))
		frame->vlan = 1 + below(&m, HASH_VLAN_MAX);
	if (one_in(&m, 24))
		frame->proto = protos[below(&m, ARRAY_SIZE(protos))];
	calm(frame);
}
