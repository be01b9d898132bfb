/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libeadm: adapter families and their names. Part of eadm.h, which states
 * the rules for all functions; this header can also be included on its own.
 *
 * A family is the set of adapters that one driver supports. If eadm has a
 * description of a family (eadm-FAMILY(7)), it can decode the family's queues,
 * contexts and registers; otherwise, only names are known. Families need no context:
 * they are constant, owned by the library, and may be used by any thread at any time.
 */
#ifndef EADM_FAMILY_H
#define EADM_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct eadm_family - a family of adapters, such as "mlx5"
 */
struct eadm_family;

/**
 * eadm_family_next() - walk all families
 * @family: NULL for the first family, otherwise the previous one
 *
 * Families with a description come first.
 *
 * Return: the next family, NULL at the end.
 * Since: 0.9
 */
const struct eadm_family *eadm_family_next(const struct eadm_family *family);

/**
 * eadm_family_find() - look up a family
 * @name: name of the family, or of a driver as in the field "driver" of "dev";
 *	NULL matches no family
 *
 * Return: the family, or NULL with errno ENOENT.
 * Since: 0.9
 */
const struct eadm_family *eadm_family_find(const char *name);

/**
 * eadm_family_name() - short name, such as "mlx5"
 * @family: the family
 *
 * Since: 0.9
 */
const char *eadm_family_name(const struct eadm_family *family);

/**
 * eadm_family_driver() - name of one of the family's drivers on its bus
 * @family: the family
 * @index: from 0
 *
 * Return: the name, NULL if there are no more.
 * Since: 0.9
 */
const char *eadm_family_driver(const struct eadm_family *family,
			       unsigned int index);

/**
 * eadm_family_module() - a kernel module of the family
 * @family: the family
 * @index: from 0; the first module is the RDMA driver
 *
 * Return: the name, NULL if there are no more.
 * Since: 0.9
 */
const char *eadm_family_module(const struct eadm_family *family,
			       unsigned int index);

/**
 * eadm_family_provider() - libibverbs provider of the family
 * @family: the family
 *
 * Return: its name, such as "mlx5".
 * Since: 0.9
 */
const char *eadm_family_provider(const struct eadm_family *family);

/**
 * eadm_family_has_companion() - check whether eadm comes with a driver for the
 * family
 * @family: the family
 *
 * Such a driver makes the state of its devices available to the companion
 * module; a different driver with the same name does not.
 *
 * Since: 0.9
 */
bool eadm_family_has_companion(const struct eadm_family *family);

/**
 * eadm_family_has_cm() - check whether rdma_cm can establish connections over
 * an adapter
 * @family: the family
 *
 * Return: false if it cannot; true if it can or if this is unknown.
 * Since: 0.9
 */
bool eadm_family_has_cm(const struct eadm_family *family);

/**
 * eadm_family_pci_id() - one of the family's PCI IDs
 * @family: the family
 * @index: from 0
 * @vendor: set to the vendor ID
 * @device: set to the device ID
 *
 * Return: 0, -ENOENT if there are no more.
 * Since: 0.9
 */
int eadm_family_pci_id(const struct eadm_family *family, unsigned int index,
		       uint16_t *vendor, uint16_t *device);

/**
 * eadm_family_index_bits() - width of the indices of a queue
 * @family: the family
 * @queue: "sq", "rq", "cq", "eq", "cmd-sq" or "cmd-cq"
 *
 * Return: number of bits N, which means that indices count modulo 2^N; 0 if
 * unknown.
 * Since: 0.9
 */
unsigned int eadm_family_index_bits(const struct eadm_family *family,
				    const char *queue);

#ifdef __cplusplus
}
#endif

#endif /* EADM_FAMILY_H */
