/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of an adapter: snapshots of its objects. */
#ifndef CONTROL_ROWS_H
#define CONTROL_ROWS_H

/* This header comes first, because the files below use kernel types from it. */
#include "hw_user.h"

#include <libmnl/libmnl.h>

#include "eadm_nl.h"
#include "eadm_table.h"
#include "function.h"
#include "pvrdma_snap.h"

#define RIGHT(perm) (1u << (perm))

struct control;

struct device {
	struct control *control;
	struct model *m;
	const char *name;
	uint32_t index;
	uint64_t born;
};

struct row_request {
	bool hw;
	/*
	 * For commands: only those that are in one of these states and took at least
	 * this long.
	 */
	uint32_t among;
	uint64_t least;
};

/* Sets a field and its presence mark. */
#define SNAP_SET(snap, field, value)			\
	do {						\
		(snap)->field = (value);		\
		(snap)->has.field = 1;			\
	} while (0)

#define SNAP_STR(snap, field, text)						\
	do {									\
		snprintf((snap)->field, sizeof((snap)->field), "%s", (text));	\
		(snap)->has.field = 1;						\
	} while (0)

#define SNAP_BIN(snap, field, bytes, size)		\
	do {						\
		memcpy((snap)->field, (bytes), (size));	\
		(snap)->field##_len = (size);		\
		(snap)->has.field = 1;			\
	} while (0)

/* Ages of events that never happened are absent. */
#define SNAP_AGE(snap, field, at)					\
	do {								\
		if (at)							\
			SNAP_SET(snap, field, journal_now() - (at));	\
	} while (0)

/*
 * Finds the first row from *@pos on, which is updated, and fills in the zeroed snapshots
 * of the object and of its family-specific fields. Returns false if there is none.
 */
typedef bool rows_next(const struct device *dev, const struct row_request *req, uint64_t *pos,
		       void *snap, void *own);

struct rows {
	rows_next *next;
	/*
	 * Returns the position of the row with this key. If NULL, the key is the
	 * position.
	 */
	uint64_t (*find)(const struct device *dev, uint64_t key);
};

/* Indexed by EADM_OBJ_*; if next() is NULL, the adapter has no such objects. */
extern const struct rows rows_of[EADM_OBJ_COUNT];

rows_next row_dev, row_qp, row_cq, row_eq, row_cmdq, row_mr, row_pd, row_ctx, row_uar, row_srq;
rows_next row_counters, row_cmd, row_failure, row_failure_total;
uint64_t find_qp(const struct device *dev, uint64_t qpn);

/* Converts a time of the journal to wall-clock time. */
uint64_t rows_wall(uint64_t at);

/* ---- put.c */
/*
 * Writes the device and the snapshot after @nlh, in a buffer of @room bytes. @rights:
 * RIGHT() of the reader; @only: a bit for each requested attribute, or 0.
 */
bool put_row(struct nlmsghdr *nlh, size_t room, const struct device *dev, unsigned int object,
	     void *snap, unsigned int rights, bool hw, uint64_t only);
size_t put_room(unsigned int object);
void *put_own(unsigned int object, void *snap);

/* ---- ring.c */
struct ring_view {
	uint32_t kind, id;
	uint32_t depth, stride;
	/* Indices are missing only if the guest has written invalid ones. */
	bool has_pi, has_ci, user;
	uint32_t pi, ci;
	/*
	 * Ring of a queue, or NULL for a ring of the device, whose entries are at @bytes.
	 */
	const struct ring *ring;
	const unsigned char *bytes;
};

/* Returns -ENOENT if there is no such queue, -EOPNOTSUPP if there is no such kind. */
int ring_find(const struct device *dev, uint32_t kind, uint32_t id, struct ring_view *view);
void ring_copy(const struct ring_view *view, uint32_t first, uint32_t count, void *to);

#endif /* CONTROL_ROWS_H */
