// SPDX-License-Identifier: GPL-2.0-or-later
/* Addresses in text, in the ways programs put them there. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* Lines of the kernel's log, and what must not be left of them. */
static void test_log(void)
{
	static const char *const lines[][2] = {
		{ "[1.5] infiniband: Comm: my job Not tainted", "my job" },
		{ "[1.5] CPU: 1 Comm: solver Tainted: G", "solver" },
		{ "[1.5] rdma comm=\"solver2\" pid=1", "solver2" },
		{ "[1.5] solver3[42]: segfault at 0 in libibverbs.so", "solver3" },
		{ "[1.5] Out of memory: Killed process 42 (solver 4) rdma", "solver 4" },
		{ "[1.5] ib_core: process 'solver5' killed", "solver5" },
		{ "[1.5] INFO: task solver6:42 blocked for more than 120 seconds.", "solver6" },
		{ "[1.5] rxe0: rkey 0x1234abcd of qp#17", "1234abcd" },
		{ "[1.5] siw: STag=deadbe01", "deadbe01" },
		{ "[1.5] solver6 again", "solver6" },
		{ "[1.5] traps: solver7[42] general protection ip:0 in librdmacm.so", "solver7" },
		{ "[1.5] id_ext 0c42a1030009cafe sgid fe80:0000:0000:0000:0c42:a103:0009:cafe",
		  "0c42a1030009cafe" },
		{ "[1.5] iser: target iqn.2003-01.org.example.storage1:sn.99 rejected", "storage1" },
	};
	size_t i;
	char *out;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		out = redacted(lines[i][0]);
		if (!ok(!strstr(out, lines[i][1]), "'%s' is replaced", lines[i][0]))
			printf("# %s\n", out);
		free(out);
	}
	test_other("[1.5] mlx5_core 0000:3b:00.0: firmware 1[2]: key of 7, rkeys: 12");
}

/* What is known of one form of an address holds for the others. */
static void test_derived(void)
{
	static const char *const lines[][2] = {
		{ "0c:42:a1:01:02:03 = 0e42a1fffe010203", "0e42a1fffe010203" },
		{ "0c:42:a1:01:02:04 = 0x0c42a10300010204", "0c42a10300010204" },
		{ "fe80::e42:a1ff:fe01:205 is of 0c42a1010205", "0c42a1010205" },
		{ "dgid fe80:0000:0000:0000:0c42:a103:0009:beef guid 0c42a1030009beef",
		  "0c42a1030009beef" },
		{ "fe80000000000000:0c42a1030004abcd", "0c42a1030004abcd" },
	};
	size_t i;
	char *out;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		out = redacted(lines[i][0]);
		if (!ok(!strstr(out, lines[i][1]), "all of '%s' is replaced", lines[i][0]))
			printf("# %s\n", out);
		free(out);
	}
}

/* Anyone can give a process a name that occurs in every bundle. */
static void test_facts(void)
{
	static const char path[] = "/sys/class/infiniband/cloud_0/ports/1/rate: 100 node\n";
	static const char desc[] = "/sys/class/infiniband/cloud_0/node_desc: rack5 HCA-1\n"
				   "/sys/class/infiniband/cloud_0/node_guid: 0c42:a103:0004:abcd\n";
	size_t len;
	char *out;

	eadm_redactor_process(redactor, "0");
	eadm_redactor_process(redactor, "node");
	eadm_redactor_process(redactor, "cloud_0");
	eadm_redactor_host(redactor, "10.rack.example.com");
	eadm_redactor_facts(redactor, path, strlen(path), &out, &len);
	ok(!strcmp(out, path) && len == strlen(path), "paths and values remain");
	free(out);
	eadm_redactor_facts(redactor, desc, strlen(desc), &out, &len);
	ok(!strstr(out, "rack5") && !strstr(out, "abcd") &&
		   strstr(out, "/sys/class/infiniband/cloud_0/node_guid: "),
	   "except for addresses and for node_desc");
	free(out);
	out = redacted("at 0:10, 10 of 10 rows");
	ok(!strcmp(out, "at 0:10, 10 of 10 rows"), "numbers in a log are not names");
	free(out);
	out = redacted("10.rack.example.com");
	ok(!strncmp(out, "host-", 5), "but a host's name is one");
	free(out);
	eadm_redactor_host(redactor, "node9");
	out = redacted("from node9.corp.example: refused");
	ok(!strstr(out, "corp") && strstr(out, ": refused"), "nor does the domain remain");
	free(out);
}

/* More addresses than a table of fixed size has room for. */
static void test_many(void)
{
	char text[64], *out;
	unsigned int i;

	for (i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "0c:42:a1:%02x:%02x:%02x", i >> 16, i >> 8 & 255,
			 i & 255);
		free(redacted(text));
	}
	out = redacted("0x0c42a1004e1f");
	ok(!strstr(out, "4e1f"), "the last of 20,000 addresses is known");
	free(out);
}

/* Some 60 KB that could begin an address anywhere. */
static void test_long(void)
{
	clock_t begin = clock();
	size_t size = 60000, i;
	char *text = malloc(size + 1), *out;

	if (!text)
		abort();
	for (i = 0; i < size; i++)
		text[i] = i % 6 == 5 ? ':' : 'a';
	text[size] = '\0';
	out = redacted(text);
	ok(strlen(out) == size && clock() - begin < 2 * CLOCKS_PER_SEC,
	   "a long text takes %.2f s of CPU", (double)(clock() - begin) / CLOCKS_PER_SEC);
	free(out);
	free(text);
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
	test_log();
	test_derived();
	test_facts();
	test_many();
	test_long();
	eadm_redactor_close(redactor);
	eadm_free(ctx);
	return done();
}
