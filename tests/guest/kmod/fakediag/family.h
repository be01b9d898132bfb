/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose driver tests/guest/kmod/fakediag acts for, and what only its rows have. */
#define FAKE_FAMILY "erdma"
#define FAKE_CQE_SIZE 32

#define fake_ring_index erdma_ring_index
#define fake_ring_index_bits erdma_ring_index_bits

#include "erdma_classes.h"
#include "erdma_snap.h"

static inline void fake_qp_own(struct eadm_snap_qp_erdma *own)
{
	SNAP_SET(own, cookie, 0x1234);
}
