// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of an adapter in configfs, in addition to those common to all families.
 *
 * Parameters, refused with EBUSY while the adapter is plugged in:
 *   gid          address of the adapter; by default different for each adapter
 *   generation   0 to 3: PCI device efa0 to efa3
 *   version      interface version: 1 means 0.1; from 2 on, command completions have
 *                a checksum
 *   fw_version   register value
 *   caps         capabilities, as a number: hw 5.2
 *   features     supported features, one bit each: hw 5.1
 *   mtu, max_rdma	maximum bytes of a send and of an RDMA transfer
 *   max_qp, max_cq, max_mr, max_pd, max_ah	numbers of objects
 *   ah_per_pd    1: AH numbers are unique inside a PD only; 0: unique in the adapter
 *   max_eq       number of event queues, 0: one for each vector except the first
 *   max_mr_pages, max_sq_depth, min_sq_depth, max_rq_depth, max_cq_depth	limits
 *   any_sq_bytes 1: a send queue may have fewer bytes than its work requests need
 *   max_tx_batch in units of 64 bytes, 0: no limit
 *   max_inline_ext	inline data of long work requests; 0: not supported
 *   sub_cqs      parts of a CQ
 *   speed        Gbit/s
 *   keep_alive   ms between two keep-alives, 0: none
 *   cmd_timeout  announced by the device, in 100 ms; 0: the driver's default
 *   hint_mmio_timeout, hint_watchdog, hint_cmd_timeout, hint_poll_interval	for drivers, in
 *		ms; 0: none
 *
 * Read only:
 *   host_info    host information from the driver (hw 5.8), in hexadecimal; empty: none
 *   reset_reason reason of the last reset, as a number (hw 2.2)
 */
#include <linux/inet.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "efv.h"

static struct efv_adapter *to_adapter(struct config_item *item)
{
	return efv_adapter_of(vdev_of(item));
}

/* The limits are those of drivers and of libefa (hw 5.3, 7.3). */
VDEV_PARAM(generation, "%u", 0, 3);
VDEV_PARAM(version, "%#06x", 0, U16_MAX);
VDEV_PARAM(fw_version, "%#010x", 0, U32_MAX);
VDEV_PARAM(caps, "%#x", 0, 0x1f);
VDEV_PARAM(features, "%#x", 0, U16_MAX);
VDEV_PARAM(mtu, "%u", 256, 65535 - EFA_UD_PREFIX);
VDEV_PARAM(max_rdma, "%u", 1, SZ_1G);
VDEV_PARAM(max_qp, "%u", 1, 32768);
VDEV_PARAM(max_cq, "%u", 1, 32768);
VDEV_PARAM(max_mr, "%u", 1, 65535);
VDEV_PARAM(max_pd, "%u", 1, 65535);
VDEV_PARAM(max_ah, "%u", 1, 65535);
VDEV_PARAM(ah_per_pd, "%u", 0, 1);
VDEV_PARAM(max_eq, "%u", 0, EFV_MAX_EQ);
VDEV_PARAM(max_mr_pages, "%u", 1, SZ_2M);
VDEV_PARAM(max_sq_depth, "%u", 1, 8192);
VDEV_PARAM(min_sq_depth, "%u", 0, 8192);
VDEV_PARAM(any_sq_bytes, "%u", 0, 1);
VDEV_PARAM(max_rq_depth, "%u", 1, EFA_MAX_INDEX / 2);
VDEV_PARAM(max_cq_depth, "%u", 1, EFA_MAX_INDEX);
VDEV_PARAM(max_tx_batch, "%u", 0, U16_MAX);
VDEV_PARAM(max_inline_ext, "%u", 0, EFA_WQE_LONG_INLINE);
VDEV_PARAM(sub_cqs, "%u", 1, EFV_MAX_SUBS);
VDEV_PARAM(speed, "%u", 0, U16_MAX);
VDEV_PARAM(keep_alive, "%u", 0, 3600000);
VDEV_PARAM(cmd_timeout, "%u", 0, 15);
VDEV_PARAM(hint_mmio_timeout, "%u", 0, U16_MAX);
VDEV_PARAM(hint_watchdog, "%u", 0, U16_MAX);
VDEV_PARAM(hint_cmd_timeout, "%u", 0, U16_MAX);
VDEV_PARAM(hint_poll_interval, "%u", 0, U16_MAX);

static ssize_t adapter_gid_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%pI6\n", to_adapter(item)->params.gid);
}

static ssize_t adapter_gid_store(struct config_item *item, const char *page, size_t len)
{
	struct efv_adapter *ad = to_adapter(item);
	u8 gid[sizeof(ad->params.gid)];
	int ret;

	if (!in6_pton(page, len, gid, '\n', NULL))
		return -EINVAL;
	ret = vdev_param_set(&ad->vdev, ad->params.gid, gid, sizeof(gid));
	return ret ? ret : len;
}
CONFIGFS_ATTR(adapter_, gid);

static ssize_t adapter_host_info_show(struct config_item *item, char *page)
{
	struct efv_adapter *ad = to_adapter(item);
	struct efa_host_info host;
	char *end = page;

	static_assert(2 * sizeof(host) + 1 <= SZ_4K);
	vdev_lock(&ad->vdev);
	host = ad->host;
	vdev_unlock(&ad->vdev);
	if (memchr_inv(&host, 0, sizeof(host)))
		end = bin2hex(page, &host, sizeof(host));
	*end++ = '\n';
	return end - page;
}
CONFIGFS_ATTR_RO(adapter_, host_info);

static ssize_t adapter_reset_reason_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(to_adapter(item)->reset_reason));
}
CONFIGFS_ATTR_RO(adapter_, reset_reason);

struct configfs_attribute *const efv_attrs[] = {
	&adapter_attr_gid,
	&adapter_attr_generation,
	&adapter_attr_version,
	&adapter_attr_fw_version,
	&adapter_attr_caps,
	&adapter_attr_features,
	&adapter_attr_mtu,
	&adapter_attr_max_rdma,
	&adapter_attr_max_qp,
	&adapter_attr_max_cq,
	&adapter_attr_max_mr,
	&adapter_attr_max_pd,
	&adapter_attr_max_ah,
	&adapter_attr_ah_per_pd,
	&adapter_attr_max_eq,
	&adapter_attr_max_mr_pages,
	&adapter_attr_max_sq_depth,
	&adapter_attr_min_sq_depth,
	&adapter_attr_any_sq_bytes,
	&adapter_attr_max_rq_depth,
	&adapter_attr_max_cq_depth,
	&adapter_attr_max_tx_batch,
	&adapter_attr_max_inline_ext,
	&adapter_attr_sub_cqs,
	&adapter_attr_speed,
	&adapter_attr_keep_alive,
	&adapter_attr_cmd_timeout,
	&adapter_attr_hint_mmio_timeout,
	&adapter_attr_hint_watchdog,
	&adapter_attr_hint_cmd_timeout,
	&adapter_attr_hint_poll_interval,
	&adapter_attr_host_info,
	&adapter_attr_reset_reason,
	NULL
};

/**
 * efv_max_eq() - return the number of event queues of the adapter
 * @ad: adapter
 *
 * Drivers need a separate vector for each event queue, in addition to the first vector (hw 1.3).
 */
u32 efv_max_eq(const struct efv_adapter *ad)
{
	u32 most = ad->vdev.vectors - 1;

	return ad->params.max_eq ? min(ad->params.max_eq, most) : most;
}

/**
 * efv_params_setup() - set the default parameters of a new adapter
 * @ad: adapter
 */
void efv_params_setup(struct efv_adapter *ad)
{
	static atomic_t adapters = ATOMIC_INIT(0);
	u16 number = atomic_inc_return(&adapters);

	ad->params = (struct efv_params) {
		.gid = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x0c, 0x11, 0x22, 0xff, 0xfe, 0x33,
			 number >> 8, number },
		.generation = 1,
		.version = EFA_VERSION_MIN,
		.fw_version = 0x00010203,
		.caps = EFA_DEV_CAP_RDMA_READ | EFA_DEV_CAP_RNR_RETRY | EFA_DEV_CAP_RDMA_WRITE |
			EFA_DEV_CAP_UNSOLICITED,
		.features = 0xfe,
		.mtu = 8928,
		.max_rdma = SZ_1G,
		.max_qp = 256,
		.max_cq = 512,
		.max_mr = 16384,
		.max_pd = 256,
		.max_ah = 1024,
		.max_mr_pages = SZ_1M,
		.max_sq_depth = 1024,
		.max_rq_depth = 8192,
		.max_cq_depth = 32768,
		.max_tx_batch = 16,
		.sub_cqs = 1,
		.speed = 100,
		.keep_alive = 1000,
	};
}
