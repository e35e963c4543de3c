// SPDX-License-Identifier: GPL-2.0
/*
 * AF_XDP on a bond: a socket in copy mode on each slave, and on the bond a
 * program that hands frames to the socket of the slave they came by.  With a
 * generic program (-g), whose frames come by the bond, a socket on that.
 *
 * Usage: xdp_sock [-g] -d BOND -s DEV,...
 *
 * Prints "ready", then, when 30 frames have come or 15 seconds have gone, how
 * many each socket got.
 */
#include <err.h>
#include <getopt.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>

#include "xdp_progs.skel.h"

#define SOCKS_MAX	4
#define FRAMES		64
#define FRAME_SIZE	2048
#define FRAMES_WANTED	30
#define WAIT_MS		15000

#ifndef AF_XDP
#define AF_XDP	44
#endif
#ifndef SOL_XDP
#define SOL_XDP	283
#endif

/**
 * struct sock - one AF_XDP socket
 * @fd: the socket
 * @ifindex: of its device
 * @consumer: of the receive ring
 * @producer: of the receive ring
 */
struct sock {
	int fd;
	int ifindex;
	__u32 *consumer;
	__u32 *producer;
};

static void ring_size(int fd, int name, int size)
{
	if (setsockopt(fd, SOL_XDP, name, &size, sizeof(size)))
		err(1, "ring");
}

static void *ring_map(int fd, size_t len, off_t at)
{
	void *ring = mmap(NULL, len, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_POPULATE, fd, at);

	if (ring == MAP_FAILED)
		err(1, "mmap");
	return ring;
}

/* All frames of the memory are the kernel's to fill. */
static void sock_fill(int fd, const struct xdp_mmap_offsets *off)
{
	__u8 *ring = ring_map(fd, off->fr.desc + FRAMES * sizeof(__u64),
			      XDP_UMEM_PGOFF_FILL_RING);
	__u64 *desc = (void *)(ring + off->fr.desc);
	int i;

	for (i = 0; i < FRAMES; i++)
		desc[i] = i * FRAME_SIZE;
	__atomic_store_n((__u32 *)(ring + off->fr.producer), FRAMES,
			 __ATOMIC_RELEASE);
}

static void sock_open(struct sock *sock, const char *dev)
{
	struct xdp_umem_reg umem = {
		.len = FRAMES * FRAME_SIZE,
		.chunk_size = FRAME_SIZE,
	};
	struct sockaddr_xdp to = {
		.sxdp_family = AF_XDP,
		.sxdp_flags = XDP_COPY,
	};
	struct xdp_mmap_offsets off;
	socklen_t len = sizeof(off);
	__u8 *ring;

	sock->ifindex = if_nametoindex(dev);
	sock->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (!sock->ifindex || sock->fd < 0)
		err(1, "%s", dev);
	umem.addr = (unsigned long)mmap(NULL, umem.len, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (setsockopt(sock->fd, SOL_XDP, XDP_UMEM_REG, &umem, sizeof(umem)))
		err(1, "umem");
	ring_size(sock->fd, XDP_UMEM_FILL_RING, FRAMES);
	ring_size(sock->fd, XDP_UMEM_COMPLETION_RING, FRAMES);
	ring_size(sock->fd, XDP_RX_RING, FRAMES);
	if (getsockopt(sock->fd, SOL_XDP, XDP_MMAP_OFFSETS, &off, &len))
		err(1, "offsets");
	sock_fill(sock->fd, &off);
	ring = ring_map(sock->fd,
			off.rx.desc + FRAMES * sizeof(struct xdp_desc),
			XDP_PGOFF_RX_RING);
	sock->consumer = (void *)(ring + off.rx.consumer);
	sock->producer = (void *)(ring + off.rx.producer);
	to.sxdp_ifindex = sock->ifindex;
	if (bind(sock->fd, (void *)&to, sizeof(to)))
		err(1, "bind to %s", dev);
}

static unsigned int sock_got(const struct sock *sock)
{
	return __atomic_load_n(sock->producer, __ATOMIC_ACQUIRE) -
	       *sock->consumer;
}

static void program_attach(const char *bond, __u32 flags,
			   const struct sock *sock, int n)
{
	struct xdp_progs *skel = xdp_progs__open();
	struct bpf_program *prog;
	__u32 key;
	int i;

	if (!skel)
		err(1, "open");
	bpf_object__for_each_program(prog, skel->obj)
		bpf_program__set_autoload(prog, prog == skel->progs.to_socket);
	if (xdp_progs__load(skel))
		err(1, "load");
	for (i = 0; i < n; i++) {
		key = sock[i].ifindex % 64;
		if (bpf_map_update_elem(bpf_map__fd(skel->maps.socks), &key,
					&sock[i].fd, 0))
			err(1, "xskmap");
	}
	if (bpf_xdp_attach(if_nametoindex(bond),
			   bpf_program__fd(skel->progs.to_socket), flags,
			   NULL))
		err(1, "attach to %s", bond);
}

static int wait_all(const struct sock *sock, int n)
{
	unsigned int sum;
	int ms, i;

	for (ms = 0; ms < WAIT_MS; ms += 10) {
		for (sum = 0, i = 0; i < n; i++)
			sum += sock_got(&sock[i]);
		if (sum >= FRAMES_WANTED)
			return 1;
		poll(NULL, 0, 10);
	}
	return 0;
}

int main(int argc, char **argv)
{
	__u32 flags = XDP_FLAGS_DRV_MODE;
	struct sock sock[SOCKS_MAX];
	const char *bond = NULL;
	char *name;
	int n = 0, letter, i;

	while ((letter = getopt(argc, argv, "d:gs:")) >= 0) {
		if (letter == 'd')
			bond = optarg;
		else if (letter == 'g')
			flags = XDP_FLAGS_SKB_MODE;
		else if (letter == 's')
			for (name = strtok(optarg, ","); name && n < SOCKS_MAX;
			     name = strtok(NULL, ","))
				sock_open(&sock[n++], name);
	}
	if (!bond || !n)
		errx(2, "usage: xdp_sock [-g] -d BOND -s DEV,...");
	program_attach(bond, flags, sock, n);
	puts("ready");
	fflush(stdout);
	wait_all(sock, n);
	for (i = 0; i < n; i++)
		printf("%u%c", sock_got(&sock[i]), i + 1 < n ? ' ' : '\n');
	return 0;
}
