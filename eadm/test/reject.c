// SPDX-License-Identifier: GPL-2.0-or-later
/* Reject reasons of the connection manager of InfiniBand and RoCE. */
#include "reject.h"

#include <stddef.h>
#include <stdio.h>

const char *const no_server = "no server listens at this address and port";

/* Indexed by their numbers in the InfiniBand specification. */
static const char *const names[] = {
	[1] = "no QP available",
	[2] = "no EE context available",
	[3] = "no resources available",
	[4] = "timeout",
	[5] = "unsupported request",
	[6] = "invalid communication ID",
	[7] = "invalid communication instance",
	[8] = "invalid service ID",
	[9] = "invalid transport service type",
	[10] = "stale connection",
	[11] = "RDC does not exist",
	[12] = "primary remote port GID rejected",
	[13] = "primary remote port LID rejected",
	[14] = "invalid primary SL",
	[15] = "invalid primary traffic class",
	[16] = "invalid primary hop limit",
	[17] = "invalid primary packet rate",
	[18] = "alternate remote port GID rejected",
	[19] = "alternate remote port LID rejected",
	[20] = "invalid alternate SL",
	[21] = "invalid alternate traffic class",
	[22] = "invalid alternate hop limit",
	[23] = "invalid alternate packet rate",
	[24] = "port and CM redirection",
	[25] = "port redirection",
	[26] = "invalid path MTU",
	[27] = "insufficient responder resources",
	[28] = "consumer reject",
	[29] = "RNR retry count reject",
	[30] = "duplicate local communication ID",
	[31] = "invalid class version",
	[32] = "invalid flow label",
	[33] = "invalid alternate flow label",
	[35] = "vendor option not supported",
};

const char *reject_text(int reason, char *buf, size_t size)
{
	const char *name = NULL;

	if (reason == REJECT_NO_SERVICE)
		return no_server;
	/* The kernel rejects with the same reason if no listener matches the address. */
	if (reason == REJECT_CONSUMER)
		return "the server refused the connection, or listens on different addresses";
	if (reason > 0 && (size_t)reason < sizeof(names) / sizeof(names[0]))
		name = names[reason];
	if (name)
		snprintf(buf, size, "rejected: %s", name);
	else
		snprintf(buf, size, "rejected: reason %d", reason);
	return buf;
}
