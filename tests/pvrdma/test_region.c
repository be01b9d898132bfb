// SPDX-License-Identifier: GPL-2.0-or-later
/* The device shared region: what is in it, by which version, and for how long. */
#include <stdlib.h>
#include <string.h>

#include "pair.h"
#include "tap.h"

/* Once more the same one, without a reset. */
static uint32_t hand_over(struct guest *guest)
{
	uint64_t address = (uint64_t)((unsigned char *)guest->dsr - guest->memory);

	guest_write(guest, PVRDMA_REG_DSRLOW, (uint32_t)address);
	guest_write(guest, PVRDMA_REG_DSRHIGH, (uint32_t)(address >> 32));
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_ACTIVATE);
	return guest_read(guest, PVRDMA_REG_ERR);
}

/* A message to guest 1; whether it arrives. */
static bool message(struct pair *pair)
{
	struct pvrdma_sqe sqe = {
		.opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED,
	};

	guest_recv(&pair->qp[1], 1, &pair->mr[1], 0, 8);
	guest_send(&pair->qp[0], &sqe, &pair->mr[0], 0, 8);
	return pair_ends(pair, 1, PVRDMA_WC_RECV, 0) && pair_ends(pair, 0, PVRDMA_WC_SEND, 0);
}

/* hw 3.1: the driver reads them at run time. */
static void test_capabilities(void)
{
	struct pvrdma_cmd_port port = { .port = 1 };
	struct pvrdma_qp_attr attr = { .state = PVRDMA_QPS_ERR };
	struct guest *guest;
	struct pvrdma_dsr before;
	struct pair pair;
	uint32_t context;

	pair_open(&pair);
	guest = &pair.lab.guests[0];
	before = *guest->dsr;
	ok(message(&pair), "a message");
	context = guest_context(guest, 3);
	guest_about(guest, PVRDMA_CMD_DESTROY_PD, guest_pd(guest, context));
	guest_about(guest, PVRDMA_CMD_DESTROY_UC, context);
	guest_command(guest, PVRDMA_CMD_QUERY_PORT, &port, sizeof(port));
	guest_command(guest, 99, &port, sizeof(port));
	guest_srq(guest, pair.pd[0], 16);
	guest_modify(&pair.qp[0], 1, &attr);
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, pair.qp[0].handle);
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_UNQUIESCE);
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_ACTIVATE);
	guest_write(guest, PVRDMA_REG_IMR, PVRDMA_IMR_MASKED);
	guest_write(guest, PVRDMA_REG_IMR, 0);
	lab_run(&pair.lab);
	ok(!memcmp(&before, guest->dsr, sizeof(before)), "the region is as it was after the handshake");
	lab_close(&pair.lab);
}

/* hw 4.4 */
static void test_port(void)
{
	struct pvrdma_cmd_port port = { .port = 1 };
	struct pvrdma_cmd_create_bind bind = { .mtu = 1024, .vlan = 0xfff, .type = 2, .gid = { 1 } };
	const struct pvrdma_resp_port *attr;
	const struct pvrdma_resp_pkey *pkey;
	struct guest *guest;
	struct lab lab;

	lab_open(&lab, 20);
	guest = &lab.guests[0];
	guest_probe(guest);
	attr = (void *)guest->resp;
	pkey = (void *)guest->resp;
	ok(!guest_command(guest, PVRDMA_CMD_QUERY_PKEY, &port, sizeof(port)) && pkey->pkey == 0xffff,
	   "P_Key 0 is 0xFFFF");
	port.index = 1;
	ok(guest_command(guest, PVRDMA_CMD_QUERY_PKEY, &port, sizeof(port)), "there is no second one");
	port = (struct pvrdma_cmd_port){ .port = 2 };
	ok(guest_command(guest, PVRDMA_CMD_QUERY_PKEY, &port, sizeof(port)), "nor one of another port");
	port.port = 1;
	ok(!guest_command(guest, PVRDMA_CMD_QUERY_PORT, &port, sizeof(port)) &&
	   attr->attr.gid_tbl_len && attr->attr.gid_tbl_len <= guest->dsr->caps.gid_tbl_len &&
	   attr->attr.pkey_tbl_len == 1 && guest->dsr->caps.max_pkeys == 1,
	   "the port has no more GIDs than the driver's table");
	bind.index = attr->attr.gid_tbl_len - 1;
	ok(!guest_command(guest, PVRDMA_CMD_CREATE_BIND, &bind, sizeof(bind)), "the last one is taken");
	bind.index++;
	ok(guest_command(guest, PVRDMA_CMD_CREATE_BIND, &bind, sizeof(bind)), "and none behind it");
	lab_close(&lab);
}

static bool takes_uar(struct guest *guest, uint64_t pfn)
{
	struct pvrdma_cmd_create_uc cmd = { .pfn = pfn };

	return !guest_command(guest, PVRDMA_CMD_CREATE_UC, &cmd, sizeof(cmd));
}

/* hw 14.1 */
static void test_version(unsigned int version)
{
	const uint64_t odd = UINT64_C(0xdeadbeef) << 32;
	const struct pvrdma_resp_create_qp_v1 *v1;
	struct guest_qp_want want = { .depth = 32, .sge = 1, .type = PVRDMA_QPT_RC };
	struct guest *guest;
	struct guest_qp qp;
	struct pair pair;
	bool narrow = version < 19;

	pair_open_version(&pair, version);
	guest = &pair.lab.guests[0];
	v1 = (void *)guest->resp;
	ok(guest_read(guest, PVRDMA_REG_VERSION) == version &&
	   guest->dsr->caps.gid_types == (version < 18 ? 1 : 2), "interface %u", version);
	ok(message(&pair), "a message");
	want.pd = pair.pd[0];
	want.cq = &pair.cq[0];
	qp = guest_qp(guest, &want);
	ok(version < 20 ? v1->qpn == qp.handle && v1->max_send_wr == 32 && v1->max_recv_wr == 32 &&
	   v1->max_send_sge == 1 && v1->max_recv_sge == 1 :
	   ((const struct pvrdma_resp_create_qp *)v1)->max_send_wr == 32, "the response of CREATE_QP");
	/* Of the word in the region, 32 bits are its own before version 19. */
	guest->dsr->uar_pfn = odd | 0xfe000;
	ok(!hand_over(guest), "a region");
	ok(takes_uar(guest, odd | 0xfe001), "the page number of a process");
	ok(takes_uar(guest, 0xfe002) == narrow && takes_uar(guest, 1ull << 32 | 0xfe003) == narrow,
	   "which has %u bits", narrow ? 32 : 64);
	ok(!takes_uar(guest, odd | 0xfe200) && !takes_uar(guest, odd | 0xfe000) &&
	   !takes_uar(guest, odd | 0xfdfff) && takes_uar(guest, odd | 0xfe1ff),
	   "and is one of the process's pages");
	lab_close(&pair.lab);
}

/* A crashed guest: hw 2.3, 11.6. */
static void test_again(void)
{
	struct pvrdma_cmd_create_bind bind = {
		.mtu = 1024, .vlan = 0xfff, .type = 2, .gid = { [10] = 0xff, 0xff, 10, 0, 0, 2 },
	};
	struct guest_srq srq;
	struct guest *guest;
	struct guest_mr mr;
	struct pair pair;
	uint32_t context, pd;

	pair_open(&pair);
	guest = &pair.lab.guests[1];
	context = guest_context(guest, 1);
	pd = guest_pd(guest, context);
	mr = guest_mr(guest, pd, GUEST_PAGE, ALL_ACCESS);
	srq = guest_srq(guest, pd, 16);
	ok(guest_command(&pair.lab.guests[0], PVRDMA_CMD_CREATE_BIND, &bind, sizeof(bind)),
	   "a GID is one guest's");
	ok(!hand_over(guest), "another region without a reset");
	ok(guest_about(guest, PVRDMA_CMD_QUERY_QP, pair.qp[1].handle) &&
	   guest_about(guest, PVRDMA_CMD_DESTROY_QP, pair.qp[1].handle), "QPs are gone");
	ok(guest_about(guest, PVRDMA_CMD_DESTROY_SRQ, srq.handle), "so are SRQs");
	ok(guest_about(guest, PVRDMA_CMD_DESTROY_CQ, pair.cq[1].handle), "CQs");
	ok(guest_about(guest, PVRDMA_CMD_DESTROY_MR, mr.handle) &&
	   guest_about(guest, PVRDMA_CMD_DESTROY_MR, pair.mr[1].handle), "memory regions");
	ok(guest_about(guest, PVRDMA_CMD_DESTROY_PD, pair.pd[1]) &&
	   guest_about(guest, PVRDMA_CMD_DESTROY_PD, pd), "PDs");
	ok(guest_about(guest, PVRDMA_CMD_DESTROY_UC, context), "contexts");
	ok(takes_uar(guest, guest->uar_pfn + 1), "whose pages are free");
	ok(!guest_command(&pair.lab.guests[0], PVRDMA_CMD_CREATE_BIND, &bind, sizeof(bind)),
	   "and GIDs, which a neighbour may have now");
	lab_close(&pair.lab);
}

/* The driver frees its memory at once (hw 2.3). */
static void test_no_writes(void)
{
	struct pvrdma_sqe sqe = {
		.opcode = PVRDMA_WR_WRITE, .flags = PVRDMA_WR_SIGNALED,
	};
	unsigned char *before = malloc(GUEST_RAM);
	struct guest *guest;
	struct pair pair;
	unsigned int i;

	guest_must(before != NULL, "memory");
	pair_open(&pair);
	guest = &pair.lab.guests[1];
	for (i = 0; i < 4; i++)
		guest_recv(&pair.qp[1], i, &pair.mr[1], 0, 8);
	guest_ring(guest, 0, PVRDMA_UAR_CQ, pair.cq[1].handle | PVRDMA_UAR_CQ_ARM);
	memset(pair_bytes(&pair, 0), 0xab, PAIR_DATA);
	sqe.rdma.addr = pair.mr[1].address;
	sqe.rdma.rkey = pair.mr[1].rkey;
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_RESET);
	memcpy(before, guest->memory, GUEST_RAM);
	guest_ring(guest, 0, PVRDMA_UAR_QP, pair.qp[1].handle | PVRDMA_UAR_QP_SEND);
	guest_ring(guest, 0, PVRDMA_UAR_QP, pair.qp[1].handle | PVRDMA_UAR_QP_RECV);
	guest_ring(guest, 0, PVRDMA_UAR_CQ, pair.cq[1].handle | PVRDMA_UAR_CQ_ARM);
	guest_write(guest, PVRDMA_REG_REQUEST, 0);
	guest_write(guest, PVRDMA_REG_IMR, 0);
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_ACTIVATE);
	guest_ring(&pair.lab.guests[0], 0, PVRDMA_UAR_CQ, pair.cq[0].handle | PVRDMA_UAR_CQ_ARM);
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, PAIR_DATA);
	ok(lab_wait(&pair.lab, pair.lab.guests[0].irqs[PVRDMA_VECTOR_CQ]) &&
	   pair_ends(&pair, 0, PVRDMA_WC_WRITE, PVRDMA_WC_RETRY_EXC),
	   "after RESET, a peer's write is not answered");
	ok(!memcmp(before, guest->memory, GUEST_RAM), "and nothing is written to the guest's memory");
	lab_close(&pair.lab);
	free(before);
}

/* The same while data is on its way. */
static void test_no_more_writes(void)
{
	struct pvrdma_sqe sqe = { .opcode = PVRDMA_WR_WRITE };
	unsigned char *before = malloc(GUEST_RAM);
	struct guest_mr from, to;
	struct guest *guest;
	struct pair pair;

	guest_must(before != NULL, "memory");
	pair_open(&pair);
	guest = &pair.lab.guests[1];
	from = guest_mr(&pair.lab.guests[0], pair.pd[0], 16 << 20, ALL_ACCESS);
	to = guest_mr(guest, pair.pd[1], 16 << 20, ALL_ACCESS);
	memset(guest_at(&pair.lab.guests[0], from.address), 0xab, 16 << 20);
	sqe.rdma.addr = to.address;
	sqe.rdma.rkey = to.rkey;
	guest_send(&pair.qp[0], &sqe, &from, 0, 16 << 20);
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_RESET);
	memcpy(before, guest->memory, GUEST_RAM);
	ok(before[to.address + (16 << 20) - 1] != 0xab, "RESET while a write is on its way");
	lab_run(&pair.lab);
	ok(!memcmp(before, guest->memory, GUEST_RAM), "ends it");
	lab_close(&pair.lab);
	free(before);
}

int main(void)
{
	unsigned int version;

	test_capabilities();
	test_port();
	for (version = PVRDMA_VERSION_MIN; version <= PVRDMA_VERSION_MAX; version++)
		test_version(version);
	test_again();
	test_no_writes();
	test_no_more_writes();
	return done();
}
