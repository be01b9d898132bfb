// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which of a process's doorbell pages lead to the adapter:
 *
 *	doorbells [-f] [-q] DEVICE
 *
 * Opens the device, with -q makes a CQ and a UD QP, with -f leaves the rest to a child;
 * prints "opened", and for each line of input "mapped: N of M":
 * the provider has M mappings of the device, and N of them are in the page tables.
 * The look has the kernel put pages where there are none, so that another look shows what
 * was taken meanwhile.
 *
 * For each line "dummy" it prints "dummy: N of M": N of M writable mappings lead to the same
 * page. This writes to all of them: for a context that the adapter has forgotten.
 */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PAGES	32
#define PAGE		4096

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return ibv_open_device(list[i]);
	return NULL;
}

static int find_pages(uintptr_t page[MAX_PAGES], bool writable)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], access[5];
	int n = 0;

	while (maps && n < MAX_PAGES && fgets(line, sizeof(line), maps))
		if (strstr(line, "/uverbs") && sscanf(line, "%lx-%*x %4s", &page[n], access) == 2 &&
		    (!writable || access[1] == 'w'))
			n++;
	if (maps)
		fclose(maps);
	return n;
}

static bool is_mapped(uintptr_t page)
{
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	*(volatile uint32_t *)page;
	getrusage(RUSAGE_SELF, &after);
	return before.ru_minflt == after.ru_minflt && before.ru_majflt == after.ru_majflt;
}

/* How many mappings lead to one page, of which all show what was written last. */
static int count_same(uintptr_t page[], int n)
{
	int others = 0;

	for (int i = 0; i < n; i++)
		((volatile uint32_t *)page[i])[PAGE / sizeof(uint32_t) - 1] = i + 1;
	for (int i = 0; i < n; i++)
		others += ((volatile uint32_t *)page[i])[PAGE / sizeof(uint32_t) - 1] != (uint32_t)i + 1;
	return others ? others + 1 : 0;
}

static void look(bool dummy)
{
	uintptr_t page[MAX_PAGES];
	int n = find_pages(page, dummy), mapped = 0;

	if (dummy) {
		printf("dummy: %d of %d\n", count_same(page, n), n);
		return;
	}
	for (int i = 0; i < n; i++)
		mapped += is_mapped(page[i]);
	printf("mapped: %d of %d\n", mapped, n);
}

static bool make_queues(struct ibv_context *ctx)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct ibv_pd *pd = ibv_alloc_pd(ctx);

	attr.send_cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	return pd && attr.send_cq && ibv_create_qp(pd, &attr);
}

/* In the child; its parent waits, with the mappings of its own. */
static void leave_to_child(void)
{
	int status;

	switch (fork()) {
	case 0:
		return;
	case -1:
		exit(2);
	default:
		wait(&status);
		exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	}
}

int main(int argc, char **argv)
{
	bool child = false, queues = false;
	struct ibv_context *ctx;
	char line[64];
	int opt;

	while ((opt = getopt(argc, argv, "fq")) != -1) {
		child |= opt == 'f';
		queues |= opt == 'q';
	}
	ctx = optind == argc - 1 ? open_device(argv[optind]) : NULL;
	if (!ctx || (queues && !make_queues(ctx))) {
		fputs("usage: doorbells [-f] [-q] DEVICE, which can be opened\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (child)
		leave_to_child();
	puts("opened");
	while (fgets(line, sizeof(line), stdin))
		look(!strcmp(line, "dummy\n"));
	/* What a child has of the device is its parent's, and goes with queues. */
	if (child || queues)
		return 0;
	return ibv_close_device(ctx) ? 1 : 0;
}
