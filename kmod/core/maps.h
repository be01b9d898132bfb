/* SPDX-License-Identifier: GPL-2.0-only */
/* Device memory mapped by processes: doorbells, send queues. */
#ifndef EADM_MAPS_H
#define EADM_MAPS_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/rwsem.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct address_space;
struct file;

/**
 * struct eadm_maps - the device memory of one user context
 * @file: holds this structure, and the module; see maps.c
 * @window: window of offsets that no other context uses; negative if none
 * @lock: protects this structure and all of its ranges; see maps.c
 * @ranges: list of struct eadm_map that are not revoked
 * @dead: the adapter no longer serves the context
 * @dummy: page that replaces device memory once @dead is set; set once, without @lock
 */
struct eadm_maps {
	struct file *file;
	int window;
	struct rw_semaphore lock;	/* protects the members below, and struct eadm_map */
	struct list_head ranges;
	bool dead;
	struct page *dummy;
};

/**
 * struct eadm_map - a range of device memory
 * @entry: the RDMA core's part, with the offset at which processes map the range
 * @maps: context of the range; NULL for host memory, which the family maps
 * @users: for the family
 * @ref: references held by the creator and by each VMA
 * @node: in @maps->ranges
 * @addr: physical address
 * @pages: size in pages
 * @write_combining: stores may be combined
 * @reserved: write combining is reserved for the range
 * @revoked: the range no longer belongs to the context
 * @mapping: address space of its VMAs; NULL before the first VMA
 * @pgoff: offset in @mapping
 */
struct eadm_map {
	struct rdma_user_mmap_entry entry;
	struct eadm_maps *maps;
	u32 users;
	struct kref ref;
	struct list_head node;
	phys_addr_t addr;
	unsigned long pages;
	bool write_combining;
	bool reserved;
	bool revoked;
	struct address_space *mapping;
	pgoff_t pgoff;
};

struct eadm_maps *eadm_maps_create(void);
void eadm_maps_end(struct eadm_maps *maps);
void eadm_maps_put(struct eadm_maps *maps);
struct eadm_map *eadm_map_create(struct eadm_maps *maps, struct ib_ucontext *ibctx,
				 phys_addr_t addr, unsigned long pages, bool write_combining);
void eadm_map_remove(struct eadm_map *map);
void eadm_map_free(struct rdma_user_mmap_entry *entry);
int eadm_map_mmap(struct eadm_map *map, struct vm_area_struct *vma, pgprot_t prot);

static inline struct eadm_map *to_eadm_map(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct eadm_map, entry);
}

/* The offset that a process passes to mmap(). */
static inline u64 eadm_map_key(struct eadm_map *map)
{
	return rdma_user_mmap_get_offset(&map->entry);
}

#endif /* EADM_MAPS_H */
