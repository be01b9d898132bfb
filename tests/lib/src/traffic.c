// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A connection whose two ends are in one process, and traffic on demand:
 *
 *	traffic [-c CLIENT_ADDRESS] [-s SERVER_ADDRESS] [-p PORT]
 *
 * Connects by rdma_cm, prints "connected client CQPN server SQPN", prints each
 * asynchronous event as "event: NAME", and obeys lines of standard input:
 *
 *	send|write|read|send-imm|write-imm COUNT SIZE LIMIT_MS
 *			[events|armed|inline|starved|strayed]
 *		COUNT requests of SIZE bytes each by the client, data and
 *		completions with immediate data verified. Answers "OP: ok COUNT"
 *		or "OP: timeout, N of COUNT" or "OP: STATUS" of the first
 *		completion that failed, then, once the rest came or LIMIT_MS
 *		passed, "flushed: N". With events it sleeps until it is told of
 *		completions; armed asks to be told once, but polls; inline puts
 *		the bytes, at most 96, into the requests; starved posts one
 *		receive only; strayed names memory that the server never had.
 *	again	makes a new connection: "connected ..." or "connect: ERRNO"
 *	close	ends the connection: "closed"
 *	flood	lets the client write to memory of the server from now on, other bytes
 *		each time, whatever else happens, until a write fails: "flood: ok"
 *	moves|still LIMIT_MS
 *		whether that memory changes within the time: "moves: yes", "still: no"
 *	mark	notes what is in that memory: "mark: ok"
 *	kept	whether that is still there: "kept: yes"
 *	dereg	deregisters it: "dereg: ok" or "dereg: ERRNO"
 *
 * Whatever fails, every line is answered within its limit. End of input ends
 * it: "destroyed: N left".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define DEPTH		64
#define MAX_SIZE	(1 << 20)
#define CM_LIMIT_MS	10000
#define MAX_INLINE	96

struct end {
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *buf;
	unsigned int events;
	bool connected;
};

static struct rdma_event_channel *cm;
static struct rdma_cm_id *listener;
static struct sockaddr_in client_addr, server_addr;
static struct end client, server;
static int left;

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* ---- Asynchronous events ------------------------------------------------- */

static void *print_events(void *arg)
{
	struct ibv_context *ctx = arg;
	struct ibv_async_event event;

	while (!ibv_get_async_event(ctx, &event)) {
		printf("event: %s\n", ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
	return NULL;
}

/* One thread for each device that was ever used; contexts live on in rdma_cm. */
static void watch(struct ibv_context *ctx)
{
	static struct ibv_context *seen[4];
	pthread_t thread;

	for (int i = 0; i < 4; i++) {
		if (seen[i] == ctx)
			return;
		if (!seen[i]) {
			seen[i] = ctx;
			if (!pthread_create(&thread, NULL, print_events, ctx))
				pthread_detach(thread);
			return;
		}
	}
}

/* ---- Ends ---------------------------------------------------------------- */

static int end_make(struct end *e, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = MAX_INLINE },
	};
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	memset(e, 0, sizeof(*e));
	e->id = id;
	watch(id->verbs);
	e->pd = ibv_alloc_pd(id->verbs);
	e->channel = ibv_create_comp_channel(id->verbs);
	if (!e->pd || !e->channel)
		return -1;
	fcntl(e->channel->fd, F_SETFL, O_NONBLOCK);
	e->cq = ibv_create_cq(id->verbs, 4 * DEPTH, NULL, e->channel, 0);
	e->buf = mmap(NULL, MAX_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!e->cq || e->buf == MAP_FAILED)
		return -1;
	e->mr = ibv_reg_mr(e->pd, e->buf, MAX_SIZE, access);
	if (!e->mr)
		return -1;
	attr.send_cq = e->cq;
	attr.recv_cq = e->cq;
	return rdma_create_qp(id, e->pd, &attr);
}

static void end_destroy(struct end *e)
{
	struct ibv_cq *cq;
	void *context;

	if (e->id && e->id->qp)
		rdma_destroy_qp(e->id);
	if (e->channel)
		while (!ibv_get_cq_event(e->channel, &cq, &context))
			e->events++;
	if (e->cq && e->events)
		ibv_ack_cq_events(e->cq, e->events);
	if (e->mr && ibv_dereg_mr(e->mr))
		left++;
	if (e->cq && ibv_destroy_cq(e->cq))
		left++;
	if (e->channel && ibv_destroy_comp_channel(e->channel))
		left++;
	if (e->pd && ibv_dealloc_pd(e->pd))
		left++;
	if (e->buf && e->buf != MAP_FAILED)
		munmap(e->buf, MAX_SIZE);
	if (e->id && rdma_destroy_id(e->id))
		left++;
	memset(e, 0, sizeof(*e));
}

/* ---- Connection ---------------------------------------------------------- */

/* Handles one event of the connection manager; -1 with errno when it is bad. */
static int handle(struct rdma_cm_event *event)
{
	/* Where the transport has retries: a receive may come late. */
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1,
					 .retry_count = 7, .rnr_retry_count = 7 };

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return rdma_resolve_route(event->id, CM_LIMIT_MS);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return end_make(&client, event->id) ? -1 : rdma_connect(event->id, &param);
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return end_make(&server, event->id) ? -1 : rdma_accept(event->id, &param);
	case RDMA_CM_EVENT_ESTABLISHED:
		(event->id == client.id ? &client : &server)->connected = true;
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		puts("cm: device removal");
		return 0;
	default:
		errno = event->status ? abs(event->status) : ECONNREFUSED;
		return -1;
	}
}

static int next_event(int limit_ms)
{
	struct pollfd fd = { .fd = cm->fd, .events = POLLIN };
	struct rdma_cm_event *event, copy;

	if (poll(&fd, 1, limit_ms) <= 0) {
		errno = ETIMEDOUT;
		return -1;
	}
	if (rdma_get_cm_event(cm, &event))
		return -1;
	copy = *event;
	rdma_ack_cm_event(event);
	return handle(&copy);
}

static void close_both(void)
{
	if (client.connected)
		rdma_disconnect(client.id);
	end_destroy(&client);
	end_destroy(&server);
	while (!next_event(0))
		;
}

static int try_connect(void)
{
	int64_t end = now_ms() + CM_LIMIT_MS;
	struct rdma_cm_id *id;

	if (rdma_create_id(cm, &id, NULL, RDMA_PS_TCP))
		return -1;
	client.id = id;
	if (rdma_resolve_addr(id, (struct sockaddr *)&client_addr, (struct sockaddr *)&server_addr,
			      CM_LIMIT_MS))
		return -1;
	while (!client.connected || !server.connected)
		if (next_event(end - now_ms() > 0 ? end - now_ms() : 0))
			return -1;
	return 0;
}

static void connect_both(void)
{
	close_both();
	if (try_connect()) {
		printf("connect: %s\n", strerrorname_np(errno));
		close_both();
		return;
	}
	printf("connected client %u server %u\n", client.id->qp->qp_num,
	       server.id->qp->qp_num);
}

/* ---- Traffic ------------------------------------------------------------- */

/* received is 0 if the server does not hear of it. */
static const struct op {
	const char *name;
	enum ibv_wr_opcode opcode;
	enum ibv_wc_opcode received;
	bool imm;
} ops[] = {
	{ "send", IBV_WR_SEND, IBV_WC_RECV, false },
	{ "write", IBV_WR_RDMA_WRITE, 0, false },
	{ "read", IBV_WR_RDMA_READ, 0, false },
	{ "send-imm", IBV_WR_SEND_WITH_IMM, IBV_WC_RECV, true },
	{ "write-imm", IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RECV_RDMA_WITH_IMM, true },
};

struct job {
	const struct op *op;
	unsigned int count, size;
	unsigned int posted, received_posted, sent, received;
	bool events, armed, inlined, starved, strayed;
	const char *wrong;
	enum ibv_wc_status status;
	unsigned int flushed, ended;
	int64_t end;
};

static uint8_t pattern(const struct job *job, unsigned int i)
{
	return i * 7 + job->size + job->op->opcode;
}

/* Immediate data of a request: all of its bytes differ. */
static uint32_t number(unsigned int i)
{
	return htonl(0x11223344 + i);
}

static int post_send(struct job *job)
{
	struct ibv_sge sge = { .addr = (uintptr_t)client.buf, .length = job->size,
			       .lkey = client.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = job->op->opcode,
				  .send_flags = job->inlined ? IBV_SEND_INLINE : 0 }, *bad;

	if (job->op->imm)
		wr.imm_data = number(job->posted);
	wr.wr.rdma.remote_addr = (uintptr_t)server.buf;
	wr.wr.rdma.rkey = job->strayed ? ~server.mr->rkey : server.mr->rkey;
	return ibv_post_send(client.id->qp, &wr, &bad);
}

static int post_recv(struct job *job)
{
	struct ibv_sge sge = { .addr = (uintptr_t)server.buf, .length = job->size,
			       .lkey = server.mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_recv(server.id->qp, &wr, &bad);
}

static bool post_more(struct job *job)
{
	unsigned int receives = !job->op->received ? 0 : job->starved ? 1 : job->count;
	int err = 0;

	while (!err && job->received_posted < receives &&
	       job->received_posted - job->received < DEPTH / 2) {
		err = post_recv(job);
		job->received_posted += !err;
	}
	while (!err && job->posted < job->count && job->posted - job->sent < DEPTH / 2) {
		err = post_send(job);
		job->posted += !err;
	}
	if (err)
		printf("%s: post: %s\n", job->op->name, strerrorname_np(err));
	return !err;
}

/* Receives are completed in order, so the n-th has the n-th number. */
static bool has_number(const struct job *job, const struct ibv_wc *wc, unsigned int n)
{
	return wc->opcode == job->op->received && wc->byte_len == job->size &&
	       wc->wc_flags & IBV_WC_WITH_IMM && wc->imm_data == number(n);
}

static int reap(struct job *job, struct end *e, unsigned int *good)
{
	struct ibv_wc wc;
	int n, total = 0;

	while ((n = ibv_poll_cq(e->cq, 1, &wc)) > 0) {
		total++;
		if (wc.status == IBV_WC_SUCCESS && e == &server && job->op->imm &&
		    !has_number(job, &wc, *good))
			job->wrong = "completion";
		if (wc.status == IBV_WC_SUCCESS)
			++*good;
		else if (wc.status == IBV_WC_WR_FLUSH_ERR)
			job->flushed++;
		if (wc.status != IBV_WC_SUCCESS &&
		    (!job->status || job->status == IBV_WC_WR_FLUSH_ERR))
			job->status = wc.status;
	}
	if (n < 0)
		job->status = IBV_WC_GENERAL_ERR;
	return total;
}

/* Waits for an event of either end; the CQs are armed and looked at before. */
static void await_events(struct job *job)
{
	struct end *ends[] = { &client, &server };
	struct pollfd fds[2];
	struct ibv_cq *cq;
	void *context;

	for (int i = 0; i < 2; i++)
		fds[i] = (struct pollfd) { .fd = ends[i]->channel->fd, .events = POLLIN };
	if (poll(fds, 2, job->end - now_ms() > 0 ? job->end - now_ms() : 0) <= 0)
		return;
	for (int i = 0; i < 2; i++)
		while (!ibv_get_cq_event(ends[i]->channel, &cq, &context)) {
			ends[i]->events++;
			ibv_req_notify_cq(cq, 0);
		}
}

static bool is_done(const struct job *job)
{
	return job->sent >= job->count &&
	       (!job->op->received || job->received >= job->count);
}

static void verify(struct job *job)
{
	uint8_t *to = job->op->opcode == IBV_WR_RDMA_READ ? client.buf : server.buf;

	for (unsigned int i = 0; i < job->size && !job->wrong; i++)
		if (to[i] != pattern(job, i))
			job->wrong = "data";
}

static void answer(struct job *job)
{
	if (job->status)
		printf("%s: %s\nflushed: %u\n", job->op->name, ibv_wc_status_str(job->status),
		       job->flushed);
	else if (!is_done(job))
		printf("%s: timeout, %u of %u\n", job->op->name, job->sent, job->count);
	else if (job->wrong)
		printf("%s: wrong %s\n", job->op->name, job->wrong);
	else
		printf("%s: ok %u\n", job->op->name, job->count);
}

static void run(struct job *job, unsigned int limit_ms)
{
	bool reads = job->op->opcode == IBV_WR_RDMA_READ;
	uint8_t *from = reads ? server.buf : client.buf, *to = reads ? client.buf : server.buf;
	int got;

	job->end = now_ms() + limit_ms;
	for (unsigned int i = 0; i < job->size; i++)
		from[i] = pattern(job, i);
	memset(to, 0, job->size);
	if (job->events || job->armed) {
		ibv_req_notify_cq(client.cq, 0);
		ibv_req_notify_cq(server.cq, 0);
	}
	while (!is_done(job) && now_ms() < job->end) {
		/* After an error only the rest is waited for. */
		if (!job->status && !post_more(job))
			return;
		got = reap(job, &client, &job->sent);
		job->ended += got;
		got += reap(job, &server, &job->received);
		if (job->status && job->ended >= job->posted)
			break;
		if (!got && job->events)
			await_events(job);
		else if (!got)
			sched_yield();
	}
	if (!job->status && is_done(job))
		verify(job);
	answer(job);
}

static bool transfer(const char *name, const char *args)
{
	struct job job = {};
	unsigned int limit;
	char mode[8] = "";

	if (sscanf(args, "%u %u %u %7s", &job.count, &job.size, &limit, mode) < 3 ||
	    job.size > MAX_SIZE)
		return false;
	job.events = !strcmp(mode, "events");
	job.armed = !strcmp(mode, "armed");
	job.inlined = !strcmp(mode, "inline");
	job.starved = !strcmp(mode, "starved");
	job.strayed = !strcmp(mode, "strayed");
	for (unsigned int i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(name, ops[i].name))
			continue;
		job.op = &ops[i];
		if (!client.connected)
			printf("%s: not connected\n", name);
		else
			run(&job, limit);
		return true;
	}
	return false;
}

/* ---- Memory that somebody else writes to ----------------------------------- */

/* So few pages that no table of them is needed, which would be freed with the MR. */
#define FLOOD_SIZE	16384
#define FLOOD_DEPTH	8
/* One that is posted again has been done: no write has the bytes of another. */
#define FLOOD_SOURCES	(2 * FLOOD_DEPTH)

static pthread_t flooder;
static bool flooding;
static uint8_t flooded[FLOOD_SIZE] __attribute__((aligned(FLOOD_SIZE)));
static uint8_t marked[FLOOD_SIZE];
static struct ibv_mr *flood_mr;
/* The client goes on when the server's MR is gone. */
static uint32_t flood_rkey;

/* Returns false when a write has failed. */
static bool flood_more(unsigned int *posted, unsigned int *done)
{
	struct ibv_sge sge = { .length = FLOOD_SIZE, .lkey = client.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE },
			   *bad;
	struct ibv_wc wc;
	uint8_t *source;

	while (ibv_poll_cq(client.cq, 1, &wc) > 0) {
		if (wc.status != IBV_WC_SUCCESS) {
			printf("flood ends: %s\n", ibv_wc_status_str(wc.status));
			return false;
		}
		++*done;
	}
	wr.wr.rdma.remote_addr = (uintptr_t)flooded;
	wr.wr.rdma.rkey = flood_rkey;
	for (; *posted - *done < FLOOD_DEPTH; ++*posted) {
		source = client.buf + *posted % FLOOD_SOURCES * FLOOD_SIZE;
		for (unsigned int i = 0; i < FLOOD_SIZE; i += sizeof(*posted))
			memcpy(source + i, posted, sizeof(*posted));
		sge.addr = (uintptr_t)source;
		if (ibv_post_send(client.id->qp, &wr, &bad))
			return false;
	}
	return true;
}

static void *flood(void *arg)
{
	unsigned int posted = 0, done = 0;

	(void)arg;
	while (__atomic_load_n(&flooding, __ATOMIC_RELAXED) && flood_more(&posted, &done))
		usleep(1000);
	return NULL;
}

static void begin_flood(void)
{
	if (client.connected && !flood_mr)
		flood_mr = ibv_reg_mr(server.pd, flooded, sizeof(flooded),
				      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	flooding = flood_mr && !flooding;
	if (flooding)
		flood_rkey = flood_mr->rkey;
	if (flooding && pthread_create(&flooder, NULL, flood, NULL))
		flooding = false;
	puts(flooding ? "flood: ok" : "flood: no");
}

static void end_flood(void)
{
	if (flooding) {
		__atomic_store_n(&flooding, false, __ATOMIC_RELAXED);
		pthread_join(flooder, NULL);
	}
	if (flood_mr && ibv_dereg_mr(flood_mr))
		left++;
	flood_mr = NULL;
}

static bool changes(int limit_ms)
{
	static uint8_t before[FLOOD_SIZE];
	int64_t end = now_ms() + limit_ms;

	memcpy(before, flooded, sizeof(before));
	do {
		if (memcmp(before, flooded, sizeof(before)))
			return true;
		usleep(1000);
	} while (now_ms() < end);
	return false;
}

static void mark(void)
{
	memcpy(marked, flooded, sizeof(marked));
	puts("mark: ok");
}

static void dereg(void)
{
	int err = flood_mr ? ibv_dereg_mr(flood_mr) : EINVAL;

	/* After an error it is still there. */
	printf("dereg: %s\n", err ? strerrorname_np(err) : "ok");
	if (!err)
		flood_mr = NULL;
}

/* Whether the line was about that. */
static bool obey_memory(const char *name, const char *args)
{
	if (!strcmp(name, "flood"))
		begin_flood();
	else if (!strcmp(name, "dereg"))
		dereg();
	else if (!strcmp(name, "mark"))
		mark();
	else if (!strcmp(name, "kept"))
		printf("kept: %s\n", memcmp(marked, flooded, sizeof(marked)) ? "no" : "yes");
	else if (!strcmp(name, "moves"))
		printf("moves: %s\n", changes(atoi(args)) ? "yes" : "no");
	else if (!strcmp(name, "still"))
		printf("still: %s\n", changes(atoi(args)) ? "no" : "yes");
	else
		return false;
	return true;
}

static bool obey(char *line)
{
	char *name = strtok(line, " \n"), *args = strtok(NULL, "\n");

	if (!name)
		return false;
	if (obey_memory(name, args ? args : ""))
		return true;
	end_flood();
	if (!strcmp(name, "again")) {
		connect_both();
		return true;
	}
	if (!strcmp(name, "close")) {
		close_both();
		puts("closed");
		return true;
	}
	return transfer(name, args ? args : "");
}

static bool parse_args(int argc, char **argv)
{
	const char *c = "10.77.0.1", *s = "10.77.0.1";
	int opt, port = 7800;

	while ((opt = getopt(argc, argv, "c:s:p:")) != -1) {
		if (opt == 'c')
			c = optarg;
		else if (opt == 's')
			s = optarg;
		else if (opt == 'p')
			port = atoi(optarg);
		else
			return false;
	}
	client_addr.sin_family = AF_INET;
	server_addr.sin_family = AF_INET;
	server_addr.sin_port = htons(port);
	return inet_pton(AF_INET, c, &client_addr.sin_addr) == 1 &&
	       inet_pton(AF_INET, s, &server_addr.sin_addr) == 1 && optind == argc;
}

int main(int argc, char **argv)
{
	char line[128];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!parse_args(argc, argv)) {
		fputs("usage: traffic [-c CLIENT_ADDRESS] [-s SERVER_ADDRESS] [-p PORT]\n", stderr);
		return 2;
	}
	cm = rdma_create_event_channel();
	if (!cm || rdma_create_id(cm, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&server_addr) ||
	    rdma_listen(listener, 8)) {
		printf("listen: %s\n", strerrorname_np(errno));
		return 1;
	}
	connect_both();
	while (fgets(line, sizeof(line), stdin))
		if (!obey(line))
			printf("what? %s", line);
	end_flood();
	close_both();
	rdma_destroy_id(listener);
	printf("destroyed: %d left\n", left);
	return 0;
}
