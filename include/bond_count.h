/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is counted on the packet path, apart from what slaves' devices count.
 *
 * Layer 0.  One set of counters on each CPU, touched by that CPU alone with BH
 * off; readers add them up.
 */
#ifndef _BOND_COUNT_H
#define _BOND_COUNT_H

#include <linux/types.h>

/**
 * enum bond_drop - why a frame that a bond was given went nowhere
 * @BOND_DROP_NO_SLAVE: no slave was able to send
 * @BOND_DROP_CLONE: no memory for a copy (broadcast)
 * @BOND_DROP_RX_INACTIVE: received on an inactive slave, not for us
 * @BOND_DROP_XDP_NO_SLAVE: no slave was able to send, and it was an XDP frame
 * @BOND_DROP_MAX: number of reasons
 */
enum bond_drop {
	BOND_DROP_NO_SLAVE,
	BOND_DROP_CLONE,
	BOND_DROP_RX_INACTIVE,
	BOND_DROP_XDP_NO_SLAVE,
	BOND_DROP_MAX,
};

/**
 * struct bond_pcpu - counters of one bond on one CPU
 * @drop: frames dropped, by enum bond_drop
 */
struct bond_pcpu {
	u64 drop[BOND_DROP_MAX];
};

/**
 * enum bond_xdp_count - what is counted of XDP frames, slave by slave
 * @BOND_XDP_TX: XDP_TX that this slave was chosen for
 * @BOND_XDP_REDIRECT: redirected to the bond, and taken by this slave
 * @BOND_XDP_DROP: redirected to the bond, and not taken by this slave
 * @BOND_XDP_ERROR: bulks that this slave refused as a whole, with an errno
 * @BOND_XDP_MAX: number of them
 */
enum bond_xdp_count {
	BOND_XDP_TX,
	BOND_XDP_REDIRECT,
	BOND_XDP_DROP,
	BOND_XDP_ERROR,
	BOND_XDP_MAX,
};

/**
 * struct bond_slave_pcpu - counters of one slave on one CPU
 * @xdp: XDP frames, by enum bond_xdp_count
 */
struct bond_slave_pcpu {
	u64 xdp[BOND_XDP_MAX];
};

#endif /* _BOND_COUNT_H */
