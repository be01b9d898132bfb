// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Metrics in Prometheus' protobuf format, which supports native histograms: MetricFamily
 * messages of io.prometheus.client, each preceded by its length. They are encoded by
 * hand, one metric at a time, because a library would first need all metrics in memory.
 */
#include <string.h>

#include "exporter.h"

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2 };

/* Field numbers, by message. */
enum { FAMILY_NAME = 1, FAMILY_HELP, FAMILY_TYPE, FAMILY_METRIC, FAMILY_UNIT };
enum { LABEL_NAME = 1, LABEL_VALUE };
enum { METRIC_LABEL = 1, METRIC_GAUGE_FIELD = 2, METRIC_COUNTER_FIELD = 3,
       METRIC_UNTYPED_FIELD = 5, METRIC_HISTOGRAM_FIELD = 7 };
enum { VALUE_VALUE = 1 };
enum { HISTOGRAM_COUNT = 1, HISTOGRAM_SUM, HISTOGRAM_BUCKET,
       HISTOGRAM_SCHEMA = 5, HISTOGRAM_ZERO_THRESHOLD, HISTOGRAM_ZERO_COUNT,
       HISTOGRAM_SPAN = 12, HISTOGRAM_DELTA };
enum { BUCKET_COUNT = 1, BUCKET_BOUND };
enum { SPAN_OFFSET = 1, SPAN_LENGTH };
enum { TYPE_COUNTER = 0, TYPE_GAUGE, TYPE_UNTYPED = 3, TYPE_HISTOGRAM };

/* Half the smallest normal 32-bit floating-point number, as in client libraries. */
#define ZERO_THRESHOLD 0x1p-128

/* ---- fields ---------------------------------------------------------------------- */

static void put_varint(struct buffer *text, uint64_t value)
{
	char buf[10];
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		buf[n++] = value | 0x80;
	buf[n++] = value;
	buffer_put(text, buf, n);
}

static void put_number(struct buffer *text, int field, uint64_t value)
{
	put_varint(text, field << 3 | WIRE_VARINT);
	put_varint(text, value);
}

/* Uses zigzag encoding, which keeps small signed numbers short. */
static void put_signed(struct buffer *text, int field, int64_t value)
{
	put_number(text, field, (uint64_t)value << 1 ^ value >> 63);
}

static void put_double(struct buffer *text, int field, double value)
{
	uint64_t bits;
	char buf[8];
	int i;

	memcpy(&bits, &value, sizeof(bits));
	for (i = 0; i < 8; i++)
		buf[i] = bits >> 8 * i;
	put_varint(text, field << 3 | WIRE_64);
	buffer_put(text, buf, sizeof(buf));
}

static void put_bytes(struct buffer *text, int field, const char *data,
		      size_t len)
{
	put_varint(text, field << 3 | WIRE_BYTES);
	put_varint(text, len);
	buffer_put(text, data, len);
}

/* Puts @message inside another message; its buffer is empty afterwards. */
static void put_message(struct buffer *text, int field, struct buffer *message)
{
	put_bytes(text, field, message->data, message->len);
	text->failed |= message->failed;
	message->len = 0;
}

/* ---- metrics ---------------------------------------------------------------------- */

static void put_labels(struct proto *p, const struct samples *part,
		       uint32_t labels)
{
	struct label label = label_first(part, labels);

	for (; label.name_len; label = label_next(label)) {
		put_bytes(&p->part, LABEL_NAME, label.name,
			  label.name_len);
		put_bytes(&p->part, LABEL_VALUE, label.value,
			  label.value_len);
		put_message(&p->metric, METRIC_LABEL, &p->part);
	}
}

/*
 * Puts spans of nonempty buckets; each count is encoded as the difference from the
 * previous one.
 */
static void put_native(struct proto *p, const struct histogram *histogram)
{
	int i, end, next = -NATIVE_FIRST;
	uint64_t before = 0;
	bool spans = false;

	put_signed(&p->value, HISTOGRAM_SCHEMA, NATIVE_SCHEMA);
	put_double(&p->value, HISTOGRAM_ZERO_THRESHOLD, ZERO_THRESHOLD);
	put_number(&p->value, HISTOGRAM_ZERO_COUNT, histogram->zero);
	for (i = 0; i < NATIVE_BUCKETS; i = end + 1) {
		for (end = i; end < NATIVE_BUCKETS && histogram->native[end];
		     end++)
			;
		if (end == i)
			continue;
		put_signed(&p->part, SPAN_OFFSET, i - next);
		put_number(&p->part, SPAN_LENGTH, end - i);
		put_message(&p->value, HISTOGRAM_SPAN, &p->part);
		next = end;
		spans = true;
	}
	/* An empty span marks a native histogram without values. */
	if (!spans)
		put_message(&p->value, HISTOGRAM_SPAN, &p->part);
	for (i = 0; i < NATIVE_BUCKETS; i++) {
		if (!histogram->native[i])
			continue;
		put_signed(&p->value, HISTOGRAM_DELTA,
			   histogram->native[i] - before);
		before = histogram->native[i];
	}
}

static void put_histogram(struct proto *p, const struct histogram *histogram)
{
	uint64_t n = 0;
	int i;

	put_number(&p->value, HISTOGRAM_COUNT, histogram->count);
	put_double(&p->value, HISTOGRAM_SUM, histogram->sum / 1e9);
	for (i = 0; i < CLASSIC_BUCKETS; i++) {
		n += histogram->classic[i];
		put_number(&p->part, BUCKET_COUNT, n);
		put_double(&p->part, BUCKET_BOUND, histogram_bounds[i] / 1e9);
		put_message(&p->value, HISTOGRAM_BUCKET, &p->part);
	}
	put_native(p, histogram);
	put_message(&p->metric, METRIC_HISTOGRAM_FIELD, &p->value);
}

void proto_sample(struct proto *p, const struct family *family,
		  const struct samples *part, const struct sample *sample)
{
	static const int fields[] = {
		[METRIC_GAUGE] = METRIC_GAUGE_FIELD,
		[METRIC_COUNTER] = METRIC_COUNTER_FIELD,
		[METRIC_INFO] = METRIC_GAUGE_FIELD,
		[METRIC_UNKNOWN] = METRIC_UNTYPED_FIELD,
	};

	put_labels(p, part, sample->labels);
	if (family->type == METRIC_HISTOGRAM) {
		put_histogram(p, &part->histograms[sample->value]);
	} else {
		put_double(&p->value, VALUE_VALUE,
			   family->unit == METRIC_NS ? sample->value / 1e9 :
						       sample->value);
		put_message(&p->metric, fields[family->type], &p->value);
	}
	put_message(&p->family, FAMILY_METRIC, &p->metric);
}

/* ---- families ----------------------------------------------------------------------- */

/* Puts the fields that precede the metrics in a message. */
void proto_head(const struct family *family, const char *name,
		struct buffer *text)
{
	static const int types[] = {
		[METRIC_GAUGE] = TYPE_GAUGE,
		[METRIC_COUNTER] = TYPE_COUNTER,
		[METRIC_HISTOGRAM] = TYPE_HISTOGRAM,
		[METRIC_INFO] = TYPE_GAUGE,
		[METRIC_UNKNOWN] = TYPE_UNTYPED,
	};
	static const char *const units[] = {
		[METRIC_BYTES] = "bytes", [METRIC_NS] = "seconds",
	};

	put_bytes(text, FAMILY_NAME, name, strlen(name));
	put_bytes(text, FAMILY_HELP, family->help, strlen(family->help));
	put_number(text, FAMILY_TYPE, types[family->type]);
	if (family->unit != METRIC_PLAIN)
		put_bytes(text, FAMILY_UNIT, units[family->unit],
			  strlen(units[family->unit]));
}

/*
 * Puts a complete message, which consists of @head and the metrics since the last
 * message.
 */
void proto_end(struct proto *p, const struct buffer *head, struct buffer *text)
{
	put_varint(text, head->len + p->family.len);
	buffer_put(text, head->data, head->len);
	buffer_put(text, p->family.data, p->family.len);
	text->failed |= p->family.failed;
	p->family.len = 0;
}

void proto_release(struct proto *p)
{
	buffer_free(&p->family);
	buffer_free(&p->metric);
	buffer_free(&p->value);
	buffer_free(&p->part);
}
