// SPDX-License-Identifier: LGPL-2.1-or-later
/* The machine, its kernel and interrupts, and this process. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/root.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

static void put_memlock(struct eadm_answer *answer)
{
	struct rlimit limit;
	uint64_t bytes;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	bytes = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
	eadm_message_put(&answer->out, EADM_A_MACHINE_MEMLOCK, &bytes,
			 sizeof(bytes));
}

/* The module parameter determines whether network namespaces share the devices. */
static void put_netns_mode(struct eadm_answer *answer)
{
	char shared[8];

	if (eadm_root_line(answer->ctx, shared, sizeof(shared),
			   "/sys/module/ib_core/parameters/netns_mode"))
		eadm_message_put_u32(&answer->out, EADM_A_MACHINE_NETNS_MODE,
				     *shared == 'Y' ?
					     EADM_NETNS_MODE_SHARED :
					     EADM_NETNS_MODE_EXCLUSIVE);
}

/* In the machine's initial PID namespace, every process has a PID. */
static void put_host_pids(struct eadm_answer *answer)
{
	char to[64];

	/* The kernel's PROC_PID_INIT_INO. */
	if (eadm_root_link(answer->ctx, to, sizeof(to), "/proc/self/ns/pid"))
		eadm_message_put_u32(&answer->out, EADM_A_MACHINE_HOST_PIDS,
				     !strcmp(to, "pid:[4026531836]"));
}

/* Only huge pages of the default size are counted. */
static void put_huge_pages(struct eadm_answer *answer)
{
	int fd = eadm_root_open(answer->ctx, O_RDONLY, "/proc/meminfo");
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	unsigned long long value;
	char line[128];
	uint64_t pages;

	if (!file && fd >= 0)
		close(fd);
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "HugePages_Total: %llu", &value) == 1) {
			pages = value;
			eadm_message_put(&answer->out,
					 EADM_A_MACHINE_HUGE_PAGES, &pages,
					 sizeof(pages));
		} else if (sscanf(line, "HugePages_Free: %llu", &value) == 1) {
			pages = value;
			eadm_message_put(&answer->out,
					 EADM_A_MACHINE_HUGE_PAGES_FREE,
					 &pages, sizeof(pages));
		}
	}
	if (file)
		fclose(file);
}

static void put_uptime(struct eadm_answer *answer)
{
	char text[32];
	uint64_t ns;

	if (!eadm_root_line(answer->ctx, text, sizeof(text), "/proc/uptime"))
		return;
	ns = strtoull(text, NULL, 10) * 1000000000ULL;
	eadm_message_put(&answer->out, EADM_A_MACHINE_UPTIME, &ns, sizeof(ns));
}

static void put_host(struct eadm_answer *answer)
{
	char text[65] = "";

	if (!gethostname(text, sizeof(text) - 1))
		eadm_local_put(answer, EADM_A_MACHINE_HOST, text);
}

static void put_kernel(struct eadm_answer *answer)
{
	struct utsname uts;

	if (!uname(&uts))
		eadm_local_put(answer, EADM_A_MACHINE_KERNEL, uts.release);
}

static void put_eadm(struct eadm_answer *answer)
{
	eadm_local_put(answer, EADM_A_MACHINE_EADM, EADM_VERSION);
}

static void put_cpus(struct eadm_answer *answer)
{
	eadm_message_put_u32(&answer->out, EADM_A_MACHINE_CPUS,
			     sysconf(_SC_NPROCESSORS_ONLN));
}

static void put_lockdown(struct eadm_answer *answer)
{
	char text[65] = "";

	eadm_root_line(answer->ctx, text, sizeof(text),
		       "/sys/kernel/security/lockdown");
	eadm_local_put(answer, EADM_A_MACHINE_LOCKDOWN, text);
}

static void put_ipc_lock(struct eadm_answer *answer)
{
	eadm_local_put_ipc_lock(answer, EADM_A_MACHINE_IPC_LOCK);
}

/* Put only the requested parts of the row; most callers request one part. */
static void put_machine(struct eadm_answer *answer,
			const struct eadm_query *query)
{
	static const struct {
		uint16_t attr;
		void (*put)(struct eadm_answer *answer);
	} parts[] = {
		{ EADM_A_MACHINE_HOST, put_host },
		{ EADM_A_MACHINE_KERNEL, put_kernel },
		{ EADM_A_MACHINE_EADM, put_eadm },
		{ EADM_A_MACHINE_CPUS, put_cpus },
		{ EADM_A_MACHINE_MEMLOCK, put_memlock },
		{ EADM_A_MACHINE_NETNS_MODE, put_netns_mode },
		{ EADM_A_MACHINE_LOCKDOWN, put_lockdown },
		{ EADM_A_MACHINE_HOST_PIDS, put_host_pids },
		{ EADM_A_MACHINE_HUGE_PAGES, put_huge_pages },
		{ EADM_A_MACHINE_IPC_LOCK, put_ipc_lock },
	};
	size_t i;

	for (i = 0; i < EADM_ARRAY_SIZE(parts); i++) {
		if (eadm_local_wants(query, parts[i].attr))
			parts[i].put(answer);
	}
}

/* Each snapshot has its own uptime; the other parts apply to all snapshots. */
void eadm_local_machine(struct eadm_answer *answer,
			const struct eadm_query *query)
{
	size_t at = eadm_answer_row(answer, NULL);

	if (eadm_local_arg(query, EADM_A_MACHINE_UPTIME))
		put_uptime(answer);
	else
		put_machine(answer, query);
	eadm_message_end(&answer->out, at);
}

void eadm_local_irq(struct eadm_answer *answer, const struct eadm_query *query)
{
	const struct eadm_arg *irq = eadm_local_arg(query, EADM_A_IRQ_IRQ);
	char cpus[64] = "";
	size_t at;

	if (!irq)
		return;
	at = eadm_answer_row(answer, NULL);
	eadm_message_put_u32(&answer->out, EADM_A_IRQ_IRQ, irq->u);
	eadm_root_line(answer->ctx, cpus, sizeof(cpus),
		       "/proc/irq/%u/effective_affinity_list",
		       (unsigned int)irq->u);
	eadm_local_put(answer, EADM_A_IRQ_AFFINITY, cpus);
	eadm_message_end(&answer->out, at);
}
