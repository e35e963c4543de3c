/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing the headers of the corpus's frames, one behind the other.
 */
#ifndef _HASH_HEADERS_H
#define _HASH_HEADERS_H

#include "hash_corpus.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/**
 * struct maker - a frame that is being made
 * @frame: the frame; its length says where the next byte goes
 * @state: of the random numbers
 * @nest: headers inside headers so far
 */
struct maker {
	struct hash_frame *frame;
	__u64 state;
	unsigned int nest;
};

/* Random numbers: any, below a limit, true once in n. */
__u64 rnd(struct maker *m);
unsigned int below(struct maker *m, unsigned int limit);
int one_in(struct maker *m, unsigned int n);

/* Bytes; nothing is written beyond HASH_FRAME_MAX. */
void put8(struct maker *m, __u8 v);
void put16(struct maker *m, __u16 v);
void put_random(struct maker *m, unsigned int n);
void put_zero(struct maker *m, unsigned int n);

/* One header, without what follows it. */
void put_ip4(struct maker *m, __u8 proto, unsigned int ihl, __u16 frag);
void put_ip6(struct maker *m, __u8 proto);

/* A header and, by chance, a sensible lot that follows it. */
void put_l3(struct maker *m, __u16 proto);
void put_l4(struct maker *m, __u8 proto);
void put_udp(struct maker *m);
void put_vxlan(struct maker *m);
void put_icmp(struct maker *m);
void put_icmp6(struct maker *m);
void put_icmp_error(struct maker *m, __u8 type, __u16 proto);
void put_ip6_ext(struct maker *m);

/* A protocol number to go into an IP header. */
__u8 upper_proto(struct maker *m);

#endif /* _HASH_HEADERS_H */
