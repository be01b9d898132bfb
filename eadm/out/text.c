// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats values as text for people; numbers in JSON are written by other code. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "text.h"

#define MAX_DIGITS 20

static int text_plain(uint64_t u, char *buf, size_t size)
{
	char digits[2 * MAX_DIGITS], *p = digits + MAX_DIGITS;
	size_t len;

	do {
		*--p = '0' + u % 10;
		u /= 10;
	} while (u);
	len = digits + MAX_DIGITS - p;
	if (len >= size)
		return -1;
	/* Copying a constant number of bytes is faster than copying exactly @len. */
	memcpy(buf, p, size > MAX_DIGITS ? MAX_DIGITS : len);
	buf[len] = '\0';
	return len;
}

/* Uses integers to print one decimal place, because rows contain many such values. */
static int text_tenths(uint64_t ns, uint64_t unit, const char *name, char *buf,
		       size_t size)
{
	uint64_t tenths = (ns + unit / 20) / (unit / 10);
	size_t more = strlen(name) + 2;
	int len = text_plain(tenths / 10, buf, size);

	if (len < 0 || len + more >= size)
		return -1;
	buf[len] = '.';
	buf[len + 1] = '0' + tenths % 10;
	strcpy(buf + len + 2, name);
	return len + more;
}

/* Examples: 640ns 12.3us 1.2s 3m20s 2h15m 5d03h */
static int text_age(uint64_t ns, char *buf, size_t size)
{
	uint64_t s = ns / 1000000000;

	if (ns < 1000)
		return snprintf(buf, size, "%" PRIu64 "ns", ns);
	if (ns < 1000000)
		return text_tenths(ns, 1000, "us", buf, size);
	if (ns < 1000000000)
		return text_tenths(ns, 1000000, "ms", buf, size);
	if (s < 60)
		return text_tenths(ns, 1000000000, "s", buf, size);
	if (s < 3600)
		return snprintf(buf, size, "%" PRIu64 "m%02" PRIu64 "s",
				s / 60, s % 60);
	if (s < 86400)
		return snprintf(buf, size, "%" PRIu64 "h%02" PRIu64 "m",
				s / 3600, s / 60 % 60);
	return snprintf(buf, size, "%" PRIu64 "d%02" PRIu64 "h", s / 86400,
			s / 3600 % 24);
}

/* Prints the exact value if it is short: 512, 4KiB, 1.5GiB. */
static int text_bytes(uint64_t bytes, char *buf, size_t size)
{
	static const char *const units[] = { "", "KiB", "MiB", "GiB",
					     "TiB", "PiB", "EiB" };
	unsigned int i = 0;
	double value = bytes;

	/* Limits use this value; no size is that large. */
	if (bytes == UINT64_MAX)
		return snprintf(buf, size, "unlimited");
	if (bytes < 10000 && bytes % 1024)
		return snprintf(buf, size, "%" PRIu64, bytes);
	while (value >= 1024 && i < ARRAY_SIZE(units) - 1) {
		value /= 1024;
		i++;
	}
	if (value == (uint64_t)value)
		return snprintf(buf, size, "%" PRIu64 "%s", (uint64_t)value,
				units[i]);
	return snprintf(buf, size, "%.1f%s", value, units[i]);
}

/* Examples: 0.5 12 3.4k 5.6M */
static int text_rate(double rate, char *buf, size_t size)
{
	static const char units[] = " kMGTPE";
	unsigned int i = 0;

	while (rate >= 999.95 && i < sizeof(units) - 2) {
		rate /= 1000;
		i++;
	}
	if (i)
		return snprintf(buf, size, "%.1f%c", rate, units[i]);
	return snprintf(buf, size, rate < 10 && rate > 0 ? "%.1f" : "%.0f",
			rate);
}

/* Uses the usual unit for links: 25Gbit/s. */
static int text_bits(uint64_t bits, char *buf, size_t size)
{
	if (bits >= 1000000000)
		return snprintf(buf, size, "%gGbit/s", bits / 1e9);
	return snprintf(buf, size, "%gMbit/s", bits / 1e6);
}

/*
 * Keeps the text of the last second, because many successive times are within the same
 * second.
 */
static int text_time(uint64_t ns, char *buf, size_t size)
{
	static char day[32];
	static size_t len;
	static time_t last;
	time_t s = ns / 1000000000;
	unsigned int us = ns % 1000000000 / 1000, i;
	struct tm tm;

	if (s != last || !len) {
		if (!localtime_r(&s, &tm))
			return text_plain(ns, buf, size);
		len = strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S.", &tm);
		last = s;
	}
	if (len + 6 >= size)
		return -1;
	memcpy(buf, day, len);
	for (i = 6; i--; us /= 10)
		buf[len + i] = '0' + us % 10;
	buf[len + 6] = '\0';
	return len + 6;
}

static int text_signed(int64_t s, char *buf, size_t size)
{
	int len;

	if (s >= 0 || !size)
		return text_plain(s, buf, size);
	*buf = '-';
	len = text_plain(-(uint64_t)s, buf + 1, size - 1);
	return len < 0 ? len : len + 1;
}

static int text_number(const struct column *col, uint64_t u, char *buf,
		       size_t size)
{
	if (col->json != JSON_NUMBER && col->field)
		return eadm_field_text(col->field, u, buf, size);
	if (col->kind == EADM_KIND_AGE || !strcmp(col->unit, "ns")) {
		if (col->kind == EADM_KIND_TIME)
			return text_time(u, buf, size);
		return text_age(u, buf, size);
	}
	if (!strcmp(col->unit, "bits/s"))
		return text_bits(u, buf, size);
	if (col->kind == EADM_KIND_GAUGE && !strcmp(col->unit, "bytes"))
		return text_bytes(u, buf, size);
	return text_plain(u, buf, size);
}

/* Formats a value as text, "-" if absent; returns the length like snprintf(). */
int text_of_value(const struct column *col, const struct eadm_value *value,
		  char *buf, size_t size)
{
	switch ((int)value->type) {
	case EADM_TYPE_U64:
		return text_number(col, value->u64, buf, size);
	case EADM_TYPE_S64:
		return text_signed(value->s64, buf, size);
	case EADM_TYPE_STRING:
		return snprintf(buf, size, "%s", value->string);
	case VALUE_RATE:
		return text_rate(rate_of(value), buf, size);
	default:
		return snprintf(buf, size, "-");
	}
}
