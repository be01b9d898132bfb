/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values are passed as struct eadm_value from the message to the writer, whether they
 * come from a field or are computed by a command. The type VALUE_NONE means absent.
 */
#ifndef VALUE_H
#define VALUE_H

#include <eadm.h>
#include <string.h>

/* Types in addition to those of the library, used only by computed values. */
enum {
	VALUE_NONE = 0,
	VALUE_RATE = 64,	/* a double, in @u64: rate_of() */
	VALUE_HIST,		/* @bytes: a struct hist */
	VALUE_EVIDENCE,		/* @bytes: @len struct eadm_evidence */
	VALUE_AFFECTED,		/* @bytes: @len struct eadm_consequence */
	VALUE_CAUSES,		/* @bytes: @len struct cause */
};

/* A possible cause of an error. */
struct cause {
	const char *name;
	const char *text;
	const char *const *look;	/* commands that show more; NULL-terminated */
	const char *const *rules;	/* rules that recognize it; NULL-terminated */
	const struct eadm_verdict *found;	/* findings of these rules */
	size_t n_found;
};

static inline bool is_there(const struct eadm_value *value)
{
	return (int)value->type != VALUE_NONE;
}

static inline struct eadm_value value_u64(uint64_t u64)
{
	return (struct eadm_value){ .type = EADM_TYPE_U64, .u64 = u64 };
}

/* The value is absent if the string is NULL. */
static inline struct eadm_value value_string(const char *string)
{
	return (struct eadm_value){
		.type = string ? EADM_TYPE_STRING :
				 (enum eadm_field_type)VALUE_NONE,
		.string = string,
	};
}

/* The value is absent if the text is NULL or empty. */
static inline struct eadm_value value_text(const char *text)
{
	return value_string(text && *text ? text : NULL);
}

static inline struct eadm_value value_rate(double rate)
{
	struct eadm_value value = { .type = (enum eadm_field_type)VALUE_RATE };

	memcpy(&value.u64, &rate, sizeof(rate));
	return value;
}

static inline double rate_of(const struct eadm_value *value)
{
	double rate;

	memcpy(&rate, &value->u64, sizeof(rate));
	return rate;
}

/* Returns a value that refers to one or more @things, as for VALUE_HIST. */
static inline struct eadm_value value_of(int type, const void *things,
					 size_t n)
{
	return (struct eadm_value){ .type = (enum eadm_field_type)type, .len = n,
				    .bytes = things };
}

#endif /* VALUE_H */
