// SPDX-License-Identifier: GPL-2.0-only
/*
 * The char devices /dev/eadm/N. An open file holds the device's struct, not the device: each call
 * enters the device, and fails once it is gone.
 */
#include <linux/capability.h>
#include <linux/compat.h>
#include <linux/nsproxy.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>

#include "eadm.h"
#include "eadm_ioctl.h"

#define MINORS	1024

/* Minimum size of each argument: that of its first version. */
#define INFO_SIZE_V0	offsetofend(struct eadm_ioc_info, dev_name)
#define TRACE_SIZE_V0	offsetofend(struct eadm_ioc_trace, reserved)
#define RING_SIZE_V0	offsetofend(struct eadm_ioc_ring, reserved)
#define HWCTX_SIZE_V0	offsetofend(struct eadm_ioc_hwctx, reserved)
#define REGS_SIZE_V0	offsetofend(struct eadm_ioc_regs, reserved)

static dev_t node_base;

static_assert(sizeof(struct eadm_ioc_info) == 80);
static_assert(sizeof(struct eadm_ioc_trace) == 40);

static char *node_path(COMPAT_DEVNODE_CONST struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0600;
	return kasprintf(GFP_KERNEL, "eadm/%u", MINOR(dev->devt));
}

/*
 * Attribute for udev. The char device is deleted before its RDMA device. Device names are visible
 * under the same conditions as in the RDMA core: in namespaces in which the device can be used.
 */
static ssize_t ibdev_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct eadm_dev *edev = container_of(dev, struct eadm_dev, node);

	if (!rdma_dev_access_netns(edev->dd->ibdev, current->nsproxy->net_ns))
		return -ENODEV;
	return sysfs_emit(buf, "%s\n", edev->dd->ibdev->name);
}
static DEVICE_ATTR_RO(ibdev);

static struct attribute *node_attrs[] = {
	&dev_attr_ibdev.attr,
	NULL,
};
ATTRIBUTE_GROUPS(node);

static struct class node_class = {
	.name = "eadm",
	.devnode = node_path,
	.dev_groups = node_groups,
};

static const struct net *caller_net(void)
{
	return current->nsproxy->net_ns;
}

static int node_open(struct inode *inode, struct file *file)
{
	struct eadm_dev *edev = container_of(inode->i_cdev, struct eadm_dev, cdev);
	struct eadm_trace *trace;

	if (!eadm_dev_enter(edev, caller_net()))
		return -ENODEV;
	trace = eadm_trace_new(edev);
	eadm_dev_exit(edev);
	if (IS_ERR(trace))
		return PTR_ERR(trace);
	get_device(&edev->node);
	file->private_data = trace;
	return stream_open(inode, file);
}

static int node_release(struct inode *inode, struct file *file)
{
	struct eadm_dev *edev = container_of(inode->i_cdev, struct eadm_dev, cdev);

	eadm_trace_free(file->private_data);
	put_device(&edev->node);
	return 0;
}

/*
 * The size is the only input. Members of a larger struct that this kernel does not know are set to
 * zero.
 */
static int ioc_info(struct eadm_dev *edev, struct eadm_ioc_info *info, void __user *arg, u32 size)
{
	if (memchr_inv(&info->dev_index, 0, sizeof(*info) - sizeof(info->size)))
		return -EINVAL;
	if (!eadm_dev_enter(edev, caller_net()))
		return -ENODEV;
	info->size = sizeof(*info);
	info->dev_index = edev->dd->ibdev->index;
	info->trace_rec_max = EADM_TRACE_REC_MAX;
	info->features = (edev->objs[EADM_OBJ_CMD] ? EADM_FEATURE_TRACE : 0) |
			 (edev->dd->ops->ring ? EADM_FEATURE_RING : 0) |
			 (edev->dd->ops->context ? EADM_FEATURE_HWCTX : 0) |
			 (edev->dd->ops->regs ? EADM_FEATURE_REGS : 0);
	strscpy(info->dev_name, edev->dd->ibdev->name, sizeof(info->dev_name));
	eadm_dev_exit(edev);
	if (copy_to_user(arg, info, min_t(size_t, size, sizeof(*info))))
		return -EFAULT;
	return 0;
}

/* Bytes of commands are available only to processes that could read them from the bus anyway. */
static bool may_read_raw(const struct file *file)
{
	return file_ns_capable(file, &init_user_ns, CAP_SYS_RAWIO) &&
	       !security_locked_down(LOCKDOWN_PCI_ACCESS);
}

union ioc_arg {
	u32 size;
	struct eadm_ioc_info info;
	struct eadm_ioc_trace trace;
	struct eadm_ioc_ring ring;
	struct eadm_ioc_hwctx hwctx;
	struct eadm_ioc_regs regs;
};

static void __user *data_of(const union ioc_arg *u, unsigned int cmd)
{
	if (cmd == EADM_IOC_RING)
		return u64_to_user_ptr(u->ring.data);
	if (cmd == EADM_IOC_HWCTX)
		return u64_to_user_ptr(u->hwctx.data);
	return u64_to_user_ptr(u->regs.data);
}

/*
 * Exits the device before accessing the caller's memory: a page fault that never completes must not
 * block removal.
 */
static int ioc_raw(struct file *file, struct eadm_dev *edev, unsigned int cmd,
		   union ioc_arg *u, void __user *arg, u32 size, u32 known)
{
	void *data = NULL;
	int ret;

	if (!may_read_raw(file))
		return -EPERM;
	if (!eadm_dev_enter(edev, caller_net()))
		return -ENODEV;
	if (cmd == EADM_IOC_RING)
		ret = eadm_raw_ring(edev, &u->ring, &data);
	else if (cmd == EADM_IOC_HWCTX)
		ret = eadm_raw_hwctx(edev, &u->hwctx, &data);
	else
		ret = eadm_raw_regs(edev, &u->regs, &data);
	eadm_dev_exit(edev);
	if (ret < 0)
		return ret;
	u->size = known;
	ret = copy_to_user(data_of(u, cmd), data, ret) ||
	      copy_to_user(arg, u, min(size, known)) ? -EFAULT : 0;
	kvfree(data);
	return ret;
}

static long node_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	struct eadm_dev *edev = container_of(file_inode(file)->i_cdev, struct eadm_dev, cdev);
	void __user *arg = (void __user *)user;
	u32 size, min, max;
	union ioc_arg u;
	int ret;

	if (eadm_dev_gone(edev))
		return -ENODEV;
	switch (cmd) {
	case EADM_IOC_INFO:
		min = INFO_SIZE_V0;
		max = sizeof(u.info);
		break;
	case EADM_IOC_TRACE:
		min = TRACE_SIZE_V0;
		max = sizeof(u.trace);
		break;
	case EADM_IOC_RING:
		min = RING_SIZE_V0;
		max = sizeof(u.ring);
		break;
	case EADM_IOC_HWCTX:
		min = HWCTX_SIZE_V0;
		max = sizeof(u.hwctx);
		break;
	case EADM_IOC_REGS:
		min = REGS_SIZE_V0;
		max = sizeof(u.regs);
		break;
	default:
		return -ENOTTY;
	}
	if (get_user(size, (u32 __user *)arg))
		return -EFAULT;
	if (size < min)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&u, max, arg, size);
	if (ret)
		return ret;
	switch (cmd) {
	case EADM_IOC_INFO:
		return ioc_info(edev, &u.info, arg, size);
	case EADM_IOC_TRACE:
		return eadm_trace_start(file->private_data, &u.trace, may_read_raw(file));
	default:
		return ioc_raw(file, edev, cmd, &u, arg, size, max);
	}
}

static ssize_t node_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct eadm_dev *edev = container_of(file_inode(file)->i_cdev, struct eadm_dev, cdev);

	if (eadm_dev_gone(edev))
		return -ENODEV;
	return eadm_trace_read(file->private_data, buf, count, !(file->f_flags & O_NONBLOCK));
}

static __poll_t node_poll(struct file *file, poll_table *wait)
{
	return eadm_trace_poll(file->private_data, file, wait);
}

static const struct file_operations node_fops = {
	.owner = THIS_MODULE,
	.open = node_open,
	.release = node_release,
	.read = node_read,
	.poll = node_poll,
	.unlocked_ioctl = node_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* Lookups in the table may still access the struct, so wait for a grace period. */
static void node_free(struct device *dev)
{
	struct eadm_dev *edev = container_of(dev, struct eadm_dev, node);

	kfree_rcu(edev, rcu);
}

/**
 * eadm_node_add() - create the char device
 * @edev: the device; @edev->node owns its struct after this call
 * @parent: auxiliary device
 *
 * Return: 0 or a negative errno; in both cases put_device() frees the struct.
 */
int eadm_node_add(struct eadm_dev *edev, struct device *parent)
{
	int ret;

	device_initialize(&edev->node);
	edev->node.class = &node_class;
	edev->node.parent = parent;
	edev->node.devt = MKDEV(MAJOR(node_base), edev->index);
	edev->node.release = node_free;
	ret = dev_set_name(&edev->node, "eadm%u", edev->index);
	if (ret)
		return ret;
	cdev_init(&edev->cdev, &node_fops);
	edev->cdev.owner = THIS_MODULE;
	return cdev_device_add(&edev->cdev, &edev->node);
}

/**
 * eadm_node_del() - remove the char device; open files stay
 * @edev: the device
 */
void eadm_node_del(struct eadm_dev *edev)
{
	cdev_device_del(&edev->cdev, &edev->node);
}

/**
 * eadm_node_changed() - notify udev that the RDMA device was renamed
 * @edev: the device
 */
void eadm_node_changed(struct eadm_dev *edev)
{
	kobject_uevent(&edev->node.kobj, KOBJ_CHANGE);
}

/**
 * eadm_node_init() - reserve device numbers and create the class
 *
 * Return: 0 or a negative errno.
 */
int __init eadm_node_init(void)
{
	int ret;

	ret = alloc_chrdev_region(&node_base, 0, MINORS, "eadm");
	if (ret)
		return ret;
	ret = class_register(&node_class);
	if (ret)
		unregister_chrdev_region(node_base, MINORS);
	return ret;
}

/**
 * eadm_node_exit() - undo eadm_node_init()
 */
void eadm_node_exit(void)
{
	class_unregister(&node_class);
	unregister_chrdev_region(node_base, MINORS);
}
