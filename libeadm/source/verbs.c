// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libibverbs: its presence, its providers, the devices that it lists, and the device
 * limits that it reports. Most programs never request this data, and the library must
 * also work on machines without libibverbs.
 *
 * libibverbs prints warnings about providers, and a damaged provider ends the process.
 * Therefore, a child process lists the devices first.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/late.h"
#include "base/root.h"
#include "child.h"
#include "devlist.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"
#include "providers.h"

#define LIBIBVERBS	"libibverbs.so.1"
EADM_LATE_LIBRARY(verbs, LIBIBVERBS, "suggested",
		  "device limits and provider state");
#define LIBRDMACM	"librdmacm.so.1"
EADM_LATE_LIBRARY(rdmacm, LIBRDMACM, "suggested",
		  "list of librdmacm's devices if a device cannot be opened");

/* A list stays valid for the requests of one check. */
#define LIST_NS		1000000000ULL
#define LIST_MAX	16384

#define VERBS_FUNCTIONS(f)						\
	f(ibv_get_device_list) f(ibv_free_device_list)			\
	f(ibv_get_device_name) f(ibv_open_device) f(ibv_close_device)	\
	f(ibv_query_device) f(ibv_query_port)

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

struct limits {
	struct ibv_device_attr dev;
	uint32_t active_mtu, max_mtu;	/* MTU of port 1, bytes; 0: unknown */
};

static void put_limits(struct eadm_answer *answer, const struct limits *all)
{
	const struct ibv_device_attr *attr = &all->dev;
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
	if (all->active_mtu && all->max_mtu) {
		eadm_message_put_u32(&answer->out, EADM_A_DEV_ACTIVE_MTU,
				     all->active_mtu);
		eadm_message_put_u32(&answer->out, EADM_A_DEV_MAX_MTU,
				     all->max_mtu);
	}
}

static uint32_t mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128U << mtu : 0;
}

/* Other transports do not divide messages by the MTU: their value is not a limit. */
static void query_mtu(const struct verbs *verbs, struct ibv_context *context,
		      struct limits *limits)
{
	struct ibv_port_attr port = { 0 };

	/* The name is in parentheses, because verbs.h has a macro of this name. */
	if (context->device->transport_type != IBV_TRANSPORT_IB ||
	    (verbs->ibv_query_port)(context, 1, (void *)&port))
		return;
	limits->active_mtu = mtu_bytes(port.active_mtu);
	limits->max_mtu = mtu_bytes(port.max_mtu);
}

/* False if the device cannot be opened. */
static bool query_limits(const char *name, struct limits *limits)
{
	struct ibv_context *context = NULL;
	struct ibv_device **list;
	struct verbs verbs;
	bool good = false;
	int i;

	memset(limits, 0, sizeof(*limits));
	if (!load(&verbs))
		return false;
	list = verbs.ibv_get_device_list(NULL);
	for (i = 0; list && list[i]; i++) {
		if (!strcmp(verbs.ibv_get_device_name(list[i]), name)) {
			context = verbs.ibv_open_device(list[i]);
			break;
		}
	}
	if (context) {
		good = !verbs.ibv_query_device(context, &limits->dev);
		query_mtu(&verbs, context, limits);
		verbs.ibv_close_device(context);
	}
	if (list)
		verbs.ibv_free_device_list(list);
	return good;
}

/* ---- in a child: lines for the caller begin with "+" -------------------------- */

/* Users of librdmacm can find exactly those devices that librdmacm opens. */
static void list_connectable(const struct verbs *verbs)
{
	void *lib = dlopen(LIBRDMACM, RTLD_NOW);
	struct ibv_context **(*get)(int *n) = NULL;
	struct ibv_context **all;
	int n = 0, i;

	if (lib)
		get = (__typeof__(get))dlsym(lib, "rdma_get_devices");
	if (!get)
		return;
	dprintf(STDOUT_FILENO, "+cm\n");
	all = get(&n);
	for (i = 0; all && i < n; i++)
		dprintf(STDOUT_FILENO, "+cm %s\n",
			verbs->ibv_get_device_name(all[i]->device));
}

static bool opens(const struct eadm_ctx *ctx, const struct ibv_device *device)
{
	int fd = eadm_root_open(ctx, O_RDWR, "/dev/infiniband/%.64s",
				device->dev_name);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void list_devices(const void *arg)
{
	struct ibv_device **list;
	struct verbs verbs;
	bool all = true;
	int i;

	if (!load(&verbs)) {
		dprintf(STDOUT_FILENO, "+error %s\n", dlerror());
		return;
	}
	dprintf(STDOUT_FILENO, "+loaded\n");
	list = verbs.ibv_get_device_list(NULL);
	if (!list)
		return;
	dprintf(STDOUT_FILENO, "+listed\n");
	for (i = 0; list[i]; i++) {
		dprintf(STDOUT_FILENO, "+device %s\n",
			verbs.ibv_get_device_name(list[i]));
		all &= opens(arg, list[i]);
	}
	if (!all)
		list_connectable(&verbs);
}

static void print_limits(const void *arg)
{
	struct limits limits;
	unsigned int i;

	if (!query_limits(arg, &limits))
		return;
	dprintf(STDOUT_FILENO, "+limits ");
	for (i = 0; i < sizeof(limits); i++)
		dprintf(STDOUT_FILENO, "%02x", ((unsigned char *)&limits)[i]);
	dprintf(STDOUT_FILENO, "\n");
}

/*
 * ---- output of the child ----------------------------------------------------------
 */

/*
 * The next line that begins with @head; the rest of the line is copied to @rest and
 * truncated to its size.
 */
static const char *next_line(const char *at, const char *head, char *rest,
			     size_t size)
{
	size_t len = strlen(head), line;

	for (; *at; at += line + (at[line] != '\0')) {
		line = strcspn(at, "\n");
		if (line < len || memcmp(at, head, len) != 0)
			continue;
		snprintf(rest, size, "%.*s", (int)(line - len), at + len);
		return at + line + (at[line] != '\0');
	}
	return NULL;
}

static bool has_line(const char *said, const char *head)
{
	char rest[2];

	return next_line(said, head, rest, sizeof(rest));
}

/* Returns true if libibverbs can be used in this process without a warning. */
static bool is_quiet(const char *said, int ended)
{
	const char *at;
	size_t line;

	for (at = said; *at; at += line + (at[line] != '\0')) {
		line = strcspn(at, "\n");
		if (*at != '+')
			return false;
	}
	return !ended && has_line(said, "+listed");
}

/* Returns NULL if the root is a different one, from which nothing can be loaded. */
static const char *list_of(struct eadm_ctx *ctx, bool recent, int *ended)
{
	if (ctx->root)
		return NULL;
	if (ctx->verbs.said &&
	    (!recent || eadm_now(ctx) - ctx->verbs.time < LIST_NS))
		goto out;
	if (!ctx->verbs.said)
		ctx->verbs.said = malloc(LIST_MAX);
	if (!ctx->verbs.said)
		return NULL;
	ctx->verbs.ended = eadm_child_run(list_devices, ctx, ctx->verbs.said,
					  LIST_MAX);
	ctx->verbs.time = eadm_now(ctx);
out:
	*ended = ctx->verbs.ended;
	return ctx->verbs.said;
}

static bool limits_by_child(const char *name, struct limits *limits)
{
	char said[4096], hex[2 * sizeof(*limits) + 1];
	unsigned char *to = (unsigned char *)limits;
	unsigned int i, byte;

	if (eadm_child_run(print_limits, name, said, sizeof(said)) ||
	    !next_line(said, "+limits ", hex, sizeof(hex)) ||
	    strlen(hex) != sizeof(hex) - 1)
		return false;
	for (i = 0; i < sizeof(*limits); i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return false;
		to[i] = byte;
	}
	return true;
}

/* Puts nothing if the device cannot be opened. */
void eadm_local_limits(struct eadm_answer *answer,
		       const struct eadm_device *dev)
{
	struct limits limits;
	const char *said;
	int ended;

	said = list_of(answer->ctx, false, &ended);
	if (said && (is_quiet(said, ended) ? query_limits(dev->name, &limits) :
					     limits_by_child(dev->name, &limits)))
		put_limits(answer, &limits);
}

/* ---- the row -------------------------------------------------------------------- */

static void put_names(struct eadm_answer *answer, uint16_t attr,
		      const char *said, const char *head)
{
	char words[2048] = "", name[64];

	while ((said = next_line(said, head, name, sizeof(name))))
		eadm_local_add_word(words, sizeof(words), name, strlen(name));
	eadm_local_put(answer, attr, words);
}

static void put_providers(struct eadm_answer *answer, bool installed,
			  const char *said, int ended)
{
	char words[512] = "", faults[2048] = "", why[256];

	eadm_providers_installed(answer->ctx, words, sizeof(words));
	eadm_local_put(answer, EADM_A_VERBS_PROVIDERS, words);
	*words = '\0';
	eadm_providers_configured(answer->ctx, words, sizeof(words), faults,
				  sizeof(faults));
	eadm_local_put(answer, EADM_A_VERBS_CONFIGURED, words);
	if (installed && said && next_line(said, "+error ", why, sizeof(why)))
		eadm_providers_add_fault(faults, sizeof(faults), "libibverbs",
					 "%s", why);
	if (said)
		eadm_providers_faults(answer->ctx, said, ended, faults,
				      sizeof(faults));
	eadm_local_put(answer, EADM_A_VERBS_FAULTS, faults);
}

void eadm_local_verbs(struct eadm_answer *answer,
		      const struct eadm_query *query)
{
	size_t at = eadm_answer_row(answer, NULL);
	bool installed, complete;
	const char *said;
	glob_t found;
	int ended = 0;

	(void)query;
	said = list_of(answer->ctx, true, &ended);
	eadm_find_libraries(answer->ctx, LIBIBVERBS, &found);
	installed = found.gl_pathc || (said && has_line(said, "+loaded"));
	globfree(&found);
	eadm_message_put_u32(&answer->out, EADM_A_VERBS_INSTALLED, installed);
	put_providers(answer, installed, said, ended);
	eadm_local_put_access(answer, EADM_A_VERBS_RDMA_CM_ERROR, "rdma_cm",
			      "misc");
	/* An incomplete list would cause false reports about the devices missing from it. */
	complete = said && has_line(said, EADM_CHILD_END);
	if (complete && has_line(said, "+listed"))
		put_names(answer, EADM_A_VERBS_DEVICES, said, "+device ");
	if (complete && has_line(said, "+cm"))
		put_names(answer, EADM_A_VERBS_CM_DEVICES, said, "+cm ");
	eadm_message_end(&answer->out, at);
}
