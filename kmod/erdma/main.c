// SPDX-License-Identifier: GPL-2.0-only
/* PCI driver of the Elastic RDMA Adapter: probe and removal (hw 2.3, 2.4). */

#include <linux/bitfield.h>
#include <linux/module.h>

#include "eadm_version.h"
#include "erdma.h"

/* The adapter initialises a lot before it sets INIT_DONE. */
#define INIT_TIMEOUT_MS		10000

/* Limits of the request formats and of user providers. */
#define MAX_RECV_WR_LOG2	15
#define MAX_CQE_LOG2		20
#define MAX_QP			BIT(ERDMA_MPT_BITS - 1)

static int read_caps(struct erdma_dev *dev)
{
	struct erdma_caps *caps = &dev->caps;
	u64 word[2], version;
	u32 shift;
	int ret;

	ret = erdma_cmd_query_device(dev, word);
	if (ret)
		return ret;
	ret = erdma_cmd_query_fw(dev, &version);
	if (ret)
		return ret;
	caps->fw = lower_32_bits(version);
	caps->flags = FIELD_GET(ERDMA_CAP0_FLAGS, word[0]);
	caps->cc = FIELD_GET(ERDMA_CAP1_DEFAULT_CC, word[1]);
	caps->local_dma_key = FIELD_GET(ERDMA_CAP1_LOCAL_KEY, word[1]);
	caps->max_send_wr = ERDMA_MAX_SEND_WR;
	shift = FIELD_GET(ERDMA_CAP0_MAX_RECV_WR, word[0]);
	caps->max_recv_wr = BIT(min_t(u32, shift, MAX_RECV_WR_LOG2));
	shift = FIELD_GET(ERDMA_CAP0_MAX_CQE, word[0]);
	caps->max_cqe = BIT(min_t(u32, shift, MAX_CQE_LOG2));
	shift = FIELD_GET(ERDMA_CAP0_MAX_MR_SIZE, word[0]);
	caps->max_mr_size = BIT_ULL(min_t(u32, shift, 63));
	/* Without the second form of REG_MR, lengths have 32 bits (hw 4.9). */
	if (!(caps->flags & ERDMA_FLAG_MTT_VA))
		caps->max_mr_size = min_t(u64, caps->max_mr_size, SZ_2G);
	shift = FIELD_GET(ERDMA_CAP1_MAX_MW, word[1]);
	caps->max_mw = BIT(min_t(u32, shift, 31));
	caps->max_qp = min_t(u32, FIELD_GET(ERDMA_CAP1_QBLOCK, word[1]) * ERDMA_QP_PER_QBLOCK,
			     MAX_QP);
	if (!caps->max_qp) {
		dev_err(&dev->pdev->dev, "the adapter offers no QPs\n");
		return -EIO;
	}
	/* Assumed until the adapter refuses. */
	caps->stats = true;
	caps->max_cq = 2 * caps->max_qp;
	caps->max_mr = 2 * caps->max_qp;
	return 0;
}

/* An adapter may raise events for objects as soon as it starts, although there are none. */
static void tables_init(struct erdma_dev *dev)
{
	eadm_table_init(&dev->adapter.qps, &dev->adapter, EADM_OBJ_QP);
	eadm_table_init(&dev->adapter.cqs, &dev->adapter, EADM_OBJ_CQ);
	eadm_table_init(&dev->adapter.mrs, &dev->adapter, EADM_OBJ_MR);
	eadm_table_init(&dev->adapter.pds, &dev->adapter, EADM_OBJ_PD);
	eadm_table_init(&dev->adapter.ctxs, &dev->adapter, EADM_OBJ_CTX);
}

static int tables_alloc(struct erdma_dev *dev)
{
	struct eadm_adapter *ad = &dev->adapter;

	return eadm_table_alloc(&ad->qps, 1, dev->caps.max_qp) ||
	       eadm_table_alloc(&ad->cqs, 1, dev->caps.max_cq) ||
	       eadm_table_alloc(&ad->mrs, 1, dev->caps.max_mr) ||
	       eadm_table_alloc(&ad->pds, 1, ERDMA_MAX_PD) ||
	       eadm_table_alloc(&ad->ctxs, 1, ERDMA_MAX_CONTEXT + 1) ? -ENOMEM : 0;
}

static int pci_start(struct erdma_dev *dev)
{
	struct pci_dev *pdev = dev->pdev;
	u32 version, proto;
	int ret;

	ret = pci_enable_device_mem(pdev);
	if (ret)
		return ret;
	ret = -EINVAL;
	if (pci_select_bars(pdev, IORESOURCE_MEM) != ERDMA_BAR_MASK) {
		dev_err(&pdev->dev, "BARs 0 and 2 are not both memory BARs\n");
		goto err_disable;
	}
	ret = pci_request_selected_regions(pdev, ERDMA_BAR_MASK, ERDMA_DRV_NAME);
	if (ret)
		goto err_disable;
	dev->bar_addr = pci_resource_start(pdev, ERDMA_FUNC_BAR);
	dev->bar_len = pci_resource_len(pdev, ERDMA_FUNC_BAR);
	ret = -EINVAL;
	if (dev->bar_len < ERDMA_BAR0_SIZE)
		goto err_regions;
	ret = -ENOMEM;
	dev->bar = ioremap(dev->bar_addr, dev->bar_len);
	if (!dev->bar)
		goto err_regions;
	ret = -ENODEV;
	version = readl(dev->bar + ERDMA_REG_VERSION);
	if (!version || version == ERDMA_REG_GONE) {
		dev_err(&pdev->dev, "no working function (version %#x)\n", version);
		goto err_unmap;
	}
	/* The meaning of commands depends on it. */
	proto = readl(dev->bar + ERDMA_REG_DEV_PROTO);
	if (proto != ERDMA_PROTO_IWARP) {
		dev_err(&pdev->dev,
			"this adapter is not supported: it is set up for %s (protocol %u), the driver works with iWARP only\n",
			proto == ERDMA_PROTO_ROCEV2 ? "RoCEv2" : "an unknown protocol", proto);
		goto err_unmap;
	}
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		goto err_unmap;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	ret = erdma_hw_end_former_life(dev);
	if (ret)
		goto err_unmap;
	return 0;

err_unmap:
	iounmap(dev->bar);
err_regions:
	pci_release_selected_regions(pdev, ERDMA_BAR_MASK);
err_disable:
	pci_disable_device(pdev);
	return ret;
}

static void pci_stop(struct erdma_dev *dev)
{
	iounmap(dev->bar);
	pci_release_selected_regions(dev->pdev, ERDMA_BAR_MASK);
	pci_disable_device(dev->pdev);
}

static int vectors_alloc(struct erdma_dev *dev)
{
	u32 max = min_t(u32, num_online_cpus() + 1, ERDMA_MAX_VECTORS);
	int ret;

	/* One for AEQ and command EQ, and at least one for completions. */
	ret = pci_alloc_irq_vectors(dev->pdev, 2, max, PCI_IRQ_MSIX);
	if (ret < 0) {
		dev_err(&dev->pdev->dev, "cannot allocate interrupt vectors: %d\n", ret);
		return ret;
	}
	dev->vectors = ret;
	dev->nr_ceqs = ret - 1;
	return 0;
}

/* Memory and queues of the driver, none of which the adapter knows yet. */
static int queues_init(struct erdma_dev *dev)
{
	int ret = -ENOMEM;

	dev->dbrec_pool = dma_pool_create("erdma_dbrec", &dev->pdev->dev, ERDMA_DBREC_SIZE,
					  ERDMA_DBREC_SIZE, 0);
	if (!dev->dbrec_pool)
		return ret;
	dev->resp_pool = dma_pool_create("erdma_resp", &dev->pdev->dev, ERDMA_QUERY_BUF_SIZE,
					 ERDMA_QUERY_BUF_SIZE, 0);
	if (!dev->resp_pool)
		goto err_dbrec;
	ret = eadm_adapter_start_work(&dev->adapter);
	if (ret)
		goto err_resp;
	ret = erdma_cm_init(&dev->cm, pci_name(dev->pdev));
	if (ret)
		goto err_work;
	ret = erdma_eqs_init(dev);
	if (ret)
		goto err_cm;
	ret = erdma_cmdq_init(dev);
	if (ret)
		goto err_eqs;
	return 0;

err_eqs:
	erdma_eqs_free(dev);
err_cm:
	erdma_cm_exit(&dev->cm);
err_work:
	eadm_adapter_end_work(&dev->adapter);
err_resp:
	dma_pool_destroy(dev->resp_pool);
err_dbrec:
	dma_pool_destroy(dev->dbrec_pool);
	return ret;
}

static void queues_free(struct erdma_dev *dev)
{
	erdma_cmdq_free(dev);
	erdma_eqs_free(dev);
	erdma_cm_exit(&dev->cm);
	eadm_adapter_end_work(&dev->adapter);
	if (dev->adapter.memory.leaking) {
		erdma_mem_leak(dev);
		return;
	}
	dma_pool_destroy(dev->resp_pool);
	dma_pool_destroy(dev->dbrec_pool);
}

/* Takes the adapter out of service; memory that it may still know of is not freed afterwards. */
static void adapter_stop(struct erdma_dev *dev)
{
	eadm_adapter_watch_stop(&dev->adapter);
	erdma_ceqs_stop(dev);
	erdma_common_irq_free(dev);
	if (!erdma_hw_halt(dev, ERDMA_STOP_MS))
		dev->adapter.memory.leaking = eadm_memory_is_exposed(&dev->adapter);
	erdma_cmdq_reset(&dev->adapter, -ENODEV);
	if (!dev->adapter.memory.leaking) {
		eadm_memory_confirm(&dev->adapter);
		erdma_cmdq_bufs_free(dev);
	}
}

static int adapter_start(struct erdma_dev *dev)
{
	int ret;

	ret = erdma_common_irq_request(dev);
	if (ret)
		return ret;
	ret = erdma_hw_start(dev, INIT_TIMEOUT_MS);
	if (ret) {
		dev_err(&dev->pdev->dev, "the adapter did not start: %d\n", ret);
		goto err;
	}
	erdma_eqs_set_live(dev);
	ret = erdma_ceqs_start(dev);
	if (ret)
		goto err;
	eadm_queue_set_state(&dev->adapter, EADM_QUEUE_EVENT);
	ret = read_caps(dev);
	if (ret)
		goto err;
	erdma_conf_init(dev);
	erdma_sdbs_init(dev);
	if (dev->caps.flags & ERDMA_FLAG_EXTEND_DB) {
		ret = erdma_cmd_conf_device(dev);
		if (ret)
			goto err;
	}
	erdma_hw_read_mac(dev);
	erdma_debug(dev, dev, "started: %u QPs, %u CQs, %u MRs, %u vectors\n", dev->caps.max_qp,
		    dev->caps.max_cq, dev->caps.max_mr, dev->vectors);
	return 0;

err:
	adapter_stop(dev);
	return ret;
}

/*
 * Recovery reports to consumers of the device, which is unregistered, and follows the
 * interface.
 */
static void recovery_stop(struct erdma_dev *dev)
{
	eadm_recovery_stop(&dev->adapter);
	/* An event for consumers may still be pending, with a pointer to the device. */
	flush_workqueue(ib_wq);
	cancel_work_sync(&dev->mtu_work);
}

/* Lets consumers use the device. */
static int consumers_start(struct erdma_dev *dev)
{
	int ret;

	erdma_verbs_init(dev);
	ret = erdma_netdev_bind(dev);
	if (ret)
		return ret;
	eadm_queue_set_recoverable(&dev->adapter, true);
	ret = ib_register_device(&dev->ibdev, "erdma_%d", &dev->pdev->dev);
	if (ret)
		goto err_netdev;
	ret = erdma_netdev_register(dev);
	if (ret)
		goto err_device;
	ret = eadm_provider_add(&dev->adapter);
	if (ret)
		goto err_notifier;
	eadm_adapter_watch_start(&dev->adapter);
	return 0;

err_notifier:
	erdma_netdev_unregister(dev);
err_device:
	eadm_ctxs_leave(&dev->adapter);
	ib_unregister_device(&dev->ibdev);
err_netdev:
	recovery_stop(dev);
	erdma_netdev_unbind(dev);
	return ret;
}

static int erdma_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct erdma_dev *dev;
	int ret;

	dev = ib_alloc_device(erdma_dev, ibdev);
	if (!dev)
		return -ENOMEM;
	dev->pdev = pdev;
	eadm_adapter_init(&dev->adapter, &erdma_adapter_ops, &erdma_diag_ops, &dev->ibdev, pdev);
	dev->adapter.port = ERDMA_PORT;
	dev->adapter.cmd_timeout = ERDMA_CMD_TIMEOUT_MS;
	tables_init(dev);
	erdma_hw_init(dev);
	INIT_WORK(&dev->mtu_work, erdma_mtu_work);

	ret = eadm_adapter_alloc(&dev->adapter);
	if (ret)
		goto err_dev;
	ret = pci_start(dev);
	if (ret)
		goto err_dev;
	ret = vectors_alloc(dev);
	if (ret)
		goto err_pci;
	ret = queues_init(dev);
	if (ret)
		goto err_vectors;
	ret = adapter_start(dev);
	if (ret)
		goto err_queues;
	ret = tables_alloc(dev);
	if (ret)
		goto err_adapter;
	ret = consumers_start(dev);
	if (ret)
		goto err_adapter;
	return 0;

err_adapter:
	adapter_stop(dev);
err_queues:
	queues_free(dev);
err_vectors:
	pci_free_irq_vectors(pdev);
err_pci:
	pci_stop(dev);
err_dev:
	eadm_adapter_free(&dev->adapter);
	ib_dealloc_device(&dev->ibdev);
	return ret;
}

static void erdma_remove(struct pci_dev *pdev)
{
	struct erdma_dev *dev = adapter_to_erdma(pci_get_drvdata(pdev));

	/* Avoids waiting for answers that cannot come. */
	eadm_adapter_is_gone(&dev->adapter);
	eadm_provider_del(&dev->adapter);
	erdma_netdev_unregister(dev);
	eadm_ctxs_leave(&dev->adapter);
	/* Ends all consumers and destroys all objects, with commands. */
	ib_unregister_device(&dev->ibdev);
	recovery_stop(dev);
	erdma_netdev_unbind(dev);
	adapter_stop(dev);
	queues_free(dev);
	pci_free_irq_vectors(pdev);
	pci_stop(dev);
	eadm_adapter_free(&dev->adapter);
	ib_dealloc_device(&dev->ibdev);
}

static const struct pci_device_id erdma_ids[] = {
	{ PCI_DEVICE(ERDMA_PCI_VENDOR, ERDMA_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, erdma_ids);

static struct pci_driver erdma_driver = {
	.name = ERDMA_DRV_NAME,
	.id_table = erdma_ids,
	.probe = erdma_probe,
	.remove = erdma_remove,
	.shutdown = eadm_adapter_shutdown,
	.err_handler = &eadm_adapter_resets,
};

static int __init erdma_init(void)
{
	int ret;

	ret = erdma_netdev_init();
	if (ret)
		return ret;
	ret = pci_register_driver(&erdma_driver);
	if (ret)
		erdma_netdev_exit();
	return ret;
}
module_init(erdma_init);

static void __exit erdma_exit(void)
{
	pci_unregister_driver(&erdma_driver);
	erdma_netdev_exit();
}
module_exit(erdma_exit);

MODULE_DESCRIPTION("Elastic RDMA Adapter");
MODULE_LICENSE("GPL");
MODULE_VERSION(EADM_MODULE_VERSION);
