// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rows about the machine and its setup, most of which come unchanged from the source. A
 * field is absent if the source does not have it; an empty string or 0 means that the
 * described thing does not exist.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "eadm_nl.h"
#include "family/family.h"
#include "grow.h"
#include "machine.h"
#include "nldev.h"
#include "setup.h"

/* Modules that RDMA needs, which are shown even if they are not loaded. */
static const char *const needed[] = { "ib_core", "ib_uverbs", "rdma_cm",
				      "rdma_ucm" };
/* Modules of GPUs, whose memory may be registered, and modules that this requires. */
static const char *const others[] = { "nvidia", "nvidia_peermem", "amdgpu",
				      "neuron" };

/* Lists the modules above, then the adapters' modules, then eadm's modules. */
static const char *module_name(unsigned int index)
{
	const struct eadm_family *family = NULL;
	const char *name;
	unsigned int i;

	if (index < EADM_ARRAY_SIZE(needed))
		return needed[index];
	index -= EADM_ARRAY_SIZE(needed);
	if (index < EADM_ARRAY_SIZE(others))
		return others[index];
	index -= EADM_ARRAY_SIZE(others);
	while ((family = eadm_family_next(family))) {
		for (i = 0; (name = eadm_family_module(family, i)); i++) {
			if (!index--)
				return name;
		}
	}
	return index ? NULL : "eadm";
}

#define NO_MODULE UINT_MAX

static unsigned int module_index(const char *name)
{
	const struct eadm_family *family = NULL;
	const char *module;
	unsigned int i, n;

	for (n = 0; n < EADM_ARRAY_SIZE(needed) + EADM_ARRAY_SIZE(others); n++) {
		if (!strcmp(module_name(n), name))
			return n;
	}
	while ((family = eadm_family_next(family))) {
		for (i = 0; (module = eadm_family_module(family, i)); i++, n++) {
			if (!strcmp(module, name))
				return n;
		}
	}
	return strcmp(name, "eadm") ? NO_MODULE : n;
}

void eadm_setup_select(struct eadm_setup *setup, const char *name)
{
	setup->one = true;
	setup->index = module_index(name);
}

static int open_row(struct eadm_ctx *ctx, struct eadm_setup *setup,
		    const struct eadm_query *query,
		    const struct eadm_object *object, struct eadm_record *rec)
{
	eadm_setup_close(setup);
	setup->open = true;
	return eadm_machine_open(ctx, query, object, &setup->reply, rec);
}

void eadm_setup_close(struct eadm_setup *setup)
{
	if (setup->open)
		eadm_reply_close(&setup->reply);
	setup->open = false;
}

void eadm_setup_free(struct eadm_setup *setup)
{
	eadm_setup_close(setup);
	free(setup->shown);
}

/* Each part requires reading files; a capture contains all parts. */
static void select_fields(const struct eadm_ctx *ctx, uint64_t fields,
			  const uint16_t *parts, size_t n_parts,
			  struct eadm_query *query)
{
	unsigned int n_args = query->n_args;
	size_t i;

	for (i = 0; !eadm_source_records(ctx) && i < n_parts; i++) {
		if (!(fields & 1ULL << parts[i]))
			continue;
		/* Too many fields for one request: request all fields. */
		if (query->n_args == EADM_MAX_ARGS) {
			query->n_args = n_args;
			return;
		}
		eadm_query_arg(query, parts[i], EADM_ARG_FLAG, 0, NULL, true);
	}
}

static const uint16_t module_parts[] = {
	EADM_A_MODULE_LOADED, EADM_A_MODULE_VERSION,
	EADM_A_MODULE_ORIGIN, EADM_A_MODULE_FUNCTIONS,
};

static int next_module(struct eadm_ctx *ctx, struct eadm_setup *setup,
		       const struct eadm_object *object,
		       struct eadm_record *rec)
{
	struct eadm_query query;
	unsigned int index;
	const char *name;
	int ret;

	while ((name = module_name(setup->index))) {
		index = setup->index;
		setup->index = setup->one ? NO_MODULE : index + 1;
		query = eadm_query_local(EADM_SPEC_OBJ_MODULE);
		eadm_query_arg(&query, EADM_A_MODULE_NAME, EADM_ARG_STRING, 0,
			       name, false);
		select_fields(ctx, setup->fields, module_parts,
			      EADM_ARRAY_SIZE(module_parts), &query);
		ret = open_row(ctx, setup, &query, object, rec);
		if (ret < 0)
			return ret;
		if (!ret || (index >= EADM_ARRAY_SIZE(needed) &&
			     !(eadm_record_attr_has(rec, EADM_A_MODULE_LOADED) &&
			       eadm_record_attr_u64(rec, EADM_A_MODULE_LOADED))))
			continue;
		eadm_record_put_u64(rec, EADM_A_MODULE_INDEX, index);
		return 1;
	}
	return 0;
}

/* ---- PCI functions --------------------------------------------------------------- */

/*
 * Returns the family of an adapter or, if @device is NULL, the first with a device of
 * the vendor.
 */
static const struct eadm_family *family_of(uint16_t vendor,
					   const uint16_t *device)
{
	const struct eadm_family *family = NULL;
	unsigned int i;

	while ((family = eadm_family_next(family))) {
		for (i = 0; i < family->n_ids; i++) {
			if (family->ids[i].vendor == vendor &&
			    (!device || family->ids[i].device == *device))
				return family;
		}
	}
	return NULL;
}

/* Lists each vendor of adapters once. Returns false if there are no more. */
static bool vendor_at(unsigned int index, uint16_t *vendor)
{
	const struct eadm_family *family = NULL;

	while ((family = eadm_family_next(family))) {
		/* All adapters of a family have the same vendor. */
		if (!family->n_ids ||
		    family_of(family->ids[0].vendor, NULL) != family ||
		    index--)
			continue;
		*vendor = family->ids[0].vendor;
		return true;
	}
	return false;
}

static const struct eadm_family *family_of_row(const struct eadm_record *rec)
{
	uint16_t device;

	if (!eadm_record_attr_has(rec, EADM_A_FUNCTION_VENDOR_ID) ||
	    !eadm_record_attr_has(rec, EADM_A_FUNCTION_PART_ID))
		return NULL;
	device = eadm_record_attr_u64(rec, EADM_A_FUNCTION_PART_ID);
	return family_of(eadm_record_attr_u64(rec, EADM_A_FUNCTION_VENDOR_ID),
			 &device);
}

/* Make one request per vendor, and skip functions that are not adapters. */
static int next_function(struct eadm_ctx *ctx, struct eadm_setup *setup,
			 const struct eadm_object *object,
			 struct eadm_record *rec)
{
	const struct eadm_family *family;
	struct eadm_query query;
	uint16_t vendor;
	int ret;

	for (;;) {
		if (setup->open) {
			ret = eadm_machine_next(&setup->reply, object, rec);
		} else if (vendor_at(setup->index++, &vendor)) {
			query = eadm_query_local(EADM_SPEC_OBJ_FUNCTION);
			eadm_query_arg(&query, EADM_A_FUNCTION_VENDOR_ID,
				       EADM_ARG_U32, vendor, NULL, false);
			ret = open_row(ctx, setup, &query, object, rec);
		} else {
			return 0;
		}
		if (ret < 0)
			return ret;
		if (!ret) {
			eadm_setup_close(setup);
			continue;
		}
		family = family_of_row(rec);
		if (!family)
			continue;
		eadm_record_put_string(rec, EADM_A_COMMON_FAMILY,
				       eadm_family_name(family));
		eadm_record_put_u64(rec, EADM_A_FUNCTION_INDEX,
				    setup->number++);
		return 1;
	}
}

/* ---- processes -------------------------------------------------------------------- */

static const uint16_t process_parts[] = {
	EADM_A_PROCESS_COMM, EADM_A_PROCESS_STATE, EADM_A_PROCESS_WCHAN,
	EADM_A_PROCESS_FROZEN, EADM_A_PROCESS_CGROUP, EADM_A_PROCESS_POD,
	EADM_A_PROCESS_CONTAINER, EADM_A_PROCESS_MEMLOCK,
	EADM_A_PROCESS_PINNED, EADM_A_PROCESS_LOCKED, EADM_A_PROCESS_IPC_LOCK,
	EADM_A_PROCESS_OPEN_FILES, EADM_A_PROCESS_MAX_OPEN_FILES,
};

static int put_process(struct eadm_ctx *ctx, struct eadm_setup *setup,
		       uint32_t pid, struct eadm_record *rec)
{
	struct eadm_query query = eadm_machine_process(pid);

	/* A query without fields reads all of them. */
	if (setup->fields)
		select_fields(ctx, setup->fields, process_parts,
			      EADM_ARRAY_SIZE(process_parts), &query);
	return open_row(ctx, setup, &query,
			&eadm_spec_objects[EADM_SPEC_OBJ_PROCESS], rec);
}

/* Returns 1 if the process has not had a row yet. */
static int is_new(struct eadm_ctx *ctx, struct eadm_setup *setup, uint32_t pid)
{
	size_t lo = 0, hi = setup->n_shown, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (setup->shown[mid] < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < setup->n_shown && setup->shown[lo] == pid)
		return 0;
	if (!grow(setup->shown, setup->n_shown, setup->max_shown))
		return eadm_oom(ctx);
	memmove(setup->shown + lo + 1, setup->shown + lo,
		(setup->n_shown++ - lo) * sizeof(*setup->shown));
	setup->shown[lo] = pid;
	return 1;
}

/* Skip contexts of kernel consumers, which have no process. */
static int put_owner(struct eadm_ctx *ctx, struct eadm_setup *setup,
		     const struct eadm_record *context, struct eadm_record *rec)
{
	uint64_t pid = eadm_record_attr_u64(context, EADM_A_CTX_PID);
	int ret;

	if (!pid)
		return 0;
	ret = is_new(ctx, setup, pid);
	return ret > 0 ? put_process(ctx, setup, pid, rec) : ret;
}

/* Return all rows of one response. */
static int next_row(struct eadm_ctx *ctx, struct eadm_setup *setup,
		    const struct eadm_object *object, struct eadm_record *rec)
{
	struct eadm_query query = eadm_query_local(object - eadm_spec_objects);

	if (setup->index++)
		return setup->open ? eadm_machine_next(&setup->reply, object, rec) : 0;
	return open_row(ctx, setup, &query, object, rec);
}

/* ---- the machine and verbs -------------------------------------------------------- */

static void put_copy_on_fork(struct eadm_ctx *ctx, struct eadm_record *rec)
{
	int copies = eadm_nldev_copy_on_fork(ctx);

	if (copies >= 0)
		eadm_record_put_u64(rec, EADM_A_MACHINE_COPY_ON_FORK, copies);
}

/* All parts except the uptime, which is a separate row in each snapshot. */
static const uint16_t machine_parts[] = {
	EADM_A_MACHINE_HOST, EADM_A_MACHINE_KERNEL, EADM_A_MACHINE_EADM,
	EADM_A_MACHINE_CPUS, EADM_A_MACHINE_MEMLOCK, EADM_A_MACHINE_NETNS_MODE,
	EADM_A_MACHINE_LOCKDOWN, EADM_A_MACHINE_HOST_PIDS,
	EADM_A_MACHINE_HUGE_PAGES, EADM_A_MACHINE_IPC_LOCK,
};

/* Returns 1 with a row that is not about a device, 0 if there are no more, or -ENOMEM. */
int eadm_setup_next(struct eadm_ctx *ctx, struct eadm_setup *setup,
		    const struct eadm_object *object, struct eadm_record *rec)
{
	bool machine = object == &eadm_spec_objects[EADM_SPEC_OBJ_MACHINE];
	struct eadm_query query = eadm_query_local(object - eadm_spec_objects);
	int ret;

	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_MODULE])
		return next_module(ctx, setup, object, rec);
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_FUNCTION])
		return next_function(ctx, setup, object, rec);
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_VERBS_USER] ||
	    object == &eadm_spec_objects[EADM_SPEC_OBJ_SMC] ||
	    object == &eadm_spec_objects[EADM_SPEC_OBJ_SMC_FALLBACK])
		return next_row(ctx, setup, object, rec);
	if (setup->index++)
		return 0;
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_PROCESS])
		return put_process(ctx, setup, setup->pid, rec);
	if (machine)
		select_fields(ctx, setup->fields, machine_parts,
			      EADM_ARRAY_SIZE(machine_parts), &query);
	ret = open_row(ctx, setup, &query, object, rec);
	if (ret < 0)
		return ret;
	/* The machine has a row, even if a capture has no data about it. */
	if (!ret)
		eadm_record_reset(rec, object, 0);
	eadm_record_put_u64(rec, object->key->slot, 0);
	if (machine && (!setup->fields ||
			setup->fields & 1ULL << EADM_A_MACHINE_COPY_ON_FORK))
		put_copy_on_fork(ctx, rec);
	return 1;
}

/* ---- devices ------------------------------------------------------------------- */

static const char *text_of(const struct eadm_record *rec, const char *name)
{
	const char *text = eadm_record_string(
		rec, eadm_object_find_field(rec->object, name));

	return text ? text : "";
}

/*
 * Put fields from @base, whose row may have been read at a different time and may
 * contain more data about the device.
 */
static void put_driver(struct eadm_ctx *ctx, const struct eadm_record *base,
		       struct eadm_record *rec)
{
	const char *driver = text_of(base, "driver");
	char version[64];

	if (!*driver)
		return;
	eadm_record_put_string(rec, EADM_A_SETUP_DRIVER, driver);
	if (eadm_machine_module_text(ctx, driver, EADM_A_MODULE_VERSION, version,
				   sizeof(version)))
		eadm_record_put_string(rec, EADM_A_SETUP_DRIVER_VERSION,
				       version);
}

static bool is_program(const struct eadm_record *base)
{
	return eadm_record_attr_has(base, EADM_A_DEV_SIDE) &&
	       eadm_record_attr_u64(base, EADM_A_DEV_SIDE) ==
		       EADM_DEV_SIDE_PROGRAM;
}

static int put_setup(struct eadm_ctx *ctx, struct eadm_setup *setup,
		     const struct eadm_object *object,
		     const struct eadm_record *base, struct eadm_record *rec)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_SETUP);
	const char *netdev = text_of(base, "netdev");
	int ret;

	/* A program that emulates an adapter needs no setup on the machine. */
	if (is_program(base))
		return 0;
	eadm_query_arg(&query, EADM_A_SETUP_DEV_INDEX, EADM_ARG_U32,
		       eadm_record_attr_u64(base, EADM_A_COMMON_DEV_INDEX),
		       NULL, false);
	if (*netdev)
		eadm_query_arg(&query, EADM_A_SETUP_NETDEV, EADM_ARG_STRING, 0,
			       netdev, false);
	ret = open_row(ctx, setup, &query, object, rec);
	if (ret < 0)
		return ret;
	if (!ret)
		eadm_record_reset(rec, object, base->time);
	if (*netdev)
		eadm_record_put_string(rec, EADM_A_SETUP_NETDEV, netdev);
	put_driver(ctx, base, rec);
	return 1;
}

/* Add fields of the network interface, which not every device has. */
static int put_link(struct eadm_ctx *ctx, struct eadm_setup *setup,
		    const struct eadm_object *object,
		    const struct eadm_record *base, struct eadm_record *rec)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_LINK);
	const char *netdev = text_of(base, "netdev");

	if (!*netdev || is_program(base))
		return 0;
	eadm_query_arg(&query, EADM_A_LINK_DEV_INDEX, EADM_ARG_U32,
		       eadm_record_attr_u64(base, EADM_A_COMMON_DEV_INDEX),
		       NULL, false);
	eadm_query_arg(&query, EADM_A_LINK_NETDEV, EADM_ARG_STRING, 0, netdev,
		       false);
	return open_row(ctx, setup, &query, object, rec);
}

static int put_irq(struct eadm_ctx *ctx, struct eadm_setup *setup,
		   const struct eadm_object *object,
		   const struct eadm_record *eq, struct eadm_record *rec)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_IRQ);
	uint64_t irq;
	int ret;

	if (!eadm_record_attr_has(eq, EADM_A_EQ_IRQ))
		return 0;
	irq = eadm_record_attr_u64(eq, EADM_A_EQ_IRQ);
	eadm_query_arg(&query, EADM_A_IRQ_IRQ, EADM_ARG_U32, irq, NULL, false);
	ret = open_row(ctx, setup, &query, object, rec);
	if (ret < 0)
		return ret;
	if (!ret)
		eadm_record_reset(rec, object, eq->time);
	eadm_record_put_u64(rec, EADM_A_IRQ_IRQ, irq);
	if (eadm_record_attr_has(eq, EADM_A_EQ_ROLE))
		eadm_record_put_u64(rec, EADM_A_IRQ_ROLE,
				    eadm_record_attr_u64(eq, EADM_A_EQ_ROLE));
	return 1;
}

const struct eadm_object *eadm_setup_base(const struct eadm_object *object)
{
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_SETUP] ||
	    object == &eadm_spec_objects[EADM_SPEC_OBJ_LINK])
		return &eadm_spec_objects[EADM_SPEC_OBJ_DEV];
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_IRQ])
		return &eadm_spec_objects[EADM_SPEC_OBJ_EQ];
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_PROCESS])
		return &eadm_spec_objects[EADM_SPEC_OBJ_CTX];
	return NULL;
}

/* Returns 1 with the row that belongs to @base; 0 if there is none; or -ENOMEM. */
int eadm_setup_of(struct eadm_ctx *ctx, struct eadm_setup *setup,
		  const struct eadm_object *object,
		  const struct eadm_record *base, struct eadm_record *rec)
{
	int ret;

	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_PROCESS])
		return put_owner(ctx, setup, base, rec);
	if (object == &eadm_spec_objects[EADM_SPEC_OBJ_IRQ])
		ret = put_irq(ctx, setup, object, base, rec);
	else if (object == &eadm_spec_objects[EADM_SPEC_OBJ_LINK])
		ret = put_link(ctx, setup, object, base, rec);
	else
		ret = put_setup(ctx, setup, object, base, rec);
	if (ret <= 0)
		return ret;
	eadm_record_put_u64(rec, EADM_A_COMMON_DEV_INDEX,
			    eadm_record_attr_u64(base,
						 EADM_A_COMMON_DEV_INDEX));
	eadm_record_put_string(rec, EADM_A_COMMON_DEV_NAME,
			       text_of(base, "dev-name"));
	return 1;
}
