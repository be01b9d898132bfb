// SPDX-License-Identifier: GPL-2.0-only
/* PCI driver of the Elastic RDMA Adapter: probe and removal (hw 2.3, 2.4). */

#include <linux/bitfield.h>
#include <linux/module.h>

#include "eadm_version.h"
#include "erdma.h"

/* The adapter performs lengthy initialisation before it sets INIT_DONE. */
#define INIT_TIMEOUT_MS		10000

/* Limits of the request formats and of userspace providers. */
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
	/* Without version 1 of REG_MR, lengths are 32 bits wide (hw 4.9). */
	if (!(caps->flags & ERDMA_FLAG_MTT_VA))
		caps->max_mr_size = min_t(u64, caps->max_mr_size, SZ_2G);
	shift = FIELD_GET(ERDMA_CAP1_MAX_MW, word[1]);
	caps->max_mw = BIT(min_t(u32, shift, 31));
	caps->max_qp = min_t(u32, FIELD_GET(ERDMA_CAP1_QBLOCK, word[1]) * ERDMA_QP_PER_QBLOCK,
			     MAX_QP);
	if (!caps->max_qp) {
		dev_err(&dev->pdev->dev, "the adapter supports no QPs\n");
		return -EIO;
	}
	/* Assume that statistics are supported until the adapter refuses GET_STATS. */
	caps->stats = true;
	caps->max_cq = 2 * caps->max_qp;
	caps->max_mr = 2 * caps->max_qp;
	return 0;
}

/* Initialises the object tables and verbs. */
static int objects_init(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);

	if (eadm_table_alloc(&ad->qps, 1, dev->caps.max_qp) ||
	    eadm_table_alloc(&ad->cqs, 1, dev->caps.max_cq) ||
	    eadm_table_alloc(&ad->mrs, 1, dev->caps.max_mr) ||
	    eadm_table_alloc(&ad->pds, 1, ERDMA_MAX_PD) ||
	    eadm_table_alloc(&ad->ctxs, 1, ERDMA_MAX_CONTEXT + 1))
		return -ENOMEM;
	erdma_verbs_init(dev);
	return 0;
}

static int pci_start(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
	struct pci_dev *pdev = dev->pdev;
	u32 version, proto;
	int ret;

	if (pci_select_bars(pdev, IORESOURCE_MEM) != ERDMA_BAR_MASK) {
		dev_err(&pdev->dev, "BARs 0 and 2 are not both memory BARs\n");
		return -EINVAL;
	}
	dev->bar_addr = pci_resource_start(pdev, ERDMA_FUNC_BAR);
	dev->bar_len = pci_resource_len(pdev, ERDMA_FUNC_BAR);
	if (dev->bar_len < ERDMA_BAR0_SIZE)
		return -EINVAL;
	ret = eadm_pci_start(ad, ERDMA_BAR_MASK, ERDMA_FUNC_BAR);
	if (ret)
		return ret;
	ret = -ENODEV;
	version = readl(ad->bar + ERDMA_REG_VERSION);
	if (!version || version == ERDMA_REG_GONE) {
		dev_err(&pdev->dev, "device not working (version %#x)\n", version);
		goto err;
	}
	/* The meaning of commands depends on the protocol. */
	proto = readl(ad->bar + ERDMA_REG_DEV_PROTO);
	if (proto != ERDMA_PROTO_IWARP) {
		dev_err(&pdev->dev,
			"adapter not supported: set up for %s (protocol %u), but the driver requires iWARP\n",
			proto == ERDMA_PROTO_ROCEV2 ? "RoCEv2" : "an unknown protocol", proto);
		goto err;
	}
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (!ret)
		ret = erdma_hw_end_former_life(dev);
	if (!ret)
		return 0;
err:
	eadm_pci_stop(ad);
	return ret;
}

static int vectors_alloc(struct eadm_adapter *ad)
{
	/* One vector is for the AEQ and the command EQ, and at least one is for completions. */
	int ret = eadm_vectors_alloc(ad, 2, min_t(u32, num_online_cpus() + 1, ERDMA_MAX_VECTORS));

	if (!ret)
		adapter_to_erdma(ad)->nr_ceqs = ad->vectors - 1;
	return ret;
}

static int pools_create(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);

	dev->dbrec_pool = dma_pool_create("erdma_dbrec", &dev->pdev->dev, ERDMA_DBREC_SIZE,
					  ERDMA_DBREC_SIZE, 0);
	dev->resp_pool = dma_pool_create("erdma_resp", &dev->pdev->dev, ERDMA_QUERY_BUF_SIZE,
					 ERDMA_QUERY_BUF_SIZE, 0);
	if (dev->dbrec_pool && dev->resp_pool)
		return 0;
	dma_pool_destroy(dev->resp_pool);
	dma_pool_destroy(dev->dbrec_pool);
	return -ENOMEM;
}

static void pools_destroy(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);

	if (ad->memory.leaking) {
		erdma_mem_leak(dev);
		return;
	}
	dma_pool_destroy(dev->resp_pool);
	dma_pool_destroy(dev->dbrec_pool);
}

/* Takes the adapter out of service. Memory that the adapter may still access is not freed. */
static void adapter_stop(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);

	erdma_ceqs_stop(dev);
	erdma_common_irq_free(dev);
	if (!erdma_hw_halt(dev, ERDMA_STOP_MS))
		ad->memory.leaking = eadm_memory_is_exposed(ad);
	eadm_queue_reset(ad, -ENODEV);
	if (!ad->memory.leaking) {
		eadm_memory_confirm(ad);
		erdma_cmdq_bufs_free(dev);
	}
}

static int adapter_start(struct eadm_adapter *ad)
{
	struct erdma_dev *dev = adapter_to_erdma(ad);
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
	eadm_queue_set_state(ad, EADM_QUEUE_EVENT);
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
		    dev->caps.max_cq, dev->caps.max_mr, ad->vectors);
	return 0;

err:
	adapter_stop(ad);
	return ret;
}

static const struct eadm_step steps[] = {
	{ pci_start, eadm_pci_stop },
	{ vectors_alloc, eadm_vectors_free },
	{ pools_create, pools_destroy },
	/* Memory and queues of the driver, which have not been passed to the adapter yet. */
	{ eadm_adapter_start_work, eadm_adapter_end_work },
	{ erdma_cm_init, erdma_cm_exit },
	{ erdma_eqs_init, erdma_eqs_free },
	{ erdma_cmdq_init, erdma_cmdq_free },
	{ adapter_start, adapter_stop },
	{ objects_init },
	{ erdma_netdev_bind, erdma_netdev_unbind },
	{ eadm_device_register, eadm_device_unregister },
	{ erdma_netdev_register, erdma_netdev_unregister },
	{ eadm_provider_add, eadm_provider_del },
	{ }
};

static int erdma_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct erdma_dev *dev = ib_alloc_device(erdma_dev, adapter.ibdev);

	if (!dev)
		return -ENOMEM;
	dev->pdev = pdev;
	eadm_adapter_init(&dev->adapter, &erdma_adapter_ops, &erdma_diag_ops, pdev);
	dev->adapter.port = ERDMA_PORT;
	dev->adapter.cmd_timeout = ERDMA_CMD_TIMEOUT_MS;
	dev->adapter.fn.answers = erdma_hw_answers;
	INIT_WORK(&dev->mtu_work, erdma_mtu_work);
	return eadm_adapter_probe(&dev->adapter, steps);
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
	.remove = eadm_adapter_remove,
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
