// SPDX-License-Identifier: GPL-2.0-or-later
#include "cm.h"

LATE_OPENER(cm, CM_FUNCTIONS, "librdmacm.so.1", "suggested",
	    "test connections between two machines");
