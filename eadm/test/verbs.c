// SPDX-License-Identifier: GPL-2.0-or-later
#include "verbs.h"

LATE_OPENER(verbs, VERBS_FUNCTIONS, "libibverbs.so.1", "suggested",
	    "test RDMA between two machines");
