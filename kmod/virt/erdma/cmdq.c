// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command queue (hw 3): fetches commands, dispatches them to their functions
 * and completes them in order.
 */
#include <linux/bitfield.h>
#include <linux/log2.h>

#include "ev.h"

/* Maximum number of commands per poll of the doorbell, so that all other work is also served. */
#define COMMANDS_PER_POLL	32

#define MAX_DEPTH		32768

/* Value of the SQ doorbell register after it was consumed: 0 would be a valid doorbell. */
#define NO_DOORBELL		(~0ULL)

struct cmd_desc {
	const char *name;
	ev_cmd_fn *fn;
	u32 len;			/* minimum slot size in bytes */
	bool atomic;			/* neither sleeps nor needs ev_fabric */
	bool ends;			/* destroys an object or stops it */
};

#define CMD(op, func, len) \
	[ERDMA_CMD_##op] = { #op, ev_cmd_##func, len }
#define CMD_END(op, func, len) \
	[ERDMA_CMD_##op] = { #op, ev_cmd_##func, len, .ends = true }
#define ATOMIC_CMD(op, func, len) \
	[ERDMA_CMD_##op] = { #op, ev_cmd_##func, len, .atomic = true }
#define ATOMIC_CMD_END(op, func, len) \
	[ERDMA_CMD_##op] = { #op, ev_cmd_##func, len, .atomic = true, .ends = true }

/* The parts of CREATE_QP and REG_MR that do not fit into every slot are optional. */
#define CREATE_QP_LEN	offsetof(struct erdma_cmd_create_qp, sq_inline_mtt)
#define REG_MR_LEN	offsetof(struct erdma_cmd_reg_mr, phy_addr)

static const struct cmd_desc rdma_cmds[] = {
	ATOMIC_CMD(QUERY_DEVICE, query_device, sizeof(__le64)),
	CMD(CREATE_QP, create_qp, CREATE_QP_LEN),
	CMD_END(DESTROY_QP, destroy_qp, sizeof(struct erdma_cmd_destroy_qp)),
	CMD_END(MODIFY_QP, modify_qp, sizeof(struct erdma_cmd_modify_qp)),
	CMD(CREATE_CQ, create_cq, sizeof(struct erdma_cmd_create_cq)),
	CMD_END(DESTROY_CQ, destroy_cq, sizeof(struct erdma_cmd_destroy_cq)),
	CMD(REFLUSH, reflush, sizeof(struct erdma_cmd_reflush)),
	CMD(REG_MR, reg_mr, REG_MR_LEN),
	CMD_END(DEREG_MR, dereg_mr, sizeof(struct erdma_cmd_dereg_mr)),
	CMD(QUERY_QPC, query_qpc, sizeof(struct erdma_cmd_query)),
	CMD(QUERY_CQC, query_cqc, sizeof(struct erdma_cmd_query)),
};

static const struct cmd_desc common_cmds[] = {
	ATOMIC_CMD(CREATE_EQ, create_eq, sizeof(struct erdma_cmd_create_eq)),
	ATOMIC_CMD_END(DESTROY_EQ, destroy_eq, sizeof(struct erdma_cmd_destroy_eq)),
	ATOMIC_CMD(QUERY_FW_INFO, query_fw_info, sizeof(__le64)),
	CMD(CONF_MTU, conf_mtu, sizeof(struct erdma_cmd_conf_mtu)),
	CMD(GET_STATS, get_stats, sizeof(struct erdma_cmd_query)),
	CMD(CONF_DEVICE, conf_device, sizeof(struct erdma_cmd_conf_device)),
	CMD(QUERY_EQC, query_eqc, sizeof(struct erdma_cmd_query)),
	CMD(SET_RETRANS_NUM, set_retrans_num,
	    sizeof(struct erdma_cmd_set_retrans_num)),
	CMD(ALLOC_DB, alloc_db, sizeof(struct erdma_cmd_db)),
	CMD_END(FREE_DB, free_db, sizeof(struct erdma_cmd_db)),
	CMD(SET_EXT_ATTR, set_ext_attr, sizeof(struct erdma_cmd_set_ext_attr)),
	CMD(GET_EXT_ATTR, get_ext_attr, sizeof(struct erdma_cmd_query)),
};

static const struct cmd_desc *find(const struct ev_cmd *cmd)
{
	const struct cmd_desc *desc;

	if (cmd->sub_mod == ERDMA_SUB_RDMA &&
	    cmd->opcode < ARRAY_SIZE(rdma_cmds))
		desc = &rdma_cmds[cmd->opcode];
	else if (cmd->sub_mod == ERDMA_SUB_COMMON &&
		 cmd->opcode < ARRAY_SIZE(common_cmds))
		desc = &common_cmds[cmd->opcode];
	else
		return NULL;
	return desc->fn ? desc : NULL;
}

static u64 reg_addr(struct ev_adapter *ad, u32 low, u32 high)
{
	return (u64)ev_reg_read(ad, high) << 32 | ev_reg_read(ad, low);
}

/**
 * ev_cmdq_init() - latch the command queue's registers (hw 2.2)
 * @ad: adapter without a command queue
 *
 * Context: may sleep, @ad->lock held.
 * Return: 0, or the reason why the device refuses to start.
 */
int ev_cmdq_init(struct ev_adapter *ad)
{
	struct ev_cmdq *q = &ad->cmdq;
	u64 eq_addr;
	int ret;

	memset(q, 0, sizeof(*q));
	q->depth = ev_reg_read(ad, ERDMA_REG_CMDQ_DEPTH);
	q->sq_addr = reg_addr(ad, ERDMA_REG_CMDQ_SQ_ADDR_L,
			      ERDMA_REG_CMDQ_SQ_ADDR_H);
	q->cq_addr = reg_addr(ad, ERDMA_REG_CMDQ_CQ_ADDR_L,
			      ERDMA_REG_CMDQ_CQ_ADDR_H);
	q->sq_dbrec_addr = ev_reg_read64(ad, ERDMA_REG_CMDQ_SQ_DBREC);
	q->cq_dbrec_addr = ev_reg_read64(ad, ERDMA_REG_CMDQ_CQ_DBREC);
	if (!is_power_of_2(q->depth) || q->depth > MAX_DEPTH ||
	    q->sq_addr % ERDMA_WQEBB_SIZE || q->cq_addr % ERDMA_CQE_SIZE)
		return -EINVAL;
	q->sq_dbrec = vdev_dma_record(&ad->vdev, q->sq_dbrec_addr);
	q->cq_dbrec = vdev_dma_record(&ad->vdev, q->cq_dbrec_addr);
	if (!q->sq_dbrec || !q->cq_dbrec)
		return -EFAULT;

	ret = vdev_buf_map(&ad->vdev, &q->sq, q->sq_addr,
			   (u64)q->depth * ERDMA_WQEBB_SIZE, GFP_KERNEL);
	if (!ret)
		ret = vdev_buf_map(&ad->vdev, &q->cq, q->cq_addr,
				   (u64)q->depth * ERDMA_CQE_SIZE, GFP_KERNEL);
	if (!ret) {
		eq_addr = reg_addr(ad, ERDMA_REG_CMDQ_EQ_ADDR_L,
				   ERDMA_REG_CMDQ_EQ_ADDR_H);
		ret = ev_eq_init(ad, &ad->eq[ERDMA_EQN_CMDQ], eq_addr,
				 ev_reg_read(ad, ERDMA_REG_CMDQ_EQ_DEPTH),
				 ev_reg_read64(ad, ERDMA_REG_CMDQ_EQ_DBREC),
				 ERDMA_COMMON_VECTOR,
				 ERDMA_REG_CEQ_DB(ERDMA_EQN_CMDQ));
	}
	if (ret)
		ev_cmdq_exit(ad);
	return ret;
}

/**
 * ev_cmdq_reset() - clear doorbells, which would otherwise replay old commands
 * @ad: adapter
 */
void ev_cmdq_reset(struct ev_adapter *ad)
{
	ev_reg_write64(ad, ERDMA_REG_CMDQ_SQ_DB, NO_DOORBELL);
	ev_reg_write64(ad, ERDMA_REG_CMDQ_CQ_DB, 0);
}

/**
 * ev_cmdq_exit() - release the command queue
 * @ad: adapter
 *
 * Context: @ad->lock held.
 */
void ev_cmdq_exit(struct ev_adapter *ad)
{
	ev_eq_exit(&ad->eq[ERDMA_EQN_CMDQ]);
	vdev_buf_unmap(&ad->cmdq.sq);
	vdev_buf_unmap(&ad->cmdq.cq);
	ad->cmdq.holding = false;
}

static void write_cqe(struct ev_adapter *ad, const struct ev_cmd *cmd)
{
	struct ev_cmdq *q = &ad->cmdq;
	struct erdma_cqe *cqe;
	u32 hdr, i;

	cqe = vdev_buf_at(&q->cq, (q->cq_pi & (q->depth - 1)) * ERDMA_CQE_SIZE);
	hdr = FIELD_PREP(ERDMA_CQE_OPCODE, cmd->opcode) |
	      FIELD_PREP(ERDMA_CQE_QTYPE, ERDMA_CQE_QTYPE_CMDQ) |
	      FIELD_PREP(ERDMA_CQE_SYNDROME, cmd->syndrome);
	if (!(q->cq_pi & q->depth))
		hdr |= ERDMA_CQE_OWNER;
	if (!vdev_dma_begin(&ad->vdev))
		return;
	cqe->qe_idx = cpu_to_be32(cmd->index);
	for (i = 0; i < ARRAY_SIZE(cmd->resp); i++) {
		cqe->resp[2 * i] = cpu_to_be32(lower_32_bits(cmd->resp[i]));
		cqe->resp[2 * i + 1] = cpu_to_be32(upper_32_bits(cmd->resp[i]));
	}
	/* The owner bit makes the entry valid; pairs with the driver's read. */
	smp_store_release(&cqe->hdr, cpu_to_be32(hdr));
	vdev_dma_end(&ad->vdev);
	q->cq_pi++;
	q->last = cmd->index;
}

/*
 * Sends one event per arm, and only if there is a completion that the driver has not seen: after an
 * event without a new completion, the driver would not arm again (hw 3.7).
 */
static void raise_event(struct ev_adapter *ad)
{
	struct ev_cmdq *q = &ad->cmdq;
	u32 ahead = (q->cq_pi - q->arm_ci) & ERDMA_CQ_DB_CI;

	if (!q->armed || !ahead || ahead > q->depth)
		return;
	q->armed = false;
	ev_eq_post(ad, &ad->eq[ERDMA_EQN_CMDQ],
		   FIELD_PREP(ERDMA_CEQE_PI, q->cq_pi), 0);
}

static void finish(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	s64 target = cmd->sub_mod << 8 | cmd->opcode;

	atomic64_inc(&ad->vdev.counters.commands);
	if (cmd->syndrome)
		atomic64_inc(&ad->vdev.counters.command_errors);
	write_cqe(ad, cmd);
	if (ev_fault_hit(ad, EV_FAULT_CMD_DUPLICATE, target, NULL))
		write_cqe(ad, cmd);
	raise_event(ad);
}

static void execute(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct cmd_desc *desc = find(cmd);

	if (!desc)
		cmd->syndrome = EV_UNKNOWN;
	else if (cmd->len < desc->len)
		cmd->syndrome = EV_SHORT;
	else if (READ_ONCE(ad->stale) && desc->ends)
		return;
	if (cmd->syndrome == EV_OK && desc->atomic) {
		cmd->syndrome = desc->fn(ad, cmd);
	} else if (cmd->syndrome == EV_OK) {
		down_write(&ev_fabric);
		cmd->syndrome = desc->fn(ad, cmd);
		up_write(&ev_fabric);
	}
	if (cmd->syndrome)
		ev_log(ad, ERRORS, "command %u/%u %s: syndrome %u\n",
		       cmd->sub_mod, cmd->opcode, desc ? desc->name : "?",
		       cmd->syndrome);
	else
		ev_log(ad, COMMANDS, "command %s\n", desc->name);
}

/* Delays the completion of a command, and all later completions. */
static void hold(struct ev_adapter *ad, const struct ev_cmd *cmd, u64 us)
{
	ad->cmdq.holding = true;
	ad->cmdq.held_until = ktime_add_us(ktime_get(), us);
	ad->cmdq.held = *cmd;
}

static void run(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	s64 target = cmd->sub_mod << 8 | cmd->opcode;
	u64 arg;

	if (ev_fault_hit(ad, EV_FAULT_CMD_DROP, target, &arg)) {
		if (arg)
			execute(ad, cmd);
		return;
	}
	if (ev_fault_hit(ad, EV_FAULT_CMD_ERROR, target, &arg))
		cmd->syndrome = arg;
	else
		execute(ad, cmd);
	if (ev_fault_hit(ad, EV_FAULT_CMD_DELAY, target, &arg))
		hold(ad, cmd, arg * USEC_PER_MSEC);
	else if (ev_fault_hit(ad, EV_FAULT_CMD_SLOW, target, &arg))
		hold(ad, cmd, vdev_fault_latency(arg));
	else
		finish(ad, cmd);
}

/*
 * Copies the next command. A slot whose size or index contradicts the doorbell is not a valid
 * command, but still needs a completion; otherwise the queue would hang. Returns false if memory
 * must not be accessed.
 */
static bool fetch(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	struct ev_cmdq *q = &ad->cmdq;
	u16 avail = q->sq_pi - q->ci, count;
	u64 hdr;
	u32 i;

	memset(cmd, 0, sizeof(*cmd));
	cmd->index = q->ci;
	if (!vdev_dma_begin(&ad->vdev))
		return false;
	for (i = 0; i < sizeof(cmd->req) / ERDMA_WQEBB_SIZE && i < avail; i++)
		memcpy(cmd->req + i * ERDMA_WQEBB_SIZE,
		       vdev_buf_at(&q->sq, ((q->ci + i) & (q->depth - 1)) *
				 ERDMA_WQEBB_SIZE), ERDMA_WQEBB_SIZE);
	vdev_dma_end(&ad->vdev);
	hdr = le64_to_cpu(cmd->hdr);
	cmd->sub_mod = FIELD_GET(ERDMA_CMD_HDR_SUB_MOD, hdr);
	cmd->opcode = FIELD_GET(ERDMA_CMD_HDR_OPCODE, hdr);
	count = FIELD_GET(ERDMA_CMD_HDR_WQEBB_CNT, hdr) + 1;
	if (count > avail) {
		count = avail;
		cmd->syndrome = EV_SHORT;
	}
	cmd->len = min_t(u32, count * ERDMA_WQEBB_SIZE, sizeof(cmd->req));
	q->ci += count;
	if (FIELD_GET(ERDMA_CMD_HDR_WQEBB_INDEX, hdr) != q->ci)
		cmd->syndrome = EV_BAD_INDEX;
	return true;
}

static bool poll_cq_doorbell(struct ev_adapter *ad)
{
	struct ev_cmdq *q = &ad->cmdq;
	u64 db = ev_reg_read64(ad, ERDMA_REG_CMDQ_CQ_DB);

	if (!db)
		return false;
	/* See poll_sq_doorbell(). */
	smp_rmb();
	if (!vdev_may_access(&ad->vdev))
		return false;
	ev_reg_cmpxchg64(ad, ERDMA_REG_CMDQ_CQ_DB, db, 0);
	atomic64_inc(&ad->vdev.counters.doorbells);
	if (vdev_dma_peek(&ad->vdev, q->cq_dbrec) != db)
		return true;
	if (db & ERDMA_CQ_DB_ARM &&
	    !ev_fault_hit(ad, EV_FAULT_CMD_ARM_LOST, -1, NULL)) {
		q->arm_db = db;
		q->arm_ci = FIELD_GET(ERDMA_CQ_DB_CI, db);
		q->armed = true;
		/* Completions may have arrived between poll and arm. */
		raise_event(ad);
	}
	return true;
}

static bool poll_sq_doorbell(struct ev_adapter *ad)
{
	struct ev_cmdq *q = &ad->cmdq;
	u64 db = ev_reg_read64(ad, ERDMA_REG_CMDQ_SQ_DB);
	u16 pi = FIELD_GET(ERDMA_CMDQ_SQ_DB_PI, db);
	u16 record;

	if (db == NO_DOORBELL)
		return false;
	/*
	 * After INIT without RESET, the driver mistakes the old INIT_DONE for the new one and
	 * continues, so its doorbell is kept until INIT is done. Pairs with the order of the
	 * driver's MMIO writes.
	 */
	smp_rmb();
	if (!vdev_may_access(&ad->vdev))
		return false;
	ev_reg_cmpxchg64(ad, ERDMA_REG_CMDQ_SQ_DB, db, NO_DOORBELL);
	if (pi == q->sq_pi || ev_fault_hit(ad, EV_FAULT_CMD_DB_LOST, -1, NULL))
		return false;
	/*
	 * A stale doorbell from before INIT does not match the new doorbell record: the driver
	 * writes the record before it rings the doorbell.
	 */
	record = FIELD_GET(ERDMA_CMDQ_SQ_DB_PI, vdev_dma_peek(&ad->vdev, q->sq_dbrec));
	if ((u16)(pi - q->ci) > q->depth ||
	    (u16)(record - q->ci) < (u16)(pi - q->ci)) {
		ev_log(ad, ERRORS, "command doorbell %u ignored at %u\n",
		       pi, q->ci);
		return false;
	}
	q->sq_pi = pi;
	atomic64_inc(&ad->vdev.counters.doorbells);
	return true;
}

static bool is_atomic(const struct ev_cmd *cmd)
{
	const struct cmd_desc *desc = find(cmd);

	return !desc || desc->atomic;
}

/**
 * ev_cmdq_poll() - serve the command queue
 * @ad: running adapter
 * @atomic: postpone a command that may sleep, and all later commands
 *
 * Context: the model's turn, see vdev_trylock(); may sleep unless @atomic.
 * Return: true if there was any work.
 */
bool ev_cmdq_poll(struct ev_adapter *ad, bool atomic)
{
	struct ev_cmdq *q = &ad->cmdq;
	bool busy = poll_cq_doorbell(ad);
	struct ev_cmd cmd;
	unsigned int n;
	u16 ci;

	if (q->holding) {
		if (ktime_before(ktime_get(), q->held_until))
			return busy;
		q->holding = false;
		finish(ad, &q->held);
		busy = true;
	}
	busy |= poll_sq_doorbell(ad);
	for (n = 0; n < COMMANDS_PER_POLL && q->ci != q->sq_pi; n++) {
		busy = true;
		/* Pairs with the driver's write barrier before its doorbell. */
		smp_rmb();
		ci = q->ci;
		if (!fetch(ad, &cmd))
			break;
		if (atomic && !is_atomic(&cmd)) {
			q->ci = ci;
			break;
		}
		if (cmd.syndrome)
			finish(ad, &cmd);
		else
			run(ad, &cmd);
		if (q->holding)
			break;
	}
	return busy;
}
