// SPDX-License-Identifier: GPL-2.0-or-later
/* State of a link. */
#include <string.h>

#include "link.h"

unsigned int soft_link_slots(const struct soft_link *link)
{
	return WIRE_WINDOW - link->asked;
}

void soft_link_asked(struct soft_link *link)
{
	link->asked++;
}

bool soft_link_answered(struct soft_link *link)
{
	struct soft_qp *next = TAILQ_FIRST(&link->blocked);

	if (!link->asked)
		return false;
	link->asked--;
	if (next)
		soft_qp_schedule(next);
	return true;
}

bool soft_link_has_gid(const struct soft_link *link, uint32_t number,
		       const union ibv_gid *gid)
{
	unsigned int i;

	for (i = 0; i < link->n_gids; i++)
		if (link->gids[i].port == number &&
		    !memcmp(&link->gids[i].gid, gid, sizeof(*gid)))
			return true;
	return false;
}

struct soft_link *soft_find_link(struct soft *soft, const union ibv_gid *gid)
{
	struct soft_link *link;
	unsigned int i;

	if (!soft->links)
		return NULL;
	TAILQ_FOREACH(link, &soft->links->links, entry)
		for (i = 0; i < link->n_gids; i++)
			if (!memcmp(&link->gids[i].gid, gid, sizeof(*gid)))
				return link;
	return NULL;
}
