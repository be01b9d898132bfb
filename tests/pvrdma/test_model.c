// SPDX-License-Identifier: GPL-2.0-or-later
/* The adapter as drivers, and what is no driver, find it. */
#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lab.h"
#include "pair.h"
#include "tap.h"

static struct pvrdma_sqe rdma(uint32_t opcode, const struct guest_mr *mr, uint64_t offset)
{
	return (struct pvrdma_sqe){
		.wr_id = 7,
		.opcode = opcode,
		.flags = PVRDMA_WR_SIGNALED,
		.rdma = { .addr = mr->address + offset, .rkey = mr->rkey },
	};
}

/* The same region elsewhere. */
static bool takes_dsr_at(struct guest *guest, uint64_t address)
{
	memcpy(guest_at(guest, address), guest->dsr, sizeof(*guest->dsr));
	guest_write(guest, PVRDMA_REG_DSRLOW, (uint32_t)address);
	guest_write(guest, PVRDMA_REG_DSRHIGH, (uint32_t)(address >> 32));
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_ACTIVATE);
	return guest_read(guest, PVRDMA_REG_ERR) == 0;
}

static void test_probe(void)
{
	struct pvrdma_caps *caps;
	struct guest *guest;
	struct lab lab;

	lab_open(&lab, 20);
	guest = &lab.guests[0];
	ok(guest_read(guest, PVRDMA_REG_VERSION) == 20, "version");
	ok(guest_read(guest, PVRDMA_REG_ERR) == 0xffff, "ERR before anything");
	guest_write(guest, PVRDMA_REG_REQUEST, 0);
	ok(guest_read(guest, PVRDMA_REG_ERR) != 0, "a command without a shared region is refused");
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_ACTIVATE);
	ok(guest_read(guest, PVRDMA_REG_ERR) != 0, "so is ACTIVATE");
	ok(guest_probe(guest) == 0, "ACTIVATE with a shared region");
	caps = &guest->dsr->caps;
	ok(caps->max_qp == 1025 && caps->max_uar == 512 && caps->gid_types == 2 && !caps->mode,
	   "capabilities");
	ok(!memcmp(&caps->node_guid, "\0\0\0\xff\xfe\0\0\1", 8), "the GUID is that of the MAC");
	ok(!guest_about(guest, PVRDMA_CMD_CREATE_PD, 0), "a command");
	guest_write(guest, PVRDMA_REG_CTL, 3);
	ok(guest_read(guest, PVRDMA_REG_ERR) != 0, "an unknown control is refused");
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_UNQUIESCE);
	ok(guest_read(guest, PVRDMA_REG_ERR) == 0, "UNQUIESCE clears the error");
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_RESET);
	ok(guest_about(guest, PVRDMA_CMD_CREATE_PD, 0) != 0, "nothing works after RESET");
	ok(guest_probe(guest) == 0, "until a new shared region comes");
	guest_write(guest, PVRDMA_REG_DSRLOW, 0xfffff000);
	guest_write(guest, PVRDMA_REG_DSRHIGH, 0xffffffff);
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_ACTIVATE);
	ok(guest_read(guest, PVRDMA_REG_ERR) != 0, "one where no memory is fails ACTIVATE");
	ok(!takes_dsr_at(guest, guest_alloc(guest, 2) + GUEST_PAGE - 104),
	   "so does one over the end of a page");
	ok(!takes_dsr_at(guest, guest_alloc(guest, 1) + 4), "and one whose words are split");
	ok(takes_dsr_at(guest, guest_alloc(guest, 1) + 8), "at a word it is taken");
	lab_close(&lab);
}

/* Behind what a driver sends is what happens to be in the slot. */
static void test_commands(void)
{
	struct pvrdma_cmd_create_mr mr = { .start = 0x1000, .length = 8192, .chunks = 2 };
	struct pvrdma_cmd_create_cq cq = { .cqe = 64, .chunks = 2 };
	struct pvrdma_cmd_port port = { .port = 1 };
	const struct pvrdma_resp_port *resp;
	struct pvrdma_cmd_hdr odd = { 0 };
	struct guest *guest;
	struct lab lab;
	uint64_t irqs;

	lab_open(&lab, 20);
	guest = &lab.guests[0];
	guest_probe(guest);
	resp = (void *)guest->resp;
	port.hdr.key = 0x1122334455667788;
	ok(!guest_command(guest, PVRDMA_CMD_QUERY_PORT, &port, sizeof(port)) &&
	   resp->hdr.ack == 0x80000000u && resp->hdr.key == port.hdr.key &&
	   resp->attr.state == PVRDMA_PORT_ACTIVE, "QUERY_PORT");
	ok(read(guest->irqs[PVRDMA_VECTOR_RESPONSE], &irqs, 8) == 8 && irqs == 1,
	   "an interrupt for its response");
	port.port = 2;
	ok(guest_command(guest, PVRDMA_CMD_QUERY_PORT, &port, sizeof(port)), "no second port");
	ok(guest_command(guest, 99, &odd, sizeof(odd)), "an unknown command");
	ok(guest_command(guest, PVRDMA_CMD_RESIZE_CQ, &odd, sizeof(odd)), "RESIZE_CQ");
	ok(guest_about(guest, PVRDMA_CMD_DESTROY_QP, 5), "an unknown QP");
	ok(read(guest->irqs[PVRDMA_VECTOR_RESPONSE], &irqs, 8) < 0, "no interrupt for those");
	mr.pd = guest_pd(guest, 0);
	mr.directory = 0x1001;
	ok(guest_command(guest, PVRDMA_CMD_CREATE_MR, &mr, sizeof(mr)), "a directory between pages");
	mr.directory = UINT64_MAX & ~0xfffull;
	ok(guest_command(guest, PVRDMA_CMD_CREATE_MR, &mr, sizeof(mr)), "one that is no memory");
	mr.directory = guest_directory(guest, GUEST_RAM - GUEST_PAGE, 2);
	ok(guest_command(guest, PVRDMA_CMD_CREATE_MR, &mr, sizeof(mr)), "a page behind memory");
	mr.directory = guest_directory(guest, 0x1000, 2);
	mr.chunks = 3;
	ok(guest_command(guest, PVRDMA_CMD_CREATE_MR, &mr, sizeof(mr)), "too many pages");
	mr.chunks = 2;
	ok(!guest_command(guest, PVRDMA_CMD_CREATE_MR, &mr, sizeof(mr)), "the right number");
	mr.start = UINT64_MAX - 100;
	ok(guest_command(guest, PVRDMA_CMD_CREATE_MR, &mr, sizeof(mr)), "a range over the end");
	cq.directory = guest_directory(guest, 0x1000, 2);
	cq.cqe = 65;
	ok(guest_command(guest, PVRDMA_CMD_CREATE_CQ, &cq, sizeof(cq)), "a CQ of 65 entries");
	cq.cqe = 128;
	ok(guest_command(guest, PVRDMA_CMD_CREATE_CQ, &cq, sizeof(cq)), "a CQ without its pages");
	lab_close(&lab);
}

static void test_data(struct pair *pair)
{
	struct pvrdma_sqe sqe = { .wr_id = 1, .opcode = PVRDMA_WR_SEND_IMM, .imm = 0x1234 };
	unsigned char *from = pair_bytes(pair, 0), *to = pair_bytes(pair, 1);
	struct pvrdma_cqe cqe;
	uint64_t word;
	uint32_t i;

	for (i = 0; i < PAIR_DATA; i++)
		from[i] = (unsigned char)(i * 7 + i / 251);
	guest_recv(&pair->qp[1], 55, &pair->mr[1], 100, 10000);
	guest_send(&pair->qp[0], &sqe, &pair->mr[0], 3, 9999);
	ok(pair_nothing(pair, 0), "an unsignalled send has no completion");
	ok(guest_completion(&pair->lab.guests[1], &pair->cq[1], &cqe) && cqe.wr_id == 55 &&
	   cqe.opcode == PVRDMA_WC_RECV && cqe.length == 9999 && cqe.imm == 0x1234 &&
	   cqe.flags == PVRDMA_WC_IMM && !memcmp(to + 100, from + 3, 9999), "send with immediate");
	sqe = rdma(PVRDMA_WR_WRITE, &pair->mr[1], 1);
	guest_send(&pair->qp[0], &sqe, &pair->mr[0], 0, PAIR_DATA - 1);
	ok(pair_ends(pair, 0, PVRDMA_WC_WRITE, 0) && !memcmp(to + 1, from, PAIR_DATA - 1), "write");
	memset(from, 0, PAIR_DATA);
	sqe = rdma(PVRDMA_WR_READ, &pair->mr[1], 1);
	guest_send(&pair->qp[0], &sqe, &pair->mr[0], 5, PAIR_DATA - 5);
	ok(pair_ends(pair, 0, PVRDMA_WC_READ, 0) && !memcmp(to + 1, from + 5, PAIR_DATA - 5), "read");
	guest_recv(&pair->qp[1], 56, &pair->mr[1], 0, 8);
	sqe = rdma(PVRDMA_WR_WRITE_IMM, &pair->mr[1], 4096);
	guest_send(&pair->qp[0], &sqe, &pair->mr[0], 0, 4096);
	ok(pair_ends(pair, 0, PVRDMA_WC_WRITE, 0) && pair_ends(pair, 1, PVRDMA_WC_RECV_WRITE_IMM, 0),
	   "write with immediate takes a receive");
	word = 40;
	memcpy(to, &word, 8);
	sqe = rdma(PVRDMA_WR_FETCH_ADD, &pair->mr[1], 0);
	sqe.atomic = (struct pvrdma_wqe_atomic){
		.addr = pair->mr[1].address, .compare_add = 2, .rkey = pair->mr[1].rkey,
	};
	guest_send(&pair->qp[0], &sqe, &pair->mr[0], 64, 8);
	ok(pair_ends(pair, 0, PVRDMA_WC_FETCH_ADD, 0) && to[0] == 42 && from[64] == 40, "fetch and add");
	sqe.opcode = PVRDMA_WR_CMP_SWAP;
	sqe.atomic.compare_add = 41;
	sqe.atomic.swap = 99;
	guest_send(&pair->qp[0], &sqe, &pair->mr[0], 64, 8);
	ok(pair_ends(pair, 0, PVRDMA_WC_CMP_SWAP, 0) && to[0] == 42 && from[64] == 42,
	   "compare and swap, not equal");
	sqe.atomic.compare_add = 42;
	guest_send(&pair->qp[0], &sqe, &pair->mr[0], 64, 8);
	ok(pair_ends(pair, 0, PVRDMA_WC_CMP_SWAP, 0) && to[0] == 99 && from[64] == 42,
	   "compare and swap, equal");
}

/* A QP of the pair fails so; both begin again then. */
static void fails(const char *what, struct pvrdma_sqe sqe, uint64_t offset, uint32_t length,
		  uint32_t op, uint32_t status, uint32_t peer)
{
	struct pvrdma_event event = { .type = 99 };
	struct pair pair;

	pair_open(&pair);
	if (!sqe.rdma.rkey) {
		sqe.rdma.addr += pair.mr[1].address;
		sqe.rdma.rkey = pair.mr[1].rkey;
	}
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], offset, length);
	ok(pair_ends(&pair, 0, op, status), "%s", what);
	ok(guest_state(&pair.qp[0]) == PVRDMA_QPS_ERR, "and the QP fails");
	ok(guest_state(&pair.qp[1]) == peer, "the peer is as it should be");
	guest_event(&pair.lab.guests[1], &event);
	ok(peer == PVRDMA_QPS_RTS || event.type == PVRDMA_EVENT_QP_ACCESS_ERR ||
	   event.type == PVRDMA_EVENT_QP_REQ_ERR, "and its owner is told");
	guest_recv(&pair.qp[0], 3, &pair.mr[0], 0, 8);
	ok(pair_ends(&pair, 0, PVRDMA_WC_RECV, PVRDMA_WC_FLUSHED), "what is posted later is flushed");
	lab_close(&pair.lab);
}

static void test_errors(void)
{
	struct pvrdma_sqe sqe = { .opcode = PVRDMA_WR_WRITE };
	struct pvrdma_sqe send = { .opcode = PVRDMA_WR_SEND, .rdma.rkey = 1 };

	fails("a local range that is not registered", sqe, PAIR_DATA - 4, 8, PVRDMA_WC_WRITE,
	      PVRDMA_WC_LOC_PROT_ERR, PVRDMA_QPS_RTS);
	sqe.rdma.addr = PAIR_DATA - 4;
	fails("a remote range that is not registered", sqe, 0, 8, PVRDMA_WC_WRITE,
	      PVRDMA_WC_REM_ACCESS_ERR, PVRDMA_QPS_ERR);
	sqe.rdma.addr = 0;
	sqe.rdma.rkey = 0xdead00;
	fails("an unknown key", sqe, 0, 8, PVRDMA_WC_WRITE, PVRDMA_WC_REM_ACCESS_ERR,
	      PVRDMA_QPS_ERR);
	sqe = (struct pvrdma_sqe){ .opcode = PVRDMA_WR_READ };
	sqe.rdma.addr = UINT64_MAX - 3;
	sqe.rdma.rkey = 0x100;
	fails("a range over the end of all", sqe, 0, 8, PVRDMA_WC_READ, PVRDMA_WC_REM_ACCESS_ERR,
	      PVRDMA_QPS_ERR);
	send.opcode = 7;
	fails("an opcode that there is not", send, 0, 8, PVRDMA_WC_SEND, PVRDMA_WC_LOC_QP_OP_ERR,
	      PVRDMA_QPS_RTS);
}

static void test_waits(void)
{
	struct pvrdma_sqe sqe = { .wr_id = 1, .opcode = PVRDMA_WR_SEND };
	struct pair pair;

	pair_open(&pair);
	guest_ring(&pair.lab.guests[0], 0, PVRDMA_UAR_CQ, pair.cq[0].handle | PVRDMA_UAR_CQ_ARM);
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 8);
	ok(lab_wait(&pair.lab, pair.lab.guests[0].irqs[PVRDMA_VECTOR_CQ]) &&
	   pair_ends(&pair, 0, PVRDMA_WC_SEND, PVRDMA_WC_RNR_RETRY_EXC), "no receive: RNR");
	ok(pair.lab.guests[0].notification[0] == pair.cq[0].handle, "and a notification");
	lab_close(&pair.lab);

	pair_open(&pair);
	guest_about(&pair.lab.guests[1], PVRDMA_CMD_DESTROY_QP, pair.qp[1].handle);
	guest_ring(&pair.lab.guests[0], 0, PVRDMA_UAR_CQ, pair.cq[0].handle | PVRDMA_UAR_CQ_ARM_SOL);
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 8);
	ok(lab_wait(&pair.lab, pair.lab.guests[0].irqs[PVRDMA_VECTOR_CQ]) &&
	   pair_ends(&pair, 0, PVRDMA_WC_SEND, PVRDMA_WC_RETRY_EXC),
	   "no peer: retries, and an error is notified of also when solicited ones are wanted");
	lab_close(&pair.lab);
}

/* hw 5.5: the rings have 3072 and 1536 elements, and 1024 and 512 are used. */
static void test_device_rings(void)
{
	struct pvrdma_sqe sqe = { .wr_id = 1, .opcode = PVRDMA_WR_SEND };
	uint32_t i, seen = 0, right = 0;
	struct guest *guest;
	struct pair pair;

	pair_open(&pair);
	guest = &pair.lab.guests[1];
	for (i = 0; i < 5000; i++) {
		guest_ring(guest, 0, PVRDMA_UAR_CQ, pair.cq[1].handle | PVRDMA_UAR_CQ_ARM);
		guest_recv(&pair.qp[1], i, &pair.mr[1], 0, 8);
		guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 8);
		seen += pair_ends(&pair, 1, PVRDMA_WC_RECV, 0);
		right += guest->notifications->prod_tail == ((i + 1) & 0x7ff) &&
			 guest->notification[i & 0x3ff] == pair.cq[1].handle;
		guest->notifications->cons_head = guest->notifications->prod_tail;
	}
	ok(seen == 5000 && right == 5000, "5000 notifications are where the driver looks");
	guest->notification[i & 0x3ff] = 0;
	for (i = 0; i < 1100; i++) {
		guest_ring(guest, 0, PVRDMA_UAR_CQ, pair.cq[1].handle | PVRDMA_UAR_CQ_ARM);
		guest_recv(&pair.qp[1], i, &pair.mr[1], 0, 8);
		guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 8);
		pair_ends(&pair, 1, PVRDMA_WC_RECV, 0);
	}
	ok(((guest->notifications->prod_tail - guest->notifications->cons_head) & 0x7ff) == 1024,
	   "a driver that does not look finds 1024");
	guest->notifications->cons_head = (guest->notifications->cons_head + 1024) & 0x7ff;
	ok(lab_wait(&pair.lab, guest->irqs[PVRDMA_VECTOR_CQ]), "and the next one when it does");
	lab_run(&pair.lab);
	ok(guest->notifications->prod_tail == ((guest->notifications->cons_head + 1) & 0x7ff),
	   "which is one for the CQ");
	lab_close(&pair.lab);
}

static void test_overrun(void)
{
	struct pvrdma_sqe sqe = { .wr_id = 1, .opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED };
	struct pvrdma_event event = { 0 };
	struct pair pair;
	uint32_t i;

	pair_open(&pair);
	for (i = 0; i < 65; i++) {
		guest_recv(&pair.qp[1], i, &pair.mr[1], 0, 8);
		guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 8);
		lab_run(&pair.lab);
		pair.cq[1].state->cons_head = pair.cq[1].state->prod_tail;
	}
	ok(guest_event(&pair.lab.guests[0], &event) && event.type == PVRDMA_EVENT_CQ_ERR &&
	   event.info == pair.cq[0].handle, "a CQ that overruns fails");
	ok(guest_event(&pair.lab.guests[0], &event) && event.type == PVRDMA_EVENT_QP_FATAL &&
	   guest_state(&pair.qp[0]) == PVRDMA_QPS_ERR, "and the QPs with it");
	lab_close(&pair.lab);
}

static void test_mischief(void)
{
	struct pvrdma_sqe sqe = { .wr_id = 1, .opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED };
	struct pvrdma_event event = { 0 };
	struct guest_qp_want want = { .depth = 4, .sge = 1, .type = PVRDMA_QPT_RC };
	struct guest *guest;
	struct guest_cq cq;
	struct guest_qp qp;
	struct pair pair;
	uint32_t one, two;

	pair_open(&pair);
	guest = &pair.lab.guests[0];
	pair.qp[0].header->tx.prod_tail = 77;
	guest_ring(guest, 0, PVRDMA_UAR_QP, pair.qp[0].handle | PVRDMA_UAR_QP_SEND);
	ok(guest_event(guest, &event) && event.type == PVRDMA_EVENT_QP_FATAL &&
	   event.info == pair.qp[0].handle, "an index that cannot be is fatal for the QP");
	guest_ring(guest, 0, PVRDMA_UAR_QP, 0xffffff | PVRDMA_UAR_QP_SEND);
	guest_ring(guest, 511, PVRDMA_UAR_SRQ, 3 | PVRDMA_UAR_SRQ_RECV);
	ok(guest_about(guest, PVRDMA_CMD_DESTROY_CQ, pair.cq[0].handle), "a CQ in use stays");
	ok(guest_about(guest, PVRDMA_CMD_DESTROY_PD, pair.pd[0]), "so does a PD");
	one = guest_context(guest, 1);
	two = guest_context(guest, 2);
	want.pd = guest_pd(guest, one);
	cq = guest_cq(guest, one, 64);
	want.cq = &cq;
	qp = guest_qp(guest, &want);
	ok(guest_connect(&qp, pair.qp[1].qpn, 2), "a QP of a process");
	memcpy(qp.sq, &sqe, sizeof(sqe));
	qp.header->tx.prod_tail = 1;
	guest_ring(guest, 2, PVRDMA_UAR_QP, qp.handle | PVRDMA_UAR_QP_SEND);
	lab_run(&pair.lab);
	ok(qp.header->tx.cons_head == 0, "another process cannot ring for it");
	guest_ring(guest, 1, PVRDMA_UAR_QP, qp.handle | PVRDMA_UAR_QP_SEND);
	lab_run(&pair.lab);
	ok(qp.header->tx.cons_head == 1, "its own can");
	ok(guest_about(guest, PVRDMA_CMD_DESTROY_UC, one) &&
	   !guest_about(guest, PVRDMA_CMD_DESTROY_UC, two), "a context in use stays");
	ok(client_unmap(&guest->client, 0, GUEST_RAM) >= 0, "the VMM takes the memory");
	guest_ring(guest, 1, PVRDMA_UAR_QP, qp.handle | PVRDMA_UAR_QP_SEND);
	guest_write(guest, PVRDMA_REG_REQUEST, 0);
	ok(guest_read(guest, PVRDMA_REG_ERR) != 0, "the adapter stops");
	guest_recv(&pair.qp[1], 1, &pair.mr[1], 0, 8);
	ok(pair_nothing(&pair, 1), "the neighbour goes on");
	lab_restart(&pair.lab, guest);
	ok(guest_probe(guest) == 0, "another VMM comes");
	lab_close(&pair.lab);
}

static void test_srq(void)
{
	struct pvrdma_cmd_create_srq cmd = { .chunks = 3, .attr = { .max_wr = 128, .max_sge = 1 } };
	struct pvrdma_cmd_modify_srq modify = { .mask = PVRDMA_SRQ_LIMIT, .attr.limit = 2 };
	struct guest_qp_want want = { .depth = 4, .sge = 1, .type = PVRDMA_QPT_RC };
	struct pvrdma_sqe sqe = { .wr_id = 1, .opcode = PVRDMA_WR_SEND };
	struct pvrdma_qp_attr attr = { .state = PVRDMA_QPS_ERR };
	struct pvrdma_event event = { 0 };
	struct pvrdma_ring_header *header;
	struct guest *guest;
	struct guest_qp qp;
	struct pair pair;
	uint64_t address;
	uint32_t i, srq;

	pair_open(&pair);
	guest = &pair.lab.guests[1];
	address = guest_alloc(guest, 3);
	header = guest_at(guest, address);
	cmd.directory = guest_directory(guest, address, 3);
	cmd.pd = pair.pd[1];
	ok(!guest_command(guest, PVRDMA_CMD_CREATE_SRQ, &cmd, sizeof(cmd)), "an SRQ");
	srq = ((struct pvrdma_resp_handle *)(void *)guest->resp)->handle;
	want.pd = pair.pd[1];
	want.cq = &pair.cq[1];
	want.srq = srq;
	qp = guest_qp(guest, &want);
	guest_connect(&qp, pair.qp[0].qpn, 1);
	attr.state = PVRDMA_QPS_RESET;
	guest_modify(&pair.qp[0], 1, &attr);
	guest_connect(&pair.qp[0], qp.qpn, 2);
	for (i = 0; i < 3; i++) {
		struct pvrdma_rqe rqe = { .wr_id = 100 + i, .num_sge = 1 };
		struct pvrdma_sge sge = { pair.mr[1].address, 8, pair.mr[1].lkey };
		unsigned char *to = guest_at(guest, address + GUEST_PAGE + i * 32);

		memcpy(to, &rqe, sizeof(rqe));
		memcpy(to + sizeof(rqe), &sge, sizeof(sge));
	}
	header->rx.prod_tail = 3;
	guest_ring(guest, 0, PVRDMA_UAR_SRQ, srq | PVRDMA_UAR_SRQ_RECV);
	modify.handle = srq;
	ok(!guest_command(guest, PVRDMA_CMD_MODIFY_SRQ, &modify, sizeof(modify)), "its limit");
	while (guest_event(guest, &event))
		;
	for (i = 0; i < 2; i++)
		guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 8);
	lab_run(&pair.lab);
	ok(guest_event(guest, &event), "an event");
	if (event.type == PVRDMA_EVENT_COMM_EST)
		guest_event(guest, &event);
	ok(event.type == PVRDMA_EVENT_SRQ_LIMIT && event.info == srq, "the limit is reached");
	pair.qp[1] = qp;
	ok(pair_ends(&pair, 1, PVRDMA_WC_RECV, 0) && pair_ends(&pair, 1, PVRDMA_WC_RECV, 0),
	   "completions name the QP");
	attr.state = PVRDMA_QPS_ERR;
	guest_modify(&qp, 1, &attr);
	ok(guest_event(guest, &event) && event.type == PVRDMA_EVENT_LAST_WQE &&
	   event.info == qp.handle, "its last receive, when it fails");
	lab_close(&pair.lab);
}

/* Memory behind all other, for the time being; its descriptor. */
static int plug_page(struct guest *guest)
{
	int fd = memfd_create("extra", MFD_CLOEXEC);

	ok(!ftruncate(fd, GUEST_PAGE) &&
	   client_map(&guest->client, GUEST_RAM, GUEST_PAGE, fd, 0,
		      PROTO_MAP_READ | PROTO_MAP_WRITE) >= 0, "a page is plugged in");
	return fd;
}

/* A half-written register pair does not hide the memory in use from the VMM's unmap. */
static void test_half_address(void)
{
	struct guest *guest;
	struct pvrdma_dsr *dsr;
	struct lab lab;
	int extra;

	lab_open(&lab, 20);
	guest = &lab.guests[0];
	guest_probe(guest);
	extra = plug_page(guest);
	dsr = mmap(NULL, GUEST_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, extra, 0);
	memcpy(dsr, guest->dsr, sizeof(*dsr));
	guest_write(guest, PVRDMA_REG_DSRLOW, GUEST_RAM);
	guest_write(guest, PVRDMA_REG_DSRHIGH, 0);
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_ACTIVATE);
	ok(guest_read(guest, PVRDMA_REG_ERR) == 0 && dsr->caps.max_qp,
	   "a shared region in a separate page");
	guest_write(guest, PVRDMA_REG_DSRLOW, 2 * GUEST_RAM);
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_ACTIVATE);
	ok(guest_read(guest, PVRDMA_REG_ERR) == 0, "DSRLOW alone does not replace it");
	ok(client_unmap(&guest->client, GUEST_RAM, GUEST_PAGE) >= 0, "the VMM unmaps the page");
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_ACTIVATE);
	ok(guest_read(guest, PVRDMA_REG_ERR) != 0, "and the adapter stops");
	munmap(dsr, GUEST_PAGE);
	close(extra);
	lab_close(&lab);
}

/* As at a kexec: the next kernel uses the memory for other data. */
static void test_mastering(void)
{
	const uint16_t off = 2, on = 6;
	struct pvrdma_cmd_port port = { .port = 1 };
	struct pvrdma_sqe sqe;
	struct guest *guest;
	struct pair pair;

	pair_open(&pair);
	guest = &pair.lab.guests[1];
	client_write(&guest->client, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, &off, sizeof(off));
	ok(guest_command(guest, PVRDMA_CMD_QUERY_PORT, &port, sizeof(port)) &&
	   guest->resp[8] == 0x5a, "without bus mastering, a command is refused without a response");
	memset(pair_bytes(&pair, 0), 1, 100);
	sqe = rdma(PVRDMA_WR_WRITE, &pair.mr[1], 0);
	guest_ring(&pair.lab.guests[0], 0, PVRDMA_UAR_CQ, pair.cq[0].handle | PVRDMA_UAR_CQ_ARM);
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 100);
	ok(lab_wait(&pair.lab, pair.lab.guests[0].irqs[PVRDMA_VECTOR_CQ]) &&
	   pair_ends(&pair, 0, PVRDMA_WC_WRITE, PVRDMA_WC_RETRY_EXC) && !pair_bytes(&pair, 1)[0],
	   "and a peer's write does not reach memory");
	client_write(&guest->client, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, &on, sizeof(on));
	ok(guest_about(guest, PVRDMA_CMD_CREATE_PD, 0) != 0, "the adapter has stopped");
	ok(guest_probe(guest) == 0, "until a driver attaches");
	lab_close(&pair.lab);
}

/* A page that only a registration by a work request names, and the monitor takes it. */
static void test_fast_registration(void)
{
	struct pvrdma_cmd_create_mr cmd = { .flags = PVRDMA_MR_FAST_REG, .chunks = 4 };
	struct pvrdma_sqe sqe = { .wr_id = 1, .opcode = PVRDMA_WR_FAST_REG,
				  .flags = PVRDMA_WR_SIGNALED };
	const struct pvrdma_resp_create_mr *resp;
	struct guest_mr fast = { .address = 0x70000000, .length = GUEST_PAGE };
	struct guest *guest;
	uint64_t directory;
	struct pair pair;
	int extra;

	pair_open(&pair);
	guest = &pair.lab.guests[1];
	extra = plug_page(guest);
	resp = (void *)guest->resp;
	cmd.pd = pair.pd[1];
	ok(!guest_command(guest, PVRDMA_CMD_CREATE_MR, &cmd, sizeof(cmd)), "a memory region for it");
	fast.rkey = resp->rkey | 5;
	directory = guest_directory(guest, GUEST_RAM, 1);
	sqe.fast_reg = (struct pvrdma_wqe_fast_reg){
		.iova = fast.address, .directory = directory, .page_shift = 12, .pages = 1,
		.length = GUEST_PAGE, .access = ALL_ACCESS, .key = fast.rkey,
	};
	guest_send(&pair.qp[1], &sqe, NULL, 0, 0);
	ok(pair_ends(&pair, 1, PVRDMA_WC_FAST_REG, 0), "is registered");
	sqe = rdma(PVRDMA_WR_WRITE, &fast, 0);
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 100);
	ok(pair_ends(&pair, 0, PVRDMA_WC_WRITE, 0), "and written to");
	/* The directory now has another page; the registration is still the first. */
	*(uint64_t *)guest_at(guest, *(uint64_t *)guest_at(guest, directory)) = GUEST_PAGE;
	ok(client_unmap(&guest->client, GUEST_RAM, GUEST_PAGE) >= 0, "the memory is taken away");
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 100);
	ok(pair_ends(&pair, 0, PVRDMA_WC_WRITE, PVRDMA_WC_REM_ACCESS_ERR), "and written to no more");
	close(extra);
	lab_close(&pair.lab);
}

/* Two registrations of one region that were posted before the first one was taken. */
static void test_registered_twice(void)
{
	struct pvrdma_cmd_create_mr cmd = { .flags = PVRDMA_MR_FAST_REG, .chunks = 4 };
	struct pvrdma_sqe sqe = { .wr_id = 1, .opcode = PVRDMA_WR_FAST_REG,
				  .flags = PVRDMA_WR_SIGNALED };
	struct guest_mr fast = { .address = 0x70000000, .length = GUEST_PAGE };
	struct pvrdma_qp_attr attr = { .state = PVRDMA_QPS_RESET };
	const struct pvrdma_resp_create_mr *resp;
	struct guest *guest;
	struct pair pair;
	int extra;

	pair_open(&pair);
	guest = &pair.lab.guests[1];
	extra = plug_page(guest);
	resp = (void *)guest->resp;
	cmd.pd = pair.pd[1];
	guest_command(guest, PVRDMA_CMD_CREATE_MR, &cmd, sizeof(cmd));
	fast.rkey = resp->rkey;
	sqe.fast_reg = (struct pvrdma_wqe_fast_reg){
		.iova = fast.address, .directory = guest_directory(guest, GUEST_RAM, 1),
		.page_shift = 12, .pages = 1, .length = GUEST_PAGE, .access = ALL_ACCESS,
		.key = fast.rkey,
	};
	guest_send(&pair.qp[1], &sqe, NULL, 0, 0);
	ok(pair_ends(&pair, 1, PVRDMA_WC_FAST_REG, 0), "the first is taken");
	sqe.fast_reg.directory = guest_directory(guest, GUEST_PAGE, 1);
	guest_send(&pair.qp[1], &sqe, NULL, 0, 0);
	ok(pair_ends(&pair, 1, PVRDMA_WC_FAST_REG, PVRDMA_WC_LOC_QP_OP_ERR), "the second is refused");
	guest_modify(&pair.qp[1], 1, &attr);
	guest_modify(&pair.qp[0], 1, &attr);
	guest_connect(&pair.qp[0], pair.qp[1].qpn, 2);
	memset(pair.qp[0].header, 0, sizeof(*pair.qp[0].header));
	guest_connect(&pair.qp[1], pair.qp[0].qpn, 1);
	ok(client_unmap(&guest->client, GUEST_RAM, GUEST_PAGE) >= 0, "the first one's memory goes");
	sqe = rdma(PVRDMA_WR_WRITE, &fast, 0);
	guest_send(&pair.qp[0], &sqe, &pair.mr[0], 0, 100);
	ok(pair_ends(&pair, 0, PVRDMA_WC_WRITE, PVRDMA_WC_REM_ACCESS_ERR), "and nothing is written there");
	close(extra);
	lab_close(&pair.lab);
}

/* The requester takes its own memory away while it is read: no fault of the peer's. */
static void test_memory_goes(void)
{
	struct pvrdma_sqe sqe;
	struct guest_mr to, from;
	struct pair pair;

	pair_open(&pair);
	from = guest_mr(&pair.lab.guests[0], pair.pd[0], 16 << 20, ALL_ACCESS);
	to = guest_mr(&pair.lab.guests[1], pair.pd[1], 16 << 20, ALL_ACCESS);
	sqe = rdma(PVRDMA_WR_WRITE, &to, 0);
	guest_send(&pair.qp[0], &sqe, &from, 0, 16 << 20);
	ok(!guest_about(&pair.lab.guests[0], PVRDMA_CMD_DESTROY_MR, from.handle),
	   "a memory region that is being read goes");
	ok(pair_ends(&pair, 0, PVRDMA_WC_WRITE, PVRDMA_WC_LOC_PROT_ERR), "the request fails locally");
	ok(guest_state(&pair.qp[1]) == PVRDMA_QPS_RTS, "and the peer does not");
	lab_close(&pair.lab);
}

static struct guest_qp datagram_qp(struct pair *pair, unsigned int i, uint8_t type)
{
	struct guest_qp_want want = { .pd = pair->pd[i], .depth = 4, .sge = 1, .type = type,
				      .cq = &pair->cq[i] };
	struct guest_qp qp = guest_qp(&pair->lab.guests[i], &want);
	struct pvrdma_qp_attr attr = { .qkey = 0x80010000, .port = 1 };
	unsigned int state;

	for (state = PVRDMA_QPS_INIT; state <= PVRDMA_QPS_RTS; state++) {
		attr.state = state;
		guest_modify(&qp, 0x71, &attr);
	}
	return qp;
}

/* A guest may be its neighbour's enemy. */
static void test_quota(void)
{
	struct model_limits limits = model_default_limits;
	struct backend *backend;
	struct guest_mr mr = { 0 };
	struct guest *guest;
	uint64_t pages[3];
	struct lab lab;
	uint32_t pd;

	limits.memory = 2 * GUEST_PAGE;
	guest_must(!backend_soft_open(NULL, &backend), "backend");
	lab_open_limited(&lab, 20, backend, &limits);
	guest = &lab.guests[0];
	guest_probe(guest);
	pd = guest_pd(guest, 0);
	pages[0] = pages[1] = pages[2] = guest_alloc(guest, 1);
	ok(!guest_register(guest, pd, pages, 3 * GUEST_PAGE, ALL_ACCESS, &mr),
	   "no more memory is registered than allowed");
	ok(guest_register(guest, pd, pages, 2 * GUEST_PAGE, ALL_ACCESS, &mr), "as much is");
	ok(!guest_register(guest, pd, pages, 1, ALL_ACCESS, &(struct guest_mr){ 0 }), "then no more");
	guest_about(guest, PVRDMA_CMD_DESTROY_MR, mr.handle);
	ok(guest_register(guest, pd, pages, 1, ALL_ACCESS, &mr), "until some is let go");
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_RESET);
	guest_probe(guest);
	pd = guest_pd(guest, 0);
	ok(guest_register(guest, pd, pages, 2 * GUEST_PAGE, ALL_ACCESS, &mr), "or all is");
	lab_close(&lab);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* 100 in a second, of which those of a second may come at once. */
static void test_rate(void)
{
	struct model_limits limits = model_default_limits;
	struct pvrdma_cmd_port port = { .port = 1 };
	unsigned int i, failed = 0, refused = 0;
	struct backend *backend;
	struct guest *guest;
	struct lab lab;
	uint64_t began;
	uint32_t pd;

	limits.commands = 100;
	guest_must(!backend_soft_open(NULL, &backend), "backend");
	lab_open_limited(&lab, 20, backend, &limits);
	guest = &lab.guests[0];
	guest->wait = lab_wait_response;
	guest_probe(guest);
	pd = guest_pd(guest, 0);
	began = now_ms();
	for (i = 0; i < 150; i++)
		failed += !!guest_command(guest, PVRDMA_CMD_QUERY_PORT, &port, sizeof(port));
	/* What a slow machine needs is allowed as well. */
	ok(!failed && now_ms() - began >= 480, "commands beyond the rate wait: %u ms for 50",
	   (unsigned int)(now_ms() - began));
	guest->wait = NULL;
	for (i = 0; i < 200; i++)
		refused += guest_command(guest, PVRDMA_CMD_QUERY_PORT, &port, sizeof(port)) == EDQUOT;
	ok(refused > 0 && refused < 200, "a driver that does not wait is refused: %u of 200", refused);
	ok(!guest_about(guest, PVRDMA_CMD_DESTROY_PD, pd), "what takes objects away never is");
	guest->wait = lab_wait_response;
	lab_close(&lab);
}

static void test_datagrams(void)
{
	struct pvrdma_sqe sqe = {
		.wr_id = 1, .opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED,
		.ud = { .qpn = 1, .qkey = PVRDMA_QKEY_OWN },
	};
	struct guest_qp qp, gsi;
	struct pvrdma_cqe cqe;
	struct pair pair;

	pair_open(&pair);
	qp = datagram_qp(&pair, 0, PVRDMA_QPT_UD);
	gsi = datagram_qp(&pair, 1, PVRDMA_QPT_GSI);
	ok(gsi.qpn == 1, "the connection manager's QP has number 1");
	memcpy(sqe.ud.av.dgid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\2", 16);
	sqe.ud.av.port_pd = 1 << 24 | pair.pd[0];
	guest_recv(&gsi, 77, &pair.mr[1], 0, 296);
	guest_send(&qp, &sqe, &pair.mr[0], 0, 256);
	ok(guest_completion(&pair.lab.guests[1], &pair.cq[1], &cqe) && cqe.wr_id == 77 &&
	   cqe.length == 296 && cqe.flags == (PVRDMA_WC_GRH | PVRDMA_WC_NET_TYPE) &&
	   cqe.src_qpn == qp.qpn && cqe.net_type == PVRDMA_NET_IPV4, "a datagram for it");
	guest_recv(&gsi, 78, &pair.mr[1], 0, 296);
	guest_send(&qp, &sqe, &pair.mr[0], 0, 1000);
	ok(!guest_completion(&pair.lab.guests[1], &pair.cq[1], &cqe) &&
	   guest_state(&gsi) == PVRDMA_QPS_RTS, "one that is too long for it is lost");
	guest_send(&qp, &sqe, &pair.mr[0], 0, 256);
	ok(guest_completion(&pair.lab.guests[1], &pair.cq[1], &cqe) && cqe.wr_id == 78 &&
	   !cqe.status, "and the next one arrives");
	lab_close(&pair.lab);
}

/* A guest must not fill the host's disk. */
static void test_log(void)
{
	struct pvrdma_cmd_hdr odd = { 0 };
	struct lab lab;
	unsigned int i;

	lab_open(&lab, 20);
	guest_probe(&lab.guests[0]);
	lab.log_lines = 0;
	for (i = 0; i < 2000; i++)
		guest_command(&lab.guests[0], 99, &odd, sizeof(odd));
	ok(lab.log_lines >= 10 && lab.log_lines < 500, "a guest's mistakes fill no log: %u lines",
	   lab.log_lines);
	lab_close(&lab);
}

int main(int argc, char **argv)
{
	struct pair pair;

	/* Once more, with each guest's adapter in a server of its own. */
	lab_linked = argc > 1 && !strcmp(argv[1], "linked");
	test_probe();
	test_commands();
	pair_open(&pair);
	test_data(&pair);
	lab_close(&pair.lab);
	test_errors();
	test_waits();
	test_device_rings();
	test_overrun();
	test_mischief();
	test_srq();
	test_half_address();
	test_mastering();
	test_fast_registration();
	test_registered_twice();
	test_memory_goes();
	test_quota();
	test_rate();
	test_datagrams();
	test_log();
	return done();
}
