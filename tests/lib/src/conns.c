// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Connections that end in every state they can be in:
 *
 *	conns list
 *	conns SCENARIO SERVER_ADDRESS CLIENT_ADDRESS [COUNT]
 *
 * Both ends are in this process; the client is bound to its address, which may
 * be the server's. The exit status is 0 when everything happened that has to,
 * within a limit each. Nothing is cleaned up where a scenario is about that.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <time.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_MS	60000
#define SOON_MS		10000
#define PORT		7900
#define PAGE		4096ul
#define MSG_SIZE	64
/* A number that no QP has. */
#define NO_QPN		0xffffe
/* Of a frame of the adapter's connection set-up. */
#define MPA_HEADER	28
#define MPA_REVISION	129

struct side {
	const char *name;
	struct sockaddr_in addr;
	struct rdma_event_channel *channel;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	char *buf;
};

static struct side server = { .name = "server" }, client = { .name = "client" };
static struct rdma_cm_id *listener;
static unsigned int count = 1;

static void fail(const char *format, ...)
{
	va_list args;
	int err = errno;

	va_start(args, format);
	fputs("conns: ", stderr);
	vfprintf(stderr, format, args);
	fprintf(stderr, " (errno %d)\n", err);
	va_end(args);
	exit(1);
}

static struct rdma_cm_id *new_id(struct side *side)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(side->channel, &id, NULL, RDMA_PS_TCP))
		fail("%s: no id", side->name);
	return id;
}

static bool has_event(const struct side *side, int ms)
{
	struct pollfd fd = { .fd = side->channel->fd, .events = POLLIN };

	return poll(&fd, 1, ms) > 0;
}

/* Whoever has an event first, the server if both have. */
static struct side *busy_side(void)
{
	struct pollfd fds[] = {
		{ .fd = server.channel->fd, .events = POLLIN },
		{ .fd = client.channel->fd, .events = POLLIN },
	};

	if (poll(fds, 2, LIMIT_MS) <= 0)
		fail("no event at either end");
	return fds[0].revents ? &server : &client;
}

/* The next event, which the caller acknowledges. */
static struct rdma_cm_event *next(struct side *side)
{
	struct rdma_cm_event *event;

	if (!has_event(side, LIMIT_MS))
		fail("%s: no event in time", side->name);
	if (rdma_get_cm_event(side->channel, &event))
		fail("%s: no event", side->name);
	return event;
}

/* The id of the next event, which has to be this one. */
static struct rdma_cm_id *expect(struct side *side, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = next(side);
	struct rdma_cm_id *id = event->id;

	if (event->event != type)
		fail("%s: %s (%d) instead of %s", side->name, rdma_event_str(event->event),
		     event->status, rdma_event_str(type));
	rdma_ack_cm_event(event);
	return id;
}

/* Any of those that tell that a connection was not made. */
static void expect_failure(struct side *side)
{
	struct rdma_cm_event *event = next(side);

	switch (event->event) {
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		break;
	default:
		fail("%s: %s instead of a failure", side->name, rdma_event_str(event->event));
	}
	rdma_ack_cm_event(event);
}

/* Such an event long before any timer of the connection manager runs out. */
static void expect_soon(struct side *side)
{
	if (!has_event(side, SOON_MS))
		fail("%s: no event at once", side->name);
	expect_failure(side);
}

static void make_memory(struct side *side, struct rdma_cm_id *id)
{
	size_t size;

	if (side->pd)
		return;
	/* Pages that are mapped once: no other side's memory is in them. */
	size = (count * MSG_SIZE + PAGE - 1) / PAGE * PAGE;
	side->buf = aligned_alloc(PAGE, size);
	if (side->buf)
		memset(side->buf, 0, size);
	side->pd = ibv_alloc_pd(id->verbs);
	side->cq = side->pd ? ibv_create_cq(id->verbs, 2 * count, NULL, NULL, 0) : NULL;
	side->mr = side->cq && side->buf ? ibv_reg_mr(side->pd, side->buf, count * MSG_SIZE,
						      IBV_ACCESS_LOCAL_WRITE) : NULL;
	if (!side->mr)
		fail("%s: no memory", side->name);
}

static void free_memory(struct side *side)
{
	if (!side->pd)
		return;
	if (ibv_dereg_mr(side->mr) || ibv_destroy_cq(side->cq) || ibv_dealloc_pd(side->pd))
		fail("%s: objects stay", side->name);
	free(side->buf);
	side->pd = NULL;
}

static struct ibv_qp_init_attr qp_attr(const struct side *side)
{
	return (struct ibv_qp_init_attr){
		.qp_type = IBV_QPT_RC, .send_cq = side->cq, .recv_cq = side->cq,
		.cap = { .max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
}

static void make_qp(struct side *side, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr;

	make_memory(side, id);
	attr = qp_attr(side);
	if (rdma_create_qp(id, side->pd, &attr))
		fail("%s: no QP", side->name);
}

/* A QP that the library does not know to be an id's: it changes nothing of it. */
static struct ibv_qp *separate_qp(struct side *side, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr;
	struct ibv_qp *qp;

	make_memory(side, id);
	attr = qp_attr(side);
	qp = ibv_create_qp(side->pd, &attr);
	if (!qp)
		fail("%s: no QP", side->name);
	return qp;
}

static void post_recv(struct side *side, struct rdma_cm_id *id, unsigned int slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)side->buf + slot * MSG_SIZE,
		.length = MSG_SIZE, .lkey = side->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(id->qp, &wr, &bad))
		fail("%s: receive %u", side->name, slot);
}

static void post_send(struct side *side, struct rdma_cm_id *id, unsigned int slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)side->buf + slot * MSG_SIZE,
		.length = MSG_SIZE, .lkey = side->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = slot, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	snprintf(side->buf + slot * MSG_SIZE, MSG_SIZE, "message %u", slot);
	if (ibv_post_send(id->qp, &wr, &bad))
		fail("%s: send %u", side->name, slot);
}

static struct ibv_wc completion(struct side *side)
{
	struct timespec begin, now;
	struct ibv_wc wc;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		if (ibv_poll_cq(side->cq, 1, &wc) == 1)
			return wc;
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - begin.tv_sec < LIMIT_MS / 1000);
	fail("%s: no completion", side->name);
	return wc;
}

static void expect_completion(struct side *side, enum ibv_wc_status status)
{
	struct ibv_wc wc = completion(side);

	if (wc.status != status)
		fail("%s: completion with %s", side->name, ibv_wc_status_str(wc.status));
}

/* ---- steps ---------------------------------------------------------------- */

static void listen_on_server(int backlog)
{
	listener = new_id(&server);
	if (rdma_bind_addr(listener, (struct sockaddr *)&server.addr) ||
	    rdma_listen(listener, backlog))
		fail("cannot listen");
}

static void stop_listening(void)
{
	if (rdma_destroy_id(listener))
		fail("the listener stays");
}

/* An id that knows its way. */
static struct rdma_cm_id *resolved(void)
{
	struct rdma_cm_id *id = new_id(&client);

	if (rdma_resolve_addr(id, (struct sockaddr *)&client.addr,
			      (struct sockaddr *)&server.addr, LIMIT_MS))
		fail("cannot resolve");
	expect(&client, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, LIMIT_MS))
		fail("no route");
	expect(&client, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return id;
}

static void start_connect(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1,
					 .private_data = "hello", .private_data_len = 6 };

	if (rdma_connect(id, &param))
		fail("cannot connect");
}

/* The request of a connecting client, with its QP. */
static struct rdma_cm_id *request(struct rdma_cm_id **from)
{
	*from = resolved();
	make_qp(&client, *from);
	start_connect(*from);
	return expect(&server, RDMA_CM_EVENT_CONNECT_REQUEST);
}

static int try_accept(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1,
					 .private_data = "welcome", .private_data_len = 8 };

	return rdma_accept(id, &param);
}

static int accept_with(struct rdma_cm_id *id, uint32_t qpn)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1,
					 .qp_num = qpn };

	return rdma_accept(id, &param);
}

static void connected(struct rdma_cm_id **a, struct rdma_cm_id **b)
{
	*a = request(b);
	make_qp(&server, *a);
	post_recv(&server, *a, 0);
	if (try_accept(*a))
		fail("cannot accept");
	expect(&server, RDMA_CM_EVENT_ESTABLISHED);
	expect(&client, RDMA_CM_EVENT_ESTABLISHED);
}

static void drop(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	if (rdma_destroy_id(id))
		fail("an id stays");
}

static void finish(struct rdma_cm_id *a, struct rdma_cm_id *b)
{
	drop(a);
	drop(b);
	free_memory(&server);
	free_memory(&client);
	stop_listening();
}

/* ---- scenarios ------------------------------------------------------------ */

static void unheard(void)
{
	struct rdma_cm_id *id = resolved();

	make_qp(&client, id);
	start_connect(id);
	expect_failure(&client);
	drop(id);
	free_memory(&client);
}

static void rejected(void)
{
	struct rdma_cm_id *a, *b;
	struct rdma_cm_event *event;

	listen_on_server(0);
	a = request(&b);
	if (rdma_reject(a, "no", 3))
		fail("cannot reject");
	event = next(&client);
	if (event->event != RDMA_CM_EVENT_REJECTED || event->param.conn.private_data_len < 3 ||
	    strcmp(event->param.conn.private_data, "no"))
		fail("%s without the reason given", rdma_event_str(event->event));
	rdma_ack_cm_event(event);
	finish(a, b);
}

/* The client goes before the server answers. */
static void client_leaves(void)
{
	struct rdma_cm_id *a, *b;

	listen_on_server(0);
	a = request(&b);
	drop(b);
	make_qp(&server, a);
	/* It may or may not be known yet; afterwards it is. */
	if (!try_accept(a) && expect(&server, RDMA_CM_EVENT_ESTABLISHED))
		expect(&server, RDMA_CM_EVENT_DISCONNECTED);
	drop(a);
	free_memory(&server);
	free_memory(&client);
	stop_listening();
}

/* The listener goes while requests are not answered, or not even read. */
static void listener_leaves(void)
{
	struct rdma_cm_id *a, *b;

	listen_on_server(0);
	a = request(&b);
	stop_listening();
	drop(a);
	expect_failure(&client);
	drop(b);
	listen_on_server(0);
	b = resolved();
	make_qp(&client, b);
	start_connect(b);
	if (!has_event(&server, LIMIT_MS))
		fail("no request");
	stop_listening();
	expect_failure(&client);
	drop(b);
	free_memory(&client);
}

/* Wherever the request is by then. */
static void listener_hurries(void)
{
	struct rdma_cm_id *b;

	listen_on_server(0);
	b = resolved();
	make_qp(&client, b);
	start_connect(b);
	stop_listening();
	expect_failure(&client);
	drop(b);
	free_memory(&client);
}

static void disconnect_client(void)
{
	struct rdma_cm_id *a, *b;

	listen_on_server(0);
	connected(&a, &b);
	if (rdma_disconnect(b))
		fail("cannot disconnect");
	expect(&client, RDMA_CM_EVENT_DISCONNECTED);
	expect(&server, RDMA_CM_EVENT_DISCONNECTED);
	expect_completion(&server, IBV_WC_WR_FLUSH_ERR);
	finish(a, b);
}

static void disconnect_server(void)
{
	struct rdma_cm_id *a, *b;

	listen_on_server(0);
	connected(&a, &b);
	if (rdma_disconnect(a))
		fail("cannot disconnect");
	expect(&client, RDMA_CM_EVENT_DISCONNECTED);
	expect(&server, RDMA_CM_EVENT_DISCONNECTED);
	expect_completion(&server, IBV_WC_WR_FLUSH_ERR);
	finish(a, b);
}

static void disconnect_both(void)
{
	struct rdma_cm_id *a, *b;

	listen_on_server(0);
	connected(&a, &b);
	/* The second may come too late. */
	if (rdma_disconnect(a) || (rdma_disconnect(b) && errno != EINVAL))
		fail("cannot disconnect");
	expect(&client, RDMA_CM_EVENT_DISCONNECTED);
	expect(&server, RDMA_CM_EVENT_DISCONNECTED);
	finish(a, b);
}

/* One end destroys its objects without a word. */
static void destroy_connected(void)
{
	struct rdma_cm_id *a, *b;

	listen_on_server(0);
	connected(&a, &b);
	drop(b);
	expect(&server, RDMA_CM_EVENT_DISCONNECTED);
	expect_completion(&server, IBV_WC_WR_FLUSH_ERR);
	b = resolved();
	finish(a, b);
}

static void error_connected(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct rdma_cm_id *a, *b;

	listen_on_server(0);
	connected(&a, &b);
	post_recv(&client, b, 0);
	if (ibv_modify_qp(b->qp, &attr, IBV_QP_STATE))
		fail("cannot modify");
	expect_completion(&client, IBV_WC_WR_FLUSH_ERR);
	expect(&client, RDMA_CM_EVENT_DISCONNECTED);
	expect(&server, RDMA_CM_EVENT_DISCONNECTED);
	expect_completion(&server, IBV_WC_WR_FLUSH_ERR);
	finish(a, b);
}

/* A QP that cannot be connected any more, at either end. */
static void error_before(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct rdma_conn_param param = {};
	struct rdma_cm_id *a, *b;

	listen_on_server(0);
	a = request(&b);
	make_qp(&server, a);
	if (ibv_modify_qp(a->qp, &attr, IBV_QP_STATE))
		fail("cannot modify");
	if (!try_accept(a))
		fail("a dead QP was accepted");
	/* It was the library that refused: the peer learns from what we do now. */
	drop(a);
	expect_soon(&client);
	drop(b);
	b = resolved();
	make_qp(&client, b);
	if (ibv_modify_qp(b->qp, &attr, IBV_QP_STATE))
		fail("cannot modify");
	if (!rdma_connect(b, &param))
		expect_failure(&client);
	drop(b);
	free_memory(&server);
	free_memory(&client);
	stop_listening();
}

/* Such a QP that the library knows nothing of: the driver refuses it. */
static void accept_refused(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct rdma_cm_id *a, *b;
	struct ibv_qp *qp;

	listen_on_server(0);
	a = request(&b);
	qp = separate_qp(&server, a);
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		fail("no dead QP");
	if (!accept_with(a, qp->qp_num))
		fail("a dead QP was accepted");
	expect_soon(&client);
	if (ibv_destroy_qp(qp))
		fail("the QP stays");
	finish(a, b);
}

/* No QP has that number: the call fails, and the id can be destroyed. */
static void unknown_qp(void)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .responder_resources = 1,
					 .qp_num = NO_QPN };
	struct rdma_cm_id *a, *b;

	listen_on_server(0);
	a = request(&b);
	if (!accept_with(a, NO_QPN))
		fail("no QP was accepted");
	expect_soon(&client);
	drop(a);
	drop(b);
	b = resolved();
	if (!rdma_connect(b, &param))
		fail("no QP was connected");
	drop(b);
	free_memory(&client);
	stop_listening();
}

/* ---- two answers to one request --------------------------------------------- */

/* What a second thread does with a request, and what became of it. */
struct answer {
	struct rdma_cm_id *id;
	pthread_barrier_t *begin;
	uint32_t qpn;		/* 0: reject */
	bool done;
};

static bool answer(struct rdma_cm_id *id, uint32_t qpn)
{
	return qpn ? !accept_with(id, qpn) : !rdma_reject(id, NULL, 0);
}

static void *second_answer(void *arg)
{
	struct answer *second = arg;

	pthread_barrier_wait(second->begin);
	second->done = answer(second->id, second->qpn);
	return NULL;
}

/* Both at once, or in every fourth round one after the other: true for each that succeeded. */
static void answer_twice(struct answer *first, struct answer *second, unsigned int round)
{
	pthread_barrier_t begin;
	pthread_t thread;

	if (round % 4 == 3) {
		first->done = answer(first->id, first->qpn);
		second->done = answer(second->id, second->qpn);
		return;
	}
	second->begin = &begin;
	if (pthread_barrier_init(&begin, NULL, 2) ||
	    pthread_create(&thread, NULL, second_answer, second))
		fail("no thread");
	pthread_barrier_wait(&begin);
	first->done = answer(first->id, first->qpn);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&begin);
}

/* One of the two answers holds, the other one is refused, and all objects can be destroyed. */
static void two_answers(bool two_qps, bool reject)
{
	listen_on_server(0);
	for (unsigned int i = 0; i < count; i++) {
		struct answer first = {}, second = {};
		struct ibv_qp *qps[2] = {};
		struct rdma_cm_id *a, *b;

		a = request(&b);
		qps[0] = separate_qp(&server, a);
		qps[1] = two_qps ? separate_qp(&server, a) : qps[0];
		first.id = second.id = a;
		first.qpn = qps[0]->qp_num;
		second.qpn = reject ? 0 : qps[1]->qp_num;
		answer_twice(&first, &second, i);
		if (first.done == second.done)
			fail("round %u: %s", i, first.done ? "both answers" : "no answer");
		if (second.done && reject) {
			expect_failure(&client);
		} else {
			expect(&server, RDMA_CM_EVENT_ESTABLISHED);
			expect(&client, RDMA_CM_EVENT_ESTABLISHED);
		}
		drop(b);
		drop(a);
		/* Waits for ever if the connection manager keeps a reference. */
		if (ibv_destroy_qp(qps[0]) || (two_qps && ibv_destroy_qp(qps[1])))
			fail("round %u: a QP stays", i);
	}
	free_memory(&server);
	free_memory(&client);
	stop_listening();
}

static void accept_twice(void)
{
	two_answers(false, false);
}

static void accept_two_qps(void)
{
	two_answers(true, false);
}

static void accept_and_reject(void)
{
	two_answers(false, true);
}

/* The process goes with requests under way, then with connections. */
static void exit_connecting(void)
{
	struct rdma_cm_id *b;

	listen_on_server(0);
	for (unsigned int i = 0; i < count; i++) {
		b = resolved();
		make_qp(&client, b);
		start_connect(b);
	}
	_exit(0);
}

static void exit_connected(void)
{
	struct rdma_cm_id *a, *b;

	listen_on_server(0);
	for (unsigned int i = 0; i < count; i++)
		connected(&a, &b);
	_exit(0);
}

/* ---- peers that are no adapters -------------------------------------------- */

static int tcp_connect(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&server.addr, sizeof(server.addr)))
		fail("TCP");
	return fd;
}

static void tcp_send(int fd, const void *data, size_t len)
{
	if (send(fd, data, len, MSG_NOSIGNAL) != (ssize_t)len)
		fail("TCP data");
}

/* Until the other end closed. */
static void tcp_expect_end(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	char buf[256];

	do {
		if (poll(&pfd, 1, LIMIT_MS) <= 0)
			fail("the TCP connection stays");
	} while (recv(fd, buf, sizeof(buf), 0) > 0);
	close(fd);
}

static size_t make_request(unsigned char *frame, unsigned int flags, unsigned int private)
{
	memset(frame, 0, MPA_HEADER + private);
	memcpy(frame, "MPA ID Req Frame", 16);
	frame[16] = flags;
	frame[17] = MPA_REVISION;
	frame[18] = private >> 8;
	frame[19] = private;
	return MPA_HEADER + private;
}

/* What is no request ends the connection and disturbs no other. */
static void tcp_garbage(void)
{
	static const char other[] = "GET / HTTP/1.1\r\nHost: somebody-else\r\n\r\n";
	unsigned char frame[512] = {};
	struct rdma_cm_id *a, *b;
	int fd, quiet;

	listen_on_server(0);
	quiet = tcp_connect();
	fd = tcp_connect();
	tcp_send(fd, other, sizeof(other));
	tcp_expect_end(fd);
	/* Too much private data; more than was announced; markers wanted. */
	fd = tcp_connect();
	tcp_send(fd, frame, make_request(frame, 0, 300));
	tcp_expect_end(fd);
	fd = tcp_connect();
	tcp_send(fd, frame, make_request(frame, 0, 5) + 1);
	tcp_expect_end(fd);
	fd = tcp_connect();
	tcp_send(fd, frame, make_request(frame, 0x80, 0));
	tcp_expect_end(fd);
	/* Half a request, and an end. */
	fd = tcp_connect();
	tcp_send(fd, frame, make_request(frame, 0, 0) / 2);
	close(fd);
	connected(&a, &b);
	close(quiet);
	finish(a, b);
}

/* A good request, byte by byte, of somebody who does not wait for the answer. */
static void tcp_vanishes(void)
{
	unsigned char frame[MPA_HEADER];
	struct rdma_cm_id *a;
	int fd;

	listen_on_server(0);
	fd = tcp_connect();
	make_request(frame, 0, 0);
	for (int i = 0; i < MPA_HEADER; i++)
		tcp_send(fd, frame + i, 1);
	a = expect(&server, RDMA_CM_EVENT_CONNECT_REQUEST);
	close(fd);
	make_qp(&server, a);
	if (!try_accept(a) && expect(&server, RDMA_CM_EVENT_ESTABLISHED))
		expect(&server, RDMA_CM_EVENT_DISCONNECTED);
	drop(a);
	free_memory(&server);
	stop_listening();
}

/* ---- many ------------------------------------------------------------------ */

/* Serves both ends until so many connections are made. */
static void connect_all(struct rdma_cm_id **a)
{
	unsigned int requests = 0, up = 0;
	struct rdma_cm_event *event;

	while (up < 2 * count) {
		struct side *side = busy_side();

		event = next(side);
		switch (event->event) {
		case RDMA_CM_EVENT_ADDR_RESOLVED:
			if (rdma_resolve_route(event->id, LIMIT_MS))
				fail("no route");
			break;
		case RDMA_CM_EVENT_ROUTE_RESOLVED:
			make_qp(&client, event->id);
			start_connect(event->id);
			break;
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			a[requests] = event->id;
			make_qp(&server, event->id);
			post_recv(&server, event->id, requests++);
			if (try_accept(event->id))
				fail("cannot accept connection %u", requests);
			break;
		case RDMA_CM_EVENT_ESTABLISHED:
			up++;
			break;
		default:
			fail("%s: %s (%d), %u up", side->name, rdma_event_str(event->event),
			     event->status, up);
		}
		rdma_ack_cm_event(event);
	}
}

/* One message each. Requests came in any order: sets a[] to that of b[]. */
static void exchange_all(struct rdma_cm_id **a, struct rdma_cm_id **b)
{
	struct rdma_cm_id **peer = calloc(count, sizeof(*peer));
	unsigned int slot;

	if (!peer)
		fail("memory");
	for (unsigned int i = 0; i < count; i++)
		post_send(&client, b[i], i);
	for (unsigned int i = 0; i < count; i++) {
		expect_completion(&client, IBV_WC_SUCCESS);
		expect_completion(&server, IBV_WC_SUCCESS);
	}
	for (unsigned int i = 0; i < count; i++) {
		if (sscanf(server.buf + i * MSG_SIZE, "message %u", &slot) != 1 ||
		    slot >= count || peer[slot])
			fail("receive %u: '%.20s'", i, server.buf + i * MSG_SIZE);
		peer[slot] = a[i];
	}
	memcpy(a, peer, count * sizeof(*a));
	free(peer);
}

/* All at once: every step is begun for all of them before the first ends. */
static void many(void)
{
	struct rdma_cm_id **a = calloc(count, sizeof(*a)), **b = calloc(count, sizeof(*b));

	if (!a || !b)
		fail("memory");
	listen_on_server(0);
	for (unsigned int i = 0; i < count; i++) {
		b[i] = new_id(&client);
		if (rdma_resolve_addr(b[i], (struct sockaddr *)&client.addr,
				      (struct sockaddr *)&server.addr, LIMIT_MS))
			fail("cannot resolve");
	}
	connect_all(a);
	exchange_all(a, b);
	for (unsigned int i = 0; i < count; i++)
		if (rdma_disconnect(i % 2 ? a[i] : b[i]))
			fail("cannot disconnect %u", i);
	for (unsigned int i = 0; i < count; i++) {
		expect(&client, RDMA_CM_EVENT_DISCONNECTED);
		expect(&server, RDMA_CM_EVENT_DISCONNECTED);
	}
	for (unsigned int i = 0; i < count; i++) {
		drop(a[i]);
		drop(b[i]);
	}
	free_memory(&server);
	free_memory(&client);
	stop_listening();
	free(a);
	free(b);
}

/* One after the other, more than a backlog of one holds meanwhile. */
static void again(void)
{
	struct rdma_cm_id *a, *b;

	listen_on_server(1);
	for (unsigned int i = 0; i < count; i++) {
		connected(&a, &b);
		post_send(&client, b, 0);
		expect_completion(&client, IBV_WC_SUCCESS);
		expect_completion(&server, IBV_WC_SUCCESS);
		drop(i % 2 ? a : b);
		expect(i % 2 ? &client : &server, RDMA_CM_EVENT_DISCONNECTED);
		drop(i % 2 ? b : a);
	}
	free_memory(&server);
	free_memory(&client);
	stop_listening();
}

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{ "unheard", unheard },
	{ "rejected", rejected },
	{ "client-leaves", client_leaves },
	{ "listener-leaves", listener_leaves },
	{ "listener-hurries", listener_hurries },
	{ "disconnect-client", disconnect_client },
	{ "disconnect-server", disconnect_server },
	{ "disconnect-both", disconnect_both },
	{ "destroy-connected", destroy_connected },
	{ "error-connected", error_connected },
	{ "error-before", error_before },
	{ "accept-refused", accept_refused },
	{ "unknown-qp", unknown_qp },
	{ "accept-twice", accept_twice },
	{ "accept-two-qps", accept_two_qps },
	{ "accept-and-reject", accept_and_reject },
	{ "exit-connecting", exit_connecting },
	{ "exit-connected", exit_connected },
	{ "tcp-garbage", tcp_garbage },
	{ "tcp-vanishes", tcp_vanishes },
	{ "again", again },
	{ "many", many },
};

static void set_address(struct side *side, const char *text, unsigned int port)
{
	side->addr.sin_family = AF_INET;
	side->addr.sin_port = htons(port);
	if (inet_pton(AF_INET, text, &side->addr.sin_addr) != 1)
		fail("%s: no address", text);
	side->channel = rdma_create_event_channel();
	if (!side->channel)
		fail("no event channel");
}

int main(int argc, char **argv)
{
	size_t n = sizeof(scenarios) / sizeof(*scenarios);

	if (argc == 2 && !strcmp(argv[1], "list")) {
		for (size_t i = 0; i < n; i++)
			puts(scenarios[i].name);
		return 0;
	}
	if (argc < 4) {
		fputs("Usage: conns list | SCENARIO SERVER CLIENT [COUNT]\n", stderr);
		return 2;
	}
	if (argc > 4)
		count = strtoul(argv[4], NULL, 0);
	if (!count)
		return 2;
	set_address(&server, argv[2], PORT);
	set_address(&client, argv[3], 0);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(argv[1], scenarios[i].name))
			continue;
		scenarios[i].run();
		return 0;
	}
	fprintf(stderr, "conns: no scenario '%s'\n", argv[1]);
	return 2;
}
