/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that the adapter accesses. */
#ifndef EFA_MEM_H
#define EFA_MEM_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <rdma/ib_umem.h>

#include "../core/orphan.h"
#include "../core/ring.h"
#include "efa_hw.h"

struct eadm_adapter;
struct efa_dev;

/**
 * struct efa_mem - all memory of one object that the adapter knows of
 * @epoch: the adapter's epoch when the adapter learned of it
 * @umem: memory of a process
 * @ring: a ring that a process maps, contiguous and in whole pages; pages still mapped
 *	when the ring is freed are freed when the process unmaps them
 * @ring_size: size of @ring in bytes, 0 = none
 * @ring_dma: its address
 * @dir: of the ring
 * @orphan: NULL, or what the late answer to a lost command leads to, referenced: it may
 *	release the memory
 */
struct efa_mem {
	u32 epoch;
	struct ib_umem *umem;
	void *ring;
	size_t ring_size;
	dma_addr_t ring_dma;
	enum dma_data_direction dir;
	struct efa_orphan *orphan;
};

/**
 * struct efa_orphan - memory whose object is gone without confirmation by the adapter
 * @kept: as the core keeps it
 * @refs: references, of the object or the adapter's list, and of the slot of a lost command
 * @mem: the memory
 *
 * It begins with the lost command of an object, and becomes an orphan with the object's end.
 */
struct efa_orphan {
	struct eadm_orphan kept;
	refcount_t refs;
	struct efa_mem mem;
};

/**
 * struct efa_chunk - a part of a list that is not contiguous (hw 6.3)
 * @va: EFA_CHUNK_SIZE bytes
 * @dma: their address
 */
struct efa_chunk {
	__le64 *va;
	dma_addr_t dma;
};

/**
 * struct efa_list - memory that the adapter reads for a command: usually a list of pages
 * @link: in one of the admin queue's lists
 * @va: its contents
 * @size: bytes
 * @dma: its address, if contiguous
 * @nr_chunks: 0 if contiguous
 * @chunks: chunks that list its pages
 * @payload: addresses of these pages, EFA_CHUNK_SIZE each
 */
struct efa_list {
	struct list_head link;
	void *va;
	size_t size;
	dma_addr_t dma;
	u32 nr_chunks;
	struct efa_chunk *chunks;
	dma_addr_t *payload;
};

int efa_mem_ring(struct efa_dev *dev, struct efa_mem *mem, size_t size,
		 enum dma_data_direction dir);
void efa_mem_free(struct efa_dev *dev, struct efa_mem *mem);
struct efa_orphan *efa_orphan_alloc(void);
void efa_orphan_put(struct efa_orphan *orphan);
void efa_mem_retire(struct efa_dev *dev, struct efa_mem *mem, bool done);
void efa_orphan_free(struct eadm_adapter *ad, struct eadm_orphan *kept);
void efa_mem_leak(struct efa_dev *dev);

struct efa_list *efa_list_alloc(size_t size);
int efa_list_map(struct efa_dev *dev, struct efa_list *list);
void efa_list_ctrl(const struct efa_list *list, struct efa_ctrl_buf *ctrl, u8 *flags);
void efa_list_free(struct efa_dev *dev, struct efa_list *list);

#endif /* EFA_MEM_H */
