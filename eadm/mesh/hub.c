// SPDX-License-Identifier: GPL-2.0-or-later
#include "hub.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule.h"

/* A step can take three timeouts: for a completion, for an address, for the peer. */
#define SILENT_STEPS 3
/* Lower limit: members send only one message per second, however short a step is. */
#define SILENCE_NS 5000000000

int hub_init(struct hub *hub, const struct start *start, uint64_t wait,
	     uint64_t now)
{
	memset(hub, 0, sizeof(*hub));
	hub->start = *start;
	hub->n = start->ranks;
	hub->wait = wait;
	hub->silence = SILENT_STEPS * start->timeout * 1000000ULL;
	if (hub->silence < SILENCE_NS)
		hub->silence = SILENCE_NS;
	hub->began = now;
	hub->members = calloc(hub->n, sizeof(*hub->members));
	hub->gone = calloc(hub->n, sizeof(*hub->gone));
	if (hub->members && hub->gone)
		return 0;
	hub_free(hub);
	return -ENOMEM;
}

void hub_free(struct hub *hub)
{
	uint32_t i;

	for (i = 0; hub->members && i < hub->n; i++) {
		free(hub->members[i].name);
		free(hub->members[i].why);
	}
	free(hub->members);
	free(hub->gone);
	table_free(&hub->table);
	memset(hub, 0, sizeof(*hub));
}

size_t hub_bytes(const struct hub *hub)
{
	return hub->n * (sizeof(*hub->members) + sizeof(*hub->gone) + MESH_NAME) +
	       table_bytes(&hub->table);
}

/* ---- members ------------------------------------------------------------------------- */

static bool is_loopback(const struct in6_addr *addr)
{
	return IN6_IS_ADDR_LOOPBACK(addr) ||
	       (IN6_IS_ADDR_V4MAPPED(addr) && addr->s6_addr[12] == 127);
}

enum mesh_refusal hub_join(struct hub *hub, const struct hello *hello,
			   const struct in6_addr *local, uint64_t now)
{
	struct hub_member *m;

	if (hello->rank >= hub->n)
		return REFUSED_RANK;
	if (hello->to || hello->ranks != hub->n)
		return REFUSED_RANKS;
	m = &hub->members[hello->rank];
	if (m->state == MEMBER_HERE || m->state == MEMBER_DONE)
		return REFUSED_TWICE;
	if (hub->running || m->state == MEMBER_GONE)
		return REFUSED_LATE;
	m->name = strdup(hello->name);
	m->why = *hello->why ? strdup(hello->why) : NULL;
	if (!m->name)
		return REFUSED_LATE;
	m->addr = hello->addr;
	m->port = hello->port;
	m->rails = hello->rails;
	m->state = MEMBER_HERE;
	m->heard = now;
	hub->n_here++;
	if (!hub->has_self && !is_loopback(local)) {
		hub->has_self = true;
		hub->self = *local;
	}
	return REFUSED_NOTHING;
}

void hub_lose(struct hub *hub, uint32_t rank, enum mesh_cause cause)
{
	struct hub_member *m = &hub->members[rank];

	if (m->state == MEMBER_DONE || m->state == MEMBER_GONE)
		return;
	hub->n_here -= m->state == MEMBER_HERE;
	/* Before the tests begin, the host can join again. */
	if (!hub->running && cause != CAUSE_ABSENT) {
		free(m->name);
		free(m->why);
		*m = (struct hub_member){ .state = MEMBER_ABSENT,
					  .epoch = m->epoch + 1 };
		return;
	}
	m->state = MEMBER_GONE;
	m->gone = cause;
	hub->gone[hub->n_gone++] = rank;
}

/* ---- messages of members ------------------------------------------------------------- */

static int take_results(struct hub *hub, uint32_t rank, const struct frame *frame)
{
	struct edge result;
	size_t at = 0, n;
	int ret;

	while (at < frame->len) {
		n = result_read(frame->data + at, frame->len - at, &result);
		/* A member may report only its own tests. */
		if (!n || (result.from != rank && result.to != rank))
			return -EPROTO;
		ret = table_add(&hub->table, &result);
		if (ret)
			return ret == -EINVAL ? -EPROTO : ret;
		at += n;
	}
	return 0;
}

/*
 * Release a member from waiting for a partner that has already left the round. Two
 * members that wait for each other cannot meet if one of them could not meet its last
 * partners either: release them as well.
 */
static void release(struct hub *hub, uint32_t rank)
{
	struct hub_member *m = &hub->members[rank], *p;
	uint32_t partner;

	if (m->state != MEMBER_HERE || !m->waits)
		return;
	partner = mesh_partner(hub->n, m->round, rank);
	p = &hub->members[partner];
	if (p->round > m->round ||
	    (p->round == m->round && p->waits &&
	     (p->waits == WAIT_ALONE || m->waits == WAIT_ALONE))) {
		m->skip = true;
		m->skipped = partner;
	}
}

/* Record that @rank has reached @round, and release members that wait for it. */
static void advance(struct hub *hub, uint32_t rank, uint32_t round,
		    enum mesh_wait waits)
{
	struct hub_member *m = &hub->members[rank];
	uint32_t left = m->round;

	m->round = round;
	m->waits = waits;
	for (; left < round; left++)
		release(hub, mesh_partner(hub->n, left, rank));
	if (!waits)
		return;
	release(hub, rank);
	release(hub, mesh_partner(hub->n, round, rank));
}

static int take_beat(struct hub *hub, uint32_t rank, const struct frame *frame)
{
	uint32_t round;
	uint8_t waits;

	if (!number_read(frame->data, frame->len, &round, &waits) ||
	    round >= mesh_rounds(hub->n) || round < hub->members[rank].round ||
	    waits >= WAIT_END)
		return -EPROTO;
	advance(hub, rank, round, waits);
	return 0;
}

int hub_take(struct hub *hub, uint32_t rank, const struct frame *frame,
	     uint64_t now)
{
	struct hub_member *m = &hub->members[rank];

	hub->n_received++;
	hub->bytes_received += frame->total;
	m->heard = now;
	if (frame->kind == MESSAGE_BEAT)
		return m->state == MEMBER_HERE ? take_beat(hub, rank, frame) : 0;
	if (!hub->running || m->state != MEMBER_HERE)
		return -EPROTO;
	switch (frame->kind) {
	case MESSAGE_RESULTS:
		return take_results(hub, rank, frame);
	case MESSAGE_DONE:
		m->state = MEMBER_DONE;
		hub->n_here--;
		advance(hub, rank, mesh_rounds(hub->n), WAIT_NOT);
		return 0;
	}
	return -EPROTO;
}

/* ---- timeouts ------------------------------------------------------------------------ */

/* Begin the tests: no further host can join. */
static int begin(struct hub *hub)
{
	uint32_t i, rails = 1;

	hub->running = true;
	for (i = 0; i < hub->n; i++) {
		if (hub->members[i].state == MEMBER_ABSENT)
			hub_lose(hub, i, CAUSE_ABSENT);
		if (hub->members[i].rails > rails)
			rails = hub->members[i].rails;
	}
	return table_init(&hub->table, hub->n, rails, hub->start.all_pairs);
}

uint64_t hub_tick(struct hub *hub, uint64_t now, int *ret)
{
	uint64_t next = UINT64_MAX, limit;
	struct hub_member *m;
	uint32_t i;

	*ret = 0;
	if (!hub->running && hub->n_here < hub->n &&
	    now < hub->began + hub->wait)
		next = hub->began + hub->wait;
	else if (!hub->running)
		*ret = begin(hub);
	for (i = 0; i < hub->n; i++) {
		m = &hub->members[i];
		if (m->state != MEMBER_HERE)
			continue;
		limit = m->heard + hub->silence;
		if (now >= limit)
			hub_lose(hub, i, CAUSE_HUNG);
		else if (limit < next)
			next = limit;
	}
	return next;
}

/* ---- messages for members ------------------------------------------------------------ */

static uint8_t next_roster(struct hub *hub, struct hub_member *m, uint8_t *out,
			   size_t *len)
{
	const struct hub_member *of;
	struct roster entry;
	unsigned int n;

	*len = 0;
	for (n = 0; n < ROSTER_MOST && m->n_roster < hub->n; n++) {
		of = &hub->members[m->n_roster];
		entry = (struct roster){
			.rank = m->n_roster++,
			.rails = of->state == MEMBER_GONE ? 0 : of->rails,
			.port = of->port, .addr = of->addr,
		};
		/* Other hosts cannot use a loopback address of this host. */
		if (hub->has_self && is_loopback(&entry.addr))
			entry.addr = hub->self;
		*len += roster_write(&entry, out + *len);
	}
	return MESSAGE_ROSTER;
}

static uint8_t next_notice(struct hub *hub, struct hub_member *m, uint8_t *out,
			   size_t *len)
{
	uint32_t rank;

	if (m->skip) {
		m->skip = false;
		*len = number_write(m->skipped, 0, out);
		return MESSAGE_SKIPPED;
	}
	if (m->n_gone == hub->n_gone)
		return 0;
	rank = hub->gone[m->n_gone++];
	*len = number_write(rank, hub->members[rank].gone, out);
	return MESSAGE_GONE;
}

uint8_t hub_next(struct hub *hub, uint32_t rank, uint8_t *out, size_t *len)
{
	struct hub_member *m = &hub->members[rank];
	uint8_t kind = 0;

	*len = 0;
	if (m->state == MEMBER_DONE && !m->bid) {
		m->bid = true;
		kind = MESSAGE_BYE;
	} else if (m->state == MEMBER_HERE && hub->running) {
		if (!m->started) {
			m->started = true;
			*len = start_write(&hub->start, out);
			kind = MESSAGE_START;
		} else if (m->n_roster < hub->n) {
			kind = next_roster(hub, m, out, len);
		} else {
			kind = next_notice(hub, m, out, len);
		}
	}
	hub->n_sent += kind != 0;
	return kind;
}

bool hub_is_over(const struct hub *hub)
{
	return hub->running && !hub->n_here;
}

uint32_t hub_round(const struct hub *hub)
{
	uint32_t i, round = mesh_rounds(hub->n);

	for (i = 0; i < hub->n; i++) {
		if (hub->members[i].state == MEMBER_HERE &&
		    hub->members[i].round < round)
			round = hub->members[i].round;
	}
	return round;
}

static int by_name(const void *a, const void *b)
{
	struct hub_member *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static bool add_rank(const struct hub *hub, struct hub_member *m)
{
	char *name;

	if (asprintf(&name, "%s#%u", m->name, (unsigned int)(m - hub->members)) < 0)
		return false;
	free(m->name);
	m->name = name;
	return true;
}

int hub_distinguish(struct hub *hub)
{
	struct hub_member **named = calloc(hub->n, sizeof(*named));
	uint32_t n = 0, i, j, same;
	bool good = named;

	for (i = 0; good && i < hub->n; i++) {
		if (hub->members[i].name)
			named[n++] = &hub->members[i];
	}
	if (good)
		qsort(named, n, sizeof(*named), by_name);
	for (i = 0; good && i < n; i += same) {
		for (same = 1; i + same < n &&
		     !strcmp(named[i]->name, named[i + same]->name);)
			same++;
		for (j = 0; same > 1 && j < same; j++)
			good = add_rank(hub, named[i + j]) && good;
	}
	free(named);
	return good ? 0 : -ENOMEM;
}

/* Add the reasons that hosts without an adapter reported when they joined. */
static void add_reasons(const struct hub *hub, struct faults *faults)
{
	struct fault *fault;
	const char *why;
	uint32_t i;

	for (i = 0; i < faults->n; i++) {
		fault = &faults->list[i];
		if (fault->kind != FAULT_HOST || fault->cause != CAUSE_ADAPTER)
			continue;
		why = hub->members[fault->a[0]].why;
		if (!why || hub->members[fault->a[0]].rails)
			continue;
		fault->a_why = why;
		fault->cause = cause_is_local(cause_of(why)) ? cause_of(why) :
							       CAUSE_ADAPTER;
	}
}

int hub_faults(const struct hub *hub, struct faults *faults)
{
	uint8_t *gone = calloc(hub->n, 1), *rails = calloc(hub->n, 1);
	int ret = -ENOMEM;
	uint32_t i;

	memset(faults, 0, sizeof(*faults));
	for (i = 0; gone && rails && i < hub->n; i++) {
		gone[i] = hub->members[i].gone;
		rails[i] = hub->members[i].rails;
	}
	if (gone && rails)
		ret = faults_find(&hub->table, gone, rails, faults);
	free(gone);
	free(rails);
	if (ret)
		return ret;
	add_reasons(hub, faults);
	ret = faults_join(faults);
	if (ret)
		faults_free(faults);
	return ret;
}
