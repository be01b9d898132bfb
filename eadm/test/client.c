// SPDX-License-Identifier: GPL-2.0-or-later
/* "eadm test client": one test after the other, each on its own connections. */
#include "../signals.h"
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ECHO_SIZE 64

/* ---- connections --------------------------------------------------------------------- */

/* The route is shown once, as soon as it is known; in JSON, it is part of each row. */
static void show_route(struct client *c)
{
	const struct path *path = &c->path;
	const struct test *t = c->test;

	if (c->shown || !path->known || t->cli->args.opt[OPT_JSON])
		return;
	c->shown = true;
	note(t->cli, "route: %s, %s to %s, %s set up by %s%s%s%s", path->device,
	     *path->local_gid ? path->local_gid : path->local,
	     *path->peer_gid ? path->peer_gid : path->peer, path->type,
	     t->setup->name, t->because ? " (" : "",
	     t->because ? t->because : "", t->because ? ")" : "");
}

/* Connect, for messages of up to @size bytes; finish() must follow in any case. */
static int begin(struct client *c, uint32_t size, uint32_t depth)
{
	int ret;

	c->link = (struct link){ .setup = c->test->setup, .fd = -1 };
	c->path = (struct path){ 0 };
	c->status = STATUS_FAILED;
	ret = c->test->setup->begin(c, size, depth);
	show_route(c);
	return ret;
}

/* Errors during the disconnect are ignored. */
static void finish(struct client *c)
{
	char why[MAX_WHY];

	strcpy(why, c->link.why);
	c->test->setup->end(c);
	strcpy(c->link.why, why);
}

/* ---- tests --------------------------------------------------------------------------- */

static uint64_t deadline(const struct client *c)
{
	return monotonic_ns() + c->test->timeout;
}

static int compare(struct client *c, const char *what,
		   const unsigned char *want, const unsigned char *got,
		   uint32_t len)
{
	uint32_t i;

	if (!memcmp(want, got, len))
		return 0;
	for (i = 0; want[i] == got[i]; i++)
		;
	return link_fail(&c->link,
			 "%s of %u %s: byte %u is 0x%02x, not 0x%02x", what,
			 len, plural(len, "byte", "bytes"), i, got[i], want[i]);
}

/*
 * Send a message and receive it back; the caller has put the message into the first send
 * place.
 */
static int echo(struct client *c, uint32_t len)
{
	struct link *link = &c->link;
	struct ibv_wc wc, sent;
	const unsigned char *out = link_send_place(link, 0);

	if (link_post_send(link, out, len, 0) ||
	    link_wait(link, link->recv_cq, deadline(c), &wc) ||
	    link_wait(link, link->send_cq, deadline(c), &sent))
		return -1;
	if (wc.byte_len != len)
		return link_fail(link, "%u %s returned instead of %u", wc.byte_len,
				 plural(wc.byte_len, "byte", "bytes"), len);
	if (compare(c, "a message", out, link_recv_place(link, wc.wr_id), len))
		return -1;
	return link_post_recv(link, wc.wr_id);
}

static void one_more(struct client *c, struct result *result, const char *what)
{
	result->count++;
	progress(c->test->cli, what, result->count);
}

static int run_connect(struct client *c, struct result *result)
{
	uint64_t begun = monotonic_ns();

	if (begin(c, ECHO_SIZE, 1))
		return -1;
	result->times[result->n_times++] = monotonic_ns() - begun;
	result->count = 1;
	return echo(c, 1);
}

static int run_data(struct client *c, struct result *result)
{
	static const uint32_t sizes[] = { 1, 7, 64, 255, 1024, 4095, 4096,
					  4097, 16384, 65536, 262144 };
	uint32_t max, len;
	size_t i, kind;

	result->size = c->test->size;
	if (begin(c, c->test->size, 2))
		return -1;
	max = c->link.max_message;
	result->size = max;
	for (i = 0; i <= ARRAY_SIZE(sizes); i++) {
		len = i < ARRAY_SIZE(sizes) ? sizes[i] : max;
		if (len > max)
			continue;
		for (kind = 0; kind < 3; kind++) {
			if (kind < 2)
				memset(link_send_place(&c->link, 0),
				       kind ? 0xff : 0, len);
			else
				link_fill(link_send_place(&c->link, 0), len, i);
			if (echo(c, len))
				return -1;
			one_more(c, result, "messages");
		}
	}
	return 0;
}

/*
 * Write to the server's memory, and read the data back into cleared memory. An adapter
 * that cannot write only reads the data that the server has prepared.
 */
static int write_and_read(struct client *c, uint32_t len)
{
	struct link *link = &c->link;
	unsigned char *out = link_local_place(link);
	unsigned char *in = link_shared_place(link);
	struct ibv_wc wc;

	link_fill(out, len, link->can_write ? len : c->there.seed);
	memset(in, 0, len);
	if (link->can_write &&
	    (link_post_rdma(link, true, out, len, &c->there) ||
	     link_wait(link, link->send_cq, deadline(c), &wc)))
		return -1;
	if (link_post_rdma(link, false, in, len, &c->there) ||
	    link_wait(link, link->send_cq, deadline(c), &wc))
		return -1;
	return compare(c, link->can_write ? "data written and read back" :
					    "data read", out, in, len);
}

static int run_rdma(struct client *c, struct result *result)
{
	uint32_t len;

	result->size = c->test->size;
	/* The server's memory is accessible only after the first message. */
	if (begin(c, c->test->size, 2) || echo(c, 1))
		return -1;
	if (!c->link.can_read) {
		result->skipped = true;
		result->why = "the adapters do not support RDMA reads";
		return 0;
	}
	result->size = c->link.shared;
	for (len = c->link.shared; len; len /= 8) {
		if (write_and_read(c, len))
			return -1;
		one_more(c, result, "messages");
	}
	return 0;
}

static int run_echo(struct client *c, struct result *result)
{
	uint64_t begun;

	result->size = ECHO_SIZE;
	if (begin(c, ECHO_SIZE, 2))
		return -1;
	while (result->count < c->test->count) {
		link_fill(link_send_place(&c->link, 0), ECHO_SIZE, result->count);
		begun = monotonic_ns();
		if (echo(c, ECHO_SIZE))
			return -1;
		result->times[result->n_times++] = monotonic_ns() - begun;
		one_more(c, result, "messages");
	}
	return 0;
}

/* Numbers of received messages, for adapters that deliver them in any order. */
struct seen {
	uint64_t sent;
	unsigned char *bits;	/* NULL: messages arrive in order */
};

static int not_that(struct client *c, const struct seen *seen, uint64_t want,
		    uint64_t got)
{
	unsigned char bit = 1 << got % 8;

	if (!seen->bits && got != want)
		return link_fail(&c->link, "received message %llu instead of %llu",
				 (unsigned long long)got,
				 (unsigned long long)want);
	if (!seen->bits)
		return 0;
	if (got >= seen->sent)
		return link_fail(&c->link, "received message %llu, which was not sent",
				 (unsigned long long)got);
	if (seen->bits[got / 8] & bit)
		return link_fail(&c->link, "received message %llu twice",
				 (unsigned long long)got);
	seen->bits[got / 8] |= bit;
	return 0;
}

/* Take a message, which must be number @seq if messages arrive in order. */
static int take_numbered(struct client *c, const struct seen *seen, uint64_t seq)
{
	struct link *link = &c->link;
	struct ibv_wc wc;
	uint64_t got;

	if (link_wait(link, link->recv_cq, deadline(c), &wc))
		return -1;
	memcpy(&got, link_recv_place(link, wc.wr_id), sizeof(got));
	if (wc.byte_len != ECHO_SIZE)
		return link_fail(link, "%u bytes returned instead of %u",
				 wc.byte_len, ECHO_SIZE);
	if (not_that(c, seen, seq, got))
		return -1;
	return link_post_recv(link, wc.wr_id);
}

/* Wait until the previous message in the same place has been sent. */
static int send_numbered(struct client *c, uint64_t seq)
{
	struct link *link = &c->link;
	uint32_t slot = seq % link->depth;
	unsigned char *place = link_send_place(link, slot);
	struct ibv_wc wc;

	while (link->sending[slot]) {
		if (link_wait(link, link->send_cq, deadline(c), &wc))
			return -1;
		link->sending[wc.wr_id] = false;
	}
	memcpy(place, &seq, sizeof(seq));
	link->sending[slot] = true;
	return link_post_send(link, place, ECHO_SIZE, slot);
}

static int run_numbered(struct client *c, struct result *result,
			struct seen *seen)
{
	uint64_t count = c->test->count, begun = monotonic_ns();

	while (result->count < count) {
		while (seen->sent < count &&
		       seen->sent - result->count < c->link.depth) {
			if (send_numbered(c, seen->sent++))
				return -1;
		}
		if (take_numbered(c, seen, result->count))
			return -1;
		one_more(c, result, "messages");
	}
	result->rate = count * 1e9 / (monotonic_ns() - begun);
	return 0;
}

static int run_order(struct client *c, struct result *result)
{
	struct seen seen = { 0 };
	int ret;

	result->size = ECHO_SIZE;
	if (begin(c, ECHO_SIZE, c->test->depth))
		return -1;
	if (c->link.ah) {
		seen.bits = calloc(1, c->test->count / 8 + 1);
		if (!seen.bits)
			return link_fail(&c->link, "out of memory");
	}
	ret = run_numbered(c, result, &seen);
	free(seen.bits);
	return ret;
}

/* One connection after the other, each with one message. */
static int run_rate(struct client *c, struct result *result)
{
	uint64_t count = c->test->count < 20 ? c->test->count : 20;
	uint64_t all = monotonic_ns(), begun;
	bool last = c->last;

	while (result->count < count) {
		c->last = last && result->count == count - 1;
		if (result->count)
			finish(c);
		begun = monotonic_ns();
		if (begin(c, ECHO_SIZE, 1) || echo(c, ECHO_SIZE))
			return -1;
		result->times[result->n_times++] = monotonic_ns() - begun;
		one_more(c, result, "connections");
	}
	result->rate = count * 1e9 / (monotonic_ns() - all);
	return 0;
}

static int (*const tests[])(struct client *c, struct result *result) = {
	run_connect, run_data, run_rdma, run_echo, run_order, run_rate,
};

const char *const test_names[] = {
	"connect", "data", "rdma", "echo", "order", "rate", NULL,
};

/* ---- entry point ------------------------------------------------------------------------ */

static bool is_chosen(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *p = list;

	if (!list)
		return true;
	for (; *p; p += strcspn(p, ","), p += *p == ',') {
		if (!strncmp(p, name, len) && (!p[len] || p[len] == ','))
			return true;
	}
	return false;
}

static int run_test(struct client *c, int number)
{
	struct result result = { .test = test_names[number],
				 .path = &c->path,
				 .setup = c->test->setup->key };
	int status = STATUS_OK;

	result.times = calloc(c->test->count + 1, sizeof(*result.times));
	if (!result.times)
		return fail(c->test->cli, STATUS_FAILED, "start",
			    "out of memory");
	if (tests[number](c, &result)) {
		result.why = c->link.why;
		status = c->status;
	}
	finish(c);
	progress_end(c->test->cli);
	report_result(c->test->cli, &result);
	free(result.times);
	return status;
}

int test_client(struct test *test)
{
	struct client c = { .test = test };
	struct table table = { 0 };
	int status, worst = STATUS_OK, last = -1, i, ret;

	status = report_begin(test->cli, &table);
	for (i = 0; test_names[i]; i++) {
		if (is_chosen(test->only, test_names[i]))
			last = i;
	}
	for (i = 0; !status && i <= last && !interrupted; i++) {
		if (!is_chosen(test->only, test_names[i]))
			continue;
		c.last = i == last;
		ret = run_test(&c, i);
		if (!worst)
			worst = ret;
		/* Without a connection, the other tests would report the same error. */
		if (ret && tests[i] == run_connect)
			break;
	}
	status = write_end(test->cli, status ? status : worst);
	columns_free(&table);
	return status;
}
