/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of the driver, below events/bonding in tracefs.
 *
 * Layer 2.  bond_3ad_why.c makes them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bonding

#if !defined(_BOND_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _BOND_TRACE_H

#include <linux/tracepoint.h>

#include "bond_3ad.h"

/*
 * What keeps a port from sending has changed.  Numbers are those of the enums
 * in bond_3ad.h and of LACP_STATE_*.
 */
TRACE_EVENT(bond_lacp_port,

	TP_PROTO(const struct bond_lacp_port *port, const char *why),

	TP_ARGS(port, why),

	TP_STRUCT__entry(
		__array(char, bond, IFNAMSIZ)
		__array(char, slave, IFNAMSIZ)
		__array(char, why, 24)
		__field(u8, rx)
		__field(u8, mux)
		__field(u8, selected)
		__field(u8, actor)
		__field(u8, partner)
	),

	TP_fast_assign(
		strscpy(__entry->bond, port->slave->bond->dev->name, IFNAMSIZ);
		strscpy(__entry->slave, port->slave->dev->name, IFNAMSIZ);
		strscpy(__entry->why, why, 24);
		__entry->rx = port->rx;
		__entry->mux = port->mux;
		__entry->selected = port->selected;
		__entry->actor = port->actor.state;
		__entry->partner = port->partner.state;
	),

	TP_printk("%s %s: %s rx=%u mux=%u selected=%u actor=0x%x partner=0x%x",
		  __entry->bond, __entry->slave, __entry->why, __entry->rx,
		  __entry->mux, __entry->selected, __entry->actor,
		  __entry->partner)
);

#endif /* _BOND_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE bond_trace
#include <trace/define_trace.h>
