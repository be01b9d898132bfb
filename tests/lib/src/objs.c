// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Make and destroy verbs objects of all sizes, and ask for what must be refused:
 *
 *	objs [-d DEVICE] [-n COUNT] [-g MAX_MR_SHIFT] PART...
 *
 * Parts: cqs, qps, mrs, large (MRs of up to 2^MAX_MR_SHIFT bytes, of pages that
 * come over and over), dmabuf, states, refused, open (contexts). Says what failed;
 * the exit status is 0 when nothing did.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/udmabuf.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE		4096ul
#define HUGE_PAGE	(2ul << 20)
#define MIN_LARGE_SHIFT	26

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_device_attr attr;
static const char *device;
static unsigned int count = 1000;
static unsigned int max_mr_shift = 30;
static unsigned int failures;

#define EXPECT(cond, ...)						\
	do {								\
		if (!(cond)) {						\
			failures++;					\
			fprintf(stderr, "objs: " __VA_ARGS__);		\
			fprintf(stderr, " (errno %d)\n", errno);	\
		}							\
	} while (0)

static void fail(const char *what)
{
	fprintf(stderr, "objs: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *opened = NULL;

	if (!list)
		fail("no device list");
	for (int i = 0; list[i] && !opened; i++)
		if (!device || !strcmp(ibv_get_device_name(list[i]), device))
			opened = ibv_open_device(list[i]);
	if (!opened)
		fail("cannot open the device");
	ibv_free_device_list(list);
	return opened;
}

/* 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17 ... max, and over again. */
static unsigned int depth(unsigned int i, unsigned int max)
{
	static unsigned int known[128], n;
	static unsigned int known_max;

	if (known_max != max) {
		known_max = max;
		n = 0;
		for (unsigned int p = 1; p <= max && p; p *= 2) {
			for (int off = -1; off <= 1; off++)
				if (p + off >= 1 && p + off <= max &&
				    (!n || known[n - 1] < p + off))
					known[n++] = p + off;
		}
		if (known[n - 1] < max)
			known[n++] = max;
	}
	return known[i % n];
}

static struct ibv_cq *make_cq(unsigned int cqe, unsigned int i)
{
	return ibv_create_cq(ctx, cqe, NULL, NULL, i % ctx->num_comp_vectors);
}

static void cqs(void)
{
	struct ibv_cq **cq = calloc(count, sizeof(*cq));

	/* Many at once, then each size. */
	for (unsigned int i = 0; i < count; i++) {
		cq[i] = make_cq(depth(i, 4096), i);
		EXPECT(cq[i], "CQ %u with %u entries", i, depth(i, 4096));
		if (cq[i])
			EXPECT(cq[i]->cqe >= (int)depth(i, 4096), "CQ %u has %d entries", i,
			       cq[i]->cqe);
	}
	for (unsigned int i = 0; i < count; i++)
		if (cq[i])
			EXPECT(!ibv_destroy_cq(cq[i]), "CQ %u stays", i);
	free(cq);
	for (unsigned int n = 1; n; n = n < (unsigned int)attr.max_cqe ? 2 * n : 0) {
		struct ibv_cq *one = make_cq(n, 0);

		EXPECT(one, "CQ with %u entries", n);
		if (one) {
			EXPECT(!ibv_req_notify_cq(one, 0), "CQ with %u: notification", n);
			EXPECT(!ibv_destroy_cq(one), "CQ with %u stays", n);
		}
	}
}

static struct ibv_qp *make_qp(struct ibv_cq *cq, unsigned int send, unsigned int recv)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = send, .max_recv_wr = recv, .max_send_sge = 6,
			 .max_recv_sge = 1, .max_inline_data = 96 },
	};

	return ibv_create_qp(pd, &init);
}

static void check_qp(struct ibv_qp *qp, unsigned int send, unsigned int recv)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr qp_attr;

	EXPECT(!ibv_query_qp(qp, &qp_attr, IBV_QP_STATE | IBV_QP_CAP, &init), "query QP");
	EXPECT(qp_attr.cap.max_send_wr >= send && qp_attr.cap.max_recv_wr >= recv &&
	       qp_attr.cap.max_inline_data == 96, "QP for %u/%u has %u/%u", send, recv,
	       qp_attr.cap.max_send_wr, qp_attr.cap.max_recv_wr);
	EXPECT(init.qp_type == IBV_QPT_RC && init.send_cq == qp->send_cq, "QP's birth");
}

static void qps(void)
{
	struct ibv_qp **qp = calloc(count, sizeof(*qp));
	struct ibv_cq *cq = make_cq(64, 0);
	unsigned int max = attr.max_qp_wr;

	if (!cq)
		fail("CQ");
	for (unsigned int i = 0; i < count; i++) {
		qp[i] = make_qp(cq, depth(i, 64), depth(i + 3, 64));
		EXPECT(qp[i], "QP %u", i);
		if (qp[i] && i % 16 == 0)
			check_qp(qp[i], depth(i, 64), depth(i + 3, 64));
	}
	for (unsigned int i = 0; i < count; i++)
		if (qp[i])
			EXPECT(!ibv_destroy_qp(qp[i]), "QP %u stays", i);
	free(qp);
	for (unsigned int n = 1; n; n = n < max ? 2 * n : 0) {
		struct ibv_qp *one = make_qp(cq, n, max / n);

		EXPECT(one, "QP with %u/%u", n, max / n);
		if (one) {
			check_qp(one, n, max / n);
			EXPECT(!ibv_destroy_qp(one), "QP with %u stays", n);
		}
	}
	EXPECT(!ibv_destroy_cq(cq), "CQ stays");
}

/* Of small pages. */
static void *plain(size_t size)
{
	void *buf = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buf == MAP_FAILED)
		fail("memory");
	madvise(buf, size, MADV_NOHUGEPAGE);
	return buf;
}

/* A large range that needs one translation entry for each page and little memory. */
static void *aliased(size_t size)
{
	int fd = memfd_create("objs", 0);
	char *buf;

	if (fd < 0 || ftruncate(fd, HUGE_PAGE))
		fail("memfd");
	buf = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED)
		fail("address space");
	for (size_t at = 0; at < size; at += HUGE_PAGE)
		if (mmap(buf + at, size - at < HUGE_PAGE ? size - at : HUGE_PAGE,
			 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			fail("alias");
	close(fd);
	return buf;
}

static void reg(void *addr, size_t size, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, addr, size, access);

	EXPECT(mr, "MR of %zu bytes at %p", size, addr);
	if (!mr)
		return;
	EXPECT(mr->lkey == mr->rkey && mr->lkey >> 8, "keys %x %x", mr->lkey, mr->rkey);
	EXPECT(!ibv_dereg_mr(mr), "MR of %zu bytes stays", size);
}

#define REMOTE_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
			 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

static void mrs(void)
{
	struct ibv_mr **mr = calloc(count, sizeof(*mr));
	size_t small = 8 * PAGE;
	char *buf = plain(count * small);

	for (unsigned int i = 0; i < count; i++) {
		mr[i] = ibv_reg_mr(pd, buf + i * small + i % 977, small - i % 977 - i % 31,
				   REMOTE_ACCESS);
		EXPECT(mr[i], "MR %u", i);
	}
	for (unsigned int i = 0; i < count; i++)
		if (mr[i])
			EXPECT(!ibv_dereg_mr(mr[i]), "MR %u stays", i);
	munmap(buf, count * small);
	free(mr);

	/* 4 KiB pages: inside the command, then one and two levels. */
	for (unsigned int shift = 12; shift < MIN_LARGE_SHIFT; shift++) {
		buf = plain(1ul << shift);
		reg(buf, 1ul << shift, REMOTE_ACCESS);
		if (shift > 12) {
			reg(buf + 5, (1ul << shift) - 10, IBV_ACCESS_LOCAL_WRITE);
			reg(buf, (1ul << shift) - PAGE, 0);
		}
		munmap(buf, 1ul << shift);
	}
	buf = mmap(NULL, 4 * HUGE_PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (buf != MAP_FAILED) {
		reg(buf, 4 * HUGE_PAGE, REMOTE_ACCESS);
		reg(buf + 7, 3 * HUGE_PAGE, REMOTE_ACCESS);
		munmap(buf, 4 * HUGE_PAGE);
	}
}

/* Two and three levels. */
static void large(void)
{
	for (unsigned int shift = MIN_LARGE_SHIFT; shift <= max_mr_shift; shift++) {
		char *buf = aliased(1ul << shift);

		reg(buf + 5, (1ul << shift) - 10, REMOTE_ACCESS);
		munmap(buf, 1ul << shift);
	}
}

/* Memory of a process as a DMA buffer, or -1 where the kernel makes none. */
static int make_udmabuf(size_t size)
{
	struct udmabuf_create create = { .size = size };
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd;

	if (dev < 0)
		return -1;
	create.memfd = memfd_create("objs", MFD_ALLOW_SEALING);
	if ((int)create.memfd < 0 || ftruncate(create.memfd, size) ||
	    fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		fail("memfd");
	fd = ioctl(dev, UDMABUF_CREATE, &create);
	if (fd < 0)
		fail("DMA buffer");
	close(create.memfd);
	close(dev);
	return fd;
}

/*
 * A picture of a graphics card, as the kernel's module vgem has one without
 * hardware; or -1. The two requests as in drm/drm.h, which not every machine has.
 */
static int make_picture(size_t size)
{
	struct {
		uint32_t height, width, bpp, flags, handle, pitch;
		uint64_t size;
	} create = { .height = size / 4096, .width = 1024, .bpp = 32 };
	struct {
		uint32_t handle, flags;
		int32_t fd;
	} export = { .flags = O_CLOEXEC | O_RDWR };
	int card = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);

	if (card < 0)
		return -1;
	if (ioctl(card, _IOWR('d', 0xb2, create), &create))
		fail("picture");
	export.handle = create.handle;
	if (create.size != size || ioctl(card, _IOWR('d', 0x2d, export), &export))
		fail("picture as DMA buffer");
	close(card);
	return export.fd;
}

static int make_dmabuf(size_t size)
{
	int fd = make_udmabuf(size);

	return fd < 0 ? make_picture(size) : fd;
}

struct request {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[9];
};

/* What has up to 8 bytes stands in the attribute itself. */
static void add(struct request *req, unsigned int id, unsigned int len, uint64_t data)
{
	req->attrs[req->hdr.num_attrs++] = (struct ib_uverbs_attr) {
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data,
	};
}

static int call(struct request *req, unsigned int method)
{
	req->hdr.length = sizeof(req->hdr) + req->hdr.num_attrs * sizeof(req->attrs[0]);
	req->hdr.object_id = UVERBS_OBJECT_MR;
	req->hdr.method_id = method;
	req->hdr.driver_id = RDMA_DRIVER_ERDMA;
	return ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &req->hdr);
}

/* By itself: the provider has no function for it. Returns the handle or -1. */
static int reg_dmabuf(int fd, uint64_t offset, uint64_t length, uint64_t iova)
{
	uint32_t key[2] = { 0, 0 };
	struct request req = {};

	add(&req, UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0, 0);
	add(&req, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0, pd->handle);
	add(&req, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, sizeof(offset), offset);
	add(&req, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, sizeof(length), length);
	add(&req, UVERBS_ATTR_REG_DMABUF_MR_IOVA, sizeof(iova), iova);
	add(&req, UVERBS_ATTR_REG_DMABUF_MR_FD, sizeof(uint32_t), fd);
	add(&req, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, sizeof(uint32_t),
	    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	add(&req, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, sizeof(key[0]), (uintptr_t)&key[0]);
	add(&req, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, sizeof(key[1]), (uintptr_t)&key[1]);
	if (call(&req, UVERBS_METHOD_REG_DMABUF_MR))
		return -1;
	EXPECT(key[0] && key[0] == key[1], "DMA buffer's keys %x %x", key[0], key[1]);
	return req.attrs[0].data;
}

static void dereg(int handle)
{
	struct request req = {};

	add(&req, UVERBS_ATTR_DESTROY_MR_HANDLE, 0, handle);
	EXPECT(!call(&req, UVERBS_METHOD_MR_DESTROY), "DMA buffer's MR stays");
}

static void dmabuf(void)
{
	size_t size = 1ul << 20;
	int fd = make_dmabuf(size), mr;

	if (fd < 0) {
		puts("this kernel makes no DMA buffers");
		EXPECT(reg_dmabuf(0, 0, PAGE, 0) < 0, "MR of what is no DMA buffer");
		return;
	}
	for (size_t offset = 0; offset < size; offset += size / 4 + 3) {
		mr = reg_dmabuf(fd, offset, size - offset, 0x10000000 + offset % PAGE);
		EXPECT(mr >= 0, "MR of %zu bytes of a DMA buffer", size - offset);
		if (mr >= 0)
			dereg(mr);
	}
	EXPECT(reg_dmabuf(fd, 0, 0, 0) < 0, "empty MR of a DMA buffer");
	EXPECT(reg_dmabuf(fd, PAGE, size, 0) < 0, "MR beyond its DMA buffer");
	EXPECT(reg_dmabuf(0, 0, PAGE, 0) < 0, "MR of what is no DMA buffer");
	/* The MR keeps the memory. */
	mr = reg_dmabuf(fd, 0, size, 0);
	close(fd);
	EXPECT(mr >= 0, "MR of a DMA buffer that goes");
	if (mr >= 0)
		dereg(mr);
}

static int modify(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr qp_attr = { .qp_state = state };

	return ibv_modify_qp(qp, &qp_attr, IBV_QP_STATE);
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr qp_attr = { .qp_state = IBV_QPS_UNKNOWN };

	ibv_query_qp(qp, &qp_attr, IBV_QP_STATE, &init);
	return qp_attr.qp_state;
}

/* What iWARP lets a process do with a QP that has no connection. */
static void states(void)
{
	struct ibv_cq *cq = make_cq(64, 0);
	struct ibv_qp *qp = make_qp(cq, 8, 8);

	if (!qp)
		fail("QP");
	EXPECT(state_of(qp) == IBV_QPS_INIT, "new QP in state %d", state_of(qp));
	EXPECT(!modify(qp, IBV_QPS_INIT), "INIT");
	EXPECT(!modify(qp, IBV_QPS_RTR), "RTR");
	EXPECT(state_of(qp) == IBV_QPS_RTR, "QP in state %d, not RTR", state_of(qp));
	EXPECT(modify(qp, IBV_QPS_RTS) == EINVAL, "RTS without a connection");
	EXPECT(!modify(qp, IBV_QPS_SQD), "SQD");
	EXPECT(!modify(qp, IBV_QPS_ERR), "ERR");
	EXPECT(state_of(qp) == IBV_QPS_ERR, "QP in state %d, not ERR", state_of(qp));
	EXPECT(modify(qp, IBV_QPS_INIT) == EINVAL, "INIT from ERR");
	EXPECT(!ibv_destroy_qp(qp), "QP stays");
	EXPECT(!ibv_destroy_cq(cq), "CQ stays");
}

static void refused(void)
{
	struct ibv_cq *cq = make_cq(64, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct ibv_port_attr port;
	char *buf = plain(PAGE);

	EXPECT(!make_cq(attr.max_cqe + 1, 0), "CQ with %d entries", attr.max_cqe + 1);
	EXPECT(!ibv_create_qp(pd, &init), "UD QP");
	init.qp_type = IBV_QPT_RC;
	init.cap.max_send_sge = 7;
	EXPECT(!ibv_create_qp(pd, &init), "QP with 7 SGEs");
	EXPECT(!make_qp(cq, attr.max_qp_wr + 1, 1), "QP with %d sends", attr.max_qp_wr + 1);
	EXPECT(!make_qp(cq, 1, 65536), "QP with 65536 receives");
	EXPECT(!ibv_reg_mr(pd, buf, 0, 0), "empty MR");
	EXPECT(!ibv_reg_mr(pd, buf, PAGE, IBV_ACCESS_ON_DEMAND), "on-demand MR");
	EXPECT(!ibv_reg_mr(pd, buf, PAGE, IBV_ACCESS_REMOTE_WRITE), "remote without local write");
	munmap(buf, PAGE);
	EXPECT(!ibv_reg_mr(pd, buf, PAGE, 0), "MR of nothing");
	EXPECT(ibv_query_port(ctx, 2, &port), "port 2");
	EXPECT(!ibv_destroy_cq(cq), "CQ stays");
}

static void contexts(void)
{
	struct ibv_context **list = calloc(count, sizeof(*list));

	for (unsigned int i = 0; i < count; i++)
		list[i] = open_device();
	for (unsigned int i = 0; i < count; i++)
		EXPECT(!ibv_close_device(list[i]), "context %u stays", i);
	free(list);
}

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "cqs", cqs }, { "qps", qps }, { "mrs", mrs }, { "large", large },
	{ "dmabuf", dmabuf }, { "states", states },
	{ "refused", refused }, { "open", contexts },
};

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "d:n:g:")) != -1) {
		switch (opt) {
		case 'd':
			device = optarg;
			break;
		case 'n':
			count = strtoul(optarg, NULL, 0);
			break;
		case 'g':
			max_mr_shift = strtoul(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	}
	ctx = open_device();
	pd = ibv_alloc_pd(ctx);
	if (!pd || ibv_query_device(ctx, &attr))
		fail("device");
	for (; optind < argc; optind++) {
		size_t i = 0;

		while (i < sizeof(parts) / sizeof(*parts) && strcmp(argv[optind], parts[i].name))
			i++;
		if (i == sizeof(parts) / sizeof(*parts)) {
			fprintf(stderr, "objs: no part '%s'\n", argv[optind]);
			return 2;
		}
		parts[i].run();
	}
	EXPECT(!ibv_dealloc_pd(pd), "PD stays");
	EXPECT(!ibv_close_device(ctx), "context stays");
	return failures ? 1 : 0;
}
