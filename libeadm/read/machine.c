// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rows about the machine, which every source can provide. A missing row is not an error:
 * it leaves the context's error message unchanged.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/root.h"
#include "decode.h"
#include "eadm_nl.h"
#include "machine.h"

/* Names change and PIDs are reused: a name is cached for this long. */
#define COMM_NS 1000000000ULL

/*
 * Returns 1 with a row, which points into the reply, 0 if there are no more, or -ENOMEM.
 */
int eadm_machine_next(struct eadm_reply *reply, const struct eadm_object *object,
		    struct eadm_record *rec)
{
	struct eadm_ctx *ctx = reply->ctx;
	struct eadm_errmsg before;
	const struct nlmsghdr *nlh;
	int ret;

	eadm_errmsg_push(ctx, &before);
	ret = eadm_reply_next(reply, &nlh);
	if (ret > 0 && !eadm_decode(reply, nlh, object, false, rec))
		return 1;
	if (ret == -ENOMEM)
		return ret;
	eadm_errmsg_pop(ctx, &before);
	return 0;
}

/*
 * Read the first row, like eadm_machine_next(); the reply must be closed in any case.
 */
int eadm_machine_open(struct eadm_ctx *ctx, const struct eadm_query *query,
		    const struct eadm_object *object, struct eadm_reply *reply,
		    struct eadm_record *rec)
{
	struct eadm_errmsg before;
	int ret;

	eadm_errmsg_push(ctx, &before);
	ret = eadm_reply_open(ctx, query, reply);
	if (!ret)
		return eadm_machine_next(reply, object, rec);
	if (ret == -ENOMEM)
		return ret;
	eadm_errmsg_pop(ctx, &before);
	return 0;
}

/* Returns a query for all data about a process. */
struct eadm_query eadm_machine_process(uint32_t pid)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_PROCESS);

	eadm_query_arg(&query, EADM_A_PROCESS_PID, EADM_ARG_U32, pid, NULL,
		       false);
	return query;
}

/* ---- single values --------------------------------------------------------------- */

/* Copies a string or returns a number. Returns false if there is no such row or field. */
static bool value_of(struct eadm_ctx *ctx, const struct eadm_query *query,
		     unsigned int object, unsigned int attr, char *text,
		     size_t size, uint64_t *number)
{
	struct eadm_reply reply;
	struct eadm_record rec;
	bool found;

	eadm_record_init(&rec);
	found = eadm_machine_open(ctx, query, &eadm_spec_objects[object], &reply,
				&rec) > 0 &&
		eadm_record_attr_has(&rec, attr);
	if (found && text)
		snprintf(text, size, "%s",
			 (const char *)rec.slot[attr - 1].p);
	if (found && number)
		*number = eadm_record_attr_u64(&rec, attr);
	eadm_reply_close(&reply);
	eadm_record_release(&rec);
	return found;
}

bool eadm_machine_u64(struct eadm_ctx *ctx, unsigned int attr,
			    uint64_t *value)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_MACHINE);

	eadm_query_arg(&query, attr, EADM_ARG_FLAG, 0, NULL, true);
	return value_of(ctx, &query, EADM_SPEC_OBJ_MACHINE, attr, NULL, 0,
			value);
}

/* Returns the time since boot in ns; 0: unknown. */
uint64_t eadm_machine_uptime(struct eadm_ctx *ctx)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_MACHINE);
	uint64_t uptime = 0;

	eadm_query_arg(&query, EADM_A_MACHINE_UPTIME, EADM_ARG_FLAG, 0, NULL,
		       false);
	value_of(ctx, &query, EADM_SPEC_OBJ_MACHINE, EADM_A_MACHINE_UPTIME,
		 NULL, 0, &uptime);
	return uptime;
}

bool eadm_machine_is_locked_down(struct eadm_ctx *ctx)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_MACHINE);
	char mode[64];

	eadm_query_arg(&query, EADM_A_MACHINE_LOCKDOWN, EADM_ARG_FLAG, 0, NULL,
		       true);
	return value_of(ctx, &query, EADM_SPEC_OBJ_MACHINE,
			EADM_A_MACHINE_LOCKDOWN, mode, sizeof(mode), NULL) &&
	       *mode && !strstr(mode, "[none]");
}

/*
 * Returns 0 if the probe is recording and can be read, -EACCES if permission is denied,
 * -ENOENT if it is not recording.
 */
int eadm_machine_probe(struct eadm_ctx *ctx)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_PROBE);
	uint64_t state;

	if (!value_of(ctx, &query, EADM_SPEC_OBJ_PROBE, EADM_A_PROBE_STATE, NULL,
		      0, &state))
		return -ENOENT;
	return state == EADM_PROBE_STATE_RUNNING ? 0 :
	       state == EADM_PROBE_STATE_UNREADABLE ? -EACCES : -ENOENT;
}

/* Sets the message for -EACCES of eadm_machine_probe() and returns the error. */
int eadm_machine_probe_denied(struct eadm_ctx *ctx)
{
	return eadm_fail(ctx, -EACCES, "reading the probe's records requires root or the group eadm%s",
			 ctx->live && eadm_root_access(ctx, X_OK, "/sys/fs/bpf") ?
				 ": no permission to search /sys/fs/bpf (see PERMISSIONS in eadm-probe(1))" : "");
}

/* Reads a string about a loaded module. */
bool eadm_machine_module_text(struct eadm_ctx *ctx, const char *name,
			    unsigned int attr, char *text, size_t size)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_MODULE);

	eadm_query_arg(&query, EADM_A_MODULE_NAME, EADM_ARG_STRING, 0, name,
		       false);
	eadm_query_arg(&query, attr, EADM_ARG_FLAG, 0, NULL, true);
	return value_of(ctx, &query, EADM_SPEC_OBJ_MODULE, attr, text, size,
			NULL);
}

/* Returns the name of a process, valid until the next call; NULL if there is none. */
const char *eadm_machine_comm(struct eadm_ctx *ctx, uint32_t pid)
{
	struct eadm_comms *comms = &ctx->comms;
	__typeof__(&comms->comm[0]) comm =
		&comms->comm[pid % EADM_ARRAY_SIZE(comms->comm)];
	uint64_t now = eadm_now(ctx);
	struct eadm_query query;

	if (comm->pid != pid || comm->round != comms->round ||
	    now - comm->time > COMM_NS) {
		query = eadm_machine_process(pid);
		eadm_query_arg(&query, EADM_A_PROCESS_COMM, EADM_ARG_FLAG, 0,
			       NULL, true);
		comm->pid = pid;
		comm->round = comms->round;
		comm->time = now;
		if (!value_of(ctx, &query, EADM_SPEC_OBJ_PROCESS,
			      EADM_A_PROCESS_COMM, comm->name,
			      sizeof(comm->name), NULL))
			comm->name[0] = '\0';
	}
	return comm->name[0] ? comm->name : NULL;
}
