// SPDX-License-Identifier: GPL-2.0-only
/* Commands for the device as a whole (hw 4.1, 4.2, 4.4, 4.5, 4.14). */
#include <linux/bitfield.h>

#include "ev.h"

#define MIN_PAGE_SHIFT		12
#define MAX_PAGE_SHIFT		16

#define MIN_MTU			68
#define MAX_MTU			65535

enum ev_syndrome ev_cmd_query_device(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct ev_params *p = &ad->params;

	cmd->resp[0] = FIELD_PREP(ERDMA_CAP0_MAX_MR_SIZE, p->max_mr_size) |
		       FIELD_PREP(ERDMA_CAP0_MAX_RECV_WR, p->max_recv_wr) |
		       FIELD_PREP(ERDMA_CAP0_FLAGS, p->flags) |
		       FIELD_PREP(ERDMA_CAP0_MAX_CQE, p->max_cqe);
	cmd->resp[1] = FIELD_PREP(ERDMA_CAP1_QBLOCK, p->qblock) |
		       FIELD_PREP(ERDMA_CAP1_DEFAULT_CC, p->cc) |
		       FIELD_PREP(ERDMA_CAP1_LOCAL_KEY, EV_DMA_LOCAL_KEY);
	return EV_OK;
}

enum ev_syndrome ev_cmd_query_fw_info(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	cmd->resp[0] = ad->params.fw_version;
	return EV_OK;
}

enum ev_syndrome ev_cmd_conf_device(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct erdma_cmd_conf_device *req = (void *)cmd->req;
	u32 cfg = le32_to_cpu(req->cfg);
	u32 shift = FIELD_GET(ERDMA_CONF_DEVICE_PAGE_SHIFT, cfg);

	if (!(cfg & ERDMA_CONF_DEVICE_PS_EN))
		return EV_OK;
	if (shift < MIN_PAGE_SHIFT || shift > MAX_PAGE_SHIFT)
		return EV_INVALID;
	ad->page_shift = shift;
	return EV_OK;
}

enum ev_syndrome ev_cmd_conf_mtu(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct erdma_cmd_conf_mtu *req = (void *)cmd->req;
	u32 mtu = le32_to_cpu(req->mtu);

	if (mtu < MIN_MTU || mtu > MAX_MTU)
		return EV_INVALID;
	ad->mtu = mtu;
	return EV_OK;
}

enum ev_syndrome ev_cmd_set_retrans_num(struct ev_adapter *ad,
					struct ev_cmd *cmd)
{
	const struct erdma_cmd_set_retrans_num *req = (void *)cmd->req;
	u32 num = le32_to_cpu(req->retrans_num);

	if (!num || num > ERDMA_RETRANS_MAX)
		return EV_INVALID;
	ad->retrans_num = num;
	return EV_OK;
}

enum ev_syndrome ev_cmd_set_ext_attr(struct ev_adapter *ad, struct ev_cmd *cmd)
{
	const struct erdma_cmd_set_ext_attr *req = (void *)cmd->req;
	u32 mask = le32_to_cpu(req->mask);

	if (mask & ~EV_EXT_ATTRS)
		return EV_INVALID;
	if (mask & ERDMA_EXT_ATTR_DELAYED_ACK)
		ad->delayed_ack = req->delayed_ack;
	if (mask & ERDMA_EXT_ATTR_LEGACY)
		ad->legacy = req->legacy;
	ad->ext_attrs |= mask;
	return EV_OK;
}
