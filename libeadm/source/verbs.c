// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libibverbs: its presence, its providers, the devices that it lists, and the device
 * limits that it reports. Most programs never request this data, and the library must
 * also work on machines without libibverbs.
 *
 * libibverbs prints warnings about providers, a damaged provider ends the process, and
 * opening a device that hangs blocks it. Therefore, only child processes use the library.
 * A child lists the devices and, if the limits of one are required, reads the limits of this
 * device first and then those of all others, because loading the providers takes much longer
 * than the rest. If a device blocks a child, only requests for that device are delayed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/late.h"
#include "base/root.h"
#include "child.h"
#include "devlist.h"
#include "eadm_nl.h"
#include "grow.h"
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

/* A list and limits stay valid for the requests of one check. */
#define LIST_NS		1000000000ULL
/* A device that hung for this long is not opened again for that long. */
#define HANGS_MS	5000
#define HUNG_NS		300000000000ULL
#define LIST_MAX	65536

/* The line that a child prints after it has listed the devices. */
#define ALL_LISTED	"+all"
/* The line that a child prints if the file of a device cannot be opened. */
#define CLOSED		"+closed"
/*
 * The lines before and after a device is opened, with its name, and the monotonic time in ms or
 * the limits.
 */
#define OPENING		"+opening"
#define LIMITS		"+limits"

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
	void *lib = dlopen(LIBIBVERBS, RTLD_NOW);

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

/*
 * Limits and the attributes that show them: F(attribute, value in struct
 * ibv_device_attr).
 */
#define DEVICE_LIMITS(F)						\
	F(EADM_A_DEV_VENDOR_ID, vendor_id)				\
	F(EADM_A_DEV_PART_ID, vendor_part_id)				\
	F(EADM_A_DEV_HW_VERSION, hw_ver)				\
	F(EADM_A_DEV_MAX_QP, max_qp) F(EADM_A_DEV_MAX_CQ, max_cq)	\
	F(EADM_A_DEV_MAX_MR, max_mr) F(EADM_A_DEV_MAX_PD, max_pd)	\
	F(EADM_A_DEV_MAX_SEND_WR, max_qp_wr)				\
	F(EADM_A_DEV_MAX_RECV_WR, max_qp_wr)				\
	F(EADM_A_DEV_MAX_CQE, max_cqe) F(EADM_A_DEV_MAX_AH, max_ah)

static uint32_t mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128U << mtu : 0;
}

/* ---- in a child: lines for the caller begin with "+" -------------------------- */

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Users of librdmacm can find only those devices that librdmacm opens. */
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
	EADM_CHILD_SAY("+cm\n");
	all = get(&n);
	for (i = 0; all && i < n; i++)
		EADM_CHILD_SAY("+cm %s\n", verbs->ibv_get_device_name(all[i]->device));
}

/*
 * Other transports do not split messages into packets of the MTU: their value is not a
 * limit.
 */
static void put_mtu(const struct verbs *verbs, struct ibv_context *context, char *line,
		    size_t size)
{
	struct ibv_port_attr port = { 0 };
	uint32_t active, most;

	/* The name is in parentheses, because verbs.h has a macro of this name. */
	if (context->device->transport_type != IBV_TRANSPORT_IB ||
	    (verbs->ibv_query_port)(context, 1, (void *)&port))
		return;
	active = mtu_bytes(port.active_mtu);
	most = mtu_bytes(port.max_mtu);
	if (active && most)
		snprintf(line, size, " %u=%u %u=%u", EADM_A_DEV_ACTIVE_MTU, active,
			 EADM_A_DEV_MAX_MTU, most);
}

/* Prints "+limits NAME ATTRIBUTE=VALUE...", without values if the device cannot be opened. */
static void print_limits(const struct verbs *verbs, struct ibv_device *device)
{
	const char *name = verbs->ibv_get_device_name(device);
	struct ibv_device_attr attr = { 0 };
	struct ibv_context *context;
	char line[512];
	int n;

	EADM_CHILD_SAY(OPENING " %s %" PRId64 "\n", name, now_ms());
	context = verbs->ibv_open_device(device);
	n = snprintf(line, sizeof(line), LIMITS " %.64s ", name);
	if (context && !verbs->ibv_query_device(context, &attr)) {
		n += snprintf(line + n, sizeof(line) - n, "%u=%" PRIu64,
			      EADM_A_DEV_MAX_MR_SIZE, attr.max_mr_size);
#define F(number, name)							\
		n += snprintf(line + n, sizeof(line) - n, " %u=%u", number, \
			      (uint32_t)attr.name);
		DEVICE_LIMITS(F)
#undef F
		put_mtu(verbs, context, line + n, sizeof(line) - n);
	}
	EADM_CHILD_SAY("%s\n", line);
	if (context)
		verbs->ibv_close_device(context);
}

static bool opens(const struct eadm_ctx *ctx, const struct ibv_device *device)
{
	int fd = eadm_root_open(ctx, O_RDWR, "/dev/infiniband/%.64s",
				device->dev_name);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

struct work {
	const struct eadm_ctx *ctx;
	const char *first;	/* device whose limits are required; NULL: none */
};

static struct slow_device *find_slow(const struct eadm_ctx *ctx, const char *name)
{
	size_t i;

	for (i = 0; i < ctx->verbs.n_slow; i++) {
		if (!strcmp(ctx->verbs.slow[i].name, name))
			return &ctx->verbs.slow[i];
	}
	return NULL;
}

static void print_all_limits(const struct verbs *verbs, const struct work *work,
			     struct ibv_device **list)
{
	bool found = false;
	const char *name;
	int i;

	for (i = 0; list[i] && !found; i++) {
		found = !strcmp(verbs->ibv_get_device_name(list[i]), work->first);
		if (found)
			print_limits(verbs, list[i]);
	}
	if (!found)
		EADM_CHILD_SAY(LIMITS " %s \n", work->first);
	for (i = 0; list[i]; i++) {
		name = verbs->ibv_get_device_name(list[i]);
		if (strcmp(name, work->first) != 0 && !find_slow(work->ctx, name))
			print_limits(verbs, list[i]);
	}
}

static void list_devices(const void *arg)
{
	const struct work *work = arg;
	struct ibv_device **list;
	struct verbs verbs;
	bool all = true;
	int i;

	if (!load(&verbs)) {
		EADM_CHILD_SAY("+error %s\n", dlerror());
		return;
	}
	EADM_CHILD_SAY("+loaded\n");
	list = verbs.ibv_get_device_list(NULL);
	if (!list)
		return;
	EADM_CHILD_SAY("+listed\n");
	for (i = 0; list[i]; i++) {
		EADM_CHILD_SAY("+device %s\n", verbs.ibv_get_device_name(list[i]));
		all &= opens(work->ctx, list[i]);
	}
	if (!all)
		EADM_CHILD_SAY(CLOSED "\n");
	EADM_CHILD_SAY(ALL_LISTED "\n");
	/* librdmacm opens all devices, and one of them may hang. */
	if (work->first)
		print_all_limits(&verbs, work, list);
	else if (!all)
		list_connectable(&verbs);
}

/*
 * ---- output of the child ----------------------------------------------------------
 */

/*
 * Finds the next line that begins with @head; the rest of the line is copied to @rest
 * and truncated to the size of @rest.
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

/* Separates the limits, which follow the list, so that warnings about the list remain. */
static const char *cut_limits(char *said)
{
	char *limits = strstr(said, ALL_LISTED "\n");

	if (!limits || (limits != said && limits[-1] != '\n'))
		return NULL;
	*limits = '\0';
	return limits + strlen(ALL_LISTED "\n");
}

static bool find_limits(const char *said, const char *name, char *values, size_t size)
{
	char head[96];

	snprintf(head, sizeof(head), LIMITS " %s ", name);
	return next_line(said, head, values, size);
}

/* A child was killed: notes the device that it was opening, which may be the one required. */
static void note_slow(struct eadm_ctx *ctx, const char *limits, const struct eadm_device *first)
{
	struct verbs_list *list = &ctx->verbs;
	char opening[128] = "", name[EADM_DEV_NAME_MAX] = "", values[2];
	struct slow_device *slow;
	int64_t since = 0;

	while ((limits = next_line(limits, OPENING " ", opening, sizeof(opening)))) {
		if (sscanf(opening, "%63s %" SCNd64, name, &since) != 2 ||
		    !find_limits(limits, name, values, sizeof(values)))
			break;
	}
	if (!limits)
		return;
	slow = find_slow(ctx, name);
	if (!slow && grow(list->slow, list->n_slow, list->max_slow)) {
		slow = &list->slow[list->n_slow++];
		*slow = (struct slow_device){ 0 };
		memcpy(slow->name, name, sizeof(slow->name));
	}
	if (slow && !strcmp(name, first->name) && now_ms() - since >= HANGS_MS) {
		slow->hung = eadm_now(ctx);
		slow->index = first->index;
	}
}

/* Output that did not fit ends in the middle of a line. */
static void cut_last_line(char *said)
{
	char *end = strlen(said) == LIST_MAX - 1 ? strrchr(said, '\n') : NULL;

	if (end)
		end[1] = '\0';
}

static bool is_recent(struct eadm_ctx *ctx, const struct eadm_device *first)
{
	const struct verbs_list *list = &ctx->verbs;
	char values[2];

	if (!list->said || eadm_now(ctx) - list->time >= LIST_NS ||
	    (first && !list->asked_limits))
		return false;
	if (!list->limits)
		return true;
	/* With limits, the devices of librdmacm were not listed. */
	if (!first)
		return !list->asked_limits || !has_line(list->said, CLOSED);
	return has_line(list->limits, EADM_CHILD_END) ||
	       find_limits(list->limits, first->name, values, sizeof(values));
}

/*
 * The list, with the limits of the device @first and perhaps of others; NULL: without limits.
 * Returns NULL if the root is not this machine's, because nothing can be loaded from
 * it. If the list is whole, it does not matter how the child ended.
 */
static const struct verbs_list *list_of(struct eadm_ctx *ctx, const struct eadm_device *first)
{
	struct verbs_list *list = &ctx->verbs;
	const struct work work = { ctx, first ? first->name : NULL };
	struct eadm_child child = { .work = list_devices, .arg = &work };
	char need[96];

	if (ctx->root)
		return NULL;
	if (is_recent(ctx, first))
		return list;
	if (!list->said)
		list->said = malloc(LIST_MAX);
	if (!list->said)
		return NULL;
	if (first) {
		snprintf(need, sizeof(need), LIMITS " %s", first->name);
		child.need = need;
	}
	list->ended = eadm_child_run(ctx, &child, list->said, LIST_MAX);
	cut_last_line(list->said);
	list->limits = cut_limits(list->said);
	list->asked_limits = first;
	if (list->limits && list->ended == -ETIMEDOUT && first)
		note_slow(ctx, list->limits, first);
	if (list->limits)
		list->ended = 0;
	list->time = eadm_now(ctx);
	return list;
}

static void put_limits(struct eadm_answer *answer, const char *values)
{
	unsigned int attr;
	uint64_t value;
	int len;

	for (; sscanf(values, "%u=%" SCNu64 "%n", &attr, &value, &len) == 2; values += len) {
		if (attr == EADM_A_DEV_MAX_MR_SIZE)
			eadm_message_put(&answer->out, attr, &value, sizeof(value));
		else
			eadm_message_put_u32(&answer->out, attr, value);
	}
}

/* Puts nothing if the device cannot be opened, or hung recently. */
void eadm_local_limits(struct eadm_answer *answer,
		       const struct eadm_device *dev)
{
	const struct slow_device *slow = find_slow(answer->ctx, dev->name);
	const struct verbs_list *list;
	char values[512];

	if (slow && slow->hung && slow->index == dev->index &&
	    eadm_now(answer->ctx) - slow->hung < HUNG_NS)
		return;
	list = list_of(answer->ctx, dev);
	if (list && list->limits &&
	    find_limits(list->limits, dev->name, values, sizeof(values)))
		put_limits(answer, values);
}

/* ---- the row -------------------------------------------------------------------- */

/* Puts nothing if not all names fit: it would seem that the others are not listed. */
static void put_names(struct eadm_answer *answer, uint16_t attr,
		      const char *said, const char *head)
{
	char words[2048] = "", name[64];

	while ((said = next_line(said, head, name, sizeof(name)))) {
		if (strlen(words) + strlen(name) + 2 > sizeof(words))
			return;
		eadm_local_add_word(words, sizeof(words), name, strlen(name));
	}
	eadm_local_put(answer, attr, words);
}

static void put_providers(struct eadm_answer *answer, bool installed,
			  const struct verbs_list *list)
{
	const char *said = list ? list->said : NULL;
	char words[512] = "", faults[2048] = "", why[256];

	eadm_providers_installed(answer->ctx, words, sizeof(words));
	eadm_local_put(answer, EADM_A_VERBS_PROVIDERS, words);
	*words = '\0';
	eadm_providers_configured(answer->ctx, words, sizeof(words), faults,
				  sizeof(faults) - EADM_PROVIDERS_ROOM);
	eadm_local_put(answer, EADM_A_VERBS_CONFIGURED, words);
	if (installed && said && next_line(said, "+error ", why, sizeof(why)))
		eadm_providers_add_fault(faults, sizeof(faults), "libibverbs",
					 "%s", why);
	if (said)
		eadm_providers_faults(answer->ctx, said, list->ended,
				      faults, sizeof(faults));
	eadm_local_put(answer, EADM_A_VERBS_FAULTS, faults);
}

void eadm_local_verbs(struct eadm_answer *answer,
		      const struct eadm_query *query)
{
	size_t at = eadm_answer_row(answer, NULL);
	const struct verbs_list *list = list_of(answer->ctx, NULL);
	const char *said = list ? list->said : NULL;
	bool installed, complete;
	glob_t found;

	(void)query;
	eadm_find_libraries(answer->ctx, LIBIBVERBS, &found);
	installed = found.gl_pathc || (said && has_line(said, "+loaded"));
	globfree(&found);
	eadm_message_put_u32(&answer->out, EADM_A_VERBS_INSTALLED, installed);
	put_providers(answer, installed, list);
	eadm_local_put_access(answer, EADM_A_VERBS_RDMA_CM_ERROR, "rdma_cm",
			      "misc");
	/* An incomplete list would cause false reports about the devices missing from it. */
	complete = list && list->limits;
	if (complete)
		put_names(answer, EADM_A_VERBS_DEVICES, said, "+device ");
	if (complete && has_line(list->limits, "+cm") && has_line(list->limits, EADM_CHILD_END))
		put_names(answer, EADM_A_VERBS_CM_DEVICES, list->limits, "+cm ");
	eadm_message_end(&answer->out, at);
}
