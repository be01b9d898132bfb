// SPDX-License-Identifier: GPL-2.0-or-later
/* What the backend of libibverbs makes of a guest's objects and requests. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fake-verbs.h"
#include "function.h"
#include "lab.h"
#include "tap.h"

static struct lab lab;
static struct guest *guest;
static uint32_t pd;
static struct guest_cq cq;
static struct guest_mr mr;

/* What a driver does before anything else. */
static void begin(void)
{
	guest_probe(guest);
	guest_bind(guest, 1);
	pd = guest_pd(guest, 0);
	cq = guest_cq(guest, 0, 256);
	mr = guest_mr(guest, pd, 8 * GUEST_PAGE, ALL_ACCESS);
}

static void open_lab(void)
{
	const struct backend_verbs_config config = { .device = "fake0", .port = 1, .gid = -1 };
	struct backend *backend;
	const char *why;

	memcpy(fake.gid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\1", 16);
	guest_must(!backend_verbs_open(&config, &backend, &why), "backend");
	lab_open_with(&lab, 20, backend);
	guest = &lab.guests[0];
	guest->wait = lab_wait_response;
	begin();
}

static unsigned int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int count = 0;

	guest_must(dir != NULL, "/proc/self/fd");
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* Waits until there are no more: the program closes them in the background. */
static bool files_become(unsigned int most)
{
	unsigned int tries;

	for (tries = 0; tries < 10000 && open_files() > most; tries++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	return open_files() <= most;
}

static void test_open(void)
{
	struct backend_verbs_config config = { .device = "fake1", .port = 1, .gid = -1 };
	struct backend *backend;
	const char *why;

	ok(backend_verbs_open(&config, &backend, &why) == -ENODEV && !why, "there is no such device");
	config.device = "fake0";
	config.port = 2;
	ok(backend_verbs_open(&config, &backend, &why) == -EINVAL && strstr(why, "port"),
	   "nor such a port");
	config.port = 1;
	config.gid = 8;
	ok(backend_verbs_open(&config, &backend, &why) == -EINVAL && strstr(why, "GID"),
	   "nor such a GID");
	config.gid = -1;
	fake.link_layer = IBV_LINK_LAYER_INFINIBAND;
	ok(backend_verbs_open(&config, &backend, &why) == -EPROTONOSUPPORT && strstr(why, "RoCE"),
	   "an InfiniBand port is refused");
	fake.link_layer = IBV_LINK_LAYER_ETHERNET;
}

static void test_limits(void)
{
	const struct pvrdma_caps *caps = &guest->dsr->caps;

	ok(caps->max_qp == 101 && caps->max_cq == 51 && caps->max_mr == 60 && caps->max_pd == 70 &&
	   caps->max_srq == 21, "a guest has no more than the device, besides handle 0");
	ok(caps->max_qp_wr == 64 && caps->max_cqe == 512 && caps->max_sge == 2 && caps->max_srq_sge == 2,
	   "and powers of two");
	ok(caps->max_mr_size <= 1 << 30 && caps->max_mr_size >= 64 << 20 && !caps->bmme_flags &&
	   !caps->atomic_ops, "what verbs and the device do not have is not offered");
}

static void test_memory(void)
{
	uint64_t pages[3], at = guest_alloc(guest, 5);
	struct guest_mr scattered = { .address = 0x7f0000001000 };
	unsigned int i, files = open_files();

	ok(mr.lkey == 0x1111 && mr.rkey == 0x2222, "keys are the device's");
	for (i = 0; i < 3; i++)
		pages[i] = at + (4 - 2 * i) * GUEST_PAGE;
	memset(guest_at(guest, pages[0]), 'a', GUEST_PAGE);
	memset(guest_at(guest, pages[2]), 'c', GUEST_PAGE);
	ok(guest_register(guest, pd, pages, 3 * GUEST_PAGE, ALL_ACCESS, &scattered) &&
	   fake.first == 'a' && fake.last == 'c' &&
	   fake.mr->addr == (void *)(uintptr_t)scattered.address,
	   "pages in any order are one range, at the guest's address");
	guest_about(guest, PVRDMA_CMD_DESTROY_MR, scattered.handle);
	scattered.address += 100;
	*(unsigned char *)guest_at(guest, pages[0] + 100) = 'b';
	*(unsigned char *)guest_at(guest, pages[1] + 9) = 'd';
	ok(guest_register(guest, pd, pages, GUEST_PAGE - 90, ALL_ACCESS, &scattered) &&
	   fake.first == 'b' && fake.last == 'd' && fake.mr->length == GUEST_PAGE - 90,
	   "one that begins and ends within pages");
	ok(fake.mrs == 2 && !guest_about(guest, PVRDMA_CMD_DESTROY_MR, scattered.handle) &&
	   fake.mrs == 1, "and no longer");
	fake.reg_error = ENOMEM;
	ok(!guest_register(guest, pd, pages, GUEST_PAGE, ALL_ACCESS, &scattered) && fake.mrs == 1,
	   "the device refuses memory");
	ok(guest_register(guest, pd, pages, GUEST_PAGE, ALL_ACCESS, &scattered), "or it does not");
	guest_about(guest, PVRDMA_CMD_DESTROY_MR, scattered.handle);
	ok(files_become(files), "no descriptor of the guest's memory is left");
}

static struct guest_qp make_deep_qp(uint8_t type, uint32_t depth)
{
	struct guest_qp_want want = { .pd = pd, .depth = depth, .sge = 1, .cq = &cq, .type = type };

	return guest_qp(guest, &want);
}

static struct guest_qp make_qp(uint8_t type)
{
	return make_deep_qp(type, 8);
}

static bool next_is(uint64_t wr_id, uint32_t status)
{
	struct pvrdma_cqe cqe = { 0 };

	if (guest_completion(guest, &cq, &cqe) && cqe.wr_id == wr_id && cqe.status == status)
		return true;
	printf("# wr_id %llu, status %u\n", (unsigned long long)cqe.wr_id, cqe.status);
	return false;
}

static bool none(void)
{
	struct pvrdma_cqe cqe;

	return !guest_completion(guest, &cq, &cqe);
}

static void post(struct guest_qp *qp, uint64_t wr_id, uint32_t opcode, uint32_t flags)
{
	struct pvrdma_sqe sqe = { .wr_id = wr_id, .opcode = opcode, .flags = flags };

	sqe.rdma.addr = 0x1234567890;
	sqe.rdma.rkey = 0x77;
	guest_send(qp, &sqe, &mr, 16, 32);
}

static void test_connection(void)
{
	struct guest_qp qp = make_qp(PVRDMA_QPT_RC);
	struct pvrdma_qp_attr attr = { .state = PVRDMA_QPS_INIT, .port = 1, .path.flags = 1 };
	const struct pvrdma_resp_query_qp *resp = (void *)guest->resp;

	ok(guest_connect(&qp, 0x99, 2) && fake.qp->attr.dest_qp_num == 0x99 &&
	   qp.qpn == fake.qp->qp.qp_num, "QPNs are the device's and the peer's");
	memcpy(attr.path.dgid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\2", 16);
	guest_modify(&qp, 1, &(struct pvrdma_qp_attr){ .state = PVRDMA_QPS_RESET });
	guest_modify(&qp, 0x39, &attr);
	attr.state = PVRDMA_QPS_RTR;
	ok(!guest_modify(&qp, 0x129181, &attr) && fake.qp->attr.ah_attr.grh.sgid_index == 3 &&
	   fake.qp->attr.ah_attr.is_global && !memcmp(fake.qp->attr.ah_attr.grh.dgid.raw, attr.path.dgid, 16),
	   "the guest's GID is found in the device's table");
	ok(guest_state(&qp) == PVRDMA_QPS_RTR && resp->attr.path.sgid_index == 0 && resp->attr.port == 1,
	   "the guest sees its own index");
	fake.gid.raw[15] = 9;
	guest_modify(&qp, 1, &(struct pvrdma_qp_attr){ .state = PVRDMA_QPS_RESET });
	attr.state = PVRDMA_QPS_INIT;
	guest_modify(&qp, 0x39, &attr);
	attr.state = PVRDMA_QPS_RTR;
	ok(guest_modify(&qp, 0x129181, &attr) == EADDRNOTAVAIL, "or it is not, which is said");
	fake.gid.raw[15] = 1;
	fake.modify_error = ETIMEDOUT;
	ok(guest_modify(&qp, 0x129181, &attr) == ETIMEDOUT, "so is a peer that is not found");
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, qp.handle);
}

static void test_requests(void)
{
	struct guest_qp qp = make_qp(PVRDMA_QPT_RC);
	const struct ibv_send_wr *first;
	struct fake_qp *device = fake.qp;

	guest_connect(&qp, 0x99, 2);
	post(&qp, 1, PVRDMA_WR_WRITE, 0);
	post(&qp, 2, PVRDMA_WR_READ, PVRDMA_WR_FENCE);
	post(&qp, 3, PVRDMA_WR_SEND, PVRDMA_WR_SIGNALED | PVRDMA_WR_SOLICITED);
	first = device->sends;
	ok(device->n_sends == 3 && first->opcode == IBV_WR_RDMA_WRITE && !first->send_flags &&
	   first->wr.rdma.remote_addr == 0x1234567890 && first->wr.rdma.rkey == 0x77 &&
	   device->sges[0].lkey == mr.lkey && device->sges[0].addr == mr.address + 16 &&
	   device->sges[0].length == 32, "a request is the device's, with the guest's addresses");
	ok(first[1].opcode == IBV_WR_RDMA_READ && first[1].send_flags == IBV_SEND_FENCE &&
	   first[2].send_flags == (IBV_SEND_SIGNALED | IBV_SEND_SOLICITED),
	   "what the guest does not want to hear of is not reported by the device");
	fake_sent(device, 2, IBV_WC_SUCCESS);
	ok(next_is(3, 0) && none(), "the guest hears of the rest");
	post(&qp, 4, PVRDMA_WR_WRITE, 0);
	post(&qp, 5, PVRDMA_WR_WRITE, 0);
	post(&qp, 6, PVRDMA_WR_WRITE, 0);
	ok(!(device->sends[5].send_flags & IBV_SEND_SIGNALED), "some in a row are not reported");
	post(&qp, 7, PVRDMA_WR_WRITE, 0);
	ok(device->sends[6].send_flags & IBV_SEND_SIGNALED, "after half a queue of them, one is");
	fake_sent(device, 6, IBV_WC_SUCCESS);
	ok(none(), "of which the guest does not hear");
	post(&qp, 8, PVRDMA_WR_WRITE, 0);
	post(&qp, 9, PVRDMA_WR_WRITE, 0);
	fake_sent(device, 8, IBV_WC_RETRY_EXC_ERR);
	ok(next_is(9, 12) && none(), "an error is told all the same");
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, qp.handle);
}

/* hw 12.3 */
static void test_room(void)
{
	struct guest_qp qp = make_qp(PVRDMA_QPT_RC);
	struct fake_qp *device = fake.qp;
	uint32_t i;

	guest_connect(&qp, 0x99, 2);
	for (i = 1; i <= 3; i++)
		post(&qp, i, PVRDMA_WR_WRITE, 0);
	fake.send_error = ENOMEM;
	post(&qp, 4, PVRDMA_WR_WRITE, 0);
	ok(qp.header->tx.cons_head == 3 && device->n_sends == 3 && guest_state(&qp) == PVRDMA_QPS_RTS,
	   "what the device has no room for is left in the ring");
	fake.recv_error = ENOMEM;
	post(&qp, 5, PVRDMA_WR_WRITE, PVRDMA_WR_SIGNALED);
	ok(device->n_sends == 5 && device->sends[3].send_flags & IBV_SEND_SIGNALED,
	   "and sent then, and is the one of half a queue that is reported");
	fake_sent(device, 4, IBV_WC_SUCCESS);
	ok(next_is(5, 0) && none(), "all end");
	guest_recv(&qp, 6, &mr, 0, 64);
	ok(guest_state(&qp) == PVRDMA_QPS_ERR, "a receive without others before it is an error");
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, qp.handle);
}

static void test_drained(void)
{
	struct guest_qp qp = make_qp(PVRDMA_QPT_RC);
	struct pvrdma_qp_attr attr = { .state = PVRDMA_QPS_SQD, .en_sqd_notify = 1 };
	struct pvrdma_event event = { 0 };

	guest_connect(&qp, 0x99, 2);
	ok(!guest_modify(&qp, PVRDMA_QP_ATTR_STATE | PVRDMA_QP_ATTR_SQD_NOTIFY, &attr) &&
	   fake.qp->attr.qp_state == IBV_QPS_SQD && fake.qp->attr.en_sqd_async_notify == 1 &&
	   guest_state(&qp) == PVRDMA_QPS_SQD, "the device drains a QP");
	while (guest_event(guest, &event))
		;
	fake_event(IBV_EVENT_SQ_DRAINED, &fake.qp->qp);
	ok(guest_event(guest, &event) && event.type == PVRDMA_EVENT_SQ_DRAINED &&
	   event.info == qp.handle, "and the guest is told");
	attr.state = PVRDMA_QPS_RTS;
	ok(!guest_modify(&qp, PVRDMA_QP_ATTR_STATE, &attr) && fake.qp->attr.qp_state == IBV_QPS_RTS,
	   "until it goes on");
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, qp.handle);
}

static void test_refused(void)
{
	struct guest_qp qp = make_qp(PVRDMA_QPT_RC);
	struct fake_qp *device = fake.qp;

	guest_connect(&qp, 0x99, 2);
	post(&qp, 1, 15, 0);
	ok(device->n_sends == 1 && device->sges[0].lkey == 0 &&
	   device->sends[0].send_flags & IBV_SEND_SIGNALED, "a request that cannot be is one that fails");
	fake_sent(device, 0, IBV_WC_LOC_PROT_ERR);
	ok(next_is(1, 2), "as the guest expects");
	post(&qp, 2, 15, 0);
	fake_sent(device, 1, IBV_WC_WR_FLUSH_ERR);
	ok(next_is(2, 5), "unless it is flushed");
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, qp.handle);
}

/* A device whose provider does not check opcodes must not get one of the kernel's. */
static void test_kernel_opcodes(void)
{
	static const uint32_t opcodes[] = {
		PVRDMA_WR_SEND_INV, PVRDMA_WR_LOCAL_INV, PVRDMA_WR_FAST_REG,
	};
	const uint8_t no_flags = lab.models[0]->caps.bmme_flags;
	struct fake_qp *device;
	struct guest_qp qp;
	unsigned int i;
	bool refused = true;

	/* First by the model, then by the backend alone. */
	for (i = 0; i < 6; i++) {
		lab.models[0]->caps.bmme_flags = i < 3 ? no_flags : 7;
		qp = make_qp(PVRDMA_QPT_RC);
		device = fake.qp;
		guest_connect(&qp, 0x99, 2);
		post(&qp, i, opcodes[i % 3], 0);
		refused &= device->n_sends == 1 && device->sends[0].opcode == IBV_WR_SEND &&
			   !device->sges[0].lkey;
		fake_sent(device, 0, IBV_WC_LOC_PROT_ERR);
		refused &= next_is(i, IBV_WC_LOC_QP_OP_ERR);
		guest_about(guest, PVRDMA_CMD_DESTROY_QP, qp.handle);
	}
	lab.models[0]->caps.bmme_flags = no_flags;
	ok(refused, "requests that verbs does not define fail without reaching the device");
}

/* Waits for the worker, by a response that comes after its jobs. */
static void barrier(void)
{
	struct guest_mr other = guest_mr(guest, pd, GUEST_PAGE, 0);

	guest_about(guest, PVRDMA_CMD_DESTROY_MR, other.handle);
}

static void test_receives(void)
{
	struct guest_qp qp = make_qp(PVRDMA_QPT_RC);
	struct fake_qp *device = fake.qp;

	guest_connect(&qp, 0x99, 2);
	guest_recv(&qp, 21, &mr, 0, 64);
	guest_recv(&qp, 22, &mr, 0, 64);
	fake_received(device, device->recvs[0], IBV_WC_SUCCESS);
	ok(next_is(21, 0) && none(), "a receive");
	fake_received(device, device->recvs[1], IBV_WC_SUCCESS);
	guest_modify(&qp, 1, &(struct pvrdma_qp_attr){ .state = PVRDMA_QPS_RESET });
	ok(none(), "what is left at a reset is not told");
	fake_received(device, device->recvs[1], IBV_WC_SUCCESS);
	ok(none(), "nor what comes late");
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, qp.handle);
	barrier();
	ok(!fake.qps, "the QP is gone from the device");
}

/* Devices (rdma_rxe) report a header of connections, too, which drivers do not expect. */
static void test_received(void)
{
	struct guest_qp rc = make_qp(PVRDMA_QPT_RC), ud;
	struct fake_qp *device = fake.qp;
	struct pvrdma_qp_attr attr = { .port = 1 };
	struct ibv_wc wc = {
		.opcode = IBV_WC_RECV_RDMA_WITH_IMM, .byte_len = 100, .imm_data = 0x12345678,
		.wc_flags = IBV_WC_WITH_IMM | IBV_WC_GRH,
	};
	struct pvrdma_cqe cqe = { 0 };

	guest_connect(&rc, 0x99, 2);
	guest_recv(&rc, 51, &mr, 0, 64);
	wc.wr_id = device->recvs[0];
	wc.qp_num = device->qp.qp_num;
	fake_received_as(device, &wc);
	ok(guest_completion(guest, &cq, &cqe) && cqe.wr_id == 51 &&
	   cqe.opcode == PVRDMA_WC_RECV_WRITE_IMM && cqe.flags == PVRDMA_WC_IMM &&
	   cqe.imm == 0x12345678 && cqe.length == 100, "a write with immediate data, as received");
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, rc.handle);
	ud = make_qp(PVRDMA_QPT_UD);
	device = fake.qp;
	attr.state = PVRDMA_QPS_INIT;
	guest_modify(&ud, 0x71, &attr);
	attr.state = PVRDMA_QPS_RTR;
	guest_modify(&ud, 1, &attr);
	guest_recv(&ud, 52, &mr, 0, 64);
	wc.opcode = IBV_WC_RECV;
	wc.wr_id = device->recvs[0];
	wc.qp_num = device->qp.qp_num;
	wc.src_qp = 0x77;
	fake_received_as(device, &wc);
	ok(guest_completion(guest, &cq, &cqe) && cqe.wr_id == 52 && cqe.opcode == PVRDMA_WC_RECV &&
	   cqe.flags == (PVRDMA_WC_GRH | PVRDMA_WC_IMM | PVRDMA_WC_NET_TYPE) &&
	   cqe.net_type == PVRDMA_NET_IPV4 && cqe.src_qpn == 0x77,
	   "a datagram, with its header as its function's address is");
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, ud.handle);
}

/* Each to a different destination. */
static void datagrams(struct guest_qp *qp, uint8_t net, uint32_t count)
{
	struct pvrdma_sqe sqe = {
		.opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED, .num_sge = 0,
		.ud = { .qpn = 5, .qkey = 6, .av.port_pd = 1u << 24 | pd },
	};
	uint32_t i;

	memcpy(sqe.ud.av.dgid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\1", 14);
	sqe.ud.av.dgid[14] = net;
	for (i = 0; i < count; i++) {
		sqe.ud.av.dgid[15] = (uint8_t)i;
		memcpy(qp->sq + i * qp->stride, &sqe, sizeof(sqe));
	}
	__atomic_store_n(&qp->header->tx.prod_tail, count, __ATOMIC_RELEASE);
	guest_ring(guest, 0, PVRDMA_UAR_QP, qp->handle | PVRDMA_UAR_QP_SEND);
}

static struct guest_qp ready_ud(uint32_t depth)
{
	struct guest_qp qp = make_deep_qp(PVRDMA_QPT_UD, depth);
	struct pvrdma_qp_attr attr = { .state = PVRDMA_QPS_INIT, .port = 1 };

	guest_modify(&qp, 0x71, &attr);
	attr.state = PVRDMA_QPS_RTR;
	guest_modify(&qp, 1, &attr);
	attr.state = PVRDMA_QPS_RTS;
	guest_modify(&qp, 0x10001, &attr);
	return qp;
}

/* More destinations than there are address handles, none of which is resolved. */
static void test_many_destinations(void)
{
	struct guest_qp qps[5];
	struct fake_qp *device;
	time_t limit = time(NULL) + 20;
	unsigned int i;

	__atomic_store_n(&fake.slow_ah, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < 5; i++) {
		qps[i] = ready_ud(64);
		datagrams(&qps[i], (uint8_t)i, 64);
	}
	device = fake.qp;
	ok(qps[3].header->tx.cons_head == 64 && !qps[4].header->tx.cons_head &&
	   guest_state(&qps[4]) == PVRDMA_QPS_RTS,
	   "datagrams for which there is no address handle stay in the ring");
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, qps[0].handle);
	__atomic_store_n(&fake.slow_ah, 0, __ATOMIC_SEQ_CST);
	while (device->n_sends < 64 && time(NULL) < limit)
		lab_run(&lab);
	ok(device->n_sends == 64, "until other handles are not needed any more");
	for (i = 1; i < 5; i++)
		guest_about(guest, PVRDMA_CMD_DESTROY_QP, qps[i].handle);
	barrier();
}

/* A monitor that goes while destinations are not resolved: the worker may be at the first one. */
static void test_unresolved(void)
{
	struct guest_qp qp = ready_ud(64);
	unsigned int calls = fake.ah_calls;

	__atomic_store_n(&fake.slow_ah, 1, __ATOMIC_SEQ_CST);
	datagrams(&qp, 9, 10);
	lab_restart(&lab, guest);
	__atomic_store_n(&fake.slow_ah, 0, __ATOMIC_SEQ_CST);
	begin();
	ok(fake.ah_calls - calls <= 1 && !fake.ahs && !fake.qps,
	   "of a guest that is gone, no further destination is resolved");
}

static void datagram(struct guest_qp *qp, uint64_t wr_id, uint8_t last)
{
	struct pvrdma_sqe sqe = {
		.wr_id = wr_id, .opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED,
		.ud = { .qpn = 5, .qkey = 6, .av.port_pd = 1u << 24 | pd },
	};

	memcpy(sqe.ud.av.dgid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0", 15);
	sqe.ud.av.dgid[15] = last;
	guest_send(qp, &sqe, &mr, 0, 32);
}

static void test_datagrams(void)
{
	struct guest_qp qp = ready_ud(8);
	struct fake_qp *device = fake.qp;

	datagram(&qp, 1, 2);
	datagram(&qp, 2, 2);
	barrier();
	ok(device->n_sends == 2 && fake.ahs == 1 && device->sends[0].wr.ud.ah &&
	   device->sends[1].wr.ud.ah == device->sends[0].wr.ud.ah &&
	   device->sends[0].wr.ud.remote_qpn == 5 && device->sends[0].wr.ud.remote_qkey == 6,
	   "datagrams for one destination have one address handle");
	fake.ah_error = ETIMEDOUT;
	datagram(&qp, 3, 9);
	datagram(&qp, 4, 2);
	barrier();
	ok(device->n_sends == 3 && none(), "one for nobody is not sent, the next one is");
	fake_sent(device, 0, IBV_WC_SUCCESS);
	fake_sent(device, 1, IBV_WC_SUCCESS);
	ok(next_is(1, 0) && next_is(2, 0) && next_is(3, 0) && none(), "it ends in its turn");
	fake_sent(device, 2, IBV_WC_SUCCESS);
	ok(next_is(4, 0), "and those behind it");
	post(&qp, 5, PVRDMA_WR_WRITE, 0);
	ok(next_is(5, 2) && device->attr.qp_state == IBV_QPS_ERR, "a write fails, and the QP with it");
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, qp.handle);
}

/* A datagram that still waits when its QP goes. */
static void test_held(void)
{
	struct guest_qp qp = ready_ud(8);

	datagram(&qp, 1, 33);
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, qp.handle);
	barrier();
	ok(!fake.qps && none(), "a datagram that waits goes with its QP");
}

/* The device takes its time, during which nothing of the QP is to be heard. */
static void test_slow_end(void)
{
	struct guest_qp qp = make_qp(PVRDMA_QPT_RC), other;
	struct fake_qp *device = fake.qp;

	guest_connect(&qp, 0x99, 2);
	guest_recv(&qp, 41, &mr, 0, 64);
	fake.slow_end = 1;
	ok(!guest_about(guest, PVRDMA_CMD_DESTROY_QP, qp.handle), "a QP that does not end soon is gone");
	fake_received(device, device->recvs[0], IBV_WC_WR_FLUSH_ERR);
	ok(none(), "and not heard of");
	__atomic_store_n(&fake.slow_end, 0, __ATOMIC_SEQ_CST);
	other = make_qp(PVRDMA_QPT_RC);
	ok(guest_connect(&other, 0x99, 2), "others work");
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, other.handle);
	barrier();
	ok(!fake.qps, "it is gone from the device when that is done");
}

static unsigned int waits;

/* Takes the place of the library's function: the loop calls it to wait for the worker. */
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
			   const struct timespec *until)
{
	waits++;
	return pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, until);
}

static void test_slow_reset(void)
{
	unsigned int i;

	for (i = 0; i < 40; i++)
		make_qp(PVRDMA_QPT_RC);
	fake.slow_end = 1;
	waits = 0;
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_RESET);
	/* It may also end without a reason. */
	ok(waits < 20, "a reset waits once for all QPs that do not end soon (%u)", waits);
	__atomic_store_n(&fake.slow_end, 0, __ATOMIC_SEQ_CST);
	begin();
	ok(!fake.qps, "which are gone from the device when that is done");
}

/* The device clears it when it raises the event. */
static void test_srq_limit(uint32_t srq)
{
	struct pvrdma_cmd_modify_srq modify = {
		.handle = srq, .mask = PVRDMA_SRQ_LIMIT, .attr.limit = 3,
	};
	const struct pvrdma_resp_query_srq *resp = (void *)guest->resp;
	struct pvrdma_event event = { 0 };

	guest_command(guest, PVRDMA_CMD_MODIFY_SRQ, &modify, sizeof(modify));
	ok(!guest_about(guest, PVRDMA_CMD_QUERY_SRQ, srq) && resp->attr.limit == 3 &&
	   resp->attr.max_wr == 8 && resp->attr.max_sge == 1, "an SRQ with its limit");
	fake.srq_limit = 0;
	fake_srq_event(IBV_EVENT_SRQ_LIMIT_REACHED);
	ok(guest_event(guest, &event) && event.type == PVRDMA_EVENT_SRQ_LIMIT && event.info == srq &&
	   !guest_about(guest, PVRDMA_CMD_QUERY_SRQ, srq) && !resp->attr.limit,
	   "has none any more when it was reached");
	fake_srq_event(IBV_EVENT_SRQ_ERR);
	ok(guest_event(guest, &event) && event.type == PVRDMA_EVENT_SRQ_ERR && event.info == srq,
	   "an error of it is told");
	fake.query_srq_error = EIO;
	ok(guest_about(guest, PVRDMA_CMD_QUERY_SRQ, srq) == EIO, "so is one of asking for it");
}

static void test_srq(void)
{
	struct pvrdma_cmd_create_srq cmd = { .pd = pd, .chunks = 2, .attr = { .max_wr = 8, .max_sge = 1 } };
	struct guest_qp_want want = { .pd = pd, .depth = 8, .sge = 1, .cq = &cq, .type = PVRDMA_QPT_RC };
	uint64_t at = guest_alloc(guest, 2);
	struct pvrdma_ring_header *header = guest_at(guest, at);
	struct pvrdma_rqe rqe = { .wr_id = 31 };
	struct guest_qp qp;
	uint32_t srq;

	cmd.directory = guest_directory(guest, at, 2);
	guest_must(!guest_command(guest, PVRDMA_CMD_CREATE_SRQ, &cmd, sizeof(cmd)), "SRQ");
	srq = want.srq = ((struct pvrdma_resp_handle *)(void *)guest->resp)->handle;
	qp = guest_qp(guest, &want);
	memcpy(guest_at(guest, at + GUEST_PAGE), &rqe, sizeof(rqe));
	header->rx.prod_tail = 1;
	guest_ring(guest, 0, PVRDMA_UAR_SRQ, srq | PVRDMA_UAR_SRQ_RECV);
	ok(fake.n_srq_recvs == 1, "a receive of an SRQ");
	fake_received(fake.qp, fake.srq_recvs[0], IBV_WC_SUCCESS);
	ok(next_is(31, 0), "is told to the QP that took it");
	test_srq_limit(srq);
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, qp.handle);
	guest_about(guest, PVRDMA_CMD_DESTROY_SRQ, srq);
	/* On a busy machine, the QP, which uses the SRQ, is destroyed after the response. */
	barrier();
	ok(!fake.srqs, "the SRQ is gone from the device");
}

/* The device flushes 3 receives while a QP that has taken them is being destroyed. */
static struct guest_srq slow_end_with_srq(bool destroy_srq)
{
	struct guest_srq srq = guest_srq(guest, pd, 8);
	struct guest_qp_want want = {
		.pd = pd, .depth = 8, .sge = 1, .cq = &cq, .type = PVRDMA_QPT_RC, .srq = srq.handle,
	};
	struct guest_qp qp = guest_qp(guest, &want);
	unsigned int i;

	fake.n_srq_recvs = 0;
	for (i = 0; i < 8; i++)
		guest_srq_recv(&srq, i, &mr, 0, 64);
	guest_ring(guest, 0, PVRDMA_UAR_SRQ, srq.handle | PVRDMA_UAR_SRQ_RECV);
	fake.slow_end = 1;
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, qp.handle);
	if (destroy_srq)
		guest_about(guest, PVRDMA_CMD_DESTROY_SRQ, srq.handle);
	for (i = 0; i < 3; i++)
		fake_received(fake.qp, fake.srq_recvs[i], IBV_WC_WR_FLUSH_ERR);
	ok(none(), "receives of an SRQ whose QP has been destroyed have no completions");
	__atomic_store_n(&fake.slow_end, 0, __ATOMIC_SEQ_CST);
	barrier();
	return srq;
}

static void test_srq_slow_end(void)
{
	struct guest_srq srq = slow_end_with_srq(false);
	unsigned int i;

	for (i = 0; i < 3; i++)
		guest_srq_recv(&srq, 10 + i, &mr, 0, 64);
	guest_ring(guest, 0, PVRDMA_UAR_SRQ, srq.handle | PVRDMA_UAR_SRQ_RECV);
	ok(fake.n_srq_recvs == 11, "but further ones can be posted (%u)", fake.n_srq_recvs);
	guest_about(guest, PVRDMA_CMD_DESTROY_SRQ, srq.handle);
	slow_end_with_srq(true);
	ok(!fake.srqs && !fake.qps, "the SRQ may be destroyed before them");
}

static void make_mrs(unsigned int count, uint32_t n_pages)
{
	uint64_t pages[2000], at = guest_alloc(guest, n_pages);
	struct guest_mr other = { .address = 0x7f0000000000 };
	uint32_t i;

	for (i = 0; i < n_pages; i++)
		pages[i] = at + i * GUEST_PAGE;
	while (count--)
		guest_must(guest_register(guest, pd, pages, n_pages * (uint64_t)GUEST_PAGE,
					  ALL_ACCESS, &other), "MR");
}

/* The loop must not wait until a lot of memory is unpinned. */
static void test_deregistration(void)
{
	struct fake_qp *device;
	struct guest_mr large;
	struct guest_qp qp;

	fake.loop = pthread_self();
	fake.loop_deregs = 0;
	make_mrs(40, 2000);
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_RESET);
	ok(fake.loop_deregs <= 1, "a reset leaves large regions to the worker (%u)",
	   fake.loop_deregs);
	begin();
	make_mrs(50, 100);
	fake.loop_deregs = 0;
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_RESET);
	ok(fake.loop_deregs < 10, "and most of many small ones (%u)", fake.loop_deregs);
	begin();
	make_mrs(10, 2000);
	make_qp(PVRDMA_QPT_RC);
	qp = make_qp(PVRDMA_QPT_RC);
	device = fake.qp;
	guest_connect(&qp, 0x99, 2);
	fake.slow_end = 1;
	fake.loop_deregs = 0;
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_RESET);
	ok(fake.loop_deregs <= 1 && device->attr.qp_state == IBV_QPS_ERR,
	   "until then, no QP can use them");
	__atomic_store_n(&fake.slow_end, 0, __ATOMIC_SEQ_CST);
	begin();
	ok(fake.mrs == 1 && !fake.qps, "they are gone from the device when that is done");
	large = guest_mr(guest, pd, 2000 * GUEST_PAGE, ALL_ACCESS);
	qp = ready_ud(8);
	__atomic_store_n(&fake.slow_ah, 1, __ATOMIC_SEQ_CST);
	datagrams(&qp, 99, 1);
	guest_about(guest, PVRDMA_CMD_DESTROY_MR, large.handle);
	ok(fake.mrs == 1, "while a QP could use one, it is gone with its response");
	__atomic_store_n(&fake.slow_ah, 0, __ATOMIC_SEQ_CST);
	lab_restart(&lab, guest);
	begin();
}

/* Monitors that go, with whatever their guests had. */
static void test_sessions(void)
{
	unsigned int i, files = open_files();
	struct guest_qp qp;
	bool clean = true;

	for (i = 0; i < 50 && clean; i++) {
		qp = make_qp(i % 2 ? PVRDMA_QPT_UD : PVRDMA_QPT_RC);
		if (!(i % 2) && i % 4)
			guest_connect(&qp, 0x99, 2);
		guest_mr(guest, pd, 2000 * GUEST_PAGE, ALL_ACCESS);
		lab_restart(&lab, guest);
		begin();
		/* The next one's registration was behind the end of all. */
		clean = !fake.qps && fake.cqs == 1 && fake.pds == 1 && fake.mrs == 1;
	}
	ok(clean, "50 monitors that go leave nothing on the device");
	ok(files_become(files), "and no descriptor");
}

static void test_loss(void)
{
	struct guest_qp qp = make_qp(PVRDMA_QPT_RC);
	struct pvrdma_event event = { 0 };

	guest_connect(&qp, 0x99, 2);
	post(&qp, 1, PVRDMA_WR_WRITE, 0);
	guest_recv(&qp, 2, &mr, 0, 64);
	fake_event(IBV_EVENT_PORT_ERR, NULL);
	ok(guest_event(guest, &event) && event.type == PVRDMA_EVENT_PORT_ERR &&
	   lab.models[0]->journal->link_downs == 1, "the port's end is reported, and counted");
	fake_event(IBV_EVENT_QP_ACCESS_ERR, &fake.qp->qp);
	ok(guest_event(guest, &event) && event.type == PVRDMA_EVENT_QP_ACCESS_ERR &&
	   event.info == qp.handle, "a QP's error is told with the guest's number");
	fake_event(IBV_EVENT_DEVICE_FATAL, NULL);
	ok(next_is(1, 5) && next_is(2, 5), "when the device goes, all requests are flushed");
	ok(guest_event(guest, &event) && event.type == PVRDMA_EVENT_DEVICE_FATAL, "the guest is told");
	ok(guest_state(&qp) == PVRDMA_QPS_ERR, "its QPs are in ERR");
	post(&qp, 3, PVRDMA_WR_WRITE, 0);
	ok(next_is(3, 5), "what is posted later is flushed");
	ok(guest_about(guest, PVRDMA_CMD_CREATE_PD, 0), "nothing new is made");
}

int main(void)
{
	test_open();
	open_lab();
	test_limits();
	test_memory();
	test_connection();
	test_requests();
	test_room();
	test_drained();
	test_refused();
	test_kernel_opcodes();
	test_receives();
	test_received();
	test_datagrams();
	test_many_destinations();
	test_unresolved();
	test_held();
	test_slow_end();
	test_slow_reset();
	test_srq();
	test_srq_slow_end();
	test_deregistration();
	test_sessions();
	test_loss();
	lab_close(&lab);
	ok(!fake.pds && !fake.mrs && !fake.cqs && !fake.qps && !fake.ahs, "nothing is left on the device");
	return done();
}
