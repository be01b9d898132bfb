/* SPDX-License-Identifier: GPL-2.0-only */
/* The command queue and the commands. */
#ifndef ERDMA_CMDQ_H
#define ERDMA_CMDQ_H

#include "../core/issue.h"
#include "erdma_hw.h"
#include "mem.h"

struct erdma_cq;
struct erdma_ctx;
struct erdma_dev;
struct erdma_eq;
struct erdma_mr;
struct erdma_qp;
struct erdma_rts;

#define ERDMA_CMD_RESPONSE	2	/* qwords of a response (hw 3.4) */
#define ERDMA_CMD_SLOT_SIZE	(ERDMA_CMDQ_SLOT_WQEBB * ERDMA_WQEBB_SIZE)

/**
 * struct erdma_cmd - one command, on the stack of its issuer
 * @base: common part of all families; the operation is sub-module * 256 + opcode
 * @req: request, copied into the ring as a whole
 * @resp: response qwords
 * @buf: response buffer; if the command is lost or ended by a reset, the command queue takes
 *	ownership and sets this to NULL
 * @buf_dma: DMA address of @buf
 */
struct erdma_cmd {
	struct eadm_cmd base;
	union {
		__le64 hdr;
		struct erdma_cmd_create_eq create_eq;
		struct erdma_cmd_destroy_eq destroy_eq;
		struct erdma_cmd_conf_device conf_device;
		struct erdma_cmd_conf_mtu conf_mtu;
		struct erdma_cmd_create_cq create_cq;
		struct erdma_cmd_destroy_cq destroy_cq;
		struct erdma_cmd_create_qp create_qp;
		struct erdma_cmd_destroy_qp destroy_qp;
		struct erdma_cmd_modify_qp modify_qp;
		struct erdma_cmd_reg_mr reg_mr;
		struct erdma_cmd_dereg_mr dereg_mr;
		struct erdma_cmd_reflush reflush;
		struct erdma_cmd_db db;
		struct erdma_cmd_set_retrans_num set_retrans_num;
		struct erdma_cmd_set_ext_attr set_ext_attr;
		struct erdma_cmd_query query;
		u8 raw[ERDMA_CMD_SLOT_SIZE];
	} req;
	u64 resp[ERDMA_CMD_RESPONSE];
	void *buf;
	dma_addr_t buf_dma;
};

/**
 * struct erdma_cmdq_slot - one slot of the command ring; its number is the cookie
 * @base: common part of all families; while the slot has a lost command, only commands without an
 *	issuer use it
 * @index: first building block, free-running, 16 bits
 * @pending: number of completions that may still arrive
 * @filler: the newest pending command is a filler, neither completed nor abandoned
 * @lost_seq: sequence number of the lost command
 * @lost_buf: response buffer that the adapter may still write to
 * @lost_buf_dma: DMA address of @lost_buf
 */
struct erdma_cmdq_slot {
	struct eadm_slot base;
	u16 index;
	u32 pending;
	bool filler;
	u64 lost_seq;
	void *lost_buf;
	dma_addr_t lost_buf_dma;
};

/**
 * struct erdma_cmdq - the command queue; all members under the adapter's lock
 * @sq: command ring
 * @cq: completion ring
 * @sq_rec: doorbell record of the command ring
 * @cq_rec: doorbell record of the completion ring
 * @sq_pi: producer index in building blocks, free-running, 16 bits
 * @sq_ci: building blocks before this one no longer have a waiter
 * @answered: first building block of the newest completed command
 * @cq_ci: consumer index of the completion ring
 * @cmdsn: command events seen
 * @armed: an event was requested and has not arrived yet
 * @missed_events: completions found by polling, without an event
 * @last_missed: local_clock() when @missed_events last increased, 0 = never
 * @slots: the command slots
 * @parked: response buffers of commands that a reset ended before it was confirmed
 * @nr_parked: number of @parked
 */
struct erdma_cmdq {
	struct eadm_ring sq;
	struct eadm_ring cq;
	struct erdma_dbrec sq_rec;
	struct erdma_dbrec cq_rec;
	u16 sq_pi;
	u16 sq_ci;
	u16 answered;
	u32 cq_ci;
	u32 cmdsn;
	bool armed;
	u64 missed_events;
	u64 last_missed;
	struct erdma_cmdq_slot slots[ERDMA_CMDQ_MAX_OUTSTANDING];
	struct {
		void *va;
		dma_addr_t dma;
	} parked[ERDMA_CMDQ_MAX_OUTSTANDING];
	u32 nr_parked;
};

/* Default command timeout; can be changed (core/settings.c). */
#define ERDMA_CMD_TIMEOUT_MS	15000

extern const struct eadm_queue_ops erdma_queue_ops;

int erdma_cmdq_init(struct eadm_adapter *ad);
void erdma_cmdq_free(struct eadm_adapter *ad);
void erdma_cmdq_bufs_free(struct erdma_dev *dev);
void erdma_cmdq_watch(struct erdma_dev *dev);
void erdma_cmdq_event(struct eadm_adapter *ad);

int erdma_cmd_query_device(struct erdma_dev *dev, u64 caps[2]);
int erdma_cmd_query_fw(struct erdma_dev *dev, u64 *version);
int erdma_cmd_create_eq(struct erdma_dev *dev, const struct erdma_eq *eq);
int erdma_cmd_destroy_eq(struct erdma_dev *dev, const struct erdma_eq *eq);
int erdma_cmd_conf_device(struct erdma_dev *dev);
int erdma_cmd_conf_mtu(struct erdma_dev *dev, u32 mtu);
int erdma_cmd_set_retrans_num(struct erdma_dev *dev, u8 num);
int erdma_cmd_set_delayed_ack(struct erdma_dev *dev, u8 count);
int erdma_cmd_get_ext_attr(struct eadm_adapter *ad, void *answer);
int erdma_cmd_create_cq(struct erdma_dev *dev, const struct erdma_cq *cq, u32 epoch);
int erdma_cmd_destroy_cq(struct erdma_dev *dev, u32 cqn, u32 epoch);
int erdma_cmd_create_qp(struct erdma_dev *dev, const struct erdma_qp *qp, u32 *cookie);
int erdma_cmd_destroy_qp(struct erdma_dev *dev, const struct erdma_qp *qp);
int erdma_cmd_modify_qp(struct erdma_dev *dev, const struct erdma_qp *qp,
			enum erdma_qp_state state, const struct erdma_rts *rts);
int erdma_cmd_reflush(struct erdma_dev *dev, const struct erdma_qp *qp, u16 sq_pi, u16 rq_pi);
int erdma_cmd_reg_mr(struct erdma_dev *dev, const struct erdma_mr *mr);
int erdma_cmd_dereg_mr(struct erdma_dev *dev, u32 lkey, u32 epoch);
int erdma_cmd_alloc_db(struct erdma_dev *dev, struct erdma_ctx *ctx);
int erdma_cmd_free_db(struct erdma_dev *dev, const struct erdma_ctx *ctx);
int erdma_cmd_get_stats(struct eadm_adapter *ad, void *answer);
int erdma_cmd_query_qpc(struct erdma_dev *dev, u32 qpn, struct erdma_qpc *qpc, u8 *syndrome);
int erdma_cmd_query_cqc(struct erdma_dev *dev, u32 cqn, struct erdma_cqc *cqc, u8 *syndrome);
int erdma_cmd_query_eqc(struct erdma_dev *dev, u32 index, struct erdma_eqc *eqc);

#endif /* ERDMA_CMDQ_H */
