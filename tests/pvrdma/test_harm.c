// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What one guest can do to a server of several: it writes garbage wherever it can
 * (SEED chooses which), and it is cut off at any message; and what happens when no
 * descriptor is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "served.h"
#include "tap.h"

#define RAM (1u << 20)
#define GARBAGE 30000u
/* Steps of garbage for each round of traffic. */
#define STEPS 100u
#define SESSIONS 1000u
#define WARM 100u
#define CONFIG_REGION 7

static struct served served;
static uint64_t state;

/* splitmix64 */
static uint64_t chance(void)
{
	uint64_t value = state += 0x9e3779b97f4a7c15u;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
	value = (value ^ value >> 27) * 0x94d049bb133111ebu;
	return value ^ value >> 31;
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)(chance() % n);
}

/* ---- a guest that writes garbage everywhere */

struct vandal {
	struct guest guest;
	struct traffic own;
	/* Whose traffic shall go on. */
	const struct traffic *victim;
	unsigned int sessions;
};

static void vandal_begin(struct vandal *vandal)
{
	static const uint8_t gids[2] = { 3, 3 };

	memset(vandal->guest.memory, 0, vandal->guest.size);
	played_begin(&vandal->guest, gids[0]);
	traffic_open(&vandal->own, &vandal->guest, &vandal->guest, gids);
	vandal->sessions++;
}

static void vandal_again(struct vandal *vandal)
{
	guest_unplug(&vandal->guest);
	vandal_begin(vandal);
}

/* Numbers that mean something more often than others. */
static uint32_t some(const struct vandal *vandal)
{
	const struct traffic *victim = vandal->victim, *own = &vandal->own;

	switch (below(10)) {
	case 0: return 0;
	case 1: return ~0u >> below(32);
	case 2: return below(RAM / GUEST_PAGE + 4) * GUEST_PAGE;
	case 3: return victim->mr[below(2)].rkey;
	case 4: return victim->qp[below(2)].qpn;
	case 5: return own->mr[below(2)].lkey;
	case 6: return own->qp[below(2)].handle;
	case 7: case 8: return below(8);
	default: return (uint32_t)chance();
	}
}

static uint64_t some_address(const struct vandal *vandal)
{
	switch (below(4)) {
	case 0: return vandal->victim->mr[below(2)].address;
	case 1: return vandal->own.mr[below(2)].address + below(2 * TRAFFIC_SIZE);
	case 2: return some(vandal);
	default: return chance();
	}
}

static void spoil(struct vandal *vandal, void *memory, size_t size)
{
	unsigned int n = 1 + below(8);
	uint32_t value;

	while (n--) {
		value = some(vandal);
		memcpy((unsigned char *)memory + below((uint32_t)size - 3), &value, sizeof(value));
	}
}

static void spoil_command(struct vandal *vandal)
{
	uint32_t words[PVRDMA_CMD_SLOT_SIZE / 4] = { 0 };
	unsigned int i;

	for (i = 4; i < PVRDMA_CMD_SLOT_SIZE / 4; i++)
		words[i] = below(3) ? below(4) : some(vandal);
	words[2] = below(22);
	memcpy(vandal->guest.cmd, words, sizeof(words));
	guest_write(&vandal->guest, PVRDMA_REG_REQUEST, some(vandal));
}

/* A command that would do, but for one or two words. */
static void spoil_modify(struct vandal *vandal)
{
	struct pvrdma_cmd_modify_qp cmd = {
		.hdr.code = PVRDMA_CMD_MODIFY_QP, .handle = vandal->own.qp[below(2)].handle,
		.mask = (uint32_t)chance() & 0x1fffff,
		.attr = { .state = below(7), .access = ALL_ACCESS, .port = 1, .timeout = 1,
			  .retry_cnt = 1, .path_mtu = PVRDMA_MTU_1024,
			  .dest_qpn = vandal->victim->qp[below(2)].qpn,
			  .path = { .flags = 1, .port = 1 } },
	};

	memcpy(cmd.attr.path.dgid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0", 15);
	cmd.attr.path.dgid[15] = (uint8_t)(1 + below(3));
	if (below(2))
		spoil(vandal, &cmd.attr, sizeof(cmd.attr));
	memcpy(vandal->guest.cmd, &cmd, sizeof(cmd));
	guest_write(&vandal->guest, PVRDMA_REG_REQUEST, 0);
}

static void spoil_request(struct vandal *vandal)
{
	struct guest_qp *qp = &vandal->own.qp[below(2)];
	struct pvrdma_sqe sqe = {
		.wr_id = chance(), .opcode = below(16), .flags = below(16), .imm = some(vandal),
		.rdma = { .addr = some_address(vandal), .rkey = some(vandal) },
	};
	struct guest_mr mr = { .address = some_address(vandal), .lkey = some(vandal) };
	uint32_t slot = (qp->header->tx.prod_tail & (qp->depth - 1)) * qp->stride;

	/* The ring's header may be garbage already. */
	qp->header->tx.prod_tail &= 2 * qp->depth - 1;
	if (below(2))
		mr = vandal->own.mr[below(2)];
	if (below(4) == 0)
		sqe.rdma.addr = vandal->victim->mr[below(2)].address;
	if (below(8) == 0)
		spoil(vandal, &sqe, sizeof(sqe));
	guest_send(qp, &sqe, &mr, 0, below(4) ? below(TRAFFIC_SIZE) : (uint32_t)chance());
	if (below(4) == 0) {
		spoil(vandal, qp->sq + slot, qp->stride);
		guest_ring(&vandal->guest, 0, PVRDMA_UAR_QP, qp->handle | PVRDMA_UAR_QP_SEND);
	}
}

static void spoil_config(struct vandal *vandal)
{
	uint16_t command = 6;
	uint32_t value = some(vandal);

	client_write(&vandal->guest.client, CONFIG_REGION, below(256), &value, 1 + below(4));
	if (below(8))
		client_write(&vandal->guest.client, CONFIG_REGION, 4, &command, sizeof(command));
}

static void vandal_step(struct vandal *vandal)
{
	struct guest *guest = &vandal->guest;
	uint32_t value = some(vandal);

	switch (below(16)) {
	case 0: client_write32(&guest->client, below(9), below(0x4100), value); break;
	case 1: guest_write(guest, below(0x28), value); break;
	case 2: guest_write(guest, PVRDMA_REG_CTL, below(4)); break;
	case 3:
		spoil(vandal, guest->dsr, sizeof(*guest->dsr));
		guest_write(guest, PVRDMA_REG_DSRHIGH, below(8) ? 0 : value);
		break;
	case 4: case 5: spoil_command(vandal); break;
	case 6: case 7: spoil_modify(vandal); break;
	case 8: guest_ring(guest, below(513), below(GUEST_PAGE), value); break;
	case 9: guest_ring(guest, 0, below(4) * 4, below(8) | 0xe0000000u << below(3)); break;
	case 10: spoil(vandal, vandal->own.qp[below(2)].header, GUEST_PAGE); break;
	case 11: spoil(vandal, below(2) ? guest->events : guest->notifications, 16); break;
	case 12: spoil(vandal, guest->memory + below(RAM / GUEST_PAGE) * GUEST_PAGE, GUEST_PAGE); break;
	case 13: case 14: spoil_request(vandal); break;
	default: spoil_config(vandal); break;
	}
}

static void garbage(void)
{
	static const uint8_t gids[2] = { 1, 2 };
	const char *seed = getenv("SEED");
	struct traffic traffic;
	struct guest guests[2];
	struct vandal vandal = { .victim = &traffic };
	unsigned int i, rounds = 0, ended = 0;
	bool well = true;

	state = seed ? strtoull(seed, NULL, 0) : 1;
	served_start(&served);
	for (i = 0; i < 2; i++) {
		played_open(&guests[i], served.paths[i], RAM);
		played_begin(&guests[i], gids[i]);
	}
	traffic_open(&traffic, &guests[0], &guests[1], gids);
	played_open(&vandal.guest, served.paths[2], RAM);
	vandal_begin(&vandal);
	ok(traffic_verify(&vandal.own, 5), "a guest that is well");
	for (i = 0; i < GARBAGE && well; i++) {
		vandal_step(&vandal);
		/* Often enough for connected QPs to be there. */
		if (client_ended(&vandal.guest.client) || !below(60)) {
			ended += client_ended(&vandal.guest.client);
			vandal_again(&vandal);
		}
		if (i % STEPS == 0) {
			well = traffic_verify(&traffic, i);
			rounds += well;
		}
	}
	ok(well && rounds == GARBAGE / STEPS,
	   "its neighbours' data is right in %u rounds while it writes garbage %u times", rounds, i);
	printf("# %u sessions of the guest, of which the server ended %u\n", vandal.sessions, ended);
	vandal_again(&vandal);
	ok(traffic_verify(&vandal.own, 7), "and it is well again after a reset");
	for (i = 0; i < 2; i++) {
		guest_unplug(&guests[i]);
		guest_close(&guests[i]);
	}
	guest_unplug(&vandal.guest);
	guest_close(&vandal.guest);
	ok(!served_end(&served, SIGTERM), "the server ends as it should");
}

/* ---- sessions that are cut */

/* Half a message, a message whose reply is not read, or none. */
static void cut(struct guest *guest)
{
	unsigned char message[64] = { 0 };
	struct proto_header header = {
		.id = 1, .command = PROTO_REGION_READ, .size = sizeof(message),
	};
	struct proto_access access = { PVRDMA_REG_VERSION, PVRDMA_REGS_BAR, 4 };

	if (below(2))
		header.size = sizeof(header) + sizeof(access);
	memcpy(message, &header, sizeof(header));
	memcpy(message + sizeof(header), &access, sizeof(access));
	client_send(&guest->client, message, below(header.size + 1), NULL, 0);
	guest_unplug(guest);
}

/* Up to RTS, then @messages of a driver at work. */
static void one_session(struct guest *guest, unsigned int messages)
{
	static const uint8_t gids[2] = { 1, 1 };
	struct pvrdma_cmd_port port = { .port = 1 };
	struct traffic traffic;

	played_begin(guest, gids[0]);
	traffic_open(&traffic, guest, guest, gids);
	while (messages--) {
		struct pvrdma_sqe sqe = { .opcode = below(2) ? PVRDMA_WR_SEND : PVRDMA_WR_WRITE,
			.rdma = { .addr = traffic.mr[1].address, .rkey = traffic.mr[1].rkey } };

		switch (below(6)) {
		case 0: guest_recv(&traffic.qp[1], 1, &traffic.mr[1], 0, TRAFFIC_SIZE); break;
		case 1: guest_mr(guest, traffic.pd[0], 5 * GUEST_PAGE, ALL_ACCESS); break;
		case 2: guest_cq(guest, 0, 64); break;
		case 3: guest_command(guest, PVRDMA_CMD_QUERY_PORT, &port, sizeof(port)); break;
		default: guest_send(&traffic.qp[0], &sqe, &traffic.mr[0], 0, TRAFFIC_SIZE); break;
		}
	}
	cut(guest);
}

struct figures {
	unsigned long rss, anonymous;
	unsigned int descriptors;
};

/* Descriptors are closed in the background: waits until there are @least again. */
static void settle(unsigned int least)
{
	unsigned int tries;

	for (tries = 0; tries < 10000 && served_descriptors(&served) > least; tries++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* All of the session before is over when the next one is there. */
static struct figures measure(struct guest *guest, unsigned int least)
{
	struct figures figures;

	guest_plug(guest);
	settle(least);
	figures = (struct figures){
		served_status(&served, "VmRSS:"), served_status(&served, "RssAnon:"),
		served_descriptors(&served),
	};
	guest_unplug(guest);
	printf("# VmRSS %lu KiB, RssAnon %lu KiB, %u descriptors\n", figures.rss,
	       figures.anonymous, figures.descriptors);
	return figures;
}

static void cut_sessions(void)
{
	struct figures first, before, after;
	struct guest guest;
	unsigned int i;

	state = 2;
	served_start(&served);
	played_open(&guest, served.paths[0], RAM);
	/* No session has ended yet, so nothing remains to be closed. */
	first = measure(&guest, UINT_MAX);
	for (i = 0; i < WARM; i++)
		one_session(&guest, below(30));
	before = measure(&guest, first.descriptors);
	for (i = 0; i < SESSIONS; i++)
		one_session(&guest, below(30));
	after = measure(&guest, before.descriptors);
	ok(after.descriptors == before.descriptors,
	   "%u sessions with connected QPs, cut at any message, leave no descriptor", SESSIONS);
#ifndef __SANITIZE_ADDRESS__
	/*
	 * The sanitizer keeps what is freed for a while. Numbers are given in turn: tables,
	 * which have a fixed size, are touched by 8 bytes for each object that there was.
	 */
	ok(after.anonymous <= before.anonymous + 128 && after.rss <= before.rss + 256,
	   "and no memory");
#endif
	guest_close(&guest);
	ok(!served_end(&served, SIGTERM), "the server ends as it should");
}

/* ---- no descriptor is left */

/* 0: the connection was closed; -EAGAIN: it is not answered. */
static int visit(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), got;
	const struct timeval second = { .tv_sec = 1 };
	char byte;

	snprintf(name.sun_path, sizeof(name.sun_path), "%s/control", served.dir);
	guest_must(fd >= 0 && !connect(fd, (struct sockaddr *)&name, sizeof(name)), "control");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	got = recv(fd, &byte, 1, 0) < 0 ? -errno : 0;
	close(fd);
	return got;
}

static unsigned int lowest_free(void)
{
	unsigned int fd = 0;
	char path[64];

	do
		snprintf(path, sizeof(path), "/proc/%d/fd/%u", (int)served.pid, fd++);
	while (!faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW));
	return fd - 1;
}

static void no_descriptor(void)
{
	struct rlimit before, none;
	struct guest guest;

	served_start(&served);
	played_open(&guest, served.paths[0], RAM);
	played_begin(&guest, 1);
	guest_must(!prlimit(served.pid, RLIMIT_NOFILE, NULL, &before), "limit");
	none = (struct rlimit){ lowest_free(), before.rlim_max };
	guest_must(!prlimit(served.pid, RLIMIT_NOFILE, &none, NULL), "limit");
	ok(!visit() && !visit(), "a reader for whom no descriptor is left is sent away");
	ok(guest_read(&guest, PVRDMA_REG_VERSION) != ~0u, "a guest that is there is served");
	guest_must(!prlimit(served.pid, RLIMIT_NOFILE, &before, NULL), "limit");
	ok(visit() == -EAGAIN, "with descriptors readers are taken again");
	guest_unplug(&guest);
	guest_close(&guest);
	ok(!served_end(&served, SIGTERM), "the server ends as it should");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	served_open(&served, argv[1], SERVED_MAX);
	garbage();
	cut_sessions();
	no_descriptor();
	served_close(&served);
	return done();
}
