// SPDX-License-Identifier: LGPL-2.1-or-later
/* The adapter's contexts and registers as rows, one for each member. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eadm_nl.h"
#include "entry.h"
#include "family/family.h"

/* Returns true if the family's contexts of this kind, or its registers, are described. */
bool eadm_members_known(const struct eadm_family *family, uint32_t kind)
{
	if (kind == EADM_RAW_KIND_REGS)
		return family && family->n_registers;
	return eadm_family_context(family, kind);
}

static void text_of(const struct eadm_part *part, const unsigned char *p,
		    uint64_t v, char *text, size_t size)
{
	switch (part->form) {
	case EADM_PART_HEX:
		snprintf(text, size, "0x%" PRIx64, v);
		break;
	case EADM_PART_IP:
		inet_ntop(AF_INET, p + part->at.offset, text, size);
		break;
	case EADM_PART_LOG2:
		/* The value is the binary logarithm of the number of entries. */
		if (v < 64)
			snprintf(text, size, "%" PRIu64, (uint64_t)1 << v);
		else
			snprintf(text, size, "2^%" PRIu64, v);
		break;
	default:
		snprintf(text, size, "%" PRIu64, v);
		break;
	}
}

/* Makes a row of member number @index of a context; returns 0 if there are no more. */
int eadm_context_row(const struct eadm_family *family, uint32_t kind,
		     const unsigned char *data, size_t len, unsigned int index,
		     struct eadm_record *rec)
{
	const struct eadm_context *context = eadm_family_context(family, kind);
	const struct eadm_part *part;
	char text[48];
	uint64_t v;

	if (!context || index >= context->n)
		return 0;
	part = &context->parts[index];
	if (!eadm_bits_read(&part->at, data, len, &v))
		return 0;
	text_of(part, data, v, text, sizeof(text));
	eadm_record_put_u64(rec, EADM_A_HWCTX_OFFSET, part->at.offset);
	eadm_record_put_string(rec, EADM_A_HWCTX_NAME, part->name);
	eadm_record_put_u64(rec, EADM_A_HWCTX_WIDTH,
			    part->at.bits ? part->at.bits : part->at.size * 8);
	eadm_record_put_u64(rec, EADM_A_HWCTX_VALUE, v);
	eadm_record_put_string(rec, EADM_A_HWCTX_TEXT, text);
	eadm_record_put_bytes(rec, EADM_A_HWCTX_BYTES, data + part->at.offset,
			      part->at.size);
	return 1;
}

/* ---- registers ------------------------------------------------------------------- */

#define REG 16		/* struct eadm_ioc_reg */

/* Makes a row of register number @index; returns 0 if there are no more. */
int eadm_regs_row(const struct eadm_family *family, const unsigned char *data,
		  size_t len, unsigned int index, struct eadm_record *rec)
{
	const unsigned char *p = data + (size_t)index * REG;
	const struct eadm_register *reg;
	uint32_t offset, bits;
	uint64_t value;

	if (!eadm_members_known(family, EADM_RAW_KIND_REGS) ||
	    ((size_t)index + 1) * REG > len)
		return 0;
	memcpy(&offset, p, sizeof(offset));
	memcpy(&bits, p + 4, sizeof(bits));
	memcpy(&value, p + 8, sizeof(value));
	eadm_record_put_u64(rec, EADM_A_REGS_OFFSET, offset);
	eadm_record_put_u64(rec, EADM_A_REGS_WIDTH, bits);
	eadm_record_put_u64(rec, EADM_A_REGS_VALUE, value);
	reg = eadm_family_register(family, offset);
	if (reg) {
		eadm_record_put_string(rec, EADM_A_REGS_NAME, reg->name);
		eadm_record_put_string(rec, EADM_A_REGS_ABOUT, reg->about);
	}
	return 1;
}
