// SPDX-License-Identifier: GPL-2.0-only
/* PCI driver of the Elastic Fabric Adapter: probe and removal (hw 2.5, 2.6). */

#include <linux/dma-mapping.h>
#include <linux/module.h>

#include "eadm_version.h"
#include "efa.h"

static int tables_init(struct efa_dev *dev)
{
	struct eadm_adapter *ad = &dev->adapter;
	const u32 theirs = U16_MAX + 1, all = EFA_MAX_OWN_NUMBER + 1;

	eadm_table_init(&ad->qps, ad, EADM_OBJ_QP);
	eadm_table_init(&ad->cqs, ad, EADM_OBJ_CQ);
	eadm_table_init(&ad->mrs, ad, EADM_OBJ_MR);
	eadm_table_init(&ad->pds, ad, EADM_OBJ_PD);
	eadm_table_init(&dev->ahs, ad, EADM_OBJ_AH);
	eadm_table_init(&ad->ctxs, ad, EADM_OBJ_CTX);
	eadm_table_init(&dev->uars, ad, EADM_OBJ_UAR);
	return eadm_table_alloc(&ad->qps, theirs, theirs) ||
	       eadm_table_alloc(&ad->cqs, theirs, theirs) ||
	       eadm_table_alloc(&ad->mrs, 1, all) ||
	       eadm_table_alloc(&ad->pds, theirs, theirs) ||
	       eadm_table_alloc(&dev->ahs, theirs, all) ||
	       eadm_table_alloc(&ad->ctxs, 1, all) ||
	       eadm_table_alloc(&dev->uars, theirs, theirs) ? -ENOMEM : 0;
}

static int pci_start(struct efa_dev *dev)
{
	struct pci_dev *pdev = dev->pdev;
	int ret;

	ret = pci_enable_device_mem(pdev);
	if (ret)
		return ret;
	ret = -ENODEV;
	if ((pci_select_bars(pdev, IORESOURCE_MEM) & EFA_BAR_MASK) != EFA_BAR_MASK ||
	    pci_resource_len(pdev, EFA_REGS_BAR) < EFA_REGS_SIZE) {
		dev_err(&pdev->dev, "BARs 0 and 2 are not both memory BARs\n");
		goto err_disable;
	}
	ret = pci_request_selected_regions(pdev, EFA_BAR_MASK, EFA_DRV_NAME);
	if (ret)
		goto err_disable;
	dev->bars = EFA_BAR_MASK;
	ret = -ENOMEM;
	dev->hw.bar = ioremap(pci_resource_start(pdev, EFA_REGS_BAR),
			      pci_resource_len(pdev, EFA_REGS_BAR));
	if (!dev->hw.bar)
		goto err_regions;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	return 0;

err_regions:
	pci_release_selected_regions(pdev, dev->bars);
err_disable:
	pci_disable_device(pdev);
	return ret;
}

static void pci_stop(struct efa_dev *dev)
{
	iounmap(dev->hw.bar);
	pci_release_selected_regions(dev->pdev, dev->bars);
	pci_disable_device(dev->pdev);
}

/* Its number is known only after reading the adapter's attributes. */
static int claim_db_bar(struct efa_dev *dev)
{
	u16 bar = le16_to_cpu(dev->caps.device.db_bar);
	int ret;

	if (bar >= PCI_STD_NUM_BARS || !(pci_select_bars(dev->pdev, IORESOURCE_MEM) & BIT(bar))) {
		dev_err(&dev->pdev->dev, "doorbell BAR %u is not a memory BAR\n", bar);
		return -ENODEV;
	}
	dev->db_bar = bar;
	if (dev->bars & BIT(bar))
		return 0;
	ret = pci_request_selected_regions(dev->pdev, BIT(bar), EFA_DRV_NAME);
	if (!ret)
		dev->bars |= BIT(bar);
	return ret;
}

/*
 * A driver that leaves by kexec or in a crash does not stop the adapter. Its queues and
 * memory regions would write to memory that has another owner by now: so the first thing
 * is to request a reset. Bus mastering is enabled only then, as the adapter confirms that
 * in memory; if it does not, it may still write there.
 */
static int end_former_life(struct efa_dev *dev)
{
	u32 dma_bits;
	int ret;

	ret = efa_hw_init(dev);
	if (ret)
		return ret;
	efa_hw_request_reset(dev, EFA_RESET_NORMAL);
	pci_set_master(dev->pdev);
	/* Reads how long a reset may take. */
	efa_hw_read_caps(dev, &dma_bits);
	ret = efa_hw_await_reset(dev);
	if (ret) {
		dev->adapter.memory.leaking = true;
		dev_err(&dev->pdev->dev, "the adapter cannot be reset: %d\n", ret);
		/* It may still be starting. */
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
	return ret;
}

static int vectors_alloc(struct efa_dev *dev)
{
	/* One vector for the admin queue and asynchronous events; the others for completions. */
	u32 most = min_t(u32, num_online_cpus(), EFA_MAX_EQS) + 1;
	int ret = pci_alloc_irq_vectors(dev->pdev, 1, most, PCI_IRQ_MSIX);

	if (ret < 0) {
		dev_err(&dev->pdev->dev, "cannot allocate interrupt vectors: %d\n", ret);
		return ret;
	}
	dev->vectors = ret;
	return 0;
}

/* Memory and queues of the driver, none of which the adapter knows yet. */
static int queues_init(struct efa_dev *dev)
{
	int ret;

	ret = eadm_adapter_start_work(&dev->adapter);
	if (ret)
		return ret;
	ret = efa_aq_init(dev);
	if (ret)
		goto err_work;
	ret = efa_aenq_init(dev);
	if (ret)
		goto err_aq;
	return 0;

err_aq:
	efa_aq_free(dev);
err_work:
	eadm_adapter_end_work(&dev->adapter);
	return ret;
}

static void queues_free(struct efa_dev *dev)
{
	efa_eqs_free(dev);
	efa_aq_free(dev);
	eadm_adapter_end_work(&dev->adapter);
	efa_hw_exit(dev);
	if (dev->adapter.memory.leaking)
		efa_mem_leak(dev);
}

/* Recovery reports to consumers of the device, which is unregistered. */
static void recovery_stop(struct efa_dev *dev)
{
	eadm_recovery_stop(&dev->adapter);
	/* An event for consumers may still be pending, with a pointer to the device. */
	flush_workqueue(ib_wq);
}

/* Lets consumers use the device. */
static int consumers_start(struct efa_dev *dev)
{
	int ret;

	efa_verbs_init(dev);
	eadm_queue_set_recoverable(&dev->adapter, true);
	ret = ib_register_device(&dev->ibdev, "efa_%d", &dev->pdev->dev);
	if (ret)
		goto err_recovery;
	ret = eadm_provider_add(&dev->adapter);
	if (ret)
		goto err_device;
	eadm_adapter_watch_start(&dev->adapter);
	return 0;

err_device:
	eadm_ctxs_leave(&dev->adapter);
	ib_unregister_device(&dev->ibdev);
err_recovery:
	recovery_stop(dev);
	return ret;
}

static int dev_init(struct efa_dev *dev, struct pci_dev *pdev)
{
	int ret;

	dev->pdev = pdev;
	eadm_adapter_init(&dev->adapter, &efa_adapter_ops, &efa_diag_ops, &dev->ibdev, pdev);
	dev->adapter.port = EFA_PORT;
	efa_recent_init(dev);
	ret = tables_init(dev);
	return ret ? ret : eadm_adapter_alloc(&dev->adapter);
}

static void dev_free(struct efa_dev *dev)
{
	eadm_table_destroy(&dev->uars);
	eadm_table_destroy(&dev->ahs);
	eadm_adapter_free(&dev->adapter);
	ib_dealloc_device(&dev->ibdev);
}

static int service_start(struct efa_dev *dev)
{
	int ret;

	ret = vectors_alloc(dev);
	if (ret)
		goto err_hw;
	ret = queues_init(dev);
	if (ret)
		goto err_vectors;
	ret = efa_start(dev);
	if (!ret)
		ret = claim_db_bar(dev);
	if (!ret)
		ret = consumers_start(dev);
	if (!ret)
		return 0;
	efa_stop(dev, EFA_RESET_INIT_ERROR);
	queues_free(dev);
	pci_free_irq_vectors(dev->pdev);
	return ret;

err_vectors:
	pci_free_irq_vectors(dev->pdev);
err_hw:
	pci_clear_master(dev->pdev);
	efa_hw_exit(dev);
	return ret;
}

static int efa_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct efa_dev *dev;
	int ret;

	dev = ib_alloc_device(efa_dev, ibdev);
	if (!dev)
		return -ENOMEM;
	ret = dev_init(dev, pdev);
	if (ret)
		goto err_dev;
	ret = pci_start(dev);
	if (ret)
		goto err_dev;
	ret = end_former_life(dev);
	if (ret)
		goto err_pci;
	ret = service_start(dev);
	if (ret)
		goto err_pci;
	return 0;

err_pci:
	pci_stop(dev);
err_dev:
	dev_free(dev);
	return ret;
}

static void efa_remove(struct pci_dev *pdev)
{
	struct efa_dev *dev = adapter_to_efa(pci_get_drvdata(pdev));

	/* Avoids waiting for answers that cannot come. */
	eadm_adapter_is_gone(&dev->adapter);
	eadm_provider_del(&dev->adapter);
	eadm_ctxs_leave(&dev->adapter);
	/* Ends all consumers and destroys all objects, with commands. */
	ib_unregister_device(&dev->ibdev);
	recovery_stop(dev);
	efa_stop(dev, EFA_RESET_NORMAL);
	queues_free(dev);
	pci_free_irq_vectors(pdev);
	pci_stop(dev);
	dev_free(dev);
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
	.remove = efa_remove,
	.shutdown = eadm_adapter_shutdown,
	.err_handler = &eadm_adapter_resets,
};
module_pci_driver(efa_driver);

MODULE_DESCRIPTION("Elastic Fabric Adapter");
MODULE_LICENSE("GPL");
MODULE_VERSION(EADM_MODULE_VERSION);
