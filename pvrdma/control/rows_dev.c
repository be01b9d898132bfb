// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of the adapter as a whole. */
#include "rows.h"

#include <stdio.h>
#include <string.h>

#include "pvrdma_classes.h"

const struct rows rows_of[EADM_OBJ_COUNT] = {
	[EADM_OBJ_DEV] = { row_dev, NULL },
	[EADM_OBJ_QP] = { row_qp, find_qp },
	[EADM_OBJ_CQ] = { row_cq, NULL },
	[EADM_OBJ_EQ] = { row_eq, NULL },
	[EADM_OBJ_CMDQ] = { row_cmdq, NULL },
	[EADM_OBJ_MR] = { row_mr, NULL },
	[EADM_OBJ_PD] = { row_pd, NULL },
	[EADM_OBJ_CTX] = { row_ctx, NULL },
	[EADM_OBJ_COUNTERS] = { row_counters, NULL },
	[EADM_OBJ_CMD] = { row_cmd, NULL },
	[EADM_OBJ_FAILURE] = { row_failure, NULL },
	[EADM_OBJ_FAILURE_TOTAL] = { row_failure_total, NULL },
	[EADM_OBJ_UAR] = { row_uar, NULL },
	[EADM_OBJ_SRQ] = { row_srq, NULL },
};

static bool backend_is_gone(const struct model *m)
{
	return m->backend_gone || fault_on(m, FAULT_BACKEND_GONE);
}

static void put_faults(const struct model *m, struct eadm_snap_dev_pvrdma *own)
{
	size_t used = 0, size = sizeof(own->faults);
	unsigned int i;

	for (i = 0; i < FAULT_COUNT; i++) {
		if (!m->faults[i].count || used >= size)
			continue;
		used += (size_t)snprintf(own->faults + used, size - used, "%s%s",
					 used ? " " : "", fault_knobs[i].name);
		own->has.faults = 1;
	}
}

static void fill_session(const struct model *m, struct eadm_snap_dev *snap,
			 struct eadm_snap_dev_pvrdma *own)
{
	const struct journal *j = m->journal;
	struct vfio_stats stats;

	vfio_stats(m->vfio, &stats);
	SNAP_SET(snap, vmm_pid, stats.connected ? (uint32_t)stats.peer.pid : 0);
	if (stats.connected)
		SNAP_SET(snap, vmm_uid, stats.peer.uid);
	SNAP_SET(snap, sessions, stats.sessions);
	SNAP_SET(snap, lost_sessions, j->lost_sessions.n);
	SNAP_AGE(snap, last_lost_session_age, j->lost_sessions.at);
	SNAP_SET(snap, guest_memory, stats.memory);
	SNAP_SET(own, posted_writes, stats.posted[PVRDMA_REGS_BAR]);
	SNAP_SET(own, slow_replies, stats.slow);
	SNAP_SET(own, slowest_reply, stats.slowest_ns);
}

static void fill_shared_region(const struct model *m, struct eadm_snap_dev_pvrdma *own)
{
	if (!m->attached)
		return;
	SNAP_SET(own, driver_interface, m->driver_version);
	SNAP_SET(own, guest_os, m->guest_os);
	SNAP_SET(own, dsr_addr, m->dsr_address);
	SNAP_SET(own, cmd_slot_addr, m->cmd_address);
	SNAP_SET(own, resp_slot_addr, m->resp_address);
	SNAP_SET(own, uar_addr, m->uar_pfn << PVRDMA_PAGE_SHIFT);
}

/*
 * Sets the fields that every program that emulates an adapter has: its backend, and the
 * state of the guest.
 */
static void fill_sides(const struct model *m, struct eadm_snap_dev *snap)
{
	const struct journal *j = m->journal;

	SNAP_STR(snap, backend, m->ops->name);
	SNAP_SET(snap, backend_state, backend_is_gone(m) ? EADM_BACKEND_STATE_GONE :
							   EADM_BACKEND_STATE_WORKS);
	SNAP_SET(snap, guest_driver, m->active ? EADM_GUEST_DRIVER_ACTIVE :
				     m->attached ? EADM_GUEST_DRIVER_ATTACHED : EADM_GUEST_DRIVER_NONE);
	SNAP_SET(snap, pinned, m->registered);
	if (m->config.limits.memory)
		SNAP_SET(snap, max_pinned, m->config.limits.memory);
	SNAP_SET(snap, quota_refusals, j->quota.n);
	SNAP_AGE(snap, last_quota_refusal_age, j->quota.at);
}

static void fill_own(const struct model *m, struct eadm_snap_dev_pvrdma *own)
{
	unsigned int i, gids = 0;

	for (i = 0; i < GID_TABLE; i++)
		gids += m->bound[i];
	SNAP_SET(own, interface_version, m->config.version);
	SNAP_SET(own, roce, m->config.gid_type == IBV_GID_TYPE_ROCE_V1 ? 1 : 2);
	SNAP_SET(own, bound_gids, gids);
	SNAP_SET(own, interrupts_masked, !!m->imr);
	fill_shared_region(m, own);
	put_faults(m, own);
}

static void fill_limits(const struct model *m, struct eadm_snap_dev *snap)
{
	SNAP_SET(snap, max_qp, m->qps.size);
	SNAP_SET(snap, qps, m->qps.used);
	SNAP_SET(snap, max_cq, m->cqs.size);
	SNAP_SET(snap, cqs, m->cqs.used);
	SNAP_SET(snap, max_mr, m->caps.max_mr);
	SNAP_SET(snap, mrs, m->mrs.used);
	SNAP_SET(snap, max_srq, m->srqs.size);
	SNAP_SET(snap, srqs, m->srqs.used);
	SNAP_SET(snap, max_pd, m->caps.max_pd);
	SNAP_SET(snap, pds, m->pds.used);
	SNAP_SET(snap, max_ctx, MAX_UAR - 1);
	SNAP_SET(snap, ctxs, m->contexts.used);
	SNAP_SET(snap, max_mr_size, m->caps.max_mr_size);
	SNAP_SET(snap, max_send_wr, m->caps.max_qp_wr);
	SNAP_SET(snap, max_recv_wr, m->caps.max_qp_wr);
	SNAP_SET(snap, max_cqe, m->caps.max_cqe);
	SNAP_SET(snap, caps, pvrdma_dev_cap_class(m->caps.atomic_ops));
	SNAP_SET(snap, caps_raw, m->caps.atomic_ops);
}

bool row_dev(const struct device *dev, const struct row_request *req, uint64_t *pos, void *to,
	     void *own)
{
	struct model *m = dev->m;
	struct eadm_snap_dev *snap = to;
	struct ibv_port_attr port;
	uint64_t fw = m->caps.fw_ver;

	(void)req;
	if (*pos > dev->index)
		return false;
	*pos = dev->index;
	m->ops->port_query(m->port, &port);
	SNAP_STR(snap, driver, "eadm-pvrdma");
	SNAP_SET(snap, side, EADM_DEV_SIDE_PROGRAM);
	SNAP_SET(snap, state, fault_on(m, FAULT_DEV_GONE) ? EADM_DEV_STATE_GONE :
			      backend_is_gone(m) ? EADM_DEV_STATE_DEAD : EADM_DEV_STATE_READY);
	SNAP_SET(snap, vendor_id, m->caps.vendor_id);
	SNAP_SET(snap, part_id, m->caps.vendor_part_id);
	SNAP_SET(snap, hw_version, m->caps.hw_ver);
	snprintf(snap->fw_version, sizeof(snap->fw_version), "%u.%u.%u",
		 (unsigned int)(fw >> 32), (unsigned int)(fw >> 16 & 0xffff),
		 (unsigned int)(fw & 0xffff));
	snap->has.fw_version = 1;
	SNAP_BIN(snap, node_guid, &m->caps.node_guid, sizeof(snap->node_guid));
	if (m->config.mac[0] | m->config.mac[1] | m->config.mac[2] | m->config.mac[5])
		SNAP_BIN(snap, mac, m->config.mac, sizeof(snap->mac));
	SNAP_SET(snap, port_state, fault_on(m, FAULT_LINK_DOWN) ? EADM_PORT_STATE_DOWN :
								  port.state);
	SNAP_SET(snap, vectors, PVRDMA_MAX_VECTORS);
	SNAP_SET(snap, age, journal_now() - dev->born);
	fill_limits(m, snap);
	fill_sides(m, snap);
	fill_session(m, snap, own);
	fill_own(m, own);
	return true;
}

static void fill_command_counters(const struct journal *j, struct eadm_snap_counters *snap)
{
	SNAP_SET(snap, cmds_submitted, j->submitted);
	SNAP_SET(snap, cmds_completed, j->answered);
	SNAP_SET(snap, cmds_failed, j->errors);
	SNAP_SET(snap, cmds_timed_out, j->timeouts);
	SNAP_SET(snap, qp_creates, j->done[PVRDMA_CMD_CREATE_QP]);
	SNAP_SET(snap, qp_create_failures, j->refused[PVRDMA_CMD_CREATE_QP]);
	SNAP_SET(snap, qp_destroys, j->done[PVRDMA_CMD_DESTROY_QP]);
	SNAP_SET(snap, cq_creates, j->done[PVRDMA_CMD_CREATE_CQ]);
	SNAP_SET(snap, cq_create_failures, j->refused[PVRDMA_CMD_CREATE_CQ]);
	SNAP_SET(snap, cq_destroys, j->done[PVRDMA_CMD_DESTROY_CQ]);
	SNAP_SET(snap, mr_registers, j->done[PVRDMA_CMD_CREATE_MR]);
	SNAP_SET(snap, mr_register_failures, j->refused[PVRDMA_CMD_CREATE_MR]);
	SNAP_SET(snap, mr_deregisters, j->done[PVRDMA_CMD_DESTROY_MR]);
	SNAP_SET(snap, pd_allocs, j->done[PVRDMA_CMD_CREATE_PD]);
	SNAP_SET(snap, pd_alloc_failures, j->refused[PVRDMA_CMD_CREATE_PD]);
	SNAP_SET(snap, pd_deallocs, j->done[PVRDMA_CMD_DESTROY_PD]);
	SNAP_SET(snap, ctx_allocs, j->done[PVRDMA_CMD_CREATE_UC]);
	SNAP_SET(snap, ctx_alloc_failures, j->refused[PVRDMA_CMD_CREATE_UC]);
	SNAP_SET(snap, ctx_deallocs, j->done[PVRDMA_CMD_DESTROY_UC]);
}

/*
 * All counters are available at once, even those for which other kinds of adapters must
 * be queried.
 */
bool row_counters(const struct device *dev, const struct row_request *req, uint64_t *pos,
		  void *to, void *own)
{
	const struct journal *j = dev->m->journal;
	struct eadm_snap_counters *snap = to;
	unsigned int i;
	uint64_t interrupts = 0;

	(void)req;
	(void)own;
	if (*pos > 1)
		return false;
	*pos = 1;
	for (i = 0; i < PVRDMA_MAX_VECTORS; i++)
		interrupts += j->interrupts[i];
	SNAP_SET(snap, port, 1);
	SNAP_SET(snap, tx_requests, j->sends + j->writes + j->reads + j->atomics);
	fill_command_counters(j, snap);
	SNAP_SET(snap, async_events, j->events);
	SNAP_SET(snap, comp_events, j->notifications);
	SNAP_SET(snap, interrupts, interrupts);
	SNAP_SET(snap, send_requests, j->sends);
	SNAP_SET(snap, send_bytes, j->send_bytes);
	SNAP_SET(snap, write_requests, j->writes);
	SNAP_SET(snap, write_bytes, j->write_bytes);
	SNAP_SET(snap, read_requests, j->reads);
	SNAP_SET(snap, read_bytes, j->read_bytes);
	SNAP_SET(snap, atomic_requests, j->atomics);
	SNAP_SET(snap, receive_requests, j->receives);
	SNAP_SET(snap, receive_bytes, j->receive_bytes);
	SNAP_SET(snap, requester_errors, j->send_errors);
	SNAP_SET(snap, responder_errors, j->receive_errors);
	SNAP_SET(snap, requester_flushes, j->send_flushes);
	SNAP_SET(snap, responder_flushes, j->receive_flushes);
	SNAP_SET(snap, retries_exceeded, j->retries_exceeded);
	SNAP_SET(snap, rnr_retries_exceeded, j->rnr_exceeded);
	SNAP_SET(snap, remote_access_errors, j->access_errors);
	SNAP_SET(snap, link_downs, j->link_downs);
	return true;
}
