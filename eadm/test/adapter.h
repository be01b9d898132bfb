/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The adapter, port and GID that a connection without a connection manager uses. */
#ifndef TEST_ADAPTER_H
#define TEST_ADAPTER_H

#include "driver_qp.h"
#include "test.h"

struct adapter {
	char device[IBV_SYSFS_NAME_MAX];
	const struct driver_qp *driver;	/* NULL: connected queue pairs */
	bool ud;		/* use UD queue pairs instead */
	uint8_t port, roce;
	uint32_t gid_index;
	union ibv_gid gid;
	bool needs_cm;		/* the adapter cannot be used without rdma_cm */
};

/*
 * Choose an adapter for connections from the address @local (family 0: any). Returns a
 * status; the size of @why is MAX_WHY.
 */
int adapter_choose(const struct test *test, const struct sockaddr_storage *local,
		   struct adapter *adapter, char *why);
/* The same for @device; NULL: any. */
int adapter_choose_of(const struct test *test, const char *device,
		      const struct sockaddr_storage *local,
		      struct adapter *adapter, char *why);
const char *adapter_type(const struct adapter *adapter);

#endif /* TEST_ADAPTER_H */
