// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Limits of a device as libibverbs tells them. It is loaded when it is needed:
 * most programs never ask, and machines without it are served as well.
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#include "priv.h"

#define VERBS_FUNCTIONS(f)						\
	f(ibv_get_device_list) f(ibv_free_device_list)			\
	f(ibv_get_device_name) f(ibv_open_device) f(ibv_close_device)	\
	f(ibv_query_device)

struct verbs {
#define f(name) __typeof__(&name) name;
	VERBS_FUNCTIONS(f)
#undef f
};

static bool load(struct verbs *verbs)
{
	/* Providers stay loaded, and so does what they need. */
	void *lib = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NODELETE);

	if (!lib)
		return false;
#define f(name)								\
	verbs->name = (__typeof__(verbs->name))dlsym(lib, #name);	\
	if (!verbs->name)						\
		return false;
	VERBS_FUNCTIONS(f)
#undef f
	return true;
}

/* Names are those of fields of the object "dev". */
static void write_limits(const struct ibv_device_attr *attr, char *buf,
			 size_t size)
{
	snprintf(buf, size,
		 "vendor-id=%u part-id=%u hw-version=%u max-qp=%d max-cq=%d "
		 "max-mr=%d max-pd=%d max-mr-size=%llu max-send-wr=%d "
		 "max-recv-wr=%d max-cqe=%d",
		 attr->vendor_id, attr->vendor_part_id, attr->hw_ver,
		 attr->max_qp, attr->max_cq, attr->max_mr, attr->max_pd,
		 (unsigned long long)attr->max_mr_size, attr->max_qp_wr,
		 attr->max_qp_wr, attr->max_cqe);
}

/* "FIELD=VALUE ..." of a device of this machine; false: it can't be opened. */
bool eadm_verbs_limits(const char *name, char *buf, size_t size)
{
	struct ibv_device_attr attr;
	struct ibv_device **list;
	struct ibv_context *ctx;
	struct verbs verbs;
	bool found = false;
	int i;

	if (!load(&verbs))
		return false;
	list = verbs.ibv_get_device_list(NULL);
	for (i = 0; list && list[i] && !found; i++) {
		if (strcmp(verbs.ibv_get_device_name(list[i]), name))
			continue;
		ctx = verbs.ibv_open_device(list[i]);
		if (!ctx)
			break;
		found = !verbs.ibv_query_device(ctx, &attr);
		if (found)
			write_limits(&attr, buf, size);
		verbs.ibv_close_device(ctx);
	}
	if (list)
		verbs.ibv_free_device_list(list);
	return found;
}
