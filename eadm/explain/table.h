/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known errors, generated from spec/explain and spec/families. */
#ifndef EXPLAIN_TABLE_H
#define EXPLAIN_TABLE_H

#include <stdbool.h>

struct explain_cause {
	const char *name;
	const char *text;
	const char *const *rules;	/* names of libeadm rules; NULL-terminated */
	const char *const *look;	/* commands that show more; NULL-terminated */
};

struct explain_meaning {
	const char *name;
	const char *text;
	bool general;			/* ignored if there is another error */
	unsigned int n_causes;		/* the likeliest first */
	const unsigned char *causes;	/* indices of explain_causes */
};

enum explain_kind {
	PHRASE_MEANING,
	PHRASE_CALL,
	PHRASE_ERROR,
	PHRASE_NUMBER,
	PHRASE_GUESS,	/* a number that is ignored if there is another hit */
};

/*
 * Words of the phrase, separated by spaces; spec/explain/words.yaml describes their form.
 */
struct explain_phrase {
	unsigned int words_at;		/* offset into explain_words */
	enum explain_kind kind;
	bool generic;		/* counts only in a line about RDMA */
	unsigned int target;	/* a meaning, call, errno or list */
};

struct explain_number {
	unsigned int number;
	unsigned int meaning;
};

struct explain_list {
	const char *word;	/* word that names the adapter family in a text, or NULL */
	unsigned int n;
	const struct explain_number *numbers;
};

struct explain_failed {
	unsigned int call;
	unsigned int error;	/* errno; 0: any other, or none */
	unsigned int meaning;
};

extern const struct explain_cause explain_causes[];
extern const unsigned int explain_n_causes;
extern const struct explain_meaning explain_meanings[];
extern const unsigned int explain_n_meanings;
extern const char explain_context[];	/* words of RDMA and of families, each followed by a space */
extern const char explain_words[];
extern const struct explain_phrase explain_phrases[];	/* sorted */
extern const unsigned int explain_n_phrases;
extern const struct explain_list explain_lists[];
/*
 * As the target of a phrase, this number stands for the list of the family that the
 * text names.
 */
extern const unsigned int explain_n_lists;
extern const struct explain_list explain_adapters[];	/* ends with a NULL word */
extern const struct explain_failed explain_failed[];
extern const unsigned int explain_n_failed;

#endif /* EXPLAIN_TABLE_H */
