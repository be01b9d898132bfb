// SPDX-License-Identifier: GPL-2.0-only
/* Protection domains and address handles (hw 4.5, 4.10, 10). */

#include <linux/pid.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "abi.h"
#include "efa.h"

static void end_pd(struct efa_dev *dev, struct efa_pd *pd)
{
	WRITE_ONCE(pd->base.obj.ending, true);
	eadm_object_ended(&dev->adapter, &pd->base.obj, efa_cmd_dealloc_pd(dev, &pd->base),
			  "deallocate PD", pd->base.pdn);
}

static int alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct efa_dev *dev = to_efa_dev(ibpd->device);
	struct efa_uresp_alloc_pd resp = {};
	struct efa_pd *pd = to_efa_pd(ibpd);
	int ret;

	ret = eadm_udata_read(udata, NULL, 0, 0);
	if (ret)
		goto err;
	pd->base.ctx = rdma_udata_to_drv_context(udata, struct eadm_ctx, ibctx);
	mutex_init(&pd->ah_lock);
	pd->ahs = RB_ROOT;
	eadm_object_init(&pd->base.obj, pd->base.ctx->obj.epoch, &ibpd->res);
	ret = efa_cmd_alloc_pd(dev, &pd->base);
	if (ret)
		goto err;
	ret = eadm_table_add_at(&dev->adapter.pds, pd->base.pdn, &pd->base.obj);
	if (ret)
		goto err_pd;
	resp.pdn = pd->base.pdn;
	ret = eadm_udata_write(udata, &resp, sizeof(resp));
	if (ret)
		goto err_table;
	atomic_inc(&pd->base.ctx->pds);
	eadm_count(&dev->adapter, EADM_CNT_PD_ALLOCS);
	return 0;

err_table:
	eadm_table_remove(&dev->adapter.pds, pd->base.pdn, &pd->base.obj);
err_pd:
	end_pd(dev, pd);
err:
	eadm_count(&dev->adapter, EADM_CNT_PD_ALLOC_FAILURES);
	return ret;
}

static int dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct efa_dev *dev = to_efa_dev(ibpd->device);
	struct efa_pd *pd = to_efa_pd(ibpd);

	end_pd(dev, pd);
	eadm_table_remove(&dev->adapter.pds, pd->base.pdn, &pd->base.obj);
	mutex_destroy(&pd->ah_lock);
	atomic_dec(&pd->base.ctx->pds);
	eadm_count(&dev->adapter, EADM_CNT_PD_DEALLOCS);
	return 0;
}

/* ---- address handles ------------------------------------------------------ */

static int compare_gid(const void *gid, const struct rb_node *node)
{
	return memcmp(gid, rb_entry(node, struct efa_ah_entry, node)->gid,
		      sizeof_field(struct efa_ah_entry, gid));
}

/* Finds the entry of an address, or the place to insert it. */
static struct efa_ah_entry *find_entry(struct efa_pd *pd, const u8 *gid,
				       struct rb_node **parent, struct rb_node ***link)
{
	int cmp;

	lockdep_assert_held(&pd->ah_lock);
	*parent = NULL;
	*link = &pd->ahs.rb_node;
	while (**link) {
		*parent = **link;
		cmp = compare_gid(gid, *parent);
		if (!cmp)
			return rb_entry(*parent, struct efa_ah_entry, node);
		*link = cmp < 0 ? &(*parent)->rb_left : &(*parent)->rb_right;
	}
	return NULL;
}

static void end_entry(struct efa_dev *dev, struct efa_ah_entry *entry)
{
	int ret;

	if (eadm_object_is_dead(&dev->adapter, &entry->obj))
		return;
	WRITE_ONCE(entry->obj.ending, true);
	ret = efa_cmd_destroy_ah(dev, &entry->pd->base, entry->ahn);
	if (ret && !eadm_object_is_dead(&dev->adapter, &entry->obj))
		ibdev_warn_ratelimited(&dev->adapter.ibdev, "failed to destroy AH %u of PD %u: %d\n",
				       entry->ahn, entry->pd->base.pdn, ret);
}

/*
 * An adapter may number AHs separately in each PD (hw 10). The first AH with a number keeps it in
 * dev->ahs; AHs of other PDs get numbers that no adapter assigns.
 */
static int publish_entry(struct efa_dev *dev, struct efa_ah_entry *entry)
{
	int ret;

	entry->id = entry->ahn;
	ret = eadm_table_add_at(&dev->ahs, entry->id, &entry->obj);
	return ret == -EBUSY ? eadm_table_add(&dev->ahs, &entry->id, &entry->obj) : ret;
}

static struct efa_ah_entry *make_entry(struct efa_dev *dev, struct efa_pd *pd, const u8 *gid)
{
	struct efa_ah_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!entry)
		return ERR_PTR(ret);
	entry->pd = pd;
	memcpy(entry->gid, gid, sizeof(entry->gid));
	entry->owner = get_task_pid(current->group_leader, PIDTYPE_TGID);
	eadm_object_init(&entry->obj, pd->base.obj.epoch, NULL);
	ret = efa_cmd_create_ah(dev, &pd->base, gid, &entry->ahn);
	if (ret)
		goto err;
	ret = publish_entry(dev, entry);
	if (ret)
		goto err_ah;
	return entry;

err_ah:
	end_entry(dev, entry);
err:
	put_pid(entry->owner);
	kfree(entry);
	return ERR_PTR(ret);
}

static struct efa_ah_entry *get_entry(struct efa_dev *dev, struct efa_pd *pd, const u8 *gid)
{
	struct rb_node *parent, **link;
	struct efa_ah_entry *entry;

	mutex_lock(&pd->ah_lock);
	entry = find_entry(pd, gid, &parent, &link);
	if (!entry) {
		entry = make_entry(dev, pd, gid);
		if (IS_ERR(entry))
			goto out;
		rb_link_node(&entry->node, parent, link);
		rb_insert_color(&entry->node, &pd->ahs);
	}
	WRITE_ONCE(entry->refs, entry->refs + 1);
out:
	mutex_unlock(&pd->ah_lock);
	return entry;
}

static void put_entry(struct efa_dev *dev, struct efa_ah_entry *entry)
{
	struct efa_pd *pd = entry->pd;

	mutex_lock(&pd->ah_lock);
	WRITE_ONCE(entry->refs, entry->refs - 1);
	if (entry->refs) {
		mutex_unlock(&pd->ah_lock);
		return;
	}
	rb_erase(&entry->node, &pd->ahs);
	/*
	 * Destroy the AH under the lock, because a new AH for the same address might be the same AH
	 * in the adapter.
	 */
	end_entry(dev, entry);
	mutex_unlock(&pd->ah_lock);
	eadm_table_remove(&dev->ahs, entry->id, &entry->obj);
	put_pid(entry->owner);
	kfree(entry);
}

/**
 * efa_create_ah() - verb: create an address handle
 * @ibah: the address handle
 * @attr: the address
 * @udata: the response with the AH's number
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int efa_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *attr, struct ib_udata *udata)
{
	struct efa_dev *dev = to_efa_dev(ibah->device);
	struct efa_uresp_create_ah resp = {};
	struct efa_ah *ah = to_efa_ah(ibah);
	int ret;

	ret = attr->flags & RDMA_CREATE_AH_SLEEPABLE ? eadm_udata_read(udata, NULL, 0, 0) :
						       -EOPNOTSUPP;
	if (ret)
		goto err;
	ah->entry = get_entry(dev, to_efa_pd(ibah->pd), attr->ah_attr->grh.dgid.raw);
	if (IS_ERR(ah->entry)) {
		ret = PTR_ERR(ah->entry);
		goto err;
	}
	resp.ahn = ah->entry->ahn;
	ret = eadm_udata_write(udata, &resp, sizeof(resp));
	if (!ret) {
		efa_debug(dev, qp, "AH %u: %pI6\n", resp.ahn, ah->entry->gid);
		return 0;
	}
	put_entry(dev, ah->entry);
err:
	eadm_count(&dev->adapter, EADM_CNT_AH_CREATE_FAILURES);
	return ret;
}

static int destroy_ah(struct ib_ah *ibah, u32 flags)
{
	if (!(flags & RDMA_DESTROY_AH_SLEEPABLE))
		return -EOPNOTSUPP;
	put_entry(to_efa_dev(ibah->device), to_efa_ah(ibah)->entry);
	return 0;
}

const struct ib_device_ops efa_pd_ops = {
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.destroy_ah = destroy_ah,
};
