/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libeadm: settings of devices. Part of eadm.h, which states the rules for all
 * functions; this header can also be included on its own.
 */
#ifndef EADM_CONF_H
#define EADM_CONF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct eadm_ctx;

/**
 * eadm_conf_set() - change a setting of a device of this machine
 * @ctx: a context open on this machine
 * @device: name of the RDMA device
 * @param: value of the field "param" of the object "conf"
 * @value: its new value
 * @now: set to the value after the change
 *
 * Requires CAP_NET_ADMIN.
 *
 * Return: 0; -EOPNOTSUPP if the adapter does not support the setting, if @ctx reads a
 * capture, or if the companion module is missing; -ERANGE if the value is out of range;
 * -EINVAL for an unknown @param; -EPERM; -ENODEV.
 * Since: 0.9
 */
int eadm_conf_set(struct eadm_ctx *ctx, const char *device, uint64_t param,
		  uint64_t value, uint64_t *now);

#ifdef __cplusplus
}
#endif

#endif /* EADM_CONF_H */
