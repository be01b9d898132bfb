/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose driver tests/vm/kmod/fakediag acts for, and what only its rows have. */
#define FAKE_FAMILY "zenith"
#define FAKE_CQE_SIZE 48

#define fake_ring_index zenith_ring_index
#define fake_ring_index_bits zenith_ring_index_bits

#include "zenith_classes.h"
#include "zenith_snap.h"

static inline void fake_qp_own(struct eadm_snap_qp_zenith *own)
{
	SNAP_SET(own, order, EADM_ZENITH_ORDER_SCATTERED);
}
