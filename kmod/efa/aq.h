/* SPDX-License-Identifier: GPL-2.0-only */
/* The admin queue and the commands. */
#ifndef EFA_AQ_H
#define EFA_AQ_H

#include <linux/bitmap.h>
#include <linux/workqueue.h>

#include "../core/issue.h"
#include "efa_hw.h"
#include "mem.h"

struct efa_ah;
struct efa_cq;
struct efa_ctx;
struct efa_dev;
struct efa_eq;
struct efa_mr;
struct eadm_pd;
struct efa_qp;

/* The slot in a command id; the rest distinguishes uses of the slot. */
#define EFA_AQ_ID_SLOT		GENMASK(4, 0)
#define EFA_AQ_ID_USE		GENMASK(11, 5)

/**
 * struct efa_cmd - one command, on the stack of its issuer
 * @base: common part of all families
 * @req: request, copied into the ring as a whole
 * @resp: response, valid if the command completed
 * @list: memory that the command refers to; if the command is lost or ended by a reset, the admin
 *	queue takes ownership and sets this to NULL
 * @mem: memory of the object that the command creates or destroys; if the command is lost, the late
 *	completion can release this memory
 * @creates: the command creates the object
 * @orphan: with @mem, a record for the case that the command is lost; NULL afterwards
 */
struct efa_cmd {
	struct eadm_cmd base;
	union {
		struct efa_aq_hdr hdr;
		struct efa_aqe raw;
		struct efa_cmd_number number;
		struct efa_cmd_create_qp create_qp;
		struct efa_cmd_modify_qp modify_qp;
		struct efa_cmd_qp qp;
		struct efa_cmd_create_ah create_ah;
		struct efa_cmd_destroy_ah destroy_ah;
		struct efa_cmd_reg_mr reg_mr;
		struct efa_cmd_dereg_mr dereg_mr;
		struct efa_cmd_create_cq create_cq;
		struct efa_cmd_create_eq create_eq;
		struct efa_cmd_get_stats get_stats;
		struct efa_cmd_get_feature get_feature;
		struct efa_cmd_set_feature set_feature;
	} req;
	union {
		struct efa_acq_hdr hdr;
		struct efa_acqe raw;
		struct efa_resp_number number;
		struct efa_resp_create_qp create_qp;
		struct efa_resp_query_qp query_qp;
		struct efa_resp_reg_mr reg_mr;
		struct efa_resp_create_cq create_cq;
		struct efa_resp_get_stats get_stats;
	} resp;
	struct efa_list *list;
	struct efa_mem *mem;
	bool creates;
	struct efa_orphan *orphan;
};

static_assert(sizeof_field(struct efa_cmd, req) == EFA_AQE_SIZE);
static_assert(sizeof_field(struct efa_cmd, resp) == EFA_AQE_SIZE);

/**
 * struct efa_aq_slot - slot of a command ID
 * @base: common part of all families; a slot with a lost command is not reused
 * @id: command ID
 * @use: use count of the slot
 * @index: index of the command in the command ring, free-running
 * @list: memory that a lost command refers to
 * @orphan: record of the memory of a lost command's object, referenced, or NULL
 * @creates: the lost command creates that object
 */
struct efa_aq_slot {
	struct eadm_slot base;
	u16 id;
	u8 use;
	u32 index;
	struct efa_list *list;
	struct efa_orphan *orphan;
	bool creates;
};

/**
 * struct efa_aq - the admin queue; all members except @spare under the adapter's lock
 * @sq: command ring
 * @cq: completion ring
 * @pi: commands submitted since the last reset
 * @ci: completions consumed since then
 * @read: the adapter has read all commands before this index, because the command preceding it has
 *	completed
 * @used: slots with a command
 * @slots: the command slots
 * @parked: lists of lost commands that a reset ended before it was confirmed
 * @done: lists that are no longer read
 * @free_done: work that frees @done, and memory released by late completions
 * @spare: a record that the last command with memory did not need, or NULL; accessed by atomic
 *	exchange, without the lock held
 */
struct efa_aq {
	struct eadm_ring sq;
	struct eadm_ring cq;
	u32 pi;
	u32 ci;
	u32 read;
	DECLARE_BITMAP(used, EFA_AQ_DEPTH);
	struct efa_aq_slot slots[EFA_AQ_DEPTH];
	struct list_head parked;
	struct list_head done;
	struct work_struct free_done;
	struct efa_orphan *spare;
};

extern const struct eadm_queue_ops efa_queue_ops;

int efa_aq_init(struct eadm_adapter *ad);
void efa_aq_free(struct eadm_adapter *ad);
void efa_aq_lists_free(struct efa_dev *dev);
void efa_aq_interrupt(struct efa_dev *dev);
int efa_aq_exec(struct efa_dev *dev, struct efa_cmd *cmd);

/* Features (feature.c) */
int efa_read_features(struct efa_dev *dev);
int efa_enable_events(struct efa_dev *dev);
void efa_tell_host_info(struct efa_dev *dev);
int efa_cmd_probe(struct eadm_adapter *ad);

/* Objects (cmd.c) */
int efa_cmd_create_eq(struct efa_dev *dev, struct efa_eq *eq);
int efa_cmd_destroy_eq(struct efa_dev *dev, const struct efa_eq *eq);
int efa_cmd_alloc_uar(struct efa_dev *dev, struct efa_ctx *ctx, u32 *epoch);
int efa_cmd_dealloc_uar(struct efa_dev *dev, const struct efa_ctx *ctx);
int efa_cmd_alloc_pd(struct efa_dev *dev, struct eadm_pd *pd);
int efa_cmd_dealloc_pd(struct efa_dev *dev, const struct eadm_pd *pd);
int efa_cmd_create_ah(struct efa_dev *dev, struct eadm_pd *pd, const u8 gid[16], u16 *ahn);
int efa_cmd_destroy_ah(struct efa_dev *dev, const struct eadm_pd *pd, u16 ahn);
int efa_cmd_create_cq(struct efa_dev *dev, struct efa_cq *cq, bool *done);
int efa_cmd_destroy_cq(struct efa_dev *dev, struct efa_cq *cq);
int efa_cmd_create_qp(struct efa_dev *dev, struct efa_qp *qp, bool *done);
int efa_cmd_destroy_qp(struct efa_dev *dev, struct efa_qp *qp);
int efa_cmd_modify_qp(struct efa_dev *dev, const struct efa_qp *qp,
		      struct efa_cmd_modify_qp *req);
int efa_cmd_query_qp(struct efa_dev *dev, const struct efa_qp *qp,
		     struct efa_resp_query_qp *resp);
int efa_cmd_reg_mr(struct efa_dev *dev, struct efa_mr *mr, struct efa_list **list,
		   bool *done);
int efa_cmd_dereg_mr(struct efa_dev *dev, struct efa_mr *mr);
int efa_cmd_get_stats(struct eadm_adapter *ad, void *answer);

#endif /* EFA_AQ_H */
