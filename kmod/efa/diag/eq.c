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

	lockdep_assert_held(&eq->base.lock);
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

	SNAP_SET(s, role, async ? EADM_EQ_ROLE_ASYNC : EADM_EQ_ROLE_COMPLETION);
	/* May sleep. */
	SNAP_SET(s, irq, pci_irq_vector(dev->pdev, eq->base.vector));
	SNAP_SET(s, pending, efa_eq_pending(eq));
	if (!async) {
		SNAP_SET(s, eqn, eq->base.eqn);
		SNAP_SET(s, cqs, atomic_read(&eq->base.cqs));
	}
	spin_lock_irq(&eq->base.lock);
	eadm_eq_row_fill(&eq->base, s);
	SNAP_SET(s, ci, eq->ci);
	if (async)
		fill_async(dev, s, own);
	spin_unlock_irq(&eq->base.lock);
	return 0;
}

const struct eadm_diag_obj efa_diag_eq = {
	.type = EADM_OBJ_EQ,
	.next = eq_next,
	.put = eadm_put_none,
	.fill = eq_fill,
};
