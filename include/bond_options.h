/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options: one table of rows, and the one gate through which a setting goes in,
 * whether it comes by netlink, sysfs, module parameter or ioctl.
 *
 * Layer 4.
 *
 * Setting is a transaction.  bond_change_begin() copies the parameters,
 * bond_change_add() checks one option after another against that copy and lets
 * its row write to it, bond_change_commit() makes the copy true.  Nothing of
 * the bond changes before commit.
 */
#ifndef _BOND_OPTIONS_H
#define _BOND_OPTIONS_H

#include "bond_core.h"

#define BOND_PEER_DELAY_MAX	300000	/* ms, of peer_notif_delay */
#define BOND_TX_QUEUES_MAX	255	/* of a bond that is created */

/*
 * Options in the order in which a request with several of them is worked off,
 * whatever order they came in, and in which netlink tells them (those with
 * BOND_OPT_F_PRIVATE last).
 */
enum bond_opt_id {
	BOND_OPT_MODE,
	BOND_OPT_ACTIVE_SLAVE,
	BOND_OPT_MIIMON,
	BOND_OPT_UPDELAY,
	BOND_OPT_DOWNDELAY,
	BOND_OPT_PEER_NOTIF_DELAY,
	BOND_OPT_USE_CARRIER,
	BOND_OPT_ARP_INTERVAL,
	BOND_OPT_ARP_IP_TARGET,
	BOND_OPT_ARP_VALIDATE,
	BOND_OPT_ARP_ALL_TARGETS,
	BOND_OPT_NS_IP6_TARGET,
	BOND_OPT_PRIMARY,
	BOND_OPT_PRIMARY_RESELECT,
	BOND_OPT_FAIL_OVER_MAC,
	BOND_OPT_XMIT_HASH_POLICY,
	BOND_OPT_RESEND_IGMP,
	BOND_OPT_NUM_PEER_NOTIF,
	BOND_OPT_ALL_SLAVES_ACTIVE,
	BOND_OPT_MIN_LINKS,
	BOND_OPT_LP_INTERVAL,
	BOND_OPT_PACKETS_PER_SLAVE,
	BOND_OPT_LACP_ACTIVE,
	BOND_OPT_LACP_RATE,
	BOND_OPT_AD_SELECT,
	BOND_OPT_AD_ACTOR_SYS_PRIO,
	BOND_OPT_AD_USER_PORT_KEY,
	BOND_OPT_AD_ACTOR_SYSTEM,
	BOND_OPT_TLB_DYNAMIC_LB,
	BOND_OPT_MISSED_MAX,
	BOND_OPT_COUPLED_CONTROL,
	BOND_OPT_BROADCAST_NEIGHBOR,
	BOND_OPT_LACP_STRICT,
	BOND_OPT_LACP_FALLBACK,
	BOND_OPT_LACP_FALLBACK_TIMEOUT,
	/* options of a slave, and those that only sysfs has */
	BOND_OPT_SLAVES,
	BOND_OPT_QUEUE_ID,
	BOND_OPT_PRIO,
	BOND_OPT_ACTOR_PORT_PRIO,
	BOND_OPT_MAX
};

/**
 * enum bond_opt_type - what kind of value an option takes
 * @BOND_OPT_T_NUMBER: a number, or one of the row's names
 * @BOND_OPT_T_DEV: a device, by name in text, by ifindex in netlink; empty
 *	or 0 clears
 * @BOND_OPT_T_MAC: six bytes
 * @BOND_OPT_T_IP4: IPv4 targets; "+a.b.c.d" or "-a.b.c.d" in text, a list in
 *	netlink
 * @BOND_OPT_T_IP6: IPv6 targets, a list in netlink
 * @BOND_OPT_T_OWN: text or a number that the row itself understands
 */
enum bond_opt_type {
	BOND_OPT_T_NUMBER,
	BOND_OPT_T_DEV,
	BOND_OPT_T_MAC,
	BOND_OPT_T_IP4,
	BOND_OPT_T_IP6,
	BOND_OPT_T_OWN,
};

/* How sysfs shows an option */
enum bond_opt_show {
	BOND_OPT_SHOW_NONE,		/* no file */
	BOND_OPT_SHOW_NUMBER,		/* "100" */
	BOND_OPT_SHOW_NAME,		/* "balance-rr 0" */
	BOND_OPT_SHOW_OWN,		/* the file's own way */
};

/* bond_option.flags */
#define BOND_OPT_F_DOWN		BIT(0)	/* only while the bond is down */
#define BOND_OPT_F_NOSLAVES	BIT(1)	/* only while it has no slaves */
#define BOND_OPT_F_PRIVATE	BIT(2)	/* told to CAP_NET_ADMIN only, and */
					/* only in modes that have it */

/* What a committed change has to be followed by: bond_change.effects */
#define BOND_EFFECT_MODE	BIT(0)	/* exit old mode, init new one */
#define BOND_EFFECT_MONITOR	BIT(1)	/* start or stop monitors */
#define BOND_EFFECT_PRIMARY	BIT(2)	/* resolve primary, select again */
#define BOND_EFFECT_SELECT	BIT(3)	/* select the active slave again */
#define BOND_EFFECT_ACTIVE	BIT(4)	/* make change->active active */
#define BOND_EFFECT_RXFLAGS	BIT(5)	/* inactive bits of backup slaves */
#define BOND_EFFECT_CARRIER	BIT(6)	/* carrier rule changed */
#define BOND_EFFECT_PARAMS	BIT(7)	/* the mode's params_changed hook */
#define BOND_EFFECT_ENSLAVE	BIT(8)	/* change->dev becomes a slave */
#define BOND_EFFECT_RELEASE	BIT(9)	/* change->dev is one no more */

/**
 * struct bond_opt_name - a number that has a name
 * @name: the name
 * @number: its value
 * @flags: BOND_OPT_N_*
 */
struct bond_opt_name {
	const char *name;
	u32 number;
	u8 flags;
};

#define BOND_OPT_N_DEFAULT	BIT(0)	/* what the word "default" means */
#define BOND_OPT_N_MIN		BIT(1)	/* start of the range */
#define BOND_OPT_N_MAX		BIT(2)	/* end of the range */

/**
 * struct bond_opt_value - a value on its way in
 * @text: as text, NULL when it did not come as text
 * @number: as number (or ifindex), when @text is NULL
 * @data: as bytes (MAC, target list), when not NULL
 * @len: number of bytes in @data
 */
struct bond_opt_value {
	const char *text;
	u64 number;
	const void *data;
	size_t len;
};

/**
 * struct bond_slave_params - what the options of a slave are set to
 * @prio: higher wins among slaves that could become active
 * @queue_id: transmit queue that is steered to the slave, 0 for none
 * @actor_port_prio: priority of the slave's LACP port
 */
struct bond_slave_params {
	s32 prio;
	u16 queue_id;
	u16 actor_port_prio;
};

/**
 * struct bond_change - options of one request, checked but not yet true
 * @bond: the bond
 * @ops: the mode that @next.mode names
 * @next: the parameters as they will be
 * @slave: the slave that @slave_next is of, NULL when no slave is set
 * @slave_next: its parameters as they will be
 * @active: the slave to make active, NULL to clear, for BOND_EFFECT_ACTIVE
 * @dev: the device, for BOND_EFFECT_ENSLAVE and BOND_EFFECT_RELEASE
 * @effects: BOND_EFFECT_*
 * @touched: bit mask of enum bond_opt_id that were added
 * @extack: receives the reason of a refusal
 * @opt: the option that is being added, for the text of a refusal
 * @value: its value, for the same
 */
struct bond_change {
	struct bonding *bond;
	const struct bond_mode_ops *ops;
	struct bond_params next;
	struct slave *slave;
	struct bond_slave_params slave_next;
	struct slave *active;
	struct net_device *dev;
	u32 effects;
	u64 touched;
	struct netlink_ext_ack *extack;
	const struct bond_option *opt;
	const struct bond_opt_value *value;
};

/**
 * struct bond_option - one row of the table
 * @name: as sysfs and module parameters name it
 * @alias: (optional) another name of the same option
 * @type: enum bond_opt_type
 * @show: enum bond_opt_show
 * @flags: BOND_OPT_F_*
 * @nl_attr: IFLA_BOND_*, 0 for none; its width is in the netlink policy
 * @need_caps: -EACCES unless the mode has all of these
 * @names: names and range, ended by an entry without a name
 * @offset: of the u32 in struct bond_params, for BOND_OPT_T_NUMBER
 * @effects: BOND_EFFECT_* that always follow
 * @propose: (optional) more checks, and what else changes in change->next;
 *	called after the value has been parsed; a number is already stored in
 *	change->next then.  Must change nothing but *change.
 */
struct bond_option {
	const char *name;
	const char *alias;
	enum bond_opt_type type;
	enum bond_opt_show show;
	u8 flags;
	u8 nl_attr;
	u32 need_caps;
	const struct bond_opt_name *names;
	u16 offset;
	u32 effects;
	int (*propose)(struct bond_change *change,
		       const struct bond_opt_value *value);
};

/**
 * bond_option_get() - a row of the table
 * @id: enum bond_opt_id
 */
const struct bond_option *bond_option_get(enum bond_opt_id id);

/* The row that a name means, NULL for none; and which one a row is. */
const struct bond_option *bond_option_by_name(const char *name);
enum bond_opt_id bond_option_id(const struct bond_option *opt);

/* The name of a number of a row, NULL when it has none. */
const char *bond_option_number_name(const struct bond_option *opt, u32 number);

/* Read, or write, the number of a BOND_OPT_T_NUMBER row. */
u32 bond_option_number(const struct bond_option *opt,
		       const struct bond_params *params);
void bond_option_store(const struct bond_option *opt,
		       struct bond_params *params, u32 number);

/**
 * bond_option_parse() - text or number to a number that the row allows
 * @opt: the row, BOND_OPT_T_NUMBER
 * @value: the value
 * @number: receives the result
 *
 * Context: any; used for module parameters, too.
 * Return: 0 or -EINVAL.
 */
int bond_option_parse(const struct bond_option *opt,
		      const struct bond_opt_value *value, u32 *number);

/**
 * bond_params_default() - the defaults of all options
 * @params: receives them
 */
void bond_params_default(struct bond_params *params);

/**
 * bond_text_word() - the first word of the first line of a text
 * @text: the text
 * @word: receives the word, empty when there is none
 * @size: room in @word; a longer word is cut
 *
 * Context: any.
 * Return: true when there is a word.
 */
bool bond_text_word(const char *text, char *word, size_t size);

/**
 * bond_text_ip4() - an IPv4 address at the start of a text
 * @text: the text; after the address it must end or a blank must follow
 * @addr: receives the address
 *
 * Context: any.
 * Return: true when there is one.
 */
bool bond_text_ip4(const char *text, __be32 *addr);

/**
 * bond_target_add() - one more IPv4 target of the ARP monitor
 * @params: the parameters
 * @addr: its address
 *
 * Context: whoever owns @params.
 * Return: 0; -EINVAL not an address to probe; -EEXIST it is there already;
 * -ENOSPC there is no room.
 */
int bond_target_add(struct bond_params *params, __be32 addr);

/**
 * bond_option_range() - the smallest and the largest number of a row
 * @opt: the row, BOND_OPT_T_NUMBER
 * @low: receives the smallest
 * @high: receives the largest
 */
void bond_option_range(const struct bond_option *opt, u32 *low, u32 *high);

/**
 * bond_refuse() - say why an option is refused
 * @change: the transaction, with the option that is being added
 * @err: the errno to return
 * @fmt: the reason, at most 40 characters, no newline
 *
 * The sentence names option and value.  It goes to the extack, or to the log
 * when there is none.
 *
 * Context: RTNL.
 * Return: @err.
 */
__printf(3, 4)
int bond_refuse(struct bond_change *change, int err, const char *fmt, ...);

/**
 * bond_change_begin() - start a transaction
 * @change: the transaction
 * @bond: the bond
 * @extack: receives the reason of a refusal, may be NULL
 *
 * Context: RTNL until commit.
 */
void bond_change_begin(struct bond_change *change, struct bonding *bond,
		       struct netlink_ext_ack *extack);

/**
 * bond_change_begin_slave() - start a transaction on options of a slave
 * @change: the transaction
 * @slave: the slave
 * @extack: receives the reason of a refusal, may be NULL
 *
 * Context: RTNL until commit.
 */
void bond_change_begin_slave(struct bond_change *change, struct slave *slave,
			     struct netlink_ext_ack *extack);

/**
 * bond_change_add() - check one more option
 * @change: the transaction
 * @id: the option; callers add options in the order of enum bond_opt_id
 * @value: its new value
 *
 * Context: RTNL.
 * Return: 0; -EACCES the mode has no such option; -ENOTEMPTY it has slaves;
 * -EBUSY it is up; -EINVAL bad value; -ENODEV no such device; or an errno of
 * the row.  The bond has not changed; the transaction is spoiled.
 */
int bond_change_add(struct bond_change *change, enum bond_opt_id id,
		    const struct bond_opt_value *value);

/**
 * bond_change_commit() - make a checked transaction true
 * @change: the transaction
 *
 * Context: RTNL, may sleep.
 * Return: 0; -ENOMEM when a new mode could not be set up, or what
 * bond_enslave() or bond_release() returned (then nothing has changed).
 */
int bond_change_commit(struct bond_change *change);

/**
 * bond_option_set() - a transaction of one option
 * @bond: the bond
 * @id: the option
 * @value: its new value
 * @extack: receives the reason of a refusal, may be NULL
 *
 * Context: RTNL, may sleep.
 * Return: as bond_change_add() and bond_change_commit().
 */
int bond_option_set(struct bonding *bond, enum bond_opt_id id,
		    const struct bond_opt_value *value,
		    struct netlink_ext_ack *extack);

/* Defaults of new bonds as the module parameters set them (bond_params.c). */
extern struct bond_params bond_param_defaults;
extern int bond_param_max_bonds;
extern int bond_param_tx_queues;

/**
 * bond_params_load() - check the module parameters and fill the defaults
 *
 * Context: module load.
 * Return: 0 or -EINVAL.
 */
int bond_params_load(void);

#endif /* _BOND_OPTIONS_H */
