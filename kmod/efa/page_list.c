// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that a command refers to. Lists that are not physically contiguous are described by chunks
 * (hw 6.3): each contains the addresses of EFA_CHUNK_PTRS pages of the list, and the location of
 * the next chunk.
 */

#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "efa.h"

/**
 * efa_list_alloc() - allocate a zeroed list
 * @size: size in bytes
 *
 * Context: process.
 * Return: the list, which the caller fills and maps, or NULL.
 */
struct efa_list *efa_list_alloc(size_t size)
{
	struct efa_list *list = kzalloc(sizeof(*list), GFP_KERNEL);

	if (!list)
		return NULL;
	INIT_LIST_HEAD(&list->link);
	list->dma = DMA_MAPPING_ERROR;
	list->size = size;
	list->va = kvzalloc(size, GFP_KERNEL);
	if (list->va)
		return list;
	kfree(list);
	return NULL;
}

static u32 nr_payloads(const struct efa_list *list)
{
	return DIV_ROUND_UP(list->size, EFA_CHUNK_SIZE);
}

/* Maps the pages of the list; only the last page may be partly used. */
static int map_payload(struct efa_dev *dev, struct efa_list *list)
{
	struct device *dma = &dev->pdev->dev;
	u32 i, n = nr_payloads(list);
	void *va;

	list->payload = kvcalloc(n, sizeof(*list->payload), GFP_KERNEL);
	if (!list->payload)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		list->payload[i] = DMA_MAPPING_ERROR;
	for (i = 0; i < n; i++) {
		va = list->va + i * EFA_CHUNK_SIZE;
		list->payload[i] = dma_map_page(dma, vmalloc_to_page(va), offset_in_page(va),
						EFA_CHUNK_SIZE, DMA_TO_DEVICE);
		if (dma_mapping_error(dma, list->payload[i]))
			return -ENOMEM;
	}
	return 0;
}

/* Returns the number of payload pages that a chunk describes. */
static u32 chunk_ptrs(const struct efa_list *list, u32 chunk)
{
	return min_t(u32, nr_payloads(list) - chunk * EFA_CHUNK_PTRS, EFA_CHUNK_PTRS);
}

/*
 * Returns the length of a chunk. A short chunk also has room for the next chunk's descriptor after
 * its addresses.
 */
static u32 chunk_len(const struct efa_list *list, u32 chunk)
{
	return chunk_ptrs(list, chunk) * sizeof(__le64) + sizeof(struct efa_ctrl_buf);
}

static void set_ctrl(struct efa_ctrl_buf *ctrl, u32 length, dma_addr_t dma)
{
	ctrl->length = cpu_to_le32(length);
	ctrl->addr_lo = cpu_to_le32(lower_32_bits(dma));
	ctrl->addr_hi = cpu_to_le32(upper_32_bits(dma));
}

static void fill_chunk(const struct efa_list *list, u32 chunk)
{
	struct efa_ctrl_buf *next = (void *)list->chunks[chunk].va + EFA_CHUNK_NEXT;
	const dma_addr_t *payload = list->payload + chunk * EFA_CHUNK_PTRS;
	u32 i;

	for (i = 0; i < chunk_ptrs(list, chunk); i++)
		list->chunks[chunk].va[i] = cpu_to_le64(payload[i]);
	if (chunk + 1 < list->nr_chunks)
		set_ctrl(next, chunk_len(list, chunk + 1), list->chunks[chunk + 1].dma);
}

static int map_chunks(struct efa_dev *dev, struct efa_list *list)
{
	u32 i, n = DIV_ROUND_UP(nr_payloads(list), EFA_CHUNK_PTRS);
	struct efa_chunk *chunk;

	list->chunks = kcalloc(n, sizeof(*list->chunks), GFP_KERNEL);
	if (!list->chunks)
		return -ENOMEM;
	list->nr_chunks = n;
	for (i = 0; i < n; i++) {
		chunk = &list->chunks[i];
		chunk->va = dma_alloc_coherent(&dev->pdev->dev, EFA_CHUNK_SIZE, &chunk->dma,
					       GFP_KERNEL);
		if (!chunk->va)
			return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		fill_chunk(list, i);
	return 0;
}

/**
 * efa_list_map() - make a list accessible to the adapter
 * @dev: the device
 * @list: the list, filled
 *
 * Context: process.
 * Return: 0 or -ENOMEM; the caller must call efa_list_free() in either case.
 */
int efa_list_map(struct efa_dev *dev, struct efa_list *list)
{
	int ret;

	if (is_vmalloc_addr(list->va)) {
		ret = map_payload(dev, list);
		return ret ? ret : map_chunks(dev, list);
	}
	list->dma = dma_map_single(&dev->pdev->dev, list->va, list->size, DMA_TO_DEVICE);
	return dma_mapping_error(&dev->pdev->dev, list->dma) ? -ENOMEM : 0;
}

/**
 * efa_list_ctrl() - describe a list in a command
 * @list: the list, mapped
 * @ctrl: set to the location of the list
 * @flags: flags of the command; the flag for the kind of list is added
 */
void efa_list_ctrl(const struct efa_list *list, struct efa_ctrl_buf *ctrl, u8 *flags)
{
	*flags |= EFA_AQ_FLAGS_CTRL_DATA;
	if (list->nr_chunks) {
		*flags |= EFA_AQ_FLAGS_CTRL_INDIRECT;
		set_ctrl(ctrl, chunk_len(list, 0), list->chunks[0].dma);
	} else {
		set_ctrl(ctrl, list->size, list->dma);
	}
}

/**
 * efa_list_free() - free a list
 * @dev: the device
 * @list: the list, mapped or not, or NULL
 *
 * Context: process; the adapter no longer reads it.
 */
void efa_list_free(struct efa_dev *dev, struct efa_list *list)
{
	struct device *dma = &dev->pdev->dev;
	u32 i;

	if (!list)
		return;
	for (i = 0; i < list->nr_chunks && list->chunks[i].va; i++)
		dma_free_coherent(dma, EFA_CHUNK_SIZE, list->chunks[i].va, list->chunks[i].dma);
	kfree(list->chunks);
	for (i = 0; list->payload && i < nr_payloads(list); i++)
		if (!dma_mapping_error(dma, list->payload[i]))
			dma_unmap_page(dma, list->payload[i], EFA_CHUNK_SIZE, DMA_TO_DEVICE);
	kvfree(list->payload);
	if (!dma_mapping_error(dma, list->dma))
		dma_unmap_single(dma, list->dma, list->size, DMA_TO_DEVICE);
	kvfree(list->va);
	kfree(list);
}
