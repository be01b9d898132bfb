// SPDX-License-Identifier: GPL-2.0-or-later
#include "seal.h"

LATE_OPENER(nettle, NETTLE_FUNCTIONS, "libnettle.so.8", "suggested",
	    "test all pairs of machines");
