// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libibverbs: whether it is installed, its providers, and device limits as it
 * reports them. It is loaded for the limits only: most programs never ask for
 * them, and machines without it must work as well.
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/late.h"
#include "base/root.h"
#include "devlist.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/generated/fields.h"

#define LIBIBVERBS	"libibverbs.so.1"
EADM_LATE_LIBRARY(verbs, LIBIBVERBS, "suggested",
		  "limits of devices, and checks of the providers");

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
	/* Providers stay loaded, and so do their dependencies. */
	void *lib = dlopen(LIBIBVERBS, RTLD_NOW | RTLD_NODELETE);

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

static void put_limits(struct eadm_answer *answer,
		       const struct ibv_device_attr *attr)
{
	const struct {
		uint16_t attr;
		int value;
	} limits[] = {
		{ EADM_A_DEV_VENDOR_ID, attr->vendor_id },
		{ EADM_A_DEV_PART_ID, attr->vendor_part_id },
		{ EADM_A_DEV_HW_VERSION, attr->hw_ver },
		{ EADM_A_DEV_MAX_QP, attr->max_qp },
		{ EADM_A_DEV_MAX_CQ, attr->max_cq },
		{ EADM_A_DEV_MAX_MR, attr->max_mr },
		{ EADM_A_DEV_MAX_PD, attr->max_pd },
		{ EADM_A_DEV_MAX_SEND_WR, attr->max_qp_wr },
		{ EADM_A_DEV_MAX_RECV_WR, attr->max_qp_wr },
		{ EADM_A_DEV_MAX_CQE, attr->max_cqe },
		{ EADM_A_DEV_MAX_AH, attr->max_ah },
	};
	size_t i;

	for (i = 0; i < EADM_ARRAY_SIZE(limits); i++)
		eadm_message_put_u32(&answer->out, limits[i].attr,
				     limits[i].value);
	eadm_message_put(&answer->out, EADM_A_DEV_MAX_MR_SIZE,
			 &attr->max_mr_size, sizeof(attr->max_mr_size));
}

/* Puts nothing if the device cannot be opened. */
void eadm_local_limits(struct eadm_answer *answer,
		       const struct eadm_device *dev)
{
	struct ibv_device_attr attr;
	struct ibv_device **list;
	struct ibv_context *context;
	struct verbs verbs;
	int i;

	if (!load(&verbs))
		return;
	list = verbs.ibv_get_device_list(NULL);
	for (i = 0; list && list[i]; i++) {
		if (strcmp(verbs.ibv_get_device_name(list[i]), dev->name))
			continue;
		context = verbs.ibv_open_device(list[i]);
		if (!context)
			break;
		if (!verbs.ibv_query_device(context, &attr))
			put_limits(answer, &attr);
		verbs.ibv_close_device(context);
		break;
	}
	if (list)
		verbs.ibv_free_device_list(list);
}

static void find_by_architecture(const struct eadm_ctx *ctx,
				 const char *architecture, const char *pattern,
				 glob_t *found)
{
	static const char *const places[] = {
		"/usr/lib", "/usr/local/lib", "/lib",
	};
	size_t i, n = EADM_ARRAY_SIZE(places);
	char to[16];

	/* It usually is /usr/lib. */
	if (eadm_root_link(ctx, to, sizeof(to), "/lib"))
		n--;
	for (i = 0; i < n; i++)
		eadm_root_glob(ctx, GLOB_APPEND, found, "%s/%s/%s", places[i],
			       architecture, pattern);
}

/*
 * Files where the loader looks. Reading a folder with hundreds of other files
 * takes longer than everything else in "eadm check", so the architecture's
 * folder is tried first under its usual name.
 */
static void find_libraries(const struct eadm_ctx *ctx, const char *pattern,
			   glob_t *found)
{
	static const char *const places[] = {
		"/usr/lib64", "/usr/lib", "/usr/local/lib", "/usr/local/lib64",
	};
	char usual[sizeof(((struct utsname *)0)->machine) + 16];
	struct utsname uts;
	size_t i;

	memset(found, 0, sizeof(*found));
	if (!uname(&uts)) {
		snprintf(usual, sizeof(usual), "%s-linux-gnu", uts.machine);
		find_by_architecture(ctx, usual, pattern, found);
	}
	for (i = 0; i < EADM_ARRAY_SIZE(places); i++)
		eadm_root_glob(ctx, GLOB_APPEND, found, "%s/%s", places[i],
			       pattern);
	if (!found->gl_pathc)
		find_by_architecture(ctx, "*-linux-*", pattern, found);
}

static void put_providers(struct eadm_answer *answer)
{
	const char *file, *end;
	char words[512] = "";
	glob_t found;
	size_t i;

	find_libraries(answer->ctx, "libibverbs/lib*-rdmav*.so", &found);
	for (i = 0; i < found.gl_pathc; i++) {
		file = strrchr(found.gl_pathv[i], '/') + strlen("/lib");
		end = strstr(file, "-rdmav");
		if (end)
			eadm_local_add_word(words, sizeof(words), file,
					    end - file);
	}
	globfree(&found);
	eadm_local_put(answer, EADM_A_VERBS_PROVIDERS, words);
}

void eadm_local_verbs(struct eadm_answer *answer,
		      const struct eadm_query *query)
{
	size_t at = eadm_answer_row(answer, NULL);
	glob_t found;

	(void)query;
	find_libraries(answer->ctx, LIBIBVERBS, &found);
	eadm_message_put_u32(&answer->out, EADM_A_VERBS_INSTALLED,
			     found.gl_pathc != 0);
	globfree(&found);
	put_providers(answer);
	eadm_local_put_access(answer, EADM_A_VERBS_RDMA_CM_ERROR, "rdma_cm");
	eadm_message_end(&answer->out, at);
}
