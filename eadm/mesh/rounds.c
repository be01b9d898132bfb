// SPDX-License-Identifier: GPL-2.0-or-later
/* The rounds of a member: with each partner, the tests of all pairs of adapters. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "member.h"
#include "pair.h"
#include "schedule.h"

#define PUMP_MS 200
/* A step can wait for a completion, for an address and for the other end. */
#define PATIENCE 6
/* Attempts to connect to a partner, which closes a connection if the hello is late. */
#define CALLS 3

/* The tests with one partner. */
struct meeting {
	struct member *m;
	uint32_t partner;
	bool first;		/* this host connects and reports */
	bool began;		/* the partner has sent a view */
	unsigned int calls;
	struct channel ch;
	struct view theirs;	/* received early if @early is 1 */
	int early;		/* 1: received; 0: not yet; negative: an errno */
	char why[MESH_WHY];
};

static uint64_t patience(const struct meeting *meeting)
{
	return monotonic_ns() +
	       PATIENCE * meeting->m->start.timeout * 1000000ULL;
}

/* Returns true if rank 0 has reported that the partner will not connect. */
static bool is_over(const struct meeting *meeting)
{
	const struct member *m = meeting->m;

	return m->gone[meeting->partner] ||
	       (!meeting->began && m->skipped == meeting->partner);
}

static int break_off(struct meeting *meeting, const char *what, int error)
{
	snprintf(meeting->why, sizeof(meeting->why), "%s: %s", what,
		 error == -EPIPE ? "the peer closed the connection" : strerror(-error));
	return -1;
}

/* ---- the connection ------------------------------------------------------------------ */

static int greet(struct meeting *meeting, const struct hello *hello)
{
	struct member *m = meeting->m;
	uint64_t until = patience(meeting);
	int ret = 0;

	while (!ret) {
		if (member_pump(m, &meeting->ch, POLLIN, PUMP_MS) ||
		    is_over(meeting))
			return -1;
		ret = monotonic_ns() > until ? -ETIMEDOUT :
					       channel_fill(&meeting->ch);
		if (!ret)
			ret = channel_greet(&meeting->ch, m->secret, hello);
	}
	return ret > 0 ? 0 : break_off(meeting, "TCP connection failed", ret);
}

static int dial(struct meeting *meeting)
{
	struct member *m = meeting->m;
	const struct roster *to = &m->roster[meeting->partner];
	struct hello hello = { .rank = m->rank, .ranks = m->ranks,
			       .to = meeting->partner };
	uint64_t until = monotonic_ns() + m->start.timeout * 1000000ULL;
	struct sockaddr_storage addr;
	struct pollfd pfd = { .events = POLLOUT };
	int ret;

	channel_address(&to->addr, to->port, &addr);
	ret = channel_connect(&meeting->ch, &addr, member_patience(m));
	pfd.fd = meeting->ch.fd;
	while (!ret && !poll(&pfd, 1, 0)) {
		if (member_pump(m, &meeting->ch, POLLOUT, PUMP_MS) ||
		    is_over(meeting))
			return -1;
		if (monotonic_ns() > until)
			ret = -ETIMEDOUT;
	}
	if (!ret)
		ret = channel_connected(&meeting->ch);
	if (ret)
		return break_off(meeting, "TCP connection failed", ret);
	return greet(meeting, &hello);
}

/* Wait until the partner connects or rank 0 reports that it will not. */
static int await_call(struct meeting *meeting)
{
	struct member *m = meeting->m;

	while (!member_caller(m, meeting->partner, &meeting->ch)) {
		if (is_over(meeting) || member_pump(m, NULL, 0, PUMP_MS))
			return -1;
	}
	return 0;
}

/* ---- views --------------------------------------------------------------------------- */

static int take_view(struct meeting *meeting)
{
	struct frame frame;
	int ret = channel_take(&meeting->ch, &frame);

	if (!ret)
		ret = channel_fill(&meeting->ch);
	if (!ret)
		ret = channel_take(&meeting->ch, &frame);
	if (ret <= 0)
		return ret;
	if (frame.kind != MESSAGE_VIEW ||
	    !view_read(frame.data, frame.len, &meeting->theirs))
		return -EPROTO;
	meeting->began = true;
	meeting->m->waits = 0;
	return 1;
}

/* Returns true if the step has failed at the peer. */
static bool failed(void *context)
{
	struct meeting *meeting = context;

	if (!meeting->early)
		meeting->early = take_view(meeting);
	return meeting->early < 0 || (meeting->early && !meeting->theirs.ok);
}

static int swap_once(struct meeting *meeting, const struct view *mine)
{
	struct member *m = meeting->m;
	uint8_t out[FRAME_MAX];
	/* No limit at first: the partner may still be busy with its previous partner. */
	uint64_t until = meeting->began ? patience(meeting) : UINT64_MAX;
	int ret;

	/* There is room for the view, because the partner has read the previous one. */
	ret = channel_send(&meeting->ch, MESSAGE_VIEW, out, view_write(mine, out));
	if (!ret)
		ret = meeting->early;
	meeting->early = 0;
	while (!ret && !(ret = take_view(meeting))) {
		if (is_over(meeting) ||
		    member_pump(m, &meeting->ch, POLLIN, PUMP_MS))
			return -ECANCELED;
		ret = monotonic_ns() > until ? -ETIMEDOUT : 0;
	}
	return ret;
}

/* Retry if the partner closed the connection: on a busy host, the hello may be late. */
static bool may_call(struct meeting *meeting, int error)
{
	return meeting->first && !meeting->began && ++meeting->calls < CALLS &&
	       (error == -EPIPE || error == -ECONNRESET);
}

static int swap(void *context, const struct view *mine, struct view *theirs)
{
	struct meeting *meeting = context;
	int ret = swap_once(meeting, mine);

	while (may_call(meeting, ret)) {
		channel_close(&meeting->ch);
		if (dial(meeting))
			return -1;
		ret = swap_once(meeting, mine);
	}
	*theirs = meeting->theirs;
	if (ret == -ECANCELED)
		return -1;
	return ret > 0 ? 0 : break_off(meeting, "TCP connection lost", ret);
}

/* ---- pairs of adapters --------------------------------------------------------------- */

static int report(struct meeting *meeting, const struct edge results[2])
{
	if (!meeting->first)
		return 0;
	if (member_report(meeting->m, &results[0]))
		return -1;
	return member_report(meeting->m, &results[1]);
}

static bool is_lost(const struct edge *r)
{
	return !r->reached && (r->cause == CAUSE_LOST || r->cause == CAUSE_MTU);
}

/* @i is the adapter of the connecting host. */
static int run_pair(struct meeting *meeting, unsigned int i, unsigned int j,
		    bool connected)
{
	struct member *m = meeting->m;
	struct pair pair = {
		.test = m->test, .start = &m->start, .here = m->rank,
		.there = meeting->partner,
		.rail = meeting->first ? i : j,
		.peer_rail = meeting->first ? j : i,
		.first = meeting->first, .swap = swap, .failed = failed,
		.context = meeting,
	};
	struct rail *rail = &m->rails.rail[pair.rail];
	struct edge results[2];

	pair.adapter = rail;
	pair.timeout = mesh_patience(m->start.timeout, rail->losses);
	if (connected && pair_run(&pair, results)) {
		connected = false;
		if (!meeting->why[0])
			break_off(meeting, "the test ended early", -EPIPE);
	} else if (connected) {
		rail->losses = mesh_losses(rail->losses, is_lost(&results[0]) ||
							 is_lost(&results[1]));
		return report(meeting, results) ? -1 : 1;
	}
	pair_without(&pair, CAUSE_CONTROL, meeting->why, results);
	return report(meeting, results) ? -1 : 0;
}

static int run_pairs(struct meeting *meeting, bool connected)
{
	struct member *m = meeting->m;
	unsigned int here = m->rails.n, there = m->roster[meeting->partner].rails;
	unsigned int n_i = meeting->first ? here : there;
	unsigned int n_j = meeting->first ? there : here;
	unsigned int i, j;
	int ret;

	for (i = 0; i < n_i; i++) {
		for (j = 0; j < n_j; j++) {
			if (!m->start.all_pairs && i != j)
				continue;
			ret = run_pair(meeting, i, j, connected);
			if (ret < 0)
				return -1;
			connected = ret;
		}
	}
	return 0;
}

static int run_round(struct member *m, uint32_t partner)
{
	struct meeting meeting = {
		.m = m, .partner = partner, .ch.fd = -1,
		.first = mesh_initiator(m->rank, partner) == m->rank,
	};
	bool connected;
	int ret = 0;

	m->waits = monotonic_ns();
	connected = !(meeting.first ? dial(&meeting) : await_call(&meeting));
	if (!m->why[0])
		ret = run_pairs(&meeting, connected);
	channel_close(&meeting.ch);
	m->waits = 0;
	if (!m->gone[partner])
		m->missed = mesh_losses(m->missed, !meeting.began);
	/* Announce the next round at once, so that the partner does not wait. */
	if (!meeting.began)
		m->beat = 0;
	return ret || m->why[0] ? -1 : 0;
}

static int run_rounds(struct member *m)
{
	uint32_t partner;

	for (m->round = 0; m->round < mesh_rounds(m->ranks); m->round++) {
		if (member_pump(m, NULL, 0, 0))
			return -1;
		partner = mesh_partner(m->ranks, m->round, m->rank);
		if (partner == m->rank || m->gone[partner] || !m->rails.n ||
		    !m->roster[partner].rails)
			continue;
		if (run_round(m, partner))
			return -1;
	}
	return 0;
}

int rounds_run(struct member *m)
{
	int ret = member_join(m);

	/* The tests can begin when the roster is complete. */
	while (!ret && (!m->started || m->n_roster < m->ranks))
		ret = member_pump(m, NULL, 0, PUMP_MS);
	if (!ret)
		ret = run_rounds(m);
	if (!ret)
		ret = member_flush(m);
	if (!ret)
		ret = member_send(m, MESSAGE_DONE, NULL, 0);
	while (!ret && !m->bid)
		ret = member_pump(m, NULL, 0, PUMP_MS);
	member_leave(m);
	/* Rank 0 reports failures; some launchers end all processes when one fails. */
	return m->started || !ret ? STATUS_OK : STATUS_FAILED;
}
