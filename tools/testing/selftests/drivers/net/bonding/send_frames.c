// SPDX-License-Identifier: GPL-2.0
/*
 * Send an exact number of frames by a device, quickly: AF_PACKET, sendmmsg()
 * in batches, until all are sent or SIGTERM comes. Prints "sent N errors N".
 * Exit status 1 when a frame was refused (unless -k), 2 for wrong use.
 *
 * Frames of flow f (0, 1, ... cyclic, -f of them) differ in the last bytes of
 * the addresses and in the source port, so that every hash policy sees them.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/types.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH_MAX	256
#define FRAME_MAX	9014
#define FLOWS_MAX	65536
#define CPU_ANY		(-1UL)

struct options {
	const char *dev;
	const char *type;
	unsigned long count;
	unsigned long rate;
	unsigned long flows;
	unsigned long size;
	unsigned long batch;
	unsigned long millis;
	unsigned long cpu;
	int keep_going;
	int many_peers;
	__u8 dst[ETH_ALEN];
	__u8 src[ETH_ALEN];
	int src_given;
};

static const char usage[] =
	"usage: send_frames -i DEV -n COUNT [options]\n"
	"  -t TYPE   udp (default), tcp, udp6, icmp, icmp6, igmp, arp, raw\n"
	"  -f FLOWS  number of different flows (default 1)\n"
	"  -s SIZE   bytes of a frame, header included (default 64)\n"
	"  -c CPU    send from this CPU only\n"
	"  -b BATCH  frames a system call (default 64)\n"
	"  -r RATE   frames a second, one by one, never faster (default: no limit)\n"
	"  -T MS     stop after so many milliseconds, whatever COUNT says\n"
	"  -d MAC    destination (default 02:00:00:00:01:00)\n"
	"  -S MAC    source (default: the device's)\n"
	"  -D        flows differ in the receiver's IP address, too\n"
	"  -k        count refused frames and go on\n";

static void die(const char *what)
{
	fprintf(stderr, "send_frames: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void wrong_use(void)
{
	fputs(usage, stderr);
	exit(2);
}

static void parse_mac(const char *text, __u8 *mac)
{
	char end;

	if (sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx%c", &mac[0], &mac[1],
		   &mac[2], &mac[3], &mac[4], &mac[5], &end) != ETH_ALEN)
		wrong_use();
}

static unsigned long parse_number(const char *text, unsigned long max)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 0);
	if (errno || end == text || *end || value > max)
		wrong_use();
	return value;
}

/* options that are numbers */
static const struct number {
	char letter;
	size_t offset;
	unsigned long max;
} numbers[] = {
	{ 'b', offsetof(struct options, batch), BATCH_MAX },
	{ 'c', offsetof(struct options, cpu), 4095 },
	{ 'f', offsetof(struct options, flows), FLOWS_MAX },
	{ 'n', offsetof(struct options, count), -1UL },
	{ 'r', offsetof(struct options, rate), 1000000000 },
	{ 's', offsetof(struct options, size), FRAME_MAX },
	{ 'T', offsetof(struct options, millis), 1000000000 },
};

static void parse_option(struct options *o, int letter)
{
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		unsigned long *value = (void *)((char *)o + numbers[i].offset);

		if (numbers[i].letter == letter)
			*value = parse_number(optarg, numbers[i].max);
	}
	if (letter == 'i')
		o->dev = optarg;
	else if (letter == 't')
		o->type = optarg;
	else if (letter == 'd')
		parse_mac(optarg, o->dst);
	else if (letter == 'S')
		parse_mac(optarg, o->src);
	else if (letter == 'D')
		o->many_peers = 1;
	else if (letter == 'k')
		o->keep_going = 1;
	else if (letter == '?')
		wrong_use();
	o->src_given |= letter == 'S';
}

static void parse(struct options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "i:t:n:f:s:c:b:r:T:d:S:Dk")) != -1)
		parse_option(o, c);
	if (!o->dev || optind != argc || !o->flows || !o->batch ||
	    o->size < 64)
		wrong_use();
}

/* --- frames --- */

static __u16 checksum(const __u8 *data, size_t len)
{
	__u32 sum = 0;
	size_t i;

	for (i = 0; i < len; i += 2)
		sum += data[i] << 8 | data[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum);
}

static void put16(__u8 *at, __u16 value)
{
	value = htons(value);
	memcpy(at, &value, sizeof(value));
}

/* 10.0.x.y of sender and receiver; an IGMP report goes to 224.1.2.3 */
static void fill_ip4(__u8 *ip, size_t len, __u8 proto, unsigned int flow,
		     unsigned int peer)
{
	static const __u8 group[4] = { 224, 1, 2, 3 };
	__u16 sum;

	ip[0] = 0x45;
	put16(ip + 2, len);
	ip[8] = 64;
	ip[9] = proto;
	ip[12] = 10;
	put16(ip + 14, 0x0100 + flow);
	ip[16] = 10;
	ip[17] = 1;
	put16(ip + 18, 0x0001 + peer);
	if (proto == IPPROTO_IGMP) {
		ip[8] = 1;
		memcpy(ip + 16, group, sizeof(group));
	}
	sum = checksum(ip, 20);
	memcpy(ip + 10, &sum, sizeof(sum));
}

static void fill_ip6(__u8 *ip, size_t len, __u8 proto, unsigned int flow,
		     unsigned int peer)
{
	ip[0] = 0x60;
	put16(ip + 4, len - 40);
	ip[6] = proto;
	ip[7] = 64;
	ip[8] = 0xfd;
	put16(ip + 22, 0x0100 + flow);
	ip[24] = 0xfd;
	ip[25] = 1;
	put16(ip + 38, 0x0001 + peer);
}

static void fill_ports(__u8 *l4, size_t len, __u8 proto,
		       unsigned int flow)
{
	put16(l4, 10000 + flow % 50000);
	put16(l4 + 2, 9);
	if (proto == IPPROTO_UDP)
		put16(l4 + 4, len);
	else
		l4[12] = 5 << 4;
}

static void fill_igmp(__u8 *igmp)
{
	static const __u8 report[8] = { 0x16, 0, 0, 0, 224, 1, 2, 3 };
	__u16 sum;

	memcpy(igmp, report, sizeof(report));
	sum = checksum(igmp, sizeof(report));
	memcpy(igmp + 2, &sum, sizeof(sum));
}

static void fill_arp(__u8 *arp, const __u8 *mac, unsigned int flow)
{
	static const __u8 head[8] = { 0, 1, 8, 0, 6, 4, 0, 1 };

	memcpy(arp, head, sizeof(head));
	memcpy(arp + 8, mac, ETH_ALEN);
	arp[14] = 10;
	put16(arp + 16, 0x0100 + flow);
	arp[24] = 10;
	arp[25] = 1;
	put16(arp + 26, 0x0001);
}

struct frame_type {
	const char *name;
	__u16 ethertype;
	__u8 proto;
};

static const struct frame_type frame_types[] = {
	{ "udp", ETH_P_IP, IPPROTO_UDP },
	{ "tcp", ETH_P_IP, IPPROTO_TCP },
	{ "icmp", ETH_P_IP, IPPROTO_ICMP },
	{ "igmp", ETH_P_IP, IPPROTO_IGMP },
	{ "udp6", ETH_P_IPV6, IPPROTO_UDP },
	{ "icmp6", ETH_P_IPV6, IPPROTO_ICMPV6 },
	{ "arp", ETH_P_ARP, 0 },
	{ "raw", 0x88b5, 0 },		/* "local experimental" */
};

static const struct frame_type *type_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(frame_types) / sizeof(*frame_types); i++)
		if (!strcmp(frame_types[i].name, name))
			return &frame_types[i];
	wrong_use();
	return NULL;
}

static void fill_frame(__u8 *frame, const struct options *o,
		       const struct frame_type *type, unsigned int flow)
{
	size_t l3_len = type->ethertype == ETH_P_IPV6 ? 40 : 20;
	__u8 *l3 = frame + ETH_HLEN;
	unsigned int peer = o->many_peers ? flow : 0;
	size_t len = o->size - ETH_HLEN;
	__u8 *l4 = l3 + l3_len;

	memset(frame, 0, o->size);
	memcpy(frame, o->dst, ETH_ALEN);
	memcpy(frame + ETH_ALEN, o->src, ETH_ALEN);
	frame[5] ^= flow;
	put16(frame + 12, type->ethertype);
	if (type->ethertype == ETH_P_IP)
		fill_ip4(l3, len, type->proto, flow, peer);
	else if (type->ethertype == ETH_P_IPV6)
		fill_ip6(l3, len, type->proto, flow, peer);
	else if (type->ethertype == ETH_P_ARP)
		fill_arp(l3, o->src, flow);
	if (type->proto == IPPROTO_UDP || type->proto == IPPROTO_TCP)
		fill_ports(l4, len - l3_len, type->proto, flow);
	else if (type->proto == IPPROTO_IGMP)
		fill_igmp(l4);
	else if (type->proto)
		l4[0] = type->proto == IPPROTO_ICMP ? 8 : 128;
}

/* --- sending --- */

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Sleep until @when; what it was late then, as nanoseconds. */
static __u64 sleep_until(__u64 when)
{
	struct timespec ts = {
		.tv_sec = when / 1000000000,
		.tv_nsec = when % 1000000000,
	};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	return now_ns() - when;
}

static void pin(unsigned long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static int open_device(struct options *o)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
	};
	struct ifreq ifr = { 0 };
	int fd;

	/* protocol 0: receives nothing */
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0)
		die("socket");
	strncpy(ifr.ifr_name, o->dev, IFNAMSIZ - 1);
	addr.sll_ifindex = if_nametoindex(o->dev);
	if (!addr.sll_ifindex)
		die(o->dev);
	if (!o->src_given) {
		if (ioctl(fd, SIOCGIFHWADDR, &ifr))
			die("SIOCGIFHWADDR");
		memcpy(o->src, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
	}
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		die("bind");
	return fd;
}

struct ring {
	struct mmsghdr msg[BATCH_MAX];
	struct iovec iov[BATCH_MAX];
	struct sockaddr_ll to;
	__u8 *frames;
	size_t size;
	unsigned long flows;
};

static void ring_init(struct ring *ring, const struct options *o,
		      const struct frame_type *type)
{
	unsigned long flow;
	int i;

	ring->size = o->size;
	ring->flows = o->flows;
	ring->frames = malloc(o->size * o->flows);
	if (!ring->frames)
		die("malloc");
	for (flow = 0; flow < o->flows; flow++)
		fill_frame(ring->frames + flow * o->size, o, type, flow);
	ring->to.sll_family = AF_PACKET;
	ring->to.sll_protocol = htons(type->ethertype);
	ring->to.sll_ifindex = if_nametoindex(o->dev);
	for (i = 0; i < BATCH_MAX; i++) {
		ring->iov[i].iov_len = o->size;
		ring->msg[i].msg_hdr.msg_iov = &ring->iov[i];
		ring->msg[i].msg_hdr.msg_iovlen = 1;
		ring->msg[i].msg_hdr.msg_name = &ring->to;
		ring->msg[i].msg_hdr.msg_namelen = sizeof(ring->to);
	}
}

/* Messages for frames number @first and following. */
static void ring_load(struct ring *ring, unsigned long first, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		ring->iov[i].iov_base = ring->frames +
					(first + i) % ring->flows * ring->size;
}

/* Full socket buffers are waited for, anything else is a refused frame. */
static int send_some(int fd, struct ring *ring, unsigned int n)
{
	int done;

	for (;;) {
		done = sendmmsg(fd, ring->msg, n, 0);
		if (done >= 0)
			return done;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
}

static int told_to_stop;

static void stop(int sig)
{
	__atomic_store_n(&told_to_stop, sig, __ATOMIC_RELAXED);
}

static int send_all(int fd, struct ring *ring, const struct options *o)
{
	__u64 start = now_ns(), end = start + o->millis * 1000000ull;
	__u64 due = start, gap = o->rate ? 1000000000ull / o->rate : 0;
	unsigned long done = 0, errors = 0, next = 0, n;
	int got;

	for (; next < o->count; next = done + errors) {
		if (__atomic_load_n(&told_to_stop, __ATOMIC_RELAXED))
			break;
		n = o->rate ? 1 : o->batch;
		if (n > o->count - next)
			n = o->count - next;
		/* a frame that is late delays the others: no bursts */
		if (o->rate)
			due += gap + sleep_until(due);
		if (o->millis && now_ns() >= end)
			break;
		ring_load(ring, next, n);
		got = send_some(fd, ring, n);
		if (got > 0) {
			done += got;
			continue;
		}
		errors++;
		if (!o->keep_going) {
			errno = -got;
			perror("send_frames: send");
			break;
		}
	}
	printf("sent %lu errors %lu\n", done, errors);
	return errors && !o->keep_going;
}

int main(int argc, char **argv)
{
	struct options o = {
		.type = "udp", .flows = 1, .size = 64, .batch = 64,
		.cpu = CPU_ANY,
		.dst = { 0x02, 0, 0, 0, 0x01, 0 },
	};
	const struct frame_type *type;
	static struct ring ring;
	int fd;

	parse(&o, argc, argv);
	type = type_find(o.type);
	if (o.cpu != CPU_ANY)
		pin(o.cpu);
	fd = open_device(&o);
	ring_init(&ring, &o, type);
	signal(SIGTERM, stop);
	return send_all(fd, &ring, &o);
}
