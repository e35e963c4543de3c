// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the headers of the corpus's frames, one behind the other: mostly
 * sensible, by chance not.
 *
 * Called by hash_corpus.c, and by itself for what is inside a tunnel.
 */
#include "hash_headers.h"

#define NEST_MAX	4	/* tunnels in tunnels */

/* --- random numbers --- */

__u64 rnd(struct maker *m)
{
	__u64 z = m->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

unsigned int below(struct maker *m, unsigned int limit)
{
	return rnd(m) % limit;
}

int one_in(struct maker *m, unsigned int n)
{
	return below(m, n) == 0;
}

/* --- bytes --- */

void put8(struct maker *m, __u8 v)
{
	if (m->frame->len < HASH_FRAME_MAX)
		m->frame->data[m->frame->len++] = v;
}

void put16(struct maker *m, __u16 v)
{
	put8(m, v >> 8);
	put8(m, v);
}

static void put32(struct maker *m, __u32 v)
{
	put16(m, v >> 16);
	put16(m, v);
}

void put_random(struct maker *m, unsigned int n)
{
	while (n--)
		put8(m, rnd(m));
}

void put_zero(struct maker *m, unsigned int n)
{
	while (n--)
		put8(m, 0);
}

/* --- transport --- */

static void put_port(struct maker *m)
{
	static const __u16 known[] = { 0, 0, 53, 80, 443, 4789, 6081, 65535 };

	put16(m, one_in(m, 4) ? known[below(m, ARRAY_SIZE(known))] : rnd(m));
}

static void put_tcp(struct maker *m)
{
	put_port(m);
	put_port(m);
	put32(m, rnd(m));
	put32(m, rnd(m));
	put16(m, 0x5000 | (rnd(m) & 0x3f));
	put_random(m, 6);
	put_random(m, below(m, 40));
}

void put_udp(struct maker *m)
{
	put_port(m);
	put_port(m);
	put_random(m, 4);
	put_random(m, below(m, 40));
}

void put_vxlan(struct maker *m)
{
	put_port(m);
	put16(m, 4789);
	put_random(m, 4);
	put32(m, 0x08000000);
	put32(m, rnd(m) << 8);
	put_random(m, 12);
	put16(m, 0x0800);
	put_l3(m, 0x0800);
}

static void put_icmp_id(struct maker *m, __u8 type)
{
	put8(m, type);
	put8(m, one_in(m, 4) ? rnd(m) : 0);
	put_random(m, 2);
	put16(m, one_in(m, 4) ? 0 : rnd(m));
	put_random(m, 2);
	put_random(m, below(m, 24));
}

void put_icmp_error(struct maker *m, __u8 type, __u16 proto)
{
	put8(m, type);
	put8(m, below(m, 6));
	put_random(m, 2);
	put32(m, one_in(m, 2) ? 0 : rnd(m));
	put_l3(m, one_in(m, 8) ? 0x0800 ^ 0x86dd ^ proto : proto);
}

void put_icmp(struct maker *m)
{
	static const __u8 with_id[] = { 8, 0, 8, 0, 13, 14, 15, 17, 42 };
	static const __u8 error[] = { 3, 3, 11, 12, 4, 5 };
	__u8 type;

	switch (below(m, 4)) {
	case 0:
	case 1:
		put_icmp_id(m, with_id[below(m, ARRAY_SIZE(with_id))]);
		break;
	case 2:
		if (m->nest < NEST_MAX) {
			type = error[below(m, ARRAY_SIZE(error))];
			put_icmp_error(m, type, 0x0800);
			break;
		}
		__attribute__((fallthrough));
	default:
		put_icmp_id(m, rnd(m));
	}
}

void put_icmp6(struct maker *m)
{
	static const __u8 with_id[] = { 128, 129, 128, 129, 8, 13 };
	static const __u8 error[] = { 1, 2, 3, 4 };
	static const __u8 other[] = { 130, 133, 134, 135, 136, 137, 143 };
	__u8 type;

	switch (below(m, 5)) {
	case 0:
	case 1:
		put_icmp_id(m, with_id[below(m, ARRAY_SIZE(with_id))]);
		break;
	case 2:
		if (m->nest < NEST_MAX) {
			type = error[below(m, ARRAY_SIZE(error))];
			put_icmp_error(m, type, 0x86dd);
			break;
		}
		__attribute__((fallthrough));
	case 3:
		put_icmp_id(m, other[below(m, ARRAY_SIZE(other))]);
		break;
	default:
		put_icmp_id(m, rnd(m));
	}
}

/* --- GRE --- */

static void put_gre(struct maker *m)
{
	static const __u16 inner[] = {
		0x0800, 0x0800, 0x86dd, 0x6558, 0x8100, 0x8847, 0x88b5,
	};
	__u16 flags = one_in(m, 3) ? 0 : rnd(m) & 0xb000;
	__u16 proto = inner[below(m, ARRAY_SIZE(inner))];

	if (one_in(m, 12))
		flags |= 0x4000;
	if (one_in(m, 16))
		flags |= rnd(m) & 0x7;
	put16(m, flags);
	put16(m, proto);
	if (flags & 0x8000)
		put_random(m, 4);
	if (flags & 0x2000)
		put_random(m, 4);
	if (flags & 0x1000)
		put_random(m, 4);
	if (proto == 0x6558) {
		put_random(m, 12);
		proto = one_in(m, 3) ? 0x86dd : 0x0800;
		put16(m, proto);
	}
	put_l3(m, proto);
}

static void put_pptp(struct maker *m)
{
	__u16 flags = 0x2001 | (rnd(m) & 0x1080);
	__u16 proto = one_in(m, 2) ? 0x0800 : 0x86dd;

	if (one_in(m, 12))
		flags &= ~0x2000;
	put16(m, flags);
	put16(m, one_in(m, 16) ? 0x0800 : 0x880b);
	put_random(m, 4);
	if (flags & 0x1000)
		put_random(m, 4);
	if (flags & 0x0080)
		put_random(m, 4);
	put16(m, 0xff03);
	put16(m, proto == 0x0800 ? 0x0021 : 0x0057);
	put_l3(m, proto);
}

/* --- what follows an IP header --- */

void put_l4(struct maker *m, __u8 proto)
{
	switch (proto) {
	case 1:
		return put_icmp(m);
	case 4:
		return put_l3(m, 0x0800);
	case 6:
		return put_tcp(m);
	case 17:
		return one_in(m, 4) ? put_vxlan(m) : put_udp(m);
	case 41:
		return put_l3(m, 0x86dd);
	case 47:
		return one_in(m, 4) ? put_pptp(m) : put_gre(m);
	case 58:
		return put_icmp6(m);
	case 137:
		return put_l3(m, 0x8847);
	default:
		put_random(m, below(m, 48));
	}
}

__u8 upper_proto(struct maker *m)
{
	static const __u8 plain[] = { 6, 6, 17 };
	/* with ports or an SPI, or none */
	static const __u8 odd[] = {
		132, 136, 33, 50, 51, 2, 59, 89, 103, 112, 115, 137, 0, 43, 44,
		60, 255,
	};
	static const __u8 tunnel[] = { 4, 41, 47 };
	unsigned int n = below(m, 8);

	if (n == 0 && m->nest < NEST_MAX)
		return tunnel[below(m, ARRAY_SIZE(tunnel))];
	if (n == 1)
		return one_in(m, 3) ? rnd(m) : odd[below(m, ARRAY_SIZE(odd))];
	if (n == 2)
		return one_in(m, 2) ? 1 : 58;
	return plain[below(m, ARRAY_SIZE(plain))];
}

static void put_address(struct maker *m, unsigned int len)
{
	if (one_in(m, 32))
		put_zero(m, len);
	else
		put_random(m, len);
}

void put_ip4(struct maker *m, __u8 proto, unsigned int ihl,
	     __u16 frag)
{
	put8(m, 0x40 | ihl);
	put8(m, rnd(m));
	put16(m, 20 + below(m, 1480));
	put16(m, rnd(m));
	put16(m, frag);
	put8(m, rnd(m));
	put8(m, proto);
	put16(m, rnd(m));
	put_address(m, 4);
	put_address(m, 4);
	if (ihl > 5)
		put_random(m, (ihl - 5) * 4);
}

void put_ip6(struct maker *m, __u8 proto)
{
	put32(m, 0x60000000 | (one_in(m, 2) ? rnd(m) & 0xfffffff : 0));
	put16(m, below(m, 1440));
	put8(m, proto);
	put8(m, rnd(m));
	put_address(m, 16);
	put_address(m, 16);
}

/* An extension header; returns what it says comes next */
static __u8 put_ext(struct maker *m, __u8 type, __u8 next)
{
	unsigned int units = below(m, 3);

	put8(m, next);
	if (type == 44) {
		put8(m, 0);
		put16(m, one_in(m, 3) ? rnd(m) : rnd(m) & 1);
		put_random(m, 4);
		return next;
	}
	put8(m, one_in(m, 32) ? rnd(m) : units);
	put_random(m, 6 + units * 8);
	return next;
}

void put_ip6_ext(struct maker *m)
{
	static const __u8 ext[] = { 0, 43, 44, 60, 51, 135 };
	unsigned int n = 1 + below(m, 3);
	__u8 type = ext[below(m, ARRAY_SIZE(ext))];
	__u8 next;

	put_ip6(m, type);
	while (n--) {
		next = n ? ext[below(m, ARRAY_SIZE(ext))] : upper_proto(m);
		put_ext(m, type, next);
		type = next;
	}
	put_l4(m, type);
}

static void put_mpls(struct maker *m)
{
	unsigned int n = 1 + below(m, 3);

	while (n--) {
		__u32 label = one_in(m, 4) ? below(m, 16) : rnd(m) & 0xfffff;

		put32(m, label << 12 | (n ? 0 : 0x100) | (rnd(m) & 0xff));
	}
	put_l3(m, one_in(m, 2) ? 0x0800 : 0x86dd);
}

static void put_vlan(struct maker *m)
{
	static const __u16 inner[] = {
		0x0800, 0x0800, 0x86dd, 0x86dd, 0x8100, 0x88a8, 0x0806, 0x8864,
	};
	__u16 proto = inner[below(m, ARRAY_SIZE(inner))];

	put16(m, rnd(m));
	put16(m, proto);
	put_l3(m, proto);
}

static void put_pppoe(struct maker *m)
{
	static const __u16 ppp[] = { 0x21, 0x57, 0x281, 0xc021, 0x2145 };
	__u16 proto = ppp[below(m, ARRAY_SIZE(ppp))];

	put16(m, one_in(m, 12) ? rnd(m) : 0x1100);
	put16(m, rnd(m));
	put16(m, rnd(m));
	put16(m, proto);
	put_l3(m, proto == 0x21 ? 0x0800 : proto == 0x57 ? 0x86dd :
	       proto == 0x281 ? 0x8847 : 0);
}

static void put_arp(struct maker *m)
{
	put16(m, 1);
	put16(m, 0x0800);
	put8(m, 6);
	put8(m, 4);
	put16(m, 1 + below(m, 3));
	put_random(m, 20 + below(m, 20));
}

static void put_hsr(struct maker *m)
{
	put_random(m, 4);
	put16(m, 0x0800);
	put_l3(m, 0x0800);
}

static void put_batman(struct maker *m)
{
	put8(m, one_in(m, 4) ? rnd(m) : 0x40);
	put8(m, one_in(m, 4) ? rnd(m) : 15);
	put_random(m, 8 + 12);
	put16(m, 0x0800);
	put_l3(m, 0x0800);
}

void put_l3(struct maker *m, __u16 proto)
{
	unsigned int ihl;
	__u8 upper;

	if (m->nest++ > NEST_MAX + 4)
		return;
	upper = upper_proto(m);
	switch (proto) {
	case 0x0800:
		ihl = one_in(m, 12) ? rnd(m) & 15 : 5;
		put_ip4(m, upper, ihl,
			one_in(m, 12) ? rnd(m) : rnd(m) & 0x4000);
		return put_l4(m, upper);
	case 0x86dd:
		if (one_in(m, 8))
			return put_ip6_ext(m);
		put_ip6(m, upper);
		return put_l4(m, upper);
	case 0x8100:
	case 0x88a8:
		return put_vlan(m);
	case 0x8847:
	case 0x8848:
		return put_mpls(m);
	case 0x8864:
		return put_pppoe(m);
	case 0x0806:
	case 0x8035:
		return put_arp(m);
	case 0x88fb:
	case 0x892f:
		return put_hsr(m);
	case 0x4305:
		return put_batman(m);
	default:
		put_random(m, below(m, 64));
	}
}
