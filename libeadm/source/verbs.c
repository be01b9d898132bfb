// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libibverbs: whether it is there, its providers, and the limits of a device as
 * it reports them. It is loaded for those only: most programs never ask, and
 * machines without it are served as well.
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#include "base/root.h"
#include "facts.h"

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
bool eadm_fact_limits(const struct eadm_ctx *ctx, const char *name, char *buf,
		      size_t size)
{
	struct ibv_device_attr attr;
	struct ibv_device **list;
	struct ibv_context *context;
	struct verbs verbs;
	bool found = false;
	int i;

	(void)ctx;
	if (!load(&verbs))
		return false;
	list = verbs.ibv_get_device_list(NULL);
	for (i = 0; list && list[i] && !found; i++) {
		if (strcmp(verbs.ibv_get_device_name(list[i]), name))
			continue;
		context = verbs.ibv_open_device(list[i]);
		if (!context)
			break;
		found = !verbs.ibv_query_device(context, &attr);
		if (found)
			write_limits(&attr, buf, size);
		verbs.ibv_close_device(context);
	}
	if (list)
		verbs.ibv_free_device_list(list);
	return found;
}

/*
 * Files where the loader looks. Of the folders in /usr/lib only those of an
 * architecture have libraries: a look into each takes longer than all else that
 * "eadm check" does. /lib mostly is /usr/lib.
 */
static void find_libraries(const struct eadm_ctx *ctx, const char *pattern,
			   glob_t *found)
{
	static const char *const places[] = {
		"/usr/lib/*-linux-*", "/usr/lib64", "/usr/lib",
		"/usr/local/lib/*-linux-*", "/usr/local/lib",
		"/usr/local/lib64", "/lib/*-linux-*",
	};
	size_t i, n = EADM_ARRAY_SIZE(places);
	char to[16];

	if (eadm_root_link(ctx, to, sizeof(to), "/lib"))
		n--;
	for (i = 0; i < n; i++)
		eadm_root_glob(ctx, i ? GLOB_APPEND : 0, found, "%s/%s",
			       places[i], pattern);
}

bool eadm_fact_providers(const struct eadm_ctx *ctx, const char *name, char *buf,
			 size_t size)
{
	const char *file, *end;
	glob_t found;
	size_t i;

	(void)name;
	find_libraries(ctx, "libibverbs/lib*-rdmav*.so", &found);
	for (i = 0; i < found.gl_pathc; i++) {
		file = strrchr(found.gl_pathv[i], '/') + strlen("/lib");
		end = strstr(file, "-rdmav");
		if (end)
			eadm_fact_add_word(buf, size, file, end - file);
	}
	globfree(&found);
	return true;
}

bool eadm_fact_verbs(const struct eadm_ctx *ctx, const char *name, char *buf,
		     size_t size)
{
	glob_t found;

	(void)name;
	find_libraries(ctx, "libibverbs.so.1", &found);
	snprintf(buf, size, "%s", found.gl_pathc ? "yes" : "no");
	globfree(&found);
	return true;
}
