// SPDX-License-Identifier: GPL-2.0-only
/* States of queue pairs (hw 4.3, 4.4, 7.2). */

#include <linux/nospec.h>

#include "efa.h"

#define MODIFIABLE	(IB_QP_STATE | IB_QP_CUR_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY |	\
			 IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY | IB_QP_SQ_PSN |	\
			 IB_QP_RNR_RETRY)
#define QUERYABLE	(IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY |	\
			 IB_QP_SQ_PSN | IB_QP_CAP | IB_QP_RNR_RETRY)

/*
 * Required and allowed attributes of a state change of an SRD QP; for UD QPs, the RDMA core checks
 * them.
 */
struct step {
	bool valid;
	int required;
	int optional;
};

static const struct step srd_steps[IB_QPS_ERR + 1][IB_QPS_ERR + 1] = {
	[IB_QPS_RESET] = {
		[IB_QPS_RESET]	= { true },
		[IB_QPS_INIT]	= { true, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY },
	},
	[IB_QPS_INIT] = {
		[IB_QPS_RESET]	= { true },
		[IB_QPS_ERR]	= { true },
		[IB_QPS_INIT]	= { true, 0, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY },
		[IB_QPS_RTR]	= { true, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY },
	},
	[IB_QPS_RTR] = {
		[IB_QPS_RESET]	= { true },
		[IB_QPS_ERR]	= { true },
		[IB_QPS_RTS]	= { true, IB_QP_SQ_PSN,
				    IB_QP_CUR_STATE | IB_QP_QKEY | IB_QP_RNR_RETRY },
	},
	[IB_QPS_RTS] = {
		[IB_QPS_RESET]	= { true },
		[IB_QPS_ERR]	= { true },
		[IB_QPS_RTS]	= { true, 0, IB_QP_CUR_STATE | IB_QP_QKEY },
		[IB_QPS_SQD]	= { true, 0, IB_QP_EN_SQD_ASYNC_NOTIFY },
	},
	[IB_QPS_SQD] = {
		[IB_QPS_RESET]	= { true },
		[IB_QPS_ERR]	= { true },
		[IB_QPS_RTS]	= { true, 0, IB_QP_CUR_STATE | IB_QP_QKEY },
		[IB_QPS_SQD]	= { true, 0, IB_QP_PKEY_INDEX | IB_QP_QKEY },
	},
	[IB_QPS_SQE] = {
		[IB_QPS_RESET]	= { true },
		[IB_QPS_ERR]	= { true },
		[IB_QPS_RTS]	= { true, 0, IB_QP_CUR_STATE | IB_QP_QKEY },
	},
	[IB_QPS_ERR] = {
		[IB_QPS_RESET]	= { true },
		[IB_QPS_ERR]	= { true },
	},
};

static const u8 states[] = {
	[IB_QPS_RESET]	= EFA_QPS_RESET,
	[IB_QPS_INIT]	= EFA_QPS_INIT,
	[IB_QPS_RTR]	= EFA_QPS_RTR,
	[IB_QPS_RTS]	= EFA_QPS_RTS,
	[IB_QPS_SQD]	= EFA_QPS_SQD,
	[IB_QPS_SQE]	= EFA_QPS_SQE,
	[IB_QPS_ERR]	= EFA_QPS_ERR,
};

static bool srd_step_is_ok(enum ib_qp_state from, enum ib_qp_state to, int mask)
{
	const struct step *step;

	if (to > IB_QPS_ERR)
		return false;
	step = &srd_steps[from][array_index_nospec(to, IB_QPS_ERR + 1)];
	return step->valid && (mask & step->required) == step->required &&
	       !(mask & ~(step->required | step->optional | IB_QP_STATE));
}

static bool is_running(enum ib_qp_state state)
{
	return state == IB_QPS_RTR || state == IB_QPS_RTS || state == IB_QPS_SQD ||
	       state == IB_QPS_SQE;
}

static int check_modify(const struct efa_qp *qp, const struct ib_qp_attr *attr, int mask,
			enum ib_qp_state from, enum ib_qp_state to)
{
	if (mask & ~MODIFIABLE)
		return -EOPNOTSUPP;
	if (mask & IB_QP_CUR_STATE && !is_running(attr->cur_qp_state))
		return -EINVAL;
	if (qp->type == EFA_QPT_SRD ? !srd_step_is_ok(from, to, mask) :
				      !ib_modify_qp_is_ok(from, to, IB_QPT_UD, mask))
		return -EINVAL;
	if ((mask & IB_QP_PORT && attr->port_num != EFA_PORT) ||
	    (mask & IB_QP_PKEY_INDEX && attr->pkey_index))
		return -EOPNOTSUPP;
	if (mask & IB_QP_RNR_RETRY && attr->rnr_retry > EFA_RNR_RETRY_INFINITE)
		return -EINVAL;
	return 0;
}

static void fill_modify(struct efa_cmd_modify_qp *req, const struct ib_qp_attr *attr, int mask,
			enum ib_qp_state from, enum ib_qp_state to)
{
	u32 what = 0;

	if (mask & IB_QP_STATE) {
		what |= EFA_MODIFY_STATE | EFA_MODIFY_CUR_STATE;
		req->state = cpu_to_le32(states[to]);
		req->cur_state = cpu_to_le32(states[from]);
	}
	if (mask & IB_QP_QKEY) {
		what |= EFA_MODIFY_QKEY;
		req->qkey = cpu_to_le32(attr->qkey);
	}
	if (mask & IB_QP_SQ_PSN) {
		what |= EFA_MODIFY_SQ_PSN;
		req->sq_psn = cpu_to_le32(attr->sq_psn);
	}
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY) {
		what |= EFA_MODIFY_SQ_DRAINED;
		req->sq_drained = !!attr->en_sqd_async_notify;
	}
	if (mask & IB_QP_RNR_RETRY) {
		what |= EFA_MODIFY_RNR_RETRY;
		req->rnr_retry = attr->rnr_retry;
	}
	req->mask = cpu_to_le32(what);
}

static void note_modify(struct efa_qp *qp, const struct ib_qp_attr *attr, int mask,
			enum ib_qp_state to)
{
	lockdep_assert_held(&qp->state_lock);
	if (qp->state != to)
		WRITE_ONCE(qp->state_since, local_clock());
	WRITE_ONCE(qp->state, to);
	if (mask & IB_QP_QKEY)
		WRITE_ONCE(qp->qkey, attr->qkey);
	if (mask & IB_QP_SQ_PSN)
		WRITE_ONCE(qp->psn, attr->sq_psn);
	if (mask & IB_QP_RNR_RETRY)
		WRITE_ONCE(qp->rnr_retry, attr->rnr_retry);
}

/* Names of verbs states; callers may pass any number. */
static const char *name(enum ib_qp_state state)
{
	static const char *const names[] = {
		[IB_QPS_RESET]	= "reset",
		[IB_QPS_INIT]	= "init",
		[IB_QPS_RTR]	= "rtr",
		[IB_QPS_RTS]	= "rts",
		[IB_QPS_SQD]	= "sqd",
		[IB_QPS_SQE]	= "sqe",
		[IB_QPS_ERR]	= "err",
	};

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}

static int modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct efa_dev *dev = to_efa_dev(ibqp->device);
	struct efa_cmd_modify_qp req = {};
	struct efa_qp *qp = to_efa_qp(ibqp);
	enum ib_qp_state from, to;
	int ret;

	ret = eadm_udata_read(udata, NULL, 0, 0);
	if (ret)
		return ret;
	mutex_lock(&qp->state_lock);
	from = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	to = mask & IB_QP_STATE ? attr->qp_state : from;
	ret = check_modify(qp, attr, mask, from, to);
	if (!ret) {
		fill_modify(&req, attr, mask, from, to);
		ret = efa_cmd_modify_qp(dev, qp, &req);
	}
	if (!ret)
		note_modify(qp, attr, mask, to);
	mutex_unlock(&qp->state_lock);
	efa_debug(dev, qp, "QP %u: %s to %s, mask %#x: %d\n", qp->qpn, name(from), name(to), mask,
		  ret);
	return ret;
}

static enum ib_qp_state ib_state(u32 raw)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(states); i++)
		if (states[i] == raw)
			return i;
	return IB_QPS_ERR;
}

/* Queries the adapter; a QP that the adapter has lost is in the error state. */
static int ask(struct efa_dev *dev, const struct efa_qp *qp, struct ib_qp_attr *attr)
{
	struct efa_resp_query_qp resp = {};
	int ret;

	attr->qp_state = IB_QPS_ERR;
	if (eadm_object_is_dead(&dev->adapter, &qp->obj))
		return 0;
	ret = efa_cmd_query_qp(dev, qp, &resp);
	if (ret)
		return ret;
	attr->qp_state = ib_state(le32_to_cpu(resp.state));
	attr->qkey = le32_to_cpu(resp.qkey);
	attr->sq_psn = le32_to_cpu(resp.sq_psn);
	attr->sq_draining = resp.sq_draining;
	attr->rnr_retry = resp.rnr_retry;
	return 0;
}

static void recall(struct efa_dev *dev, const struct efa_qp *qp, struct ib_qp_attr *attr)
{
	bool dead = eadm_object_is_dead(&dev->adapter, &qp->obj);

	attr->qp_state = dead ? IB_QPS_ERR : READ_ONCE(qp->state);
	attr->qkey = READ_ONCE(qp->qkey);
	attr->sq_psn = READ_ONCE(qp->psn);
	attr->rnr_retry = READ_ONCE(qp->rnr_retry);
}

/*
 * Resource tracking passes a mask of 0 for each QP of a dump, which any user may request. Such a
 * query must neither issue a command nor wait for an adapter that does not respond. It may also run
 * while the QP is being destroyed, when the handle may already belong to a new QP.
 */
static int query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init_attr)
{
	struct efa_dev *dev = to_efa_dev(ibqp->device);
	struct efa_qp *qp = to_efa_qp(ibqp);
	int ret;

	if (mask & ~QUERYABLE)
		return -EOPNOTSUPP;
	memset(attr, 0, sizeof(*attr));
	memset(init_attr, 0, sizeof(*init_attr));
	if (mask) {
		ret = ask(dev, qp, attr);
		if (ret)
			return ret;
	} else {
		recall(dev, qp, attr);
	}
	attr->cur_qp_state = attr->qp_state;
	attr->port_num = EFA_PORT;
	attr->cap = qp->cap;
	init_attr->qp_type = ibqp->qp_type;
	init_attr->sq_sig_type = qp->signal_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init_attr->send_cq = ibqp->send_cq;
	init_attr->recv_cq = ibqp->recv_cq;
	init_attr->qp_context = ibqp->qp_context;
	init_attr->event_handler = ibqp->event_handler;
	init_attr->cap = qp->cap;
	return 0;
}

const struct ib_device_ops efa_qp_ops = {
	.modify_qp = modify_qp,
	.query_qp = query_qp,
};
