// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses a format from the Accept header of a client. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "exporter.h"

/* Returns the value of a parameter in TYPE;NAME=VALUE;..., which has @len bytes. */
static const char *parameter(const char *part, size_t len, const char *name,
			     size_t *value_len)
{
	const char *p = part, *end = part + len;
	size_t n = strlen(name);

	while ((p = memchr(p, ';', end - p))) {
		for (p++; p < end && *p == ' '; p++)
			;
		if ((size_t)(end - p) > n && !strncasecmp(p, name, n) &&
		    p[n] == '=') {
			p += n + 1;
			for (n = 0; p + n < end && !strchr("; ", p[n]); n++)
				;
			*value_len = n;
			return p;
		}
	}
	return NULL;
}

static bool has_parameter(const char *part, size_t len, const char *name,
			  const char *wanted)
{
	size_t n;
	const char *value = parameter(part, len, name, &n);

	return value && n == strlen(wanted) && !strncasecmp(value, wanted, n);
}

static double weight(const char *part, size_t len)
{
	size_t n;
	const char *value = parameter(part, len, "q", &n);
	double q = value ? strtod(value, NULL) : 1;

	return q >= 0 && q <= 1 ? q : 0;
}

/*
 * Returns the format of one part of an Accept header; FORMATS if it is not supported.
 */
static enum format format_of(const char *part, size_t len)
{
	static const char *const names[FORMATS] = {
		[FORMAT_TEXT] = "text/plain",
		[FORMAT_OPENMETRICS] = "application/openmetrics-text",
		[FORMAT_PROTOBUF] = "application/vnd.google.protobuf",
	};
	static const char *const versions[FORMATS] = {
		[FORMAT_TEXT] = "0.0.4",
		[FORMAT_OPENMETRICS] = "1.0.0",
	};
	size_t name = strcspn(part, ";, \t");
	enum format format;

	for (format = 0; format < FORMATS; format++) {
		if (name == strlen(names[format]) &&
		    !strncasecmp(part, names[format], name))
			break;
	}
	if (format == FORMATS)
		return FORMATS;
	/* Other versions are not supported. */
	if (versions[format] && parameter(part, len, "version", &name) &&
	    !has_parameter(part, len, "version", versions[format]))
		return FORMATS;
	/* Other messages and encodings of this type exist. */
	if (format == FORMAT_PROTOBUF &&
	    (!has_parameter(part, len, "proto",
			    "io.prometheus.client.MetricFamily") ||
	     !has_parameter(part, len, "encoding", "delimited")))
		return FORMATS;
	return format;
}

/* Among formats of the same weight, chooses the richest one; text if none matches. */
enum format format_choose(const char *accept)
{
	double best[FORMATS + 1] = { 0 }, q;
	enum format format, chosen = FORMAT_TEXT;
	size_t len;

	while (accept && *accept) {
		accept += strspn(accept, " \t,");
		len = strcspn(accept, ",");
		format = format_of(accept, len);
		q = weight(accept, len);
		if (q > best[format])
			best[format] = q;
		accept += len;
	}
	for (format = 0; format < FORMATS; format++) {
		if (best[format] > 0 && best[format] >= best[chosen])
			chosen = format;
	}
	return chosen;
}
