// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Send queue memory of a destroyed QP, and the neighbour who gets it next:
 *
 *	stale EFA_DEVICE
 *
 * An unprivileged process creates a QP, forks, and destroys the QP, but both keep its send
 * queue mapped; the parent moves its mapping first, and unmaps a page in the middle. Another
 * unprivileged process then creates QPs and sends itself messages, while the first one stores
 * into whatever its mapping leads to. Prints what each of them found. Exits with 0 if every
 * access by the stale mappings ended with SIGBUS, no mapping could be expanded and all messages
 * of the neighbour arrived as sent, with 1 if not, and with 2 if it could not begin.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QKEY 0x11223344
#define DEPTH 256
#define ROUNDS 50
#define BATCH 8
#define SIZE 20			/* of a message, which is in its work request */
#define ENTRY 64		/* of a work request */
#define PAGE 4096
#define BYTES (2 * DEPTH * SIZE)
#define MAX_MAPS 16
#define LIMIT_MS 60000

static struct {
	unsigned char *at;
	size_t size;
} maps[MAX_MAPS];
static unsigned int nr_maps;
static bool keeping;
static sigjmp_buf escape;

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct ibv_mr *mr;
	unsigned char *buf;
};

/*
 * The provider's calls come here. Readable, as what the mappings lead to is of interest. With
 * large files the header gives the function another name.
 */
void *provider_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
	__asm__("mmap");

void *provider_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	bool keep = keeping && fd >= 0 && nr_maps < MAX_MAPS;
	void *p;

	if (keep)
		prot |= PROT_READ;
	p = (void *)syscall(SYS_mmap, addr, size, prot, flags, fd, offset);
	if (keep && p != MAP_FAILED) {
		maps[nr_maps].at = p;
		maps[nr_maps++].size = size;
	}
	return p;
}

int munmap(void *addr, size_t size)
{
	for (unsigned int i = 0; i < nr_maps; i++)
		if (maps[i].at == addr)
			return 0;
	return syscall(SYS_munmap, addr, size);
}

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

static void on_sigbus(int sig)
{
	siglongjmp(escape, sig);
}

/* Whether a store at p reaches anything. */
static bool store(unsigned char *p, const void *data, size_t size)
{
	if (sigsetjmp(escape, 1))
		return false;
	memcpy(p, data, size);
	return true;
}

static void open_end(struct end *end, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_ah_attr ah = { .is_global = 1, .port_num = 1 };
	unsigned int i;

	for (i = 0; list && list[i] && strcmp(ibv_get_device_name(list[i]), name); i++)
		;
	need(list && list[i], name);
	end->ctx = ibv_open_device(list[i]);
	need(end->ctx, "open");
	need(!ibv_query_gid(end->ctx, 1, 0, &ah.grh.dgid), "query GID");
	end->pd = ibv_alloc_pd(end->ctx);
	end->cq = ibv_create_cq(end->ctx, 4 * DEPTH, NULL, NULL, 0);
	need(end->pd && end->cq, "create PD and CQ");
	end->buf = calloc(1, BYTES);
	end->mr = ibv_reg_mr(end->pd, end->buf, BYTES, IBV_ACCESS_LOCAL_WRITE);
	end->ah = ibv_create_ah(end->pd, &ah);
	need(end->mr && end->ah, "register memory, create AH");
}

static void make_qp(struct end *end)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_DRIVER, .sq_sig_all = 1, .send_cq = end->cq, .recv_cq = end->cq, .pd = end->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1,
			 .max_recv_sge = 1, .max_inline_data = SIZE },
	};
	struct efadv_qp_init_attr efa = { .driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD };
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };

	end->qp = efadv_create_qp_ex(end->ctx, &attr, &efa, sizeof(efa));
	need(end->qp, "create QP");
	need(!ibv_modify_qp(end->qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					  IBV_QP_QKEY), "to INIT");
	to.qp_state = IBV_QPS_RTR;
	need(!ibv_modify_qp(end->qp, &to, IBV_QP_STATE), "to RTR");
	to.qp_state = IBV_QPS_RTS;
	need(!ibv_modify_qp(end->qp, &to, IBV_QP_STATE | IBV_QP_SQ_PSN), "to RTS");
}

/* Messages of the sender's own, in one go; returns how many did not arrive as they were sent. */
static unsigned int send_batch(struct end *end, const char *text)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(end->qp);
	unsigned int wrong = 0, left = 2 * BATCH;
	uint64_t until = now_ms() + LIMIT_MS;
	struct ibv_wc wc;

	for (unsigned int i = 0; i < BATCH; i++) {
		struct ibv_sge sge = { (uintptr_t)end->buf + i * SIZE, SIZE, end->mr->lkey };
		struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;

		need(!ibv_post_recv(end->qp, &wr, &bad), "post receive");
	}
	ibv_wr_start(qp);
	for (unsigned int i = 0; i < BATCH; i++) {
		qp->wr_id = BATCH;
		qp->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qp);
		ibv_wr_set_ud_addr(qp, end->ah, end->qp->qp_num, QKEY);
		ibv_wr_set_inline_data(qp, (void *)text, SIZE);
	}
	need(!ibv_wr_complete(qp), "post send");
	while (left && now_ms() < until) {
		if (ibv_poll_cq(end->cq, 1, &wc) < 1)
			continue;
		left--;
		wrong += wc.status != IBV_WC_SUCCESS;
		if (wc.wr_id < BATCH && !wc.status)
			wrong += !!memcmp(end->buf + wc.wr_id * SIZE, text, SIZE);
	}
	return wrong + left;
}

/* Where a message is in mappings of the device. */
static unsigned char *find_text(const char *text)
{
	for (unsigned int i = 0; i < nr_maps; i++)
		for (size_t at = 0; at + ENTRY <= maps[i].size; at += 4)
			if (!memcmp(maps[i].at + at, text, SIZE))
				return maps[i].at + at;
	return NULL;
}

/* How many mappings get a page more, of whatever is behind them. */
static unsigned int expand_maps(void)
{
	unsigned int expanded = 0;

	for (unsigned int i = 0; i < nr_maps; i++)
		expanded += mremap(maps[i].at, maps[i].size, maps[i].size + PAGE,
				   MREMAP_MAYMOVE) != MAP_FAILED;
	return expanded;
}

/* Moves the mapping of the send queue, and splits it; returns where the message is then. */
static unsigned char *rearrange(unsigned char *text)
{
	unsigned char *to;
	unsigned int i;

	for (i = 0; text < maps[i].at || text >= maps[i].at + maps[i].size; i++)
		;
	text -= (uintptr_t)maps[i].at;
	need(maps[i].size > 2 * PAGE, "a send queue of three pages");
	to = mmap(NULL, maps[i].size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(to != MAP_FAILED && mremap(maps[i].at, maps[i].size, maps[i].size,
					MREMAP_MAYMOVE | MREMAP_FIXED, to) == to, "mremap");
	maps[i].at = to;
	need(!syscall(SYS_munmap, to + PAGE, PAGE), "munmap");
	text += (uintptr_t)to;
	need(!memcmp(text + 1, "ORMER", 5), "the moved send queue");
	return text;
}

static void become(uid_t id)
{
	alarm(2 * LIMIT_MS / 1000);
	need(!setgid(id) && !setuid(id), "drop privileges");
}

/* Of each work request the destination and the text, as the adapter might yet read them. */
static unsigned int spoil(unsigned char *text)
{
	unsigned char *queue = (unsigned char *)((uintptr_t)text & ~(uintptr_t)(ENTRY - 1));
	unsigned int stores = 0;

	/* The second page is unmapped. */
	for (unsigned int i = 0; i < DEPTH; i++)
		if (i * ENTRY / PAGE != 1)
			stores += store(queue + i * ENTRY + (text - queue), "FORGED", 6);
	return stores;
}

static int former_owner(const char *name, int go, int done)
{
	unsigned int stores, expanded, tries = 0;
	struct end end = {};
	unsigned char *text;
	int status, begin[2];
	pid_t child;
	char c;

	become(65534);
	signal(SIGBUS, on_sigbus);
	open_end(&end, name);
	keeping = true;
	make_qp(&end);
	keeping = false;
	need(!send_batch(&end, "FORMER-OWNER-0123456"), "messages");
	text = find_text("FORMER-OWNER-0123456");
	need(text && store(text, "F", 1), "find the send queue");
	need(!pipe(begin), "pipe");
	child = fork();
	need(child >= 0, "fork");
	if (!child) {
		need(read(begin[0], &c, 1) == 1, "child");
		exit(store(text, "CHILD", 5));
	}
	expanded = expand_maps();
	text = rearrange(text);
	need(!ibv_destroy_qp(end.qp), "destroy QP");
	stores = spoil(text);
	need(write(begin[1], "", 1) == 1 && waitpid(child, &status, 0) == child, "child");
	need(write(go, "", 1) == 1, "neighbour");
	do {
		stores += spoil(text);
		tries++;
	} while (read(done, &c, 1) < 0);
	printf("former owner: %u stores succeeded in %u tries; its child: %s; %u of %u mappings expanded\n",
	       stores, tries, status ? "succeeded" : "SIGBUS", expanded, nr_maps);
	return stores || status || expanded;
}

static int neighbour(const char *name, int go, int done)
{
	unsigned int wrong = 0;
	struct end end = {};
	char text[SIZE + 1], c;

	become(1);
	need(read(go, &c, 1) == 1, "former owner");
	open_end(&end, name);
	make_qp(&end);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		snprintf(text, sizeof(text), "NEIGHBOUR-%010u", i);
		wrong += send_batch(&end, text);
	}
	need(write(done, "", 1) == 1, "former owner");
	printf("neighbour: %u of %u messages were lost or altered\n", wrong, ROUNDS * BATCH);
	return wrong > 0;
}

int main(int argc, char **argv)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	int go[2], done[2], status, ret = 0;

	if (argc != 2) {
		fputs("usage: stale EFA_DEVICE\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	setrlimit(RLIMIT_MEMLOCK, &all);
	need(!pipe(go) && !pipe(done) && !fcntl(done[0], F_SETFL, O_NONBLOCK), "pipes");
	if (!fork())
		exit(former_owner(argv[1], go[1], done[0]));
	/* Neither waits for one that has ended. */
	close(go[1]);
	if (!fork())
		exit(neighbour(argv[1], go[0], done[1]));
	close(done[1]);
	while (wait(&status) > 0) {
		status = WIFEXITED(status) ? WEXITSTATUS(status) : 2;
		ret = status > ret ? status : ret;
	}
	return ret;
}
