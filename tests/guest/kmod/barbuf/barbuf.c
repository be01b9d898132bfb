// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exports DMA buffers as drivers of GPUs export a BAR: an importer has to be able to
 * reach its peers, and gets an address on the bus and no page. Behind it is memory of
 * the machine, as virtual adapters reach nothing else. Knows no driver; open /dev/barbuf,
 * then
 *
 *	ioctl(fd, _IOW('b', 1, __u64), &size)	the descriptor of a DMA buffer
 *
 * All buffers begin where the "BAR" does. /sys/module/barbuf/parameters:
 *
 *  pins  importers that have a buffer pinned now
 *  maps  and mapped
 */
#include <linux/dma-buf.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#define BARBUF_EXPORT	_IOW('b', 1, __u64)
#define BAR_SIZE	SZ_1M

/* Under the reservation lock of a buffer; there is one at a time. */
static int pins;
module_param(pins, int, 0444);
MODULE_PARM_DESC(pins, "Importers that have a buffer pinned");

static int maps;
module_param(maps, int, 0444);
MODULE_PARM_DESC(maps, "Importers that have a buffer mapped");

static void *bar;

static int attach(struct dma_buf *buf, struct dma_buf_attachment *attachment)
{
	return attachment->peer2peer ? 0 : -EOPNOTSUPP;
}

static int pin(struct dma_buf_attachment *attachment)
{
	pins++;
	return 0;
}

static void unpin(struct dma_buf_attachment *attachment)
{
	pins--;
}

static struct sg_table *map(struct dma_buf_attachment *attachment, enum dma_data_direction dir)
{
	struct sg_table *table = kzalloc(sizeof(*table), GFP_KERNEL);
	size_t size = attachment->dmabuf->size;

	if (!table)
		return ERR_PTR(-ENOMEM);
	if (sg_alloc_table(table, 1, GFP_KERNEL)) {
		kfree(table);
		return ERR_PTR(-ENOMEM);
	}
	sg_set_page(table->sgl, NULL, size, 0);
	sg_dma_address(table->sgl) = virt_to_phys(bar);
	sg_dma_len(table->sgl) = size;
	maps++;
	return table;
}

static void unmap(struct dma_buf_attachment *attachment, struct sg_table *table,
		  enum dma_data_direction dir)
{
	maps--;
	sg_free_table(table);
	kfree(table);
}

static void release(struct dma_buf *buf)
{
}

static int map_user(struct dma_buf *buf, struct vm_area_struct *vma)
{
	return vm_iomap_memory(vma, virt_to_phys(bar), buf->size);
}

static const struct dma_buf_ops ops = {
	.attach = attach,
	.pin = pin,
	.unpin = unpin,
	.map_dma_buf = map,
	.unmap_dma_buf = unmap,
	.release = release,
	.mmap = map_user,
};

static long export(struct file *file, unsigned int cmd, unsigned long arg)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *buf;
	u64 size;
	int fd;

	if (cmd != BARBUF_EXPORT)
		return -ENOTTY;
	if (copy_from_user(&size, (void __user *)arg, sizeof(size)))
		return -EFAULT;
	if (!size || !PAGE_ALIGNED(size) || size > BAR_SIZE)
		return -EINVAL;
	info.ops = &ops;
	info.size = size;
	info.flags = O_RDWR | O_CLOEXEC;
	info.priv = bar;
	buf = dma_buf_export(&info);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	fd = dma_buf_fd(buf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(buf);
	return fd;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = export,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "barbuf",
	.fops = &fops,
};

static int __init barbuf_init(void)
{
	int ret;

	bar = alloc_pages_exact(BAR_SIZE, GFP_KERNEL | __GFP_ZERO);
	if (!bar)
		return -ENOMEM;
	ret = misc_register(&device);
	if (ret)
		free_pages_exact(bar, BAR_SIZE);
	return ret;
}

static void __exit barbuf_exit(void)
{
	misc_deregister(&device);
	free_pages_exact(bar, BAR_SIZE);
}

module_init(barbuf_init);
module_exit(barbuf_exit);

MODULE_IMPORT_NS(DMA_BUF);
MODULE_DESCRIPTION("Test: DMA buffers without pages");
MODULE_LICENSE("GPL");
