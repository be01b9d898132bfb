// SPDX-License-Identifier: GPL-2.0-or-later
/* The device shared region and the capabilities in it (hw 3). */
#include <errno.h>
#include <string.h>

#include "function.h"

/* Firmware version, printed as 0.1.0. */
#define FW_VERSION (UINT64_C(1) << 16)

const struct model_limits model_default_limits = {
	.qps = 1024,
	.cqs = 2048,
	.mrs = 16384,
	.pds = 1024,
	.srqs = 256,
	.wr = 4096,
	.cqe = 16384,
	.sge = 16,
};

/*
 * Returns the size of the driver's table for up to @count objects, whose handles are 1 to
 * @count (hw 3.2); 0 if there are no such objects.
 */
static uint32_t table_size(uint32_t count)
{
	return count ? count + OBJECT_FIRST : 0;
}

static uint32_t least(uint32_t a, int b)
{
	return b >= 0 && (uint32_t)b < a ? (uint32_t)b : a;
}

/*
 * Returns the largest power of two that does not exceed the value, because drivers round
 * up.
 */
static uint32_t power(uint32_t value)
{
	while (value & (value - 1))
		value &= value - 1;
	return value;
}

/* The GUID of hw A.6, in byte order. */
static uint64_t guid(const uint8_t mac[6])
{
	const uint8_t bytes[8] = {
		mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]
	};
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

void dsr_fill_caps(struct model *m)
{
	const struct model_limits *limits = &m->config.limits;
	uint32_t sge = least(limits->sge, MAX_SGE);
	bool v1 = m->config.gid_type == IBV_GID_TYPE_ROCE_V1;
	struct ibv_device_attr attr;

	m->ops->limits(m->config.backend, &attr);
	m->caps = (struct pvrdma_caps){
		.fw_ver = FW_VERSION,
		.node_guid = guid(m->config.mac),
		.sys_image_guid = guid(m->config.mac),
		.max_mr_size = attr.max_mr_size,
		.page_size_cap = PAGE,
		.vendor_id = PVRDMA_PCI_VENDOR,
		.vendor_part_id = PVRDMA_PCI_DEVICE,
		.hw_ver = 1,
		.max_qp = table_size(least(limits->qps, attr.max_qp)),
		.max_qp_wr = power(least(limits->wr, attr.max_qp_wr)),
		.max_sge = power(least(sge, attr.max_sge)),
		.max_sge_rd = power(least(sge, attr.max_sge)),
		.max_cq = table_size(least(limits->cqs, attr.max_cq)),
		.max_cqe = power(least(limits->cqe, attr.max_cqe)),
		.max_mr = least(limits->mrs, attr.max_mr),
		.max_pd = least(limits->pds, attr.max_pd),
		.max_qp_rd_atom = (uint32_t)attr.max_qp_rd_atom,
		.max_qp_init_rd_atom = (uint32_t)attr.max_qp_init_rd_atom,
		.max_ah = (uint32_t)attr.max_ah,
		.max_srq = table_size(least(limits->srqs, attr.max_srq)),
		.max_srq_wr = power(least(limits->wr, attr.max_srq_wr)),
		.max_srq_sge = power(least(sge, attr.max_srq_sge)),
		.max_uar = MAX_UAR,
		.gid_tbl_len = GID_TABLE,
		.max_pkeys = 1,
		.local_ca_ack_delay = attr.local_ca_ack_delay,
		.phys_port_cnt = 1,
		.mode = PVRDMA_MODE_ROCE,
		.atomic_ops = attr.atomic_cap == IBV_ATOMIC_NONE ? 0 :
			      PVRDMA_ATOMIC_CMP_SWAP | PVRDMA_ATOMIC_FETCH_ADD,
		.bmme_flags = attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS ?
			      PVRDMA_BMME_LOCAL_INV | PVRDMA_BMME_REMOTE_INV | PVRDMA_BMME_FAST_REG : 0,
		.gid_types = v1 ? PVRDMA_GID_TYPE_ROCE_V1 : PVRDMA_GID_TYPE_ROCE_V2,
		.max_fast_reg_page_list_len = PVRDMA_MAX_FAST_REG,
	};
}

static int attach(struct model *m, const struct pvrdma_dsr *dsr)
{
	int err;

	m->cmd_address = dsr->cmd_slot;
	m->resp_address = dsr->resp_slot;
	if (m->cmd_address % PAGE || m->resp_address % PAGE)
		return -EINVAL;
	m->cmd = model_dma(m, m->cmd_address, PAGE);
	m->resp = model_dma(m, m->resp_address, PAGE);
	if (!m->cmd || !m->resp)
		return -EFAULT;
	err = device_ring_init(m, &m->events, &dsr->async_ring, sizeof(struct pvrdma_event));
	if (err)
		return err;
	err = device_ring_init(m, &m->notifications, &dsr->cq_ring,
			       sizeof(struct pvrdma_cq_notification));
	if (err)
		return err;
	m->uar_pfn = m->config.version < PVRDMA_VERSION_PFN64 ?
		     (uint32_t)dsr->uar_pfn : dsr->uar_pfn;
	return 0;
}

int dsr_attach(struct model *m, uint64_t address)
{
	struct pvrdma_dsr *dsr, copy;
	int err;

	/*
	 * The DSR has to be aligned and within one page, so that pages_within() covers
	 * it.
	 */
	if (address % sizeof(uint64_t) || address % PAGE > PAGE - sizeof(*dsr))
		return -EINVAL;
	dsr = model_dma(m, address, sizeof(*dsr));
	if (!dsr)
		return -EFAULT;
	copy = *dsr;
	err = attach(m, &copy);
	if (err) {
		dsr_detach(m);
		return err;
	}
	m->attached = true;
	m->dsr_address = address;
	m->driver_version = copy.driver_version;
	m->guest_os = copy.os;
	dsr->caps = m->caps;
	return 0;
}

void dsr_detach(struct model *m)
{
	pages_unmap(m->events.pages);
	pages_unmap(m->notifications.pages);
	m->events = m->notifications = (struct device_ring){ 0 };
	m->attached = false;
	m->cmd = m->resp = NULL;
}
