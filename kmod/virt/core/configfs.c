// SPDX-License-Identifier: GPL-2.0-only
/*
 * Management: mkdir /sys/kernel/config/eadm_virt/erdma/NAME describes an adapter,
 * writing 1 to its file "live" plugs it in, rmdir removes it in order.
 *
 * Parameters, refused with EBUSY while the adapter is plugged in:
 *   mac          of the network interface it belongs to; all zeros: the adapter
 *                does not know it
 *   vectors      MSI-X vectors
 *   qblock       queue blocks of 1024 QPs each
 *   max_mr_size, max_recv_wr, max_cqe	limits, log2
 *   flags        capabilities by bit number (hw 4.1), for instance "7 6 5 3";
 *                not 4 (IPV6), which this adapter does not have
 *   grp_num      direct-WQE groups
 *   version, fw_version	register and firmware version
 *   cc           default congestion control
 *   flr          1: function level reset is announced, and works
 *   reset_done   1: RESET_DONE is reported; 0: a reset only takes INIT_DONE away
 *   proto        0 iWARP, 1 RoCEv2: only the register says so, the adapter works
 *                as before
 * At any time:
 *   log_level    0 nothing, 1 refused commands, 2 all commands
 *   live         1 plug in, 0 remove: the driver can still talk to the device
 *   surprise     1: the device dies, then is removed
 *   stale        1: what the driver ends from now on is answered, but stays: when
 *                it has left, QPs, MRs and INIT_DONE are as after kexec, which
 *                ends nothing. 0 again when bus mastering ends
 *   fault/       see fault.c
 * Read only:
 *   address      on PCI, while plugged in
 *   state        unplugged, powered, running (INIT done) or gone
 *   commands, command_errors, doorbells, events, interrupts, resets
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "../erdma/ev.h"

static struct ev_adapter *to_adapter(struct config_item *item)
{
	return container_of(to_config_group(item), struct ev_adapter, group);
}

static int param_store(struct ev_adapter *ad, const char *page, u32 min,
		       u32 max, u32 *param)
{
	u32 value;
	int ret;

	ret = kstrtou32(page, 0, &value);
	if (ret)
		return ret;
	if (value < min || value > max)
		return -EINVAL;
	mutex_lock(&ad->plug_lock);
	if (ad->live)
		ret = -EBUSY;
	else
		*param = value;
	mutex_unlock(&ad->plug_lock);
	return ret;
}

#define PARAM(_name, _fmt, _min, _max) \
static ssize_t adapter_##_name##_show(struct config_item *item, char *page) \
{ \
	return sysfs_emit(page, _fmt "\n", to_adapter(item)->params._name); \
} \
\
static ssize_t adapter_##_name##_store(struct config_item *item, \
				       const char *page, size_t len) \
{ \
	struct ev_adapter *ad = to_adapter(item); \
	int ret = param_store(ad, page, _min, _max, &ad->params._name); \
\
	return ret ? ret : len; \
} \
CONFIGFS_ATTR(adapter_, _name)

/* Limits: what drivers and liberdma can live with (hw 4.1). */
PARAM(vectors, "%u", 2, ERDMA_MAX_VECTORS);
PARAM(qblock, "%u", 4, 512);
PARAM(max_mr_size, "%u", 12, 48);
PARAM(max_recv_wr, "%u", 1, 15);
PARAM(max_cqe, "%u", 6, 20);
PARAM(grp_num, "%u", 0, 32);
PARAM(version, "%#010x", 1, U32_MAX);
PARAM(fw_version, "%#010x", 0, U32_MAX);
PARAM(cc, "%u", ERDMA_CC_NEWRENO, ERDMA_CC_HPCC_INT);
PARAM(flr, "%u", 0, 1);
PARAM(reset_done, "%u", 0, 1);
PARAM(proto, "%u", ERDMA_PROTO_IWARP, ERDMA_PROTO_ROCEV2);

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
	mutex_lock(&ad->plug_lock);
	if (ad->live) {
		ret = -EBUSY;
	} else {
		ether_addr_copy(ad->params.mac, mac);
		ad->params.mac_set = true;
	}
	mutex_unlock(&ad->plug_lock);
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
	mutex_lock(&ad->plug_lock);
	if (ad->live)
		ret = -EBUSY;
	else
		ad->params.flags = flags;
	mutex_unlock(&ad->plug_lock);
	return ret ? ret : len;
}
CONFIGFS_ATTR(adapter_, flags);

static ssize_t adapter_log_level_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", READ_ONCE(to_adapter(item)->log_level));
}

static ssize_t adapter_log_level_store(struct config_item *item,
				       const char *page, size_t len)
{
	u32 value;
	int ret;

	ret = kstrtou32(page, 0, &value);
	if (ret)
		return ret;
	if (value > EV_LOG_COMMANDS)
		return -EINVAL;
	WRITE_ONCE(to_adapter(item)->log_level, value);
	return len;
}
CONFIGFS_ATTR(adapter_, log_level);

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

static ssize_t adapter_live_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", READ_ONCE(to_adapter(item)->live));
}

static ssize_t adapter_live_store(struct config_item *item, const char *page,
				  size_t len)
{
	struct ev_adapter *ad = to_adapter(item);
	int ret = 0;
	bool live;

	if (kstrtobool(page, &live))
		return -EINVAL;
	mutex_lock(&ad->plug_lock);
	if (live && !ad->live)
		ret = ad->params.mac_set ? ev_adapter_plug(ad) : -EINVAL;
	else if (!live && ad->live)
		ev_adapter_unplug(ad, false);
	mutex_unlock(&ad->plug_lock);
	return ret ? ret : len;
}
CONFIGFS_ATTR(adapter_, live);

static ssize_t adapter_surprise_store(struct config_item *item,
				      const char *page, size_t len)
{
	struct ev_adapter *ad = to_adapter(item);
	int ret = 0;
	bool value;

	if (kstrtobool(page, &value) || !value)
		return -EINVAL;
	mutex_lock(&ad->plug_lock);
	if (ad->live)
		ev_adapter_unplug(ad, true);
	else
		ret = -ENODEV;
	mutex_unlock(&ad->plug_lock);
	return ret ? ret : len;
}
CONFIGFS_ATTR_WO(adapter_, surprise);

static ssize_t adapter_address_show(struct config_item *item, char *page)
{
	struct ev_adapter *ad = to_adapter(item);

	if (!READ_ONCE(ad->live))
		return sysfs_emit(page, "\n");
	return sysfs_emit(page, "%04x:00:00.0\n", ad->domain);
}
CONFIGFS_ATTR_RO(adapter_, address);

static ssize_t adapter_state_show(struct config_item *item, char *page)
{
	static const char * const names[] = {
		[EV_UNPLUGGED]	= "unplugged",
		[EV_POWERED]	= "powered",
		[EV_RUNNING]	= "running",
		[EV_GONE]	= "gone",
	};

	return sysfs_emit(page, "%s\n",
			  names[READ_ONCE(to_adapter(item)->state)]);
}
CONFIGFS_ATTR_RO(adapter_, state);

#define COUNTER(_name) \
static ssize_t adapter_##_name##_show(struct config_item *item, char *page) \
{ \
	return sysfs_emit(page, "%llu\n", (u64) \
			  atomic64_read(&to_adapter(item)->counters._name)); \
} \
CONFIGFS_ATTR_RO(adapter_, _name)

COUNTER(commands);
COUNTER(command_errors);
COUNTER(doorbells);
COUNTER(events);
COUNTER(interrupts);
COUNTER(resets);

static struct configfs_attribute *adapter_attrs[] = {
	&adapter_attr_mac,
	&adapter_attr_vectors,
	&adapter_attr_qblock,
	&adapter_attr_max_mr_size,
	&adapter_attr_max_recv_wr,
	&adapter_attr_max_cqe,
	&adapter_attr_flags,
	&adapter_attr_grp_num,
	&adapter_attr_version,
	&adapter_attr_fw_version,
	&adapter_attr_cc,
	&adapter_attr_flr,
	&adapter_attr_reset_done,
	&adapter_attr_proto,
	&adapter_attr_log_level,
	&adapter_attr_live,
	&adapter_attr_surprise,
	&adapter_attr_stale,
	&adapter_attr_address,
	&adapter_attr_state,
	&adapter_attr_commands,
	&adapter_attr_command_errors,
	&adapter_attr_doorbells,
	&adapter_attr_events,
	&adapter_attr_interrupts,
	&adapter_attr_resets,
	NULL
};

static void adapter_release(struct config_item *item)
{
	kfree(to_adapter(item));
}

static struct configfs_item_operations adapter_item_ops = {
	.release	= adapter_release,
};

static const struct config_item_type adapter_type = {
	.ct_item_ops	= &adapter_item_ops,
	.ct_attrs	= adapter_attrs,
	.ct_owner	= THIS_MODULE,
};

static struct config_group *adapters_make(struct config_group *group,
					  const char *name)
{
	struct ev_adapter *ad;

	ad = kzalloc(sizeof(*ad), GFP_KERNEL);
	if (!ad)
		return ERR_PTR(-ENOMEM);
	mutex_init(&ad->plug_lock);
	ev_model_setup(ad);
	ad->log_level = EV_LOG_ERRORS;
	ad->params = (struct ev_params) {
		.vectors = ERDMA_MAX_VECTORS,
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
		.flr = 1,
		.reset_done = 1,
		.proto = ERDMA_PROTO_IWARP,
	};
	config_group_init_type_name(&ad->group, name, &adapter_type);
	ev_fault_init(ad);
	return &ad->group;
}

static void adapters_drop(struct config_group *group, struct config_item *item)
{
	struct ev_adapter *ad = to_adapter(item);

	mutex_lock(&ad->plug_lock);
	if (ad->live)
		ev_adapter_unplug(ad, false);
	mutex_unlock(&ad->plug_lock);
	config_item_put(item);
}

static struct configfs_group_operations adapters_ops = {
	.make_group	= adapters_make,
	.drop_item	= adapters_drop,
};

static const struct config_item_type adapters_type = {
	.ct_group_ops	= &adapters_ops,
	.ct_owner	= THIS_MODULE,
};

static struct config_group adapters;

static const struct config_item_type root_type = {
	.ct_owner	= THIS_MODULE,
};

static struct configfs_subsystem subsystem = {
	.su_group = {
		.cg_item = {
			.ci_namebuf	= EV_NAME,
			.ci_type	= &root_type,
		},
	},
};

/**
 * ev_configfs_init() - offer the folder to make adapters in
 *
 * Return: 0 or a negative error.
 */
int ev_configfs_init(void)
{
	config_group_init(&subsystem.su_group);
	config_group_init_type_name(&adapters, "erdma", &adapters_type);
	configfs_add_default_group(&adapters, &subsystem.su_group);
	mutex_init(&subsystem.su_mutex);
	return configfs_register_subsystem(&subsystem);
}

/**
 * ev_configfs_exit() - withdraw the folder
 */
void ev_configfs_exit(void)
{
	configfs_unregister_subsystem(&subsystem);
}
