// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Has the driver of a PCI function shut it down, as it is when the machine goes down or
 * starts another kernel, but goes on. Knows no driver; writing the function's address to
 * /sys/module/shutpci/parameters/function does it.
 */
#include <linux/module.h>
#include <linux/pci.h>

static int function_set(const char *val, const struct kernel_param *kp)
{
	unsigned int domain, bus, slot, func;
	struct pci_dev *pdev;

	if (sscanf(val, "%x:%x:%x.%x", &domain, &bus, &slot, &func) != 4)
		return -EINVAL;
	pdev = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, func));
	if (!pdev)
		return -ENODEV;
	device_lock(&pdev->dev);
	pdev->dev.bus->shutdown(&pdev->dev);
	device_unlock(&pdev->dev);
	pci_dev_put(pdev);
	return 0;
}

static const struct kernel_param_ops function_ops = { .set = function_set };
module_param_cb(function, &function_ops, NULL, 0200);
MODULE_PARM_DESC(function, "Address of a function to shut down");

MODULE_DESCRIPTION("Test: a PCI function is shut down");
MODULE_LICENSE("GPL");
