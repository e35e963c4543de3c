// SPDX-License-Identifier: GPL-2.0
/*
 * Talk to a bond by the old ioctls, as ifenslave and monitoring tools do, and
 * print what came back: numbers and names, or the name of the error.
 *
 * Exit status: 0 also when the kernel refused; 2 for wrong use.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_bonding.h>
#include <linux/mii.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define REG_UNTOUCHED	0xbbbb

static const char usage[] =
	"usage: ioctl [-o] [-u] COMMAND BOND [ARGUMENT...]\n"
	"  -o  by the old private numbers\n"
	"  -u  without capabilities, as nobody\n"
	"  info BOND               mode, slaves, miimon\n"
	"  nowhere BOND            the same into a bad address\n"
	"  slave BOND N            name, link, state, failures of slave N\n"
	"  enslave|release|hwaddr|active BOND DEVICE\n"
	"  phy BOND PHY REG        SIOCGMIIPHY: phy, value of the register\n"
	"  reg BOND PHY REG        SIOCGMIIREG\n"
	"  raw BOND NUMBER         any other ioctl\n";

struct command {
	const char *name;
	int args;
	int (*run)(const struct command *command, char **arg);
	unsigned long number;
	unsigned long old_number;
};

static int old_numbers;
static int sock;

static unsigned long number_of(const struct command *command)
{
	return old_numbers ? command->old_number : command->number;
}

static int ask(unsigned long number, const char *bond, struct ifreq *ifr)
{
	strncpy(ifr->ifr_name, bond, sizeof(ifr->ifr_name) - 1);
	if (!ioctl(sock, number, ifr))
		return 0;
	puts(strerrorname_np(errno));
	return -1;
}

static int run_info(const struct command *command, char **arg)
{
	struct ifreq ifr = { };
	ifbond info;

	memset(&info, 0xaa, sizeof(info));
	ifr.ifr_data = (void *)&info;
	if (!ask(number_of(command), arg[0], &ifr))
		printf("mode %d slaves %d miimon %d\n", info.bond_mode,
		       info.num_slaves, info.miimon);
	return 0;
}

static int run_nowhere(const struct command *command, char **arg)
{
	struct ifreq ifr = { };

	if (!ask(number_of(command), arg[0], &ifr))
		puts("ok");
	return 0;
}

static int run_slave(const struct command *command, char **arg)
{
	struct ifreq ifr = { };
	ifslave info;

	memset(&info, 0xaa, sizeof(info));
	info.slave_id = atoi(arg[1]);
	ifr.ifr_data = (void *)&info;
	if (!ask(number_of(command), arg[0], &ifr))
		printf("%.16s link %d state %d failures %u\n", info.slave_name,
		       info.link, info.state, info.link_failure_count);
	return 0;
}

static int run_device(const struct command *command, char **arg)
{
	struct ifreq ifr = { };

	strncpy(ifr.ifr_slave, arg[1], sizeof(ifr.ifr_slave));
	if (!ask(number_of(command), arg[0], &ifr))
		puts("ok");
	return 0;
}

static int run_mii(const struct command *command, char **arg)
{
	struct ifreq ifr = { };
	struct mii_ioctl_data *mii = (void *)&ifr.ifr_data;

	mii->phy_id = atoi(arg[1]);
	mii->reg_num = atoi(arg[2]);
	mii->val_out = REG_UNTOUCHED;
	if (ask(command->number, arg[0], &ifr))
		return 0;
	if (mii->val_out == REG_UNTOUCHED)
		printf("phy %u untouched\n", mii->phy_id);
	else
		printf("phy %u value %u\n", mii->phy_id, mii->val_out);
	return 0;
}

static int run_raw(const struct command *command, char **arg)
{
	struct ifreq ifr = { };

	(void)command;
	if (!ask(strtoul(arg[1], NULL, 0), arg[0], &ifr))
		puts("ok");
	return 0;
}

static const struct command commands[] = {
	{ "info", 1, run_info, SIOCBONDINFOQUERY, BOND_INFO_QUERY_OLD },
	{ "nowhere", 1, run_nowhere, SIOCBONDINFOQUERY, BOND_INFO_QUERY_OLD },
	{ "slave", 2, run_slave, SIOCBONDSLAVEINFOQUERY,
	  BOND_SLAVE_INFO_QUERY_OLD },
	{ "enslave", 2, run_device, SIOCBONDENSLAVE, BOND_ENSLAVE_OLD },
	{ "release", 2, run_device, SIOCBONDRELEASE, BOND_RELEASE_OLD },
	{ "hwaddr", 2, run_device, SIOCBONDSETHWADDR, BOND_SETHWADDR_OLD },
	{ "active", 2, run_device, SIOCBONDCHANGEACTIVE,
	  BOND_CHANGE_ACTIVE_OLD },
	{ "phy", 3, run_mii, SIOCGMIIPHY, 0 },
	{ "reg", 3, run_mii, SIOCGMIIREG, 0 },
	{ "raw", 2, run_raw, 0, 0 },
	{ }
};

static const struct command *find(const char *name)
{
	const struct command *command;

	for (command = commands; command->name; command++)
		if (!strcmp(command->name, name))
			return command;
	return NULL;
}

static void become_nobody(void)
{
	if (setgid(65534) || setuid(65534)) {
		perror("ioctl: setuid");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	const struct command *command;
	int opt;

	while ((opt = getopt(argc, argv, "+ou")) != -1) {
		if (opt == 'o')
			old_numbers = 1;
		else if (opt == 'u')
			become_nobody();
		else
			goto wrong_use;
	}
	if (optind == argc)
		goto wrong_use;
	command = find(argv[optind]);
	if (!command || argc - optind - 1 != command->args)
		goto wrong_use;
	sock = socket(AF_INET, SOCK_DGRAM, 0);
	if (sock < 0) {
		perror("ioctl: socket");
		return 2;
	}
	return command->run(command, argv + optind + 1);

wrong_use:
	fputs(usage, stderr);
	return 2;
}
