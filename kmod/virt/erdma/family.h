/* SPDX-License-Identifier: GPL-2.0-only */
/* Virtual ERDMA adapters, for the list of families. */
#ifndef EV_FAMILY_H
#define EV_FAMILY_H

struct vdev_family;

extern const struct vdev_family ev_family;

#endif /* EV_FAMILY_H */
