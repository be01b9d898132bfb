// SPDX-License-Identifier: LGPL-2.1-or-later
/* The adapter's contexts and registers to rows: a row for each member. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eadm_nl.h"
#include "entry.h"

enum form {
	DEC,
	HEX,
	IP,
	PORT,
	LOG2,
};

struct part {
	uint16_t offset;
	uint8_t size;
	uint8_t form;
	const char *name;
};

static const struct part qpc[] = {
	{ 0x10, 1, DEC, "sq-enabled" },
	{ 0x11, 1, DEC, "sq-page-offset" },
	{ 0x12, 1, DEC, "sq-page-size" },
	{ 0x13, 1, LOG2, "sq-depth" },
	{ 0x14, 2, DEC, "sq-pi" },
	{ 0x16, 2, DEC, "sq-ci" },
	{ 0x18, 1, DEC, "rq-enabled" },
	{ 0x19, 1, DEC, "rq-page-offset" },
	{ 0x1a, 1, DEC, "rq-page-size" },
	{ 0x1b, 1, LOG2, "rq-depth" },
	{ 0x1c, 2, DEC, "rq-pi" },
	{ 0x1e, 2, DEC, "rq-ci" },
	{ 0x20, 2, DEC, "last-sqe" },
	{ 0x22, 2, DEC, "last-rqe" },
	{ 0x24, 2, DEC, "send-cqes" },
	{ 0x26, 2, DEC, "recv-cqes" },
	{ 0x28, 2, DEC, "tx-packets" },
	{ 0x2a, 2, DEC, "rx-packets" },
	{ 0x2c, 2, DEC, "rx-error-drops" },
	{ 0x2e, 2, DEC, "rx-invalid-drops" },
	{ 0x30, 4, DEC, "rto-retrans" },
	{ 0x34, 4, DEC, "remote-qpn" },
	{ 0x38, 4, DEC, "pdn" },
	{ 0x3c, 2, DEC, "fw-sq-pi" },
	{ 0x3e, 2, DEC, "fw-sq-ci" },
	{ 0x40, 2, DEC, "fw-rq-ci" },
	{ 0x42, 1, DEC, "sq-flushing" },
	{ 0x43, 1, DEC, "rq-flushing" },
	{ 0x44, 2, DEC, "flushed-sq-pi" },
	{ 0x46, 2, DEC, "flushed-rq-pi" },
	{ 0x48, 4, DEC, "send-cqn" },
	{ 0x4c, 4, DEC, "recv-cqn" },
	{ 0x50, 8, HEX, "sq-addr" },
	{ 0x58, 8, HEX, "rq-addr" },
	{ 0x60, 8, HEX, "sq-dbrec-addr" },
	{ 0x68, 8, HEX, "rq-dbrec-addr" },
	{ 0x70, 8, HEX, "sq-dbrec" },
	{ 0x78, 8, HEX, "rq-dbrec" },
	{ 0x80, 4, IP, "local-addr" },
	{ 0x84, 4, IP, "peer-addr" },
	{ 0x88, 2, PORT, "local-port" },
	{ 0x8a, 2, PORT, "peer-port" },
};

static const struct part cqc[] = {
	{ 0x10, 4, DEC, "pi" },
	{ 0x14, 1, DEC, "enabled" },
	{ 0x15, 1, LOG2, "depth" },
	{ 0x16, 1, DEC, "owner" },
	{ 0x17, 1, DEC, "bad-db-type" },
	{ 0x18, 4, DEC, "bad-db-ci" },
	{ 0x1c, 1, DEC, "out-of-order" },
	{ 0x1d, 1, DEC, "duplicate" },
	{ 0x20, 8, HEX, "db-addr" },
	{ 0x28, 8, HEX, "dbrec" },
};

static const struct part eqc[] = {
	{ 0x10, 2, DEC, "depth" },
	{ 0x12, 2, DEC, "vector" },
	{ 0x14, 1, DEC, "suppressed" },
	{ 0x15, 1, DEC, "tail-owner" },
	{ 0x16, 1, DEC, "head-owner" },
	{ 0x17, 1, DEC, "overflow" },
	{ 0x18, 4, DEC, "head" },
	{ 0x1c, 4, DEC, "tail" },
	{ 0x20, 8, HEX, "ring-addr" },
	{ 0x28, 8, HEX, "db-addr" },
	{ 0x30, 8, HEX, "dbrec" },
};

static const struct {
	const struct part *parts;
	unsigned int n;
} contexts[] = {
	{ qpc, EADM_ARRAY_SIZE(qpc) },
	{ cqc, EADM_ARRAY_SIZE(cqc) },
	{ eqc, EADM_ARRAY_SIZE(eqc) },
};

static uint64_t load_le(const unsigned char *p, unsigned int size)
{
	uint64_t v = 0;

	while (size)
		v = v << 8 | p[--size];
	return v;
}

static uint64_t value_of(const unsigned char *p, const struct part *part,
			 char *text, size_t size)
{
	uint64_t v = load_le(p, part->size);

	switch (part->form) {
	case HEX:
		snprintf(text, size, "0x%" PRIx64, v);
		break;
	case IP:
		inet_ntop(AF_INET, p, text, size);
		break;
	case PORT:
		v = p[0] << 8 | p[1];
		snprintf(text, size, "%" PRIu64, v);
		break;
	case LOG2:
		/* Entries; the adapter keeps the logarithm. */
		if (v < 64)
			snprintf(text, size, "%" PRIu64, (uint64_t)1 << v);
		else
			snprintf(text, size, "2^%" PRIu64, v);
		break;
	default:
		snprintf(text, size, "%" PRIu64, v);
		break;
	}
	return v;
}

/* Member number @index of a context; 0 when there are no more. */
int eadm_context_row(uint32_t kind, const unsigned char *data, size_t len,
		     unsigned int index, struct eadm_record *rec)
{
	const struct part *part;
	char text[48];
	uint64_t v;

	if (kind < EADM_RAW_KIND_QPC || kind > EADM_RAW_KIND_EQC ||
	    index >= contexts[kind - EADM_RAW_KIND_QPC].n)
		return 0;
	part = &contexts[kind - EADM_RAW_KIND_QPC].parts[index];
	if ((size_t)part->offset + part->size > len)
		return 0;
	v = value_of(data + part->offset, part, text, sizeof(text));
	eadm_record_put_u64(rec, EADM_A_HWCTX_OFFSET, part->offset);
	eadm_record_put_string(rec, EADM_A_HWCTX_NAME, part->name);
	eadm_record_put_u64(rec, EADM_A_HWCTX_WIDTH, part->size * 8);
	eadm_record_put_u64(rec, EADM_A_HWCTX_VALUE, v);
	eadm_record_put_string(rec, EADM_A_HWCTX_TEXT, text);
	eadm_record_put_bytes(rec, EADM_A_HWCTX_BYTES, data + part->offset,
			      part->size);
	return 1;
}

/* ---- registers ------------------------------------------------------------------- */

static const struct {
	uint32_t offset;
	const char *name;
	const char *about;
} registers[] = {
	{ 0x00, "version", "version of the device, 0: it does not work" },
	{ 0x0c, "dev-proto", "protocol: 0 iWARP, 1 RoCEv2" },
	{ 0x14, "dev-st", "bit 0 reset done, bit 1 initialised" },
	{ 0x18, "mac-l", "MAC address, low 32 bits" },
	{ 0x1c, "mac-h", "MAC address, high 16 bits" },
	{ 0x4c, "grp-num", "groups of direct work requests, below 4: none" },
};

#define REG 16		/* struct eadm_ioc_reg */

/* Register number @index; 0 when there are no more. */
int eadm_regs_row(const unsigned char *data, size_t len, unsigned int index,
		  struct eadm_record *rec)
{
	const unsigned char *p = data + (size_t)index * REG;
	uint32_t offset, bits;
	uint64_t value;
	unsigned int i;

	if (((size_t)index + 1) * REG > len)
		return 0;
	memcpy(&offset, p, sizeof(offset));
	memcpy(&bits, p + 4, sizeof(bits));
	memcpy(&value, p + 8, sizeof(value));
	eadm_record_put_u64(rec, EADM_A_REGS_OFFSET, offset);
	eadm_record_put_u64(rec, EADM_A_REGS_WIDTH, bits);
	eadm_record_put_u64(rec, EADM_A_REGS_VALUE, value);
	for (i = 0; i < EADM_ARRAY_SIZE(registers); i++) {
		if (registers[i].offset != offset)
			continue;
		eadm_record_put_string(rec, EADM_A_REGS_NAME,
				       registers[i].name);
		eadm_record_put_string(rec, EADM_A_REGS_ABOUT,
				       registers[i].about);
	}
	return 1;
}
