// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "soft.h"

#define KEY_SHIFT 8
#define REMOTE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

int soft_mr_create(struct backend_pd *pd, const struct backend_mr_attr *attr, void *request,
		   struct backend_mr **created, uint32_t *lkey, uint32_t *rkey)
{
	bool fast = attr->kind == BACKEND_MR_FAST;
	struct backend_mr *mr;
	int64_t number;

	(void)request;
	mr = calloc(1, sizeof(*mr) + (fast ? attr->n_pages * sizeof(mr->fast[0]) : 0));
	if (!mr)
		return -ENOMEM;
	*mr = (struct backend_mr){
		.pd = pd,
		.kind = attr->kind,
		.valid = !fast,
		.access = attr->access,
		.start = attr->start,
		.length = attr->length,
		.pages = attr->pages,
		.max_pages = attr->n_pages,
	};
	number = table_add(&pd->port->mrs, mr);
	if (number < 0) {
		free(mr);
		return (int)number;
	}
	mr->key = (uint32_t)number << KEY_SHIFT;
	*lkey = mr->key;
	*rkey = mr->key;
	*created = mr;
	return 0;
}

void soft_mr_destroy(struct backend_mr *mr)
{
	table_del(&mr->pd->port->mrs, mr->key >> KEY_SHIFT);
	free(mr);
}

static struct backend_mr *find(struct backend_pd *pd, uint32_t key)
{
	struct backend_mr *mr = table_get(&pd->port->mrs, key >> KEY_SHIFT);

	return mr && mr->pd == pd && mr->key == key && mr->valid ? mr : NULL;
}

static bool allows(const struct backend_mr *mr, uint64_t addr, uint64_t length,
		   unsigned int access)
{
	if (mr->kind == BACKEND_MR_DMA)
		return !(access & REMOTE);
	if ((mr->access & access) != access)
		return false;
	return addr >= mr->start && length <= mr->length &&
	       addr - mr->start <= mr->length - length;
}

bool soft_mr_check(struct backend_pd *pd, uint32_t key, uint64_t addr, uint64_t length,
		   unsigned int access)
{
	const struct backend_mr *mr = find(pd, key);

	return mr && allows(mr, addr, length, access);
}

void *soft_mr_at(struct backend_pd *pd, uint32_t key, uint64_t addr,
		 unsigned int access, size_t *size)
{
	const struct backend_mr *mr = find(pd, key);
	struct soft_port *port = pd->port;
	size_t room = BACKEND_PAGE - addr % BACKEND_PAGE;
	uint64_t at;

	if (*size > room)
		*size = room;
	if (!mr || !allows(mr, addr, *size, access))
		return NULL;
	if (mr->kind == BACKEND_MR_DMA)
		return port->client->dma(port->ctx, addr, *size, access != 0);
	at = addr - mr->start + mr->start % BACKEND_PAGE;
	if (mr->kind == BACKEND_MR_FAST)
		return port->client->dma(port->ctx, mr->fast[at / BACKEND_PAGE] + at % BACKEND_PAGE,
					 *size, access != 0);
	return (char *)mr->pages[at / BACKEND_PAGE] + at % BACKEND_PAGE;
}

enum ibv_wc_status soft_mr_register(struct backend_pd *pd,
				    const struct backend_fast_reg *reg)
{
	struct backend_mr *mr = table_get(&pd->port->mrs, reg->key >> KEY_SHIFT);
	uint64_t covered = (uint64_t)reg->n_pages * BACKEND_PAGE;

	if (!mr || mr->pd != pd || mr->kind != BACKEND_MR_FAST || mr->valid ||
	    reg->n_pages > mr->max_pages ||
	    reg->iova % BACKEND_PAGE + reg->length > covered)
		return IBV_WC_LOC_QP_OP_ERR;
	mr->key = reg->key;
	mr->start = reg->iova;
	mr->length = reg->length;
	mr->access = reg->access;
	memcpy(mr->fast, reg->pages, reg->n_pages * sizeof(mr->fast[0]));
	mr->valid = true;
	return IBV_WC_SUCCESS;
}

bool soft_mr_invalidate(struct backend_pd *pd, uint32_t key)
{
	struct backend_mr *mr = find(pd, key);

	if (!mr || mr->kind != BACKEND_MR_FAST)
		return false;
	mr->valid = false;
	return true;
}

uint64_t soft_list_length(const struct soft_list *list)
{
	uint64_t length = 0;
	uint32_t i;

	for (i = 0; i < list->n_sge; i++)
		length += list->sges[i].length;
	return length;
}

bool soft_list_check(const struct soft_list *list)
{
	const struct ibv_sge *sge;
	uint32_t i;

	for (i = 0; i < list->n_sge; i++) {
		sge = &list->sges[i];
		if (sge->length && !soft_mr_check(list->pd, sge->lkey, sge->addr,
						  sge->length, list->access))
			return false;
	}
	return true;
}

void *soft_list_at(const struct soft_list *list, uint64_t offset, size_t *size)
{
	const struct ibv_sge *sge;
	uint32_t i;

	for (i = 0; i < list->n_sge; i++) {
		sge = &list->sges[i];
		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		if (*size > sge->length - offset)
			*size = sge->length - offset;
		return soft_mr_at(list->pd, sge->lkey, sge->addr + offset,
				  list->access, size);
	}
	return NULL;
}

bool soft_copy(const struct soft_list *to, uint64_t to_offset,
	       const struct soft_list *from, uint64_t from_offset, size_t size)
{
	size_t piece, done;
	void *into, *out;

	for (done = 0; done < size; done += piece) {
		piece = size - done;
		out = soft_list_at(from, from_offset + done, &piece);
		if (!out)
			return false;
		into = soft_list_at(to, to_offset + done, &piece);
		if (!into)
			return false;
		/* Source and target may overlap because the guest chooses both. */
		memmove(into, out, piece);
	}
	return true;
}

bool soft_put(const struct soft_list *to, uint64_t offset, const void *data, size_t size)
{
	size_t piece, done;
	void *into;

	for (done = 0; done < size; done += piece) {
		piece = size - done;
		into = soft_list_at(to, offset + done, &piece);
		if (!into)
			return false;
		memcpy(into, (const char *)data + done, piece);
	}
	return true;
}

bool soft_get(const struct soft_list *from, uint64_t offset, void *data, size_t size)
{
	const void *bytes;
	size_t piece, done;

	for (done = 0; done < size; done += piece) {
		piece = size - done;
		bytes = soft_list_at(from, offset + done, &piece);
		if (!bytes)
			return false;
		memcpy((char *)data + done, bytes, piece);
	}
	return true;
}
