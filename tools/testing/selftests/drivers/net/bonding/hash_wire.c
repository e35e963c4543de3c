// SPDX-License-Identifier: GPL-2.0
/*
 * Sending frames through a bond and seeing by which slave each one left.
 *
 * A packet socket hears what leaves any device of the namespace; its filter
 * passes only the slaves' frames that carry our mark.  The mark is the frame's
 * number, too, so a lost frame is never taken for another.  Nothing waits:
 * bonds and their test slaves have no queue, so a frame has left when its
 * send call returns.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>

#include "hash_wire.h"

#ifndef SO_RCVMARK
#define SO_RCVMARK	75
#endif

#define MARK		0x5a000000u	/* the upper byte: it is ours */
#define MARK_MASK	0xff000000u
#define RCVBUF		(32 << 20)

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static const struct sock_filter load_mark[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_MARK),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MARK_MASK),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, 0),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_IFINDEX),
};

/*
 * tap_filter - pass what leaves by a slave
 * @tail: what decides how much of it
 */
static void tap_filter(struct hash_wire *wire, const struct sock_filter *tail,
		       unsigned int tail_len)
{
	struct sock_filter code[ARRAY_SIZE(load_mark) + HASH_SLAVES_MAX + 8];
	struct sock_fprog prog = { .filter = code };
	int i, n = ARRAY_SIZE(load_mark);

	memcpy(code, load_mark, sizeof(load_mark));
	for (i = 0; i < wire->slaves; i++)
		code[n++] = (struct sock_filter)
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wire->slave[i],
				 wire->slaves - i, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	memcpy(code + n, tail, tail_len * sizeof(*tail));
	prog.len = n + tail_len;
	if (setsockopt(wire->tap, SOL_SOCKET, SO_ATTACH_FILTER, &prog,
		       sizeof(prog)))
		err(1, "filter");
}

static void set_option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		err(1, "socket option %d", name);
}

void hash_wire_open(struct hash_wire *wire)
{
	static const struct sock_filter whole[] = {
		BPF_STMT(BPF_RET | BPF_K, 0x40000),
	};

	wire->tap = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC,
			   htons(ETH_P_ALL));
	wire->tx = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (wire->tap < 0 || wire->tx < 0)
		err(1, "packet socket");
	tap_filter(wire, whole, ARRAY_SIZE(whole));
	set_option(wire->tap, SOL_SOCKET, SO_RCVBUFFORCE, RCVBUF);
	set_option(wire->tap, SOL_SOCKET, SO_RCVMARK, 1);
	set_option(wire->tx, SOL_PACKET, PACKET_VNET_HDR, 1);
}

void hash_wire_tap_hash(struct hash_wire *wire)
{
	struct sock_filter tail[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 SKF_AD_OFF + SKF_AD_RXHASH),
		BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, wire->slaves),
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, HASH_TAP_BASE),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};

	tap_filter(wire, tail, ARRAY_SIZE(tail));
}

static int slave_position(const struct hash_wire *wire, int ifindex)
{
	int i;

	for (i = 0; i < wire->slaves; i++)
		if (wire->slave[i] == ifindex)
			return i;
	return -1;
}

/* --- sending --- */

struct out {
	struct virtio_net_hdr vnet;
	struct sockaddr_ll to;
	struct iovec iov[2];
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(__u32))];
	} control;
};

static void out_mark(struct out *out, struct msghdr *msg, __u32 mark)
{
	struct cmsghdr *cmsg;

	msg->msg_control = &out->control;
	msg->msg_controllen = sizeof(out->control);
	cmsg = CMSG_FIRSTHDR(msg);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SO_MARK;
	cmsg->cmsg_len = CMSG_LEN(sizeof(mark));
	memcpy(CMSG_DATA(cmsg), &mark, sizeof(mark));
}

static void out_fill(const struct hash_wire *wire, struct out *out,
		     struct msghdr *msg, const struct hash_frame *frame,
		     __u32 mark)
{
	int vlan = frame->vlan ? wire->vlan[frame->vlan - 1] : 0;

	memset(out, 0, sizeof(*out));
	out->to.sll_family = AF_PACKET;
	out->to.sll_ifindex = vlan ?: wire->bond;
	/* by itself, a VLAN device would look behind the frame's own tag */
	out->to.sll_protocol = htons(frame->proto ?: frame->data[12] << 8 |
				     frame->data[13]);
	out->vnet.hdr_len = frame->linear ?: frame->len;
	if (out->vnet.hdr_len > frame->len)
		out->vnet.hdr_len = frame->len;
	out->iov[0].iov_base = &out->vnet;
	out->iov[0].iov_len = sizeof(out->vnet);
	out->iov[1].iov_base = (void *)frame->data;
	out->iov[1].iov_len = frame->len;
	msg->msg_name = &out->to;
	msg->msg_namelen = sizeof(out->to);
	msg->msg_iov = out->iov;
	msg->msg_iovlen = ARRAY_SIZE(out->iov);
	out_mark(out, msg, mark);
}

static void send_all(const struct hash_wire *wire, const __u32 *order,
		     const struct hash_frame *frame, unsigned int count)
{
	static struct out out[HASH_BATCH];
	struct mmsghdr msg[HASH_BATCH];
	unsigned int i;
	int done;

	memset(msg, 0, sizeof(msg));
	for (i = 0; i < count; i++)
		out_fill(wire, &out[i], &msg[i].msg_hdr, &frame[i],
			 MARK | order[i]);
	for (i = 0; i < count; i += done) {
		done = sendmmsg(wire->tx, msg + i, count - i, 0);
		if (done >= 0)
			continue;
		/* the bond dropped it: the tap will show that */
		if (errno != ENOBUFS)
			err(1, "frame %u refused", frame[i].seq);
		done = 1;
	}
}

/* --- hearing --- */

static int mark_of(struct msghdr *msg, __u32 *mark)
{
	struct cmsghdr *cmsg;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET ||
		    cmsg->cmsg_type != SO_MARK)
			continue;
		memcpy(mark, CMSG_DATA(cmsg), sizeof(*mark));
		return 1;
	}
	return 0;
}

/* As it was sent, or with the VLAN device's tag put in? */
static int same_frame(const struct hash_frame *frame, const __u8 *data,
		      unsigned int len)
{
	const struct hash_vlan *vlan;

	if (len == frame->len)
		return !memcmp(frame->data, data, len);
	if (!frame->vlan || len != frame->len + 4u)
		return 0;
	vlan = &hash_vlans[frame->vlan - 1];
	return !memcmp(frame->data, data, 12) &&
	       (data[12] << 8 | data[13]) == vlan->proto &&
	       (data[14] << 8 | data[15]) == hash_vlan_tci(vlan) &&
	       !memcmp(frame->data + 12, data + 16, frame->len - 12);
}

static void hear_one(const struct hash_wire *wire, const __u32 base,
		     const struct hash_frame *frame, unsigned int count,
		     int *left_by, struct msghdr *msg, unsigned int len)
{
	const struct sockaddr_ll *from = msg->msg_name;
	__u32 mark, n;

	if (!mark_of(msg, &mark))
		errx(1, "the tap does not tell marks");
	n = mark - (MARK | base);
	if (n >= count)
		errx(1, "stray frame with mark %#x", mark);
	if (left_by[n] >= 0)
		errx(1, "frame %u left twice", frame[n].seq);
	if (!same_frame(&frame[n], msg->msg_iov->iov_base, len))
		errx(1, "frame %u left changed", frame[n].seq);
	left_by[n] = slave_position(wire, from->sll_ifindex);
}

void hash_wire_send(struct hash_wire *wire, const struct hash_frame *frame,
		    unsigned int count, int *left_by)
{
	static __u8 data[HASH_FRAME_MAX + 64];
	static __u32 base;
	struct sockaddr_ll from;
	char control[64];
	struct iovec iov = { .iov_base = data, .iov_len = sizeof(data) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	__u32 order[HASH_BATCH];
	unsigned int i;
	ssize_t len;

	for (i = 0; i < count; i++) {
		order[i] = base + i;
		left_by[i] = -1;
	}
	send_all(wire, order, frame, count);
	for (;;) {
		msg.msg_name = &from;
		msg.msg_namelen = sizeof(from);
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		len = recvmsg(wire->tap, &msg, MSG_DONTWAIT | MSG_TRUNC);
		if (len < 0)
			break;
		hear_one(wire, base, frame, count, left_by, &msg, len);
	}
	if (errno != EAGAIN)
		err(1, "tap");
	base = (base + count) % (1 << 20);
}

int hash_wire_hear(struct hash_wire *wire, unsigned int *len)
{
	struct sockaddr_ll from;
	socklen_t from_len = sizeof(from);
	__u8 data[HASH_TAP_BASE + HASH_SLAVES_MAX];
	ssize_t got;

	got = recvfrom(wire->tap, data, sizeof(data), MSG_DONTWAIT,
		       (struct sockaddr *)&from, &from_len);
	if (got < 0)
		return -1;
	*len = got;
	return slave_position(wire, from.sll_ifindex);
}
