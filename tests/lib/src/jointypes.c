// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jointypes OUTPUT KERNEL MODULE...: the types of a kernel and its modules, each as an
 * ELF file that has its own as .BTF, in one file, as for "eadm probe start --btf".
 */
#include <bpf/btf.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *append(char *to, const struct btf_header *from, __u32 offset,
		    __u32 len)
{
	memcpy(to, (const char *)from + from->hdr_len + offset, len);
	return to + len;
}

/* Types and strings of a module are numbered on from the kernel's: these come first. */
static struct btf *with_kernel(struct btf *kernel, const char *path)
{
	struct btf *module = btf__parse_split(path, kernel), *whole;
	const struct btf_header *first, *second;
	struct btf_header *header;
	__u32 first_size, second_size;
	char *to;

	if (!module)
		return NULL;
	first = btf__raw_data(kernel, &first_size);
	second = btf__raw_data(module, &second_size);
	header = malloc((size_t)first_size + second_size);
	if (!first || !second || !header)
		abort();
	*header = *first;
	header->type_off = 0;
	header->type_len = first->type_len + second->type_len;
	header->str_off = header->type_len;
	header->str_len = first->str_len + second->str_len;
	to = (char *)header + header->hdr_len;
	to = append(to, first, first->type_off, first->type_len);
	to = append(to, second, second->type_off, second->type_len);
	to = append(to, first, first->str_off, first->str_len);
	to = append(to, second, second->str_off, second->str_len);
	whole = btf__new(header, to - (char *)header);
	free(header);
	btf__free(module);
	return whole;
}

static int fail(const char *what)
{
	perror(what);
	return 1;
}

int main(int argc, char **argv)
{
	struct btf *kernel, *all = btf__new_empty(), *one;
	const void *data;
	__u32 size;
	FILE *file;
	int i;

	if (argc < 4)
		return 2;
	kernel = btf__parse(argv[2], NULL);
	if (!kernel || !all)
		return fail(argv[2]);
	for (i = 3; i < argc; i++) {
		one = with_kernel(kernel, argv[i]);
		if (!one || btf__add_btf(all, one) < 0)
			return fail(argv[i]);
		btf__free(one);
	}
	/* Each module came with all of the kernel. */
	if (btf__dedup(all, NULL))
		return fail("types that are equal");
	data = btf__raw_data(all, &size);
	file = fopen(argv[1], "w");
	if (!file || !data || fwrite(data, 1, size, file) != size || fclose(file))
		return fail(argv[1]);
	btf__free(all);
	btf__free(kernel);
	return 0;
}
