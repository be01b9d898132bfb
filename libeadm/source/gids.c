// SPDX-License-Identifier: LGPL-2.1-or-later
/* GIDs of a device, from sysfs. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/root.h"
#include "devlist.h"
#include "eadm_nl.h"
#include "gids.h"
#include "grow.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

/* Maximum lengths of the fields gids and gid-others in spec/eadm.yaml. */
#define MAX_GIDS 2048
#define MAX_OTHERS 512
#define MAX_GID_INDEX 1024
#define GID_TEXT 40

/* ---- reading --------------------------------------------------------------------- */

/* The kernel rejects reads of the files of entries without a GID. */
static void read_attributes(struct eadm_ctx *ctx, const char *device,
			    uint32_t port, struct eadm_gid *gid)
{
	static const char path[] =
		"/sys/class/infiniband/%.64s/ports/%u/gid_attrs/%s/%u";

	if (!eadm_root_line(ctx, gid->type, sizeof(gid->type), path, device,
			    port, "types", gid->index))
		*gid->type = '\0';
	if (!eadm_root_line(ctx, gid->netdev, sizeof(gid->netdev), path, device,
			    port, "ndevs", gid->index))
		*gid->netdev = '\0';
}

bool eadm_local_is_roce(struct eadm_ctx *ctx, const char *device, uint32_t port)
{
	char layer[16], node[16];

	return eadm_root_line(ctx, layer, sizeof(layer),
			      "/sys/class/infiniband/%.64s/ports/%u/link_layer",
			      device, port) &&
	       eadm_root_line(ctx, node, sizeof(node),
			      "/sys/class/infiniband/%.64s/node_type", device) &&
	       !strcmp(layer, "Ethernet") && !strcmp(node, "1: CA");
}

static void judge(const struct eadm_ctx *ctx, struct eadm_gids *gids)
{
	struct ifaddrs *all = NULL;

	if (gids->n)
		all = eadm_local_interfaces(ctx);
	eadm_gids_judge(gids, all);
	if (all)
		freeifaddrs(all);
}

/* Returns false if the entry has no GID. */
static bool read_entry(struct eadm_ctx *ctx, const char *device, uint32_t port,
		       const char *text, struct eadm_gid *gid)
{
	if (!text[strspn(text, "0:")] ||
	    inet_pton(AF_INET6, text, &gid->gid) != 1)
		return false;
	read_attributes(ctx, device, port, gid);
	return true;
}

/*
 * Returns EADM_GID_USE_* for one entry of port 1, as if it were the only entry;
 * negative if the entry has no GID.
 */
int eadm_local_gid_use(struct eadm_ctx *ctx, const char *device, uint32_t index)
{
	struct eadm_gid gid = { .index = index };
	struct eadm_gids gids = { .gid = &gid, .n = 1, .roce = true };
	char text[GID_TEXT];

	if (!eadm_root_line(ctx, text, sizeof(text),
			    "/sys/class/infiniband/%.64s/ports/1/gids/%u",
			    device, index) ||
	    !read_entry(ctx, device, 1, text, &gid))
		return -1;
	judge(ctx, &gids);
	return gid.usable;
}

/*
 * Reads the valid GIDs of a port, which the caller must free. Returns false if there is
 * no such port. GIDs are left out if memory is exhausted.
 */
static bool read_port(struct eadm_ctx *ctx, const char *device, uint32_t port,
		      struct eadm_gids *gids)
{
	struct eadm_gid gid;
	char text[GID_TEXT];
	uint32_t i;

	*gids = (struct eadm_gids){ .roce = eadm_local_is_roce(ctx, device, port) };
	for (i = 0; i < MAX_GID_INDEX &&
		    eadm_root_line(ctx, text, sizeof(text),
				   "/sys/class/infiniband/%.64s/ports/%u/gids/%u",
				   device, port, i); i++) {
		gid = (struct eadm_gid){ .index = i };
		if (!read_entry(ctx, device, port, text, &gid))
			continue;
		if (!grow(gids->gid, gids->n, gids->max))
			break;
		gids->gid[gids->n++] = gid;
	}
	judge(ctx, gids);
	return i;
}

/* ---- the GID to use, and unusable GIDs -------------------------------------------- */

/* Returns the GID to use or else the first GID; NULL if there is none. */
static const struct eadm_gid *choose(const struct eadm_gids *gids)
{
	size_t i;

	for (i = 0; i < gids->n; i++) {
		if (gids->gid[i].usable == EADM_GID_USE_BEST)
			return &gids->gid[i];
	}
	return gids->n ? gids->gid : NULL;
}

/* Puts the other GIDs and their use, as in "0=same-link 1=roce-v1". */
static void put_others(struct eadm_answer *answer, uint16_t attr,
		       const struct eadm_gids *gids,
		       const struct eadm_gid *but)
{
	const struct eadm_field *field =
		eadm_object_find_field(eadm_object_find("gid"), "usable");
	char all[MAX_OTHERS] = "", one[32];
	const struct eadm_gid *gid;

	for (gid = gids->gid; gid < gids->gid + gids->n; gid++) {
		snprintf(one, sizeof(one), "%u=%s", gid->index,
			 eadm_field_value_name(field, gid->usable));
		if (gid != but)
			eadm_local_add_word(all, sizeof(all), one, strlen(one));
	}
	eadm_local_put(answer, attr, all);
}

/* Put all GIDs of port 1, written as IPv6 addresses, and the GID to use. */
void eadm_local_gid_words(struct eadm_answer *answer,
			  const struct eadm_device *dev)
{
	char all[MAX_GIDS] = "", one[INET6_ADDRSTRLEN + 8];
	const struct eadm_gid *best = NULL;
	struct eadm_gids gids;
	size_t i;
	int len;

	if (!read_port(answer->ctx, dev->name, 1, &gids))
		return;
	for (i = 0; i < gids.n; i++) {
		len = snprintf(one, sizeof(one), "%u=", gids.gid[i].index);
		inet_ntop(AF_INET6, &gids.gid[i].gid, one + len,
			  sizeof(one) - len);
		eadm_local_add_word(all, sizeof(all), one, strlen(one));
		if (gids.gid[i].usable == EADM_GID_USE_BEST)
			best = &gids.gid[i];
	}
	eadm_local_put(answer, EADM_A_DEV_GIDS, all);
	put_others(answer, EADM_A_DEV_GID_OTHERS, &gids, best);
	if (best)
		eadm_message_put_u32(&answer->out, EADM_A_DEV_GID_INDEX,
				     best->index);
	free(gids.gid);
}

/* Put the GID setup of port 1. */
void eadm_local_chosen_gid(struct eadm_answer *answer,
			   const struct eadm_device *dev)
{
	char text[INET6_ADDRSTRLEN] = "";
	const struct eadm_gid *gid;
	struct eadm_gids gids;

	read_port(answer->ctx, dev->name, 1, &gids);
	gid = choose(&gids);
	if (gid)
		inet_ntop(AF_INET6, &gid->gid, text, sizeof(text));
	eadm_local_put(answer, EADM_A_SETUP_GID, text);
	if (!gid)
		return;
	eadm_message_put_u32(&answer->out, EADM_A_SETUP_GID_INDEX, gid->index);
	if (*gid->netdev)
		eadm_local_put(answer, EADM_A_SETUP_GID_NETDEV, gid->netdev);
	if (*gid->type)
		eadm_local_put(answer, EADM_A_SETUP_GID_TYPE, gid->type);
	if (gids.roce)
		eadm_message_put_u32(&answer->out, EADM_A_SETUP_GID_SCOPE,
				     gid->scope);
	eadm_message_put_u32(&answer->out, EADM_A_SETUP_GID_USABLE, gid->usable);
	put_others(answer, EADM_A_SETUP_GID_OTHERS, &gids, gid);
	free(gids.gid);
}

/* ---- rows ------------------------------------------------------------------------ */

static void put_gid_row(struct eadm_answer *answer, const struct eadm_device *dev,
			uint32_t port, const struct eadm_gids *gids,
			const struct eadm_gid *gid)
{
	size_t at = eadm_answer_row(answer, dev);

	eadm_message_put_u32(&answer->out, EADM_A_GID_PORT, port);
	eadm_message_put_u32(&answer->out, EADM_A_GID_GID_INDEX, gid->index);
	eadm_message_put(&answer->out, EADM_A_GID_GID, &gid->gid,
			 sizeof(gid->gid));
	if (*gid->type)
		eadm_local_put(answer, EADM_A_GID_TYPE, gid->type);
	if (*gid->netdev) {
		eadm_local_put(answer, EADM_A_GID_NETDEV, gid->netdev);
		eadm_message_put_u32(&answer->out, EADM_A_GID_NAMESPACE,
				     gid->namespace);
	}
	if (gids->roce)
		eadm_message_put_u32(&answer->out, EADM_A_GID_SCOPE, gid->scope);
	eadm_message_put_u32(&answer->out, EADM_A_GID_USABLE, gid->usable);
	eadm_message_end(&answer->out, at);
}

void eadm_local_gids(struct eadm_answer *answer, const struct eadm_query *query)
{
	const struct eadm_device *dev = eadm_local_device_of(answer, query);
	struct eadm_gids gids;
	uint32_t port;
	size_t i;

	for (port = 1; dev && read_port(answer->ctx, dev->name, port, &gids);
	     port++) {
		for (i = 0; i < gids.n; i++)
			put_gid_row(answer, dev, port, &gids, &gids.gid[i]);
		free(gids.gid);
	}
}
