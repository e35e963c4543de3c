// SPDX-License-Identifier: GPL-2.0
/*
 * Ethernet devices with a carrier and a speed of one's choice: taps.
 *
 *	taps NAME=SPEED[/half]...
 *
 * makes them, prints "ready" and then obeys lines on stdin, answering "ok" or
 * "error TEXT" to each, until stdin ends, which takes the devices away:
 *
 *	up NAME | down NAME		carrier
 *	speed NAME SPEED[/half]		SPEED "unknown" is one, too
 *
 * Frames that are sent to a tap are thrown away.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define TAPS_MAX	16

static struct tap {
	char name[IFNAMSIZ];
	int fd;
} taps[TAPS_MAX];

static int tap_count;

static int tap_open(const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	struct tap *tap = &taps[tap_count];

	if (tap_count == TAPS_MAX) {
		errno = ENOSPC;
		return -1;
	}
	strncpy(ifr.ifr_name, name, IFNAMSIZ - 1);
	tap->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
	if (tap->fd < 0 || ioctl(tap->fd, TUNSETIFF, &ifr))
		return -1;
	memcpy(tap->name, ifr.ifr_name, IFNAMSIZ);
	tap_count++;
	return 0;
}

static int tap_speed(const char *name, const char *speed)
{
	struct ethtool_link_settings set = { .cmd = ETHTOOL_SLINKSETTINGS };
	struct {
		struct ethtool_link_settings s;
		__u32 masks[3 * 127];
	} req = { .s.cmd = ETHTOOL_GLINKSETTINGS };
	struct ifreq ifr = { .ifr_data = (void *)&req };
	int fd, err;

	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0)
		return -1;
	strncpy(ifr.ifr_name, name, IFNAMSIZ - 1);
	/* the first call tells how many words a mask has */
	err = ioctl(fd, SIOCETHTOOL, &ifr);
	set.link_mode_masks_nwords = -req.s.link_mode_masks_nwords;
	set.duplex = strstr(speed, "/half") ? DUPLEX_HALF : DUPLEX_FULL;
	set.speed = strtoul(speed, NULL, 10);
	if (!set.speed) {
		set.speed = SPEED_UNKNOWN;
		set.duplex = DUPLEX_UNKNOWN;
	}
	req.s = set;
	if (!err)
		err = ioctl(fd, SIOCETHTOOL, &ifr);
	close(fd);
	return err;
}

static int tap_carrier(const char *name, int on)
{
	int i;

	for (i = 0; i < tap_count; i++)
		if (!strcmp(taps[i].name, name))
			return ioctl(taps[i].fd, TUNSETCARRIER, &on);
	errno = ENODEV;
	return -1;
}

static int obey(const char *line)
{
	char verb[8], name[IFNAMSIZ], speed[16];
	int words;

	words = sscanf(line, "%7s %15s %15s", verb, name, speed);
	if (words == 2 && !strcmp(verb, "up"))
		return tap_carrier(name, 1);
	if (words == 2 && !strcmp(verb, "down"))
		return tap_carrier(name, 0);
	if (words == 3 && !strcmp(verb, "speed"))
		return tap_speed(name, speed);
	errno = EINVAL;
	return -1;
}

static void drain(void)
{
	char frame[65536];
	int i;

	for (i = 0; i < tap_count; i++)
		while (read(taps[i].fd, frame, sizeof(frame)) > 0)
			;
}

/* A line at a time; one short read() is one line, as its writer waits. */
static int serve(void)
{
	struct pollfd pfd[TAPS_MAX + 1] = { { .fd = 0, .events = POLLIN } };
	char line[256];
	ssize_t len;
	int i;

	for (i = 0; i < tap_count; i++)
		pfd[i + 1] = (struct pollfd){ taps[i].fd, POLLIN, 0 };
	for (;;) {
		if (poll(pfd, tap_count + 1, -1) < 0)
			return 1;
		drain();
		if (!pfd[0].revents)
			continue;
		len = read(0, line, sizeof(line) - 1);
		if (len <= 0)
			return 0;
		line[len] = 0;
		if (obey(line))
			printf("error %s\n", strerror(errno));
		else
			puts("ok");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	char *speed;
	int i;

	for (i = 1; i < argc; i++) {
		speed = strchr(argv[i], '=');
		if (!speed) {
			fputs("usage: taps NAME=SPEED[/half]...\n", stderr);
			return 2;
		}
		*speed++ = 0;
		if (tap_open(argv[i]) || tap_speed(argv[i], speed)) {
			perror(argv[i]);
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	return serve();
}
