// SPDX-License-Identifier: GPL-2.0
/*
 * Send given frames again and again, or print those that come in.
 *
 *	arp_wire send MS COUNT DEV HEX [DEV HEX]...
 *		every MS milliseconds each frame by its device, COUNT times (0:
 *		until killed); says "sending" after the first time
 *	arp_wire listen MS DEV...
 *		for MS milliseconds; says "listening", then a line for each
 *		frame received: device, milliseconds since the start, the frame
 *		in hexadecimal digits, VLAN tags included
 *
 * Exit status 1 when something failed, 2 for wrong use.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define DEVS_MAX	32
#define FRAME_MAX	2048
#define VLAN_LEN	4

struct port {
	const char *dev;
	int fd;
	unsigned char frame[FRAME_MAX];
	size_t len;
};

static struct port ports[DEVS_MAX];
static int port_count;

static void die(const char *what)
{
	fprintf(stderr, "arp_wire: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void wrong_use(void)
{
	fputs("usage: arp_wire send MS COUNT DEV HEX [DEV HEX]...\n"
	      "       arp_wire listen MS DEV...\n", stderr);
	exit(2);
}

static long parse_number(const char *text)
{
	char *end;
	long n;

	n = strtol(text, &end, 10);
	if (end == text || *end || n < 0)
		wrong_use();
	return n;
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static struct port *port_open(const char *dev, int protocol)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = if_nametoindex(dev),
	};
	struct port *port = &ports[port_count++];

	if (port_count > DEVS_MAX)
		wrong_use();
	port->dev = dev;
	if (!addr.sll_ifindex)
		die(dev);
	port->fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (port->fd < 0)
		die("socket");
	if (bind(port->fd, (struct sockaddr *)&addr, sizeof(addr)))
		die("bind");
	return port;
}

/* --- send --- */

static void port_load(struct port *port, const char *hex)
{
	unsigned int byte;

	while (*hex) {
		if (port->len == FRAME_MAX || sscanf(hex, "%2x", &byte) != 1 ||
		    !hex[1])
			wrong_use();
		port->frame[port->len++] = byte;
		hex += 2;
	}
}

static int send_all(long ms, long count)
{
	long i;
	int p;

	for (i = 0; !count || i < count; i++) {
		for (p = 0; p < port_count; p++)
			if (send(ports[p].fd, ports[p].frame, ports[p].len,
				 0) < 0 && errno != ENETDOWN &&
			    errno != ENOBUFS)
				die(ports[p].dev);
		if (!i) {
			puts("sending");
			fflush(stdout);
		}
		usleep(ms * 1000);
	}
	return 0;
}

/* --- listen --- */

/* The kernel has taken the outermost tag off: its place is before the rest. */
static void tag_restore(struct port *port, struct msghdr *msg)
{
	struct tpacket_auxdata *aux;
	unsigned short tag[2];
	struct cmsghdr *cmsg;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_PACKET ||
		    cmsg->cmsg_type != PACKET_AUXDATA)
			continue;
		aux = (struct tpacket_auxdata *)CMSG_DATA(cmsg);
		if (!(aux->tp_status & TP_STATUS_VLAN_VALID))
			continue;
		tag[0] = htons(aux->tp_vlan_tpid);
		tag[1] = htons(aux->tp_vlan_tci);
		memmove(port->frame + 2 * ETH_ALEN + VLAN_LEN,
			port->frame + 2 * ETH_ALEN, port->len - 2 * ETH_ALEN);
		memcpy(port->frame + 2 * ETH_ALEN, tag, VLAN_LEN);
		port->len += VLAN_LEN;
	}
}

static void port_print(struct port *port, long start)
{
	char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	struct iovec iov = { port->frame, FRAME_MAX - VLAN_LEN };
	struct sockaddr_ll from;
	struct msghdr msg = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t got;
	size_t i;

	got = recvmsg(port->fd, &msg, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == ENETDOWN))
		return;
	if (got < 0)
		die(port->dev);
	if (from.sll_pkttype == PACKET_OUTGOING || got < 2 * ETH_ALEN)
		return;
	port->len = got;
	tag_restore(port, &msg);
	printf("%s %ld ", port->dev, now_ms() - start);
	for (i = 0; i < port->len; i++)
		printf("%02x", port->frame[i]);
	putchar('\n');
}

static int listen_all(long ms)
{
	struct pollfd fds[DEVS_MAX];
	long start = now_ms(), left;
	int one = 1;
	int p;

	for (p = 0; p < port_count; p++) {
		if (setsockopt(ports[p].fd, SOL_PACKET, PACKET_AUXDATA, &one,
			       sizeof(one)))
			die("PACKET_AUXDATA");
		fds[p].fd = ports[p].fd;
		fds[p].events = POLLIN;
	}
	puts("listening");
	fflush(stdout);
	while ((left = start + ms - now_ms()) > 0) {
		if (poll(fds, port_count, left) <= 0)
			continue;
		for (p = 0; p < port_count; p++)
			if (fds[p].revents)
				port_print(&ports[p], start);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int i;

	/* who reads it may not want to wait for the end */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc >= 4 && !strcmp(argv[1], "listen")) {
		for (i = 3; i < argc; i++)
			port_open(argv[i], ETH_P_ALL);
		return listen_all(parse_number(argv[2]));
	}
	if (argc < 6 || argc % 2 || strcmp(argv[1], "send"))
		wrong_use();
	for (i = 4; i < argc; i += 2)
		port_load(port_open(argv[i], 0), argv[i + 1]);
	return send_all(parse_number(argv[2]), parse_number(argv[3]));
}
