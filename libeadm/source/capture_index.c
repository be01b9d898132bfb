// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The index of a capture. Creating it reads only the requests; responses are read on
 * demand, so that memory use does not depend on their length.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture_index.h"
#include "grow.h"
#include "message.h"
#include "model/attr.h"
#include "swap.h"

#define SKIP_WINDOW	4096	/* while responses of a large capture are skipped */
#define MAX_REQUESTS	1000000

static bool has_place(const struct pcapng_buf *buf, uint64_t pos)
{
	return pos >= buf->at && pos - buf->at < buf->len;
}

/* Lend a buffer, if possible one that already contains the reader's position. */
void eadm_capture_index_lend(struct eadm_capture_index *index,
			     struct pcapng *in, const struct pcapng_state *st,
			     size_t window)
{
	unsigned int i = 0;

	eadm_pcapng_init(in, index->fd, index->size, st, window);
	if (!index->n_bufs)
		return;
	while (i + 1 < index->n_bufs && !has_place(&index->buf[i], in->st.pos))
		i++;
	in->buf = index->buf[i];
	index->buf[i] = index->buf[--index->n_bufs];
}

void eadm_capture_index_return(struct eadm_capture_index *index,
			       struct pcapng *in)
{
	if (!in->buf.len || index->n_bufs == EADM_CAPTURE_BUFFERS)
		eadm_pcapng_release(in);
	else
		index->buf[index->n_bufs++] = in->buf;
}

static int begin_snapshot(struct eadm_capture_index *index, unsigned int number)
{

	if (number >= MAX_REQUESTS)
		return -EFBIG;
	if (!grow(index->snapshots, number, index->max_snapshots))
		return -ENOMEM;
	index->snapshots[number] = (struct eadm_recorded_snapshot){ .first = index->n_requests };
	index->n_snapshots = number;
	return 0;
}

/* Keep a copy of the attributes; a malformed request matches nothing. */
static void add_args(struct eadm_capture_index *index, struct eadm_recorded *req,
		     struct eadm_attrs attrs)
{
	struct eadm_attrs all = attrs;
	const struct nlattr *attr;
	int ret;

	while ((ret = eadm_attr_next(&attrs, &attr)) > 0)
		req->n_args += req->n_args < UINT8_MAX;
	if (ret || req->n_args > EADM_MAX_ARGS) {
		req->type = 0;
		return;
	}
	req->args = index->args.len;
	req->args_len = all.left;
	eadm_bytes_put(&index->args, all.pos, all.left);
	eadm_message_align(&index->args, req->args);
}

static int add_request(struct eadm_capture_index *index, const struct pcapng *in,
		       const struct pcapng_item *item)
{
	_Alignas(8) unsigned char buf[EADM_REQUEST_MAX];
	const struct nlmsghdr *nlh = (const void *)buf;
	struct eadm_recorded *req;
	size_t hdr = 0, n = item->there;

	if (n < NLMSG_HDRLEN)
		return 0;
	if (n > sizeof(buf))
		n = sizeof(buf);
	memset(buf, 0, sizeof(buf));
	memcpy(buf, item->data, n);
	if (eadm_swap_needed(buf, item->len))
		eadm_swap(item->proto, buf, n);
	if (!(nlh->nlmsg_flags & NLM_F_REQUEST) ||
	    nlh->nlmsg_type < NLMSG_MIN_TYPE || nlh->nlmsg_len > n)
		return 0;
	if (index->n_requests >= MAX_REQUESTS)
		return -EFBIG;
	if (!grow(index->requests, index->n_requests, index->max_requests))
		return -ENOMEM;
	if (!index->snapshots[index->n_snapshots].time)
		index->snapshots[index->n_snapshots].time = item->time;
	req = &index->requests[index->n_requests++];
	*req = (struct eadm_recorded){
		.after = in->st,
		.snapshot = index->n_snapshots,
		.seq = nlh->nlmsg_seq,
		.proto = item->proto,
		.type = nlh->nlmsg_type,
		.dump = (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP,
	};
	if (item->proto != NETLINK_RDMA) {
		req->cmd = buf[NLMSG_HDRLEN];
		hdr = GENL_HDRLEN;
	}
	index->asks_early |= !req->snapshot && req->proto != EADM_LOCAL_PROTO;
	add_args(index, req, eadm_attr_msg(nlh, hdr));
	return index->args.fail ? -ENOMEM : 0;
}

static int make_index(struct eadm_ctx *ctx, struct eadm_capture_index *index)
{
	struct pcapng_item item;
	struct pcapng in;
	int ret;

	ret = begin_snapshot(index, 0);
	if (ret)
		return eadm_oom(ctx);
	eadm_capture_index_lend(index, &in, NULL,
				index->size > EADM_CAPTURE_BUFFER ?
					SKIP_WINDOW : index->size);
	while ((ret = eadm_pcapng_next(&in, EADM_REQUEST_MAX, &item)) > 0) {
		if (item.what == PCAPNG_IS_SNAPSHOT)
			ret = begin_snapshot(index, index->n_snapshots + 1);
		else
			ret = add_request(index, &in, &item);
		if (ret)
			break;
	}
	/* The data before the damage is still valid. */
	if (ret == -EBADMSG && index->n_requests) {
		snprintf(index->broken, sizeof(index->broken), "%s", in.err);
		ret = 0;
	}
	if (ret == -EFBIG)
		eadm_fail(ctx, ret, "too many sections in the capture");
	else if (ret == -ENOMEM)
		eadm_oom(ctx);
	else if (ret < 0)
		eadm_fail(ctx, ret, "%s", in.err);
	else if (!index->n_requests)
		ret = eadm_fail(ctx, -EBADMSG, "the capture contains no requests");
	eadm_capture_index_return(index, &in);
	return ret < 0 ? ret : 0;
}

void eadm_capture_index_put(struct eadm_capture_index *index)
{
	if (--index->users)
		return;
	while (index->n_bufs)
		free(index->buf[--index->n_bufs].p);
	free(index->args.p);
	free(index->requests);
	free(index->snapshots);
	close(index->fd);
	free(index);
}

/* @fd: a seekable capture; closed with the index, or immediately on failure. */
int eadm_capture_index_open(struct eadm_ctx *ctx, int fd,
			    struct eadm_capture_index **out)
{
	struct eadm_capture_index *index = calloc(1, sizeof(*index));
	struct stat st;
	int ret;

	if (!index) {
		close(fd);
		return eadm_oom(ctx);
	}
	index->users = 1;
	index->fd = fd;
	ret = fstat(fd, &st) ? eadm_fail(ctx, -errno, "%s", strerror(errno)) : 0;
	if (!ret) {
		index->size = st.st_size;
		ret = make_index(ctx, index);
	}
	if (ret) {
		eadm_capture_index_put(index);
		return ret;
	}
	/* Requests in a capture made by a different program belong to no snapshot. */
	if (index->n_snapshots && index->asks_early)
		eadm_log(ctx, EADM_LOG_WARNING, "requests before the first snapshot are ignored");
	*out = index;
	return 0;
}
