// SPDX-License-Identifier: GPL-2.0-or-later
/* Protection domains and memory regions. */
#include <errno.h>
#include <stdlib.h>

#include "verbs.h"

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		IBV_ACCESS_REMOTE_ATOMIC)

int verbs_pd_create(struct backend_port *backend_port, struct backend_pd **created)
{
	struct verbs_port *port = verbs_port(backend_port);
	const struct backend_ops *soft = port->verbs->soft->ops;
	struct verbs_pd *pd;
	int err;

	if (port->verbs->dead)
		return -EIO;
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return -ENOMEM;
	pd->port = port;
	err = soft->pd_create(port->soft, &pd->soft);
	if (err)
		goto free_pd;
	pd->pd = ibv_alloc_pd(port->verbs->context);
	if (!pd->pd) {
		err = -errno;
		soft->pd_destroy(pd->soft);
		goto free_pd;
	}
	pd->users = 1;
	*created = (struct backend_pd *)(void *)pd;
	return 0;

free_pd:
	free(pd);
	return err;
}

void verbs_pd_destroy(struct backend_pd *backend_pd)
{
	struct verbs_pd *pd = verbs_pd(backend_pd);

	pd->gone = true;
	/* Cached address handles keep the PD in use: drop them. */
	verbs_ah_drop(pd->port, pd);
	verbs_pd_put(pd);
}

/* ---- registration */

static void free_mr(struct verbs_mr *mr)
{
	mapping_free(&mr->mapping);
	verbs_pd_put(mr->pd);
	free(mr);
}

/*
 * Job: registers the region. The registration pins the pages, so no mapping is needed
 * afterwards.
 */
static void register_mr(struct job *job)
{
	struct verbs_mr *mr = (struct verbs_mr *)(void *)job;

	mr->err = mapping_make(&mr->mapping, mr->room);
	if (mr->err)
		return;
	mr->mr = ibv_reg_mr_iova(mr->device_pd, mr->mapping.start + mr->start % BACKEND_PAGE,
				 mr->length, mr->start, mr->access);
	if (!mr->mr)
		mr->err = errno ? -errno : -EIO;
	mapping_close(&mr->mapping, mr->room);
}

/* Job: deregisters the region. */
static void end_mr(struct job *job)
{
	struct verbs_mr *mr = (struct verbs_mr *)(void *)job;

	ibv_dereg_mr(mr->mr);
}

static void ended(struct job *job)
{
	free_mr((struct verbs_mr *)(void *)job);
}

static void submit_end(struct verbs_mr *mr)
{
	mr->job.run = end_mr;
	mr->job.done = ended;
	worker_submit(&mr->pd->port->worker, &mr->job);
}

static void explain(struct verbs_mr *mr)
{
	if (mr->err == -EOPNOTSUPP)
		verbs_log(mr->pd->port, "guest memory cannot be registered: its pages are scattered across huge pages of the host");
	else if (mr->err == -ENOMEM)
		verbs_log(mr->pd->port, "%u page%s cannot be registered: see RLIMIT_MEMLOCK and vm.max_map_count",
			  mr->n_pages, mr->n_pages == 1 ? "" : "s");
}

static void registered(struct job *job)
{
	struct verbs_mr *mr = (struct verbs_mr *)(void *)job;
	struct verbs_port *port = mr->pd->port;
	void *request = mr->request;
	int err = mr->err;

	mr->busy = false;
	if (mr->gone && !err) {
		submit_end(mr);
		return;
	}
	if (mr->gone) {
		free_mr(mr);
		return;
	}
	if (err) {
		explain(mr);
		free_mr(mr);
	} else {
		*mr->lkey = mr->mr->lkey;
		*mr->rkey = mr->mr->rkey;
	}
	port->client->done(port->ctx, request, err);
}

/* Looks up contiguous guest pages with one call. */
static int look_up(struct verbs_mr *mr, uint32_t most)
{
	const struct verbs_port *port = mr->pd->port;
	const uint64_t *addresses = mr->addresses;
	struct backend_run run;
	uint32_t first, n;
	int err = 0;

	while (!err && most && mr->mapping.size / BACKEND_PAGE < mr->n_pages) {
		first = (uint32_t)(mr->mapping.size / BACKEND_PAGE);
		for (n = 1; n < most && first + n < mr->n_pages; n++)
			if (addresses[first + n] != addresses[first] + n * (uint64_t)BACKEND_PAGE)
				break;
		err = port->client->backing(port->ctx, addresses[first], n * (uint64_t)BACKEND_PAGE,
					    &run);
		if (!err && run.size < BACKEND_PAGE)
			err = -EFAULT;
		if (!err)
			err = mapping_add(&mr->mapping, run.fd, run.offset, run.size, run.writable);
		most -= n;
	}
	return err;
}

/* Continues creation. Returns false if the pages are not complete yet. */
static bool go_on(struct verbs_mr *mr)
{
	struct verbs_port *port = mr->pd->port;

	mr->err = look_up(mr, VERBS_PAGES_TURN);
	if (!mr->err && mr->mapping.size / BACKEND_PAGE < mr->n_pages)
		return false;
	TAILQ_REMOVE(&port->begun, mr, link);
	mr->begun = false;
	if (mr->err) {
		registered(&mr->job);
		return true;
	}
	mr->addresses = NULL;
	mr->busy = true;
	mr->job.run = register_mr;
	mr->job.done = registered;
	worker_submit(&port->worker, &mr->job);
	return true;
}

bool verbs_mr_run(struct verbs_port *port)
{
	struct verbs_mr *mr = TAILQ_FIRST(&port->begun);

	if (mr)
		go_on(mr);
	return !TAILQ_EMPTY(&port->begun);
}

static int create_soft(struct verbs_mr *mr, const struct backend_mr_attr *attr, uint32_t *lkey,
		       uint32_t *rkey)
{
	const struct backend_ops *soft = mr->pd->port->verbs->soft->ops;

	if (attr->kind == BACKEND_MR_FAST)
		return -EOPNOTSUPP;
	return soft->mr_create(mr->pd->soft, attr, NULL, &mr->soft, lkey, rkey);
}

int verbs_mr_create(struct backend_pd *backend_pd, const struct backend_mr_attr *attr,
		    void *request, struct backend_mr **created, uint32_t *lkey, uint32_t *rkey)
{
	struct verbs_pd *pd = verbs_pd(backend_pd);
	struct verbs_mr *mr;
	int err = -EINPROGRESS;

	if (pd->port->verbs->dead)
		return -EIO;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	mr->pd = pd;
	pd->users++;
	if (attr->kind != BACKEND_MR_USER) {
		err = create_soft(mr, attr, lkey, rkey);
		if (err) {
			free_mr(mr);
			return err;
		}
	} else {
		mr->start = attr->start;
		mr->length = attr->length;
		mr->access = attr->access & ACCESS;
		mr->addresses = attr->addresses;
		mr->n_pages = attr->n_pages;
		mr->request = request;
		mr->lkey = lkey;
		mr->rkey = rkey;
		mr->room = &pd->port->verbs->room;
		mr->device_pd = pd->pd;
		mr->begun = true;
		TAILQ_INSERT_TAIL(&pd->port->begun, mr, link);
	}
	*created = (struct backend_mr *)(void *)mr;
	return err;
}

/* Returns true if the loop has no time left to deregister the region in this turn. */
static bool takes_long(const struct verbs_mr *mr)
{
	struct verbs_port *port = mr->pd->port;

	if (port->dereg_turn != port->verbs->turn)
		port->dereg_pages = 0;
	port->dereg_turn = port->verbs->turn;
	port->dereg_pages += mr->n_pages + VERBS_DEREG_PAGES;
	return port->dereg_pages > VERBS_LARGE;
}

/*
 * Deregistering memory takes as long as unpinning its pages. The device invalidates the
 * keys before that, so the client need not wait if the worker begins at once, or if no QP
 * can use the keys.
 */
static bool may_end_later(const struct verbs_mr *mr)
{
	if (!mr->pd->port->worker.jobs)
		return true;
	if (mr->pd->qps)
		return false;
	verbs_qp_disable(mr->pd->port);
	return true;
}

void verbs_mr_destroy(struct backend_mr *backend_mr)
{
	struct verbs_mr *mr = (struct verbs_mr *)(void *)backend_mr;
	struct verbs_port *port = mr->pd->port;

	if (mr->busy) {
		mr->gone = true;
		return;
	}
	if (mr->begun) {
		TAILQ_REMOVE(&port->begun, mr, link);
	} else if (mr->soft) {
		port->verbs->soft->ops->mr_destroy(mr->soft);
	} else if (takes_long(mr) && may_end_later(mr)) {
		submit_end(mr);
		verbs_wait(port);
		return;
	} else {
		ibv_dereg_mr(mr->mr);
	}
	free_mr(mr);
}
