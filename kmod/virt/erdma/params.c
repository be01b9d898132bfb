// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of an adapter in configfs, in addition to those common to all families.
 *
 * Parameters, refused with EBUSY while the adapter is plugged in:
 *   mac          MAC address of the network interface; all zeros: unknown to the adapter
 *   qblock       queue blocks of 1024 QPs each
 *   max_mr_size, max_recv_wr, max_cqe	limits, log2
 *   flags        capabilities by bit number (hw 4.1), for instance "7 6 5 3";
 *                not 4 (IPV6), which this adapter does not support
 *   grp_num      direct-WQE groups
 *   version, fw_version	register and firmware version
 *   cc           default congestion control
 *   reset_done   1: RESET_DONE is reported; 0: a reset only clears INIT_DONE
 *   proto        0 iWARP, 1 RoCEv2: changes only the register, not the behaviour
 * At any time:
 *   stale        1: commands that end objects complete, but the objects stay: when the
 *                driver is gone, QPs, MRs and INIT_DONE are in the same state as after
 *                kexec, which does not end them. Becomes 0 when bus mastering ends
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>

#include "ev.h"

static struct ev_adapter *to_adapter(struct config_item *item)
{
	return ev_adapter_of(vdev_of(item));
}

/* The limits are those of drivers and of liberdma (hw 4.1). */
VDEV_PARAM(qblock, "%u", 4, 512);
VDEV_PARAM(max_mr_size, "%u", 12, 48);
VDEV_PARAM(max_recv_wr, "%u", 1, 15);
VDEV_PARAM(max_cqe, "%u", 6, 20);
VDEV_PARAM(grp_num, "%u", 0, 32);
VDEV_PARAM(version, "%#010x", 1, U32_MAX);
VDEV_PARAM(fw_version, "%#010x", 0, U32_MAX);
VDEV_PARAM(cc, "%u", ERDMA_CC_NEWRENO, ERDMA_CC_HPCC_INT);
VDEV_PARAM(reset_done, "%u", 0, 1);
VDEV_PARAM(proto, "%u", ERDMA_PROTO_IWARP, ERDMA_PROTO_ROCEV2);

static ssize_t adapter_mac_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%pM\n", to_adapter(item)->params.mac);
}

static ssize_t adapter_mac_store(struct config_item *item, const char *page,
				 size_t len)
{
	struct ev_adapter *ad = to_adapter(item);
	u8 mac[ETH_ALEN];
	int ret = 0;

	if (len < 3 * ETH_ALEN - 1 || !mac_pton(page, mac) || is_multicast_ether_addr(mac))
		return -EINVAL;
	if (page[3 * ETH_ALEN - 1] && page[3 * ETH_ALEN - 1] != '\n')
		return -EINVAL;
	mutex_lock(&ad->vdev.plug_lock);
	if (ad->vdev.live) {
		ret = -EBUSY;
	} else {
		ether_addr_copy(ad->params.mac, mac);
		ad->params.mac_set = true;
	}
	mutex_unlock(&ad->vdev.plug_lock);
	return ret ? ret : len;
}
CONFIGFS_ATTR(adapter_, mac);

static ssize_t adapter_flags_show(struct config_item *item, char *page)
{
	unsigned long flags = to_adapter(item)->params.flags;
	int len = 0;
	int bit;

	for (bit = 7; bit >= 0; bit--)
		if (flags & BIT(bit))
			len += sysfs_emit_at(page, len, len ? " %d" : "%d",
					     bit);
	return len + sysfs_emit_at(page, len, "\n");
}

static ssize_t adapter_flags_store(struct config_item *item, const char *page,
				   size_t len)
{
	struct ev_adapter *ad = to_adapter(item);
	char *copy, *rest, *word;
	u32 flags = 0;
	int ret = 0;
	u8 bit;

	copy = kstrndup(page, len, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	rest = strstrip(copy);
	while (!ret && (word = strsep(&rest, " ")) != NULL) {
		if (!*word)
			continue;
		ret = kstrtou8(word, 0, &bit);
		if (!ret && (bit > 7 || BIT(bit) == ERDMA_FLAG_IPV6))
			ret = -EINVAL;
		if (!ret)
			flags |= BIT(bit);
	}
	kfree(copy);
	if (ret)
		return ret;
	ret = vdev_param_set(&ad->vdev, &ad->params.flags, &flags, sizeof(flags));
	return ret ? ret : len;
}
CONFIGFS_ATTR(adapter_, flags);

static ssize_t adapter_stale_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", READ_ONCE(to_adapter(item)->stale));
}

static ssize_t adapter_stale_store(struct config_item *item, const char *page,
				   size_t len)
{
	bool stale;

	if (kstrtobool(page, &stale))
		return -EINVAL;
	WRITE_ONCE(to_adapter(item)->stale, stale);
	return len;
}
CONFIGFS_ATTR(adapter_, stale);

struct configfs_attribute *const ev_attrs[] = {
	&adapter_attr_mac,
	&adapter_attr_qblock,
	&adapter_attr_max_mr_size,
	&adapter_attr_max_recv_wr,
	&adapter_attr_max_cqe,
	&adapter_attr_flags,
	&adapter_attr_grp_num,
	&adapter_attr_version,
	&adapter_attr_fw_version,
	&adapter_attr_cc,
	&adapter_attr_reset_done,
	&adapter_attr_proto,
	&adapter_attr_stale,
	NULL
};

/**
 * ev_params_setup() - set the default parameters of a new adapter
 * @ad: adapter
 */
void ev_params_setup(struct ev_adapter *ad)
{
	ad->params = (struct ev_params) {
		.qblock = 32,
		.max_mr_size = 40,
		.max_recv_wr = 15,
		.max_cqe = 20,
		.flags = ERDMA_FLAG_ATOMIC | ERDMA_FLAG_QUERY_QC |
			 ERDMA_FLAG_MTT_VA | ERDMA_FLAG_EXTEND_DB,
		/* Neither 0 nor 2 in either byte order (hw 13.1). */
		.version = 0x01000000,
		.fw_version = 0x000225,
		.cc = ERDMA_CC_CUBIC,
		.reset_done = 1,
		.proto = ERDMA_PROTO_IWARP,
	};
}
