/* SPDX-License-Identifier: GPL-2.0-only */
/* Virtual EFA adapters, for the list of families. */
#ifndef EFV_FAMILY_H
#define EFV_FAMILY_H

struct vdev_family;

extern const struct vdev_family efv_family;

#endif /* EFV_FAMILY_H */
