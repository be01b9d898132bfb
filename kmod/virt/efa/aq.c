// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command ring and completion ring (hw 3): fetches commands, dispatches them to
 * their functions and completes them in order.
 */
#include <linux/crc16.h>
#include <linux/log2.h>
#include <linux/random.h>

#include "efv.h"

#define MAX_DEPTH	4096

static const struct {
	const char *name;
	efv_cmd_fn *fn;
} commands[] = {
	[EFA_CMD_CREATE_QP]	= { "CREATE_QP", efv_cmd_create_qp },
	[EFA_CMD_MODIFY_QP]	= { "MODIFY_QP", efv_cmd_modify_qp },
	[EFA_CMD_QUERY_QP]	= { "QUERY_QP", efv_cmd_query_qp },
	[EFA_CMD_DESTROY_QP]	= { "DESTROY_QP", efv_cmd_destroy_qp },
	[EFA_CMD_CREATE_AH]	= { "CREATE_AH", efv_cmd_create_ah },
	[EFA_CMD_DESTROY_AH]	= { "DESTROY_AH", efv_cmd_destroy_ah },
	[EFA_CMD_REG_MR]	= { "REG_MR", efv_cmd_reg_mr },
	[EFA_CMD_DEREG_MR]	= { "DEREG_MR", efv_cmd_dereg_mr },
	[EFA_CMD_CREATE_CQ]	= { "CREATE_CQ", efv_cmd_create_cq },
	[EFA_CMD_DESTROY_CQ]	= { "DESTROY_CQ", efv_cmd_destroy_cq },
	[EFA_CMD_GET_FEATURE]	= { "GET_FEATURE", efv_cmd_get_feature },
	[EFA_CMD_SET_FEATURE]	= { "SET_FEATURE", efv_cmd_set_feature },
	[EFA_CMD_GET_STATS]	= { "GET_STATS", efv_cmd_get_stats },
	[EFA_CMD_ALLOC_PD]	= { "ALLOC_PD", efv_cmd_alloc_pd },
	[EFA_CMD_DEALLOC_PD]	= { "DEALLOC_PD", efv_cmd_dealloc_pd },
	[EFA_CMD_ALLOC_UAR]	= { "ALLOC_UAR", efv_cmd_alloc_uar },
	[EFA_CMD_DEALLOC_UAR]	= { "DEALLOC_UAR", efv_cmd_dealloc_uar },
	[EFA_CMD_CREATE_EQ]	= { "CREATE_EQ", efv_cmd_create_eq },
	[EFA_CMD_DESTROY_EQ]	= { "DESTROY_EQ", efv_cmd_destroy_eq },
};

static u64 base(struct efv_adapter *ad, u32 lo, u32 hi)
{
	return (u64)efv_reg_read(ad, hi) << 32 | efv_reg_read(ad, lo);
}

/**
 * efv_aq_init() - latch the registers of the rings
 * @ad: adapter without rings
 *
 * Context: may sleep, the model's turn.
 * Return: 0, or the reason why the device does not start.
 */
int efv_aq_init(struct efv_adapter *ad)
{
	struct efv_aq *q = &ad->aq;
	u32 caps = efv_reg_read(ad, EFA_REG_AQ_CAPS);
	u32 cq_caps = efv_reg_read(ad, EFA_REG_ACQ_CAPS);
	int ret;

	memset(q, 0, sizeof(*q));
	q->deaf = EFV_NOT_DEAF;
	q->depth = FIELD_GET(EFA_AQ_CAPS_DEPTH, caps);
	if (!is_power_of_2(q->depth) || q->depth > MAX_DEPTH ||
	    FIELD_GET(EFA_RING_CAPS_DEPTH, cq_caps) != q->depth ||
	    FIELD_GET(EFA_AQ_CAPS_ENTRY, caps) != EFA_AQE_SIZE ||
	    FIELD_GET(EFA_RING_CAPS_ENTRY, cq_caps) != EFA_AQE_SIZE ||
	    efv_reg_read(ad, EFA_REG_AQ_BASE_LO) % EFA_AQE_SIZE ||
	    efv_reg_read(ad, EFA_REG_ACQ_BASE_LO) % EFA_AQE_SIZE)
		return -EINVAL;
	ret = vdev_buf_map(&ad->vdev, &q->sq, base(ad, EFA_REG_AQ_BASE_LO, EFA_REG_AQ_BASE_HI),
			   q->depth * EFA_AQE_SIZE, GFP_KERNEL);
	if (!ret)
		ret = vdev_buf_map(&ad->vdev, &q->cq,
				   base(ad, EFA_REG_ACQ_BASE_LO, EFA_REG_ACQ_BASE_HI),
				   q->depth * EFA_AQE_SIZE, GFP_KERNEL);
	if (!ret)
		ret = efv_aenq_init(ad);
	if (ret)
		efv_aq_exit(ad);
	return ret;
}

/**
 * efv_aq_exit() - release the rings
 * @ad: adapter
 *
 * Context: the model's turn.
 */
void efv_aq_exit(struct efv_adapter *ad)
{
	efv_aenq_exit(ad);
	vdev_buf_unmap(&ad->aq.sq);
	vdev_buf_unmap(&ad->aq.cq);
	ad->aq.holding = false;
	ad->mgmt_pending = false;
}

static void write_entry(struct efv_adapter *ad, struct efa_acqe *acqe)
{
	struct efv_aq *q = &ad->aq;
	void *to = vdev_buf_at(&q->cq, (q->cq_pi & (q->depth - 1)) * EFA_AQE_SIZE);

	acqe->hdr.flags = efv_phase(q->cq_pi, q->depth);
	if (ad->params.version >= EFA_VERSION_CHECKSUM) {
		acqe->hdr.checksum = 0;
		acqe->hdr.checksum = cpu_to_le16(~crc16(EFA_CHECKSUM_SEED, (u8 *)acqe,
							sizeof(*acqe)));
	} else {
		acqe->hdr.sq_head = cpu_to_le16(q->ci);
	}
	if (!vdev_dma_begin(&ad->vdev))
		return;
	memcpy(to + sizeof(u32), (void *)acqe + sizeof(u32), sizeof(*acqe) - sizeof(u32));
	/* This word contains the phase; pairs with the driver's read. */
	smp_store_release((u32 *)to, *(u32 *)acqe);
	vdev_dma_end(&ad->vdev);
	q->cq_pi++;
}

static void finish(struct efv_adapter *ad, struct efa_acqe *acqe, u8 opcode)
{
	atomic64_inc(&ad->vdev.counters.commands);
	if (acqe->hdr.status)
		atomic64_inc(&ad->vdev.counters.command_errors);
	write_entry(ad, acqe);
	if (efv_fault_hit(ad, EFV_FAULT_CMD_DUPLICATE, opcode, NULL))
		write_entry(ad, acqe);
	efv_mgmt_raise(ad);
}

static enum efa_status execute(struct efv_adapter *ad, const struct efa_aqe *aqe,
			       struct efa_acqe *acqe)
{
	u8 opcode = aqe->hdr.opcode;
	enum efa_status status;
	const char *name = "?";

	if (opcode < ARRAY_SIZE(commands) && commands[opcode].fn) {
		name = commands[opcode].name;
		down_write(&efv_fabric);
		status = commands[opcode].fn(ad, aqe, acqe);
		up_write(&efv_fabric);
	} else {
		status = EFA_ST_UNSUPPORTED;
	}
	if (status) {
		memset(acqe->resp, 0, sizeof(acqe->resp));
		efv_log(ad, ERRORS, "command %u %s: status %u\n", opcode, name, status);
	} else {
		efv_log(ad, COMMANDS, "command %s\n", name);
	}
	return status;
}

/*
 * Returns true if a command is a query: garbage in responses to other commands would create bogus
 * objects.
 */
static bool is_query(u8 opcode)
{
	return opcode == EFA_CMD_QUERY_QP || opcode == EFA_CMD_GET_FEATURE ||
	       opcode == EFA_CMD_GET_STATS;
}

/* Delays the completion of a command; later commands also wait. */
static void hold(struct efv_adapter *ad, const struct efa_acqe *acqe, u8 opcode, u64 us)
{
	struct efv_aq *q = &ad->aq;

	q->holding = true;
	q->held_until = ktime_add_us(ktime_get(), us);
	q->held_opcode = opcode;
	q->held = *acqe;
}

static void run(struct efv_adapter *ad, const struct efa_aqe *aqe)
{
	u8 opcode = aqe->hdr.opcode;
	struct efa_acqe acqe = {};
	u64 arg;

	if (efv_fault_hit(ad, EFV_FAULT_CMD_DROP, opcode, &arg)) {
		if (arg)
			execute(ad, aqe, &acqe);
		return;
	}
	if (efv_fault_hit(ad, EFV_FAULT_CMD_ERROR, opcode, &arg))
		acqe.hdr.status = arg;
	else
		acqe.hdr.status = execute(ad, aqe, &acqe);
	acqe.hdr.id = aqe->hdr.id & cpu_to_le16(EFA_AQ_ID_CMD_ID);
	if (!acqe.hdr.status && is_query(opcode) &&
	    efv_fault_hit(ad, EFV_FAULT_ANSWER_GARBAGE, opcode, NULL))
		get_random_bytes(acqe.resp, sizeof(acqe.resp));
	if (efv_fault_hit(ad, EFV_FAULT_CMD_DELAY, opcode, &arg))
		hold(ad, &acqe, opcode, arg * USEC_PER_MSEC);
	else if (efv_fault_hit(ad, EFV_FAULT_CMD_SLOW, opcode, &arg))
		hold(ad, &acqe, opcode, vdev_fault_latency(arg));
	else
		finish(ad, &acqe, opcode);
}

/* Records the number of posted commands; an invalid doorbell is ignored. */
static void read_doorbell(struct efv_adapter *ad)
{
	struct efv_aq *q = &ad->aq;
	u16 pi = efv_reg_read(ad, EFA_REG_AQ_PROD_DB);

	if (pi == q->pi || (u16)(pi - q->ci) > q->depth || pi == q->deaf)
		return;
	q->deaf = EFV_NOT_DEAF;
	if (efv_fault_hit(ad, EFV_FAULT_CMD_DB_LOST, -1, NULL))
		q->deaf = pi;
	else
		q->pi = pi;
}

/**
 * efv_aq_poll() - serve the command ring
 * @ad: running adapter
 *
 * Context: may sleep, the model's turn.
 * Return: true if there was any work.
 */
bool efv_aq_poll(struct efv_adapter *ad)
{
	struct efv_aq *q = &ad->aq;
	struct efa_aqe aqe;
	bool busy = false;
	unsigned int n;

	if (q->holding) {
		if (ktime_before(ktime_get(), q->held_until))
			return false;
		q->holding = false;
		finish(ad, &q->held, q->held_opcode);
		busy = true;
	}
	read_doorbell(ad);
	for (n = 0; n < q->depth && q->ci != q->pi && !q->holding; n++) {
		/* Pairs with the driver's write barrier before its doorbell. */
		smp_rmb();
		if (!vdev_dma_begin(&ad->vdev))
			break;
		memcpy(&aqe, vdev_buf_at(&q->sq, (q->ci & (q->depth - 1)) * EFA_AQE_SIZE),
		       sizeof(aqe));
		vdev_dma_end(&ad->vdev);
		q->ci++;
		busy = true;
		run(ad, &aqe);
	}
	return busy;
}
