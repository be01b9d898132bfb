// SPDX-License-Identifier: GPL-2.0-only
/* PCI driver of the Elastic Fabric Adapter: probe and removal (hw 2.5, 2.6). */

#include <linux/dma-mapping.h>
#include <linux/module.h>

#include "eadm_version.h"
#include "efa.h"

static void tables_free(struct eadm_adapter *ad)
{
	struct efa_dev *dev = adapter_to_efa(ad);

	eadm_table_destroy(&dev->uars);
	eadm_table_destroy(&dev->ahs);
}

static int tables_alloc(struct eadm_adapter *ad)
{
	const u32 theirs = U16_MAX + 1, all = EFA_MAX_OWN_NUMBER + 1;
	struct efa_dev *dev = adapter_to_efa(ad);

	eadm_table_init(&dev->ahs, ad, EADM_OBJ_AH);
	eadm_table_init(&dev->uars, ad, EADM_OBJ_UAR);
	if (!eadm_table_alloc(&ad->qps, theirs, theirs) &&
	    !eadm_table_alloc(&ad->cqs, theirs, theirs) &&
	    !eadm_table_alloc(&ad->mrs, 1, all) &&
	    !eadm_table_alloc(&ad->pds, theirs, theirs) &&
	    !eadm_table_alloc(&dev->ahs, theirs, all) &&
	    !eadm_table_alloc(&ad->ctxs, 1, all) &&
	    !eadm_table_alloc(&dev->uars, theirs, theirs))
		return 0;
	tables_free(ad);
	return -ENOMEM;
}

static int pci_start(struct eadm_adapter *ad)
{
	struct pci_dev *pdev = ad->fn.pdev;

	if ((pci_select_bars(pdev, IORESOURCE_MEM) & EFA_BAR_MASK) != EFA_BAR_MASK ||
	    pci_resource_len(pdev, EFA_REGS_BAR) < EFA_REGS_SIZE) {
		dev_err(&pdev->dev, "BARs 0 and 2 are not both memory BARs\n");
		return -ENODEV;
	}
	return eadm_pci_start(ad, EFA_BAR_MASK, EFA_REGS_BAR);
}

/* The BAR number is known only after reading the adapter's attributes. */
static int claim_db_bar(struct efa_dev *dev)
{
	u16 bar = le16_to_cpu(dev->caps.device.db_bar);
	int ret;

	if (bar >= PCI_STD_NUM_BARS || !(pci_select_bars(dev->pdev, IORESOURCE_MEM) & BIT(bar))) {
		dev_err(&dev->pdev->dev, "doorbell BAR %u is not a memory BAR\n", bar);
		return -ENODEV;
	}
	dev->db_bar = bar;
	if (dev->adapter.bars & BIT(bar))
		return 0;
	ret = pci_request_selected_regions(dev->pdev, BIT(bar), EFA_DRV_NAME);
	if (!ret)
		dev->adapter.bars |= BIT(bar);
	return ret;
}

/*
 * A driver stopped by kexec or a crash does not stop the adapter. Its queues and memory regions
 * could write to memory that has a new owner by now, so the first step is to request a reset. Bus
 * mastering is enabled only afterwards, because the adapter confirms the reset in memory; if it
 * does not confirm, it may still write there.
 */
static int end_former_life(struct eadm_adapter *ad)
{
	struct efa_dev *dev = adapter_to_efa(ad);
	u32 dma_bits;
	int ret;

	ret = efa_hw_init(dev);
	if (ret)
		return ret;
	efa_hw_request_reset(dev, EFA_RESET_NORMAL);
	pci_set_master(dev->pdev);
	/* Reads the reset timeout. */
	efa_hw_read_caps(dev, &dma_bits);
	ret = efa_hw_await_reset(dev);
	if (ret) {
		ad->memory.leaking = true;
		dev_err(&dev->pdev->dev, "the adapter cannot be reset: %d\n", ret);
		/* The adapter may still be starting. */
		ret = ret == -ETIME ? -EPROBE_DEFER : ret;
		goto err_hw;
	}
	ret = efa_hw_check_versions(dev);
	if (!ret)
		ret = efa_hw_read_caps(dev, &dma_bits);
	if (!ret)
		ret = dma_set_mask_and_coherent(&dev->pdev->dev, DMA_BIT_MASK(dma_bits));
	if (!ret)
		return 0;
err_hw:
	pci_clear_master(dev->pdev);
	efa_hw_exit(dev);
	if (ad->memory.leaking)
		eadm_memory_leak(ad);
	return ret;
}

static void hw_leave(struct eadm_adapter *ad)
{
	struct efa_dev *dev = adapter_to_efa(ad);

	pci_clear_master(dev->pdev);
	efa_hw_exit(dev);
	if (ad->memory.leaking)
		efa_mem_leak(dev);
}

/* One vector is for the admin queue and asynchronous events, the rest are for completions. */
static int vectors_alloc(struct eadm_adapter *ad)
{
	return eadm_vectors_alloc(ad, 1, min_t(u32, num_online_cpus(), EFA_MAX_EQS) + 1);
}

static int service_start(struct eadm_adapter *ad)
{
	struct efa_dev *dev = adapter_to_efa(ad);
	int ret;

	ret = efa_start(dev);
	if (!ret)
		ret = claim_db_bar(dev);
	if (ret)
		efa_stop(ad);
	else
		efa_verbs_init(dev);
	return ret;
}

static const struct eadm_step steps[] = {
	{ tables_alloc, tables_free },
	{ pci_start, eadm_pci_stop },
	{ end_former_life, hw_leave },
	{ vectors_alloc, eadm_vectors_free },
	/* Memory and queues of the driver, which have not been passed to the adapter yet. */
	{ eadm_adapter_start_work, eadm_adapter_end_work },
	{ efa_aq_init, efa_aq_free },
	{ efa_aenq_init, efa_eqs_free },
	{ service_start, efa_stop },
	{ eadm_device_register, eadm_device_unregister },
	{ eadm_provider_add, eadm_provider_del },
	{ }
};

static int efa_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct efa_dev *dev = ib_alloc_device(efa_dev, adapter.ibdev);

	if (!dev)
		return -ENOMEM;
	dev->pdev = pdev;
	eadm_adapter_init(&dev->adapter, &efa_adapter_ops, &efa_diag_ops, pdev);
	dev->adapter.port = EFA_PORT;
	efa_recent_init(dev);
	return eadm_adapter_probe(&dev->adapter, steps);
}

static const struct pci_device_id efa_ids[] = {
	{ PCI_DEVICE(EFA_PCI_VENDOR, EFA_PCI_DEVICE_EFA0) },
	{ PCI_DEVICE(EFA_PCI_VENDOR, EFA_PCI_DEVICE_EFA1) },
	{ PCI_DEVICE(EFA_PCI_VENDOR, EFA_PCI_DEVICE_EFA2) },
	{ PCI_DEVICE(EFA_PCI_VENDOR, EFA_PCI_DEVICE_EFA3) },
	{ }
};
MODULE_DEVICE_TABLE(pci, efa_ids);

static struct pci_driver efa_driver = {
	.name = EFA_DRV_NAME,
	.id_table = efa_ids,
	.probe = efa_probe,
	.remove = eadm_adapter_remove,
	.shutdown = eadm_adapter_shutdown,
	.err_handler = &eadm_adapter_resets,
};
module_pci_driver(efa_driver);

MODULE_DESCRIPTION("Elastic Fabric Adapter");
MODULE_LICENSE("GPL");
MODULE_VERSION(EADM_MODULE_VERSION);
