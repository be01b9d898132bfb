// SPDX-License-Identifier: GPL-2.0-only
/*
 * A case for adapters that do not support a connection manager: an InfiniBand-style QP connected to
 * itself, on an adapter that supports neither atomics nor fast registration.
 */

#include <linux/delay.h>
#include <rdma/ib_cache.h>

#include "selftest.h"

#define RTR_MASK	(IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN | \
			 IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER)
#define RTS_MASK	(IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | \
			 IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC)

/* Uses the address derived from the interface's MAC address, which needs no lookup. */
static bool connect_with_itself(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR, .path_mtu = IB_MTU_256, .dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 12, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 1,
	};
	union ib_gid gid;
	int ret;

	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
	if (!CLAUSE(!rdma_query_gid(qp->device, 1, 0, &gid)))
		return false;
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	rdma_ah_set_grh(&attr.ah_attr, &gid, 0, 0, 64, 0);
	ret = ib_modify_qp(qp, &attr, RTR_MASK);
	attr.qp_state = IB_QPS_RTS;
	return CLAUSE(!ret) && CLAUSE(!ib_modify_qp(qp, &attr, RTS_MASK));
}

static bool refuses(struct ib_qp *qp, const struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad = NULL;

	return CLAUSE(ib_post_send(qp, wr, &bad) == -EOPNOTSUPP) && CLAUSE(bad == wr);
}

/* Sends a message without data to the QP itself. */
static bool sends(struct ib_qp *qp, struct ib_cq *cq)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED };
	unsigned long end = jiffies + 10 * HZ;
	const struct ib_recv_wr receive = {};
	unsigned int done = 0;
	struct ib_wc wc;

	if (!CLAUSE(!ib_post_recv(qp, &receive, NULL)) || !CLAUSE(!ib_post_send(qp, &wr, NULL)))
		return false;
	while (done < 2 && time_before(jiffies, end)) {
		if (ib_poll_cq(cq, 1, &wc) <= 0) {
			usleep_range(100, 200);
			continue;
		}
		if (!CLAUSE(wc.status == IB_WC_SUCCESS))
			return false;
		done++;
	}
	return CLAUSE(done == 2);
}

/**
 * refuses_unannounced() - case: unannounced features are refused, and all other features work
 * @qp: a QP in INIT
 * @cq: CQ of its completions
 * @mr: for fast registration; an ERR_PTR() if not supported
 */
bool refuses_unannounced(struct ib_qp *qp, struct ib_cq *cq, struct ib_mr *mr)
{
	const struct ib_device_attr *attrs = &qp->device->attrs;
	struct ib_sge sge = { .length = sizeof(u64), .lkey = qp->pd->local_dma_lkey };
	struct ib_atomic_wr atomic = {
		.wr = { .opcode = IB_WR_ATOMIC_CMP_AND_SWP, .sg_list = &sge, .num_sge = 1 },
	};
	struct ib_reg_wr reg = { .wr.opcode = IB_WR_REG_MR, .mr = mr };
	struct ib_send_wr inv = { .opcode = IB_WR_LOCAL_INV };

	if (!CLAUSE(attrs->atomic_cap == IB_ATOMIC_NONE) ||
	    !CLAUSE(!(attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)) ||
	    !connect_with_itself(qp) || !refuses(qp, &atomic.wr))
		return false;
	atomic.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
	if (!refuses(qp, &atomic.wr) || !refuses(qp, &inv))
		return false;
	inv.opcode = IB_WR_SEND_WITH_INV;
	return refuses(qp, &inv) && (IS_ERR(mr) || refuses(qp, &reg.wr)) && sends(qp, cq);
}
