// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A native peer: does on an RDMA device what a test on the other side asks for over a
 * TCP connection, a line for each request, and a line as the answer.
 *
 * Usage: verbs-peer DEVICE GID-INDEX PORT
 *
 *   connect rc|ud QPN PSN GID   "QPN PSN GID ADDRESS RKEY" of the peer
 *   fill OFFSET LENGTH SEED     "ok"; bytes of the buffer
 *   check OFFSET LENGTH SEED    "ok" or "byte N is ..."
 *   recv COUNT LENGTH           "ok": receives, all at the buffer's begin
 *   wait COUNT                  "STATUS LENGTH OPCODE IMM QPN" of the last completion
 *   send|imm OFFSET LENGTH      the same, of the request
 *   write|read|add OFFSET LENGTH ADDRESS RKEY
 *   state                       "N" of the QP
 *   quit
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pattern.h"

#define SIZE (16u << 20)
#define DEPTH 256
#define QKEY 0x11111111
#define GRH 40
#define WAIT_MS 60000

struct peer {
	struct ibv_context *context;
	int gid_index;
	union ibv_gid gid;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	uint32_t remote_qpn;
	unsigned char *buffer;
	struct ibv_mr *mr;
	FILE *talk;
};

static void must(bool well, const char *what)
{
	if (well)
		return;
	fprintf(stderr, "verbs-peer: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void open_device(struct peer *peer, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			peer->context = ibv_open_device(list[i]);
	must(peer->context && !ibv_query_gid(peer->context, 1, peer->gid_index, &peer->gid), name);
	ibv_free_device_list(list);
	peer->pd = ibv_alloc_pd(peer->context);
	peer->channel = ibv_create_comp_channel(peer->context);
	peer->buffer = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(peer->pd && peer->channel && peer->buffer != MAP_FAILED, "memory");
	peer->mr = ibv_reg_mr(peer->pd, peer->buffer, SIZE,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	must(peer->mr != NULL, "registration");
}

static void to_hex(const union ibv_gid *gid, char text[33])
{
	int i;

	for (i = 0; i < 16; i++)
		sprintf(text + 2 * i, "%02x", gid->raw[i]);
}

static void from_hex(const char *text, union ibv_gid *gid)
{
	int i;

	for (i = 0; i < 16; i++)
		sscanf(text + 2 * i, "%2hhx", &gid->raw[i]);
}

static void make_qp(struct peer *peer, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = type,
		.sq_sig_all = 1,
	};

	peer->cq = ibv_create_cq(peer->context, 2 * DEPTH, NULL, peer->channel, 0);
	must(peer->cq != NULL, "CQ");
	init.send_cq = init.recv_cq = peer->cq;
	peer->qp = ibv_create_qp(peer->pd, &init);
	must(peer->qp != NULL, "QP");
}

static void to_rts(struct peer *peer, bool rc, uint32_t psn, const union ibv_gid *gid)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY, .path_mtu = IBV_MTU_1024,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
		.dest_qp_num = peer->remote_qpn, .rq_psn = psn, .max_dest_rd_atomic = 1,
		.max_rd_atomic = 1, .min_rnr_timer = 12, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.ah_attr = {
			.is_global = 1, .port_num = 1,
			.grh = { .dgid = *gid, .sgid_index = (uint8_t)peer->gid_index, .hop_limit = 64 },
		},
	};
	int ret = ibv_modify_qp(peer->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				(rc ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY));

	attr.qp_state = IBV_QPS_RTR;
	ret |= ibv_modify_qp(peer->qp, &attr, IBV_QP_STATE |
			     (rc ? IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0));
	attr.qp_state = IBV_QPS_RTS;
	ret |= ibv_modify_qp(peer->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
			     (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				   IBV_QP_MAX_QP_RD_ATOMIC : 0));
	must(!ret, "connection");
	if (!rc) {
		peer->ah = ibv_create_ah(peer->pd, &attr.ah_attr);
		must(peer->ah != NULL, "address handle");
	}
}

static void connect_qp(struct peer *peer, const char *line)
{
	char type[4], hex[33];
	union ibv_gid gid;
	uint32_t psn;
	bool rc;

	must(sscanf(line, "connect %3s %x %x %32s", type, &peer->remote_qpn, &psn, hex) == 4,
	     "connect");
	rc = !strcmp(type, "rc");
	from_hex(hex, &gid);
	make_qp(peer, rc ? IBV_QPT_RC : IBV_QPT_UD);
	to_rts(peer, rc, psn, &gid);
	to_hex(&peer->gid, hex);
	fprintf(peer->talk, "%x 0 %s %" PRIx64 " %x\n", peer->qp->qp_num, hex,
		(uint64_t)(uintptr_t)peer->buffer, peer->mr->rkey);
}

static void disconnect(struct peer *peer)
{
	if (peer->qp)
		ibv_destroy_qp(peer->qp);
	if (peer->ah)
		ibv_destroy_ah(peer->ah);
	if (peer->cq)
		ibv_destroy_cq(peer->cq);
	peer->qp = NULL;
	peer->ah = NULL;
	peer->cq = NULL;
}

static bool next_completion(struct peer *peer, struct ibv_wc *wc)
{
	struct pollfd fd = { .fd = peer->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	for (;;) {
		if (ibv_poll_cq(peer->cq, 1, wc) == 1)
			return true;
		ibv_req_notify_cq(peer->cq, 0);
		if (ibv_poll_cq(peer->cq, 1, wc) == 1)
			return true;
		if (poll(&fd, 1, WAIT_MS) != 1)
			return false;
		if (!ibv_get_cq_event(peer->channel, &cq, &context))
			ibv_ack_cq_events(cq, 1);
	}
}

static void wait_for(struct peer *peer, unsigned int count)
{
	struct ibv_wc wc = { 0 };
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!next_completion(peer, &wc) || wc.status)
			break;
	if (i < count && !wc.status)
		fprintf(peer->talk, "%u of %u came\n", i, count);
	else
		fprintf(peer->talk, "%d %u %d %x %x\n", wc.status, wc.byte_len, wc.opcode,
			ntohl(wc.imm_data), wc.src_qp);
}

static void receive(struct peer *peer, unsigned int count, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)peer->buffer, length, peer->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	int ret = 0;

	while (count--)
		ret |= ibv_post_recv(peer->qp, &wr, &bad);
	fprintf(peer->talk, ret ? "refused\n" : "ok\n");
}

static void post(struct peer *peer, const char *verb, uint64_t offset, uint32_t length,
		 uint64_t address, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)peer->buffer + offset, length, peer->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;

	if (!strcmp(verb, "imm")) {
		wr.opcode = IBV_WR_SEND_WITH_IMM;
		wr.imm_data = htonl(0xfeedbeef);
	} else if (!strcmp(verb, "write") || !strcmp(verb, "read")) {
		wr.opcode = *verb == 'w' ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
		wr.wr.rdma.remote_addr = address;
		wr.wr.rdma.rkey = rkey;
	} else if (!strcmp(verb, "add")) {
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.wr.atomic.remote_addr = address;
		wr.wr.atomic.compare_add = 5;
		wr.wr.atomic.rkey = rkey;
	}
	if (peer->ah) {
		wr.wr.ud.ah = peer->ah;
		wr.wr.ud.remote_qpn = peer->remote_qpn;
		wr.wr.ud.remote_qkey = QKEY;
	}
	if (ibv_post_send(peer->qp, &wr, &bad))
		fprintf(peer->talk, "refused\n");
	else
		wait_for(peer, 1);
}

static void tell_state(struct peer *peer)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { 0 };

	ibv_query_qp(peer->qp, &attr, IBV_QP_STATE, &init);
	fprintf(peer->talk, "%d\n", attr.qp_state);
}

static bool request(struct peer *peer, const char *line)
{
	uint64_t a = 0, b = 0, address = 0;
	char verb[16] = "";
	uint32_t rkey = 0;

	sscanf(line, "%15s %" SCNu64 " %" SCNu64 " %" SCNx64 " %x", verb, &a, &b, &address, &rkey);
	if (!strcmp(verb, "quit"))
		return false;
	if (!strcmp(verb, "connect")) {
		disconnect(peer);
		connect_qp(peer, line);
	} else if (!strcmp(verb, "fill") || !strcmp(verb, "check")) {
		must(a + b <= SIZE, line);
		if (*verb == 'f')
			pattern_fill(peer->buffer + a, 0, b, (unsigned int)address);
		fprintf(peer->talk, pattern_is(peer->buffer + a, 0, b, (unsigned int)address) ?
			"ok\n" : "the data differ\n");
	} else if (!strcmp(verb, "recv")) {
		receive(peer, (unsigned int)a, (uint32_t)b);
	} else if (!strcmp(verb, "wait")) {
		wait_for(peer, (unsigned int)a);
	} else if (!strcmp(verb, "state")) {
		tell_state(peer);
	} else {
		must(a + b <= SIZE, line);
		post(peer, verb, a, (uint32_t)b, address, rkey);
	}
	return true;
}

static int listen_at(const char *port)
{
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)atoi(port)),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	must(!bind(fd, (struct sockaddr *)&name, sizeof(name)) && !listen(fd, 1), "listen");
	return fd;
}

int main(int argc, char **argv)
{
	struct peer peer = { 0 };
	char line[256];
	int listener, fd;
	FILE *in;

	if (argc != 4)
		return 2;
	peer.gid_index = atoi(argv[2]);
	open_device(&peer, argv[1]);
	listener = listen_at(argv[3]);
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		in = fdopen(fd, "r");
		peer.talk = fdopen(dup(fd), "w");
		must(in && peer.talk, "connection");
		while (fgets(line, sizeof(line), in) && request(&peer, line))
			fflush(peer.talk);
		fclose(in);
		fclose(peer.talk);
		disconnect(&peer);
	}
	return 1;
}
