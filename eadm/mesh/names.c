// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#include <stdio.h>

#define LISTED 8		/* hosts named in a truncated list */

const char *host_name(const struct hub *hub, uint32_t rank)
{
	static char text[32];

	if (hub->members[rank].name && *hub->members[rank].name)
		return hub->members[rank].name;
	snprintf(text, sizeof(text), "rank %u", rank);
	return text;
}

void host_list(const struct hub *hub, const uint32_t *hosts, uint32_t n,
	       bool all, struct buffer *to)
{
	uint32_t i, shown = all || n <= LISTED ? n : LISTED;
	char text[40];

	for (i = 0; i < shown; i++) {
		buffer_puts(to, i ? ", " : "");
		buffer_puts(to, host_name(hub, hosts[i]));
	}
	if (shown == n)
		return;
	snprintf(text, sizeof(text), " and %u more", n - shown);
	buffer_puts(to, text);
}
