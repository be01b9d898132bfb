// SPDX-License-Identifier: GPL-2.0-only
/* Callbacks that the core uses when a command is lost or the function is reset. */

#include "erdma.h"

#define START_MS	500

static int probe(struct eadm_adapter *ad)
{
	u64 version;
	int ret;

	ret = erdma_cmd_query_fw(adapter_to_erdma(ad), &version);
	/* A refused command also shows that the adapter responds. */
	return ret == -EIO ? 0 : ret;
}

static bool halt_adapter(struct eadm_adapter *ad, enum eadm_reset_reason reason)
{
	return erdma_hw_halt(adapter_to_erdma(ad), ERDMA_HALT_MS);
}

static int start_again(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	int ret;

	ret = erdma_hw_start(dev, START_MS);
	if (ret)
		return ret;
	erdma_eqs_set_live(dev);
	ret = erdma_ceqs_create(dev);
	if (ret)
		return ret;
	if (dev->caps.flags & ERDMA_FLAG_EXTEND_DB)
		ret = erdma_cmd_conf_device(dev);
	return ret ? ret : erdma_conf_restore(dev);
}

static void forget(struct eadm_adapter *ad, bool confirmed)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);

	if (confirmed)
		erdma_cmdq_bufs_free(dev);
	erdma_eqs_reset(dev);
}

/* Returns true if the adapter was initialised at the last check and no longer is. */
static bool has_restarted(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	bool was_up = dev->was_up;

	dev->was_up = erdma_hw_is_up(dev);
	return was_up && !dev->was_up;
}

static void watch(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);

	erdma_eqs_kick(dev);
	erdma_cmdq_watch(dev);
}

static void died(struct eadm_adapter *ad, struct eadm_object *obj)
{
	struct erdma_qp *qp = container_of(obj, struct erdma_qp, obj);

	erdma_failed_with_device(qp);
	erdma_qp_died(qp);
}

/* A reset adapter has lost the MTU. */
static void recovered(struct eadm_adapter *ad, bool was_reset, bool was_halted)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);

	if (!ad->halted && (was_reset || was_halted) && READ_ONCE(dev->mtu_changed))
		queue_work(ad->wq, &dev->mtu_work);
}

static void free_orphan(struct eadm_adapter *ad, struct eadm_orphan *orphan)
{
	erdma_hostmem_free(adapter_to_erdma(ad), container_of(orphan, struct erdma_hostmem, kept));
}

const struct eadm_adapter_ops erdma_adapter_ops = {
	.queue = &erdma_queue_ops,
	.settings = &erdma_settings,
	.probe = probe,
	.halt = halt_adapter,
	.start = start_again,
	.forget = forget,
	.has_restarted = has_restarted,
	.watch = watch,
	.died = died,
	.recovered = recovered,
	.ctx_begin = erdma_ctx_begin,
	.ctx_end = erdma_ctx_end,
	.check_mr = erdma_check_mr,
	.reg_mr = erdma_reg_mr,
	.describe_ring = erdma_describe_ring,
	.ask_ring = erdma_ask_ring,
	.free_orphan = free_orphan,
};
