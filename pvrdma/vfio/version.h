/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first message: versions, and capabilities as JSON. */
#ifndef VFIO_VERSION_H
#define VFIO_VERSION_H

#include <stddef.h>

#include "proto.h"

/*
 * Writes the response to @body of @size bytes into @reply, whose size is @room. Returns
 * the size of the reply, -EPROTONOSUPPORT, or -EINVAL if @body is not a valid version
 * message.
 */
int version_negotiate(const void *body, size_t size, void *reply, size_t room);

#endif /* VFIO_VERSION_H */
