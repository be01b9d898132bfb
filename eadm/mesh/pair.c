// SPDX-License-Identifier: GPL-2.0-or-later
#include "pair.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../signals.h"
#include "../test/endpoint.h"
#include "managed.h"

#define DEPTH 16
#define DATAGRAM_MOST 4096	/* bytes: the largest MTU */
#define TRIES 4			/* for the messages of a probe over UD */
#define PING_SIZE 64
#define SHARED 4096		/* not used, but must not be 0 */
#define LAST_SIZE 1		/* marks the last message of a measurement */
#define BULK_BYTES (16u << 20)
#define BULK_MOST 1024		/* maximum number of messages */
#define NAP_NS 200000
#define NAPS 16			/* polls between checks of the peer's view */
#define GRACE_NS 500000000	/* for messages in flight when the view has arrived */

enum step { STEP_DESCRIBE = 1, STEP_CONNECT, STEP_SMALL, STEP_LARGE, STEP_PING,
	    STEP_PING_BACK, STEP_RATE, STEP_RATE_BACK };

struct run {
	const struct pair *pair;
	struct link link;
	struct endpoint endpoint;
	struct managed managed;		/* with rdma_cm, instead of the endpoint */
	struct exchange here, peer;
	struct view mine, theirs;
	struct edge *results;
	uint64_t *times;
	uint32_t timeout;		/* ms, for a step */
};

/* A step in which both ends send a message. */
struct probe {
	uint32_t len;
	bool posted, sent, received;
};

/* ---- results ------------------------------------------------------------------------- */

static void set_ends(const struct pair *pair, struct edge results[2])
{
	memset(results, 0, 2 * sizeof(*results));
	results[0].from = results[1].to = pair->here;
	results[1].from = results[0].to = pair->there;
	results[0].from_rail = results[1].to_rail = pair->rail;
	results[1].from_rail = results[0].to_rail = pair->peer_rail;
}

static void set_why(char *to, const char *why)
{
	snprintf(to, MESH_WHY, "%s", why);
}

static void fail_way(struct edge *r, const struct view *from,
		     const struct view *to, enum mesh_cause cause)
{
	r->reached = false;
	r->cause = cause;
	r->from_blamed = cause_is_local(from->cause);
	r->to_blamed = cause_is_local(to->cause);
	set_why(r->from_why, from->why);
	set_why(r->to_why, to->why);
}

/* A local cause of one end explains more than its effect on the other end. */
static enum mesh_cause cause_of_both(const struct view *a, const struct view *b)
{
	if (cause_is_local(a->cause))
		return a->cause;
	if (cause_is_local(b->cause))
		return b->cause;
	return a->cause && a->cause != CAUSE_OTHER ? a->cause :
	       b->cause ? b->cause : a->cause;
}

static void fail_both(struct run *run, enum mesh_cause cause)
{
	fail_way(&run->results[0], &run->mine, &run->theirs, cause);
	fail_way(&run->results[1], &run->theirs, &run->mine, cause);
}

void pair_without(const struct pair *pair, enum mesh_cause cause, const char *why,
		  struct edge results[2])
{
	struct view mine = { .cause = CAUSE_NONE }, theirs = { 0 };

	set_ends(pair, results);
	set_why(mine.why, why);
	fail_way(&results[0], &mine, &theirs, cause);
	fail_way(&results[1], &theirs, &mine, cause);
}

/* ---- steps --------------------------------------------------------------------------- */

static uint64_t deadline(const struct run *run)
{
	return monotonic_ns() + run->timeout * 1000000ULL;
}

static void begin(struct run *run, enum step step)
{
	run->mine = (struct view){ .step = step, .ok = true };
}

/* Returns 1 if both ends succeeded, 0 if one failed, -1 if the peer is gone. */
static int compare(struct run *run)
{
	struct view *mine = &run->mine;

	if (run->link.why[0]) {
		mine->ok = false;
		set_why(mine->why, run->link.why);
		mine->cause = cause_of(run->link.why);
	}
	if (run->pair->swap(run->pair->context, mine, &run->theirs) ||
	    run->theirs.step != mine->step)
		return -1;
	return mine->ok && run->theirs.ok;
}

static bool is_managed(const struct run *run)
{
	return run->pair->adapter->adapter.needs_cm;
}

static int make(struct run *run, uint32_t depth)
{
	const struct pair *pair = run->pair;
	enum exchange_reason reason;

	if (is_managed(run) && pair->start->ud)
		return link_fail(&run->link,
				 "adapters that require rdma_cm have no UD queue pairs");
	if (is_managed(run)) {
		run->managed = (struct managed){
			.link = &run->link, .first = pair->first,
			.size = pair->start->size, .depth = depth,
			.failed = pair->failed, .context = pair->context,
		};
		if (managed_make(&run->managed, pair->adapter))
			return -1;
		managed_describe(&run->managed, &run->here);
		return 0;
	}
	run->endpoint.adapter = pair->adapter->adapter;
	run->endpoint.adapter.ud = pair->start->ud;
	run->link.endpoint = &run->endpoint;
	if (endpoint_make(&run->link, pair->start->size, SHARED, depth, &reason))
		return -1;
	endpoint_describe(&run->link, &run->here);
	return 0;
}

static void release(struct run *run)
{
	if (run->managed.link)
		managed_release(&run->managed);
	else if (run->link.endpoint)
		endpoint_release(&run->link);
}

static int describe(struct run *run)
{
	const struct pair *pair = run->pair;
	uint32_t depth = DEPTH, most = pair->start->size;
	int ret;

	begin(run, STEP_DESCRIBE);
	/* Duplicates use up receives, so UD needs all of them. */
	if (pair->start->ud && most > DATAGRAM_MOST)
		most = DATAGRAM_MOST;
	if ((uint64_t)most * depth > EXCHANGE_MAX_FLIGHT)
		depth = EXCHANGE_MAX_FLIGHT / most;
	if (pair->adapter->why[0]) {
		link_fail(&run->link, "%s", pair->adapter->why);
	} else if (!make(run, depth)) {
		run->here.kind = EXCHANGE_WELCOME;
		exchange_write(&run->here, run->mine.address);
	}
	ret = compare(run);
	if (ret > 0 && exchange_read(run->theirs.address, EXCHANGE_SIZE,
				     &run->peer) != EXCHANGE_OK)
		return -1;
	if (!ret)
		fail_both(run, cause_of_both(&run->mine, &run->theirs));
	return ret;
}

/* Both ends compare the same values, so they need not exchange the result. */
static bool fits(struct run *run)
{
	if (strcmp(run->here.type, run->peer.type) != 0) {
		fail_both(run, CAUSE_TYPE);
		return false;
	}
	if (run->here.roce != run->peer.roce) {
		fail_both(run, CAUSE_ROCE);
		return false;
	}
	return true;
}

static int connect_both(struct run *run)
{
	uint8_t mtu = run->peer.mtu < run->here.mtu ? run->peer.mtu : run->here.mtu;
	int ret;

	begin(run, STEP_CONNECT);
	if (is_managed(run))
		managed_connect(&run->managed, &run->peer, deadline(run));
	else
		endpoint_connect(&run->link, &run->peer);
	ret = compare(run);
	if (!ret)
		fail_both(run, cause_of_both(&run->mine, &run->theirs));
	run->results[0].mtu = run->results[1].mtu = 128u << mtu;
	return ret;
}

/* ---- messages ------------------------------------------------------------------------ */

/*
 * UD can drop, duplicate and reorder messages. Over UD, each message therefore begins
 * with its step, followed by its number if there is room, and a receiver ignores the
 * messages that it does not expect.
 */
static int post_message(struct run *run, uint32_t len, uint32_t number)
{
	struct link *link = &run->link;
	unsigned char *place = link_send_place(link, 0);

	number = htobe32(number);
	if (link->datagram)
		place[0] = run->mine.step;
	if (link->datagram && len > sizeof(number))
		memcpy(place + 1, &number, sizeof(number));
	return link_post_send(link, place, len, 0);
}

static const unsigned char *datagram(const struct run *run, const struct ibv_wc *wc)
{
	return link_recv_place(&run->link, wc->wr_id) + sizeof(struct ibv_grh);
}

static bool is_of_step(const struct run *run, const struct ibv_wc *wc)
{
	return !run->link.datagram || datagram(run, wc)[0] == run->mine.step;
}

/* The last message of a step has no number. */
static bool is_expected(const struct run *run, const struct ibv_wc *wc, uint32_t number)
{
	if (!run->link.datagram)
		return true;
	number = htobe32(number);
	return is_of_step(run, wc) &&
	       (wc->byte_len == LAST_SIZE ||
		!memcmp(datagram(run, wc) + 1, &number, sizeof(number)));
}

/* Waits for the message with this number, or for the last one of the step. */
static int wait_message(struct run *run, uint32_t number, struct ibv_wc *wc)
{
	struct link *link = &run->link;
	uint64_t until = deadline(run);

	while (!link_wait(link, link->recv_cq, until, wc)) {
		if (is_expected(run, wc, number))
			return 0;
		if (link_post_recv(link, wc->wr_id))
			return -1;
	}
	return -1;
}

/* ---- probes -------------------------------------------------------------------------- */

/* Returns 1 for a successful completion, 0 for none, a negative value on failure. */
static int look(struct run *run, struct ibv_cq *cq, struct ibv_wc *wc)
{
	int n = ibv_poll_cq(cq, 1, wc);

	if (n <= 0)
		return n;
	if (wc->status == IBV_WC_SUCCESS)
		return 1;
	link_fail(&run->link, "%s (syndrome %#x)",
		  verbs.ibv_wc_status_str(wc->status), wc->vendor_err);
	return -1;
}

/* Returns true if a message of this step has arrived. */
static bool receive(struct run *run)
{
	bool expected;
	struct ibv_wc wc;

	if (look(run, run->link.recv_cq, &wc) <= 0)
		return false;
	expected = is_of_step(run, &wc);
	link_post_recv(&run->link, wc.wr_id);
	return expected;
}

/*
 * Both ends send a message. If a request fails because it is not acknowledged, the
 * peer's message may still have arrived. A peer at which the step has failed sends
 * nothing more. On adapters that run over TCP, the accepting end must not send
 * first.
 */
static void send_and_receive(struct run *run, struct probe *p, uint64_t until)
{
	static const struct timespec nap = { .tv_nsec = NAP_NS };
	bool over = false, wait = is_managed(run) && !run->pair->first;
	unsigned int naps = 0;
	struct ibv_wc wc;
	uint64_t end;
	int ret = 0;

	while (!ret && !(p->sent && p->received)) {
		if (!p->posted && (p->received || !wait)) {
			ret = post_message(run, p->len, 0);
			p->posted = true;
		} else if (p->posted && !p->sent) {
			ret = look(run, run->link.send_cq, &wc);
			p->sent = ret > 0;
		}
		/* Check this after a failed send, too. */
		if (!p->received)
			p->received = receive(run);
		if (ret < 0 || monotonic_ns() > until || interrupted)
			break;
		ret = 0;
		if (!over && ++naps % NAPS == 0 &&
		    run->pair->failed(run->pair->context)) {
			over = true;
			end = monotonic_ns() + GRACE_NS;
			until = end < until ? end : until;
		}
		nanosleep(&nap, NULL);
	}
	if (!p->received || !p->sent)
		link_fail(&run->link, "no message arrived in time");
	run->mine.received = p->received;
}

static bool may_retry(const struct view *view)
{
	return view->ok || view->cause == CAUSE_LOST;
}

/*
 * UD does not retransmit, so a message that is lost once does not show that the path
 * loses all of them. Both ends compare the same views after each try, so they agree
 * whether there is another one. Each try has twice the time of the previous one;
 * together they take as long as one step. A message that arrives in a later try counts.
 * Returns the same as compare().
 */
static int try_messages(struct run *run, enum step step, uint32_t len)
{
	unsigned int i, tries = run->link.datagram ? TRIES : 1;
	uint64_t unit = run->timeout * 1000000ULL / ((1u << tries) - 1);
	struct probe p = { .len = len };
	int ret;

	for (i = 0;; i++) {
		begin(run, step);
		send_and_receive(run, &p, monotonic_ns() + (unit << i));
		ret = compare(run);
		if (ret || i + 1 == tries || !may_retry(&run->mine) ||
		    !may_retry(&run->theirs))
			return ret;
		run->link.why[0] = '\0';
		/* If the request has not completed, only wait for its completion. */
		if (p.sent && !run->theirs.received)
			p.posted = p.sent = false;
	}
}

static int probe(struct run *run, enum step step, uint32_t len,
		 enum mesh_cause cause)
{
	int ret = try_messages(run, step, len);

	if (ret < 0)
		return ret;
	/* The accepting end might not have sent, so it is unknown whether it could. */
	if (!ret && is_managed(run) && step == STEP_SMALL) {
		fail_both(run, cause);
		return 0;
	}
	run->results[0].reached = true;
	run->results[1].reached = true;
	if (!run->theirs.received)
		fail_way(&run->results[0], &run->mine, &run->theirs, cause);
	if (!run->mine.received)
		fail_way(&run->results[1], &run->theirs, &run->mine, cause);
	if (ret)
		return ret;
	/* Both messages arrived, but a request of one end was not completed. */
	if (run->theirs.received && run->mine.received) {
		if (!run->mine.ok)
			fail_way(&run->results[0], &run->mine, &run->theirs, cause);
		if (!run->theirs.ok)
			fail_way(&run->results[1], &run->theirs, &run->mine, cause);
	}
	run->results[0].partial = run->results[0].reached && step == STEP_SMALL;
	run->results[1].partial = run->results[1].reached && step == STEP_SMALL;
	return 0;
}

/* ---- latency ------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint32_t clip(uint64_t ns)
{
	return ns < UINT32_MAX ? ns : UINT32_MAX;
}

/* Returns the end of the first half of a step; the rest is for completing the step. */
static uint64_t half_time(const struct run *run)
{
	return monotonic_ns() + run->timeout * 500000ULL;
}

static int round_trip(struct run *run, uint32_t len, uint32_t number)
{
	struct link *link = &run->link;
	struct ibv_wc wc, sent;

	if (post_message(run, len, number) || wait_message(run, number, &wc) ||
	    link_wait(link, link->send_cq, deadline(run), &sent))
		return -1;
	return link_post_recv(link, wc.wr_id);
}

static void ping(struct run *run)
{
	uint64_t until = half_time(run), begun = monotonic_ns();
	uint32_t n = 0, count = run->pair->start->count;

	while (n < count && begun < until) {
		if (round_trip(run, PING_SIZE, n))
			break;
		run->times[n++] = monotonic_ns() - begun;
		begun = monotonic_ns();
	}
	if (run->link.why[0])
		run->mine.lost = 1000000 / (n + 1);
	else
		round_trip(run, LAST_SIZE, n);
	if (!n)
		return;
	qsort(run->times, n, sizeof(*run->times), by_value);
	run->mine.min = clip(run->times[0]);
	run->mine.p50 = clip(run->times[n / 2]);
	run->mine.p99 = clip(run->times[(uint64_t)n * 99 / 100]);
}

static void reflect(struct run *run)
{
	struct link *link = &run->link;
	struct ibv_wc wc, sent;
	uint32_t n = 0;

	do {
		if (wait_message(run, n, &wc) || link_post_recv(link, wc.wr_id) ||
		    post_message(run, wc.byte_len, n++) ||
		    link_wait(link, link->send_cq, deadline(run), &sent))
			return;
	} while (wc.byte_len != LAST_SIZE);
}

static int measure(struct run *run, enum step step, bool mine)
{
	struct edge *r = &run->results[!mine];
	const struct view *view = mine ? &run->mine : &run->theirs;
	int ret;

	begin(run, step);
	if (mine)
		ping(run);
	else
		reflect(run);
	ret = compare(run);
	if (ret < 0)
		return ret;
	r->min = view->min;
	r->p50 = view->p50;
	r->p99 = view->p99;
	r->lost = view->lost;
	/* The pair worked for some time, so either direction may have failed. */
	if (!ret)
		fail_both(run, CAUSE_LOST);
	return ret;
}

/* ---- bandwidth ----------------------------------------------------------------------- */

/*
 * Send the last message after all other messages have completed, because some queue
 * pairs do not preserve order.
 */
static void send_bulk(struct run *run)
{
	struct link *link = &run->link;
	uint64_t until = half_time(run), bytes = 0;
	uint32_t n = 0, pending = 0;
	struct ibv_wc wc;
	bool more = true;

	while (more || pending) {
		more = more && n < BULK_MOST && bytes < BULK_BYTES &&
		       monotonic_ns() < until;
		if (more && pending < link->depth) {
			if (link_post_send(link, link_send_place(link, n % link->depth),
					   link->max_message, n % link->depth))
				return;
			n++;
			pending++;
			bytes += link->max_message;
			continue;
		}
		if (link_wait(link, link->send_cq, deadline(run), &wc))
			return;
		pending--;
	}
	if (!link_post_send(link, link_send_place(link, 0), LAST_SIZE, 0))
		link_wait(link, link->send_cq, deadline(run), &wc);
}

static void receive_bulk(struct run *run)
{
	struct link *link = &run->link;
	uint64_t first = 0, last = 0, bytes = 0;
	struct ibv_wc wc;

	for (;;) {
		if (link_wait(link, link->recv_cq, deadline(run), &wc) ||
		    link_post_recv(link, wc.wr_id))
			return;
		if (wc.byte_len == LAST_SIZE)
			break;
		last = monotonic_ns();
		if (first)
			bytes += wc.byte_len;
		else
			first = last;
	}
	if (last > first)
		run->mine.rate = bytes * 1e9 / (last - first);
}

static int measure_rate(struct run *run, enum step step, bool mine)
{
	int ret;

	begin(run, step);
	if (mine)
		send_bulk(run);
	else
		receive_bulk(run);
	ret = compare(run);
	if (ret > 0)
		run->results[!mine].rate = mine ? run->theirs.rate : run->mine.rate;
	if (!ret)
		fail_both(run, CAUSE_LOST);
	return ret;
}

/* ---- entry point --------------------------------------------------------------------- */

static int run_steps(struct run *run)
{
	bool first = run->pair->first;
	int ret = describe(run);

	if (ret > 0 && !fits(run))
		return 0;
	if (ret > 0)
		ret = connect_both(run);
	if (ret > 0)
		ret = probe(run, STEP_SMALL, 1, CAUSE_LOST);
	if (ret > 0)
		ret = probe(run, STEP_LARGE, run->link.max_message, CAUSE_MTU);
	/* Restore the timeout, which losses have shortened: this peer is not lost. */
	if (ret > 0 && run->timeout < run->pair->start->timeout)
		run->timeout = run->pair->start->timeout;
	if (ret > 0)
		ret = measure(run, STEP_PING, first);
	if (ret > 0)
		ret = measure(run, STEP_PING_BACK, !first);
	if (ret > 0 && run->pair->start->bandwidth)
		ret = measure_rate(run, STEP_RATE, first);
	if (ret > 0 && run->pair->start->bandwidth)
		ret = measure_rate(run, STEP_RATE_BACK, !first);
	return ret;
}

int pair_run(const struct pair *pair, struct edge results[2])
{
	struct run *run = calloc(1, sizeof(*run));
	int ret = -1;

	set_ends(pair, results);
	if (!run)
		return -1;
	run->pair = pair;
	run->timeout = pair->timeout;
	run->results = results;
	run->link.fd = -1;
	run->times = calloc(pair->start->count, sizeof(*run->times));
	if (run->times)
		ret = run_steps(run);
	release(run);
	free(run->times);
	free(run);
	return ret < 0 ? -1 : 0;
}
