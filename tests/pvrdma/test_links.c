// SPDX-License-Identifier: GPL-2.0-or-later
/* Two servers whose link is cut at any place, and programs that are no server. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cable.h"
#include "lab.h"
#include "pair.h"
#include "pattern.h"
#include "tap.h"
#include "wire.h"

#define CUTS 300

/* Lets time pass until there is one; false: it takes too long. */
static bool completion(struct pair *pair, unsigned int i, struct pvrdma_cqe *cqe)
{
	struct guest *guest = &pair->lab.guests[i];
	int irq = guest->irqs[PVRDMA_VECTOR_CQ];
	eventfd_t count;

	guest_ring(guest, 0, PVRDMA_UAR_CQ, pair->cq[i].handle | PVRDMA_UAR_CQ_ARM);
	while (!guest_completion(guest, &pair->cq[i], cqe)) {
		if (!lab_wait(&pair->lab, irq))
			return false;
		eventfd_read(irq, &count);
		guest->notifications->cons_head = guest->notifications->prod_tail;
	}
	return true;
}

/* One of each kind; what it did must have been done once. */
static bool exchange(struct pair *pair, unsigned int round)
{
	static const uint32_t opcodes[] = {
		PVRDMA_WR_SEND, PVRDMA_WR_WRITE, PVRDMA_WR_READ, PVRDMA_WR_FETCH_ADD,
	};
	uint32_t opcode = opcodes[round % 4];
	uint32_t length = opcode == PVRDMA_WR_FETCH_ADD ? 8 : PAIR_DATA / 2;
	struct pvrdma_sqe sqe = {
		.wr_id = round, .opcode = opcode, .flags = PVRDMA_WR_SIGNALED,
		.rdma = { .addr = pair->mr[1].address, .rkey = pair->mr[1].rkey },
	};
	unsigned char *from = pair_bytes(pair, opcode == PVRDMA_WR_READ);
	unsigned char *to = pair_bytes(pair, opcode != PVRDMA_WR_READ);
	uint64_t before = round, after;
	struct pvrdma_cqe cqe;

	memset(to, 0, PAIR_DATA);
	pattern_fill(from, 0, PAIR_DATA / 2, round);
	if (opcode == PVRDMA_WR_SEND)
		guest_recv(&pair->qp[1], round, &pair->mr[1], 0, PAIR_DATA);
	if (opcode == PVRDMA_WR_FETCH_ADD) {
		memcpy(pair_bytes(pair, 1), &before, sizeof(before));
		sqe.atomic.addr = pair->mr[1].address;
		sqe.atomic.rkey = pair->mr[1].rkey;
		sqe.atomic.compare_add = 1000;
	}
	guest_send(&pair->qp[0], &sqe, &pair->mr[0], 0, length);
	if (!completion(pair, 0, &cqe) || cqe.status || cqe.wr_id != round)
		return false;
	if (opcode == PVRDMA_WR_SEND &&
	    (!completion(pair, 1, &cqe) || cqe.status || cqe.wr_id != round || cqe.length != length ||
	     guest_completion(&pair->lab.guests[1], &pair->cq[1], &cqe)))
		return false;
	if (opcode != PVRDMA_WR_FETCH_ADD)
		return !memcmp(from, to, length);
	memcpy(&after, pair_bytes(pair, 1), sizeof(after));
	return after == before + 1000 && !memcmp(pair_bytes(pair, 0), &before, sizeof(before));
}

/* Places are drawn by lot, but are the same in each run. */
static uint64_t draw(uint64_t *state, uint64_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (*state >> 33) % below;
}

static void test_cuts(void)
{
	unsigned int round, right = 0, before;
	uint64_t state = 1;
	struct pair pair;

	pair_open(&pair);
	before = cable_count(pair.lab.cable);
	for (round = 0; round < CUTS; round++) {
		/* Somewhere in the requests, of which the longest takes that much; or in an answer. */
		if (round % 8 < 4)
			cable_cut(pair.lab.cable, CABLE_BACK, draw(&state, PAIR_DATA / 2 + 1000));
		else
			cable_cut(pair.lab.cable, CABLE_THERE,
				  draw(&state, sizeof(struct wire_head) + sizeof(struct wire_answer)));
		right += exchange(&pair, round);
		if (right <= round)
			break;
	}
	ok(right == CUTS, "%u of %u requests ended well, and once, over a link that was cut", right,
	   CUTS);
	ok(cable_count(pair.lab.cable) - before >= CUTS / 2, "which it was %u times",
	   cable_count(pair.lab.cable) - before);
	lab_close(&pair.lab);
}

/* The other program has gone for good. */
static void test_gone(void)
{
	struct pvrdma_sqe sqe = { .wr_id = 5, .opcode = PVRDMA_WR_SEND };
	struct pvrdma_cqe cqe = { .status = 99 };
	struct pair pair;

	pair_open(&pair);
	guest_recv(&pair.qp[1], 1, &pair.mr[1], 0, PAIR_DATA);
	cable_close(pair.lab.cable);
	pair.lab.cable = NULL;
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, PAIR_DATA);
	ok(completion(&pair, 0, &cqe) && cqe.status == PVRDMA_WC_RETRY_EXC,
	   "a program that is gone is a peer that does not answer");
	ok(guest_state(&pair.qp[1]) == PVRDMA_QPS_RTS, "whose QP knows nothing of it");
	lab_close(&pair.lab);
}

/* ---- programs that are no server */

static int dial(const struct lab *lab)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)lab;
	snprintf(name.sun_path, sizeof(name.sun_path), "/tmp/eadm-pvrdma-test.%d.link0", getpid());
	guest_must(!connect(fd, (struct sockaddr *)&name, sizeof(name)), "connect");
	return fd;
}

static void say_as(int fd, uint8_t type, const void *data, uint32_t size, uint32_t said)
{
	struct wire_head head = { .size = said, .type = type };

	if (send(fd, &head, sizeof(head), MSG_NOSIGNAL) == sizeof(head) && size)
		(void)!send(fd, data, size, MSG_NOSIGNAL);
}

static void greet(int fd)
{
	const struct wire_hello hello = { .magic = WIRE_MAGIC, .version = WIRE_VERSION };

	say_as(fd, WIRE_HELLO, &hello, sizeof(hello), sizeof(hello));
}

/* Whether the server has hung up; what it says is thrown away. */
static bool hung_up(struct lab *lab, int fd)
{
	char data[4096];
	ssize_t got;

	lab_run(lab);
	while ((got = recv(fd, data, sizeof(data), MSG_DONTWAIT)) > 0)
		lab_run(lab);
	return !got || (got < 0 && errno == ECONNRESET);
}

static bool refuses(struct lab *lab, bool greeted, uint8_t type, const void *data, uint32_t size,
		    uint32_t said)
{
	int fd = dial(lab);
	bool gone;

	if (greeted)
		greet(fd);
	say_as(fd, type, data, size, said);
	gone = hung_up(lab, fd);
	close(fd);
	return gone;
}

static void test_strangers(void)
{
	struct wire_hello old = { .magic = WIRE_MAGIC, .version = WIRE_VERSION + 1 };
	struct wire_request request = { .opcode = IBV_WR_RDMA_WRITE, .size = 8, .length = 8 };
	struct wire_answer answer = { .kind = WIRE_DONE };
	unsigned char noise[512];
	unsigned int i, gone = 0, turn;
	uint64_t state = 7;
	struct pair pair;
	struct lab *lab = &pair.lab;
	int fd;

	pair_open(&pair);
	ok(refuses(lab, false, WIRE_GID, &old, sizeof(old), sizeof(old)), "nothing goes without a greeting");
	ok(refuses(lab, false, WIRE_HELLO, &old, sizeof(old), sizeof(old)), "another version is refused");
	ok(refuses(lab, true, WIRE_HELLO, &old, sizeof(old), sizeof(old)), "so is a second greeting");
	ok(refuses(lab, true, 99, NULL, 0, 0), "unknown message");
	ok(refuses(lab, true, WIRE_REQUEST, NULL, 0, 1u << 31), "a message that is too long");
	ok(refuses(lab, true, WIRE_REQUEST, &request, 8, 8), "one that is too short");
	ok(refuses(lab, true, WIRE_REQUEST, &request, sizeof(request), sizeof(request)),
	   "a request without its data");
	request.offset = 4;
	ok(refuses(lab, true, WIRE_REQUEST, &request, sizeof(request), sizeof(request)),
	   "one beyond its end");
	ok(refuses(lab, true, WIRE_ANSWER, &answer, sizeof(answer), sizeof(answer)),
	   "an answer that was not asked for");
	for (turn = 0; turn < 200; turn++) {
		for (i = 0; i < sizeof(noise); i++)
			noise[i] = (unsigned char)draw(&state, 256);
		gone += refuses(lab, true, (uint8_t)draw(&state, 6), noise,
				(uint32_t)draw(&state, sizeof(noise)), (uint32_t)draw(&state, 600));
	}
	ok(exchange(&pair, 0) && exchange(&pair, 1) && exchange(&pair, 2) && exchange(&pair, 3),
	   "noise of 200 strangers, of whom %u were hung up on, leaves the others alone", gone);
	fd = dial(lab);
	greet(fd);
	ok(!hung_up(lab, fd), "who only greets may stay");
	close(fd);
	lab_close(lab);
}

/* SO_PASSRIGHTS, which older C libraries do not define. */
static bool has_passrights(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), off = 0;
	bool has = !setsockopt(fd, SOL_SOCKET, 83, &off, sizeof(off));

	close(fd);
	return has;
}

/* The loop would have to close a descriptor, which may take long. */
static void test_no_descriptors(void)
{
	struct client client = { 0 };
	struct pair pair;
	int peer, slow;

	pair_open(&pair);
	slow = client_lingering(&peer);
	client.fd = dial(&pair.lab);
	greet(client.fd);
	if (has_passrights())
		ok(client_send(&client, "", 1, &slow, 1) == -EPIPE && exchange(&pair, 1),
		   "a link does not take descriptors");
	else
		printf("# this kernel does not refuse descriptors\n");
	close(client.fd);
	close(peer);
	close(slow);
	lab_close(&pair.lab);
}

/* A stranger's requests to a QP that is connected to somebody else. */
static void test_no_hijack(void)
{
	struct {
		struct wire_request head;
		unsigned char data[8];
	} request = {
		.head = {
			.token = 1, .opcode = IBV_WR_RDMA_WRITE, .size = 8, .length = 8, .number = 1,
		},
		.data = { 0xba, 0xad },
	};
	struct wire_gid gid = { .there = 1 };
	struct pair pair;
	struct lab *lab = &pair.lab;
	int fd;

	pair_open(&pair);
	memset(pair_bytes(&pair, 0), 0, 8);
	fd = dial(lab);
	greet(fd);
	memcpy(request.head.to, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\1", 16);
	memcpy(gid.gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\3", 16);
	say_as(fd, WIRE_GID, &gid, sizeof(gid), sizeof(gid));
	request.head.requester = pair.qp[1].qpn;
	request.head.responder = pair.qp[0].qpn;
	request.head.addr = pair.mr[0].address;
	request.head.rkey = pair.mr[0].rkey;
	say_as(fd, WIRE_REQUEST, &request, sizeof(request.head) + 8, sizeof(request.head) + 8);
	ok(!hung_up(lab, fd) && !memcmp(pair_bytes(&pair, 0), "\0\0\0\0\0\0\0\0", 8),
	   "a QP takes requests only of the program that has its peer's GID");
	ok(exchange(&pair, 1), "and its connection goes on");
	close(fd);
	lab_close(lab);
}

/* ---- the window */

/* A send that fails because its memory is absent, which is found when it is read. */
static void test_absent_memory(void)
{
	struct pvrdma_sqe sqe = { .opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED };
	struct pvrdma_cmd_create_mr cmd = { .flags = PVRDMA_MR_DMA, .access = 1 };
	const struct pvrdma_resp_create_mr *resp;
	struct guest_mr absent = { .address = 0x7f0000000000 };
	unsigned int i, failed = 0;
	struct pair pair;

	pair_open(&pair);
	cmd.pd = pair.pd[0];
	resp = (void *)pair.lab.guests[0].resp;
	guest_must(!guest_command(&pair.lab.guests[0], PVRDMA_CMD_CREATE_MR, &cmd, sizeof(cmd)),
		   "DMA MR");
	absent.lkey = resp->lkey;
	for (i = 0; i < WIRE_WINDOW; i++) {
		guest_send(&pair.qp[0], &sqe, &absent, 0, 64);
		failed += pair_ends(&pair, 0, 0, PVRDMA_WC_LOC_PROT_ERR);
		pair_reconnect(&pair);
	}
	ok(failed == WIRE_WINDOW, "sends from absent memory fail");
	ok(exchange(&pair, 0), "and leave the window to other requests");
	lab_close(&pair.lab);
}

/* A program whose adapter has the GID 10.0.0.3, and which does only what a test does. */
static int dial_far(const struct lab *lab)
{
	struct wire_gid gid = { .there = 1 };
	int fd = dial(lab);

	greet(fd);
	memcpy(gid.gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\3", 16);
	say_as(fd, WIRE_GID, &gid, sizeof(gid), sizeof(gid));
	return fd;
}

/* A QP of guest 0 that sends to the far program; @mr: NULL for no data. */
static void send_far(struct pair *pair, uint64_t wr_id, const struct guest_mr *mr)
{
	struct pvrdma_sqe sqe = {
		.wr_id = wr_id, .opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED,
	};
	struct guest_qp_want want = {
		.pd = pair->pd[0], .depth = 1, .sge = 1, .cq = &pair->cq[0],
		.type = PVRDMA_QPT_RC,
	};
	struct guest_qp qp = guest_qp(&pair->lab.guests[0], &want);

	guest_must(guest_connect(&qp, 7, 3), "connection");
	guest_send(&qp, &sqe, mr, 0, mr ? 64 : 0);
}

/* The number of requests that have arrived at the far program; the last one. */
static unsigned int arrived(struct lab *lab, int fd, struct wire_request *last)
{
	static unsigned char data[64u << 10];
	unsigned int count = 0;
	struct wire_head head;
	ssize_t got, at;

	lab_run(lab);
	got = recv(fd, data, sizeof(data), MSG_DONTWAIT);
	for (at = 0; at + (ssize_t)sizeof(head) <= got; at += (ssize_t)(sizeof(head) + head.size)) {
		memcpy(&head, data + at, sizeof(head));
		if (head.type != WIRE_REQUEST)
			continue;
		count++;
		memcpy(last, data + at + sizeof(head), sizeof(*last));
	}
	return count;
}

static void test_silent(void)
{
	unsigned int i, failed = 0;
	struct pvrdma_cqe cqe;
	struct pair pair;
	int fd;

	pair_open(&pair);
	pair.lab.guests[0].patient = false;
	fd = dial_far(&pair.lab);
	for (i = 0; i < WIRE_WINDOW - 4; i++)
		send_far(&pair, i, NULL);
	/* The CQ does not hold all completions at once. */
	while (failed < i && completion(&pair, 0, &cqe) && cqe.status == PVRDMA_WC_RETRY_EXC)
		failed++;
	for (; i < WIRE_WINDOW + 6; i++)
		send_far(&pair, i, NULL);
	while (failed < i && completion(&pair, 0, &cqe) && cqe.status == PVRDMA_WC_RETRY_EXC)
		failed++;
	ok(failed == i, "requests to a silent program fail, also beyond the window (%u of %u)", failed,
	   i);
	close(fd);
	lab_close(&pair.lab);
}

/* The QP that is woken for a free slot fails without a request. */
static void test_pass_on(void)
{
	struct wire_answer answer = { .kind = WIRE_DONE };
	struct wire_request request = { 0 };
	struct guest_mr gone;
	struct pair pair;
	unsigned int i;
	int fd;

	pair_open(&pair);
	gone = guest_mr(&pair.lab.guests[0], pair.pd[0], 64, ALL_ACCESS);
	fd = dial_far(&pair.lab);
	for (i = 0; i < WIRE_WINDOW; i++)
		send_far(&pair, i, NULL);
	send_far(&pair, i, &gone);
	send_far(&pair, i + 1, &pair.mr[0]);
	guest_about(&pair.lab.guests[0], PVRDMA_CMD_DESTROY_MR, gone.handle);
	ok(arrived(&pair.lab, fd, &request) == WIRE_WINDOW, "no request exceeds the window");
	answer.token = request.token;
	answer.port = request.port;
	answer.requester = request.requester;
	say_as(fd, WIRE_ANSWER, &answer, sizeof(answer), sizeof(answer));
	ok(arrived(&pair.lab, fd, &request) == 1 && request.size == 64,
	   "a QP that fails in its turn passes the turn on");
	close(fd);
	lab_close(&pair.lab);
}

/* Whether the server hangs up on @count requests at once. */
static bool refuses_requests(struct lab *lab, int fd, unsigned int count)
{
	static struct {
		struct wire_head head;
		struct wire_request request;
	} requests[WIRE_WINDOW + 1];
	unsigned int i;

	for (i = 0; i < count; i++) {
		requests[i].head = (struct wire_head){
			.size = sizeof(requests->request), .type = WIRE_REQUEST,
		};
		requests[i].request.opcode = IBV_WR_SEND;
	}
	guest_must(send(fd, requests, count * sizeof(*requests), MSG_NOSIGNAL) ==
		   (ssize_t)(count * sizeof(*requests)), "send");
	return hung_up(lab, fd);
}

static void test_window(void)
{
	unsigned int i, refused = 0;
	struct pair pair;
	int fd;

	pair_open(&pair);
	fd = dial_far(&pair.lab);
	for (i = 0; i < 3; i++)
		refused += refuses_requests(&pair.lab, fd, WIRE_WINDOW);
	ok(!refused, "a program may use the whole window, again and again");
	ok(refuses_requests(&pair.lab, fd, WIRE_WINDOW + 1), "but not more");
	close(fd);
	lab_close(&pair.lab);
}

/* ---- a request whose responder changes its place */

/* The far program answers the last request. */
static void answer_far(int fd, const struct wire_request *request, uint8_t kind)
{
	const struct wire_answer answer = {
		.token = request->token,
		.port = request->port,
		.requester = request->requester,
		.kind = kind,
	};

	say_as(fd, WIRE_ANSWER, &answer, sizeof(answer), sizeof(answer));
}

/* 10.0.0.3 at index 1 of guest 0 */
static uint32_t bind_far_gid(struct pair *pair)
{
	struct pvrdma_cmd_create_bind cmd = { .mtu = 1024, .vlan = 0xfff, .type = 2, .index = 1 };

	memcpy(cmd.gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\3", 16);
	return guest_command(&pair->lab.guests[0], PVRDMA_CMD_CREATE_BIND, &cmd, sizeof(cmd));
}

/*
 * Returns the status of a request of guest 0 that the far program, which has no such QP,
 * does not execute. Its GID then moves to guest 0, where QP @to has that number.
 */
static uint32_t status_after_move(struct pair *pair, struct pvrdma_sqe *sqe, uint32_t length,
				  uint32_t access)
{
	struct guest_qp_want want = {
		.pd = pair->pd[0], .depth = 1, .sge = 1, .cq = &pair->cq[0],
		.type = PVRDMA_QPT_RC,
	};
	struct guest_qp from = guest_qp(&pair->lab.guests[0], &want);
	struct guest_qp to = guest_qp(&pair->lab.guests[0], &want);
	struct pvrdma_cmd_destroy_bind cmd = { .index = 1 };
	struct pvrdma_qp_attr attr = { .access = access };
	struct wire_request request = { 0 };
	struct pvrdma_cqe cqe = { 0 };
	int fd = dial_far(&pair->lab);

	guest_must(guest_connect(&from, to.qpn, 3) && guest_connect(&to, from.qpn, 1) &&
		   !guest_modify(&to, PVRDMA_QP_ATTR_ACCESS, &attr), "connection");
	guest_recv(&to, 100, &pair->mr[0], 0, 64);
	sqe->wr_id = 1;
	sqe->flags = PVRDMA_WR_SIGNALED;
	guest_send(&from, sqe, &pair->mr[0], 128, length);
	guest_must(arrived(&pair->lab, fd, &request) == 1, "request");
	answer_far(fd, &request, WIRE_NOBODY);
	lab_run(&pair->lab);
	close(fd);
	lab_run(&pair->lab);
	guest_must(!bind_far_gid(pair), "CREATE_BIND");
	do {
		guest_must(completion(pair, 0, &cqe), "completion");
	} while (cqe.wr_id != 1);
	guest_must(!guest_command(&pair->lab.guests[0], PVRDMA_CMD_DESTROY_BIND, &cmd, sizeof(cmd)),
		   "DESTROY_BIND");
	return cqe.status;
}

static void test_move(void)
{
	struct pvrdma_sqe send = { .opcode = PVRDMA_WR_SEND };
	struct pvrdma_sqe read = { .opcode = PVRDMA_WR_READ };
	struct pvrdma_sqe atomic = { .opcode = PVRDMA_WR_FETCH_ADD };
	struct guest_mr page;
	uint64_t *bytes, beyond;
	struct pair pair;

	pair_open(&pair);
	page = guest_mr(&pair.lab.guests[0], pair.pd[0], GUEST_PAGE, ALL_ACCESS);
	bytes = guest_at(&pair.lab.guests[0], page.address);
	ok(!status_after_move(&pair, &send, 64, ALL_ACCESS),
	   "a request that a linked program refused begins within this program");
	read.rdma.addr = page.address;
	read.rdma.rkey = page.rkey;
	ok(status_after_move(&pair, &read, 8, 0) == PVRDMA_WC_REM_ACCESS_ERR,
	   "where the responder's access flags apply");
	atomic.atomic.addr = page.address + GUEST_PAGE - 4;
	atomic.atomic.rkey = page.rkey;
	atomic.atomic.compare_add = 1ull << 32;
	beyond = bytes[GUEST_PAGE / 8];
	ok(status_after_move(&pair, &atomic, 8, ALL_ACCESS) == PVRDMA_WC_REM_ACCESS_ERR &&
	   bytes[GUEST_PAGE / 8] == beyond,
	   "and an atomic operation cannot reach beyond the memory region");
	lab_close(&pair.lab);
}

/* ---- repeated pieces */

/* The response to a request of the far program; kind 99: none. */
static struct wire_answer respond(struct lab *lab, int fd, const struct wire_request *request,
				  unsigned char *data)
{
	static unsigned char bytes[1u << 20];
	struct wire_answer answer = { .kind = 99 };
	struct wire_head head;
	size_t n = 0, at;
	ssize_t got;

	say_as(fd, WIRE_REQUEST, request, sizeof(*request), sizeof(*request));
	do {
		lab_run(lab);
		got = recv(fd, bytes + n, sizeof(bytes) - n, MSG_DONTWAIT);
		n += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	for (at = 0; at + sizeof(head) <= n; at += sizeof(head) + head.size) {
		memcpy(&head, bytes + at, sizeof(head));
		if (head.type != WIRE_ANSWER)
			continue;
		memcpy(&answer, bytes + at + sizeof(head), sizeof(answer));
		memcpy(data, bytes + at + sizeof(head) + sizeof(answer), answer.size);
	}
	return answer;
}

/* A request of QP 7 of the far program to guest 0's QP. */
static struct wire_request request_far(const struct pair *pair, uint8_t opcode, uint32_t size)
{
	struct wire_request request = {
		.requester = 7, .responder = pair->qp[0].qpn, .number = 1,
		.addr = pair->mr[0].address, .rkey = pair->mr[0].rkey,
		.length = size, .size = size, .opcode = opcode, .compare_add = 1,
	};

	memcpy(request.to, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\1", 16);
	return request;
}

static void reconnect_far(struct pair *pair)
{
	struct pvrdma_qp_attr reset = { .state = PVRDMA_QPS_RESET };

	guest_must(!guest_modify(&pair->qp[0], PVRDMA_QP_ATTR_STATE, &reset) &&
		   guest_connect(&pair->qp[0], 7, 3), "connection");
}

static void test_repeated(void)
{
	struct pvrdma_qp_attr none = { .access = 0 };
	struct wire_request write, read, atomic;
	static unsigned char data[WIRE_PIECE];
	struct wire_answer answer;
	uint64_t word = 5;
	struct pair pair;
	int fd;

	pair_open(&pair);
	fd = dial_far(&pair.lab);
	reconnect_far(&pair);
	write = request_far(&pair, IBV_WR_RDMA_WRITE, 0);
	read = request_far(&pair, IBV_WR_RDMA_READ, 64);
	atomic = request_far(&pair, IBV_WR_ATOMIC_FETCH_AND_ADD, sizeof(word));
	memcpy(pair_bytes(&pair, 0), &word, sizeof(word));
	guest_must(respond(&pair.lab, fd, &atomic, data).kind == WIRE_DONE, "atomic operation");
	memset(data, 0, sizeof(data));
	answer = respond(&pair.lab, fd, &atomic, data);
	memcpy(&word, pair_bytes(&pair, 0), sizeof(word));
	ok(answer.kind == WIRE_DONE && answer.size == sizeof(word) && data[0] == 5 && word == 6,
	   "a repeated atomic operation has the same result, and is not executed twice");
	reconnect_far(&pair);
	guest_must(respond(&pair.lab, fd, &write, data).kind == WIRE_DONE, "write");
	answer = respond(&pair.lab, fd, &atomic, data);
	ok(answer.kind == WIRE_NOBODY && !answer.size,
	   "an atomic operation that was not executed on this connection is not repeated");
	atomic.length = atomic.size = WIRE_PIECE;
	answer = respond(&pair.lab, fd, &atomic, data);
	ok(answer.kind == WIRE_NOBODY && !answer.size, "also if it is too long");
	read.number = 2;
	guest_must(respond(&pair.lab, fd, &read, data).kind == WIRE_DONE, "read");
	answer = respond(&pair.lab, fd, &read, data);
	ok(answer.kind == WIRE_DONE && answer.size == 64, "a read is repeated");
	guest_modify(&pair.qp[0], PVRDMA_QP_ATTR_ACCESS, &none);
	answer = respond(&pair.lab, fd, &read, data);
	ok(answer.kind == WIRE_FAILED && answer.status == IBV_WC_REM_ACCESS_ERR,
	   "unless the QP does not permit it any more");
	close(fd);
	lab_close(&pair.lab);
}

/* Its first piece would be followed by one that no honest program accepts. */
static void test_long_atomic(void)
{
	struct pvrdma_sqe sqe = { .opcode = PVRDMA_WR_FETCH_ADD, .flags = PVRDMA_WR_SIGNALED };
	static struct {
		struct wire_answer head;
		unsigned char data[WIRE_PIECE];
	} answer;
	struct wire_request request = { 0 };
	struct pair pair;
	int fd;

	pair_open(&pair);
	fd = dial_far(&pair.lab);
	reconnect_far(&pair);
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 2 * WIRE_PIECE);
	guest_must(arrived(&pair.lab, fd, &request) == 1, "request");
	answer.head = (struct wire_answer){
		.token = request.token, .port = request.port, .requester = request.requester,
		.size = WIRE_PIECE, .kind = WIRE_DONE,
	};
	say_as(fd, WIRE_ANSWER, &answer, sizeof(answer), sizeof(answer));
	ok(hung_up(&pair.lab, fd), "an atomic operation of more than 8 bytes cannot succeed");
	close(fd);
	lab_close(&pair.lab);
}

/* ---- GIDs that several programs announce */

static void announce(struct lab *lab, int fd, uint8_t last, bool there)
{
	struct wire_gid gid = { .there = there };

	memcpy(gid.gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0", 15);
	gid.gid[15] = last;
	say_as(fd, WIRE_GID, &gid, sizeof(gid), sizeof(gid));
	lab_run(lab);
}

static void test_owner(void)
{
	static unsigned char data[WIRE_PIECE];
	struct wire_request write;
	struct pair pair;
	struct lab *lab = &pair.lab;
	int first, second;

	pair_open(&pair);
	first = dial_far(lab);
	reconnect_far(&pair);
	second = dial_far(lab);
	lab_run(lab);
	write = request_far(&pair, IBV_WR_RDMA_WRITE, 0);
	ok(respond(lab, first, &write, data).kind == WIRE_DONE,
	   "a GID belongs to the first program that announces it");
	write.number = 2;
	ok(respond(lab, second, &write, data).kind == WIRE_NOBODY, "and not to another one");
	announce(lab, first, 3, true);
	ok(respond(lab, second, &write, data).kind == WIRE_NOBODY, "also if it is announced again");
	announce(lab, first, 3, false);
	ok(respond(lab, second, &write, data).kind == WIRE_DONE, "until the first one drops it");
	announce(lab, first, 3, true);
	write.number = 3;
	ok(respond(lab, first, &write, data).kind == WIRE_NOBODY, "which is then the other one");
	close(second);
	lab_run(lab);
	ok(respond(lab, first, &write, data).kind == WIRE_DONE, "until its link is lost");
	close(first);
	lab_close(lab);
}

/* A GID of guest 0, whose QP is connected to itself. */
static void test_own_gid(void)
{
	struct pvrdma_cmd_create_bind cmd = { .mtu = 1024, .vlan = 0xfff, .type = 2, .index = 1 };
	struct pvrdma_qp_attr reset = { .state = PVRDMA_QPS_RESET };
	static unsigned char data[WIRE_PIECE];
	struct wire_request write;
	struct pair pair;
	struct lab *lab = &pair.lab;
	int fd;

	pair_open(&pair);
	guest_must(!guest_modify(&pair.qp[0], PVRDMA_QP_ATTR_STATE, &reset) &&
		   guest_connect(&pair.qp[0], 7, 1), "connection");
	fd = dial(lab);
	greet(fd);
	announce(lab, fd, 1, true);
	write = request_far(&pair, IBV_WR_RDMA_WRITE, 0);
	ok(respond(lab, fd, &write, data).kind == WIRE_NOBODY,
	   "a linked program cannot take a GID of this program");
	memcpy(cmd.gid, write.to, sizeof(cmd.gid));
	ok(!guest_command(&lab->guests[0], PVRDMA_CMD_CREATE_BIND, &cmd, sizeof(cmd)),
	   "or keep it from being bound at another index");
	close(fd);
	lab_close(lab);
}

/* Linked programs must not fill the host's disk. */
static void test_log(void)
{
	struct wire_hello old = { .magic = WIRE_MAGIC, .version = WIRE_VERSION + 1 };
	unsigned int i, before = lab_link_lines(), lines;
	struct pair pair;
	struct lab *lab = &pair.lab;
	int fd;

	pair_open(&pair);
	for (i = 0; i < 1000; i++)
		refuses(lab, false, WIRE_HELLO, &old, sizeof(old), sizeof(old));
	lines = lab_link_lines() - before;
	ok(lines >= 10 && lines < 300, "1000 links that fail: %u lines in the log", lines);
	fd = dial(lab);
	greet(fd);
	before = lab_link_lines();
	for (i = 0; i < 1000; i++) {
		announce(lab, fd, 1, true);
		announce(lab, fd, 1, false);
	}
	lines = lab_link_lines() - before;
	ok(lines < 300, "and 1000 claims of another adapter's GID: %u", lines);
	close(fd);
	lab_close(lab);
}

static void send_datagram(struct lab *lab, int fd, uint32_t qpn, uint8_t from)
{
	struct {
		struct wire_datagram head;
		unsigned char header[40];
	} datagram = { .head = { .qpn = qpn, .qkey = 5, .net_type = 1 } };

	memcpy(datagram.head.to, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\1", 16);
	memcpy(datagram.header + 32, "\x0a\0\0", 3);
	datagram.header[35] = from;
	say_as(fd, WIRE_DATAGRAM, &datagram, sizeof(datagram), sizeof(datagram));
	lab_run(lab);
}

static void test_datagram_source(void)
{
	struct pvrdma_qp_attr attr = { .qkey = 5, .port = 1 };
	unsigned int forged = 0;
	struct guest_qp_want want;
	struct pvrdma_cqe cqe;
	struct guest_qp qp;
	struct pair pair;
	uint8_t from;
	int fd;

	pair_open(&pair);
	want = (struct guest_qp_want){
		.pd = pair.pd[0], .depth = 8, .sge = 1, .cq = &pair.cq[0], .type = PVRDMA_QPT_UD,
	};
	qp = guest_qp(&pair.lab.guests[0], &want);
	for (attr.state = PVRDMA_QPS_INIT; attr.state <= PVRDMA_QPS_RTS; attr.state++)
		guest_modify(&qp, 0x71, &attr);
	for (from = 1; from <= 4; from++)
		guest_recv(&qp, from, &pair.mr[0], 0, 64);
	fd = dial_far(&pair.lab);
	/* 10.0.0.1 is of this program, 10.0.0.2 of the other one, 10.0.0.4 of none. */
	announce(&pair.lab, fd, 1, true);
	announce(&pair.lab, fd, 2, true);
	for (from = 1; from <= 4; from++) {
		if (from == 3)
			continue;
		send_datagram(&pair.lab, fd, qp.qpn, from);
		forged += guest_completion(&pair.lab.guests[0], &pair.cq[0], &cqe);
	}
	ok(!forged, "a program cannot send datagrams from GIDs of other programs");
	send_datagram(&pair.lab, fd, qp.qpn, 3);
	ok(guest_completion(&pair.lab.guests[0], &pair.cq[0], &cqe) && !cqe.status,
	   "but from a GID that it has announced");
	close(fd);
	lab_close(&pair.lab);
}

int main(void)
{
	lab_linked = true;
	test_cuts();
	test_gone();
	test_strangers();
	test_no_descriptors();
	test_no_hijack();
	test_absent_memory();
	test_silent();
	test_pass_on();
	test_window();
	test_move();
	test_repeated();
	test_long_atomic();
	test_owner();
	test_own_gid();
	test_log();
	test_datagram_source();
	return done();
}
