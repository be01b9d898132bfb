// SPDX-License-Identifier: GPL-2.0-only
/* Commands that get and set features, and get statistics (hw 4.9, 5). */
#include "efv.h"

#define SUPPORTED_ALWAYS	BIT(EFA_FEATURE_DEVICE_ATTR)

static void device_attr(struct efv_adapter *ad, void *payload)
{
	const struct efv_params *p = &ad->params;
	struct efa_device_attr *attr = payload;

	*attr = (struct efa_device_attr) {
		.features = cpu_to_le64(p->features),
		.page_sizes = cpu_to_le64(GENMASK_ULL(31, VDEV_PAGE_SHIFT)),
		.fw_version = cpu_to_le32(p->fw_version),
		.api_version = cpu_to_le32(1),
		.device_version = cpu_to_le32(1),
		.db_bar = cpu_to_le16(EFV_DB_BAR),
		.phys_bits = 48,
		.virt_bits = 48,
		.caps = cpu_to_le32(p->caps),
		.max_rdma = cpu_to_le32(p->max_rdma),
		.speed = cpu_to_le16(p->speed),
	};
	memcpy(attr->guid, p->gid + sizeof(attr->guid), sizeof(attr->guid));
}

static void queue_attr(struct efv_adapter *ad, void *payload)
{
	const struct efv_params *p = &ad->params;

	*(struct efa_queue_attr *)payload = (struct efa_queue_attr) {
		.max_qp = cpu_to_le32(p->max_qp),
		.max_sq_depth = cpu_to_le32(p->max_sq_depth),
		.max_inline = cpu_to_le32(EFA_WQE_INLINE),
		.max_rq_depth = cpu_to_le32(p->max_rq_depth),
		.max_cq = cpu_to_le32(p->max_cq),
		.max_cq_depth = cpu_to_le32(p->max_cq_depth),
		.sub_cqs = cpu_to_le16(p->sub_cqs),
		.min_sq_depth = cpu_to_le16(p->min_sq_depth),
		.max_send_sge = cpu_to_le16(EFA_MAX_SEND_SGE),
		.max_recv_sge = cpu_to_le16(2),
		.max_mr = cpu_to_le32(p->max_mr),
		.max_mr_pages = cpu_to_le32(p->max_mr_pages),
		.max_pd = cpu_to_le32(p->max_pd),
		.max_ah = cpu_to_le32(p->max_ah),
		.max_llq = cpu_to_le32(p->max_sq_depth *
				       (p->max_inline_ext ? EFA_WQE_LONG_SIZE : EFA_WQE_SIZE)),
		.max_rdma_sge = cpu_to_le16(1),
		.max_tx_batch = cpu_to_le16(p->max_tx_batch),
	};
}

static void queue_attr_2(struct efv_adapter *ad, void *payload)
{
	struct efa_queue_attr_2 *attr = payload;

	attr->max_inline_ext = cpu_to_le16(ad->params.max_inline_ext);
}

static void network_attr(struct efv_adapter *ad, void *payload)
{
	struct efa_network_attr *attr = payload;

	memcpy(attr->gid, ad->params.gid, sizeof(attr->gid));
	attr->mtu = cpu_to_le32(ad->params.mtu);
}

static void event_queue_attr(struct efv_adapter *ad, void *payload)
{
	*(struct efa_event_queue_attr *)payload = (struct efa_event_queue_attr) {
		.max_eq = cpu_to_le32(efv_max_eq(ad)),
		/* A CQ never has more than one pending event. */
		.max_eq_depth = cpu_to_le32(roundup_pow_of_two(ad->params.max_cq)),
		.events = cpu_to_le32(EFA_EQ_EVENT_COMPLETION),
	};
}

static void aenq_config(struct efv_adapter *ad, void *payload)
{
	struct efa_aenq_config *config = payload;

	config->supported = cpu_to_le32(EFA_AENQ_GROUPS);
	config->enabled = cpu_to_le32(ad->aenq.groups);
}

/* The default is 0 because drivers misread other values (hw 5.7). */
static void hw_hints(struct efv_adapter *ad, void *payload)
{
	const struct efv_params *p = &ad->params;

	*(struct efa_hw_hints *)payload = (struct efa_hw_hints) {
		.mmio_timeout = cpu_to_le16(p->hint_mmio_timeout),
		.watchdog = cpu_to_le16(p->hint_watchdog),
		.cmd_timeout = cpu_to_le16(p->hint_cmd_timeout),
		.poll_interval = cpu_to_le16(p->hint_poll_interval),
	};
}

static void (*const features[])(struct efv_adapter *ad, void *payload) = {
	[EFA_FEATURE_DEVICE_ATTR] = device_attr,
	[EFA_FEATURE_AENQ_CONFIG] = aenq_config,
	[EFA_FEATURE_NETWORK_ATTR] = network_attr,
	[EFA_FEATURE_QUEUE_ATTR] = queue_attr,
	[EFA_FEATURE_HW_HINTS] = hw_hints,
	[EFA_FEATURE_EVENT_QUEUE_ATTR] = event_queue_attr,
	[EFA_FEATURE_QUEUE_ATTR_2] = queue_attr_2,
};

static bool is_supported(const struct efv_adapter *ad, u8 feature)
{
	return feature < 32 && (ad->params.features | SUPPORTED_ALWAYS) & BIT(feature);
}

enum efa_status efv_cmd_get_feature(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_get_feature *cmd = req;
	struct efa_acqe *acqe = resp;

	if (!is_supported(ad, cmd->feature) || cmd->feature >= ARRAY_SIZE(features) ||
	    !features[cmd->feature])
		return EFA_ST_ILLEGAL;
	features[cmd->feature](ad, acqe->resp);
	return EFA_ST_SUCCESS;
}

static enum efa_status set_host_info(struct efv_adapter *ad, const struct efa_cmd_set_feature *cmd)
{
	if (!(cmd->hdr.flags & EFA_AQ_FLAGS_CTRL_DATA) ||
	    cmd->hdr.flags & EFA_AQ_FLAGS_CTRL_INDIRECT ||
	    le32_to_cpu(cmd->ctrl.length) < sizeof(ad->host))
		return EFA_ST_MALFORMED;
	return efv_status_of(vdev_dma_read(&ad->vdev,
					   efv_addr(cmd->ctrl.addr_lo, cmd->ctrl.addr_hi),
					   &ad->host, sizeof(ad->host)));
}

enum efa_status efv_cmd_set_feature(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_set_feature *cmd = req;
	const struct efa_aenq_config *config = (const void *)cmd->payload;
	u32 groups;

	if (!is_supported(ad, cmd->feature))
		return EFA_ST_ILLEGAL;
	if (cmd->feature == EFA_FEATURE_HOST_INFO)
		return set_host_info(ad, cmd);
	if (cmd->feature != EFA_FEATURE_AENQ_CONFIG)
		return EFA_ST_ILLEGAL;
	groups = le32_to_cpu(config->enabled);
	if (groups & ~EFA_AENQ_GROUPS)
		return EFA_ST_ILLEGAL;
	ad->aenq.groups = groups;
	return EFA_ST_SUCCESS;
}

enum efa_status efv_cmd_get_stats(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_get_stats *cmd = req;
	struct efa_resp_get_stats *answer = resp;
	unsigned int i;

	/* Statistics of individual queues are not supported. */
	if (cmd->type >= EFA_STATS_TYPES || cmd->scope)
		return EFA_ST_ILLEGAL;
	for (i = 0; i < EFA_STATS_VALUES; i++)
		answer->value[i] = cpu_to_le64(atomic64_read(&ad->stats[cmd->type *
								EFA_STATS_VALUES + i]));
	return EFA_ST_SUCCESS;
}
