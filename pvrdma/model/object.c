// SPDX-License-Identifier: GPL-2.0-or-later
/* User contexts, PDs, memory regions and GIDs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "function.h"

/* Pages of a memory region per step; each page takes two lookups. */
#define PAGES_AT_ONCE 2048u

int context_create(struct model *m, uint64_t pfn, uint32_t *handle)
{
	uint64_t uar = pfn - m->uar_pfn;
	struct context *context;
	int64_t number;

	if (!uar || uar >= MAX_UAR)
		return -EINVAL;
	if (m->uars[uar])
		return -EBUSY;
	context = calloc(1, sizeof(*context));
	if (!context)
		return -ENOMEM;
	number = table_add(&m->contexts, context);
	if (number < 0) {
		free(context);
		return (int)number;
	}
	context->handle = (uint32_t)number;
	context->uar = (uint32_t)uar;
	context->born = journal_now();
	m->uars[uar] = context;
	*handle = context->handle;
	return 0;
}

int context_destroy(struct model *m, uint32_t handle)
{
	struct context *context = table_get(&m->contexts, handle);

	if (!context)
		return -ENOENT;
	if (context->users)
		return -EBUSY;
	table_del(&m->contexts, handle);
	m->uars[context->uar] = NULL;
	free(context);
	return 0;
}

int context_get(struct model *m, uint32_t handle, struct context **context)
{
	*context = NULL;
	if (!handle)
		return 0;
	*context = table_get(&m->contexts, handle);
	if (!*context)
		return -ENOENT;
	(*context)->users++;
	return 0;
}

void context_put(struct context *context)
{
	if (context)
		context->users--;
}

void context_count(struct context *context, enum context_kind kind, int change)
{
	if (context)
		context->objects[kind] += (uint32_t)change;
}

int pd_create(struct model *m, uint32_t context, uint32_t *handle)
{
	struct pd *pd = calloc(1, sizeof(*pd));
	int64_t number;
	int err;

	if (!pd)
		return -ENOMEM;
	err = context_get(m, context, &pd->context);
	if (err)
		goto free_pd;
	err = m->ops->pd_create(m->port, &pd->backend);
	if (err)
		goto put_context;
	number = table_add(&m->pds, pd);
	if (number < 0) {
		err = (int)number;
		goto destroy_pd;
	}
	pd->handle = (uint32_t)number;
	pd->born = journal_now();
	context_count(pd->context, CONTEXT_PD, 1);
	*handle = pd->handle;
	return 0;

destroy_pd:
	m->ops->pd_destroy(pd->backend);
put_context:
	context_put(pd->context);
free_pd:
	free(pd);
	return err;
}

int pd_destroy(struct model *m, uint32_t handle)
{
	struct pd *pd = table_get(&m->pds, handle);

	if (!pd)
		return -ENOENT;
	if (pd->users)
		return -EBUSY;
	table_del(&m->pds, handle);
	m->ops->pd_destroy(pd->backend);
	context_count(pd->context, CONTEXT_PD, -1);
	context_put(pd->context);
	free(pd);
	return 0;
}

/* Translates the command for the backend; for a user MR, begins to look up the pages. */
static int describe_mr(struct model *m, const struct pvrdma_cmd_create_mr *cmd, struct mr *mr)
{
	struct backend_mr_attr *attr = &mr->attr;
	uint64_t span;

	*attr = (struct backend_mr_attr){
		.access = cmd->access & PVRDMA_ACCESS_KNOWN,
		.n_pages = cmd->chunks,
	};
	switch (cmd->flags) {
	case PVRDMA_MR_DMA:
		/* The kernel's own region (hw 9.3). */
		attr->kind = BACKEND_MR_DMA;
		return mr->pd->context ? -EPERM : 0;
	case PVRDMA_MR_FAST_REG:
		attr->kind = BACKEND_MR_FAST;
		return !cmd->chunks || cmd->chunks > PVRDMA_MAX_FAST_REG ? -EINVAL : 0;
	case 0:
		break;
	default:
		return -EINVAL;
	}
	attr->kind = BACKEND_MR_USER;
	attr->start = cmd->start;
	attr->length = cmd->length;
	span = cmd->start % PAGE + cmd->length;
	if (!cmd->length || cmd->length > m->caps.max_mr_size ||
	    cmd->start + cmd->length < cmd->start || attr->access & PVRDMA_ACCESS_ZERO_BASED ||
	    (span + PAGE - 1) / PAGE != cmd->chunks)
		return -EINVAL;
	if (m->config.limits.memory && (m->registered >= m->config.limits.memory ||
					cmd->chunks * PAGE > m->config.limits.memory - m->registered))
		return -EDQUOT;
	return pages_begin(m, cmd->directory, cmd->chunks, &mr->pages);
}

static void free_mr(struct model *m, struct mr *mr)
{
	mr->pd->users--;
	if (mr->pages)
		m->registered -= mr->pages->wanted * PAGE;
	pages_unmap(mr->pages);
	free(mr);
}

int mr_finish(struct model *m, struct mr *mr, int err)
{
	int64_t number = err ? err : table_add(&m->mrs, mr);

	if (number >= 0) {
		mr->handle = (uint32_t)number;
		mr->born = journal_now();
		context_count(mr->pd->context, CONTEXT_MR, 1);
		return 0;
	}
	if (!err)
		m->ops->mr_destroy(mr->backend);
	free_mr(m, mr);
	return (int)number;
}

int mr_continue(struct model *m, struct mr *mr)
{
	int err = mr->pages ? pages_more(m, mr->pages, PAGES_AT_ONCE) : 0;

	if (err > 0)
		return -EINPROGRESS;
	if (!err && mr->pages) {
		mr->attr.pages = mr->pages->at;
		mr->attr.addresses = mr->pages->addresses;
	}
	if (!err)
		err = m->ops->mr_create(mr->pd->backend, &mr->attr, mr, &mr->backend, &mr->lkey,
					&mr->rkey);
	return err == -EINPROGRESS ? err : mr_finish(m, mr, err);
}

int mr_create(struct model *m, const struct pvrdma_cmd_create_mr *cmd, struct mr **created)
{
	struct mr *mr = calloc(1, sizeof(*mr));
	int err;

	if (!mr)
		return -ENOMEM;
	mr->pd = table_get(&m->pds, cmd->pd);
	err = mr->pd ? describe_mr(m, cmd, mr) : -ENOENT;
	if (err) {
		free(mr);
		return err;
	}
	mr->pd->users++;
	if (mr->pages)
		m->registered += mr->pages->wanted * PAGE;
	*created = mr;
	return mr_continue(m, mr);
}

void mr_abandon(struct model *m, struct mr *mr)
{
	if (mr->backend)
		m->ops->mr_destroy(mr->backend);
	free_mr(m, mr);
}

int mr_destroy(struct model *m, uint32_t handle)
{
	struct mr *mr = table_del(&m->mrs, handle);

	if (!mr)
		return -ENOENT;
	m->ops->mr_destroy(mr->backend);
	context_count(mr->pd->context, CONTEXT_MR, -1);
	free_mr(m, mr);
	return 0;
}

int gid_bind(struct model *m, const struct pvrdma_cmd_create_bind *cmd)
{
	union ibv_gid gid;
	int err;

	if (cmd->index >= GID_TABLE)
		return -EINVAL;
	memcpy(gid.raw, cmd->gid, sizeof(gid.raw));
	if (m->bound[cmd->index])
		m->ops->gid_del(m->port, cmd->index);
	err = m->ops->gid_add(m->port, cmd->index, &gid, m->config.gid_type);
	m->bound[cmd->index] = !err;
	memcpy(m->gids[cmd->index], cmd->gid, sizeof(cmd->gid));
	if (err == -EADDRINUSE)
		model_log(m, "GID %u already belongs to another function", cmd->index);
	return err;
}

int gid_unbind(struct model *m, uint32_t index)
{
	if (index >= GID_TABLE || !m->bound[index])
		return -ENOENT;
	m->ops->gid_del(m->port, index);
	m->bound[index] = false;
	return 0;
}
