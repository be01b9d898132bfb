// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A libibverbs with the devices a0 and b0, which the environment controls: FAKE_MTU is their
 * active MTU, opening the device FAKE_HANG does not return, FAKE_ABORT ends the process,
 * FAKE_TEXT is printed without a newline, FAKE_PROCESS leaves a process behind, and max_qp is 1
 * instead of 77 if the descriptor FAKE_FD is open.
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef ibv_query_port

static struct ibv_device devices[] = {
	{ .transport_type = IBV_TRANSPORT_IB, .name = "a0", .dev_name = "uverbs0" },
	{ .transport_type = IBV_TRANSPORT_IB, .name = "b0", .dev_name = "uverbs1" },
};

static void print_text(void)
{
	const char *text = getenv("FAKE_TEXT");

	if (text && write(STDERR_FILENO, text, strlen(text)) < 0)
		abort();
}

struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **list = calloc(3, sizeof(*list));

	if (getenv("FAKE_ABORT"))
		abort();
	print_text();
	if (getenv("FAKE_PROCESS") && !fork()) {
		sleep(20);
		_exit(0);
	}
	list[0] = &devices[0];
	list[1] = &devices[1];
	if (n)
		*n = 2;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	const char *hang = getenv("FAKE_HANG");
	struct ibv_context *context = calloc(1, sizeof(*context));

	print_text();
	if (hang && !strcmp(hang, device->name))
		pause();
	context->device = device;
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	free(context);
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	const char *fd = getenv("FAKE_FD");

	(void)context;
	*attr = (struct ibv_device_attr){
		.max_qp = fd && fcntl(atoi(fd), F_GETFD) >= 0 ? 1 : 77,
	};
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t number, struct _compat_ibv_port_attr *attr)
{
	const char *mtu = getenv("FAKE_MTU");

	(void)context;
	(void)number;
	*(struct ibv_port_attr *)attr = (struct ibv_port_attr){
		.max_mtu = IBV_MTU_4096, .active_mtu = mtu ? atoi(mtu) : IBV_MTU_4096,
	};
	return 0;
}
