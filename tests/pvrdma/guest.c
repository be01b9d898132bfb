// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"

#define CONFIG_REGION 7
#define COMMAND 4
#define MEMORY_AND_MASTER 6
/* What a driver waits for a response, and more on a slow machine. */
#define DRIVER_WAITS_MS 60000
#define UAR_PFN 0xfe000u
#define CAPABILITIES "\"capabilities\":{\"max_msg_fds\":16,\"write_multiple\":true}"

void guest_must(bool well, const char *what)
{
	if (well)
		return;
	printf("Bail out! %s\n", what);
	exit(1);
}

void guest_open(struct guest *guest, uint64_t size, unsigned int flags)
{
	guest->size = size;
	guest->ram = memfd_create("guest", MFD_CLOEXEC | flags);
	guest_must(guest->ram >= 0 && !ftruncate(guest->ram, (off_t)size), "memory");
	guest->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, guest->ram, 0);
	guest_must(guest->memory != MAP_FAILED, "mmap");
	guest->next = GUEST_PAGE;
}

void guest_close(struct guest *guest)
{
	munmap(guest->memory, guest->size);
	close(guest->ram);
}

void guest_plug(struct guest *guest)
{
	uint16_t command = MEMORY_AND_MASTER;
	unsigned int i;

	guest_must(!client_connect(&guest->client, guest->path), "connect");
	guest->client.pump = guest->run;
	guest->client.arg = guest->arg;
	guest_must(client_version(&guest->client, CAPABILITIES) >= 0, "version");
	guest_must(client_map(&guest->client, 0, guest->size, guest->ram, 0,
			      PROTO_MAP_READ | PROTO_MAP_WRITE) >= 0, "map");
	guest_must(client_write(&guest->client, CONFIG_REGION, COMMAND, &command,
				sizeof(command)) >= 0, "command register");
	for (i = 0; i < PVRDMA_MAX_VECTORS; i++)
		guest->irqs[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	guest_must(client_irqs(&guest->client, VFIO_PCI_MSIX_IRQ_INDEX,
			       VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 0,
			       PVRDMA_MAX_VECTORS, NULL, guest->irqs, PVRDMA_MAX_VECTORS) >= 0,
		   "MSI-X");
}

void guest_unplug(struct guest *guest)
{
	unsigned int i;

	client_close(&guest->client);
	for (i = 0; i < PVRDMA_MAX_VECTORS; i++)
		close(guest->irqs[i]);
}

uint64_t guest_alloc(struct guest *guest, uint32_t pages)
{
	uint64_t address = guest->next;

	guest->next += (uint64_t)pages * GUEST_PAGE;
	guest_must(guest->next <= guest->size, "the guest's memory is full");
	memset(guest->memory + address, 0, (size_t)pages * GUEST_PAGE);
	return address;
}

void *guest_at(struct guest *guest, uint64_t address)
{
	return guest->memory + address;
}

uint64_t guest_directory(struct guest *guest, uint64_t address, uint32_t pages)
{
	uint32_t tables = (pages + PVRDMA_DIR_ENTRIES - 1) / PVRDMA_DIR_ENTRIES, i;
	uint64_t directory = guest_alloc(guest, 1), table = guest_alloc(guest, tables);
	uint64_t *entries = guest_at(guest, directory);

	for (i = 0; i < tables; i++)
		entries[i] = table + (uint64_t)i * GUEST_PAGE;
	entries = guest_at(guest, table);
	for (i = 0; i < pages; i++)
		entries[i] = address + (uint64_t)i * GUEST_PAGE;
	return directory;
}

uint32_t guest_read(struct guest *guest, uint64_t reg)
{
	return client_read32(&guest->client, PVRDMA_REGS_BAR, reg);
}

void guest_write(struct guest *guest, uint64_t reg, uint32_t value)
{
	client_write32(&guest->client, PVRDMA_REGS_BAR, reg, value);
}

void guest_ring(struct guest *guest, uint32_t page, uint32_t offset, uint32_t value)
{
	client_write32(&guest->client, PVRDMA_UAR_BAR, (uint64_t)page * GUEST_PAGE + offset, value);
}

static struct pvrdma_ring_state *make_ring(struct guest *guest, struct pvrdma_ring_info *info,
					   void *elements)
{
	uint64_t address = guest_alloc(guest, 4);
	struct pvrdma_ring_header *header = guest_at(guest, address);

	info->pages = 4;
	info->directory = guest_directory(guest, address, 4);
	*(void **)elements = guest_at(guest, address + GUEST_PAGE);
	return &header->rx;
}

uint32_t guest_probe(struct guest *guest)
{
	uint64_t address = guest_alloc(guest, 1), cmd = guest_alloc(guest, 1);
	uint64_t resp = guest_alloc(guest, 1);

	guest->version = guest_read(guest, PVRDMA_REG_VERSION);
	guest->dsr = guest_at(guest, address);
	guest->cmd = guest_at(guest, cmd);
	guest->resp = guest_at(guest, resp);
	guest->uar_pfn = UAR_PFN;
	guest->dsr->driver_version = 20;
	guest->dsr->cmd_slot = cmd;
	guest->dsr->resp_slot = resp;
	guest->dsr->uar_pfn = guest->uar_pfn;
	guest->events = make_ring(guest, &guest->dsr->async_ring, &guest->event);
	guest->notifications = make_ring(guest, &guest->dsr->cq_ring, &guest->notification);
	guest_write(guest, PVRDMA_REG_DSRLOW, (uint32_t)address);
	guest_write(guest, PVRDMA_REG_DSRHIGH, (uint32_t)(address >> 32));
	guest_write(guest, PVRDMA_REG_IMR, 0);
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_ACTIVATE);
	return guest_read(guest, PVRDMA_REG_ERR);
}

/* hw 4.2 */
static bool responds(uint32_t code)
{
	switch (code) {
	case PVRDMA_CMD_QUERY_PORT:
	case PVRDMA_CMD_QUERY_PKEY:
	case PVRDMA_CMD_CREATE_PD:
	case PVRDMA_CMD_CREATE_MR:
	case PVRDMA_CMD_CREATE_CQ:
	case PVRDMA_CMD_CREATE_QP:
	case PVRDMA_CMD_MODIFY_QP:
	case PVRDMA_CMD_QUERY_QP:
	case PVRDMA_CMD_CREATE_UC:
	case PVRDMA_CMD_CREATE_SRQ:
	case PVRDMA_CMD_QUERY_SRQ:
		return true;
	default:
		return false;
	}
}

bool guest_wait(void *arg, int irq)
{
	struct pollfd fd = { .fd = irq, .events = POLLIN };

	(void)arg;
	return poll(&fd, 1, DRIVER_WAITS_MS) == 1;
}

/* False: it fails the command, or does not come as long as a driver waits (hw 4.1). */
static bool wait_for_response(struct guest *guest, uint32_t code)
{
	const struct pvrdma_resp_hdr *resp = (void *)guest->resp;
	int irq = guest->irqs[PVRDMA_VECTOR_RESPONSE];
	uint64_t count;

	return guest->wait(guest->arg, irq) && read(irq, &count, sizeof(count)) > 0 &&
	       resp->ack == (PVRDMA_RESP_ACK | code);
}

uint32_t guest_command(struct guest *guest, uint32_t code, void *cmd, size_t size)
{
	struct pvrdma_cmd_hdr *hdr = cmd;
	uint32_t err;

	hdr->code = code;
	/* Behind the command is what happens to be there. */
	memset(guest->cmd, 0xa5, PVRDMA_CMD_SLOT_SIZE);
	memset(guest->resp, 0x5a, PVRDMA_RESP_SLOT_SIZE);
	memcpy(guest->cmd, cmd, size);
	guest_write(guest, PVRDMA_REG_REQUEST, 0);
	err = guest_read(guest, PVRDMA_REG_ERR);
	if (!err && guest->wait && responds(code) && !wait_for_response(guest, code))
		return EIO;
	return err;
}

uint32_t guest_about(struct guest *guest, uint32_t code, uint32_t handle)
{
	struct pvrdma_cmd_handle cmd = { .handle = handle };

	return guest_command(guest, code, &cmd, sizeof(cmd));
}

static uint32_t new_handle(struct guest *guest)
{
	const struct pvrdma_resp_handle *resp = (void *)guest->resp;

	return resp->handle;
}

uint32_t guest_context(struct guest *guest, uint32_t page)
{
	struct pvrdma_cmd_create_uc cmd = { .pfn = guest->uar_pfn + page };

	guest_must(!guest_command(guest, PVRDMA_CMD_CREATE_UC, &cmd, sizeof(cmd)), "CREATE_UC");
	return new_handle(guest);
}

uint32_t guest_pd(struct guest *guest, uint32_t context)
{
	guest_must(!guest_about(guest, PVRDMA_CMD_CREATE_PD, context), "CREATE_PD");
	return new_handle(guest);
}

/* A directory of pages anywhere. */
static uint64_t scattered(struct guest *guest, const uint64_t *addresses, uint32_t pages)
{
	uint32_t tables = (pages + PVRDMA_DIR_ENTRIES - 1) / PVRDMA_DIR_ENTRIES, i;
	uint64_t directory = guest_alloc(guest, 1), table = guest_alloc(guest, tables);
	uint64_t *entries = guest_at(guest, directory);

	for (i = 0; i < tables; i++)
		entries[i] = table + (uint64_t)i * GUEST_PAGE;
	memcpy(guest_at(guest, table), addresses, pages * sizeof(*addresses));
	return directory;
}

bool guest_register(struct guest *guest, uint32_t pd, const uint64_t *addresses, uint64_t length,
		    uint32_t access, struct guest_mr *mr)
{
	uint64_t span = mr->address % GUEST_PAGE + length;
	uint32_t pages = (uint32_t)((span + GUEST_PAGE - 1) / GUEST_PAGE);
	struct pvrdma_cmd_create_mr cmd = {
		.start = mr->address,
		.length = length,
		.directory = scattered(guest, addresses, pages),
		.pd = pd,
		.access = access,
		.chunks = pages,
	};
	const struct pvrdma_resp_create_mr *resp = (void *)guest->resp;

	if (guest_command(guest, PVRDMA_CMD_CREATE_MR, &cmd, sizeof(cmd)))
		return false;
	mr->length = length;
	mr->handle = resp->handle;
	mr->lkey = resp->lkey;
	mr->rkey = resp->rkey;
	return true;
}

struct guest_mr guest_mr(struct guest *guest, uint32_t pd, uint32_t length, uint32_t access)
{
	uint32_t pages = (length + GUEST_PAGE - 1) / GUEST_PAGE, i;
	struct guest_mr mr = { .address = guest_alloc(guest, pages) };
	uint64_t *addresses = calloc(pages, sizeof(*addresses));

	guest_must(addresses != NULL, "memory");
	for (i = 0; i < pages; i++)
		addresses[i] = mr.address + (uint64_t)i * GUEST_PAGE;
	guest_must(guest_register(guest, pd, addresses, length, access, &mr), "CREATE_MR");
	free(addresses);
	return mr;
}

struct guest_cq guest_cq(struct guest *guest, uint32_t context, uint32_t cqe)
{
	uint32_t pages = 1 + (cqe * (uint32_t)sizeof(struct pvrdma_cqe) + GUEST_PAGE - 1) / GUEST_PAGE;
	uint64_t address = guest_alloc(guest, pages);
	struct pvrdma_ring_header *header = guest_at(guest, address);
	struct pvrdma_cmd_create_cq cmd = {
		.directory = guest_directory(guest, address, pages),
		.context = context,
		.cqe = cqe,
		.chunks = pages,
	};
	struct guest_cq cq = {
		.cqe = cqe,
		.state = &header->rx,
		.entries = guest_at(guest, address + GUEST_PAGE),
	};

	guest_must(!guest_command(guest, PVRDMA_CMD_CREATE_CQ, &cmd, sizeof(cmd)), "CREATE_CQ");
	cq.handle = new_handle(guest);
	return cq;
}

static uint32_t pow2(uint32_t value)
{
	uint32_t power = 1;

	while (power < value)
		power <<= 1;
	return power;
}

#define SRQ_STRIDE 32u

struct guest_srq guest_srq(struct guest *guest, uint32_t pd, uint32_t depth)
{
	uint32_t pages = 1 + (depth * SRQ_STRIDE + GUEST_PAGE - 1) / GUEST_PAGE;
	uint64_t address = guest_alloc(guest, pages);
	struct pvrdma_cmd_create_srq cmd = {
		.directory = guest_directory(guest, address, pages),
		.pd = pd,
		.chunks = pages,
		.attr = { .max_wr = depth, .max_sge = 1 },
	};
	struct guest_srq srq = {
		.guest = guest,
		.depth = depth,
		.header = guest_at(guest, address),
		.elements = guest_at(guest, address + GUEST_PAGE),
	};

	guest_must(!guest_command(guest, PVRDMA_CMD_CREATE_SRQ, &cmd, sizeof(cmd)), "CREATE_SRQ");
	srq.handle = new_handle(guest);
	return srq;
}

struct guest_qp guest_qp(struct guest *guest, const struct guest_qp_want *want)
{
	uint32_t stride = pow2(80 + 16 * want->sge), rq_stride = pow2(16 + 16 * want->sge);
	uint32_t sq = (want->depth * stride + GUEST_PAGE - 1) / GUEST_PAGE;
	uint32_t rq = want->srq ? 0 : (want->depth * rq_stride + GUEST_PAGE - 1) / GUEST_PAGE;
	uint64_t address = guest_alloc(guest, 1 + sq + rq);
	struct pvrdma_cmd_create_qp cmd = {
		.directory = guest_directory(guest, address, 1 + sq + rq),
		.pd = want->pd,
		.send_cq = want->cq->handle,
		.recv_cq = want->cq->handle,
		.srq = want->srq,
		.is_srq = want->srq != 0,
		.max_send_wr = want->depth,
		.max_recv_wr = want->srq ? 0 : want->depth,
		.max_send_sge = want->sge,
		.max_recv_sge = want->srq ? 0 : want->sge,
		.access = PVRDMA_ACCESS_LOCAL_WRITE,
		.total_chunks = (uint16_t)(1 + sq + rq),
		.send_chunks = (uint16_t)sq,
		.type = want->type,
		.sq_sig_all = want->sig_all,
	};
	const struct pvrdma_resp_create_qp *resp = (void *)guest->resp;
	struct guest_qp qp = {
		.guest = guest,
		.depth = want->depth,
		.stride = stride,
		.rq_stride = rq_stride,
		.header = guest_at(guest, address),
		.sq = guest_at(guest, address + GUEST_PAGE),
		.rq = guest_at(guest, address + (uint64_t)(1 + sq) * GUEST_PAGE),
	};

	guest_must(!guest_command(guest, PVRDMA_CMD_CREATE_QP, &cmd, sizeof(cmd)), "CREATE_QP");
	qp.qpn = resp->qpn;
	qp.handle = guest->version < PVRDMA_VERSION_QP_HANDLE ? resp->qpn : resp->handle;
	return qp;
}

static void make_gid(uint8_t gid[16], uint8_t last)
{
	memcpy(gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0", 15);
	gid[15] = last;
}

void guest_bind(struct guest *guest, uint8_t last)
{
	uint8_t gid[16];

	make_gid(gid, last);
	guest_bind_gid(guest, gid);
}

void guest_bind_gid(struct guest *guest, const uint8_t gid[16])
{
	struct pvrdma_cmd_create_bind cmd = {
		.mtu = 1024, .vlan = 0xfff,
		.type = guest->version < PVRDMA_VERSION_ROCE_V2 ? 1 : 2,
	};

	memcpy(cmd.gid, gid, sizeof(cmd.gid));
	guest_must(!guest_command(guest, PVRDMA_CMD_CREATE_BIND, &cmd, sizeof(cmd)), "CREATE_BIND");
}

uint32_t guest_modify(const struct guest_qp *qp, uint32_t mask, const struct pvrdma_qp_attr *attr)
{
	struct pvrdma_cmd_modify_qp cmd = { .handle = qp->handle, .mask = mask, .attr = *attr };
	const struct pvrdma_resp_hdr *resp = (void *)qp->guest->resp;
	uint32_t err = guest_command(qp->guest, PVRDMA_CMD_MODIFY_QP, &cmd, sizeof(cmd));

	return err ? err : resp->err;
}

bool guest_connect(const struct guest_qp *qp, uint32_t remote, uint8_t last)
{
	struct pvrdma_qp_attr attr = {
		.state = PVRDMA_QPS_INIT,
		.access = ALL_ACCESS,
		.port = 1,
		.path_mtu = PVRDMA_MTU_1024,
		.dest_qpn = remote,
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.timeout = qp->guest->patient ? 14 : 8,
		.retry_cnt = qp->guest->patient ? 7 : 2,
		.rnr_retry = 2,
		.path = { .flags = 1, .hop_limit = 64, .port = 1 },
	};

	make_gid(attr.path.dgid, last);
	if (guest_modify(qp, 0x39, &attr))
		return false;
	attr.state = PVRDMA_QPS_RTR;
	if (guest_modify(qp, 0x129181, &attr))
		return false;
	attr.state = PVRDMA_QPS_RTS;
	return !guest_modify(qp, 0x12e01, &attr);
}

uint32_t guest_state(const struct guest_qp *qp)
{
	const struct pvrdma_resp_query_qp *resp = (void *)qp->guest->resp;

	guest_must(!guest_about(qp->guest, PVRDMA_CMD_QUERY_QP, qp->handle), "QUERY_QP");
	return resp->attr.state;
}

static void advance(uint32_t *index, uint32_t count)
{
	__atomic_store_n(index, (*index + 1) & (2 * count - 1), __ATOMIC_RELEASE);
}

void guest_send(struct guest_qp *qp, struct pvrdma_sqe *sqe, const struct guest_mr *mr,
		uint64_t offset, uint32_t length)
{
	uint32_t *tail = &qp->header->tx.prod_tail;
	unsigned char *to = qp->sq + (*tail & (qp->depth - 1)) * qp->stride;
	struct pvrdma_sge sge = {
		.addr = mr ? mr->address + offset : 0, .length = length, .lkey = mr ? mr->lkey : 0,
	};

	sqe->num_sge = mr != NULL;
	memcpy(to, sqe, sizeof(*sqe));
	memcpy(to + sizeof(*sqe), &sge, sizeof(sge));
	advance(tail, qp->depth);
	guest_ring(qp->guest, 0, PVRDMA_UAR_QP, qp->handle | PVRDMA_UAR_QP_SEND);
}

static void put_recv(unsigned char *to, uint64_t wr_id, const struct guest_mr *mr,
		     uint64_t offset, uint32_t length)
{
	struct pvrdma_rqe rqe = { .wr_id = wr_id, .num_sge = 1 };
	struct pvrdma_sge sge = {
		.addr = mr->address + offset, .length = length, .lkey = mr->lkey,
	};

	memcpy(to, &rqe, sizeof(rqe));
	memcpy(to + sizeof(rqe), &sge, sizeof(sge));
}

void guest_recv(struct guest_qp *qp, uint64_t wr_id, const struct guest_mr *mr,
		uint64_t offset, uint32_t length)
{
	uint32_t *tail = &qp->header->rx.prod_tail;

	put_recv(qp->rq + (*tail & (qp->depth - 1)) * qp->rq_stride, wr_id, mr, offset, length);
	advance(tail, qp->depth);
	guest_ring(qp->guest, 0, PVRDMA_UAR_QP, qp->handle | PVRDMA_UAR_QP_RECV);
}

void guest_srq_recv(struct guest_srq *srq, uint64_t wr_id, const struct guest_mr *mr,
		    uint64_t offset, uint32_t length)
{
	uint32_t *tail = &srq->header->rx.prod_tail;

	put_recv(srq->elements + (*tail & (srq->depth - 1)) * SRQ_STRIDE, wr_id, mr, offset, length);
	advance(tail, srq->depth);
}

bool guest_poll(struct guest_cq *cq, struct pvrdma_cqe *cqe)
{
	uint32_t head = cq->state->cons_head;

	if (__atomic_load_n(&cq->state->prod_tail, __ATOMIC_ACQUIRE) == head)
		return false;
	*cqe = cq->entries[head & (cq->cqe - 1)];
	advance(&cq->state->cons_head, cq->cqe);
	return true;
}

bool guest_completion(struct guest *guest, struct guest_cq *cq, struct pvrdma_cqe *cqe)
{
	if (guest->run)
		guest->run(guest->arg);
	return guest_poll(cq, cqe);
}

bool guest_event(struct guest *guest, struct pvrdma_event *event)
{
	uint32_t head = guest->events->cons_head;

	if (guest->run)
		guest->run(guest->arg);
	if (__atomic_load_n(&guest->events->prod_tail, __ATOMIC_ACQUIRE) == head)
		return false;
	*event = guest->event[head & (PVRDMA_MAX_EVENTS - 1)];
	__atomic_store_n(&guest->events->cons_head, (head + 1) & (2 * PVRDMA_MAX_EVENTS - 1),
			 __ATOMIC_RELEASE);
	return true;
}
