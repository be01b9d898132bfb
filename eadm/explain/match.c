// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the phrases of the table among the words of a text. A phrase inside a longer
 * one does not count. The meaning of a failed call depends on the errno next to it.
 */
#include "match.h"

#include <string.h>

#include "table.h"

#define SKIP 16		/* maximum number of words that "..." matches */
#define AFTER 40	/* number of words searched for an error after a call */
#define BEFORE 12	/* number of words searched before a call */
#define MAX_HITS 1024

struct hit {
	enum explain_kind kind;
	unsigned int target;
	unsigned int from, to;	/* first word, and the word after the last */
	bool covered;		/* covered by a longer hit */
	bool general;		/* ignored if there is another hit */
	bool generic;		/* ignored if the line is not about RDMA */
	bool skips;		/* any words may be between those of the phrase */
	unsigned int call;	/* number of the call, from 1, if it counts; or 0 */
};

struct search {
	const struct split *words;
	struct hit hit[MAX_HITS];
	unsigned int n;
	bool has_error;
	unsigned short error[WORDS_MAX];	/* the errno that begins at a word, or 0 */
	bool in_error[WORDS_MAX];	/* the word is part of an errno's name or text */
};

/* ---- phrases ------------------------------------------------------------------ */

static size_t item_len(const char *phrase)
{
	return strcspn(phrase, " ");
}

static const char *next_item(const char *phrase)
{
	phrase += item_len(phrase);
	return *phrase ? phrase + 1 : phrase;
}

static bool fits(const struct word *word, const char *item)
{
	size_t len = item_len(item);

	if (len == 1 && *item == 'N')
		return word->is_number;
	if (item[len - 1] == '*')
		return !strncmp(word->text, item, len - 1);
	return strlen(word->text) == len && !memcmp(word->text, item, len);
}

/*
 * Returns the index of the word after the phrase if the phrase begins at word @at,
 * otherwise 0. @number is set to the index of the word that is its number.
 */
static unsigned int fit_phrase(const struct split *words, unsigned int at,
			       const char *phrase, unsigned int *number)
{
	unsigned int skip, to;

	for (; *phrase; phrase = next_item(phrase), at++) {
		if (!strncmp(phrase, "... ", 4)) {
			for (skip = 0; skip <= SKIP; skip++) {
				to = fit_phrase(words, at + skip, phrase + 4,
						number);
				if (to)
					return to;
			}
			return 0;
		}
		if (at >= words->n || !fits(&words->word[at], phrase))
			return 0;
		if (*phrase == 'N')
			*number = at;
	}
	return at;
}

static const char *words_of(const struct explain_phrase *phrase)
{
	return explain_words + phrase->words_at;
}

/*
 * Compares a word with the first word of a phrase; the table is sorted in this order.
 */
static int compare_first(const char *word, const char *phrase)
{
	size_t len = item_len(phrase);
	int order = strncmp(word, phrase, len);

	return order ? order : word[len] != '\0';
}

static const struct explain_phrase *first_phrase(const char *word)
{
	unsigned int low = 0, high = explain_n_phrases, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (compare_first(word, words_of(&explain_phrases[mid])) > 0)
			low = mid + 1;
		else
			high = mid;
	}
	return explain_phrases + low;
}

/* ---- failures ------------------------------------------------------------------ */

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(word, *list))
			return true;
	}
	return false;
}

/* Returns the text of a word, or "" outside of the text. */
static const char *text_at(const struct split *words, unsigned int at)
{
	return at < words->n ? words->word[at].text : "";
}

/* Returns true if a word states a failure. */
static bool is_failure(const struct split *words, unsigned int at)
{
	static const char *const failed[] = {
		"fail", "failed", "fails", "failure", "failing", "error", "errno",
		"err", "unable", "cannot", "can't", "couldn't", "warn",
		"fatal", "abort", "aborted", "refused", "denied", NULL,
	};
	static const char *const none[] = { "no", "without", "0", NULL };
	static const char *const verbs[] = {
		"can", "could", "did", "does", "do", "would", NULL,
	};
	static const char *const states[] = {
		"able", "possible", "successful", "permitted", "allowed",
		"supported", "available", NULL,
	};
	const struct word *next = at + 1 < words->n ? &words->word[at + 1] : NULL;
	const char *text = text_at(words, at);

	if (!strcmp(text, "not"))
		return is_one_of(text_at(words, at - 1), verbs) ||
		       is_one_of(text_at(words, at + 1), states);
	return is_one_of(text, failed) &&
	       !is_one_of(text_at(words, at - 1), none) &&
	       !(next && next->is_number && !next->number);
}

/* ---- numbers ------------------------------------------------------------------ */

static bool names_family(const struct split *words, const char *family)
{
	size_t len = strlen(family);
	unsigned int i;

	for (i = 0; i < words->n; i++) {
		const char *text = words->word[i].text;

		if (!strncmp(text, family, len) &&
		    (!text[len] || text[len] == '_'))
			return true;
	}
	return false;
}

static const struct explain_list *list_of(const struct split *words,
					  unsigned int target)
{
	const struct explain_list *list;

	if (target < explain_n_lists)
		return &explain_lists[target];
	for (list = explain_adapters; list->word; list++) {
		if (names_family(words, list->word))
			return list;
	}
	return NULL;
}

static bool meaning_of(const struct explain_list *list, unsigned long number,
		       unsigned int *meaning)
{
	unsigned int i;

	for (i = 0; list && i < list->n; i++) {
		if (list->numbers[i].number == number) {
			*meaning = list->numbers[i].meaning;
			return true;
		}
	}
	return false;
}

/* ---- hits ---------------------------------------------------------------------- */

static void add_hit(struct search *search, const struct explain_phrase *phrase,
		    unsigned int from, unsigned int to, unsigned int number)
{
	struct hit hit = { .kind = phrase->kind, .target = phrase->target,
			   .from = from, .to = to, .generic = phrase->generic,
			   .skips = strstr(words_of(phrase), "...") };
	const struct word *words = search->words->word;
	const struct explain_list *list;

	if (hit.kind == PHRASE_NUMBER || hit.kind == PHRASE_GUESS) {
		list = list_of(search->words, hit.target);
		if (!meaning_of(list, words[number].number, &hit.target))
			return;
		hit.general = hit.kind == PHRASE_GUESS;
		hit.kind = PHRASE_MEANING;
		/*
		 * The meanings that a family gives its numbers are more reliable than
		 * those of libraries.
		 */
		if (list->word)
			hit.to++;
	}
	/* Errors have no meaning without a call, and may be numerous. */
	if (hit.kind == PHRASE_ERROR) {
		search->error[from] = hit.target;
		memset(search->in_error + from, true, to - from);
		search->has_error = true;
		return;
	}
	if (search->n < MAX_HITS)
		search->hit[search->n++] = hit;
}

static void find_hits(struct search *search)
{
	const struct explain_phrase *phrase,
		*end = explain_phrases + explain_n_phrases;
	const struct split *words = search->words;
	unsigned int at, to, number = 0;

	for (at = 0; at < words->n; at++) {
		const char *word = words->word[at].text;

		for (phrase = first_phrase(word);
		     phrase < end && !compare_first(word, words_of(phrase));
		     phrase++) {
			to = fit_phrase(words, at, words_of(phrase), &number);
			if (to)
				add_hit(search, phrase, at, to, number);
		}
	}
}

static bool is_about_rdma(const struct split *words)
{
	const char *item;
	unsigned int i;

	for (item = explain_context; *item; item = next_item(item)) {
		for (i = 0; i < words->n; i++) {
			if (fits(&words->word[i], item))
				return true;
		}
	}
	return false;
}

/*
 * Returns true if the text consists of a hit, words that state a failure, and an error.
 * Numbers before the hit may be a timestamp, as in the log of another program.
 */
static bool is_alone(const struct search *search, const struct hit *hit)
{
	const struct split *words = search->words;
	unsigned int i;

	if (hit->skips)
		return false;
	for (i = 0; i < words->n; i++) {
		if (i >= hit->from && i < hit->to)
			continue;
		if (!is_failure(words, i) && strcmp(words->word[i].text, "to") &&
		    !search->in_error[i] &&
		    !(i >= hit->to && words->word[i].is_number))
			return false;
	}
	return true;
}

/* Removes hits whose words are not evidence of RDMA, in a text that has no other. */
static void drop_generic(struct search *search)
{
	bool generic = false, about = false;
	unsigned int i, n = 0;

	for (i = 0; i < search->n; i++) {
		generic |= search->hit[i].generic;
		about |= !search->hit[i].generic;
	}
	if (!generic || about || is_about_rdma(search->words))
		return;
	for (i = 0; i < search->n; i++) {
		if (is_alone(search, &search->hit[i]))
			search->hit[n++] = search->hit[i];
	}
	search->n = n;
}

static bool covers(const struct hit *a, const struct hit *b)
{
	return a->from <= b->from && a->to >= b->to &&
	       a->to - a->from > b->to - b->from;
}

static void cover_hits(struct search *search)
{
	struct hit *a, *b, *end = search->hit + search->n;

	for (a = search->hit; a < end; a++) {
		for (b = search->hit; b < end; b++) {
			if (covers(b, a))
				a->covered = true;
		}
	}
}

/* ---- calls --------------------------------------------------------------------- */

/* Returns true for calls whose positive result is a count, or has no meaning. */
static bool returns_count(const char *call)
{
	return strstr(call, "poll") || strstr(call, "get_device_list") ||
	       !strncmp(call, "get", 3) || !strncmp(call, "fi_", 3) ||
	       !strcmp(call, "ofi");
}

/*
 * Returns true if a number is an errno: it is negative, or preceded by a word that
 * implies an errno. @counts: a positive result is a count.
 */
static bool is_errno(const struct split *words, unsigned int at,
		     unsigned int call_end, bool counts)
{
	static const char *const error[] = {
		"errno", "error", "err", "failed", NULL,
	};
	static const char *const result[] = {
		"ret", "rc", "returned", "code", "status", "return", "result",
		"returns", NULL,
	};
	const struct word *word = &words->word[at];
	const char *before;

	if (!word->is_number || !word->number || word->number > 4095)
		return false;
	if (word->negative)
		return true;
	if (at == call_end)
		return !counts;
	/* "failed with 12", but not "the MTU is 5". */
	before = text_at(words, at - 1);
	if (!strcmp(before, "with") || !strcmp(before, "is"))
		before = text_at(words, at - 2);
	return is_one_of(before, error) ||
	       (!counts && is_one_of(before, result));
}

/* Returns the errno that begins at a word, or 0. */
static unsigned int errno_at(const struct search *search, unsigned int at,
			     unsigned int call_end, bool counts)
{
	if (search->error[at])
		return search->error[at];
	return is_errno(search->words, at, call_end, counts) ?
		       search->words->word[at].number : 0;
}

/* Returns true if the text states that a call failed. */
static bool says_failed(const struct split *words, const struct hit *call)
{
	unsigned int at = call->from > BEFORE ? call->from - BEFORE : 0;

	for (; at < words->n && at < call->to + AFTER; at++) {
		if (is_failure(words, at))
			return true;
	}
	return false;
}

/* Returns true if the word after a call states its success. */
static bool says_ok(const struct split *words, const struct hit *call)
{
	static const char *const good[] = {
		"ok", "okay", "succeeded", "success", "successful",
		"successfully", "passed", NULL,
	};

	return is_one_of(text_at(words, call->to), good);
}

/*
 * Returns the errno of a call: the first errno between this call and the next one, or
 * else the last errno before the call; 0 if there is none.
 */
static unsigned int errno_of(const struct search *search, const struct hit *call,
			     bool counts)
{
	unsigned int at, i, error, end = call->to + AFTER;

	if (end > search->words->n)
		end = search->words->n;
	for (i = 0; i < search->n; i++) {
		const struct hit *other = &search->hit[i];

		if (other->call && other->from >= call->to &&
		    other->call != call->call && other->from < end)
			end = other->from;
	}
	for (at = call->to; at < end; at++) {
		error = errno_at(search, at, call->to, counts);
		if (error)
			return error;
	}
	for (at = call->from; at && call->from - at < BEFORE; at--) {
		error = errno_at(search, at - 1, search->words->n, counts);
		if (error)
			return error;
	}
	return 0;
}

static bool meaning_of_call(const struct search *search, const struct hit *call,
			    unsigned int *meaning)
{
	const struct split *words = search->words;
	bool failed = says_failed(words, call), found = false;
	bool counts = !failed && returns_count(text_at(words, call->from));
	unsigned int error, i;

	if (says_ok(words, call))
		return false;
	error = errno_of(search, call, counts);
	if (!error && !failed)
		return false;
	/*
	 * Rows for a specific errno follow the row for all other errnos, so the last
	 * match counts.
	 */
	for (i = 0; i < explain_n_failed; i++) {
		const struct explain_failed *row = &explain_failed[i];

		if (row->call == call->target &&
		    (!row->error || row->error == error)) {
			*meaning = row->meaning;
			found = true;
		}
	}
	return found;
}

/* Replaces failed calls with their meanings; calls without a meaning are covered. */
static void settle_calls(struct search *search)
{
	unsigned int i, meaning;

	for (i = 0; i < search->n; i++) {
		struct hit *hit = &search->hit[i];

		if (hit->kind == PHRASE_CALL && !hit->covered)
			hit->call = hit->target + 1;
	}
	for (i = 0; i < search->n; i++) {
		struct hit *hit = &search->hit[i];

		if (!hit->call)
			continue;
		if (meaning_of_call(search, hit, &meaning)) {
			hit->kind = PHRASE_MEANING;
			hit->target = meaning;
		} else {
			hit->covered = true;
		}
	}
}

static bool is_general(const struct hit *hit)
{
	return hit->general || explain_meanings[hit->target].general;
}

/* "completion with error 0" is a success. */
static bool counts(const struct split *words, const struct hit *hit)
{
	return hit->kind == PHRASE_MEANING && !hit->covered &&
	       !(is_general(hit) && !strcmp(text_at(words, hit->to - 1), "error") &&
		 !is_failure(words, hit->to - 1));
}

static bool has_special(const struct search *search)
{
	unsigned int i;

	for (i = 0; i < search->n; i++) {
		if (counts(search->words, &search->hit[i]) &&
		    !is_general(&search->hit[i]))
			return true;
	}
	return false;
}

void match_words(const struct split *words, size_t end, struct matches *matches)
{
	static struct search search;
	unsigned int i;
	bool special;

	search.words = words;
	search.n = 0;
	search.has_error = false;
	memset(search.error, 0, words->n * sizeof(search.error[0]));
	memset(search.in_error, 0, words->n);
	find_hits(&search);
	drop_generic(&search);
	cover_hits(&search);
	matches->error |= search.has_error;
	settle_calls(&search);
	special = has_special(&search);
	for (i = 0; i < search.n; i++) {
		const struct hit *hit = &search.hit[i];
		size_t at = words->word[hit->from].at;

		if (counts(words, hit) && at < end &&
		    !(special && is_general(hit)))
			matches->found(matches->data, hit->target, at);
	}
}
