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

static void test_forms(void)
{
	static const char *const versions[] = {
		"firmware version 16.32.20.8", "fw 1.2.3.4", "v1.2.3.4 loaded",
		"fw_ver: \"1.2.3.4\"", "BIOS 2.10.0.1", "driver (rev 1.2.3.4)",
	};
	static const char *const others[] = {
		"0x1ded107f", "deadbeef", "cb00714", "cb00714d0",
	};
	unsigned int ip[4];
	char want[100], *out;
	size_t i;

	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		test_other(versions[i]);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		test_other(others[i]);
	test_address("server ", "");
	test_address("version of ", "");
	if (sscanf(pseudonym, "%u.%u.%u.%u", &ip[0], &ip[1], &ip[2], &ip[3]) != 4)
		abort();
	out = redacted("from 010.001.002.003, 0x0a010203 = 0302010a A010203 0a010203");
	snprintf(want, sizeof(want),
		 "from %03u.%03u.%03u.%03u, 0x%02x%02x%02x%02x = %02x%02x%02x%02x A010203 %02x%02x%02x%02x",
		 ip[0], ip[1], ip[2], ip[3], ip[0], ip[1], ip[2], ip[3], ip[3],
		 ip[2], ip[1], ip[0], ip[0], ip[1], ip[2], ip[3]);
	if (!ok(!strcmp(out, want), "an address as the kernel prints it"))
		printf("# %s\n# %s\n", out, want);
	free(out);
	out = redacted("gid 2001067c00000000000000000000004d.");
	ok(!strncmp(out, "gid 20010db8", 12) && strlen(out) == 37 &&
		   !strstr(out, "4d."), "an IPv6 address without colons");
	free(out);
	eadm_redactor_host(redactor, "Node7.example");
	out = redacted("node7 NODE7.Example Node7x");
	snprintf(want, sizeof(want), "%.13s", out);
	ok(!strncmp(out, "host-", 5) && !strcasestr(out, "node7 ") &&
		   !strcasestr(out, "node7.") && strstr(out, "Node7x"),
	   "a host's name in capitals");
	free(out);
	out = redacted("NODE7");
	ok(!strcmp(out, want), "has the pseudonym that it has in small letters");
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
	test_forms();
	eadm_redactor_close(redactor);
	eadm_free(ctx);
	return done();
}
