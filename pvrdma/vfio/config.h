/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration space of a PCI function. */
#ifndef VFIO_CONFIG_H
#define VFIO_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "vfio.h"

#define CONFIG_MAX 4096

struct config {
	uint32_t size;
	unsigned char bytes[CONFIG_MAX];
	/* Bits that can be written. */
	unsigned char writable[CONFIG_MAX];
	unsigned char power_on[CONFIG_MAX];
};

/* Returns -EINVAL if the description is invalid. */
int config_init(struct config *config, const struct vfio_function *function);
void config_reset(struct config *config);
/* [@offset, @offset + @size) must be inside the configuration space. */
void config_read(const struct config *config, uint32_t offset, void *data,
		 uint32_t size);
void config_write(struct config *config, uint32_t offset, const void *data,
		  uint32_t size);
/* PCI_COMMAND_* */
uint16_t config_command(const struct config *config);

#endif /* VFIO_CONFIG_H */
