/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packets in the other byte order. */
#ifndef EADM_SWAP_H
#define EADM_SWAP_H

#include "base/base.h"

bool eadm_swap_needed(const void *data, size_t len);
void eadm_swap(uint16_t proto, void *data, size_t len);

#endif /* EADM_SWAP_H */
