// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which of a process's doorbell pages lead to the adapter:
 *
 *	doorbells DEVICE
 *
 * Opens the device, prints "opened", and for each line of input "mapped: N of M":
 * the provider has M mappings of the device, and N of them are in the page tables.
 * A look at one that is not has the kernel put another page there.
 */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define MAX_PAGES	32

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return ibv_open_device(list[i]);
	return NULL;
}

static int find_pages(uintptr_t page[MAX_PAGES])
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int n = 0;

	while (maps && n < MAX_PAGES && fgets(line, sizeof(line), maps))
		if (strstr(line, "/uverbs") && sscanf(line, "%lx", &page[n]) == 1)
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

int main(int argc, char **argv)
{
	struct ibv_context *ctx = argc == 2 ? open_device(argv[1]) : NULL;
	uintptr_t page[MAX_PAGES];
	int n, mapped;

	if (!ctx) {
		fputs("usage: doorbells DEVICE, which can be opened\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("opened");
	while (getchar() == '\n') {
		n = find_pages(page);
		mapped = 0;
		for (int i = 0; i < n; i++)
			mapped += is_mapped(page[i]);
		printf("mapped: %d of %d\n", mapped, n);
	}
	return ibv_close_device(ctx) ? 1 : 0;
}
