/* SPDX-License-Identifier: GPL-2.0-only */
/* The version, shared by the modules and the tool. */
#ifndef EADM_VERSION_H
#define EADM_VERSION_H

#define EADM_MODULE_VERSION "0.9.0"

#endif /* EADM_VERSION_H */
