// SPDX-License-Identifier: GPL-2.0-or-later
/* A test of two adapters, with completions and views of the peer as a script has them. */
#include <string.h>

#include "managed.h"
#include "pair.h"
#include "signals.h"
#include "tap.h"
#include "test/endpoint.h"

enum outcome { PENDING, GOOD, BAD };

/* The step of small messages; all other ones succeed, except large ones if so set. */
static struct {
	enum outcome sent, received;
	bool theirs_ok, theirs_received;
	bool large_lost;		/* the peer's view of the next step */
	bool gave_up;			/* its view is early */
} script;
static uint8_t step;			/* views so far */
static bool managed, second;		/* the adapter needs rdma_cm; the peer is first */
static bool ud;
static uint32_t patience = 10000;	/* ms */
static double allowed;			/* s, for the last completion */
static unsigned int posted;		/* in the step of small messages */

struct verbs verbs;

const char *verbs_open(void)
{
	return NULL;
}

static const char *status_text(enum ibv_wc_status status)
{
	(void)status;
	return "transport retry counter exceeded";
}

/* ---- a link that succeeds ------------------------------------------------------------ */

static struct ibv_cq send_cq, recv_cq;

static int fake_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	enum outcome outcome = step != 2 ? GOOD :
			       cq == &send_cq ? script.sent : script.received;

	(void)n;
	if (outcome == PENDING)
		return 0;
	*wc = (struct ibv_wc){ .status = outcome == GOOD ? IBV_WC_SUCCESS :
							  IBV_WC_RETRY_EXC_ERR };
	return 1;
}

static struct ibv_context context = { .ops.poll_cq = fake_poll };

int endpoint_make(struct link *link, uint32_t size, uint32_t shared, uint32_t depth,
		  enum exchange_reason *reason)
{
	(void)shared;
	(void)reason;
	if (link->endpoint && link->endpoint->adapter.ud != ud)
		return link_fail(link, "wrong type");
	send_cq.context = recv_cq.context = &context;
	link->send_cq = &send_cq;
	link->recv_cq = &recv_cq;
	link->size = link->max_message = size;
	link->depth = depth;
	return 0;
}

void endpoint_describe(const struct link *link, struct exchange *message)
{
	*message = (struct exchange){ .roce = 2, .mtu = 5, .depth = link->depth,
				      .type = "RC", .qpn = 1,
				      .size = link->max_message, .shared = 64,
				      .gid = { 1 } };
}

int endpoint_connect(struct link *link, const struct exchange *peer)
{
	(void)link;
	(void)peer;
	return 0;
}

void endpoint_release(struct link *link)
{
	(void)link;
}

static void describe(const struct link *link, struct exchange *message)
{
	endpoint_describe(link, message);
	message->roce = 0;
	strcpy(message->type, "RCCM");
}

int managed_make(struct managed *m, const struct rail *rail)
{
	(void)rail;
	return endpoint_make(m->link, m->size, m->size, m->depth, NULL);
}

void managed_describe(const struct managed *m, struct exchange *message)
{
	describe(m->link, message);
}

int managed_connect(struct managed *m, const struct exchange *peer, uint64_t until)
{
	(void)until;
	return strcmp(peer->type, "RCCM") ? link_fail(m->link, "no RCCM") : 0;
}

void managed_release(struct managed *m)
{
	(void)m;
}

int link_post_recv(struct link *link, uint32_t slot)
{
	(void)link;
	(void)slot;
	return 0;
}

int link_post_send(struct link *link, const void *data, uint32_t len, uint32_t slot)
{
	(void)link;
	(void)data;
	(void)len;
	(void)slot;
	posted += step == 2;
	return 0;
}

unsigned char *link_send_place(const struct link *link, uint32_t slot)
{
	(void)slot;
	return link->buf;
}

unsigned char *link_recv_place(const struct link *link, uint32_t slot)
{
	(void)slot;
	return link->buf;
}

int link_wait(struct link *link, struct ibv_cq *cq, uint64_t deadline,
	      struct ibv_wc *wc)
{
	(void)link;
	(void)cq;
	allowed = ((double)deadline - monotonic_ns()) / 1e9;
	*wc = (struct ibv_wc){ .byte_len = 1 };
	return 0;
}

/* ---- the peer ------------------------------------------------------------------------ */

static int swap(void *context, const struct view *mine, struct view *theirs)
{
	(void)context;
	*theirs = *mine;
	theirs->ok = true;
	theirs->received = true;
	theirs->cause = CAUSE_NONE;
	theirs->why[0] = '\0';
	if (step == 2) {
		theirs->ok = script.theirs_ok;
		theirs->received = script.theirs_received;
	}
	if (step == 3 && script.large_lost)
		theirs->ok = theirs->received = false;
	step++;
	return 0;
}

static bool gave_up(void *context)
{
	(void)context;
	return step == 2 && script.gave_up;
}

static struct edge out, in;

static double run(void)
{
	const struct start start = { .count = 1, .size = 4096, .timeout = 10000,
				     .ud = ud };
	static struct test test;
	const struct rail rail = { .adapter.needs_cm = managed };
	const struct pair pair = {
		.test = &test, .start = &start, .there = 1, .adapter = &rail,
		.first = !second, .timeout = patience, .swap = swap, .failed = gave_up,
	};
	struct edge results[2];
	uint64_t begun = monotonic_ns();

	step = 0;
	posted = 0;
	pair_run(&pair, results);
	out = results[0];
	in = results[1];
	return (monotonic_ns() - begun) / 1e9;
}

static bool failed(const struct edge *r)
{
	return !r->reached && r->cause == CAUSE_LOST;
}

static bool works(const struct edge *r, bool partial)
{
	return r->reached && r->partial == partial;
}

int main(void)
{
	verbs.ibv_wc_status_str = status_text;
	script.sent = script.received = GOOD;
	script.theirs_ok = script.theirs_received = true;
	run();
	ok(works(&out, false) && works(&in, false) && out.p50, "both directions work");

	script.theirs_ok = false;
	run();
	ok(works(&out, true) && failed(&in),
	   "a request of the peer that does not complete is a failure");

	script.theirs_ok = true;
	script.sent = BAD;
	run();
	ok(failed(&out) && works(&in, true),
	   "and one of this end, though both messages arrived");

	script.theirs_ok = script.theirs_received = false;
	run();
	ok(failed(&out) && works(&in, true),
	   "a direction is tested in part if the other one fails first");

	script.sent = GOOD;
	script.theirs_ok = script.theirs_received = script.large_lost = true;
	run();
	ok(!out.reached && out.cause == CAUSE_MTU && works(&in, false),
	   "and whole if large messages fail");

	script.sent = script.received = PENDING;
	script.theirs_ok = script.theirs_received = script.large_lost = false;
	script.gave_up = true;
	ok(run() < 3 && failed(&out) && failed(&in),
	   "a step ends soon after the peer has given up");
	ok(posted == 1, "and sends its message even if none has arrived");

	managed = second = true;
	run();
	ok(!posted && failed(&out) && failed(&in),
	   "with rdma_cm, the end that accepts sends nothing before a message has arrived");

	script.sent = script.received = GOOD;
	script.theirs_ok = script.theirs_received = true;
	script.gave_up = false;
	run();
	ok(posted == 1 && works(&out, false) && works(&in, false),
	   "and sends after it");

	second = false;
	run();
	ok(posted == 1 && works(&out, false) && works(&in, false),
	   "the end that connects sends at once");

	script.theirs_ok = script.theirs_received = false;
	run();
	ok(failed(&out) && failed(&in),
	   "and without an answer, both directions have failed");

	script.theirs_ok = script.theirs_received = true;
	ud = true;
	run();
	ok(!posted && !out.reached && !in.reached && out.cause == CAUSE_ADAPTER &&
	   in.cause == CAUSE_ADAPTER && out.from_blamed && in.to_blamed,
	   "an adapter that requires rdma_cm has no UD queue pairs");

	managed = false;
	run();
	ok(posted == 1 && works(&out, false) && works(&in, false),
	   "another one gets one on request");

	patience = 1000;
	run();
	ok(works(&out, false) && works(&in, false) && allowed > 5,
	   "with less time for a step, a pair that works is still measured in full time");
	return done();
}
