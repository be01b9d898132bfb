// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command slot (hw 4). Each command is done when the write to REQUEST returns, except
 * for some commands whose response may come later. A command with a response raises
 * vector 0 after the response was written; no other command does, because a late vector 0
 * would wake the waiter of the next command. A driver that sends a command no longer
 * waits for the response to the previous one.
 */
#include <errno.h>
#include <string.h>

#include "function.h"

/* Burst allowed to a guest that was idle, expressed as time at the permitted rate. */
#define BURST_NS UINT64_C(1000000000)

/* Only the bytes of the command itself are initialised by the driver. */
union request {
	unsigned char bytes[PVRDMA_CMD_SLOT_SIZE];
	struct pvrdma_cmd_hdr hdr;
	struct pvrdma_cmd_port port;
	struct pvrdma_cmd_create_uc create_uc;
	struct pvrdma_cmd_handle handle;
	struct pvrdma_cmd_create_mr create_mr;
	struct pvrdma_cmd_create_cq create_cq;
	struct pvrdma_cmd_create_qp create_qp;
	struct pvrdma_cmd_modify_qp modify_qp;
	struct pvrdma_cmd_create_srq create_srq;
	struct pvrdma_cmd_modify_srq modify_srq;
	struct pvrdma_cmd_create_bind create_bind;
	struct pvrdma_cmd_destroy_bind destroy_bind;
};

union response {
	unsigned char bytes[PVRDMA_RESP_SLOT_SIZE];
	struct pvrdma_resp_hdr hdr;
	struct pvrdma_resp_port port;
	struct pvrdma_resp_pkey pkey;
	struct pvrdma_resp_handle handle;
	struct pvrdma_resp_create_mr create_mr;
	struct pvrdma_resp_create_qp_v1 create_qp_v1;
	struct pvrdma_resp_create_qp create_qp;
	struct pvrdma_resp_query_qp query_qp;
	struct pvrdma_resp_query_srq query_srq;
};

static int query_port(struct model *m, const union request *req, union response *resp)
{
	struct ibv_port_attr attr;

	if (req->port.port != 1)
		return -EINVAL;
	m->ops->port_query(m->port, &attr);
	if (fault_on(m, FAULT_LINK_DOWN))
		attr.state = IBV_PORT_DOWN;
	resp->port.attr = (struct pvrdma_port_attr){
		.state = attr.state,
		.max_mtu = attr.max_mtu,
		.active_mtu = m->config.mtu < attr.active_mtu ? m->config.mtu : attr.active_mtu,
		.gid_tbl_len = GID_TABLE,
		.port_cap_flags = PVRDMA_PORT_CM | PVRDMA_PORT_IP_GIDS,
		.max_msg_sz = attr.max_msg_sz,
		.pkey_tbl_len = 1,
		.max_vl_num = 1,
		.active_width = attr.active_width,
		.active_speed = attr.active_speed,
		.phys_state = attr.state == IBV_PORT_ACTIVE ? PVRDMA_PHYS_LINK_UP :
							      PVRDMA_PHYS_DISABLED,
	};
	return 0;
}

static int query_pkey(struct model *m, const union request *req, union response *resp)
{
	(void)m;
	if (req->port.port != 1 || req->port.index)
		return -EINVAL;
	resp->pkey.pkey = PVRDMA_DEFAULT_PKEY;
	return 0;
}

static int create_uc(struct model *m, const union request *req, union response *resp)
{
	uint64_t pfn = m->config.version < PVRDMA_VERSION_PFN64 ?
		       (uint32_t)req->create_uc.pfn : req->create_uc.pfn;

	return context_create(m, pfn, &resp->handle.handle);
}

static int destroy_uc(struct model *m, const union request *req, union response *resp)
{
	(void)resp;
	return context_destroy(m, req->handle.handle);
}

static int create_pd(struct model *m, const union request *req, union response *resp)
{
	return pd_create(m, req->handle.handle, &resp->handle.handle);
}

static int destroy_pd(struct model *m, const union request *req, union response *resp)
{
	(void)resp;
	return pd_destroy(m, req->handle.handle);
}

static void describe_mr(const struct mr *mr, union response *resp)
{
	resp->create_mr.handle = mr->handle;
	resp->create_mr.lkey = mr->lkey;
	resp->create_mr.rkey = mr->rkey;
}

static int create_mr(struct model *m, const union request *req, union response *resp)
{
	struct mr *mr;
	int err = mr_create(m, &req->create_mr, &mr);

	if (err == -EINPROGRESS)
		m->pending.object = m->pending.mr = mr;
	else if (!err)
		describe_mr(mr, resp);
	return err;
}

static int destroy_mr(struct model *m, const union request *req, union response *resp)
{
	(void)resp;
	return mr_destroy(m, req->handle.handle);
}

static int create_cq(struct model *m, const union request *req, union response *resp)
{
	resp->handle.cqe = req->create_cq.cqe;
	return cq_create(m, &req->create_cq, &resp->handle.handle);
}

static int destroy_cq(struct model *m, const union request *req, union response *resp)
{
	(void)resp;
	return cq_destroy(m, req->handle.handle);
}

static int create_qp(struct model *m, const union request *req, union response *resp)
{
	const struct pvrdma_cmd_create_qp *cmd = &req->create_qp;
	struct qp *qp;
	int err = qp_create(m, cmd, &qp);

	if (err)
		return err;
	if (m->config.version < PVRDMA_VERSION_QP_HANDLE) {
		resp->create_qp_v1.qpn = qp->handle;
		resp->create_qp_v1.max_send_wr = cmd->max_send_wr;
		resp->create_qp_v1.max_recv_wr = cmd->max_recv_wr;
		resp->create_qp_v1.max_send_sge = cmd->max_send_sge;
		resp->create_qp_v1.max_recv_sge = cmd->max_recv_sge;
		return 0;
	}
	resp->create_qp.qpn = qp->qpn;
	resp->create_qp.handle = qp->handle;
	resp->create_qp.max_send_wr = cmd->max_send_wr;
	resp->create_qp.max_recv_wr = cmd->max_recv_wr;
	resp->create_qp.max_send_sge = cmd->max_send_sge;
	resp->create_qp.max_recv_sge = cmd->max_recv_sge;
	return 0;
}

/* This is the only command whose caller checks the response's error (hw 4.3). */
static int modify_qp(struct model *m, const union request *req, union response *resp)
{
	struct qp *qp;
	int err = qp_modify(m, &req->modify_qp, &qp);

	if (err == -EINPROGRESS) {
		m->pending.object = qp;
		m->pending.modify = req->modify_qp;
		return err;
	}
	resp->hdr.err = (uint8_t)-err;
	return 0;
}

static int query_qp(struct model *m, const union request *req, union response *resp)
{
	return qp_query(m, req->handle.handle, &resp->query_qp.attr);
}

static int destroy_qp(struct model *m, const union request *req, union response *resp)
{
	(void)resp;
	return qp_destroy(m, req->handle.handle);
}

static int create_bind(struct model *m, const union request *req, union response *resp)
{
	(void)resp;
	return gid_bind(m, &req->create_bind);
}

static int destroy_bind(struct model *m, const union request *req, union response *resp)
{
	(void)resp;
	return gid_unbind(m, req->destroy_bind.index);
}

static int create_srq(struct model *m, const union request *req, union response *resp)
{
	return srq_create(m, &req->create_srq, &resp->handle.handle);
}

static int modify_srq(struct model *m, const union request *req, union response *resp)
{
	(void)resp;
	return srq_modify(m, &req->modify_srq);
}

static int query_srq(struct model *m, const union request *req, union response *resp)
{
	return srq_query(m, req->handle.handle, &resp->query_srq.attr);
}

static int destroy_srq(struct model *m, const union request *req, union response *resp)
{
	(void)resp;
	return srq_destroy(m, req->handle.handle);
}

static const struct command {
	int (*run)(struct model *m, const union request *req, union response *resp);
	/* 0: the driver does not wait for a response. */
	size_t response;
} commands[] = {
	[PVRDMA_CMD_QUERY_PORT] = { query_port, sizeof(struct pvrdma_resp_port) },
	[PVRDMA_CMD_QUERY_PKEY] = { query_pkey, sizeof(struct pvrdma_resp_pkey) },
	[PVRDMA_CMD_CREATE_PD] = { create_pd, sizeof(struct pvrdma_resp_handle) },
	[PVRDMA_CMD_DESTROY_PD] = { destroy_pd, 0 },
	[PVRDMA_CMD_CREATE_MR] = { create_mr, sizeof(struct pvrdma_resp_create_mr) },
	[PVRDMA_CMD_DESTROY_MR] = { destroy_mr, 0 },
	[PVRDMA_CMD_CREATE_CQ] = { create_cq, sizeof(struct pvrdma_resp_handle) },
	[PVRDMA_CMD_DESTROY_CQ] = { destroy_cq, 0 },
	[PVRDMA_CMD_CREATE_QP] = { create_qp, sizeof(struct pvrdma_resp_create_qp) },
	[PVRDMA_CMD_MODIFY_QP] = { modify_qp, sizeof(struct pvrdma_resp_hdr) },
	[PVRDMA_CMD_QUERY_QP] = { query_qp, sizeof(struct pvrdma_resp_query_qp) },
	[PVRDMA_CMD_DESTROY_QP] = { destroy_qp, 0 },
	[PVRDMA_CMD_CREATE_UC] = { create_uc, sizeof(struct pvrdma_resp_handle) },
	[PVRDMA_CMD_DESTROY_UC] = { destroy_uc, 0 },
	[PVRDMA_CMD_CREATE_BIND] = { create_bind, 0 },
	[PVRDMA_CMD_DESTROY_BIND] = { destroy_bind, 0 },
	[PVRDMA_CMD_CREATE_SRQ] = { create_srq, sizeof(struct pvrdma_resp_handle) },
	[PVRDMA_CMD_MODIFY_SRQ] = { modify_srq, 0 },
	[PVRDMA_CMD_QUERY_SRQ] = { query_srq, sizeof(struct pvrdma_resp_query_srq) },
	[PVRDMA_CMD_DESTROY_SRQ] = { destroy_srq, 0 },
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void answer(struct model *m, const void *response, size_t size)
{
	const struct pvrdma_resp_hdr *hdr = response;

	memcpy(m->resp, response, size);
	model_interrupt(m, PVRDMA_VECTOR_RESPONSE);
	journal_end(m->journal, hdr->err, response, size);
}

/* Delays the response until the given time; UINT64_MAX: forever. */
static void answer_late(struct model *m, const void *response, size_t size, uint64_t until)
{
	memcpy(m->late.response, response, size);
	m->late.size = size;
	m->late.until = until;
}

/* Time at which the permitted rate allows the response to the last command; 0: now. */
static uint64_t held_until(const struct model *m)
{
	return m->paid_until > BURST_NS ? m->paid_until - BURST_NS : 0;
}

/*
 * A driver that waits for responses is throttled by delaying them, because commands that
 * destroy objects must not be refused; only a driver that does not wait is refused.
 */
static int pay(struct model *m)
{
	uint32_t rate = m->config.limits.commands;
	uint64_t now = journal_now();

	if (!rate)
		return 0;
	if (held_until(m) > now)
		return -EDQUOT;
	m->paid_until = (m->paid_until > now ? m->paid_until : now) + BURST_NS / rate;
	return 0;
}

/* @hdr: header of the request. */
static void respond(struct model *m, const struct pvrdma_cmd_hdr *hdr, union response *resp)
{
	size_t size = commands[hdr->code].response;
	uint64_t arg = 0;

	resp->hdr.key = hdr->key;
	resp->hdr.ack = PVRDMA_RESP_ACK | hdr->code;
	if (!size)
		journal_end(m->journal, 0, resp, 0);
	else if (fault_hit(m, FAULT_CMD_DELAY, hdr->code, &arg))
		answer_late(m, resp, size, journal_now() + arg * 1000000);
	else if (held_until(m) > journal_now())
		answer_late(m, resp, size, held_until(m));
	else
		answer(m, resp, size);
}

/*
 * ERR was already reported as 0, so report the failure by a response with ack 0 (hw 4.3).
 */
static void respond_failure(struct model *m, int err)
{
	memset(m->resp, 0, sizeof(struct pvrdma_resp_hdr));
	model_interrupt(m, PVRDMA_VECTOR_RESPONSE);
	journal_end(m->journal, (uint32_t)-err, NULL, 0);
}

static void log_failure(struct model *m, uint32_t code, int err)
{
	model_log(m, "command %u failed: %s", code, strerror(-err));
}

void command_abandon(struct model *m)
{
	if (m->pending.mr)
		mr_abandon(m, m->pending.mr);
	m->pending = (struct pending){ 0 };
}

static void mr_ended(struct model *m, struct mr *mr, int err)
{
	struct pvrdma_cmd_hdr hdr = m->pending.hdr;
	union response resp = { 0 };
	bool drop = m->pending.drop;

	m->generation++;
	m->pending = (struct pending){ 0 };
	if (err)
		log_failure(m, hdr.code, err);
	if (drop)
		return;
	if (err) {
		respond_failure(m, err);
		return;
	}
	describe_mr(mr, &resp);
	respond(m, &hdr, &resp);
}

bool command_continue(struct model *m)
{
	struct mr *mr = m->pending.mr;
	int err;

	if (!mr || mr->backend)
		return false;
	err = mr_continue(m, mr);
	if (err != -EINPROGRESS)
		mr_ended(m, mr, err);
	return true;
}

void command_done(void *ctx, void *request, int err)
{
	struct model *m = ctx;
	struct pending pending = m->pending;
	union response resp = { 0 };

	/* The completion of an abandoned command may still arrive. */
	if (!request || request != pending.object)
		return;
	if (pending.mr) {
		mr_ended(m, pending.mr, mr_finish(m, pending.mr, err));
		return;
	}
	m->pending = (struct pending){ 0 };
	if (!err)
		qp_modified(m, pending.object, &pending.modify);
	if (pending.drop)
		return;
	resp.hdr.err = (uint8_t)-err;
	respond(m, &pending.hdr, &resp);
}

void command_reset(struct model *m)
{
	m->late.size = 0;
	journal_give_up(m->journal, JOURNAL_ABORTED);
}

uint64_t command_late(struct model *m, uint64_t now)
{
	const struct journal_command *pending = journal_pending(m->journal);
	uint64_t patience;

	if (m->late.size && m->late.until <= now) {
		answer(m, m->late.response, m->late.size);
		m->late.size = 0;
		return BACKEND_IDLE;
	}
	if (!pending)
		return BACKEND_IDLE;
	patience = pending->began + JOURNAL_PATIENCE_NS;
	if (patience <= now) {
		journal_give_up(m->journal, JOURNAL_TIMEOUT);
		return m->late.size ? m->late.until : BACKEND_IDLE;
	}
	return m->late.size && m->late.until < patience ? m->late.until : patience;
}

/* Commands that destroy objects, or query a QP's state, work even without a backend. */
static bool needs_backend(const struct command *command)
{
	return command->response && command->run != query_qp;
}

static int run(struct model *m, const struct command *command, const union request *req,
	       union response *resp)
{
	uint32_t code = req->hdr.code;
	uint64_t arg = 0;

	if (command->response && pay(m))
		return -EDQUOT;
	if ((m->backend_gone || fault_on(m, FAULT_BACKEND_GONE)) && needs_backend(command))
		return -EIO;
	if (fault_hit(m, FAULT_CMD_ERROR, code, &arg))
		return arg && arg < 4096 ? -(int)arg : -EIO;
	return command->run(m, req, resp);
}

static uint32_t execute(struct model *m, const struct command *command,
			const union request *req)
{
	uint32_t code = req->hdr.code;
	union response resp = { 0 };
	uint64_t arg = 0;
	bool drop;
	int err;

	drop = command->response && fault_hit(m, FAULT_CMD_DROP, code, &arg);
	err = drop && !arg ? 0 : run(m, command, req, &resp);
	if (err == -EINPROGRESS) {
		m->pending.hdr = req->hdr;
		m->pending.drop = drop;
		return 0;
	}
	if (err) {
		log_failure(m, code, err);
		return (uint32_t)-err;
	}
	if (!drop)
		respond(m, &req->hdr, &resp);
	return 0;
}

uint32_t command_run(struct model *m)
{
	const struct command *command;
	union request req;
	uint32_t err;

	if (!m->active)
		return ENODEV;
	m->generation++;
	command_abandon(m);
	memcpy(&req, m->cmd, sizeof(req));
	m->late.size = 0;
	journal_begin(m->journal, &req, req.hdr.code);
	command = req.hdr.code < N_COMMANDS ? &commands[req.hdr.code] : NULL;
	if (command && command->run) {
		err = execute(m, command, &req);
	} else {
		model_log(m, "unknown command %u", req.hdr.code);
		err = EOPNOTSUPP;
	}
	if (err)
		journal_end(m->journal, err, NULL, 0);
	return err;
}
