// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lookup of adapter families and their formats. */
#include <errno.h>
#include <string.h>

#include "family.h"

EADM_API const struct eadm_family *
eadm_family_next(const struct eadm_family *family)
{
	const struct eadm_family *const *at = eadm_families;

	if (!family)
		return *at;
	while (*at != family)
		at++;
	return at[1];
}

EADM_API const struct eadm_family *eadm_family_find(const char *name)
{
	const struct eadm_family *family = NULL;
	const char *driver;
	unsigned int i;

	while (name && (family = eadm_family_next(family))) {
		if (!strcmp(family->name, name))
			return family;
		for (i = 0; (driver = eadm_family_driver(family, i)); i++) {
			if (!strcmp(driver, name))
				return family;
		}
	}
	errno = ENOENT;
	return NULL;
}

EADM_API const char *eadm_family_name(const struct eadm_family *family)
{
	return family->name;
}

static const char *word_of(const char *const *words, unsigned int index)
{
	while (*words && index--)
		words++;
	return *words;
}

EADM_API const char *eadm_family_driver(const struct eadm_family *family,
					unsigned int index)
{
	return word_of(family->drivers, index);
}

EADM_API const char *eadm_family_module(const struct eadm_family *family,
					unsigned int index)
{
	return word_of(family->modules, index);
}

EADM_API const char *eadm_family_provider(const struct eadm_family *family)
{
	return family->provider;
}

EADM_API bool eadm_family_has_companion(const struct eadm_family *family)
{
	return family->companion;
}

bool eadm_family_has_netdev(const struct eadm_family *family)
{
	return !family->no_netdev;
}

EADM_API bool eadm_family_has_cm(const struct eadm_family *family)
{
	return !family->no_cm;
}

const char *eadm_family_middleware(const struct eadm_family *family)
{
	return family->middleware;
}

unsigned int eadm_family_vectors(const struct eadm_family *family)
{
	return family->vectors;
}

EADM_API int eadm_family_pci_id(const struct eadm_family *family,
				unsigned int index, uint16_t *vendor,
				uint16_t *device)
{
	if (index >= family->n_ids)
		return -ENOENT;
	*vendor = family->ids[index].vendor;
	*device = family->ids[index].device;
	return 0;
}

EADM_API unsigned int
eadm_family_index_bits(const struct eadm_family *family, const char *queue)
{
	const struct eadm_field *kind =
		eadm_object_find_field(&eadm_spec_objects[EADM_SPEC_OBJ_RAW],
				       "kind");
	uint64_t value;

	if (eadm_field_value_find(kind, queue, &value) ||
	    value >= EADM_ARRAY_SIZE(family->index_bits))
		return 0;
	return family->index_bits[value];
}

/*
 * Returns NULL for unknown entries and for those whose size differs from the description,
 * which must not be shown.
 */
const struct eadm_format *eadm_family_format(const struct eadm_family *family,
					     uint32_t kind, uint32_t id,
					     uint32_t stride)
{
	const struct eadm_format *format;
	unsigned int i;

	for (i = 0; family && i < family->n_formats; i++) {
		format = &family->formats[i];
		if (format->kind != kind || (format->one && format->id != id))
			continue;
		return stride < format->min_stride ||
				       stride > format->max_stride ||
				       stride * format->places > EADM_ENTRY_MAX ?
			       NULL : format;
	}
	return NULL;
}

/*
 * Returns true if CQ @id belongs to the command queue. Some families do not number it
 * among their CQs.
 */
bool eadm_family_is_command_cq(const struct eadm_family *family, uint32_t id)
{
	unsigned int i;

	for (i = 0; family && i < family->n_formats; i++) {
		const struct eadm_format *format = &family->formats[i];

		if (format->kind == EADM_RAW_KIND_CMD_CQ && format->one &&
		    format->id == id)
			return true;
	}
	return false;
}

const struct eadm_context *
eadm_family_context(const struct eadm_family *family, uint32_t kind)
{
	unsigned int i;

	for (i = 0; family && i < family->n_contexts; i++) {
		if (family->contexts[i].kind == kind)
			return &family->contexts[i];
	}
	return NULL;
}

const struct eadm_register *
eadm_family_register(const struct eadm_family *family, uint32_t offset)
{
	unsigned int i;

	for (i = 0; family && i < family->n_registers; i++) {
		if (family->registers[i].offset == offset)
			return &family->registers[i];
	}
	return NULL;
}
