// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Address handles. Guests do not have them: each datagram contains its address. Creating
 * a handle may require neighbour discovery by the host, so it is a job; existing handles
 * are cached.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

/* Delay before retrying a handle that could not be created. */
#define AGAIN_NS 1000000000u

static bool same(const struct ibv_ah_attr *a, const struct ibv_ah_attr *b)
{
	return !memcmp(&a->grh.dgid, &b->grh.dgid, sizeof(a->grh.dgid)) && a->sl == b->sl &&
	       a->grh.flow_label == b->grh.flow_label && a->grh.hop_limit == b->grh.hop_limit &&
	       a->grh.sgid_index == b->grh.sgid_index &&
	       a->grh.traffic_class == b->grh.traffic_class;
}

static void destroy(struct verbs_ah *ah)
{
	struct verbs_port *port = ah->pd->port;

	TAILQ_REMOVE(&port->ahs, ah, link);
	port->n_ahs--;
	if (ah->ah)
		ibv_destroy_ah(ah->ah);
	verbs_pd_put(ah->pd);
	free(ah);
}

static bool needed(const struct verbs_ah *ah)
{
	return ah->users || ah->busy;
}

void verbs_ah_put(struct verbs_ah *ah)
{
	if (!ah)
		return;
	ah->users--;
	if (!needed(ah) && ah->pd->gone)
		destroy(ah);
}

void verbs_ah_drop(struct verbs_port *port, const struct verbs_pd *pd)
{
	struct verbs_ah *ah, *next;

	for (ah = TAILQ_FIRST(&port->ahs); ah; ah = next) {
		next = TAILQ_NEXT(ah, link);
		if (pd && ah->pd != pd)
			continue;
		/* Each resolution of an unreachable destination takes seconds. */
		if (ah->busy && !ah->users && worker_cancel(&port->worker, &ah->job))
			ah->busy = false;
		if (!needed(ah))
			destroy(ah);
	}
}

/* Job: creates an address handle. */
static void make(struct job *job)
{
	struct verbs_ah *ah = (struct verbs_ah *)(void *)job;

	ah->ah = ibv_create_ah(ah->device_pd, &ah->attr);
}

static void made(struct job *job)
{
	struct verbs_ah *ah = (struct verbs_ah *)(void *)job;

	ah->busy = false;
	ah->made = ah->pd->port->verbs->now;
	if (!ah->ah)
		verbs_log(ah->pd->port, "the destination of a datagram was not found");
	if (!needed(ah) && ah->pd->gone)
		destroy(ah);
}

/*
 * A handle expires, because only a new address resolution detects changes at the other
 * end.
 */
static bool stale(const struct verbs_ah *ah)
{
	uint64_t age = ah->pd->port->verbs->now - ah->made;

	return !needed(ah) && age > (ah->ah ? VERBS_AH_NS : AGAIN_NS);
}

static bool make_room(struct verbs_port *port)
{
	struct verbs_ah *ah;

	if (port->n_ahs < VERBS_AHS)
		return true;
	TAILQ_FOREACH(ah, &port->ahs, link) {
		if (needed(ah))
			continue;
		destroy(ah);
		return true;
	}
	return false;
}

static struct verbs_ah *find(struct verbs_pd *pd, const struct ibv_ah_attr *attr)
{
	struct verbs_ah *ah;

	TAILQ_FOREACH(ah, &pd->port->ahs, link)
		if (ah->pd == pd && same(&ah->key, attr))
			return ah;
	return NULL;
}

struct verbs_ah *verbs_ah_get(struct verbs_pd *pd, const struct ibv_ah_attr *attr)
{
	struct verbs_port *port = pd->port;
	struct verbs_ah *ah = find(pd, attr);

	if (ah && stale(ah)) {
		destroy(ah);
		ah = NULL;
	}
	if (ah) {
		ah->users++;
		return ah;
	}
	ah = make_room(port) ? calloc(1, sizeof(*ah)) : NULL;
	if (!ah)
		return NULL;
	ah->pd = pd;
	ah->device_pd = pd->pd;
	ah->key = *attr;
	ah->users = 1;
	ah->made = port->verbs->now;
	pd->users++;
	port->n_ahs++;
	TAILQ_INSERT_TAIL(&port->ahs, ah, link);
	if (verbs_address(port, attr, &ah->attr))
		return ah;
	ah->busy = true;
	ah->job.run = make;
	ah->job.done = made;
	worker_submit(&port->worker, &ah->job);
	return ah;
}
