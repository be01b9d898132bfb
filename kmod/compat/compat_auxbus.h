/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The auxiliary bus. Kernels without one (5.10, or any configuration without
 * CONFIG_AUXILIARY_BUS, see compat/Kbuild) use our own bus, eadm_aux.ko, which the
 * driver and the companion share. It provides the part of the kernel's interface that these modules
 * use, with different symbols and a different name in sysfs.
 */
#ifndef COMPAT_AUXBUS_H
#define COMPAT_AUXBUS_H

#ifdef COMPAT_HAVE_AUXILIARY_BUS
#include <linux/auxiliary_bus.h>
#include <linux/build_bug.h>

/* The kernel's build generates the module alias from the table. */
#define COMPAT_AUX_TABLE(ids)	MODULE_DEVICE_TABLE(auxiliary, ids)
#define COMPAT_AUX_ALIAS(name)	static_assert(sizeof(name) > 1)
#else
#include <linux/build_bug.h>
#include <linux/device.h>
#include <linux/mod_devicetable.h>

#define auxiliary_device		eadm_aux_device
#define auxiliary_device_id		eadm_aux_device_id
#define auxiliary_driver		eadm_aux_driver
#define auxiliary_device_add(adev)	eadm_aux_device_add(adev, KBUILD_MODNAME)
#define auxiliary_driver_register(drv)	eadm_aux_driver_register(drv, THIS_MODULE, KBUILD_MODNAME)
#define auxiliary_device_init		eadm_aux_device_init
#define auxiliary_device_delete		eadm_aux_device_delete
#define auxiliary_device_uninit		eadm_aux_device_uninit
#define auxiliary_driver_unregister	eadm_aux_driver_unregister
#define auxiliary_get_drvdata		eadm_aux_get_drvdata
#define auxiliary_set_drvdata		eadm_aux_set_drvdata
#define to_auxiliary_dev		to_eadm_aux_dev

#define EADM_AUX_NAME_SIZE		40
#define EADM_AUX_MODALIAS		"eadm_aux:"

/* The kernel's build does not support tables of this type. */
#define COMPAT_AUX_TABLE(ids)		static_assert(sizeof(ids) > 1)
#define COMPAT_AUX_ALIAS(name)		MODULE_ALIAS(EADM_AUX_MODALIAS name)

struct eadm_aux_device {
	struct device dev;
	const char *name;
	u32 id;
};

struct eadm_aux_device_id {
	char name[EADM_AUX_NAME_SIZE];
};

struct eadm_aux_driver {
	int (*probe)(struct eadm_aux_device *adev, const struct eadm_aux_device_id *id);
	void (*remove)(struct eadm_aux_device *adev);
	const struct eadm_aux_device_id *id_table;
	struct device_driver driver;
};

int eadm_aux_device_init(struct eadm_aux_device *adev);
int eadm_aux_device_add(struct eadm_aux_device *adev, const char *modname);
int eadm_aux_driver_register(struct eadm_aux_driver *drv, struct module *owner,
			     const char *modname);
void eadm_aux_driver_unregister(struct eadm_aux_driver *drv);

static inline struct eadm_aux_device *to_eadm_aux_dev(struct device *dev)
{
	return container_of(dev, struct eadm_aux_device, dev);
}

static inline void eadm_aux_device_delete(struct eadm_aux_device *adev)
{
	device_del(&adev->dev);
}

static inline void eadm_aux_device_uninit(struct eadm_aux_device *adev)
{
	put_device(&adev->dev);
}

static inline void *eadm_aux_get_drvdata(struct eadm_aux_device *adev)
{
	return dev_get_drvdata(&adev->dev);
}

static inline void eadm_aux_set_drvdata(struct eadm_aux_device *adev, void *data)
{
	dev_set_drvdata(&adev->dev, data);
}
#endif

#endif /* COMPAT_AUXBUS_H */
