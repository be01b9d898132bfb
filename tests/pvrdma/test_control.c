// SPDX-License-Identifier: GPL-2.0-or-later
/* What the control socket reports about an adapter. */
#include <linux/genetlink.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "rows.h"
#include "control.h"
#include "lab.h"
#include "peer_wire.h"
#include "tap.h"

static struct lab lab;
static struct guest *guest;
static struct control *control;
static int reader;
/* The last packet of a response. */
static _Alignas(8) unsigned char packet[EADM_PEER_PACKET_MAX];
static size_t packet_size;

static struct sockaddr_un name = { .sun_family = AF_UNIX };
static unsigned int logs;

static void count_log(const char *path, const char *line)
{
	logs += !strcmp(path, name.sun_path) && strstr(line, "take long to close");
}

static int connect_reader(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	guest_must(!connect(fd, (struct sockaddr *)&name, sizeof(name)), "reader");
	return fd;
}

static void open_all(void)
{
	struct control_config config = { .path = name.sun_path, .mode = 0600, .uid = (uid_t)-1,
					 .gid = (gid_t)-1, .log = count_log };
	struct control_device devices[GUESTS];
	unsigned int i;

	lab_open(&lab, PVRDMA_VERSION_MAX);
	guest = &lab.guests[0];
	for (i = 0; i < GUESTS; i++)
		devices[i] = (struct control_device){ lab.models[i], i ? "one" : "zero" };
	snprintf(name.sun_path, sizeof(name.sun_path), "/tmp/eadm-pvrdma-test.%d.control",
		 getpid());
	control = control_open(&config, devices, GUESTS);
	guest_must(control != NULL, "control");
	reader = connect_reader();
	guest_must(!guest_probe(guest), "ACTIVATE");
}

static void close_all(void)
{
	close(reader);
	control_close(control);
	lab_close(&lab);
}

/* Asks for the rows of device "zero". */
static void ask(uint8_t cmd)
{
	_Alignas(8) char data[128];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(data);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));

	nlh->nlmsg_type = EADM_PEER_TYPE;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	genl->cmd = cmd;
	mnl_attr_put_strz(nlh, EADM_A_COMMON_DEV_NAME, "zero");
	guest_must(send(reader, nlh, nlh->nlmsg_len, 0) == (ssize_t)nlh->nlmsg_len, "request");
}

/* The next packet, which the program sends without waiting for anything. */
static void next_packet(void)
{
	ssize_t size = -1;
	unsigned int i;

	for (i = 0; size < 0 && i < 100; i++) {
		size = recv(reader, packet, sizeof(packet), MSG_DONTWAIT);
		if (size < 0)
			control_dispatch(control);
	}
	guest_must(size > 0, "packet");
	packet_size = (size_t)size;
}

/* The message at *@nlh (NULL: the first one) or behind; false: there is none. */
static bool next_message(const struct nlmsghdr **nlh)
{
	int left = *nlh ? (int)(packet + packet_size - (const unsigned char *)*nlh) :
			  (int)packet_size;

	*nlh = *nlh ? mnl_nlmsg_next(*nlh, &left) : (const void *)packet;
	return mnl_nlmsg_ok(*nlh, left);
}

/* A field of a row; UINT64_MAX: absent. */
static uint64_t field(const struct nlmsghdr *nlh, uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
		if (mnl_attr_get_type(attr) == type)
			return mnl_attr_get_payload_len(attr) == 8 ? mnl_attr_get_u64(attr) :
								     mnl_attr_get_u32(attr);
	return UINT64_MAX;
}

/* The only packet of a response, and its first row. */
static const struct nlmsghdr *first_row(uint8_t cmd)
{
	const struct nlmsghdr *nlh = NULL;

	ask(cmd);
	next_packet();
	guest_must(next_message(&nlh) && nlh->nlmsg_type == EADM_PEER_TYPE, "row");
	return nlh;
}

static void make_mrs(unsigned int count)
{
	struct pvrdma_cmd_create_mr cmd = { .pd = guest_pd(guest, 0), .flags = PVRDMA_MR_FAST_REG,
					    .chunks = 1 };

	while (count--)
		guest_must(!guest_command(guest, PVRDMA_CMD_CREATE_MR, &cmd, sizeof(cmd)), "MR");
}

/* The messages of a dump up to its end; those that are marked as torn. */
static unsigned int read_on(unsigned int *torn)
{
	const struct nlmsghdr *nlh;
	unsigned int count = 0;

	for (;;) {
		for (nlh = NULL; next_message(&nlh);) {
			count++;
			*torn += !!(nlh->nlmsg_flags & NLM_F_DUMP_INTR);
			if (nlh->nlmsg_type == NLMSG_DONE)
				return count;
		}
		next_packet();
	}
}

static void test_dump(void)
{
	unsigned int torn = 0, count;

	open_all();
	make_mrs(1000);
	ask(EADM_CMD_MR_GET);
	next_packet();
	count = read_on(&torn);
	ok(count == 1001 && !torn, "a dump of objects that stay is whole");
	ask(EADM_CMD_MR_GET);
	next_packet();
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_RESET);
	count = read_on(&torn);
	ok(count < 1001 && torn, "one during which the driver resets the adapter is torn");
	guest_must(!guest_probe(guest), "ACTIVATE");
	make_mrs(1000);
	torn = 0;
	ask(EADM_CMD_MR_GET);
	next_packet();
	lab_restart(&lab, guest);
	count = read_on(&torn);
	ok(count < 1001 && torn, "and one during which the VMM disconnects");
	close_all();
}

/* A reset before the response. */
static void test_aborted(void)
{
	const struct fault delay = { .count = 1, .probability = 100, .target = -1, .arg = 60000 };
	const struct nlmsghdr *nlh;

	open_all();
	guest_must(!fault_set(lab.models[0], FAULT_CMD_DELAY, &delay), "fault");
	guest_about(guest, PVRDMA_CMD_QUERY_PORT, 1);
	nlh = first_row(EADM_CMD_CMDQ_GET);
	ok(field(nlh, EADM_A_CMDQ_SQ_PI) == 1 && !field(nlh, EADM_A_CMDQ_SQ_CI),
	   "a pending command is in the queue");
	guest_write(guest, PVRDMA_REG_CTL, PVRDMA_CTL_RESET);
	nlh = first_row(EADM_CMD_CMDQ_GET);
	ok(field(nlh, EADM_A_CMDQ_SQ_PI) == 1 && field(nlh, EADM_A_CMDQ_SQ_CI) == 1 &&
	   !field(nlh, EADM_A_CMDQ_OUTSTANDING), "an aborted one is not");
	close_all();
}

static bool counts(uint64_t qps, uint64_t cqs, uint64_t mrs, uint64_t pds)
{
	const struct nlmsghdr *nlh = first_row(EADM_CMD_CTX_GET);

	return field(nlh, EADM_A_CTX_QPS) == qps && field(nlh, EADM_A_CTX_CQS) == cqs &&
	       field(nlh, EADM_A_CTX_MRS) == mrs && field(nlh, EADM_A_CTX_PDS) == pds;
}

static void test_context(void)
{
	struct guest_qp_want want = { .depth = 16, .sge = 1, .type = PVRDMA_QPT_RC };
	struct guest_cq cq;
	struct guest_mr mr;
	struct guest_qp qp;
	uint32_t context;

	open_all();
	context = guest_context(guest, 1);
	guest_pd(guest, 0);
	cq = guest_cq(guest, context, 64);
	want.pd = guest_pd(guest, context);
	want.cq = &cq;
	mr = guest_mr(guest, want.pd, GUEST_PAGE, ALL_ACCESS);
	qp = guest_qp(guest, &want);
	ok(counts(1, 1, 1, 1), "a process has the objects that it has created");
	ok(field(first_row(EADM_CMD_UAR_GET), EADM_A_UAR_QPS) == 1, "and its doorbells, too");
	guest_about(guest, PVRDMA_CMD_DESTROY_QP, qp.handle);
	guest_about(guest, PVRDMA_CMD_DESTROY_MR, mr.handle);
	ok(counts(0, 1, 0, 1), "but not those that it has destroyed");
	guest_about(guest, PVRDMA_CMD_DESTROY_CQ, cq.handle);
	guest_about(guest, PVRDMA_CMD_DESTROY_PD, want.pd);
	ok(counts(0, 0, 0, 0), "nor any in the end");
	close_all();
}

/* A send to a QP that does not exist. */
static void test_failed_qp(void)
{
	struct guest_qp_want want = { .depth = 16, .sge = 1, .type = PVRDMA_QPT_RC };
	struct pvrdma_sqe sqe = { .opcode = PVRDMA_WR_SEND, .flags = PVRDMA_WR_SIGNALED };
	const struct nlmsghdr *nlh;
	struct pvrdma_cqe cqe = { 0 };
	struct guest_cq cq;
	struct guest_qp qp;

	open_all();
	guest_bind(guest, 1);
	cq = guest_cq(guest, 0, 64);
	want.pd = guest_pd(guest, 0);
	want.cq = &cq;
	qp = guest_qp(guest, &want);
	guest_must(guest_connect(&qp, 99, 2), "connection");
	guest_ring(guest, 0, PVRDMA_UAR_CQ, cq.handle | PVRDMA_UAR_CQ_ARM);
	guest_send(&qp, &sqe, NULL, 0, 0);
	guest_must(lab_wait(&lab, guest->irqs[PVRDMA_VECTOR_CQ]) && guest_poll(&cq, &cqe), "CQE");
	nlh = first_row(EADM_CMD_QP_GET);
	ok(cqe.status == PVRDMA_WC_RETRY_EXC && field(nlh, EADM_A_QP_FIRST_EVENT) == UINT64_MAX &&
	   field(nlh, EADM_A_QP_FIRST_CAUSE) != UINT64_MAX &&
	   field(nlh, EADM_A_QP_FIRST_EVENT_AGE) != UINT64_MAX,
	   "a QP whose request failed has a cause and an age, but no event");
	close_all();
}

/* Serves the readers until @fd has a packet or its end; -1: while there is work. */
static void serve(int fd)
{
	struct pollfd fds[2] = {
		{ .fd = control_fd(control), .events = POLLIN }, { .fd = fd, .events = POLLIN },
	};

	while (poll(fds, 2, fd < 0 ? 0 : -1) > 0 && !fds[1].revents)
		control_dispatch(control);
}

/* A descriptor in a request must not block the loop when it is closed. */
static void test_descriptors(void)
{
	enum { SLOW = 16 };
	int peers[SLOW], first, i, fd, got = 0;
	struct client client = { 0 };
	char byte;

	/* Ends the test if the server waits. */
	alarm(60);
	open_all();
	first_row(EADM_CMD_CMDQ_GET);
	for (i = 0; i < SLOW; i++) {
		client.fd = connect_reader();
		fd = client_lingering(&peers[i]);
		client_send(&client, packet, 64, &fd, 1);
		close(fd);
		serve(client.fd);
		got += recv(client.fd, &byte, 1, 0) <= 0;
		close(client.fd);
	}
	ok(got == SLOW, "readers that send descriptors are disconnected");
	first = reader;
	reader = connect_reader();
	ask(EADM_CMD_CMDQ_GET);
	serve(-1);
	ok(recv(reader, &byte, 1, MSG_DONTWAIT) < 0 && logs == 1,
	   "no reader is accepted while such descriptors cannot be closed");
	fd = reader;
	reader = first;
	ok(first_row(EADM_CMD_CMDQ_GET) != NULL, "the readers before are served");
	while (i)
		close(peers[--i]);
	serve(fd);
	ok(recv(fd, packet, sizeof(packet), 0) > 0, "and new ones, too, once they are closed");
	close(fd);
	close_all();
	alarm(0);
}

int main(void)
{
	test_dump();
	test_aborted();
	test_context();
	test_failed_qp();
	test_descriptors();
	return done();
}
