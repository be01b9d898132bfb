// SPDX-License-Identifier: GPL-2.0-only
/*
 * Destruction of objects in the adapter, and verification that they are gone.
 *
 * Memory that the adapter accesses is freed only when the adapter has released it. Usually the
 * adapter confirms the release. If it does not, because a command was lost or refused, the driver
 * queries the adapter for the object; if the result is uncertain, the memory is kept until a reset
 * is confirmed.
 */

#include <linux/bitfield.h>
#include <linux/slab.h>

#include "erdma.h"

/**
 * struct answer - the adapter's response to a query for the context of a queue
 * @ret: 0; -EIO if the query was refused; any other error means that the query was lost
 * @syndrome: syndrome of a refused query
 * @enabled: the queue of this context is in use
 */
struct answer {
	int ret;
	u8 syndrome;
	bool enabled;
};

typedef struct answer ask_fn(struct erdma_dev *dev, u32 id);

static struct answer ask_qp(struct erdma_dev *dev, u32 qpn)
{
	struct erdma_qpc qpc = {};
	struct answer a = {};

	a.ret = erdma_cmd_query_qpc(dev, qpn, &qpc, &a.syndrome);
	a.enabled = !a.ret && qpc.sq.enabled;
	return a;
}

static struct answer ask_cq(struct erdma_dev *dev, u32 cqn)
{
	struct erdma_cqc cqc = {};
	struct answer a = {};

	a.ret = erdma_cmd_query_cqc(dev, cqn, &cqc, &a.syndrome);
	a.enabled = !a.ret && cqc.enabled;
	return a;
}

/*
 * Returns true if the adapter has no queue with this number. The meaning of a refusal is unknown,
 * so the response must be the same as for an unused number, and the query for the command queue,
 * which has number 0 and always exists, must succeed.
 */
static bool has_none(struct erdma_dev *dev, struct eadm_table *table, ask_fn *ask, u32 id)
{
	struct answer known, unknown, answer;
	u32 nobodys;

	if (!(dev->caps.flags & ERDMA_FLAG_QUERY_QC))
		return false;
	known = ask(dev, 0);
	if (known.ret || !known.enabled)
		return false;
	if (eadm_table_reserve(table, &nobodys))
		return false;
	unknown = ask(dev, nobodys);
	answer = ask(dev, id);
	eadm_table_release(table, nobodys);
	return (!answer.ret || answer.ret == -EIO) && !answer.enabled &&
	       answer.ret == unknown.ret && answer.syndrome == unknown.syndrome &&
	       answer.enabled == unknown.enabled;
}

/* After -ECANCELED or -ENODEV, the adapter cannot be queried, or need not be. */
static bool can_ask(int ret)
{
	return ret == -EIO || ret == -ETIMEDOUT;
}

/* Memory of dead objects is released by erdma_hostmem_retire(), not by the adapter. */
static bool is_dead(const struct erdma_dev *dev, u32 epoch)
{
	return READ_ONCE(dev->adapter.gone) || epoch != READ_ONCE(dev->adapter.epoch);
}

/**
 * erdma_qp_end() - destroy a QP in the adapter
 * @dev: the device
 * @qp: the QP; it need not exist in the adapter
 *
 * Context: process.
 * Return: true if the adapter is known to be done with the QP.
 */
bool erdma_qp_end(struct erdma_dev *dev, const struct erdma_qp *qp)
{
	int ret;

	if (is_dead(dev, qp->obj.epoch))
		return false;
	ret = erdma_cmd_destroy_qp(dev, qp);
	if (!ret)
		return true;
	if (is_dead(dev, qp->obj.epoch))
		return false;
	if (can_ask(ret) && has_none(dev, &dev->adapter.qps, ask_qp, qp->qpn))
		return true;
	ibdev_err_ratelimited(&dev->adapter.ibdev, "failed to destroy QP %u: %d\n",
			      qp->qpn, ret);
	return false;
}

/**
 * erdma_cq_end() - destroy a CQ in the adapter
 * @dev: the device
 * @cq: the CQ; it need not exist in the adapter
 * @epoch: dev->adapter.epoch when the CQ was created
 *
 * Context: process.
 * Return: true if the adapter is known to be done with the CQ.
 */
bool erdma_cq_end(struct erdma_dev *dev, const struct erdma_cq *cq, u32 epoch)
{
	int ret;

	if (is_dead(dev, epoch))
		return false;
	ret = erdma_cmd_destroy_cq(dev, cq->cqn, epoch);
	if (!ret)
		return true;
	if (is_dead(dev, epoch))
		return false;
	if (can_ask(ret) && has_none(dev, &dev->adapter.cqs, ask_cq, cq->cqn))
		return true;
	ibdev_err_ratelimited(&dev->adapter.ibdev, "failed to destroy CQ %u: %d\n",
			      cq->cqn, ret);
	return false;
}

/*
 * MRs cannot be queried. But if the adapter accepts a new registration under the number, the old MR
 * is gone, and deregistering the new one confirms that. The new MR allows no access in the
 * meantime: it is not valid yet, and its PD belongs to no QP.
 */
static bool replaced(struct erdma_dev *dev, const struct erdma_mr *mr)
{
	struct erdma_mr *other;
	u32 lkey = FIELD_PREP(ERDMA_STAG_INDEX, mr->mpt);
	bool done;

	/* The MR covers all memory, so only its number has to be freed. */
	if (mr->type == ERDMA_MR_DMA)
		return false;
	other = kmemdup(mr, sizeof(*mr), GFP_KERNEL);
	if (!other)
		return false;
	other->type = ERDMA_MR_FRMR;
	other->access = 0;
	other->ibmr.pd = NULL;
	done = !erdma_cmd_reg_mr(dev, other) && !erdma_cmd_dereg_mr(dev, lkey, mr->obj.epoch);
	kfree(other);
	return done;
}

/**
 * erdma_mr_end() - deregister an MR in the adapter
 * @dev: the device
 * @mr: the MR; it need not exist in the adapter
 *
 * Context: process.
 * Return: true if the adapter is known to be done with the MR.
 */
bool erdma_mr_end(struct erdma_dev *dev, const struct erdma_mr *mr)
{
	int ret;

	if (is_dead(dev, mr->obj.epoch))
		return false;
	ret = erdma_cmd_dereg_mr(dev, mr->ibmr.lkey, mr->obj.epoch);
	if (!ret)
		return true;
	if (is_dead(dev, mr->obj.epoch))
		return false;
	if (can_ask(ret) && replaced(dev, mr))
		return true;
	ibdev_err_ratelimited(&dev->adapter.ibdev, "failed to deregister MR %u: %d\n",
			      mr->mpt, ret);
	return false;
}
