// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traffic between two QPs of this process, each on a device, whose data is compared:
 * SRD, or UD.
 *
 * Usage: srd [OPTION...] SENDER RECEIVER
 *   -o OP  send (default), imm, inline, read, write, or ud: datagrams
 *   -n N   work requests (default 16)
 *   -s S   bytes of each (default 4096)
 *   -d D   receives, where there are fewer than needed
 *   -r R   retries while the receiver is not ready (default 7, without limit)
 *   -a N   address handles for the peer (default 1)
 *   -k     send with another Q_Key than the receiver's
 *   -e     wait for events
 *   -p MS  pause before work requests and receives are posted and completions taken
 *   -t MS  give up after that (default 20000)
 *   -m G   the receiver's memory region has so many GiB, of which all show the same 2
 *          MiB of memory; data is at its end
 *   -b F   the receiver's memory is a DMA buffer that the device file F makes:
 *          /dev/udmabuf, or /dev/barbuf (tests/guest/kmod/barbuf)
 *   -i A   the receiver's memory has the address A in work requests, and those after it
 *   -u     go on until SIGTERM, or until the adapter fails; prints "begun" at the first
 *          completion
 *
 * Prints what completions the sender got, as status:number, then "received N", and
 * "data" when all that was received is what was sent. Ends with 0 if all work
 * requests succeeded, with their data; 1 if not; 2 if it could not begin; 3, with
 * "fatal" in front, if a device failed, with -u.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define QKEY 0x11223344
#define IMM 0x55667788
#define MAX 64
#define PAGE 4096
#define PIECE (2UL << 20)
#define BARBUF_EXPORT _IOW('b', 1, uint64_t)
#define UD_PREFIX 40	/* bytes before a received datagram */

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct ibv_mr *mr;
	union ibv_gid gid;
	unsigned char *buf;
	uint64_t iova;	/* of buf */
};

static struct {
	const char *op, *exporter;
	unsigned int n, size, receives, retries, ms, gib, ahs, pause;
	uint64_t iova;
	bool bad_key, events, endless;
} opt = { .op = "send", .n = 16, .size = 4096, .receives = MAX, .retries = 7, .ms = 20000, .ahs = 1 };

static struct end ends[2];
static unsigned int tally[256], received, wrong;
static volatile sig_atomic_t stopped;
static bool fatal, begun;

static void need(const void *what, const char *name)
{
	if (what)
		return;
	fprintf(stderr, "%s: %s\n", name, strerror(errno));
	exit(2);
}

static void must(int ret, const char *name)
{
	if (!ret)
		return;
	fprintf(stderr, "%s: %s\n", name, strerror(ret < 0 ? -ret : ret));
	exit(2);
}

static bool is(const char *op)
{
	return !strcmp(opt.op, op);
}

/* Whether the peer's memory is accessed, which takes no receive. */
static bool is_rdma(void)
{
	return is("read") || is("write");
}

/* Of each message. */
static size_t room(void)
{
	return opt.size + (is("ud") ? UD_PREFIX : 0);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

static void fill(unsigned char *p, unsigned int which)
{
	unsigned int i;

	for (i = 0; i < opt.size; i++)
		p[i] = which * 31 + i * 7 + (i >> 8);
}

static bool is_filled(const unsigned char *p, unsigned int which)
{
	unsigned int i;

	for (i = 0; i < opt.size; i++) {
		if (p[i] != (unsigned char)(which * 31 + i * 7 + (i >> 8)))
			return false;
	}
	return true;
}

static void make_qp(struct end *end)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = is("ud") ? IBV_QPT_UD : IBV_QPT_DRIVER, .sq_sig_all = 1, .send_cq = end->cq, .recv_cq = end->cq,
		.pd = end->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
				  (is("read") ? IBV_QP_EX_WITH_RDMA_READ : 0) |
				  (is("write") ? IBV_QP_EX_WITH_RDMA_WRITE : 0),
		.cap = { .max_send_wr = MAX, .max_recv_wr = MAX, .max_send_sge = 1,
			 .max_recv_sge = 1, .max_inline_data = 32 },
	};
	struct efadv_qp_init_attr efa = { .driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD };
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	end->qp = is("ud") ? ibv_create_qp_ex(end->ctx, &attr) :
			     efadv_create_qp_ex(end->ctx, &attr, &efa, sizeof(efa));
	need(end->qp, "create QP");
	must(ibv_modify_qp(end->qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						 IBV_QP_QKEY), "to INIT");
	to.qp_state = IBV_QPS_RTR;
	must(ibv_modify_qp(end->qp, &to, IBV_QP_STATE), "to RTR");
	to.qp_state = IBV_QPS_RTS;
	to.rnr_retry = opt.retries;
	if (opt.retries != 7 && !is("ud"))
		mask |= IBV_QP_RNR_RETRY;
	must(ibv_modify_qp(end->qp, &to, mask), "to RTS");
}

/* Many pages for little memory. */
static unsigned char *repeated(size_t bytes)
{
	int fd = memfd_create("srd", 0), flags = MAP_SHARED | MAP_FIXED;
	unsigned char *p;
	size_t at;

	must(fd < 0 || ftruncate(fd, PIECE) ? -errno : 0, "memory");
	p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	need(p == MAP_FAILED ? NULL : p, "address space");
	for (at = 0; at < bytes; at += PIECE) {
		if (mmap(p + at, PIECE, PROT_READ | PROT_WRITE, flags, fd, 0) == MAP_FAILED)
			need(NULL, "map memory");
	}
	return p;
}

/* Of memory of this process. */
static int make_udmabuf(int exporter, size_t bytes)
{
	struct udmabuf_create create = { .size = bytes };

	create.memfd = memfd_create("srd", MFD_ALLOW_SEALING);
	if ((int)create.memfd < 0 || ftruncate(create.memfd, bytes) ||
	    fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		return -1;
	return ioctl(exporter, UDMABUF_CREATE, &create);
}

static void register_buffer(struct end *end, size_t bytes)
{
	int exporter = open(opt.exporter, O_RDWR | O_CLOEXEC), fd;
	uint64_t size = bytes;
	unsigned char *p;

	must(exporter < 0 ? -errno : 0, opt.exporter);
	fd = strcmp(opt.exporter, "/dev/udmabuf") ? ioctl(exporter, BARBUF_EXPORT, &size) :
						   make_udmabuf(exporter, bytes);
	must(fd < 0 ? -errno : 0, "DMA buffer");
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	need(p == MAP_FAILED ? NULL : p, "map DMA buffer");
	end->buf = p;
	end->iova = (uintptr_t)p;
	end->mr = ibv_reg_dmabuf_mr(end->pd, 0, bytes, (uintptr_t)p, fd, IBV_ACCESS_LOCAL_WRITE |
				    (is("read") ? IBV_ACCESS_REMOTE_READ : 0));
	need(end->mr, "register DMA buffer");
	/* The MR keeps it. */
	close(fd);
	close(exporter);
}

static void register_memory(struct end *end)
{
	size_t used = MAX * room(), size = used;
	unsigned char *p;
	uint64_t iova;

	if (opt.exporter && end == &ends[1]) {
		register_buffer(end, used);
		return;
	}
	if (opt.gib && end == &ends[1]) {
		size = (size_t)opt.gib << 30;
		p = repeated(size);
	} else {
		p = aligned_alloc(PAGE, size);
		need(p, "memory");
		memset(p, 0, size);
	}
	iova = opt.iova && end == &ends[1] ? opt.iova : (uintptr_t)p;
	end->buf = p + size - used;
	end->iova = iova + size - used;
	end->mr = ibv_reg_mr_iova(end->pd, p, size, iova, IBV_ACCESS_LOCAL_WRITE |
				  (is("read") ? IBV_ACCESS_REMOTE_READ : 0) |
				  (is("write") ? IBV_ACCESS_REMOTE_WRITE : 0));
	need(end->mr, "register memory");
}

static void open_end(struct end *end, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	unsigned int i;

	need(list, "list of devices");
	for (i = 0; list[i] && strcmp(ibv_get_device_name(list[i]), name); i++)
		;
	if (!list[i])
		errno = ENODEV;
	need(list[i], name);
	end->ctx = ibv_open_device(list[i]);
	need(end->ctx, name);
	must(fcntl(end->ctx->async_fd, F_SETFL, O_NONBLOCK) ? -errno : 0, "events");
	ibv_free_device_list(list);
	must(ibv_query_gid(end->ctx, 1, 0, &end->gid), "query GID");
	end->pd = ibv_alloc_pd(end->ctx);
	need(end->pd, "allocate PD");
	if (opt.events) {
		end->channel = ibv_create_comp_channel(end->ctx);
		need(end->channel, "create channel");
	}
	end->cq = ibv_create_cq(end->ctx, 4 * MAX, NULL, end->channel, 0);
	need(end->cq, "create CQ");
	register_memory(end);
	make_qp(end);
}

static void meet(struct end *end, const struct end *peer)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1, .grh.dgid = peer->gid };
	unsigned int i;

	for (i = 0; i < opt.ahs; i++) {
		end->ah = ibv_create_ah(end->pd, &attr);
		need(end->ah, "create AH");
	}
}

static void post_receive(struct end *end, unsigned int which)
{
	struct ibv_sge sge = {
		.addr = end->iova + which % MAX * room(),
		.length = room(), .lkey = end->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = which, .sg_list = &sge, .num_sge = 1 }, *bad;

	must(ibv_post_recv(end->qp, &wr, &bad), "post receive");
}

static void post(struct end *from, struct end *to, unsigned int which)
{
	size_t at = which % MAX * room();
	unsigned char *local = from->buf + at, *remote = to->buf + at;
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(from->qp);

	fill(is("read") ? remote : local, which);
	ibv_wr_start(qp);
	qp->wr_id = which;
	qp->wr_flags = IBV_SEND_SIGNALED;
	if (is("read"))
		ibv_wr_rdma_read(qp, to->mr->rkey, to->iova + at);
	else if (is("write"))
		ibv_wr_rdma_write(qp, to->mr->rkey, to->iova + at);
	else if (is("imm"))
		ibv_wr_send_imm(qp, htobe32(IMM));
	else
		ibv_wr_send(qp);
	ibv_wr_set_ud_addr(qp, from->ah, to->qp->qp_num, QKEY + opt.bad_key);
	if (is("inline"))
		ibv_wr_set_inline_data(qp, local, opt.size);
	else
		ibv_wr_set_sge(qp, from->mr->lkey, (uintptr_t)local, opt.size);
	must(ibv_wr_complete(qp), "post send");
}

/* Receives need not come in the order of their sends, but these do. */
static void take_receive(struct end *end, const struct ibv_wc *wc)
{
	unsigned int which = received++;

	if (wc->status || wc->byte_len != room() ||
	    !is_filled(end->buf + (wc->wr_id % MAX + 1) * room() - opt.size, which) ||
	    (is("imm") && (!(wc->wc_flags & IBV_WC_WITH_IMM) || wc->imm_data != htobe32(IMM))))
		wrong++;
}

static unsigned int take_sent(struct end *end)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(end->cq, 1, &wc) <= 0)
		return 0;
	tally[wc.vendor_err & 255]++;
	if (opt.endless && !begun) {
		begun = true;
		puts("begun");
		fflush(stdout);
	}
	if (is("read") && !wc.status &&
	    !is_filled(end->buf + wc.wr_id % MAX * room(), wc.wr_id))
		wrong++;
	return 1;
}

static bool await(struct end *end, uint64_t until)
{
	struct pollfd fd = { .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (!opt.events)
		return true;
	fd.fd = end->channel->fd;
	if (poll(&fd, 1, until > now_ms() ? until - now_ms() : 0) <= 0)
		return false;
	must(ibv_get_cq_event(end->channel, &cq, &context), "get event");
	ibv_ack_cq_events(cq, 1);
	must(ibv_req_notify_cq(cq, 0), "request event");
	return true;
}

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static void look_for_events(struct end *end)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(end->ctx, &event))
		return;
	if (event.event_type == IBV_EVENT_DEVICE_FATAL || event.event_type == IBV_EVENT_QP_FATAL)
		fatal = true;
	ibv_ack_async_event(&event);
}

static bool is_over(unsigned int posted, unsigned int done)
{
	if (!opt.endless)
		return done >= opt.n;
	look_for_events(&ends[0]);
	look_for_events(&ends[1]);
	return fatal || (stopped && done == posted);
}

static unsigned int run(uint64_t until)
{
	unsigned int posted = 0, done = 0, given = 0, more;
	struct ibv_wc wc;

	while (!is_rdma() && given < opt.receives && given < MAX)
		post_receive(&ends[1], given++);
	if (opt.events)
		must(ibv_req_notify_cq(ends[0].cq, 0), "request event");
	while (!is_over(posted, done) && now_ms() < until) {
		if (opt.pause)
			usleep(opt.pause * 1000);
		while ((opt.endless ? !stopped : posted < opt.n) && posted - done < MAX / 2)
			post(&ends[0], &ends[1], posted++);
		if (!await(&ends[0], until))
			break;
		while ((more = take_sent(&ends[0])))
			done += more;
		while (ibv_poll_cq(ends[1].cq, 1, &wc) > 0) {
			take_receive(&ends[1], &wc);
			if (opt.receives == MAX)
				post_receive(&ends[1], given++);
		}
	}
	/* Payload and completion come before the sender's. */
	while (ibv_poll_cq(ends[1].cq, 1, &wc) > 0)
		take_receive(&ends[1], &wc);
	if (opt.endless)
		opt.n = posted;
	return done;
}

int main(int argc, char **argv)
{
	unsigned int i, done;
	int c;

	while ((c = getopt(argc, argv, "o:n:s:d:r:t:m:b:a:i:p:eku")) != -1) {
		switch (c) {
		case 'o': opt.op = optarg; break;
		case 'n': opt.n = atoi(optarg); break;
		case 's': opt.size = atoi(optarg); break;
		case 'd': opt.receives = atoi(optarg); break;
		case 'r': opt.retries = atoi(optarg); break;
		case 'k': opt.bad_key = true; break;
		case 'p': opt.pause = atoi(optarg); break;
		case 'e': opt.events = true; break;
		case 't': opt.ms = atoi(optarg); break;
		case 'm': opt.gib = atoi(optarg); break;
		case 'i': opt.iova = strtoull(optarg, NULL, 0); break;
		case 'a': opt.ahs = atoi(optarg); break;
		case 'b': opt.exporter = optarg; break;
		case 'u': opt.endless = true; break;
		default: return 2;
		}
	}
	if (argc - optind != 2 || !opt.size || (opt.gib && MAX * room() > PIECE))
		return 2;
	for (i = 0; i < 2; i++)
		open_end(&ends[i], argv[optind + i]);
	for (i = 0; i < 2; i++)
		meet(&ends[i], &ends[!i]);
	if (opt.endless)
		signal(SIGTERM, stop);
	done = run(now_ms() + opt.ms);
	if (fatal)
		printf("fatal ");
	for (i = 0; i < 256; i++) {
		if (tally[i])
			printf("%u:%u ", i, tally[i]);
	}
	printf("received %u%s%s\n", received, done < opt.n ? " unfinished" : "",
	       wrong ? " wrong" : " data");
	if (fatal)
		return 3;
	return tally[0] != opt.n || wrong || (!is_rdma() && received != opt.n);
}
