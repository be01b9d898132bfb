// SPDX-License-Identifier: GPL-2.0-only
/* Commands that get and set features (hw 5). */

#include <linux/utsname.h>

#include "efa.h"

#define API_VERSION_MIN		1

/* Version of the specification that the driver implements. */
#define SPEC_VERSION		0x0200

/* Lower limits of hints: a register read can take two context switches, and a reset many reads. */
#define MMIO_TIMEOUT_MIN_MS	5
#define MMIO_TIMEOUT_MAX_MS	1000

/* Lower limit of the command timeout, the smallest value that the register can express. */
#define CMD_TIMEOUT_MIN_MS	EFA_TIMEOUT_UNIT_MS

static bool has_feature(const struct efa_dev *dev, enum efa_feature feature)
{
	return dev->caps.features & BIT(feature);
}

static int get_feature(struct efa_dev *dev, enum efa_feature feature, void *payload, size_t size)
{
	struct efa_cmd cmd = {
		.req.hdr.opcode = EFA_CMD_GET_FEATURE,
		.base.len = sizeof(cmd.req.get_feature),
	};
	int ret;

	cmd.req.get_feature.feature = feature;
	ret = efa_aq_exec(dev, &cmd);
	if (!ret)
		memcpy(payload, cmd.resp.raw.resp, size);
	return ret;
}

/* Reads a feature that the driver requires. */
static int need_feature(struct efa_dev *dev, enum efa_feature feature, void *payload,
			size_t size)
{
	int ret = has_feature(dev, feature) ? get_feature(dev, feature, payload, size) :
					      -EOPNOTSUPP;

	if (ret)
		dev_err(&dev->pdev->dev, "failed to read feature %u: %d\n", feature, ret);
	return ret;
}

static int read_device(struct efa_dev *dev)
{
	struct efa_caps *caps = &dev->caps;
	u32 api;
	int ret;

	ret = get_feature(dev, EFA_FEATURE_DEVICE_ATTR, &caps->device, sizeof(caps->device));
	if (ret)
		return ret;
	api = le32_to_cpu(caps->device.api_version);
	if (api < API_VERSION_MIN) {
		dev_err(&dev->pdev->dev, "command version %u is too old\n", api);
		return -EOPNOTSUPP;
	}
	caps->features = lower_32_bits(le64_to_cpu(caps->device.features));
	caps->flags = le32_to_cpu(caps->device.caps);
	return 0;
}

static int check_queues(struct efa_dev *dev)
{
	const struct efa_queue_attr *q = &dev->caps.queue;
	const struct efa_event_queue_attr *eq = &dev->caps.events;
	u32 depth = le32_to_cpu(eq->max_eq_depth);

	if (!q->max_qp || !q->max_cq || !q->sub_cqs || !q->max_recv_sge || !q->max_mr_pages)
		goto err;
	/* Indices are 16 bits wide. */
	if (le32_to_cpu(q->max_cq_depth) > EFA_MAX_INDEX)
		goto err;
	if (eq->max_eq && (!is_power_of_2(depth) || depth > EFA_EQ_MAX_DEPTH))
		goto err;
	return 0;
err:
	dev_err(&dev->pdev->dev, "invalid queue limits\n");
	return -EINVAL;
}

/*
 * A hint of 0 keeps the current value. The hint for the polling interval is not used because
 * polling for a completion in memory does not involve the adapter.
 */
static void follow_hints(struct efa_dev *dev)
{
	const struct efa_hw_hints *hints = &dev->caps.hints;
	u32 mmio = le16_to_cpu(hints->mmio_timeout), cmd = le16_to_cpu(hints->cmd_timeout);

	if (mmio)
		dev->hw.mmio_timeout = clamp_t(u32, mmio, MMIO_TIMEOUT_MIN_MS,
					       MMIO_TIMEOUT_MAX_MS);
	if (cmd)
		WRITE_ONCE(dev->adapter.cmd_timeout, max_t(u32, cmd, CMD_TIMEOUT_MIN_MS));
}

/**
 * efa_read_features() - read the adapter's capabilities
 * @dev: the device, with a working admin queue
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int efa_read_features(struct efa_dev *dev)
{
	struct efa_caps *caps = &dev->caps;
	const struct {
		enum efa_feature feature;
		bool optional;
		void *payload;
		size_t size;
	} features[] = {
		{ EFA_FEATURE_QUEUE_ATTR, false, &caps->queue, sizeof(caps->queue) },
		{ EFA_FEATURE_QUEUE_ATTR_2, true, &caps->queue2, sizeof(caps->queue2) },
		{ EFA_FEATURE_NETWORK_ATTR, false, &caps->network, sizeof(caps->network) },
		{ EFA_FEATURE_EVENT_QUEUE_ATTR, true, &caps->events, sizeof(caps->events) },
		{ EFA_FEATURE_HW_HINTS, false, &caps->hints, sizeof(caps->hints) },
	};
	int ret = read_device(dev), i;

	for (i = 0; !ret && i < ARRAY_SIZE(features); i++)
		if (!features[i].optional || has_feature(dev, features[i].feature))
			ret = need_feature(dev, features[i].feature, features[i].payload,
					   features[i].size);
	if (!ret)
		ret = check_queues(dev);
	if (!ret)
		follow_hints(dev);
	return ret;
}

/**
 * efa_enable_events() - enable reports of all asynchronous events
 * @dev: the device
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int efa_enable_events(struct efa_dev *dev)
{
	struct efa_aenq_config config;
	struct efa_cmd cmd = {
		.req.hdr.opcode = EFA_CMD_SET_FEATURE,
		.base.len = sizeof(cmd.req.set_feature),
	};
	int ret;

	ret = need_feature(dev, EFA_FEATURE_AENQ_CONFIG, &config, sizeof(config));
	if (ret)
		return ret;
	if ((le32_to_cpu(config.supported) & EFA_AENQ_GROUPS) != EFA_AENQ_GROUPS) {
		dev_err(&dev->pdev->dev, "only event groups %#x are supported\n",
			le32_to_cpu(config.supported));
		return -EOPNOTSUPP;
	}
	config.supported = 0;
	config.enabled = cpu_to_le32(EFA_AENQ_GROUPS);
	cmd.req.set_feature.feature = EFA_FEATURE_AENQ_CONFIG;
	memcpy(cmd.req.set_feature.payload, &config, sizeof(config));
	return efa_aq_exec(dev, &cmd);
}

static void fill_host_info(struct efa_dev *dev, struct efa_host_info *info)
{
	strscpy(info->os_dist, init_utsname()->release, sizeof(info->os_dist));
	strscpy(info->kernel_text, init_utsname()->version, sizeof(info->kernel_text));
	info->kernel_version = cpu_to_le32(COMPAT_KERNEL_NUMBER);
	info->bdf = cpu_to_le16(pci_dev_id(dev->pdev));
	info->spec_version = cpu_to_le16(SPEC_VERSION);
}

/**
 * efa_tell_host_info() - describe the host to the adapter
 * @dev: the device
 *
 * Errors are ignored.
 *
 * Context: process.
 */
void efa_tell_host_info(struct efa_dev *dev)
{
	struct efa_cmd cmd = {
		.req.hdr.opcode = EFA_CMD_SET_FEATURE,
		.base.len = sizeof(cmd.req.set_feature),
	};
	struct efa_list *list;

	if (!has_feature(dev, EFA_FEATURE_HOST_INFO))
		return;
	list = efa_list_alloc(sizeof(struct efa_host_info));
	if (!list)
		return;
	fill_host_info(dev, list->va);
	if (!efa_list_map(dev, list)) {
		cmd.list = list;
		cmd.req.set_feature.feature = EFA_FEATURE_HOST_INFO;
		efa_list_ctrl(list, &cmd.req.set_feature.ctrl, &cmd.req.hdr.flags);
		efa_aq_exec(dev, &cmd);
		list = cmd.list;
	}
	efa_list_free(dev, list);
}

/**
 * efa_cmd_probe() - issue a command without side effects
 * @ad: the adapter
 *
 * Context: process.
 * Return: 0 if the command completed, even with an error.
 */
int efa_cmd_probe(struct eadm_adapter *ad)
{
	struct efa_cmd cmd = {
		.req.hdr.opcode = EFA_CMD_GET_FEATURE,
		.base.len = sizeof(cmd.req.get_feature),
	};
	int ret;

	cmd.req.get_feature.feature = EFA_FEATURE_DEVICE_ATTR;
	ret = efa_aq_exec(adapter_to_efa(ad), &cmd);
	return cmd.base.answered ? 0 : ret;
}
