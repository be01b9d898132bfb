// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Plays VMM and driver of two adapters of a program, as standard input says: a line
 * for each thing to do, answered by a line. Guest 0 sends to guest 1.
 *   connect         two RC QPs, each with a CQ of 16 entries
 *   recv N          guest 1 posts N receives
 *   send N          guest 0 posts N sends
 *   poll I          takes completions of guest I: how many
 *   arm I           asks for a notification
 *   take I          takes notifications of guest I, as its driver does: how many
 *   events I        takes its asynchronous events: how many
 *   mr I PAGES      registers memory: ERR
 *   pd I            a protection domain: ERR
 *   query I         QUERY_PORT: ERR, and the state of the port
 *   queries I N     that N times: how many were answered
 *   state I         state of the QP as the guest is told
 *   reset I         the QP, as an application that gives it up
 *   leave I         is killed
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "guest.h"

#define GUESTS 2
#define GUEST_RAM (32u << 20)
#define DRIVER_WAITS_MS 10000
#define CQE 16
#define DEPTH 16
#define SIZE 4096u

struct player {
	struct guest guests[GUESTS];
	uint32_t pd[GUESTS];
	struct guest_mr mr[GUESTS];
	struct guest_cq cq[GUESTS];
	struct guest_qp qp[GUESTS];
};

/*
 * Looks at the response itself: the play goes on when its interrupt was lost, and one that
 * comes late is not taken for the next one.
 */
static bool wait_for_response(void *arg, int irq)
{
	const struct guest *guest = arg;
	const struct pvrdma_resp_hdr *resp = (const void *)guest->resp;
	struct pollfd fd = { .fd = irq, .events = POLLIN };
	unsigned int ms;

	for (ms = 0; ms < DRIVER_WAITS_MS; ms++) {
		if (__atomic_load_n(&resp->ack, __ATOMIC_ACQUIRE) & PVRDMA_RESP_ACK)
			return !eventfd_write(irq, 1);
		poll(&fd, 1, 1);
	}
	return false;
}

static void join(struct player *player, char *const paths[GUESTS])
{
	unsigned int i;

	for (i = 0; i < GUESTS; i++) {
		struct guest *guest = &player->guests[i];

		snprintf(guest->path, sizeof(guest->path), "%s", paths[i]);
		guest->wait = wait_for_response;
		guest->arg = guest;
		guest_open(guest, GUEST_RAM, 0);
		guest_plug(guest);
	}
}

static bool connect_all(struct player *player)
{
	struct guest_qp_want want = { .depth = DEPTH, .sge = 1, .type = PVRDMA_QPT_RC };
	unsigned int i;

	for (i = 0; i < GUESTS; i++) {
		struct guest *guest = &player->guests[i];
		uint32_t context;

		if (guest_probe(guest))
			return false;
		guest_bind(guest, (uint8_t)(i + 1));
		context = guest_context(guest, 1);
		player->pd[i] = guest_pd(guest, context);
		player->mr[i] = guest_mr(guest, player->pd[i], SIZE * DEPTH, ALL_ACCESS);
		player->cq[i] = guest_cq(guest, context, CQE);
		want.pd = player->pd[i];
		want.cq = &player->cq[i];
		player->qp[i] = guest_qp(guest, &want);
	}
	return guest_connect(&player->qp[0], player->qp[1].qpn, 2) &&
	       guest_connect(&player->qp[1], player->qp[0].qpn, 1);
}

static void receive(struct player *player, unsigned int n)
{
	while (n--)
		guest_recv(&player->qp[1], 1, &player->mr[1], 0, SIZE);
}

static void send(struct player *player, unsigned int n)
{
	while (n--) {
		struct pvrdma_sqe sqe = {
			.wr_id = n, .opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED,
		};

		guest_send(&player->qp[0], &sqe, &player->mr[0], 0, SIZE);
	}
}

static unsigned int poll_all(struct guest_cq *cq)
{
	struct pvrdma_cqe cqe;
	unsigned int n = 0;

	while (guest_poll(cq, &cqe))
		n++;
	return n;
}

static unsigned int take_all(struct guest *guest)
{
	uint32_t *head = &guest->notifications->cons_head;
	unsigned int n = 0;

	while (__atomic_load_n(&guest->notifications->prod_tail, __ATOMIC_ACQUIRE) != *head) {
		*head = (*head + 1) & (2 * PVRDMA_MAX_NOTIFICATIONS - 1);
		n++;
	}
	return n;
}

static unsigned int events_of(struct guest *guest)
{
	struct pvrdma_event event;
	unsigned int n = 0;

	while (guest_event(guest, &event))
		n++;
	return n;
}

static uint32_t register_pages(struct player *player, unsigned int i, uint32_t pages)
{
	struct guest *guest = &player->guests[i];
	uint64_t address = player->mr[i].address;
	struct pvrdma_cmd_create_mr cmd = {
		.start = address, .length = (uint64_t)pages * GUEST_PAGE,
		.directory = guest_directory(guest, address, pages), .pd = player->pd[i],
		.access = ALL_ACCESS, .chunks = pages,
	};

	return guest_command(guest, PVRDMA_CMD_CREATE_MR, &cmd, sizeof(cmd));
}

static void query(struct guest *guest)
{
	const struct pvrdma_resp_port *resp = (void *)guest->resp;
	struct pvrdma_cmd_port cmd = { .port = 1 };
	uint32_t err = guest_command(guest, PVRDMA_CMD_QUERY_PORT, &cmd, sizeof(cmd));

	printf("%u %u\n", err, err ? 0 : resp->attr.state);
}

static unsigned int queries(struct guest *guest, uint32_t n)
{
	struct pvrdma_cmd_port cmd = { .port = 1 };
	unsigned int answered = 0;

	while (n--)
		if (!guest_command(guest, PVRDMA_CMD_QUERY_PORT, &cmd, sizeof(cmd)))
			answered++;
	return answered;
}

static bool play(struct player *player, const char *verb, unsigned int i, uint32_t n)
{
	struct pvrdma_qp_attr reset = { .state = PVRDMA_QPS_RESET };
	struct guest *guest = &player->guests[i % GUESTS];
	unsigned int at = i % GUESTS;

	if (!strcmp(verb, "connect"))
		puts(connect_all(player) ? "ok" : "failed");
	else if (!strcmp(verb, "recv"))
		receive(player, i), puts("ok");
	else if (!strcmp(verb, "send"))
		send(player, i), puts("ok");
	else if (!strcmp(verb, "poll"))
		printf("%u\n", poll_all(&player->cq[at]));
	else if (!strcmp(verb, "arm"))
		guest_ring(guest, 0, PVRDMA_UAR_CQ, player->cq[at].handle | PVRDMA_UAR_CQ_ARM),
			puts("ok");
	else if (!strcmp(verb, "take"))
		printf("%u\n", take_all(guest));
	else if (!strcmp(verb, "events"))
		printf("%u\n", events_of(guest));
	else if (!strcmp(verb, "mr"))
		printf("%u\n", register_pages(player, at, n));
	else if (!strcmp(verb, "pd"))
		printf("%u\n", guest_about(guest, PVRDMA_CMD_CREATE_PD, 0));
	else if (!strcmp(verb, "query"))
		query(guest);
	else if (!strcmp(verb, "queries"))
		printf("%u\n", queries(guest, n));
	else if (!strcmp(verb, "state"))
		printf("%u\n", guest_state(&player->qp[at]));
	else if (!strcmp(verb, "reset"))
		printf("%u\n", guest_modify(&player->qp[at], 1, &reset));
	else if (!strcmp(verb, "leave"))
		guest_unplug(guest), puts("ok");
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	static struct player player;
	char line[128], verb[32];
	unsigned int i, n;

	if (argc != 1 + GUESTS) {
		fprintf(stderr, "Usage: player SOCKET SOCKET\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	join(&player, argv + 1);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		i = n = 0;
		if (sscanf(line, "%31s %u %u", verb, &i, &n) < 1 || !play(&player, verb, i, n)) {
			fprintf(stderr, "player: %s", line);
			return 1;
		}
	}
	return 0;
}
