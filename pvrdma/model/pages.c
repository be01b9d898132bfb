// SPDX-License-Identifier: GPL-2.0-or-later
/* Page directories: two levels of DMA addresses (hw 5.1). */
#include <errno.h>
#include <stdlib.h>

#include "function.h"

void *model_dma(struct model *m, uint64_t address, size_t size)
{
	return vfio_dma(m->vfio, address, size, true);
}

int pages_read(struct model *m, uint64_t directory, uint32_t first, uint32_t count,
	       uint64_t *addresses)
{
	const uint64_t *tables, *entries = NULL;
	uint32_t i, at;

	if (directory % PAGE)
		return -EINVAL;
	tables = model_dma(m, directory, PAGE);
	if (!tables)
		return -EFAULT;
	for (i = 0; i < count; i++) {
		at = first + i;
		if (!i || at % PVRDMA_DIR_ENTRIES == 0) {
			uint64_t table = tables[at / PVRDMA_DIR_ENTRIES];

			entries = table % PAGE ? NULL : model_dma(m, table, PAGE);
			if (!entries)
				return -EFAULT;
		}
		addresses[i] = entries[at % PVRDMA_DIR_ENTRIES];
		if (addresses[i] % PAGE)
			return -EFAULT;
	}
	return 0;
}

/* Looks up a run of contiguous pages, usually all at once. */
static uint32_t map_run(struct model *m, struct pages *pages, uint32_t first, uint32_t end)
{
	const uint64_t *addresses = pages->addresses;
	uint32_t n = 1, i;
	char *at;

	while (first + n < end && addresses[first + n] == addresses[first] + n * PAGE)
		n++;
	at = model_dma(m, addresses[first], n * PAGE);
	if (!at && n > 1) {
		n = 1;
		at = model_dma(m, addresses[first], PAGE);
	}
	for (i = 0; at && i < n; i++)
		pages->at[first + i] = at + i * PAGE;
	return at ? n : 0;
}

int pages_more(struct model *m, struct pages *pages, uint32_t most)
{
	uint32_t left = pages->wanted - pages->count, n, end;
	int err;

	if (most > left)
		most = left;
	end = pages->count + most;
	err = pages_read(m, pages->directory, pages->count, most, pages->addresses + pages->count);
	while (!err && pages->count < end) {
		n = map_run(m, pages, pages->count, end);
		pages->count += n;
		if (!n)
			err = -EFAULT;
	}
	return err ? err : pages->count < pages->wanted;
}

int pages_begin(struct model *m, uint64_t directory, uint32_t count, struct pages **begun)
{
	struct pages *pages;

	if (!count || count > PVRDMA_DIR_MAX_PAGES)
		return -EINVAL;
	pages = calloc(1, sizeof(*pages));
	if (!pages)
		return -ENOMEM;
	LIST_INSERT_HEAD(&m->pages, pages, link);
	pages->directory = directory;
	pages->wanted = count;
	pages->addresses = calloc(count, sizeof(*pages->addresses));
	pages->at = calloc(count, sizeof(*pages->at));
	if (!pages->addresses || !pages->at) {
		pages_unmap(pages);
		return -ENOMEM;
	}
	*begun = pages;
	return 0;
}

int pages_map(struct model *m, uint64_t directory, uint32_t count, struct pages **mapped)
{
	int err = pages_begin(m, directory, count, mapped);

	if (err)
		return err;
	err = pages_more(m, *mapped, count);
	if (err) {
		pages_unmap(*mapped);
		*mapped = NULL;
	}
	return err;
}

void pages_unmap(struct pages *pages)
{
	if (!pages)
		return;
	LIST_REMOVE(pages, link);
	free(pages->addresses);
	free(pages->at);
	free(pages);
}

static bool overlaps(const uint64_t *addresses, uint32_t count, uint64_t address, uint64_t size)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (addresses[i] - address < size || address - addresses[i] < PAGE)
			return true;
	return false;
}

bool pages_within(const struct model *m, uint64_t address, uint64_t size)
{
	const struct pages *pages;
	uint64_t fixed[3];

	if (!m->attached)
		return false;
	fixed[0] = m->dsr_address & ~(PAGE - 1);
	fixed[1] = m->cmd_address;
	fixed[2] = m->resp_address;
	if (overlaps(fixed, 3, address, size))
		return true;
	LIST_FOREACH(pages, &m->pages, link)
		if (overlaps(pages->addresses, pages->count, address, size))
			return true;
	return false;
}
