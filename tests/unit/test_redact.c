// SPDX-License-Identifier: GPL-2.0-or-later
/* Addresses in text, in the ways programs put them there. */
#include <stdlib.h>
#include <string.h>

#include "eadm.h"
#include "tap.h"

static struct eadm_redactor *redactor;
static char pseudonym[32];

static char *redacted(const char *text)
{
	size_t len;
	char *out;

	return eadm_redactor_text(redactor, text, strlen(text), &out, &len) ?
		       strdup("") : out;
}

/* @text with the address between what @before and @after say. */
static void test_address(const char *before, const char *after)
{
	char text[100], want[100], *out;

	snprintf(text, sizeof(text), "%s10.1.2.3%s", before, after);
	snprintf(want, sizeof(want), "%s%s%s", before, pseudonym, after);
	out = redacted(text);
	if (!ok(!strcmp(out, want), "the address in '%s'", text))
		printf("# %s\n", out);
	free(out);
}

static void test_other(const char *text)
{
	char *out = redacted(text);

	if (!ok(!strcmp(out, text), "no address in '%s'", text))
		printf("# %s\n", out);
	free(out);
}

int main(void)
{
	struct eadm_ctx *ctx = eadm_new();
	char *out;

	if (!ctx || eadm_redactor_open(ctx, "0123456789abcdef", 16, &redactor)) {
		ok(false, "there is a redactor");
		return done();
	}
	out = redacted("10.1.2.3");
	snprintf(pseudonym, sizeof(pseudonym), "%s", out);
	free(out);
	ok(strcmp(pseudonym, "10.1.2.3") != 0, "an address has a pseudonym");
	test_address("", ":4420");
	test_address("(", "/24)");
	test_address("at ", ".");
	test_address("IP ", ".4420 > x");
	test_address("", ".8.1");
	test_address("node.", "");
	test_address("node", ".example");
	test_other("1.2.3");
	test_other("1.2.3.256");
	test_other("6.1.0-44");
	test_other("300.1.2.3.4");
	eadm_redactor_close(redactor);
	eadm_free(ctx);
	return done();
}
