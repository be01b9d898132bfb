// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: two PVRDMA functions of one server, and guests that write what
 * they like to registers, doorbells and memory. The VMM is replaced by pages that
 * are poisoned when they are unmapped, so that a pointer that was kept is found, and the
 * clock (see run-pvrdma) by one that the input moves.
 *
 * The first bytes of the input say what there is at first: normally QPs of all types,
 * connected, with memory regions of all kinds, so that data flows from the first step
 * on. The rest is a list of steps, each chosen from what drivers do, with fields of the
 * input's.
 */

/* What run-pvrdma has the code take from here is the C library's in this file. */
#undef calloc
#undef clock_gettime
#undef free

#include <errno.h>
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "asan.h"
#include "function.h"
#include "input.h"

#define PAGES 64u
#define FUNCTIONS 2u
#define MAX_STEPS 400
#define QPS 4u
#define MRS 4u
#define DEPTH 8u
#define SEND_STRIDE 128u
#define RECV_STRIDE 64u
#define CQE 64u
#define IOVA 0x10000u
#define DATA_PAGES 4u
#define QKEY 0x11u
/* Bytes that are kept for the next run, and how many of such. */
#define LARGE (32u << 10)
#define BLOCKS 16
/* So many pages of a region are not looked up at once. */
#define MANY_PAGES 2500u

/* Where the guests have what. */
enum {
	AT_DSR = 1, AT_CMD, AT_RESP, AT_EVENTS_DIR, AT_EVENTS_TABLE, AT_EVENTS,
	AT_NOTES_DIR = AT_EVENTS + 4, AT_NOTES_TABLE, AT_NOTES,
	AT_DIR = AT_NOTES + 4, AT_TABLE, AT_DATA, AT_CQ = AT_DATA + DATA_PAGES,
	AT_SRQ = AT_CQ + 2, AT_QP = AT_SRQ + 2, AT_FREE = AT_QP + 3 * QPS,
};

struct vfio {
	const struct vfio_ops *ops;
	void *ctx;
	bool ending;
	bool has[PAGES];
	_Alignas(4096) unsigned char pages[PAGES][PAGE];
};

/* What the driver was told when it made its objects. */
struct guest {
	struct vfio *vfio;
	uint32_t pd, cq, srq;
	struct {
		uint32_t handle, lkey, rkey;
	} mr[MRS];
	struct {
		uint32_t handle, qpn;
	} qp[QPS];
};

static struct vfio vfios[FUNCTIONS];
static struct model *models[FUNCTIONS];
static struct guest guests[FUNCTIONS];
static unsigned int opened, version;
static uint64_t now;

/* In place of clock_gettime() in all but this file. */
int fuzz_clock(clockid_t clock, struct timespec *time);

int fuzz_clock(clockid_t clock, struct timespec *time)
{
	(void)clock;
	*time = (struct timespec){
		.tv_sec = (time_t)(now / 1000000000), .tv_nsec = (long)(now % 1000000000),
	};
	return 0;
}

/*
 * In place of calloc() and free(): what is large, tables and the journal, would cost most
 * of the time if it came from the kernel each time.
 */
void *fuzz_calloc(size_t count, size_t size);
void fuzz_free(void *memory);

static struct block {
	void *memory;
	size_t size;
	bool used;
} blocks[BLOCKS];

void *fuzz_calloc(size_t count, size_t size)
{
	struct block *block;

	if (count * size < LARGE)
		return calloc(count, size);
	for (block = blocks; block < blocks + BLOCKS; block++) {
		if (block->used || (block->memory && block->size != count * size))
			continue;
		if (!block->memory)
			block->memory = malloc(count * size);
		block->used = true;
		block->size = count * size;
		ASAN_UNPOISON_MEMORY_REGION(block->memory, block->size);
		return memset(block->memory, 0, block->size);
	}
	return calloc(count, size);
}

void fuzz_free(void *memory)
{
	struct block *block;

	for (block = blocks; memory && block < blocks + BLOCKS; block++) {
		if (block->memory != memory)
			continue;
		block->used = false;
		ASAN_POISON_MEMORY_REGION(memory, block->size);
		return;
	}
	free(memory);
}

static void log_line(const char *name, const char *line)
{
	(void)name;
	(void)line;
}

/* ---- what the model has of the VMM */

struct vfio *vfio_open(const char *path, mode_t mode, const struct vfio_function *function,
		       const struct vfio_ops *ops, void *ctx)
{
	struct vfio *vfio = &vfios[opened++];

	(void)path;
	(void)mode;
	(void)function;
	vfio->ops = ops;
	vfio->ctx = ctx;
	return vfio;
}

void vfio_close(struct vfio *vfio)
{
	vfio->ops->gone(vfio->ctx);
}

void vfio_hang_up(struct vfio *vfio, const char *reason)
{
	(void)reason;
	vfio->ending = true;
}

int vfio_fd(const struct vfio *vfio)
{
	(void)vfio;
	return -1;
}

int vfio_dispatch(struct vfio *vfio)
{
	(void)vfio;
	return 0;
}

int vfio_interrupt(struct vfio *vfio, unsigned int vector)
{
	(void)vfio;
	return vector < PVRDMA_MAX_VECTORS ? 0 : -EINVAL;
}

void *vfio_dma(struct vfio *vfio, uint64_t address, size_t size, bool write)
{
	(void)write;
	if (address / PAGE >= PAGES || address % PAGE + size > PAGE ||
	    !vfio->has[address / PAGE])
		return NULL;
	return vfio->pages[address / PAGE] + address % PAGE;
}

int vfio_backing(struct vfio *vfio, uint64_t address, uint64_t size, struct vfio_run *run)
{
	(void)vfio;
	(void)address;
	(void)size;
	(void)run;
	return -EFAULT;
}

/* ---- the guests */

static void *at(struct vfio *vfio, unsigned int page)
{
	return vfio->has[page % PAGES] ? vfio->pages[page % PAGES] : NULL;
}

static void reg(struct vfio *vfio, uint64_t offset, uint32_t value)
{
	uint32_t err;

	vfio->ops->write(vfio->ctx, PVRDMA_REGS_BAR, offset, &value, sizeof(value));
	vfio->ops->read(vfio->ctx, PVRDMA_REGS_BAR, PVRDMA_REG_ERR, &err, sizeof(err));
}

static void ring_bell(struct vfio *vfio, uint64_t offset, uint32_t value)
{
	vfio->ops->write(vfio->ctx, PVRDMA_UAR_BAR, offset, &value, sizeof(value));
}

static void directory(struct vfio *vfio, unsigned int dir, unsigned int first, unsigned int count)
{
	uint64_t *entries = at(vfio, dir), *table = at(vfio, dir + 1);
	unsigned int i;

	if (!entries || !table)
		return;
	entries[0] = (uint64_t)(dir + 1) * PAGE;
	for (i = 0; i < count; i++)
		table[i] = (uint64_t)((first + i) % PAGES) * PAGE;
}

/* One table of the same page, again and again. */
static void large_directory(struct vfio *vfio)
{
	uint64_t *entries = at(vfio, AT_DIR), *table = at(vfio, AT_TABLE);
	unsigned int i;

	if (!entries || !table)
		return;
	for (i = 0; i < 1 + MANY_PAGES / PVRDMA_DIR_ENTRIES; i++)
		entries[i] = AT_TABLE * PAGE;
	for (i = 0; i < PVRDMA_DIR_ENTRIES; i++)
		table[i] = AT_DATA * PAGE;
}

static void probe(struct vfio *vfio)
{
	struct pvrdma_dsr *dsr = at(vfio, AT_DSR);

	if (!dsr)
		return;
	directory(vfio, AT_EVENTS_DIR, AT_EVENTS, 4);
	directory(vfio, AT_NOTES_DIR, AT_NOTES, 4);
	dsr->cmd_slot = AT_CMD * PAGE;
	dsr->resp_slot = AT_RESP * PAGE;
	dsr->async_ring = (struct pvrdma_ring_info){ 4, 0, AT_EVENTS_DIR * PAGE };
	dsr->cq_ring = (struct pvrdma_ring_info){ 4, 0, AT_NOTES_DIR * PAGE };
	reg(vfio, PVRDMA_REG_DSRLOW, AT_DSR * PAGE);
	reg(vfio, PVRDMA_REG_DSRHIGH, 0);
	reg(vfio, PVRDMA_REG_IMR, 0);
	reg(vfio, PVRDMA_REG_CTL, PVRDMA_CTL_ACTIVATE);
}

/* The response, which may be that of a command before. */
static const void *command(struct vfio *vfio, const void *cmd, size_t size)
{
	static const unsigned char none[PVRDMA_RESP_SLOT_SIZE];
	unsigned char *slot = at(vfio, AT_CMD);

	if (slot)
		memcpy(slot, cmd, size);
	reg(vfio, PVRDMA_REG_REQUEST, 0);
	return at(vfio, AT_RESP) ? at(vfio, AT_RESP) : none;
}

static const void *about(struct vfio *vfio, uint32_t code, uint32_t handle)
{
	struct pvrdma_cmd_handle cmd = { .hdr.code = code, .handle = handle };

	return command(vfio, &cmd, sizeof(cmd));
}

static void make_gid(uint8_t gid[16], uint8_t last)
{
	memset(gid, 0, 16);
	/* An IPv4 address, or one of IPv6. */
	if (version & 1)
		memset(gid + 10, 0xff, 2);
	gid[15] = last;
}

static void bind(struct vfio *vfio, uint8_t last)
{
	struct pvrdma_cmd_create_bind cmd = { .hdr.code = PVRDMA_CMD_CREATE_BIND, .type = 2 };

	make_gid(cmd.gid, last);
	cmd.index = last % 4;
	command(vfio, &cmd, sizeof(cmd));
}

/* ---- objects as drivers make them */

/* Kinds: a user's, one for fast registrations, the kernel's own, one that is read only. */
static void make_mr(struct guest *guest, unsigned int i)
{
	static const uint32_t flags[MRS] = { 0, PVRDMA_MR_FAST_REG, PVRDMA_MR_DMA, 0 };
	struct pvrdma_cmd_create_mr cmd = {
		.hdr.code = PVRDMA_CMD_CREATE_MR, .start = IOVA, .length = DATA_PAGES * PAGE,
		.directory = AT_DIR * PAGE, .pd = guest->pd, .flags = flags[i],
		.access = i == 3 ? 0 : 15, .chunks = DATA_PAGES,
	};
	const struct pvrdma_resp_create_mr *resp;

	directory(guest->vfio, AT_DIR, AT_DATA, DATA_PAGES);
	resp = command(guest->vfio, &cmd, sizeof(cmd));
	guest->mr[i].handle = resp->handle;
	guest->mr[i].lkey = resp->lkey;
	guest->mr[i].rkey = resp->rkey;
}

static void make_cq(struct guest *guest)
{
	struct pvrdma_cmd_create_cq cmd = {
		.hdr.code = PVRDMA_CMD_CREATE_CQ, .directory = AT_DIR * PAGE, .cqe = CQE,
		.chunks = 2,
	};
	const struct pvrdma_resp_handle *resp;

	directory(guest->vfio, AT_DIR, AT_CQ, 2);
	resp = command(guest->vfio, &cmd, sizeof(cmd));
	guest->cq = resp->handle;
}

static void make_srq(struct guest *guest)
{
	struct pvrdma_cmd_create_srq cmd = {
		.hdr.code = PVRDMA_CMD_CREATE_SRQ, .directory = AT_DIR * PAGE, .pd = guest->pd,
		.chunks = 2, .attr = { .max_wr = DEPTH, .max_sge = 2, .limit = 2 },
	};
	const struct pvrdma_resp_handle *resp;

	directory(guest->vfio, AT_DIR, AT_SRQ, 2);
	resp = command(guest->vfio, &cmd, sizeof(cmd));
	guest->srq = resp->handle;
}

static uint8_t type_of(unsigned int i)
{
	static const uint8_t types[QPS] = {
		PVRDMA_QPT_RC, PVRDMA_QPT_RC, PVRDMA_QPT_UD, PVRDMA_QPT_GSI,
	};

	return types[i % QPS];
}

static void make_qp(struct guest *guest, unsigned int i, uint8_t choice)
{
	struct pvrdma_cmd_create_qp cmd = {
		.hdr.code = PVRDMA_CMD_CREATE_QP, .directory = AT_DIR * PAGE, .pd = guest->pd,
		.send_cq = guest->cq, .recv_cq = guest->cq, .max_send_wr = DEPTH,
		.max_recv_wr = DEPTH, .max_send_sge = 3, .max_recv_sge = 2, .total_chunks = 3,
		.send_chunks = 1, .type = type_of(i), .sq_sig_all = choice & 1,
		.is_srq = i == 1 && choice & 2, .srq = guest->srq,
	};
	const struct pvrdma_resp_create_qp *resp;

	directory(guest->vfio, AT_DIR, AT_QP + 3 * i, 3);
	resp = command(guest->vfio, &cmd, sizeof(cmd));
	guest->qp[i].qpn = resp->qpn;
	guest->qp[i].handle = version < PVRDMA_VERSION_QP_HANDLE ? resp->qpn : resp->handle;
}

static void make_objects(struct guest *guest, uint8_t choice)
{
	unsigned int i;

	guest->pd = ((const struct pvrdma_resp_handle *)
		     about(guest->vfio, PVRDMA_CMD_CREATE_PD, 0))->handle;
	for (i = 0; i < MRS; i++)
		make_mr(guest, i);
	make_cq(guest);
	make_srq(guest);
	for (i = 0; i < QPS; i++)
		make_qp(guest, i, choice);
}

/* QPs of both guests with the same place are each other's peers. */
static void connect_qp(struct guest *guest, const struct guest *peer, unsigned int i, uint8_t timeout)
{
	struct pvrdma_cmd_modify_qp cmd = {
		.hdr.code = PVRDMA_CMD_MODIFY_QP, .handle = guest->qp[i].handle,
		.mask = type_of(i) == PVRDMA_QPT_RC ? 0x39 : 0x71,
		.attr = { .access = 15, .port = 1, .path_mtu = PVRDMA_MTU_256, .qkey = QKEY,
			  .dest_qpn = peer->qp[i].qpn, .max_rd_atomic = 1,
			  .max_dest_rd_atomic = 1, .timeout = timeout % 32,
			  .retry_cnt = timeout / 32, .rnr_retry = timeout % 8,
			  .path = { .flags = 1, .port = 1 } },
	};

	make_gid(cmd.attr.path.dgid, (uint8_t)(peer - guests));
	cmd.attr.state = PVRDMA_QPS_INIT;
	command(guest->vfio, &cmd, sizeof(cmd));
	cmd.attr.state = PVRDMA_QPS_RTR;
	cmd.mask = type_of(i) == PVRDMA_QPT_RC ? 0x129181 : 1;
	command(guest->vfio, &cmd, sizeof(cmd));
	cmd.attr.state = PVRDMA_QPS_RTS;
	cmd.mask = type_of(i) == PVRDMA_QPT_RC ? 0x12e01 : 0x10001;
	command(guest->vfio, &cmd, sizeof(cmd));
}

/* ---- steps */

/* Any command, of which the input changes some words. */
static void any_command(struct guest *guest, struct input *in)
{
	uint32_t words[PVRDMA_CMD_SLOT_SIZE / 4] = { 0 };
	unsigned int i, changes = byte(in) % 8;

	words[2] = byte(in) % 23;
	words[4] = byte(in) % 8;
	for (i = 0; i < changes; i++)
		words[byte(in) % (PVRDMA_CMD_SLOT_SIZE / 4)] = (uint32_t)number(in, 1 + byte(in) % 4);
	command(guest->vfio, words, sizeof(words));
}

static void object(struct guest *guest, struct input *in)
{
	unsigned int i = byte(in);
	struct pvrdma_cmd_create_uc uc = {
		.hdr.code = PVRDMA_CMD_CREATE_UC, .pfn = byte(in) % 8,
	};
	struct pvrdma_cmd_port port = { .port = 1 };
	struct pvrdma_cmd_create_mr large = {
		.hdr.code = PVRDMA_CMD_CREATE_MR, .start = IOVA, .length = MANY_PAGES * PAGE,
		.directory = AT_DIR * PAGE, .pd = guest->pd, .access = 15, .chunks = MANY_PAGES,
	};

	switch (i % 16) {
	case 0: make_mr(guest, i / 16 % MRS); break;
	case 1: make_cq(guest); break;
	case 2: make_srq(guest); break;
	case 3: make_qp(guest, i / 16 % QPS, byte(in)); break;
	case 4: about(guest->vfio, PVRDMA_CMD_CREATE_PD, i / 16 % 4); break;
	case 5: command(guest->vfio, &uc, sizeof(uc)); break;
	case 6: about(guest->vfio, PVRDMA_CMD_DESTROY_UC, i / 16 % 4); break;
	case 7: about(guest->vfio, PVRDMA_CMD_DESTROY_MR, guest->mr[i / 16 % MRS].handle); break;
	case 8: about(guest->vfio, PVRDMA_CMD_DESTROY_CQ, guest->cq); break;
	case 9: about(guest->vfio, PVRDMA_CMD_DESTROY_SRQ, guest->srq); break;
	case 10: about(guest->vfio, PVRDMA_CMD_DESTROY_QP, guest->qp[i / 16 % QPS].handle); break;
	case 11: about(guest->vfio, PVRDMA_CMD_QUERY_QP, guest->qp[i / 16 % QPS].handle); break;
	case 12: about(guest->vfio, PVRDMA_CMD_QUERY_SRQ, guest->srq); break;
	case 13: about(guest->vfio, PVRDMA_CMD_DESTROY_PD, guest->pd); break;
	case 14:
		large_directory(guest->vfio);
		command(guest->vfio, &large, sizeof(large));
		break;
	default:
		port.hdr.code = i & 16 ? PVRDMA_CMD_QUERY_PORT : PVRDMA_CMD_QUERY_PKEY;
		command(guest->vfio, &port, sizeof(port));
	}
}

static void modify(struct guest *guest, struct input *in)
{
	unsigned int i = byte(in);
	struct pvrdma_cmd_modify_qp cmd = {
		.hdr.code = PVRDMA_CMD_MODIFY_QP, .handle = guest->qp[i % QPS].handle, .mask = 1,
		.attr = { .state = i / 4 % 8, .access = 15, .port = 1, .retry_cnt = 1 },
	};
	struct pvrdma_cmd_modify_srq srq = {
		.hdr.code = PVRDMA_CMD_MODIFY_SRQ, .handle = guest->srq, .mask = 2,
		.attr = { .limit = i % 8 },
	};

	if (i >= 240) {
		command(guest->vfio, &srq, sizeof(srq));
		return;
	}
	if (rarely(in)) {
		cmd.mask = (uint32_t)number(in, 3);
		((unsigned char *)&cmd.attr)[byte(in) % sizeof(cmd.attr)] = byte(in);
	}
	command(guest->vfio, &cmd, sizeof(cmd));
}

/* Of the guest's memory by @key of its region @i, or what the input says. */
static struct pvrdma_sge part(const struct guest *guest, struct input *in)
{
	unsigned int i = byte(in);
	struct pvrdma_sge sge = {
		.addr = (i & 3) == 2 ? AT_DATA * PAGE : IOVA, .lkey = guest->mr[i & 3].lkey,
		.length = (uint32_t)number(in, 1) << (i >> 2 & 7),
	};

	if (i & 32)
		sge.addr += number(in, 2);
	if (rarely(in)) {
		sge.lkey = (uint32_t)number(in, 2);
		sge.length = (uint32_t)number(in, 4);
	}
	return sge;
}

static void fill_rdma(struct guest *guest, const struct guest *peer, struct pvrdma_sqe *sqe,
		      struct input *in)
{
	unsigned int i = byte(in);
	uint64_t addr = (i & 3) == 2 ? AT_DATA * PAGE : IOVA;
	uint32_t rkey = peer->mr[i & 3].rkey;

	(void)guest;
	if (i & 4)
		addr += number(in, 2);
	if (rarely(in))
		rkey = (uint32_t)number(in, 4);
	if (sqe->opcode == PVRDMA_WR_CMP_SWAP || sqe->opcode == PVRDMA_WR_FETCH_ADD)
		sqe->atomic = (struct pvrdma_wqe_atomic){
			.addr = addr, .rkey = rkey, .compare_add = byte(in), .swap = 1,
		};
	else
		sqe->rdma = (struct pvrdma_wqe_rdma){ .addr = addr, .rkey = rkey };
}

static void fill_ud(struct guest *guest, const struct guest *peer, unsigned int i,
		    struct pvrdma_sqe *sqe, struct input *in)
{
	uint8_t choice = byte(in);

	sqe->ud = (struct pvrdma_wqe_ud){
		.qpn = i == 3 ? PVRDMA_GSI_QPN : peer->qp[i].qpn,
		.qkey = choice & 1 ? PVRDMA_QKEY_OWN : QKEY,
		.av = { .port_pd = 1u << 24 | guest->pd, .hop_limit = 1,
			.sgid_index = (uint8_t)(guest - guests) },
	};
	make_gid(sqe->ud.av.dgid, (uint8_t)(peer - guests));
	if (choice & 128) {
		sqe->ud.qpn = choice & 7;
		sqe->ud.qkey = byte(in);
		sqe->ud.av.sgid_index = byte(in);
		sqe->ud.av.dgid[15] = choice & 3;
	}
}

static void fill_fast_reg(struct guest *guest, struct pvrdma_sqe *sqe, struct input *in)
{
	uint8_t choice = byte(in);

	directory(guest->vfio, AT_DIR, AT_DATA, DATA_PAGES);
	sqe->imm = guest->mr[1].lkey;
	if (sqe->opcode == PVRDMA_WR_FAST_REG)
		sqe->fast_reg = (struct pvrdma_wqe_fast_reg){
			.iova = IOVA, .directory = AT_DIR * PAGE, .page_shift = 12,
			.pages = choice & 7, .length = (choice & 7) * (uint32_t)PAGE,
			.access = 15, .key = guest->mr[1].lkey + (choice >> 7),
		};
	if (choice & 64) {
		sqe->imm = (uint32_t)number(in, 2);
		sqe->fast_reg.length = (uint32_t)number(in, 2);
		sqe->fast_reg.iova += byte(in);
	}
}

/* A request at the guest's index, and the doorbell for it. */
static void send(struct guest *guest, const struct guest *peer, struct input *in)
{
	static const uint8_t ops[] = {
		PVRDMA_WR_SEND, PVRDMA_WR_WRITE, PVRDMA_WR_READ, PVRDMA_WR_SEND_IMM,
		PVRDMA_WR_WRITE_IMM, PVRDMA_WR_CMP_SWAP, PVRDMA_WR_FETCH_ADD, PVRDMA_WR_SEND,
		PVRDMA_WR_FAST_REG, PVRDMA_WR_LOCAL_INV, PVRDMA_WR_SEND_INV, 7, 9, 12, 255,
		PVRDMA_WR_SEND,
	};
	unsigned int choice = byte(in), i = choice % QPS, n;
	struct pvrdma_ring_header *header = at(guest->vfio, AT_QP + 3 * i);
	unsigned char *sq = at(guest->vfio, AT_QP + 3 * i + 1);
	struct pvrdma_sqe sqe = {
		.wr_id = choice, .opcode = ops[choice >> 4], .flags = byte(in) ^ PVRDMA_WR_SIGNALED,
	};
	struct pvrdma_sge sge;

	if (!header || !sq)
		return;
	sqe.num_sge = choice & 4 ? byte(in) % 5 : 1;
	if (type_of(i) != PVRDMA_QPT_RC)
		fill_ud(guest, peer, i, &sqe, in);
	else if (sqe.opcode >= PVRDMA_WR_SEND_INV)
		fill_fast_reg(guest, &sqe, in);
	else
		fill_rdma(guest, peer, &sqe, in);
	sq += (header->tx.prod_tail & (DEPTH - 1)) * SEND_STRIDE;
	memcpy(sq, &sqe, sizeof(sqe));
	for (n = 0; n < sqe.num_sge && n < 3; n++) {
		sge = part(guest, in);
		if (sqe.opcode == PVRDMA_WR_CMP_SWAP || sqe.opcode == PVRDMA_WR_FETCH_ADD)
			sge.length = 8;
		memcpy(sq + sizeof(sqe) + n * sizeof(sge), &sge, sizeof(sge));
	}
	header->tx.prod_tail = (header->tx.prod_tail + 1) & (2 * DEPTH - 1);
	if (!(choice & 8))
		ring_bell(guest->vfio, PVRDMA_UAR_QP, guest->qp[i].handle | PVRDMA_UAR_QP_SEND);
}

static void receive(struct guest *guest, struct input *in)
{
	unsigned int choice = byte(in), i = choice % 8, n;
	unsigned int page = i < QPS ? AT_QP + 3 * i : AT_SRQ;
	struct pvrdma_ring_header *header = at(guest->vfio, page);
	unsigned char *rq = at(guest->vfio, page + (i < QPS ? 2 : 1));
	struct pvrdma_rqe rqe = { .wr_id = choice, .num_sge = choice & 8 ? byte(in) % 4 : 1 };
	struct pvrdma_sge sge;

	if (!header || !rq)
		return;
	rq += (header->rx.prod_tail & (DEPTH - 1)) * RECV_STRIDE;
	memcpy(rq, &rqe, sizeof(rqe));
	for (n = 0; n < rqe.num_sge && n < 2; n++) {
		sge = part(guest, in);
		memcpy(rq + sizeof(rqe) + n * sizeof(sge), &sge, sizeof(sge));
	}
	header->rx.prod_tail = (header->rx.prod_tail + 1) & (2 * DEPTH - 1);
	if (i < QPS)
		ring_bell(guest->vfio, PVRDMA_UAR_QP, guest->qp[i].handle | PVRDMA_UAR_QP_RECV);
	else
		ring_bell(guest->vfio, PVRDMA_UAR_SRQ, guest->srq | PVRDMA_UAR_SRQ_RECV);
}

static void take(struct pvrdma_ring_state *state)
{
	if (state)
		state->cons_head = state->prod_tail;
}

/* What a driver does with completions, notifications and events. */
static void poll_rings(struct guest *guest, struct input *in)
{
	struct pvrdma_ring_header *header = at(guest->vfio, AT_CQ);
	uint8_t choice = byte(in);

	if (choice & 1)
		ring_bell(guest->vfio, PVRDMA_UAR_CQ, guest->cq | PVRDMA_UAR_CQ_ARM);
	if (choice & 2)
		ring_bell(guest->vfio, PVRDMA_UAR_CQ, guest->cq | PVRDMA_UAR_CQ_ARM_SOL);
	if (choice & 4 && header)
		take(&header->rx);
	header = at(guest->vfio, AT_NOTES);
	if (choice & 8 && header)
		take(&header->rx);
	header = at(guest->vfio, AT_EVENTS);
	if (choice & 16 && header)
		take(&header->rx);
}

static void doorbell(struct guest *guest, struct input *in)
{
	uint8_t choice = byte(in);
	uint32_t value = 1 + choice % 4, flags = (uint32_t)byte(in) << 24 & 0xe0000000u;

	ring_bell(guest->vfio, (uint64_t)(choice / 4 % 4) * 4 +
			       (choice > 250 ? (choice - 250u) * PAGE : 0), value | flags);
}

static void poke(struct guest *guest, struct input *in)
{
	unsigned char *page = at(guest->vfio, byte(in));
	unsigned int offset = (unsigned int)number(in, 2) % (PAGE - 8);
	uint64_t value = number(in, 1 + byte(in) % 8);

	if (page)
		memcpy(page + offset, &value, sizeof(value));
}

static void take_page(struct vfio *vfio, unsigned int page)
{
	page %= PAGES;
	vfio->ops->unmapping(vfio->ctx, (uint64_t)page * PAGE, PAGE);
	vfio->has[page] = false;
	ASAN_POISON_MEMORY_REGION(vfio->pages[page], PAGE);
}

static void give_pages(struct vfio *vfio)
{
	unsigned int i;

	for (i = 0; i < PAGES; i++) {
		if (vfio->has[i])
			continue;
		vfio->has[i] = true;
		ASAN_UNPOISON_MEMORY_REGION(vfio->pages[i], PAGE);
		memset(vfio->pages[i], 0, PAGE);
	}
}

static void run(struct backend *backend, uint64_t passed)
{
	unsigned int i, turns = 20;

	now += passed;
	while (turns-- && backend->ops->run(backend, now) <= now)
		;
	for (i = 0; i < FUNCTIONS; i++) {
		model_run(models[i], now);
		if (vfios[i].ending)
			vfios[i].ops->gone(vfios[i].ctx);
		vfios[i].ending = false;
	}
}

/* By whoever is at the control socket. */
static void set_fault(struct guest *guest, struct input *in)
{
	struct fault fault = { .count = 1, .probability = 100, .target = -1 };
	enum fault_id id = byte(in) % FAULT_COUNT;

	fault.arg = byte(in);
	if (rarely(in)) {
		fault.count = (int32_t)number(in, 1) - 8;
		fault.probability = byte(in);
		fault.target = byte(in) % 16;
	}
	(void)!fault_set(models[guest - guests], id, &fault);
}

static void vmm(struct guest *guest, struct input *in)
{
	struct vfio *vfio = guest->vfio;
	const struct vfio_peer peer = { 0 };
	uint64_t value;

	switch (byte(in) % 8) {
	case 0: vfio->ops->reset(vfio->ctx); break;
	case 1: vfio->ops->gone(vfio->ctx); break;
	case 2: take_page(vfio, byte(in)); break;
	case 3: give_pages(vfio); break;
	case 4: vfio->ops->came(vfio->ctx, &peer); break;
	case 5:
		value = byte(in);
		vfio->ops->read(vfio->ctx, value % 3, value & 0xfc, &value, 4);
		break;
	default: reg(vfio, byte(in) % 16 * 4, (uint32_t)number(in, 4)); break;
	}
}

static void step(struct backend *backend, struct guest *guest, struct input *in)
{
	struct guest *peer = &guests[(guest - guests + 1) % FUNCTIONS];
	uint8_t choice = byte(in);

	if (choice & 128)
		peer = guest;
	switch (choice % 32) {
	case 0: case 1: case 2: case 3: case 4: case 5: case 6: case 7:
		send(guest, peer, in);
		break;
	case 8: case 9: case 10: case 11: receive(guest, in); break;
	case 12: case 13: case 14: run(backend, number(in, 2) << byte(in) % 24); break;
	case 15: case 16: poll_rings(guest, in); break;
	case 17: modify(guest, in); break;
	case 18: connect_qp(guest, peer, byte(in) % QPS, byte(in)); break;
	case 19: case 20: object(guest, in); break;
	case 21: any_command(guest, in); break;
	case 22: doorbell(guest, in); break;
	case 23: case 24: poke(guest, in); break;
	case 25: bind(guest->vfio, byte(in)); break;
	case 26: set_fault(guest, in); break;
	case 27: probe(guest->vfio); break;
	case 28: make_objects(guest, byte(in)); break;
	default: vmm(guest, in); break;
	}
}

/* ---- life */

static struct model_config configure(struct backend *backend, struct input *in)
{
	uint8_t choice = byte(in);
	struct model_config config = {
		.backend = backend, .version = 20 - choice % 4, .log = log_line,
		.gid_type = IBV_GID_TYPE_ROCE_V2, .mtu = IBV_MTU_1024,
		/* Small, so that its ends are met. */
		.limits = { .qps = 8, .cqs = 8, .mrs = 8, .pds = 8, .srqs = 4, .wr = 64,
			    .cqe = 256, .sge = 4 },
	};

	if (choice & 4 || config.version < 18)
		config.gid_type = IBV_GID_TYPE_ROCE_V1;
	if (choice & 8)
		config.limits.memory = 10 * PAGE;
	if (choice & 16)
		config.limits.commands = 4;
	if (choice & 32)
		config.limits.srqs = 0;
	version = config.version;
	return config;
}

static void begin(const struct model_config *config, struct input *in)
{
	uint8_t choice = byte(in), timeout = byte(in);
	unsigned int i, k;

	for (i = 0; i < FUNCTIONS; i++) {
		models[i] = model_open("", 0, config);
		if (!models[i])
			abort();
		guests[i] = (struct guest){ .vfio = &vfios[i] };
		give_pages(&vfios[i]);
		probe(&vfios[i]);
		bind(&vfios[i], (uint8_t)i);
		if (!(choice & 128))
			make_objects(&guests[i], choice);
	}
	for (i = 0; i < FUNCTIONS; i++)
		for (k = 0; k < QPS && !(choice & 64); k++)
			connect_qp(&guests[i], &guests[!i], k, timeout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct model_config config;
	struct backend *backend;
	unsigned int i, steps = 0;

	if (backend_soft_open(NULL, &backend))
		abort();
	srandom(1);
	opened = 0;
	now = 1000000000;
	config = configure(backend, &in);
	begin(&config, &in);
	while (in.size && steps++ < MAX_STEPS)
		step(backend, &guests[byte(&in) % FUNCTIONS], &in);
	run(backend, 1);
	for (i = 0; i < FUNCTIONS; i++)
		model_close(models[i]);
	backend->ops->close(backend);
	for (i = 0; i < FUNCTIONS; i++)
		memset(vfios[i].has, 0, sizeof(vfios[i].has));
	return 0;
}
