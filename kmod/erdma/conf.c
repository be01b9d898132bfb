// SPDX-License-Identifier: GPL-2.0-only
/*
 * Settings of the adapter: attributes of the RDMA device in sysfs.
 *
 *   cc            congestion control of connections made from now on
 *   retrans_num   retransmissions before a connection is given up, 1 to 255;
 *                 0 before it is set: the adapter's own choice
 *   delayed_ack   packets that one acknowledgment may wait for, as the adapter
 *                 has it; without CAP_NET_ADMIN up to 100 ms old
 *   cmd_timeout   ms after which a command is given up and the command queue
 *                 is brought back; not told to the adapter
 *
 * What the adapter was told, it is told again after a reset.
 */

#include <linux/device.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "erdma.h"

#define CMD_TIMEOUT_MIN_MS	500
#define CMD_TIMEOUT_MAX_MS	60000

/* By number (hw 4.1). */
static const char *const cc_names[] = {
	[ERDMA_CC_NEWRENO]	= "newreno",
	[ERDMA_CC_CUBIC]	= "cubic",
	[ERDMA_CC_HPCC_RTT]	= "hpcc-rtt",
	[ERDMA_CC_HPCC_ECN]	= "hpcc-ecn",
	[ERDMA_CC_HPCC_INT]	= "hpcc-int",
};

static struct erdma_dev *from_device(struct device *device)
{
	return rdma_device_to_drv_device(device, struct erdma_dev, ibdev);
}

static ssize_t cc_show(struct device *device, struct device_attribute *attr, char *buf)
{
	u8 cc = READ_ONCE(from_device(device)->conf.cc);

	if (cc >= ARRAY_SIZE(cc_names))
		return sysfs_emit(buf, "%u\n", cc);
	return sysfs_emit(buf, "%s\n", cc_names[cc]);
}

static ssize_t cc_store(struct device *device, struct device_attribute *attr, const char *buf,
			size_t len)
{
	int cc = sysfs_match_string(cc_names, buf);

	if (cc < 0)
		return cc;
	WRITE_ONCE(from_device(device)->conf.cc, cc);
	return len;
}
static DEVICE_ATTR_RW(cc);

static ssize_t retrans_num_show(struct device *device, struct device_attribute *attr,
				char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(from_device(device)->conf.retrans_num));
}

static ssize_t retrans_num_store(struct device *device, struct device_attribute *attr,
				 const char *buf, size_t len)
{
	u8 num;
	int ret;

	ret = kstrtou8(buf, 0, &num);
	if (ret)
		return ret;
	if (!num)
		return -EINVAL;
	ret = erdma_conf_set_retrans_num(from_device(device), num);
	return ret ? ret : len;
}
static DEVICE_ATTR_RW(retrans_num);

static ssize_t delayed_ack_show(struct device *device, struct device_attribute *attr,
				char *buf)
{
	struct erdma_ext_attr ext;
	int ret;

	ret = erdma_recent_ext_attr(from_device(device), &ext, erdma_may_ask());
	return ret ? ret : sysfs_emit(buf, "%u\n", ext.delayed_ack);
}

static ssize_t delayed_ack_store(struct device *device, struct device_attribute *attr,
				 const char *buf, size_t len)
{
	u8 count;
	int ret;

	ret = kstrtou8(buf, 0, &count);
	if (ret)
		return ret;
	ret = erdma_conf_set_delayed_ack(from_device(device), count);
	return ret ? ret : len;
}
static DEVICE_ATTR_RW(delayed_ack);

static ssize_t cmd_timeout_show(struct device *device, struct device_attribute *attr,
				char *buf)
{
	return sysfs_emit(buf, "%u\n", erdma_cmd_timeout_ms(from_device(device)));
}

static ssize_t cmd_timeout_store(struct device *device, struct device_attribute *attr,
				 const char *buf, size_t len)
{
	u32 ms;
	int ret;

	ret = kstrtou32(buf, 0, &ms);
	if (ret)
		return ret;
	if (ms < CMD_TIMEOUT_MIN_MS || ms > CMD_TIMEOUT_MAX_MS)
		return -EINVAL;
	WRITE_ONCE(from_device(device)->conf.cmd_timeout, ms);
	return len;
}
static DEVICE_ATTR_RW(cmd_timeout);

static struct attribute *attrs[] = {
	&dev_attr_cc.attr,
	&dev_attr_retrans_num.attr,
	&dev_attr_delayed_ack.attr,
	&dev_attr_cmd_timeout.attr,
	NULL
};

const struct attribute_group erdma_conf_group = {
	.attrs = attrs,
};

/**
 * erdma_conf_set_retrans_num() - limit retransmissions from now on
 * @dev: the device
 * @num: times, at least 1
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_conf_set_retrans_num(struct erdma_dev *dev, u8 num)
{
	struct erdma_conf *conf = &dev->conf;
	int ret;

	mutex_lock(&conf->lock);
	ret = erdma_cmd_set_retrans_num(dev, num);
	if (!ret)
		WRITE_ONCE(conf->retrans_num, num);
	mutex_unlock(&conf->lock);
	return ret;
}

/**
 * erdma_conf_set_delayed_ack() - let acknowledgments wait from now on
 * @dev: the device
 * @count: for so many packets
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int erdma_conf_set_delayed_ack(struct erdma_dev *dev, u8 count)
{
	struct erdma_conf *conf = &dev->conf;
	int ret;

	mutex_lock(&conf->lock);
	ret = erdma_cmd_set_delayed_ack(dev, count);
	if (!ret)
		WRITE_ONCE(conf->delayed_ack, count);
	mutex_unlock(&conf->lock);
	erdma_recent_forget(dev);
	return ret;
}

/**
 * erdma_conf_init() - begin with the adapter's own settings
 * @dev: the device; capabilities are known
 *
 * Context: process.
 */
void erdma_conf_init(struct erdma_dev *dev)
{
	mutex_init(&dev->conf.lock);
	erdma_recent_init(dev);
	dev->conf.cc = dev->caps.cc;
	dev->conf.delayed_ack = -1;
}

/**
 * erdma_conf_restore() - tell the adapter its settings again
 * @dev: the device, reset
 *
 * Without the lock, whose holder may be waiting for the end of recovery.
 *
 * Context: process.
 * Return: 0, also for what the adapter refused, or -errno.
 */
int erdma_conf_restore(struct erdma_dev *dev)
{
	int delayed_ack = READ_ONCE(dev->conf.delayed_ack);
	u8 retrans_num = READ_ONCE(dev->conf.retrans_num);
	int ret = 0;

	if (retrans_num)
		ret = erdma_cmd_set_retrans_num(dev, retrans_num);
	if ((!ret || ret == -EIO) && delayed_ack >= 0)
		ret = erdma_cmd_set_delayed_ack(dev, delayed_ack);
	return ret == -EIO ? 0 : ret;
}
