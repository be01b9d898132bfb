// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"

#define NS 1000000000u
/* What is waited for comes within that time, on a slow machine as well. */
#define WAIT_MS 60000
#define CQ_SIZE 1024

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

void driver_open(struct driver *driver, const char *path, uint64_t size, unsigned int flags)
{
	memset(driver, 0, sizeof(*driver));
	snprintf(driver->guest.path, sizeof(driver->guest.path), "%s", path);
	guest_open(&driver->guest, size, flags);
	driver->guest.wait = guest_wait;
	guest_plug(&driver->guest);
	guest_must(!guest_probe(&driver->guest), "ACTIVATE");
	driver->pd = guest_pd(&driver->guest, 0);
	driver->cq = guest_cq(&driver->guest, 0, CQ_SIZE);
}

void driver_close(struct driver *driver)
{
	guest_unplug(&driver->guest);
	guest_close(&driver->guest);
}

void driver_bind(struct driver *driver, const char *address)
{
	struct pvrdma_cmd_create_bind cmd = { .mtu = 1024, .vlan = 0xfff, .type = 2 };

	driver->gid[10] = driver->gid[11] = 0xff;
	guest_must(inet_pton(AF_INET, address, driver->gid + 12) == 1, address);
	memcpy(cmd.gid, driver->gid, sizeof(cmd.gid));
	guest_must(!guest_command(&driver->guest, PVRDMA_CMD_CREATE_BIND, &cmd, sizeof(cmd)),
		   "CREATE_BIND");
}

/* ---- memory */

bool area_open(struct driver *driver, struct area *area, uint64_t address, uint32_t pages,
	       bool scattered)
{
	uint64_t memory = guest_alloc(&driver->guest, pages);
	uint32_t i;

	*area = (struct area){ .mr.address = address, .pages = calloc(pages, sizeof(uint64_t)) };
	guest_must(area->pages != NULL, "memory");
	for (i = 0; i < pages; i++)
		area->pages[i] = memory + (uint64_t)GUEST_PAGE * (scattered ? pages - 1 - i : i);
	return guest_register(&driver->guest, driver->pd, area->pages,
			      (uint64_t)pages * GUEST_PAGE - address % GUEST_PAGE, ALL_ACCESS,
			      &area->mr);
}

void area_close(struct driver *driver, struct area *area)
{
	guest_must(!guest_about(&driver->guest, PVRDMA_CMD_DESTROY_MR, area->mr.handle), "DESTROY_MR");
	free(area->pages);
}

/* Calls for each page that is touched. */
static bool each_page(struct driver *driver, const struct area *area, uint64_t offset,
		      uint64_t length, unsigned int seed, bool fill)
{
	uint64_t done, part;
	unsigned char *at;

	offset += area->mr.address % GUEST_PAGE;
	for (done = 0; done < length; done += part) {
		at = guest_at(&driver->guest, area->pages[(offset + done) / GUEST_PAGE]);
		at += (offset + done) % GUEST_PAGE;
		part = GUEST_PAGE - (offset + done) % GUEST_PAGE;
		if (part > length - done)
			part = length - done;
		if (fill)
			pattern_fill(at, done, part, seed);
		else if (!pattern_is(at, done, part, seed))
			return false;
	}
	return true;
}

void area_fill(struct driver *driver, const struct area *area, uint64_t offset, uint64_t length,
	       unsigned int seed)
{
	each_page(driver, area, offset, length, seed, true);
}

bool area_is(struct driver *driver, const struct area *area, uint64_t offset, uint64_t length,
	     unsigned int seed)
{
	return each_page(driver, area, offset, length, seed, false);
}

/* ---- queues */

struct guest_qp driver_qp(struct driver *driver, uint8_t type, uint32_t depth, uint32_t srq)
{
	struct guest_qp_want want = {
		.pd = driver->pd, .depth = depth, .sge = 1, .cq = &driver->cq, .type = type, .srq = srq,
	};

	return guest_qp(&driver->guest, &want);
}

bool driver_connect_until(const struct guest_qp *qp, const struct remote *to, uint32_t state)
{
	struct pvrdma_qp_attr attr = {
		.state = PVRDMA_QPS_INIT, .access = ALL_ACCESS, .port = 1,
		.path_mtu = PVRDMA_MTU_1024, .dest_qpn = to->qpn, .rq_psn = to->psn,
		.max_rd_atomic = 1, .max_dest_rd_atomic = 1, .min_rnr_timer = 12, .timeout = 14,
		.retry_cnt = 7, .rnr_retry = 7,
		.path = { .flags = 1, .hop_limit = 64, .port = 1 },
	};

	memcpy(attr.path.dgid, to->gid, sizeof(to->gid));
	if (guest_modify(qp, 0x39, &attr))
		return false;
	attr.state = PVRDMA_QPS_RTR;
	if (guest_modify(qp, 0x129181, &attr))
		return false;
	attr.state = PVRDMA_QPS_RTS;
	return state == PVRDMA_QPS_RTR || !guest_modify(qp, 0x12e01, &attr);
}

bool driver_ready(const struct guest_qp *qp)
{
	struct pvrdma_qp_attr attr = { .state = PVRDMA_QPS_INIT, .qkey = QKEY, .port = 1 };

	if (guest_modify(qp, 0x71, &attr))
		return false;
	attr.state = PVRDMA_QPS_RTR;
	if (guest_modify(qp, 0x1, &attr))
		return false;
	attr.state = PVRDMA_QPS_RTS;
	return !guest_modify(qp, 0x10001, &attr);
}

void driver_destroy(struct driver *driver, const struct guest_qp *qp)
{
	guest_must(!guest_about(&driver->guest, PVRDMA_CMD_DESTROY_QP, qp->handle), "DESTROY_QP");
}

bool driver_wait(struct driver *driver, struct pvrdma_cqe *cqe)
{
	struct pollfd fd = { .fd = driver->guest.irqs[PVRDMA_VECTOR_CQ], .events = POLLIN };
	struct pvrdma_ring_state *ring = driver->guest.notifications;
	uint64_t count;

	for (;;) {
		if (guest_poll(&driver->cq, cqe))
			return true;
		guest_ring(&driver->guest, 0, PVRDMA_UAR_CQ, driver->cq.handle | PVRDMA_UAR_CQ_ARM);
		if (guest_poll(&driver->cq, cqe))
			return true;
		if (poll(&fd, 1, WAIT_MS) != 1 || read(fd.fd, &count, sizeof(count)) < 0)
			return false;
		ring->cons_head = __atomic_load_n(&ring->prod_tail, __ATOMIC_ACQUIRE);
	}
}

bool driver_wait_for(struct driver *driver, unsigned int count, struct pvrdma_cqe *cqe)
{
	while (count--) {
		if (!driver_wait(driver, cqe)) {
			printf("# %u completions did not come\n", count + 1);
			return false;
		}
		if (cqe->status) {
			printf("# a completion has status %u\n", cqe->status);
			return false;
		}
	}
	return true;
}

/* ---- the peer */

void peer_open(struct driver *driver, const char *port)
{
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)atoi(port)),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	guest_must(!connect(fd, (struct sockaddr *)&name, sizeof(name)), "peer");
	driver->hear = fdopen(fd, "r");
	driver->talk = fdopen(dup(fd), "w");
	guest_must(driver->hear && driver->talk, "peer");
}

void peer_close(struct driver *driver)
{
	fclose(driver->talk);
	fclose(driver->hear);
}

void peer_ask(struct driver *driver, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(driver->talk, format, args);
	va_end(args);
	fputc('\n', driver->talk);
	fflush(driver->talk);
}

const char *peer_answer(struct driver *driver)
{
	static char line[256];

	guest_must(fgets(line, sizeof(line), driver->hear) != NULL, "the peer has gone");
	line[strcspn(line, "\n")] = '\0';
	return line;
}

bool peer_says(struct driver *driver, const char *expected, const char *format, ...)
{
	const char *answer;
	va_list args;

	va_start(args, format);
	vfprintf(driver->talk, format, args);
	va_end(args);
	fputc('\n', driver->talk);
	fflush(driver->talk);
	answer = peer_answer(driver);
	if (!strcmp(answer, expected))
		return true;
	printf("# the peer says: %s\n", answer);
	return false;
}

bool peer_connect(struct driver *driver, const struct guest_qp *qp, const char *type)
{
	struct remote *to = &driver->remote;
	char hex[33];
	unsigned int i;

	for (i = 0; i < 16; i++)
		sprintf(hex + 2 * i, "%02x", driver->gid[i]);
	peer_ask(driver, "connect %s %x 0 %s", type, qp->qpn, hex);
	guest_must(sscanf(peer_answer(driver), "%x %x %32s %" SCNx64 " %x", &to->qpn, &to->psn, hex,
			  &to->address, &to->rkey) == 5, "connection");
	for (i = 0; i < 16; i++)
		sscanf(hex + 2 * i, "%2hhx", &to->gid[i]);
	return *type == 'r' ? driver_connect_until(qp, to, PVRDMA_QPS_RTS) : driver_ready(qp);
}
