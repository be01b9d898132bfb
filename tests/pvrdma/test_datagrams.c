// SPDX-License-Identifier: GPL-2.0-or-later
/* Datagrams: who gets them, and the network header before them. */
#include <string.h>

#include "lab.h"
#include "tap.h"

#define QKEY 0x1111u
#define HEADER 40u
#define DATA 64u

static const uint8_t v4[2][16] = {
	{ [10] = 0xff, 0xff, 10, 0, 0, 1 }, { [10] = 0xff, 0xff, 10, 0, 0, 2 },
};
static const uint8_t v6[2][16] = {
	{ 0xfe, 0x80, [15] = 1 }, { 0xfe, 0x80, [15] = 2 },
};

/* Two guests with a UD QP each; the first one sends to the second one. */
struct post {
	struct lab lab;
	const uint8_t (*gids)[16];
	uint32_t pd[2];
	struct guest_mr mr[2];
	struct guest_cq cq[2];
	struct guest_qp qp[2];
};

static struct guest_qp make_qp(struct post *post, unsigned int i, uint8_t type)
{
	struct guest_qp_want want = {
		.pd = post->pd[i], .depth = 4, .sge = 1, .type = type, .cq = &post->cq[i],
	};
	struct guest_qp qp = guest_qp(&post->lab.guests[i], &want);
	struct pvrdma_qp_attr attr = { .qkey = QKEY, .port = 1 };

	for (attr.state = PVRDMA_QPS_INIT; attr.state <= PVRDMA_QPS_RTS; attr.state++)
		guest_modify(&qp, 0x71, &attr);
	return qp;
}

static void open_post(struct post *post, unsigned int version, const uint8_t (*gids)[16])
{
	unsigned int i;

	lab_open(&post->lab, version);
	post->gids = gids;
	for (i = 0; i < 2; i++) {
		struct guest *guest = &post->lab.guests[i];

		guest_probe(guest);
		guest_bind_gid(guest, gids[i]);
		post->pd[i] = guest_pd(guest, 0);
		post->mr[i] = guest_mr(guest, post->pd[i], 2 * GUEST_PAGE, ALL_ACCESS);
		post->cq[i] = guest_cq(guest, 0, 64);
		post->qp[i] = make_qp(post, i, PVRDMA_QPT_UD);
	}
}

static struct pvrdma_sqe to_second(const struct post *post)
{
	struct pvrdma_sqe sqe = {
		.wr_id = 1, .opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED,
		.ud = {
			.qpn = post->qp[1].qpn, .qkey = QKEY,
			.av = { .port_pd = 1u << 24 | post->pd[0], .hop_limit = 64,
				.flow = 0x05u << 20 | 0x12345 },
		},
	};

	memcpy(sqe.ud.av.dgid, post->gids[1], 16);
	return sqe;
}

static bool sent(struct post *post, struct pvrdma_sqe *sqe, uint32_t status)
{
	struct pvrdma_cqe cqe = { 0 };

	guest_send(&post->qp[0], sqe, &post->mr[0], 0, DATA);
	return guest_completion(&post->lab.guests[0], &post->cq[0], &cqe) && cqe.status == status;
}

/* The second one's next completion; false: there is none. */
static bool arrived(struct post *post, struct pvrdma_cqe *cqe)
{
	*cqe = (struct pvrdma_cqe){ 0 };
	return guest_completion(&post->lab.guests[1], &post->cq[1], cqe);
}

static void receive(struct post *post)
{
	memset(guest_at(&post->lab.guests[1], post->mr[1].address), 0xee, HEADER + DATA);
	guest_recv(&post->qp[1], 9, &post->mr[1], 0, HEADER + DATA);
}

/* hw 10.4 */
static void test_lost(void)
{
	struct pvrdma_sqe sqe;
	struct pvrdma_cqe cqe;
	struct post post;

	open_post(&post, 20, v4);
	receive(&post);
	sqe = to_second(&post);
	sqe.ud.qkey = QKEY + 1;
	ok(sent(&post, &sqe, 0) && !arrived(&post, &cqe), "one with another Q_Key is dropped");
	sqe = to_second(&post);
	sqe.ud.qpn = post.qp[1].qpn + 1;
	ok(sent(&post, &sqe, 0) && !arrived(&post, &cqe), "so is one for another QP");
	sqe = to_second(&post);
	sqe.ud.av.dgid[15] = 77;
	ok(sent(&post, &sqe, 0) && !arrived(&post, &cqe), "and one for nobody's GID");
	sqe = to_second(&post);
	ok(sent(&post, &sqe, 0) && arrived(&post, &cqe) && cqe.wr_id == 9 && !cqe.status,
	   "the receive is there for the right one");
	ok(sent(&post, &sqe, 0) && !arrived(&post, &cqe), "without a receive it is dropped");
	receive(&post);
	ok(!arrived(&post, &cqe), "and does not come later");
	sqe.ud.qkey = PVRDMA_QKEY_OWN | (QKEY + 1);
	ok(sent(&post, &sqe, 0) && arrived(&post, &cqe), "with bit 31 the Q_Key is the sender's own");
	lab_close(&post.lab);
}

static void test_immediate(void)
{
	struct pvrdma_sqe sqe;
	struct pvrdma_cqe cqe;
	struct guest *guest;
	struct post post;

	open_post(&post, 20, v4);
	guest = &post.lab.guests[1];
	sqe = to_second(&post);
	sqe.opcode = PVRDMA_WR_SEND_IMM;
	sqe.imm = 0x11223344;
	guest_ring(guest, 0, PVRDMA_UAR_CQ, post.cq[1].handle | PVRDMA_UAR_CQ_ARM_SOL);
	receive(&post);
	ok(sent(&post, &sqe, 0) && arrived(&post, &cqe) && cqe.opcode == PVRDMA_WC_RECV &&
	   cqe.flags == (PVRDMA_WC_GRH | PVRDMA_WC_IMM | PVRDMA_WC_NET_TYPE) &&
	   cqe.imm == 0x11223344 && cqe.length == HEADER + DATA, "a datagram with immediate data");
	ok(guest->notifications->prod_tail == 0, "which is not solicited");
	sqe.flags |= PVRDMA_WR_SOLICITED;
	receive(&post);
	ok(sent(&post, &sqe, 0) && arrived(&post, &cqe) && guest->notifications->prod_tail == 1,
	   "or it is");
	lab_close(&post.lab);
}

static void fails(struct post *post, struct pvrdma_sqe sqe, const char *what)
{
	struct pvrdma_qp_attr attr = { .qkey = QKEY, .port = 1 };
	struct pvrdma_cqe cqe;

	receive(post);
	ok(sent(post, &sqe, PVRDMA_WC_LOC_QP_OP_ERR) && !arrived(post, &cqe), "%s", what);
	attr.state = PVRDMA_QPS_RESET;
	guest_modify(&post->qp[0], 1, &attr);
	guest_modify(&post->qp[1], 1, &attr);
	memset(post->qp[0].header, 0, sizeof(*post->qp[0].header));
	memset(post->qp[1].header, 0, sizeof(*post->qp[1].header));
	for (attr.state = PVRDMA_QPS_INIT; attr.state <= PVRDMA_QPS_RTS; attr.state++) {
		guest_modify(&post->qp[0], 0x71, &attr);
		guest_modify(&post->qp[1], 0x71, &attr);
	}
}

static void test_refused(void)
{
	struct pvrdma_sqe sqe;
	struct post post;

	open_post(&post, 20, v4);
	sqe = to_second(&post);
	sqe.opcode = PVRDMA_WR_WRITE;
	fails(&post, sqe, "a write is no datagram");
	sqe.opcode = PVRDMA_WR_LOCAL_INV;
	fails(&post, sqe, "nor does a UD QP invalidate");
	sqe = to_second(&post);
	sqe.ud.av.port_pd = 1u << 24 | (post.pd[0] + 1);
	fails(&post, sqe, "an address of another PD");
	sqe = to_second(&post);
	sqe.ud.av.sgid_index = 1;
	fails(&post, sqe, "a GID that is not bound");
	post.qp[0] = make_qp(&post, 0, PVRDMA_QPT_GSI);
	sqe = to_second(&post);
	sqe.opcode = PVRDMA_WR_SEND_IMM;
	fails(&post, sqe, "QP 1 sends without immediate data only");
	lab_close(&post.lab);
}

/* What is received, and its header; its data are right. */
static const unsigned char *header(struct post *post, struct pvrdma_cqe *cqe)
{
	struct pvrdma_sqe sqe = to_second(post);
	const unsigned char *at;

	memset(guest_at(&post->lab.guests[0], post->mr[0].address), 0xdd, DATA);
	receive(post);
	guest_must(sent(post, &sqe, 0) && arrived(post, cqe), "a datagram");
	at = guest_at(&post->lab.guests[1], post->mr[1].address);
	ok(cqe->flags == (PVRDMA_WC_GRH | PVRDMA_WC_NET_TYPE) && cqe->length == HEADER + DATA &&
	   cqe->src_qpn == post->qp[0].qpn && !cqe->pkey_index && at[HEADER] == 0xdd &&
	   at[HEADER + DATA - 1] == 0xdd, "a datagram with its header");
	return at;
}

static bool is_ipv6(const unsigned char *at, const struct post *post)
{
	return at[0] == 0x60 && at[1] == 0x51 && at[2] == 0x23 && at[3] == 0x45 && at[7] == 64 &&
	       !memcmp(at + 8, post->gids[0], 16) && !memcmp(at + 24, post->gids[1], 16);
}

static uint32_t ip_sum(const unsigned char *at)
{
	uint32_t sum = 0, i;

	for (i = 0; i < 20; i += 2)
		sum += (uint32_t)at[i] << 8 | at[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void test_headers(void)
{
	const unsigned char *at;
	struct pvrdma_cqe cqe;
	struct post post;

	open_post(&post, 20, v4);
	at = header(&post, &cqe);
	ok(cqe.net_type == PVRDMA_NET_IPV4 && at[20] == 0x45 && at[21] == 0x05 && at[28] == 64 &&
	   at[29] == 0x11 && ip_sum(at + 20) == 0xffff && !memcmp(at + 32, v4[0] + 12, 4) &&
	   !memcmp(at + 36, v4[1] + 12, 4), "RoCE v2 over IPv4");
	lab_close(&post.lab);
	open_post(&post, 20, v6);
	at = header(&post, &cqe);
	ok(cqe.net_type == PVRDMA_NET_IPV6 && is_ipv6(at, &post) && at[6] == 0x11,
	   "RoCE v2 over IPv6");
	lab_close(&post.lab);
	open_post(&post, 17, v6);
	at = header(&post, &cqe);
	ok(cqe.net_type == PVRDMA_NET_ROCE_V1 && is_ipv6(at, &post) && at[6] != 0x11, "RoCE v1");
	lab_close(&post.lab);
	open_post(&post, 17, v4);
	at = header(&post, &cqe);
	ok(cqe.net_type == PVRDMA_NET_ROCE_V1 && is_ipv6(at, &post) && at[6] != 0x11,
	   "RoCE v1 with the GIDs of IPv4 addresses");
	lab_close(&post.lab);
}

int main(int argc, char **argv)
{
	/* Once more, with each guest's adapter in a server of its own. */
	lab_linked = argc > 1 && !strcmp(argv[1], "linked");
	test_lost();
	test_immediate();
	test_refused();
	test_headers();
	return done();
}
