// SPDX-License-Identifier: GPL-2.0-only
/* Diagnostic provider: event queues. */

#include <linux/nospec.h>

#include "diag.h"

static void *eq_next(struct eadm_diag_dev *dd, u64 *id)
{
	struct efa_dev *dev = diag_to_dev(dd);

	if (!*id)
		return &dev->aenq;
	if (*id > dev->nr_eqs)
		return NULL;
	return &dev->eqs[array_index_nospec(*id - 1, dev->nr_eqs)];
}

/* Command completions share the vector with asynchronous events. */
static void fill_async(struct efa_dev *dev, struct eadm_snap_eq *s, struct eadm_snap_eq_efa *o)
{
	struct efa_eq *eq = &dev->aenq;

	lockdep_assert_held(&eq->lock);
	SNAP_SET(o, keep_alive_events, eq->keep_alives);
	if (eq->last_keep_alive)
		SNAP_SET(o, last_keep_alive_age, eadm_age(eq->last_keep_alive));
}

static int eq_fill(struct eadm_diag_dev *dd, void *obj, void *snap, void *own,
		   const struct eadm_diag_req *req)
{
	struct efa_dev *dev = diag_to_dev(dd);
	struct eadm_snap_eq *s = snap;
	struct efa_eq *eq = obj;
	bool async = eq == &dev->aenq;

	SNAP_SET(s, index, eq->index);
	SNAP_SET(s, role, async ? EADM_EQ_ROLE_ASYNC : EADM_EQ_ROLE_COMPLETION);
	SNAP_SET(s, vector, eq->vector);
	SNAP_SET(s, irq, pci_irq_vector(dev->pdev, eq->vector));
	SNAP_STR(s, irq_name, eq->irq_name);
	SNAP_SET(s, depth, eq->depth);
	SNAP_SET(s, pending, efa_eq_pending(eq));
	SNAP_SET(s, age, eadm_age(eq->created));
	if (!async) {
		SNAP_SET(s, eqn, eq->eqn);
		SNAP_SET(s, cqs, atomic_read(&eq->cqs));
	}
	spin_lock_irq(&eq->lock);
	SNAP_SET(s, ci, eq->ci);
	SNAP_SET(s, interrupts, READ_ONCE(eq->interrupts));
	SNAP_SET(s, events, eq->events);
	SNAP_SET(s, unknown, eq->unknown);
	SNAP_SET(s, missed, READ_ONCE(eq->missed.count));
	if (READ_ONCE(eq->missed.last))
		SNAP_SET(s, last_missed_age, eadm_age(eq->missed.last));
	if (eq->last_unknown)
		SNAP_SET(s, last_unknown_age, eadm_age(eq->last_unknown));
	if (eq->last_event)
		SNAP_SET(s, last_event_age, eadm_age(eq->last_event));
	if (async)
		fill_async(dev, s, own);
	spin_unlock_irq(&eq->lock);
	return 0;
}

const struct eadm_diag_obj efa_diag_eq = {
	.type = EADM_OBJ_EQ,
	.next = eq_next,
	.put = eadm_put_none,
	.fill = eq_fill,
};
