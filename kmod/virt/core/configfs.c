// SPDX-License-Identifier: GPL-2.0-only
/*
 * Management: mkdir /sys/kernel/config/eadm_virt/FAMILY/NAME describes an adapter,
 * writing 1 to its file "live" plugs it in, and rmdir removes it in an orderly way.
 *
 * Parameters, refused with EBUSY while the adapter is plugged in:
 *   vectors      MSI-X vectors
 *   flr          1: function level reset is supported
 *   ...          parameters of the family
 * At any time:
 *   flr_ms       duration of a function level reset, during which config space and
 *                registers read as ones and writes are lost. 0: until the next pass
 *   log_level    0 nothing, 1 refused commands, 2 all commands
 *   live         1: plug in, 0: remove, while the driver can still access the device
 *   surprise     1: kill the device, then remove it
 *   fault/       see fault.c
 * Read only:
 *   address      PCI address, while plugged in
 *   state        unplugged, powered, running (started by a driver) or gone
 *   commands, command_errors, doorbells, events, interrupts, resets
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "vdev.h"

/* The PCI core waits for up to a minute. */
#define FLR_MAX_MS	60000

static ssize_t adapter_vectors_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", vdev_of(item)->vectors);
}

static ssize_t adapter_vectors_store(struct config_item *item, const char *page, size_t len)
{
	struct vdev *vdev = vdev_of(item);
	const struct vdev_function *fn = vdev->family->function;

	return vdev_param_store(vdev, page, fn->min_vectors, fn->max_vectors, &vdev->vectors) ?:
	       len;
}
CONFIGFS_ATTR(adapter_, vectors);

static ssize_t adapter_flr_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", vdev_of(item)->flr);
}

static ssize_t adapter_flr_store(struct config_item *item, const char *page, size_t len)
{
	struct vdev *vdev = vdev_of(item);

	return vdev_param_store(vdev, page, 0, 1, &vdev->flr) ?: len;
}
CONFIGFS_ATTR(adapter_, flr);

static ssize_t adapter_flr_ms_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(vdev_of(item)->flr_ms));
}

static ssize_t adapter_flr_ms_store(struct config_item *item, const char *page, size_t len)
{
	u32 value;
	int ret;

	ret = kstrtou32(page, 0, &value);
	if (ret)
		return ret;
	if (value > FLR_MAX_MS)
		return -EINVAL;
	WRITE_ONCE(vdev_of(item)->flr_ms, value);
	return len;
}
CONFIGFS_ATTR(adapter_, flr_ms);

static ssize_t adapter_log_level_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", READ_ONCE(vdev_of(item)->log_level));
}

static ssize_t adapter_log_level_store(struct config_item *item,
				       const char *page, size_t len)
{
	u32 value;
	int ret;

	ret = kstrtou32(page, 0, &value);
	if (ret)
		return ret;
	if (value > VDEV_LOG_COMMANDS)
		return -EINVAL;
	WRITE_ONCE(vdev_of(item)->log_level, value);
	return len;
}
CONFIGFS_ATTR(adapter_, log_level);

static ssize_t adapter_live_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", READ_ONCE(vdev_of(item)->live));
}

static ssize_t adapter_live_store(struct config_item *item, const char *page,
				  size_t len)
{
	struct vdev *vdev = vdev_of(item);
	int ret = 0;
	bool live;

	if (kstrtobool(page, &live))
		return -EINVAL;
	mutex_lock(&vdev->plug_lock);
	if (live && !vdev->live)
		ret = vdev->family->may_plug(vdev) ?: vdev_plug(vdev);
	else if (!live && vdev->live)
		vdev_unplug(vdev, false);
	mutex_unlock(&vdev->plug_lock);
	return ret ? ret : len;
}
CONFIGFS_ATTR(adapter_, live);

static ssize_t adapter_surprise_store(struct config_item *item,
				      const char *page, size_t len)
{
	struct vdev *vdev = vdev_of(item);
	int ret = 0;
	bool value;

	if (kstrtobool(page, &value) || !value)
		return -EINVAL;
	mutex_lock(&vdev->plug_lock);
	if (vdev->live)
		vdev_unplug(vdev, true);
	else
		ret = -ENODEV;
	mutex_unlock(&vdev->plug_lock);
	return ret ? ret : len;
}
CONFIGFS_ATTR_WO(adapter_, surprise);

static ssize_t adapter_address_show(struct config_item *item, char *page)
{
	struct vdev *vdev = vdev_of(item);

	if (!READ_ONCE(vdev->live))
		return sysfs_emit(page, "\n");
	return sysfs_emit(page, "%04x:00:00.0\n", vdev->domain);
}
CONFIGFS_ATTR_RO(adapter_, address);

static ssize_t adapter_state_show(struct config_item *item, char *page)
{
	static const char * const names[] = {
		[VDEV_UNPLUGGED]	= "unplugged",
		[VDEV_POWERED]		= "powered",
		[VDEV_RUNNING]		= "running",
		[VDEV_GONE]		= "gone",
	};

	return sysfs_emit(page, "%s\n", names[READ_ONCE(vdev_of(item)->state)]);
}
CONFIGFS_ATTR_RO(adapter_, state);

#define COUNTER(_name) \
static ssize_t adapter_##_name##_show(struct config_item *item, char *page) \
{ \
	return sysfs_emit(page, "%llu\n", (u64) \
			  atomic64_read(&vdev_of(item)->counters._name)); \
} \
CONFIGFS_ATTR_RO(adapter_, _name)

COUNTER(commands);
COUNTER(command_errors);
COUNTER(doorbells);
COUNTER(events);
COUNTER(interrupts);
COUNTER(resets);

static struct configfs_attribute *const adapter_attrs[] = {
	&adapter_attr_vectors,
	&adapter_attr_flr,
	&adapter_attr_flr_ms,
	&adapter_attr_log_level,
	&adapter_attr_live,
	&adapter_attr_surprise,
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
	struct vdev *vdev = vdev_of(item);

	vdev_fault_exit(vdev);
	kfree(vdev);
}

static struct configfs_item_operations adapter_item_ops = {
	.release	= adapter_release,
};

/**
 * struct folder - folder of a family, in which adapters are created
 * @family: family of all adapters in it
 * @group: the folder itself
 * @attrs: attributes of each adapter: the common ones, then the family's
 * @adapter: configfs type of an adapter
 */
struct folder {
	const struct vdev_family *family;
	struct config_group group;
	struct configfs_attribute **attrs;
	struct config_item_type adapter;
};

/* One per element of vdev_families; exists as long as the module. */
static struct folder *folders;

static struct config_group *adapters_make(struct config_group *group,
					  const char *name)
{
	struct folder *folder = container_of(group, struct folder, group);
	struct vdev *vdev;

	vdev = kzalloc(folder->family->size, GFP_KERNEL);
	if (!vdev)
		return ERR_PTR(-ENOMEM);
	vdev->family = folder->family;
	vdev_setup(vdev);
	config_group_init_type_name(&vdev->group, name, &folder->adapter);
	if (vdev_fault_init(vdev)) {
		config_group_put(&vdev->group);
		return ERR_PTR(-ENOMEM);
	}
	return &vdev->group;
}

static void adapters_drop(struct config_group *group, struct config_item *item)
{
	struct vdev *vdev = vdev_of(item);

	mutex_lock(&vdev->plug_lock);
	if (vdev->live)
		vdev_unplug(vdev, false);
	mutex_unlock(&vdev->plug_lock);
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

static const struct config_item_type root_type = {
	.ct_owner	= THIS_MODULE,
};

static struct configfs_subsystem subsystem = {
	.su_group = {
		.cg_item = {
			.ci_namebuf	= VDEV_MODULE,
			.ci_type	= &root_type,
		},
	},
};

static unsigned int count(struct configfs_attribute *const *attrs)
{
	unsigned int n = 0;

	while (attrs[n])
		n++;
	return n;
}

static int folder_init(struct folder *folder, const struct vdev_family *family)
{
	unsigned int ours = count(adapter_attrs), theirs = count(family->attrs);

	folder->attrs = kcalloc(ours + theirs + 1, sizeof(*folder->attrs), GFP_KERNEL);
	if (!folder->attrs)
		return -ENOMEM;
	memcpy(folder->attrs, adapter_attrs, ours * sizeof(*folder->attrs));
	memcpy(folder->attrs + ours, family->attrs, theirs * sizeof(*folder->attrs));
	folder->family = family;
	folder->adapter = (struct config_item_type) {
		.ct_item_ops = &adapter_item_ops,
		.ct_attrs = folder->attrs,
		.ct_owner = THIS_MODULE,
	};
	config_group_init_type_name(&folder->group, family->name, &adapters_type);
	configfs_add_default_group(&folder->group, &subsystem.su_group);
	return 0;
}

static unsigned int nr_families(void)
{
	unsigned int n = 0;

	while (vdev_families[n])
		n++;
	return n;
}

static void folders_free(void)
{
	unsigned int i;

	for (i = 0; i < nr_families(); i++)
		kfree(folders[i].attrs);
	kfree(folders);
}

/**
 * vdev_configfs_init() - create the families' folders
 *
 * Return: 0 or a negative error.
 */
int vdev_configfs_init(void)
{
	unsigned int i;
	int ret = 0;

	folders = kcalloc(nr_families(), sizeof(*folders), GFP_KERNEL);
	if (!folders)
		return -ENOMEM;
	config_group_init(&subsystem.su_group);
	mutex_init(&subsystem.su_mutex);
	for (i = 0; i < nr_families() && !ret; i++)
		ret = folder_init(&folders[i], vdev_families[i]);
	if (!ret)
		ret = configfs_register_subsystem(&subsystem);
	if (ret)
		folders_free();
	return ret;
}

/**
 * vdev_configfs_exit() - remove the folders
 */
void vdev_configfs_exit(void)
{
	configfs_unregister_subsystem(&subsystem);
	folders_free();
}
