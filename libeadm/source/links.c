// SPDX-License-Identifier: LGPL-2.1-or-later
/* The link and the bus of a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/root.h"
#include "devlist.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

/*
 * The speed of a network interface is in Mbit/s, such as "25000"; that of a port
 * contains its unit, such as "100 Gb/sec (4X EDR)".
 */
static void put_link(struct eadm_answer *answer, const char *device,
		     const char *netdev)
{
	char text[64];
	double speed = 0;

	if (netdev &&
	    eadm_root_line(answer->ctx, text, sizeof(text),
			   "/sys/class/net/%.64s/speed", netdev))
		speed = strtol(text, NULL, 10) * 1e6;
	if (speed <= 0 &&
	    eadm_root_line(answer->ctx, text, sizeof(text),
			   "/sys/class/infiniband/%.64s/ports/1/rate", device))
		speed = strtod(text, NULL) * 1e9;
	if (speed > 0 && speed < 1e18)
		eadm_local_put_u64(answer, EADM_A_DEV_LINK_SPEED, speed);
}

static void put_pcie(struct eadm_answer *answer, const char *device)
{
	static const struct {
		const char *file;
		uint16_t attr;
	} widths[] = {
		{ "current_link_width", EADM_A_DEV_PCIE_WIDTH },
		{ "max_link_width", EADM_A_DEV_PCIE_MAX_WIDTH },
	};
	char text[32];
	size_t i;

	/* Adapters on other buses lack the speed and report a meaningless width. */
	if (!eadm_root_line(answer->ctx, text, sizeof(text),
			    "/sys/class/infiniband/%.64s/device/current_link_speed",
			    device) || !strtod(text, NULL))
		return;
	eadm_local_put(answer, EADM_A_DEV_PCIE_SPEED, text);
	for (i = 0; i < EADM_ARRAY_SIZE(widths); i++)
		if (eadm_root_line(answer->ctx, text, sizeof(text),
				   "/sys/class/infiniband/%.64s/device/%s",
				   device, widths[i].file))
			eadm_local_put_number(answer, widths[i].attr, text);
}

void eadm_local_links(struct eadm_answer *answer,
		      const struct eadm_device *dev, const char *netdev)
{
	eadm_local_gid_words(answer, dev);
	put_link(answer, dev->name, netdev);
	put_pcie(answer, dev->name);
}
