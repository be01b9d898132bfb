// SPDX-License-Identifier: LGPL-2.1-or-later
/* GIDs of a device, from sysfs. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/root.h"
#include "devlist.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/generated/fields.h"

/* The maximum that the specification allows. */
#define MAX_GIDS 2048
#define MAX_GID_INDEX 1024
#define GID_TEXT 40

/* The next valid GID of a port from @index on; false at the end of its table. */
static bool next_gid(struct eadm_ctx *ctx, const char *device, uint32_t port,
		     uint32_t *index, char text[GID_TEXT], struct in6_addr *gid)
{
	for (; *index < MAX_GID_INDEX; ++*index) {
		if (!eadm_root_line(ctx, text, GID_TEXT,
				    "/sys/class/infiniband/%.64s/ports/%u/gids/%u",
				    device, port, *index))
			return false;
		if (text[strspn(text, "0:")] && inet_pton(AF_INET6, text, gid) == 1)
			return true;
	}
	return false;
}

/* All of port 1, written as IPv6 addresses. */
void eadm_local_gid_words(struct eadm_answer *answer,
			  const struct eadm_device *dev)
{
	char all[MAX_GIDS] = "", one[INET6_ADDRSTRLEN + 8], text[GID_TEXT];
	struct in6_addr gid;
	uint32_t i;
	int len;

	for (i = 0; next_gid(answer->ctx, dev->name, 1, &i, text, &gid); i++) {
		len = snprintf(one, sizeof(one), "%u=", i);
		inet_ntop(AF_INET6, &gid, one + len, sizeof(one) - len);
		eadm_local_add_word(all, sizeof(all), one, strlen(one));
	}
	if (i)
		eadm_local_put(answer, EADM_A_DEV_GIDS, all);
}

/* The first one of port 1, as sysfs writes it. */
void eadm_local_first_gid(struct eadm_answer *answer,
			  const struct eadm_device *dev)
{
	char text[GID_TEXT];
	struct in6_addr gid;
	uint32_t i = 0;
	bool found = next_gid(answer->ctx, dev->name, 1, &i, text, &gid);

	eadm_local_put(answer, EADM_A_SETUP_GID, found ? text : "");
	if (!found)
		return;
	eadm_message_put_u32(&answer->out, EADM_A_SETUP_GID_INDEX, i);
	if (eadm_root_line(answer->ctx, text, sizeof(text),
			   "/sys/class/infiniband/%.64s/ports/1/gid_attrs/ndevs/%u",
			   dev->name, i))
		eadm_local_put(answer, EADM_A_SETUP_GID_NETDEV, text);
}

/* The kernel refuses to read the files of entries without a GID. */
static void put_gid_row(struct eadm_answer *answer, const struct eadm_device *dev,
			uint32_t port, uint32_t index, const struct in6_addr *gid)
{
	static const struct {
		const char *file;
		uint16_t attr;
	} files[] = {
		{ "types", EADM_A_GID_TYPE }, { "ndevs", EADM_A_GID_NETDEV },
	};
	size_t at = eadm_answer_row(answer, dev), i;
	char text[32];

	eadm_message_put_u32(&answer->out, EADM_A_GID_PORT, port);
	eadm_message_put_u32(&answer->out, EADM_A_GID_GID_INDEX, index);
	eadm_message_put(&answer->out, EADM_A_GID_GID, gid, sizeof(*gid));
	for (i = 0; i < EADM_ARRAY_SIZE(files); i++)
		if (eadm_root_line(answer->ctx, text, sizeof(text),
				   "/sys/class/infiniband/%.64s/ports/%u/gid_attrs/%s/%u",
				   dev->name, port, files[i].file, index))
			eadm_local_put(answer, files[i].attr, text);
	eadm_message_end(&answer->out, at);
}

static bool has_gids(struct eadm_ctx *ctx, const char *device, uint32_t port)
{
	char text[GID_TEXT];

	return eadm_root_line(ctx, text, sizeof(text),
			      "/sys/class/infiniband/%.64s/ports/%u/gids/0",
			      device, port);
}

void eadm_local_gids(struct eadm_answer *answer, const struct eadm_query *query)
{
	const struct eadm_device *dev = eadm_local_device_of(answer, query);
	char text[GID_TEXT];
	struct in6_addr gid;
	uint32_t port, i;

	for (port = 1; dev && has_gids(answer->ctx, dev->name, port); port++)
		for (i = 0; next_gid(answer->ctx, dev->name, port, &i, text,
			       &gid); i++)
			put_gid_row(answer, dev, port, i, &gid);
}

