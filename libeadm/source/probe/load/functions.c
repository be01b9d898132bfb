// SPDX-License-Identifier: LGPL-2.1-or-later
/* Determines which functions known to the probe exist in a kernel. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader.h"
#include "../record.h"

#define ROW(symbol, module, op) { #symbol, #module, EADM_PROBE_FN_##symbol, 0 },
#define COMMAND(symbol, module, family, n_args) \
	{ #symbol, #module, EADM_PROBE_FN_##symbol, n_args },
static const struct known {
	const char *symbol, *module;
	unsigned int number;	/* EADM_PROBE_N_FUNCTIONS: makes no record */
	unsigned int n_args;	/* 0: the number in the type information */
} known[] = {
	EADM_PROBE_CALLS(ROW)
	EADM_PROBE_EVENTS(ROW)
	EADM_PROBE_COMMANDS(COMMAND)
	{ "rdma_restrack_add", "ib_core", EADM_PROBE_N_FUNCTIONS, 0 },
};
#define N_KNOWN (sizeof(known) / sizeof(known[0]))

static int add(struct functions *there, const struct known *at)
{
	there->name[there->n] = strdup(at->symbol);
	if (!there->name[there->n])
		return -ENOMEM;
	there->n++;
	if (at->number < EADM_PROBE_N_FUNCTIONS)
		there->mask |= 1ULL << at->number;
	return 0;
}

static bool is_loaded(const char *module)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s", module);
	return !access(path, F_OK);
}

static bool has_types(const char *module)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", module);
	return !access(path, F_OK);
}

/* A different version of a driver may have a different function with that name. */
static bool has_args(const struct btf *btf, const struct btf_type *type,
		     unsigned int n_args)
{
	return !n_args ||
	       btf_vlen(btf__type_by_id(btf, type->type)) == n_args;
}

/* A tracepoint has a type named after it. */
static int add_type(struct functions *there, const char *module,
		    const struct btf *btf, const struct btf_type *type)
{
	const char *name = btf__name_by_offset(btf, type->name_off);
	static const char trace[] = "btf_trace_";
	size_t i;

	if (btf_kind(type) == BTF_KIND_TYPEDEF &&
	    !strncmp(name, trace, sizeof(trace) - 1))
		name += sizeof(trace) - 1;
	else if (btf_kind(type) != BTF_KIND_FUNC)
		return 0;
	for (i = 0; i < N_KNOWN; i++) {
		if (strcmp(known[i].module, module) ||
		    strcmp(known[i].symbol, name) ||
		    !has_args(btf, type, known[i].n_args))
			continue;
		return functions_has(there, name) ? 0 : add(there, &known[i]);
	}
	return 0;
}

static bool is_first_of_module(size_t k)
{
	size_t i;

	for (i = 0; strcmp(known[i].module, known[k].module); i++)
		;
	return i == k;
}

/* The type IDs of a module follow those of the kernel. */
static int find_typed(struct functions *there)
{
	struct btf *kernel = btf__load_vmlinux_btf(), *btf;
	const struct btf_type *type;
	unsigned int id;
	size_t k;
	int ret = 0;

	if (!kernel)
		return -errno;
	for (k = 0; k < N_KNOWN; k++) {
		if (!is_first_of_module(k) || !has_types(known[k].module))
			continue;
		btf = btf__load_module_btf(known[k].module, kernel);
		for (id = btf__type_cnt(kernel);
		     !ret && btf && id < btf__type_cnt(btf); id++) {
			type = btf__type_by_id(btf, id);
			ret = add_type(there, known[k].module, btf, type);
		}
		btf__free(btf);
	}
	btf__free(kernel);
	return ret;
}

static int add_symbol(struct functions *there, const char *symbol)
{
	size_t i;

	for (i = 0; i < N_KNOWN; i++) {
		if (!strcmp(known[i].symbol, symbol) &&
		    !functions_has(there, symbol))
			return add(there, &known[i]);
	}
	return 0;
}

/* A tracepoint shows up as the symbol of the variable that describes it. */
static int find_symbols(struct functions *there)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char line[512], symbol[256], type;
	static const char tracepoint[] = "__tracepoint_";
	int ret = 0;

	if (!file)
		return -errno;
	while (!ret && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*x %c %255s", &type, symbol) != 2)
			continue;
		if (!strncmp(symbol, tracepoint, sizeof(tracepoint) - 1) &&
		    !strcmp(symbol + sizeof(tracepoint) - 1, "cm_event_handler"))
			ret = add_symbol(there, "cm_event_handler");
		else if ((type == 't' || type == 'T') &&
			 strcmp(symbol, "cm_event_handler"))
			ret = add_symbol(there, symbol);
	}
	fclose(file);
	return ret;
}

void functions_drop(struct functions *there, const char *symbol)
{
	unsigned int i, k;

	for (i = 0; i < there->n && strcmp(there->name[i], symbol); i++)
		;
	if (i == there->n)
		return;
	free(there->name[i]);
	there->name[i] = there->name[--there->n];
	for (k = 0; k < N_KNOWN; k++) {
		if (!strcmp(known[k].symbol, symbol) &&
		    known[k].number < EADM_PROBE_N_FUNCTIONS)
			there->mask &= ~(1ULL << known[k].number);
	}
}

/*
 * Newer kernels have both functions, and those that are not stand-ins provide more
 * data.
 */
static void choose_stand_ins(struct functions *there)
{
#define NAME(symbol, module, op) #symbol,
#define BIT(symbol, module, op) | 1ULL << EADM_PROBE_FN_##symbol
	static const char *const stand_ins[] = { EADM_PROBE_STAND_INS(NAME) };
	const uint64_t proper = 1ULL << EADM_PROBE_FN_ib_create_qp_user |
				1ULL << EADM_PROBE_FN_ib_create_qp_kernel;
	size_t i;

	if (there->mask & proper) {
		for (i = 0; i < sizeof(stand_ins) / sizeof(stand_ins[0]); i++)
			functions_drop(there, stand_ins[i]);
		there->expected &= ~(0 EADM_PROBE_STAND_INS(BIT));
	} else {
		there->expected &= ~proper;
	}
}

int functions_find(struct functions *there, bool typed)
{
	size_t i;
	int ret;

	*there = (struct functions){ 0 };
	there->name = calloc(N_KNOWN, sizeof(*there->name));
	if (!there->name)
		return -ENOMEM;
	for (i = 0; i < N_KNOWN; i++) {
		if (known[i].number < EADM_PROBE_FIRST_COMMAND ||
		    (known[i].number < EADM_PROBE_N_FUNCTIONS &&
		     is_loaded(known[i].module)))
			there->expected |= 1ULL << known[i].number;
	}
	ret = typed ? find_typed(there) : find_symbols(there);
	if (ret)
		functions_free(there);
	else
		choose_stand_ins(there);
	return ret;
}

bool functions_is_command(const char *symbol)
{
	size_t i;

	for (i = 0; i < N_KNOWN && strcmp(known[i].symbol, symbol); i++)
		;
	return i < N_KNOWN && known[i].number >= EADM_PROBE_FIRST_COMMAND &&
	       known[i].number < EADM_PROBE_N_FUNCTIONS;
}

bool functions_has(const struct functions *there, const char *symbol)
{
	unsigned int i;

	for (i = 0; i < there->n; i++) {
		if (!strcmp(there->name[i], symbol))
			return true;
	}
	return false;
}

void functions_free(struct functions *there)
{
	while (there->n)
		free(there->name[--there->n]);
	free(there->name);
	there->name = NULL;
}
