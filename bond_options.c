// SPDX-License-Identifier: GPL-2.0
/*
 * The gate that every setting goes through, whichever surface it comes from:
 * from text or a number to a value that the row allows, after a look at the
 * mode and at the state of the bond.  Collects what was let through in a struct
 * bond_change; nothing of the bond changes here.
 *
 * Called by the surfaces and, for parsing alone, at module load.  RTNL from
 * bond_change_begin() on; a transaction belongs to its caller.
 */
#include <linux/ctype.h>
#include <linux/inet.h>
#include <linux/kstrtox.h>

#include "bond_option_set.h"

#define BOND_WORD_MAX	33	/* longer than any name of a number */
#define BOND_REFUSE_MAX	70	/* what the shortest extack has room for */

/* --- text --- */

bool bond_text_word(const char *text, char *word, size_t size)
{
	size_t len;

	while (isspace(*text) && *text != '\n')
		text++;
	for (len = 0; text[len] && !isspace(text[len]); len++)
		if (len < size - 1)
			word[len] = text[len];
	word[min(len, size - 1)] = '\0';
	return len;
}

bool bond_text_ip4(const char *text, __be32 *addr)
{
	const char *end;

	if (!in4_pton(text, -1, (u8 *)addr, -1, &end))
		return false;
	return !*end || isspace(*end);
}

/* Digits and blanks only, in the first line. */
static bool bond_text_is_number(const char *text)
{
	bool digit = false;

	for (; *text && *text != '\n'; text++) {
		if (isdigit(*text))
			digit = true;
		else if (!isspace(*text))
			return false;
	}
	return digit;
}

static int bond_parse_name(const struct bond_option *opt, const char *word,
			   u32 *number)
{
	const struct bond_opt_name *entry;
	bool want_default = !strcmp(word, "default");

	for (entry = opt->names; entry->name; entry++)
		if (!strcmp(entry->name, word) ||
		    (want_default && entry->flags & BOND_OPT_N_DEFAULT)) {
			*number = entry->number;
			return 0;
		}
	return -EINVAL;
}

/* A row without an end of its range takes the numbers that it names. */
static bool bond_number_allowed(const struct bond_option *opt, u64 number)
{
	const struct bond_opt_name *entry;
	bool ranged = false;
	u32 low, high;

	for (entry = opt->names; entry->name; entry++) {
		if (entry->number == number)
			return true;
		if (entry->flags & BOND_OPT_N_MAX)
			ranged = true;
	}
	bond_option_range(opt, &low, &high);
	return ranged && number >= low && number <= high;
}

int bond_option_parse(const struct bond_option *opt,
		      const struct bond_opt_value *value, u32 *number)
{
	u64 parsed = value->number;
	char word[BOND_WORD_MAX];

	if (value->text) {
		bond_text_word(value->text, word, sizeof(word));
		if (!bond_text_is_number(value->text))
			return bond_parse_name(opt, word, number);
		if (kstrtou64(word, 10, &parsed))
			return -EINVAL;
	}
	if (!bond_number_allowed(opt, parsed))
		return -EINVAL;
	*number = parsed;
	return 0;
}

/* --- refusing --- */

/* The value, after a blank; nothing when it would be unreadable. */
static void bond_value_print(const struct bond_change *change, char *buf,
			     size_t size)
{
	const struct bond_opt_value *value = change->value;

	buf[0] = '\0';
	if (value->text)
		snprintf(buf, size, " '%.*s'",
			 (int)min_t(size_t, strcspn(value->text, "\n"), 32),
			 value->text);
	else if (!value->data)
		snprintf(buf, size, " %s%lld",
			 change->opt->type == BOND_OPT_T_DEV ? "ifindex " : "",
			 (long long)value->number);
	else if (value->len == ETH_ALEN)
		snprintf(buf, size, " %pM", value->data);
}

int bond_refuse(struct bond_change *change, int err, const char *fmt, ...)
{
	char value[40];
	char text[128];
	va_list args;
	int len;

	bond_value_print(change, value, sizeof(value));
	len = scnprintf(text, sizeof(text), "%s%s: ", change->opt->name, value);
	va_start(args, fmt);
	vscnprintf(text + len, sizeof(text) - len, fmt, args);
	va_end(args);
	if (change->extack)
		bond_extack(change->extack, "%.*s", BOND_REFUSE_MAX, text);
	else
		bond_info(change->bond, "%s\n", text);
	return err;
}

static int bond_refuse_range(struct bond_change *change)
{
	u32 low, high;

	bond_option_range(change->opt, &low, &high);
	return bond_refuse(change, -EINVAL, "allowed are %u..%u%s", low, high,
			   change->opt->show == BOND_OPT_SHOW_NAME ?
			   " or a name of these" : "");
}

/* --- the transaction --- */

void bond_change_begin(struct bond_change *change, struct bonding *bond,
		       struct netlink_ext_ack *extack)
{
	ASSERT_RTNL();
	memset(change, 0, sizeof(*change));
	change->bond = bond;
	change->ops = bond->ops;
	change->next = bond->params;
	change->extack = extack;
}

void bond_change_begin_slave(struct bond_change *change, struct slave *slave,
			     struct netlink_ext_ack *extack)
{
	bond_change_begin(change, slave->bond, extack);
	bond_change_slave(change, slave);
}

void bond_change_slave(struct bond_change *change, struct slave *slave)
{
	change->slave = slave;
	change->slave_next.prio = slave->prio;
	change->slave_next.queue_id = slave->queue_id;
	change->slave_next.actor_port_prio = slave->actor_port_prio;
}

static int bond_change_possible(struct bond_change *change)
{
	const struct bond_option *opt = change->opt;

	if ((change->ops->caps & opt->need_caps) != opt->need_caps)
		return bond_refuse(change, -EACCES, "not an option of mode %s",
				   change->ops->name);
	if (opt->flags & BOND_OPT_F_NOSLAVES && bond_has_slaves(change->bond))
		return bond_refuse(change, -ENOTEMPTY, "the bond has slaves");
	if (opt->flags & BOND_OPT_F_DOWN && change->bond->dev->flags & IFF_UP)
		return bond_refuse(change, -EBUSY, "the bond is up");
	return 0;
}

static int bond_change_number(struct bond_change *change)
{
	u32 number;

	if (bond_option_parse(change->opt, change->value, &number))
		return bond_refuse_range(change);
	bond_option_store(change->opt, &change->next, number);
	return 0;
}

int bond_change_add(struct bond_change *change, enum bond_opt_id id,
		    const struct bond_opt_value *value)
{
	const struct bond_option *opt = bond_option_get(id);
	int err;

	change->opt = opt;
	change->value = value;
	err = bond_change_possible(change);
	if (!err && opt->type == BOND_OPT_T_NUMBER)
		err = bond_change_number(change);
	if (!err && opt->propose)
		err = opt->propose(change, value);
	if (err)
		return err;
	change->effects |= opt->effects;
	change->touched |= BIT_ULL(id);
	return 0;
}

int bond_option_set(struct bonding *bond, enum bond_opt_id id,
		    const struct bond_opt_value *value,
		    struct netlink_ext_ack *extack)
{
	struct bond_change change;
	int err;

	bond_change_begin(&change, bond, extack);
	err = bond_change_add(&change, id, value);
	if (err)
		return err;
	return bond_change_commit(&change);
}
