// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guest's side of ibv_rc_pingpong and ibv_ud_pingpong, whose other side is the real
 * one: both tell each other LID, QPN, PSN and GID over TCP, then messages go back and forth.
 *
 * Usage: verbs-pingpong SOCKET ADDRESS rc|ud client|server PORT ROUNDS SIZE
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "driver.h"

#define AREA 0x7f4300000000ull
#define PSN 0x123456
#define GRH 40
/* With its end. */
#define WORDS sizeof("0000:000000:000000:00000000000000000000000000000000")
/* Receives that are posted ahead, as many as a queue has. */
#define AHEAD 64
#define RECV 1u
#define SEND 2u

static struct driver driver;
static struct area area;
static struct guest_qp qp;
static bool rc;

static void tell(int fd)
{
	char words[WORDS];
	int i, at = snprintf(words, sizeof(words), "0000:%06x:%06x:", qp.qpn, PSN);

	for (i = 0; i < 16; i++)
		at += snprintf(words + at, sizeof(words) - (size_t)at, "%02x", driver.gid[i]);
	guest_must(write(fd, words, sizeof(words)) == sizeof(words), "handshake");
}

static void hear(int fd)
{
	struct remote *to = &driver.remote;
	char words[WORDS] = "", hex[33];
	unsigned int lid;
	int i;

	guest_must(recv(fd, words, sizeof(words), MSG_WAITALL) == sizeof(words) &&
		   sscanf(words, "%x:%x:%x:%32s", &lid, &to->qpn, &to->psn, hex) == 4, "handshake");
	for (i = 0; i < 16; i++)
		sscanf(hex + 2 * i, "%2hhx", &to->gid[i]);
}

static int tcp(uint16_t port, bool client)
{
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, accepted;

	if (client) {
		guest_must(!connect(fd, (struct sockaddr *)&name, sizeof(name)), "TCP");
		return fd;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	guest_must(!bind(fd, (struct sockaddr *)&name, sizeof(name)) && !listen(fd, 1), "TCP");
	accepted = accept(fd, NULL, NULL);
	guest_must(accepted >= 0, "TCP");
	close(fd);
	return accepted;
}

static bool ready(void)
{
	struct pvrdma_qp_attr psn = { .state = PVRDMA_QPS_RTS, .sq_psn = PSN, .timeout = 14,
				      .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1 };

	if (!rc)
		return driver_ready(&qp);
	/* To RTS with the PSN that the other side was told. */
	return driver_connect_until(&qp, &driver.remote, PVRDMA_QPS_RTR) &&
	       !guest_modify(&qp, 0x12e01, &psn);
}

static void post_send(uint32_t size)
{
	struct pvrdma_sqe sqe = { .wr_id = SEND, .opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED };

	if (!rc) {
		sqe.ud.qpn = driver.remote.qpn;
		sqe.ud.qkey = QKEY;
		sqe.ud.av.port_pd = 1u << 24 | driver.pd;
		sqe.ud.av.hop_limit = 64;
		memcpy(sqe.ud.av.dgid, driver.remote.gid, 16);
	}
	guest_send(&qp, &sqe, &area.mr, GRH, size);
}

static void post_recv(uint32_t size)
{
	guest_recv(&qp, RECV, &area.mr, rc ? GRH : 0, size + (rc ? 0 : GRH));
}

/* As the programs do: who has sent and has got one sends the next. */
static bool play(bool client, unsigned int rounds, uint32_t size)
{
	unsigned int sent = 0, received = 0, pending = client ? SEND | RECV : RECV;
	struct pvrdma_cqe cqe = { 0 };

	if (client)
		post_send(size);
	while (sent < rounds || received < rounds) {
		if (!driver_wait(&driver, &cqe) || cqe.status) {
			printf("# %u sent, %u received, status %u\n", sent, received, cqe.status);
			return false;
		}
		pending &= ~(unsigned int)cqe.wr_id;
		if (cqe.wr_id == SEND)
			sent++;
		else if (++received + AHEAD <= rounds)
			post_recv(size);
		if (pending || sent == rounds)
			continue;
		post_send(size);
		pending = SEND | RECV;
	}
	return true;
}

static bool get_ready(unsigned int rounds, uint32_t size)
{
	unsigned int i;

	if (!ready())
		return false;
	for (i = 0; i < AHEAD && i < rounds; i++)
		post_recv(size);
	return true;
}

int main(int argc, char **argv)
{
	bool client, well;
	unsigned int rounds;
	uint32_t size;
	int fd;

	if (argc != 8)
		return 2;
	rc = !strcmp(argv[3], "rc");
	client = !strcmp(argv[4], "client");
	rounds = (unsigned int)atoi(argv[6]);
	size = (uint32_t)atoi(argv[7]);
	driver_open(&driver, argv[1], 32u << 20, 0);
	driver_bind(&driver, argv[2]);
	guest_must(area_open(&driver, &area, AREA, 4, true), "memory");
	qp = driver_qp(&driver, rc ? PVRDMA_QPT_RC : PVRDMA_QPT_UD, AHEAD, 0);
	fd = tcp((uint16_t)atoi(argv[5]), client);
	if (client) {
		tell(fd);
		hear(fd);
		guest_must(get_ready(rounds, size), "connection");
		guest_must(write(fd, "done", sizeof("done")) > 0, "handshake");
	} else {
		hear(fd);
		guest_must(get_ready(rounds, size), "connection");
		tell(fd);
	}
	well = play(client, rounds, size);
	close(fd);
	driver_destroy(&driver, &qp);
	area_close(&driver, &area);
	driver_close(&driver);
	return !well;
}
