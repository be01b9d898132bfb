// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Both ends of a test over UD queue pairs, in two threads, on a network in memory that
 * drops, duplicates and delays messages.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "managed.h"
#include "pair.h"
#include "tap.h"
#include "test/endpoint.h"

#define HEADER 40		/* of a received datagram */
#define MTU 1024
#define COUNT 5			/* round trips in each direction */
/* Messages of one end: two probes, and both halves of the round trips with their last ones. */
#define MESSAGES (2 + 2 * (COUNT + 1))
#define ROOM 64

struct verbs verbs;

/* The network; messages of an end are numbered from 1. */
static struct {
	unsigned int doubled[2], dropped[2], late[2];	/* numbers; 0: none */
	unsigned int reordered[2];	/* a second copy arrives after the next message */
	unsigned int copies;		/* of each message; 0: one */
	uint32_t most[2];		/* larger messages are dropped; 0: no limit */
	bool silent[2];			/* all messages of the end are dropped */
} net;

struct completions {
	struct ibv_cq cq;
	struct ibv_comp_channel channel;
	struct ibv_wc wc[ROOM];
	unsigned int n;
};

static struct end {
	struct ibv_qp qp;
	struct completions sent, received;
	struct ibv_sge posted[ROOM];	/* receives */
	uint64_t ids[ROOM];
	unsigned int n_posted, n_sent, n_unmatched;
	unsigned char held[MTU];	/* a delayed message to this end */
	uint32_t n_held;
	unsigned int places;		/* posted or completed receives at the end */
	uint32_t depth;
	struct view view;
	bool has_view;
	struct edge results[2];
} ends[2];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static uint32_t patience, size = 65536;

/* ---- other parts of eadm ------------------------------------------------------------- */

int fail(struct cli *cli, int status, const char *what, const char *fmt, ...)
{
	(void)cli;
	(void)what;
	(void)fmt;
	return status;
}

int managed_make(struct managed *m, const struct rail *rail)
{
	(void)m;
	(void)rail;
	return -1;
}

void managed_describe(const struct managed *m, struct exchange *message)
{
	(void)m;
	(void)message;
}

int managed_connect(struct managed *m, const struct exchange *peer, uint64_t until)
{
	(void)m;
	(void)peer;
	(void)until;
	return -1;
}

void managed_release(struct managed *m)
{
	(void)m;
}

/* ---- the adapters -------------------------------------------------------------------- */

static const char *status_text(enum ibv_wc_status status)
{
	(void)status;
	return "failed";
}

static void complete(struct completions *c, struct ibv_wc wc)
{
	uint64_t one = 1;

	if (c->n == ROOM || write(c->channel.fd, &one, sizeof(one)) != sizeof(one))
		abort();
	c->wc[c->n++] = wc;
}

/* Without a posted receive, a datagram is lost. */
static void deliver(struct end *to, const void *data, uint32_t len)
{
	if (!to->n_posted) {
		to->n_unmatched++;
		return;
	}
	if (to->posted[0].length < len + HEADER)
		abort();
	memcpy((char *)(uintptr_t)to->posted[0].addr + HEADER, data, len);
	complete(&to->received, (struct ibv_wc){ .wr_id = to->ids[0],
						 .byte_len = len + HEADER });
	to->n_posted--;
	memmove(to->posted, to->posted + 1, to->n_posted * sizeof(to->posted[0]));
	memmove(to->ids, to->ids + 1, to->n_posted * sizeof(to->ids[0]));
}

static void hold(struct end *to, const void *data, uint32_t len)
{
	memcpy(to->held, data, len);
	to->n_held = len;
}

static void carry(int from, unsigned int n, const void *data, uint32_t len)
{
	struct end *to = &ends[!from];
	uint32_t held = to->n_held;
	unsigned int i;

	to->n_held = 0;
	if (net.late[from] == n || net.reordered[from] == n)
		hold(to, data, len);
	if (net.silent[from] || net.dropped[from] == n || net.late[from] == n ||
	    (net.most[from] && len > net.most[from]))
		return;
	for (i = 0; i < (net.copies ? net.copies : 1) + (net.doubled[from] == n); i++)
		deliver(to, data, len);
	if (held)
		deliver(to, to->held, held);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct end *e = qp->qp_context;

	(void)bad;
	pthread_mutex_lock(&lock);
	carry(e - ends, ++e->n_sent, (void *)(uintptr_t)wr->sg_list->addr,
	      wr->sg_list->length);
	complete(&e->sent, (struct ibv_wc){ .wr_id = wr->wr_id });
	pthread_mutex_unlock(&lock);
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct end *e = qp->qp_context;

	(void)bad;
	pthread_mutex_lock(&lock);
	if (e->n_posted == ROOM)
		abort();
	e->ids[e->n_posted] = wr->wr_id;
	e->posted[e->n_posted++] = *wr->sg_list;
	pthread_mutex_unlock(&lock);
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct completions *c = cq->cq_context;

	(void)n;
	pthread_mutex_lock(&lock);
	n = c->n > 0;
	if (n) {
		*wc = c->wc[0];
		memmove(c->wc, c->wc + 1, --c->n * sizeof(c->wc[0]));
	}
	pthread_mutex_unlock(&lock);
	return n;
}

static int request_events(struct ibv_cq *cq, int solicited)
{
	(void)cq;
	(void)solicited;
	return 0;
}

static int get_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	uint64_t n;

	*cq = NULL;
	*context = NULL;
	return read(channel->fd, &n, sizeof(n)) == sizeof(n) ? 0 : -1;
}

static void ack_events(struct ibv_cq *cq, unsigned int n)
{
	(void)cq;
	(void)n;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	static struct ibv_mr mr;

	(void)pd;
	(void)addr;
	(void)len;
	(void)access;
	return &mr;
}

static int dereg_mr(struct ibv_mr *mr)
{
	(void)mr;
	return 0;
}

static struct ibv_context context = { .ops = {
	.poll_cq = poll_cq, .post_send = post_send, .post_recv = post_recv,
	.req_notify_cq = request_events,
} };

/* ---- queue pairs --------------------------------------------------------------------- */

static struct end *end_of(const struct link *link)
{
	return &ends[link->endpoint->adapter.port];
}

static struct ibv_cq *make_cq(struct completions *c)
{
	c->channel.fd = eventfd(0, EFD_NONBLOCK);
	c->cq = (struct ibv_cq){ .context = &context, .channel = &c->channel,
				 .cq_context = c };
	return &c->cq;
}

int endpoint_make(struct link *link, uint32_t bytes, uint32_t shared, uint32_t depth,
		  enum exchange_reason *reason)
{
	struct end *e = end_of(link);

	(void)reason;
	e->qp = (struct ibv_qp){ .context = &context, .qp_context = e };
	link->qp = &e->qp;
	link->send_cq = make_cq(&e->sent);
	link->recv_cq = make_cq(&e->received);
	link->datagram = true;
	link->max_message = bytes < MTU ? bytes : MTU;
	link->size = link->max_message + HEADER;
	link->shared = shared;
	return link_make(link, depth, 0);
}

void endpoint_describe(const struct link *link, struct exchange *message)
{
	*message = (struct exchange){ .roce = 2, .mtu = IBV_MTU_1024, .depth = link->depth,
				      .type = "UD", .qpn = 1, .size = link->max_message,
				      .shared = 64, .gid = { 1 } };
}

int endpoint_connect(struct link *link, const struct exchange *peer)
{
	(void)link;
	(void)peer;
	return 0;
}

void endpoint_release(struct link *link)
{
	struct end *e = end_of(link);

	e->depth = link->depth;
	e->places = e->n_posted + e->received.n;
	close(e->sent.channel.fd);
	close(e->received.channel.fd);
	link_release(link);
}

/* ---- views --------------------------------------------------------------------------- */

static int swap(void *end, const struct view *mine, struct view *theirs)
{
	struct end *e = end, *peer = &ends[e == ends];

	pthread_mutex_lock(&lock);
	e->view = *mine;
	e->has_view = true;
	pthread_mutex_unlock(&lock);
	pthread_barrier_wait(&barrier);
	*theirs = peer->view;
	pthread_barrier_wait(&barrier);
	e->has_view = false;
	pthread_barrier_wait(&barrier);
	return 0;
}

static bool has_failed(void *end)
{
	const struct end *peer = &ends[end == ends];
	bool ret;

	pthread_mutex_lock(&lock);
	ret = peer->has_view && !peer->view.ok;
	pthread_mutex_unlock(&lock);
	return ret;
}

/* ---- scenes -------------------------------------------------------------------------- */

static void *run_end(void *end)
{
	struct end *e = end;
	const struct start start = { .count = COUNT, .size = size, .timeout = patience,
				     .ud = true };
	const struct rail rail = { .adapter.port = e - ends };
	const struct pair pair = {
		.start = &start, .here = e - ends, .there = e == ends, .adapter = &rail,
		.first = e == ends, .timeout = patience, .swap = swap,
		.failed = has_failed, .context = e,
	};

	pair_run(&pair, e->results);
	return NULL;
}

/* Returns the time in seconds. The timeout is that of a step, in ms. */
static double run(uint32_t timeout)
{
	uint64_t begun = monotonic_ns();
	pthread_t threads[2];
	int i;

	patience = timeout;
	memset(ends, 0, sizeof(ends));
	for (i = 0; i < 2; i++) {
		if (pthread_create(&threads[i], NULL, run_end, &ends[i]))
			abort();
	}
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	memset(&net, 0, sizeof(net));
	return (monotonic_ns() - begun) / 1e9;
}

/* Both ends have the same results, in the opposite order. */
static bool is(int from, bool reached, bool partial, enum mesh_cause cause)
{
	const struct edge *a = &ends[0].results[from], *b = &ends[1].results[!from];

	return a->reached == reached && a->partial == partial && a->cause == cause &&
	       b->reached == reached && b->partial == partial && b->cause == cause;
}

static bool works(int from)
{
	return is(from, true, false, CAUSE_NONE);
}

static bool are_healthy(void)
{
	return works(0) && works(1) && ends[0].results[0].p50 && ends[1].results[0].p50;
}

static bool have_all_receives(void)
{
	return ends[0].places == ends[0].depth && ends[1].places == ends[1].depth &&
	       !ends[0].n_unmatched && !ends[1].n_unmatched;
}

static void check_duplicates(void)
{
	unsigned int n, from;
	bool good = true;

	net.doubled[0] = 1;
	run(3000);
	ok(are_healthy() && have_all_receives(), "a duplicate of the first message is ignored");
	for (from = 0; good && from < 2; from++) {
		for (n = 1; good && n <= MESSAGES; n++) {
			net.doubled[from] = n;
			run(3000);
			good = are_healthy() && have_all_receives();
			if (!good)
				printf("# message %u of end %u\n", n, from);
		}
	}
	ok(good, "as is one of any other message");
	good = true;
	for (from = 0; good && from < 2; from++) {
		for (n = 1; good && n < MESSAGES; n++) {
			net.reordered[from] = n;
			run(3000);
			good = are_healthy() && have_all_receives();
			if (!good)
				printf("# message %u of end %u\n", n, from);
		}
	}
	ok(good, "even if it arrives after the next message");
	net.copies = 3;
	run(3000);
	ok(are_healthy() && have_all_receives(), "and two of each message");
	size = 1 << 20;
	net.copies = 3;
	run(3000);
	ok(are_healthy() && have_all_receives() && ends[0].depth == 16,
	   "the size of messages of other queue pairs does not limit the receives");
	size = 65536;
}

static void check_losses(void)
{
	unsigned int from;
	bool good = true;

	for (from = 0; from < 2; from++) {
		net.dropped[from] = 1;
		run(3000);
		good = good && are_healthy() && have_all_receives();
	}
	ok(good, "a small message that is lost once is sent again");
	net.dropped[1] = 1;
	run(15000);
	ok(are_healthy() && ends[0].n_sent == MESSAGES && ends[1].n_sent == MESSAGES + 1,
	   "by the end whose message did not arrive");
	good = true;
	for (from = 0; from < 2; from++) {
		net.dropped[from] = 2;
		run(3000);
		good = good && are_healthy() && have_all_receives();
	}
	ok(good, "as is a large one, which does not show a small MTU");
	net.dropped[0] = net.dropped[1] = 1;
	run(3000);
	ok(are_healthy(), "and messages of both ends");
	net.late[0] = 1;
	run(3000);
	ok(are_healthy() && have_all_receives(), "a message that arrives after its repetition is ignored");
	net.dropped[0] = 3;
	run(1000);
	ok(is(0, false, false, CAUSE_LOST) && is(1, false, false, CAUSE_LOST),
	   "a message of a round trip is sent once: if it is lost, the cause is not the MTU");
}

static void check_paths(void)
{
	double time;

	net.most[0] = 512;
	net.doubled[0] = 1;
	time = run(3000);
	ok(is(0, false, false, CAUSE_MTU) && works(1) && have_all_receives(),
	   "a path that drops large messages has a small MTU, although it duplicates a small one");
	ok(time > 2.9 && time < 6, "all tries together take the time of one step");
	net.most[0] = net.most[1] = 512;
	net.copies = 2;
	run(1000);
	ok(is(0, false, false, CAUSE_MTU) && is(1, false, false, CAUSE_MTU),
	   "as does one that drops them in both directions");
	net.silent[0] = true;
	run(1000);
	ok(is(0, false, false, CAUSE_LOST) && is(1, true, true, CAUSE_NONE) &&
	   have_all_receives(), "a direction that drops all messages is lost");
	net.silent[0] = net.silent[1] = true;
	time = run(3000);
	ok(is(0, false, false, CAUSE_LOST) && is(1, false, false, CAUSE_LOST),
	   "and both directions, if both drop them");
	ok(time > 2.9 && time < 6, "in the time of one step");
}

int main(void)
{
	verbs.ibv_wc_status_str = status_text;
	verbs.ibv_get_cq_event = get_event;
	verbs.ibv_ack_cq_events = ack_events;
	verbs.ibv_reg_mr = reg_mr;
	verbs.ibv_dereg_mr = dereg_mr;
	pthread_barrier_init(&barrier, NULL, 2);
	run(15000);
	ok(are_healthy() && have_all_receives(), "both directions work");
	ok(ends[0].n_sent == MESSAGES && ends[1].n_sent == MESSAGES,
	   "and no message is sent twice");
	check_duplicates();
	check_losses();
	check_paths();
	return done();
}
