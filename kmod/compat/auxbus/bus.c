// SPDX-License-Identifier: GPL-2.0-only
/*
 * A substitute for the kernel's auxiliary bus, for kernels without it. A device
 * "<module>.<name>.<id>" matches the drivers whose table has "<module>.<name>".
 */
#include <linux/module.h>
#include <linux/string.h>

#include "../compat_auxbus.h"

#ifdef COMPAT_HAVE_BUS_MATCH_CONST
#define MATCH_CONST	const
#else
#define MATCH_CONST
#endif

#ifdef COMPAT_HAVE_BUS_UEVENT_CONST
#define UEVENT_CONST	const
#else
#define UEVENT_CONST
#endif

static const struct eadm_aux_driver *to_driver(const struct device_driver *driver)
{
	return container_of(driver, struct eadm_aux_driver, driver);
}

/* Returns the length of the device's name without its number. */
static size_t kind_len(const struct device *dev)
{
	const char *name = dev_name(dev);
	const char *number = strrchr(name, '.');

	return number ? number - name : strlen(name);
}

static const struct eadm_aux_device_id *find_id(const struct eadm_aux_device_id *id,
						const struct device *dev)
{
	size_t len = kind_len(dev);

	for (; id->name[0]; id++)
		if (strlen(id->name) == len && !strncmp(id->name, dev_name(dev), len))
			return id;
	return NULL;
}

static int bus_match(struct device *dev, MATCH_CONST struct device_driver *driver)
{
	return !!find_id(to_driver(driver)->id_table, dev);
}

static int bus_uevent(UEVENT_CONST struct device *dev, struct kobj_uevent_env *env)
{
	return add_uevent_var(env, "MODALIAS=" EADM_AUX_MODALIAS "%.*s", (int)kind_len(dev),
			      dev_name(dev));
}

static int bus_probe(struct device *dev)
{
	const struct eadm_aux_driver *drv = to_driver(dev->driver);

	return drv->probe(to_eadm_aux_dev(dev), find_id(drv->id_table, dev));
}

#ifdef COMPAT_HAVE_BUS_REMOVE_VOID
static void bus_remove(struct device *dev)
{
	to_driver(dev->driver)->remove(to_eadm_aux_dev(dev));
}
#else
static int bus_remove(struct device *dev)
{
	to_driver(dev->driver)->remove(to_eadm_aux_dev(dev));
	return 0;
}
#endif

static struct bus_type bus = {
	.name = "eadm_aux",
	.match = bus_match,
	.uevent = bus_uevent,
	.probe = bus_probe,
	.remove = bus_remove,
};

/**
 * eadm_aux_device_init() - prepare a device for the bus
 * @adev: the device with name, id, parent and release function
 *
 * Return: 0 or -EINVAL. After success, eadm_aux_device_uninit() releases it.
 */
int eadm_aux_device_init(struct eadm_aux_device *adev)
{
	if (!adev->name || !adev->dev.parent || !adev->dev.release)
		return -EINVAL;
	adev->dev.bus = &bus;
	device_initialize(&adev->dev);
	return 0;
}
EXPORT_SYMBOL_GPL(eadm_aux_device_init);

/**
 * eadm_aux_device_add() - make a device available to drivers
 * @adev: the device, prepared
 * @modname: its module
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int eadm_aux_device_add(struct eadm_aux_device *adev, const char *modname)
{
	int ret = dev_set_name(&adev->dev, "%s.%s.%u", modname, adev->name, adev->id);

	return ret ?: device_add(&adev->dev);
}
EXPORT_SYMBOL_GPL(eadm_aux_device_add);

/**
 * eadm_aux_driver_register() - bind a driver to all matching devices, present
 * and future
 * @drv: the driver
 * @owner: its module
 * @modname: that module's name
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int eadm_aux_driver_register(struct eadm_aux_driver *drv, struct module *owner,
			     const char *modname)
{
	drv->driver.name = modname;
	drv->driver.mod_name = modname;
	drv->driver.owner = owner;
	drv->driver.bus = &bus;
	return driver_register(&drv->driver);
}
EXPORT_SYMBOL_GPL(eadm_aux_driver_register);

/**
 * eadm_aux_driver_unregister() - unbind a driver from all its devices
 * @drv: the driver
 *
 * Context: process.
 */
void eadm_aux_driver_unregister(struct eadm_aux_driver *drv)
{
	driver_unregister(&drv->driver);
}
EXPORT_SYMBOL_GPL(eadm_aux_driver_unregister);

static int __init eadm_aux_init(void)
{
	return bus_register(&bus);
}
module_init(eadm_aux_init);

static void __exit eadm_aux_exit(void)
{
	bus_unregister(&bus);
}
module_exit(eadm_aux_exit);

MODULE_DESCRIPTION("Auxiliary bus of eadm for kernels without one");
MODULE_LICENSE("GPL");
