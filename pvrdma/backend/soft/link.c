// SPDX-License-Identifier: GPL-2.0-or-later
/* State of a link. */
#include <errno.h>
#include <stdlib.h>
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

static struct link_gids *list_of(struct soft_links *links, const union ibv_gid *gid)
{
	uint64_t hash = gid->global.subnet_prefix * links->hash[0] +
			gid->global.interface_id * links->hash[1];

	return &links->gids[hash >> (64 - LINK_GID_BITS)];
}

static struct link_gid *first(struct soft_links *links, const union ibv_gid *gid)
{
	struct link_gid *found;

	TAILQ_FOREACH(found, list_of(links, gid), entry)
		if (!memcmp(&found->gid, gid, sizeof(*gid)))
			return found;
	return NULL;
}

struct link_gid *link_find_gid(struct soft_links *links, const struct soft_link *link,
			       const union ibv_gid *gid, uint32_t port)
{
	struct link_gid *found;

	TAILQ_FOREACH(found, list_of(links, gid), entry)
		if (found->link == link && found->port == port &&
		    !memcmp(&found->gid, gid, sizeof(*gid)))
			return found;
	return NULL;
}

int link_add_gid(struct soft_links *links, struct soft_link *link, const union ibv_gid *gid,
		 uint32_t port)
{
	struct link_gid *added;

	if (link->n_gids == LINK_MAX_GIDS)
		return -EPROTO;
	added = malloc(sizeof(*added));
	if (!added)
		return -ENOMEM;
	*added = (struct link_gid){ .link = link, .gid = *gid, .port = port };
	TAILQ_INSERT_TAIL(list_of(links, gid), added, entry);
	LIST_INSERT_HEAD(&link->gids, added, of_link);
	link->n_gids++;
	return 0;
}

void link_del_gid(struct soft_links *links, struct link_gid *gid)
{
	TAILQ_REMOVE(list_of(links, &gid->gid), gid, entry);
	LIST_REMOVE(gid, of_link);
	gid->link->n_gids--;
	free(gid);
}

struct soft_link *soft_find_link(struct soft *soft, const union ibv_gid *gid)
{
	const struct link_gid *found = soft->links ? first(soft->links, gid) : NULL;

	return found ? found->link : NULL;
}

bool soft_link_has_gid(struct soft *soft, const struct soft_link *link, uint32_t number,
		       const union ibv_gid *gid)
{
	const struct link_gid *found = soft_find_port(soft, gid) ? NULL : first(soft->links, gid);

	return found && found->link == link && found->port == number;
}
