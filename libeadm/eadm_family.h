/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libeadm: families of adapters and what they are called. Part of eadm.h, which
 * says what holds for all functions; it can be included alone as well.
 *
 * A family is what one driver is for. Of those that eadm has a description of
 * (eadm-FAMILY(7)), queues, contexts and registers can be decoded; of others only
 * names are known here. Both need no context: they are constant, belong to the
 * library, and may be used from every thread, for ever.
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
 * @family: NULL for the first one
 *
 * Those with a description come first.
 *
 * Return: the next one, NULL at the end.
 * Since: 0.1
 */
const struct eadm_family *eadm_family_next(const struct eadm_family *family);

/**
 * eadm_family_find() - look a family up
 * @name: its name, or that of a driver as the field "driver" of "dev" has it;
 *	NULL is none
 *
 * Return: the family, or NULL with errno ENOENT.
 * Since: 0.1
 */
const struct eadm_family *eadm_family_find(const char *name);

/**
 * eadm_family_name() - short name, such as "mlx5"
 * @family: the family
 *
 * Since: 0.1
 */
const char *eadm_family_name(const struct eadm_family *family);

/**
 * eadm_family_driver() - what a driver of the family is called on its bus
 * @family: the family
 * @index: from 0
 *
 * Return: the name, NULL past the last one.
 * Since: 0.1
 */
const char *eadm_family_driver(const struct eadm_family *family,
			       unsigned int index);

/**
 * eadm_family_module() - a kernel module of the family
 * @family: the family
 * @index: from 0; the first one is the driver for RDMA
 *
 * Return: the name, NULL past the last one.
 * Since: 0.1
 */
const char *eadm_family_module(const struct eadm_family *family,
			       unsigned int index);

/**
 * eadm_family_provider() - which provider of libibverbs knows the family
 * @family: the family
 *
 * Return: its name, such as "mlx5".
 * Since: 0.1
 */
const char *eadm_family_provider(const struct eadm_family *family);

/**
 * eadm_family_has_companion() - whether eadm comes with a driver for the family
 * @family: the family
 *
 * Such a driver shows the state of its devices to the companion module; another
 * driver of the same name does not.
 *
 * Since: 0.1
 */
bool eadm_family_has_companion(const struct eadm_family *family);

/**
 * eadm_family_has_netdev() - whether a network interface belongs to an adapter
 * @family: the family
 *
 * Return: false where adapters have addresses of another kind; true also where
 * it is not known.
 * Since: 0.1
 */
bool eadm_family_has_netdev(const struct eadm_family *family);

/**
 * eadm_family_has_cm() - whether rdma_cm can make connections over an adapter
 * @family: the family
 *
 * Return: false where it cannot; true also where it is not known.
 * Since: 0.1
 */
bool eadm_family_has_cm(const struct eadm_family *family);

/**
 * eadm_family_middleware() - by which library applications use an adapter
 * @family: the family
 *
 * Return: the name, such as "libfabric"; NULL where applications use verbs, or
 * it is not known.
 * Since: 0.1
 */
const char *eadm_family_middleware(const struct eadm_family *family);

/**
 * eadm_family_vectors() - how many completion vectors an adapter can have
 * @family: the family
 *
 * Return: a number, 0 when it is not known.
 * Since: 0.1
 */
unsigned int eadm_family_vectors(const struct eadm_family *family);

/**
 * eadm_family_pci_id() - an identity of the family on the PCI bus
 * @family: the family
 * @index: from 0
 * @vendor: where to put the vendor
 * @device: where to put the device
 *
 * Return: 0, -ENOENT past the last one.
 * Since: 0.1
 */
int eadm_family_pci_id(const struct eadm_family *family, unsigned int index,
		       uint16_t *vendor, uint16_t *device);

/**
 * eadm_family_index_bits() - how far the indices of a queue count
 * @family: the family
 * @queue: "sq", "rq", "cq", "eq", "cmd-sq" or "cmd-cq"
 *
 * Return: bits, so that an index is modulo 2 to the power of them; 0 when that
 * is not known.
 * Since: 0.1
 */
unsigned int eadm_family_index_bits(const struct eadm_family *family,
				    const char *queue);

#ifdef __cplusplus
}
#endif

#endif /* EADM_FAMILY_H */
