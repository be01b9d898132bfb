// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions (hw 6). A key consists of the number of its region and a tag, so that keys of
 * removed regions are detected. The list of pages is copied.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "efv.h"

#define TAG_BITS	8

/**
 * efv_mr_free() - free a region that is no longer in any table
 * @mr: region
 */
void efv_mr_free(struct efv_mr *mr)
{
	kvfree(mr->page);
	kfree(mr);
}

/**
 * efv_mr_find() - look up a region
 * @ad: adapter
 * @key: any value
 *
 * Context: efv_fabric held.
 * Return: the region or NULL.
 */
struct efv_mr *efv_mr_find(struct efv_adapter *ad, u32 key)
{
	struct efv_mr *mr = xa_load(&ad->mrs, key >> TAG_BITS);

	return mr && mr->key == key ? mr : NULL;
}

static u64 translate(const void *region, u64 addr)
{
	const struct efv_mr *mr = region;

	return mr->page[(addr >> mr->shift) - (mr->iova >> mr->shift)] |
	       (addr & (BIT_ULL(mr->shift) - 1));
}

/**
 * efv_sgl_add() - check and add a range of memory to a list
 * @sgl: list with a free element
 * @ad: adapter that owns the memory
 * @pd: protection domain to check against
 * @key: L_Key or R_Key
 * @addr: address, as defined by the key
 * @len: size in bytes; if 0, the access is always allowed
 * @right: one of EFA_MR_*, or 0 for reading by the owner
 *
 * Context: efv_fabric held as long as the list is used.
 * Return: true if the access is allowed.
 */
bool efv_sgl_add(struct vdev_sgl *sgl, struct efv_adapter *ad, u16 pd, u32 key, u64 addr,
		 u32 len, u8 right)
{
	struct efv_mr *mr;

	if (!len)
		return true;
	mr = efv_mr_find(ad, key);
	if (!mr || mr->pd != pd || (mr->rights & right) != right || addr + len < addr)
		return false;
	if (mr->page && (addr < mr->iova || addr + len > mr->iova + mr->length))
		return false;
	sgl->span[sgl->count++] = (struct vdev_span) {
		.vdev = &ad->vdev,
		.translate = mr->page ? translate : NULL,
		.region = mr,
		.addr = addr,
		.len = len,
	};
	return true;
}

static int read_list(struct efv_adapter *ad, u64 addr, u64 *page, u64 count)
{
	u64 i;
	int ret;

	ret = vdev_dma_read(&ad->vdev, addr, page, count * sizeof(u64));
	for (i = 0; !ret && i < count; i++)
		page[i] = le64_to_cpu((__force __le64)page[i]);
	return ret;
}

/* Reads a non-contiguous list: chunks contain the addresses of its pages (hw 6.3). */
static int read_chunks(struct efv_adapter *ad, const struct efa_ctrl_buf *first, u64 *page,
		       u64 count)
{
	struct efa_ctrl_buf chunk = *first;
	u64 i, part, addr, done = 0;
	__le64 payload;
	int ret = 0;

	while (!ret && done < count) {
		addr = efv_addr(chunk.addr_lo, chunk.addr_hi);
		for (i = 0; !ret && i < EFA_CHUNK_PTRS && done < count; i++, done += part) {
			part = min_t(u64, count - done, EFA_PAYLOAD_PTRS);
			ret = vdev_dma_read(&ad->vdev, addr + i * sizeof(payload), &payload,
					    sizeof(payload));
			if (!ret)
				ret = read_list(ad, le64_to_cpu(payload), page + done, part);
		}
		if (!ret && done < count)
			ret = vdev_dma_read(&ad->vdev, addr + EFA_CHUNK_NEXT, &chunk,
					    sizeof(chunk));
	}
	return ret;
}

static int read_pages(struct efv_adapter *ad, const struct efa_cmd_reg_mr *cmd, u64 *page,
		      u64 count)
{
	u64 i;

	if (cmd->hdr.flags & EFA_AQ_FLAGS_CTRL_INDIRECT)
		return read_chunks(ad, &cmd->list, page, count);
	if (cmd->hdr.flags & EFA_AQ_FLAGS_CTRL_DATA) {
		if (le32_to_cpu(cmd->list.length) < count * sizeof(u64))
			return -EINVAL;
		return read_list(ad, efv_addr(cmd->list.addr_lo, cmd->list.addr_hi), page, count);
	}
	if (count > EFA_MR_INLINE_PAGES)
		return -EINVAL;
	for (i = 0; i < count; i++)
		page[i] = le64_to_cpu(cmd->pages[i]);
	return 0;
}

static int fill(struct efv_adapter *ad, struct efv_mr *mr, const struct efa_cmd_reg_mr *cmd)
{
	u64 mask, first, count;
	int ret;

	mr->rights = cmd->rights;
	mr->iova = le64_to_cpu(cmd->iova);
	mr->length = le64_to_cpu(cmd->length);
	mr->shift = FIELD_GET(EFA_REG_MR_PAGE_SHIFT, cmd->flags);
	if (cmd->flags & EFA_REG_MR_PHYSICAL)
		return 0;
	if (!mr->length || mr->iova + mr->length < mr->iova || mr->shift < VDEV_PAGE_SHIFT)
		return -EINVAL;
	mask = BIT_ULL(mr->shift) - 1;
	first = mr->iova >> mr->shift;
	count = ((mr->iova + mr->length - 1) >> mr->shift) - first + 1;
	if (count > ad->params.max_mr_pages)
		return -EINVAL;
	mr->page = kvcalloc(count, sizeof(*mr->page), GFP_KERNEL);
	if (!mr->page)
		return -ENOMEM;
	ret = read_pages(ad, cmd, mr->page, count);
	for (first = 0; !ret && first < count; first++)
		if (mr->page[first] & mask)
			ret = -EINVAL;
	return ret;
}

enum efa_status efv_cmd_reg_mr(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_reg_mr *cmd = req;
	struct efa_resp_reg_mr *answer = resp;
	u16 pdn = le16_to_cpu(cmd->pd);
	struct efv_pd *pd = xa_load(&ad->pds, pdn);
	struct efv_mr *mr;
	u32 number;
	int ret;

	if (!pd || cmd->rights & ~(EFA_MR_LOCAL_WRITE | EFA_MR_REMOTE_WRITE | EFA_MR_REMOTE_READ))
		return EFA_ST_ILLEGAL;
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return EFA_ST_NO_RESOURCE;
	ret = fill(ad, mr, cmd);
	/* 0 is not a valid key. */
	if (!ret && xa_alloc_cyclic(&ad->mrs, &number, mr, XA_LIMIT(1, ad->params.max_mr),
				    &ad->next_mr, GFP_KERNEL) < 0)
		ret = -ENOMEM;
	if (ret) {
		efv_mr_free(mr);
		return efv_status_of(ret);
	}
	mr->pd = pdn;
	mr->key = number << TAG_BITS | ad->mr_tag++;
	pd->users++;
	answer->lkey = cpu_to_le32(mr->key);
	answer->rkey = cpu_to_le32(mr->key);
	return EFA_ST_SUCCESS;
}

enum efa_status efv_cmd_dereg_mr(struct efv_adapter *ad, const void *req, void *resp)
{
	const struct efa_cmd_dereg_mr *cmd = req;
	struct efv_mr *mr = efv_mr_find(ad, le32_to_cpu(cmd->lkey));
	struct efv_pd *pd;

	if (!mr)
		return EFA_ST_ILLEGAL;
	pd = xa_load(&ad->pds, mr->pd);
	pd->users--;
	xa_erase(&ad->mrs, mr->key >> TAG_BITS);
	efv_mr_free(mr);
	return EFA_ST_SUCCESS;
}
