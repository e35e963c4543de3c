/* SPDX-License-Identifier: GPL-2.0 */
/*
 * 802.3ad: what a port and an aggregator are, and what the files of this mode
 * have of each other.
 *
 * Clauses are those of IEEE Std 802.1AX-2014.  States, events and variables
 * have the names that they have there.
 *
 * Layer 2.  Everything below struct bond_lacp is guarded by bond_lacp.lock,
 * where nothing else is said: LACPDUs come from softirqs, timers run in one,
 * and RTNL holders bring the rest.  The lock is a leaf but for
 * bond->array_lock: nothing of a slave's device or of the network stack is
 * called under it.
 * Frames are collected in bond_lacp.txq and sent when it is free again.
 */
#ifndef _BOND_3AD_H
#define _BOND_3AD_H

#include <linux/if_ether.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

#include "bond_slaves.h"
#include "bond_slow.h"

/* --- times, 6.4.4; in seconds --- */

#define BOND_LACP_FAST_PERIODIC		1
#define BOND_LACP_SLOW_PERIODIC		30
#define BOND_LACP_SHORT_TIMEOUT		3
#define BOND_LACP_LONG_TIMEOUT		90
#define BOND_LACP_CHURN			60
#define BOND_LACP_AGGREGATE_WAIT	2
#define BOND_LACP_TX_MAX	3	/* LACPDUs in one second, 6.4.16 */
#define BOND_MARKER_MAX		10	/* slow frames in one second, 57A.2 */

/* --- states of the machines --- */

/* Receive machine, 6.4.12 */
enum bond_lacp_rx_state {
	BOND_LACP_INITIALIZE,
	BOND_LACP_PORT_DISABLED,
	BOND_LACP_LACP_DISABLED,
	BOND_LACP_EXPIRED,
	BOND_LACP_DEFAULTED,
	BOND_LACP_CURRENT,
};

/* Periodic Transmission machine, 6.4.13; PERIODIC_TX is left at once */
enum bond_lacp_periodic_state {
	BOND_LACP_NO_PERIODIC,
	BOND_LACP_FAST_PERIODIC_TX,
	BOND_LACP_SLOW_PERIODIC_TX,
	BOND_LACP_PERIODIC_TX,
};

/* Mux machine, 6.4.15, with coupled and with independent control */
enum bond_lacp_mux_state {
	BOND_LACP_DETACHED,
	BOND_LACP_WAITING,
	BOND_LACP_ATTACHED,
	BOND_LACP_COLLECTING,
	BOND_LACP_DISTRIBUTING,
	BOND_LACP_COLLECTING_DISTRIBUTING,
};

/* Churn detection, 6.4.17; the numbers are those of IFLA_BOND_SLAVE_AD_CHURN */
enum bond_lacp_churn_state {
	BOND_LACP_CHURN_MONITOR,
	BOND_LACP_CHURNED,
	BOND_LACP_NO_CHURN,
};

/* The variable Selected, 6.4.8 */
enum bond_lacp_selected {
	BOND_LACP_UNSELECTED,
	BOND_LACP_SELECTED,
	BOND_LACP_STANDBY,
};

/* lacp_fallback: who serves when no partner answers */
enum bond_lacp_fallback {
	BOND_LACP_FALLBACK_NONE,
	BOND_LACP_FALLBACK_SINGLE,
	BOND_LACP_FALLBACK_ACTIVE_BACKUP,
	BOND_LACP_FALLBACK_ALL,
};

/* ad_select: which aggregator is the active one */
enum bond_lacp_select {
	BOND_LACP_SELECT_STABLE,
	BOND_LACP_SELECT_BANDWIDTH,
	BOND_LACP_SELECT_COUNT,
	BOND_LACP_SELECT_PRIO,
};

/* --- the objects --- */

/**
 * struct bond_lacp_timer - a timer of a machine
 * @at: jiffies when it expires
 * @on: it has been started
 */
struct bond_lacp_timer {
	unsigned long at;
	bool on;
};

/**
 * struct bond_lacp_party - parameters of an Actor or a Partner, 6.4.7
 * @sys_prio: system priority, lower is better
 * @system: MAC address that names the system; all zero for nobody
 * @key: operational key
 * @port_prio: port priority, lower is better
 * @port: port number
 * @state: LACP_STATE_*
 */
struct bond_lacp_party {
	u16 sys_prio;
	u8 system[ETH_ALEN];
	u16 key;
	u16 port_prio;
	u16 port;
	u8 state;
};

/**
 * struct bond_lacp_stats - what has been received and sent
 * @count: by BOND_3AD_STAT_*
 */
struct bond_lacp_stats {
	u64 count[BOND_3AD_STAT_PAD];
};

/**
 * struct bond_lacp_agg - an aggregator: each port brings one, any port's may be
 *	used by others
 * @id: number of the port that brought it
 * @key: actor key of its ports
 * @partner: the partner that all of its ports have (port and state not used)
 * @individual: its one port may not be aggregated
 */
struct bond_lacp_agg {
	u16 id;
	u16 key;
	struct bond_lacp_party partner;
	bool individual;
};

/**
 * struct bond_lacp_port - a slave as a port; slave->mode_priv
 * @slave: the slave, NULL when it has left
 * @lacp: the bond's part
 * @node: in bond_lacp.ports
 * @own: the aggregator that it brought
 * @agg: the one that it uses, NULL before the bond was first up
 * @actor: operational parameters of this end
 * @partner: those of the other end
 * @select_key: key that it had when it selected @agg
 * @speed: Mbit/s, 0 when not known
 * @enabled: port_enabled
 * @since: jiffies when @enabled became true
 * @lacp_enabled: LACP_Enabled: full duplex
 * @moved: port_moved
 * @ntt: an LACPDU has to be sent
 * @rx: state of the receive machine
 * @periodic: of the periodic transmission machine
 * @mux: of the mux machine
 * @churn_actor: of the actor churn machine
 * @churn_partner: of the partner churn machine
 * @selected: the variable Selected
 * @current_while: of the receive machine
 * @periodic_timer: of the periodic transmission machine
 * @wait_while: of the mux machine
 * @actor_churn_timer: of the actor churn machine
 * @partner_churn_timer: of the partner churn machine
 * @actor_churned: times that it was found to churn
 * @partner_churned: times that its partner was
 * @sent: when the last LACPDUs were sent
 * @sent_cnt: how many of @sent are set
 * @sent_next: the oldest one of @sent
 * @marker_since: start of the second in which @marker_cnt markers were answered
 * @marker_cnt: see there
 * @tx_on: frames may be sent by it; READ_ONCE() without the lock
 * @rx_on: frames that come by it are the bond's
 * @why: BOND_LACP_WHY_*, what keeps it from sending
 * @stats: what it has received and sent
 * @rcu: frees it
 */
struct bond_lacp_port {
	struct slave *slave;
	struct bond_lacp *lacp;
	struct list_head node;
	struct bond_lacp_agg own;
	struct bond_lacp_agg *agg;
	struct bond_lacp_party actor;
	struct bond_lacp_party partner;
	u16 select_key;
	u32 speed;
	bool enabled;
	unsigned long since;
	bool lacp_enabled;
	bool moved;
	bool ntt;
	enum bond_lacp_rx_state rx;
	enum bond_lacp_periodic_state periodic;
	enum bond_lacp_mux_state mux;
	enum bond_lacp_churn_state churn_actor;
	enum bond_lacp_churn_state churn_partner;
	enum bond_lacp_selected selected;
	struct bond_lacp_timer current_while;
	struct bond_lacp_timer periodic_timer;
	struct bond_lacp_timer wait_while;
	struct bond_lacp_timer actor_churn_timer;
	struct bond_lacp_timer partner_churn_timer;
	u16 actor_churned;
	u16 partner_churned;
	unsigned long sent[BOND_LACP_TX_MAX];
	u8 sent_cnt;
	u8 sent_next;
	unsigned long marker_since;
	u8 marker_cnt;
	bool tx_on;
	bool rx_on;
	u8 why;
	struct bond_lacp_stats stats;
	struct rcu_head rcu;
};

/**
 * struct bond_lacp - a bond as a system; bond->mode_priv
 * @lock: guards all of it, its ports and aggregators
 * @bond: the bond
 * @timer: expires when the first timer of any machine does
 * @txq: frames to send, in order
 * @sending: bit 0: somebody is sending them
 * @ports: struct bond_lacp_port in the order of bond->slaves
 * @active: the aggregator that is the bond's, NULL when there is none
 * @now: jiffies for all that happens under one hold of the lock
 * @again: the machines have not come to rest
 * @running: the bond is up
 * @coupled: coupled_control
 * @active_mode: lacp_active
 * @fast: lacp_rate
 * @select: ad_select
 * @fallback: lacp_fallback
 * @fallback_after: lacp_fallback_timeout, in jiffies
 * @stats: sums over all ports there have been
 * @rcu: frees it
 */
struct bond_lacp {
	spinlock_t lock;	/* guards all of it, ports and aggregators */
	struct bonding *bond;
	struct timer_list timer;
	struct sk_buff_head txq;
	unsigned long sending;
	struct list_head ports;
	struct bond_lacp_agg *active;
	unsigned long now;
	bool again;
	bool running;
	bool coupled;
	bool active_mode;
	bool fast;
	enum bond_lacp_select select;
	enum bond_lacp_fallback fallback;
	unsigned long fallback_after;
	struct bond_lacp_stats stats;
	struct rcu_head rcu;
};

/* --- small services --- */

#define bond_lacp_for_each(lacp, port) \
	list_for_each_entry(port, &(lacp)->ports, node)

static inline struct bond_lacp *bond_lacp_of(const struct bonding *bond)
{
	return READ_ONCE(bond->mode_priv);
}

static inline struct bond_lacp_port *
bond_lacp_port_of(const struct slave *slave)
{
	return READ_ONCE(slave->mode_priv);
}

/* Start a timer, or start it anew. */
static inline void bond_lacp_timer_start(const struct bond_lacp_port *port,
					 struct bond_lacp_timer *timer,
					 unsigned int seconds)
{
	timer->at = port->lacp->now + seconds * HZ;
	timer->on = true;
}

static inline void bond_lacp_timer_stop(struct bond_lacp_timer *timer)
{
	timer->on = false;
}

/* Has it been started, and is its time over? */
static inline bool bond_lacp_timer_expired(const struct bond_lacp_port *port,
					   const struct bond_lacp_timer *timer)
{
	return timer->on && time_after_eq(port->lacp->now, timer->at);
}

/* Is there somebody at the other end who speaks LACP? */
static inline bool bond_lacp_party_known(const struct bond_lacp_party *party)
{
	return !is_zero_ether_addr(party->system);
}

static inline bool bond_lacp_is(const struct bond_lacp_party *party, u8 state)
{
	return party->state & state;
}

static inline void bond_lacp_count(struct bond_lacp_port *port,
				   unsigned int what)
{
	port->stats.count[what]++;
	port->lacp->stats.count[what]++;
}

/* --- bond_3ad_machines.c --- */

/**
 * bond_lacp_port_init() - a port that has just come
 * @port: the port, zeroed but for its links to others
 *
 * Context: bond_lacp.lock.
 */
void bond_lacp_port_init(struct bond_lacp_port *port);

/**
 * bond_lacp_machines_run() - run all machines until none has more to do
 * @lacp: the bond
 *
 * Frames to send are in bond_lacp.txq afterwards; bond_lacp_port.tx_on and
 * rx_on are what the machines want, and a port that may not send any more is
 * out of bond->usable.
 *
 * Context: bond_lacp.lock.
 * Return: true when RTNL holders have to take something over.
 */
bool bond_lacp_machines_run(struct bond_lacp *lacp);

/**
 * bond_lacp_machines_next() - when the machines have to be run again
 * @lacp: the bond
 * @next: receives jiffies
 *
 * Context: bond_lacp.lock.
 * Return: false when no timer is running.
 */
bool bond_lacp_machines_next(const struct bond_lacp *lacp, unsigned long *next);

/**
 * bond_lacp_pdu_received() - the receive machine's event of that name
 * @port: the port
 * @pdu: a well-formed LACPDU
 *
 * Context: bond_lacp.lock.
 */
void bond_lacp_pdu_received(struct bond_lacp_port *port,
			    const struct bond_lacpdu *pdu);

/**
 * bond_lacp_port_farewell() - tell the partner that a port is leaving
 * @port: the port
 * @aggregation: it could still be aggregated
 *
 * The LACPDU goes to bond_lacp.txq.
 *
 * Context: bond_lacp.lock.
 */
void bond_lacp_port_farewell(struct bond_lacp_port *port, bool aggregation);

/* --- bond_3ad_select.c --- */

/**
 * bond_lacp_agg_select() - the selection logic for one port, 6.4.14
 * @port: a port that is UNSELECTED and DETACHED
 *
 * Context: bond_lacp.lock.
 */
void bond_lacp_agg_select(struct bond_lacp_port *port);

/**
 * bond_lacp_agg_leave() - a port leaves its bond
 * @port: the port
 *
 * Others that use the aggregator it brought go on with one of their own.
 *
 * Context: bond_lacp.lock; the port is still in bond_lacp.ports.
 */
void bond_lacp_agg_leave(struct bond_lacp_port *port);

/**
 * bond_lacp_active_choose() - which aggregator is the bond's
 * @lacp: the bond
 *
 * Its ports become SELECTED, all others STANDBY.
 *
 * Context: bond_lacp.lock.
 * Return: true when it is another one than before.
 */
bool bond_lacp_active_choose(struct bond_lacp *lacp);

/**
 * bond_lacp_agg_ports() - how many ports of an aggregator have a link
 * @lacp: the bond
 * @agg: the aggregator
 * @need: of these, only those with all of these LACP_STATE_* bits
 *
 * Context: bond_lacp.lock.
 */
unsigned int bond_lacp_agg_ports(const struct bond_lacp *lacp,
				 const struct bond_lacp_agg *agg, u8 need);

/**
 * bond_lacp_fallback_on() - does a port serve though no partner answers?
 * @port: the port
 *
 * Context: bond_lacp.lock.
 */
bool bond_lacp_fallback_on(const struct bond_lacp_port *port);

/**
 * bond_lacp_fallback_at() - when a port without a partner may serve
 * @port: the port
 *
 * Context: bond_lacp.lock.
 * Return: jiffies, may be past.
 */
static inline unsigned long
bond_lacp_fallback_at(const struct bond_lacp_port *port)
{
	return port->since + port->lacp->fallback_after;
}

/**
 * bond_lacp_key() - the operational key of a port
 * @user: ad_user_port_key
 * @speed: Mbit/s, 0 when not known or the link is down
 * @full: full duplex
 *
 * Return: from bit 6 on the user's number, from bit 1 on a number for the
 * speed, bit 0 for full duplex.
 */
u16 bond_lacp_key(u16 user, u32 speed, bool full);

/* --- bond_3ad_pdu.c --- */

/**
 * bond_lacp_pdu_queue() - build an LACPDU and put it to those to be sent
 * @port: the port
 *
 * Context: bond_lacp.lock.
 * Return: false when there is no memory.
 */
bool bond_lacp_pdu_queue(struct bond_lacp_port *port);

/**
 * bond_lacp_party_of() - what an information TLV says
 * @tlv: the TLV
 * @party: receives it
 */
void bond_lacp_party_of(const struct bond_lacp_tlv *tlv,
			struct bond_lacp_party *party);

/**
 * bond_lacp_rx() - look at a frame that a slave has received
 * @bond: the bond
 * @slave: the slave
 * @skb: the frame
 *
 * Context: RCU, packet path.
 * Return: true when it was an LACPDU or a marker and has been consumed.
 */
bool bond_lacp_rx(struct bonding *bond, struct slave *slave,
		  struct sk_buff *skb);

/* --- bond_3ad.c --- */

/**
 * bond_lacp_lock() - begin to change something
 * @lacp: the bond
 *
 * Context: any but hard interrupts.
 */
void bond_lacp_lock(struct bond_lacp *lacp);

/**
 * bond_lacp_unlock() - work off what has been changed
 * @lacp: the bond
 *
 * Runs the machines, sends what they want to be sent when the lock is free, and
 * sees to it that RTNL holders take over the rest.
 *
 * Context: as bond_lacp_lock().
 */
void bond_lacp_unlock(struct bond_lacp *lacp);

/* --- bond_3ad_why.c --- */

/* What keeps a port from sending, or what lets it; in the order of the words */
enum bond_lacp_why {
	BOND_LACP_WHY_BOND_DOWN,
	BOND_LACP_WHY_NO_LINK,
	BOND_LACP_WHY_FALLBACK,
	BOND_LACP_WHY_AGGREGATED,
	BOND_LACP_WHY_HALF_DUPLEX,
	BOND_LACP_WHY_NO_PARTNER,
	BOND_LACP_WHY_EXPIRED,
	BOND_LACP_WHY_CHURNED,
	BOND_LACP_WHY_INDIVIDUAL,
	BOND_LACP_WHY_OTHER_PARTNER,
	BOND_LACP_WHY_KEY_MISMATCH,
	BOND_LACP_WHY_STANDBY,
	BOND_LACP_WHY_WAITING,
	BOND_LACP_WHY_NOT_IN_SYNC,
	BOND_LACP_WHY_NOT_COLLECTING,
	BOND_LACP_WHY_MAX,
};

/**
 * bond_lacp_why_update() - find out what keeps a port from sending
 * @port: the port
 *
 * Traces it when it has changed.
 *
 * Context: bond_lacp.lock.
 */
void bond_lacp_why_update(struct bond_lacp_port *port);

/* The hook of that name of struct bond_mode_ops. */
const char *bond_lacp_port_reason(const struct slave *slave);

/* --- bond_3ad_xmit.c: the hooks of that name of struct bond_mode_ops --- */

bond_pick_fn *bond_lacp_pick_now(const struct bonding *bond);
netdev_tx_t bond_lacp_xmit(struct bonding *bond, struct sk_buff *skb);

/* --- bond_3ad_show.c: the hooks of that name of struct bond_mode_ops --- */

void bond_lacp_proc_show(struct seq_file *seq, const struct bonding *bond);
void bond_lacp_proc_show_slave(struct seq_file *seq, const struct slave *slave);
bool bond_lacp_ad_info(const struct bonding *bond, struct ad_info *info);
bool bond_lacp_ad_port(const struct slave *slave, struct bond_ad_port *port);
int bond_lacp_fill_info(struct sk_buff *skb, const struct bonding *bond);
int bond_lacp_fill_slave_info(struct sk_buff *skb, const struct slave *slave);
size_t bond_lacp_info_size(const struct bonding *bond);
size_t bond_lacp_slave_info_size(const struct slave *slave);
int bond_lacp_fill_xstats(struct sk_buff *skb, const struct bonding *bond,
			  const struct slave *slave);
size_t bond_lacp_xstats_size(const struct bonding *bond);

#endif /* _BOND_3AD_H */
