// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory regions (hw 5).
 */
#include <linux/slab.h>

#include "ev.h"

/**
 * ev_mr_find() - look up a memory region
 * @ad: adapter
 * @index: index in the memory protection table, any value
 *
 * Context: ev_fabric held.
 * Return: the MR or NULL.
 */
struct ev_mr *ev_mr_find(struct ev_adapter *ad, u32 index)
{
	return xa_load(&ad->mrs, index);
}

/**
 * ev_mr_free() - free an MR that is no longer in any table
 * @mr: MR
 *
 * Context: ev_fabric held for writing.
 */
void ev_mr_free(struct ev_mr *mr)
{
	vdev_buf_unmap(&mr->table);
	kfree(mr);
}
