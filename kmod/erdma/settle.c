// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of objects in the adapter, and what it takes to be sure of it.
 *
 * Memory that the adapter was told of is given back only when the adapter has
 * let go of it. Mostly it says so. When it does not, because an answer was lost
 * or it refuses, it is asked what it has; in doubt the memory is kept until a
 * reset is confirmed.
 */

#include <linux/bitfield.h>
#include <linux/slab.h>

#include "erdma.h"

/**
 * struct answer - what the adapter says when asked for the context of a queue
 * @ret: 0; -EIO when it refused; another one means that it did not say anything
 * @syndrome: of a refusal
 * @enabled: the context is that of a queue in use
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

	a.ret = erdma_cmd_ask_qpc(dev, qpn, &qpc, &a.syndrome);
	a.enabled = !a.ret && qpc.sq.enabled;
	return a;
}

static struct answer ask_cq(struct erdma_dev *dev, u32 cqn)
{
	struct erdma_cqc cqc = {};
	struct answer a = {};

	a.ret = erdma_cmd_ask_cqc(dev, cqn, &cqc, &a.syndrome);
	a.enabled = !a.ret && cqc.enabled;
	return a;
}

/*
 * Whether the adapter has no queue of this number. What a refusal means is not
 * known: so it has to answer for the number just as for one that nobody has,
 * and as well for the command queue, which is number 0 and there.
 */
static bool has_none(struct erdma_dev *dev, struct erdma_table *table, ask_fn *ask, u32 id)
{
	struct answer known, unknown, answer;
	u32 nobodys;

	if (!(dev->caps.flags & ERDMA_FLAG_QUERY_QC))
		return false;
	known = ask(dev, 0);
	if (known.ret || !known.enabled)
		return false;
	if (erdma_table_reserve(table, &nobodys))
		return false;
	unknown = ask(dev, nobodys);
	answer = ask(dev, id);
	erdma_table_release(table, nobodys);
	return (!answer.ret || answer.ret == -EIO) && !answer.enabled &&
	       answer.ret == unknown.ret && answer.syndrome == unknown.syndrome &&
	       answer.enabled == unknown.enabled;
}

/* With -ECANCELED and -ENODEV there is nobody to ask, or no need to. */
static bool can_ask(int ret)
{
	return ret == -EIO || ret == -ETIMEDOUT;
}

/* Then erdma_hostmem_retire() knows whether memory is free, not the adapter. */
static bool is_dead(const struct erdma_dev *dev, u32 epoch)
{
	return READ_ONCE(dev->gone) || epoch != READ_ONCE(dev->epoch);
}

/**
 * erdma_qp_end() - destroy a QP in the adapter
 * @dev: the device
 * @qp: the QP; the adapter may never have learned of it
 *
 * Context: process.
 * Return: whether the adapter said that it is done with it.
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
	if (can_ask(ret) && has_none(dev, &dev->qps, ask_qp, qp->qpn))
		return true;
	ibdev_err_ratelimited(&dev->ibdev, "QP %u is not destroyed: %d\n", qp->qpn, ret);
	return false;
}

/**
 * erdma_cq_end() - destroy a CQ in the adapter
 * @dev: the device
 * @cq: the CQ; the adapter may never have learned of it
 * @epoch: dev->epoch when it was told of it
 *
 * Context: process.
 * Return: whether the adapter said that it is done with it.
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
	if (can_ask(ret) && has_none(dev, &dev->cqs, ask_cq, cq->cqn))
		return true;
	ibdev_err_ratelimited(&dev->ibdev, "CQ %u is not destroyed: %d\n", cq->cqn, ret);
	return false;
}

/*
 * There is no question about MRs. But an adapter that takes a registration under
 * the number has no other one there any more, and says so when that one ends.
 * It lets nobody in meanwhile: it is not valid yet, and of a PD that no QP has.
 */
static bool replaced(struct erdma_dev *dev, const struct erdma_mr *mr)
{
	struct erdma_mr *other;
	u32 lkey = FIELD_PREP(ERDMA_STAG_INDEX, mr->mpt);
	bool done;

	/* All memory there is: nothing waits for its end but the number. */
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
 * @mr: the MR; the adapter may never have learned of it
 *
 * Context: process.
 * Return: whether the adapter said that it is done with it.
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
	ibdev_err_ratelimited(&dev->ibdev, "MR %u is not deregistered: %d\n", mr->mpt, ret);
	return false;
}
