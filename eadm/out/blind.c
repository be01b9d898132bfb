// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Options that refer to data missing from all rows of a device. A note reports them,
 * because a filter that cannot be applied otherwise looks like one that matches
 * nothing.
 */
#include "blind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

static const char *const option_names[N_BLIND_OPTIONS] = {
	[BLIND_PID] = "--pid", [BLIND_COMM] = "--comm",
	[BLIND_STATE] = "--state", [BLIND_NETNS] = "--netns",
	[BLIND_CGROUP] = "--cgroup", [BLIND_PEER] = "--peer",
	[BLIND_OPCODE] = "--opcode", [BLIND_HW] = "--hw",
};

static const struct eadm_field *field_of(const struct blind *blind,
					 enum blind_option option)
{
	const struct filter *filter = blind->filter;

	switch (option) {
	case BLIND_PID:
		return filter->has_pid ? filter->pid_field : NULL;
	case BLIND_COMM:
		return filter->comm ? filter->comm_field : NULL;
	case BLIND_STATE:
		return filter->has_state ? filter->state_field : NULL;
	case BLIND_NETNS:
		return filter->has_netns ? filter->netns_field : NULL;
	case BLIND_CGROUP:
		return filter->has_cgroup ? filter->cgroup_field : NULL;
	case BLIND_PEER:
		return filter->has_peer ? filter->peer_field : NULL;
	case BLIND_OPCODE:
		return filter->has_op ? filter->op_field : NULL;
	default:
		return NULL;
	}
}

static bool is_wanted(const struct blind *blind, enum blind_option option)
{
	return option == BLIND_HW ? blind->hw : field_of(blind, option) != NULL;
}

void blind_init(struct blind *blind, const struct eadm_object *object,
		const struct filter *filter, bool hw)
{
	*blind = (struct blind){
		.filter = filter, .object = object,
		/* Entries always come from the adapter. */
		.hw = hw && eadm_object_class(object) == EADM_CLASS_ROWS,
		.name = eadm_object_find_field(object, "dev-name"),
		.family = eadm_object_find_field(object, "family"),
		.type = eadm_object_find_field(object, "type"),
	};
}

void blind_free(struct blind *blind)
{
	free(blind->devices);
	blind->devices = NULL;
	blind->n = blind->max = 0;
}

/* ---- rows ------------------------------------------------------------------- */

/* Searches from the end, because rows of the same device are mostly adjacent. */
static struct blind_device *device_of(struct blind *blind, const char *name)
{
	struct blind_device *dev;
	size_t i;

	for (i = blind->n; i--;) {
		if (!strcmp(blind->devices[i].name, name))
			return &blind->devices[i];
	}
	if (!grow(blind->devices, blind->n, blind->max))
		return NULL;
	dev = &blind->devices[blind->n++];
	*dev = (struct blind_device){ 0 };
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	return dev;
}

static bool shows_hw(const struct eadm_record *record)
{
	const struct eadm_field *field = NULL;

	while ((field = eadm_record_next(record, field))) {
		if (eadm_field_is_hw(field))
			return true;
	}
	return false;
}

static bool is_named(const struct eadm_record *record,
		     const struct eadm_field *field, const char *const *names)
{
	const char *name;
	uint64_t value;

	if (!field || eadm_record_u64(record, field, &value))
		return true;
	name = eadm_field_value_name(field, value);
	for (; name && *names; names++) {
		if (!strcmp(*names, name))
			return true;
	}
	return false;
}

/* Unconnected queue pairs, and those of the connection manager, have no peer. */
static bool may_have_peer(const struct blind *blind,
			  const struct eadm_record *record)
{
	static const char *const connected[] = { "rtr", "rts", "sqd", "sqe", NULL };
	static const char *const internal[] = { "smi", "gsi", NULL };

	return !strcmp(eadm_object_name(blind->object), "qp") &&
	       is_named(record, blind->filter->state_field, connected) &&
	       !(eadm_record_has(record, blind->type) &&
		 is_named(record, blind->type, internal));
}

/* Returns true if a row could have shown the missing field. */
static bool could_show(const struct blind *blind, enum blind_option option,
		       const struct eadm_record *record)
{
	const struct eadm_field *field = blind->filter->comm_field;
	const char *comm = field ? eadm_record_string(record, field) : NULL;

	switch (option) {
	case BLIND_PEER:
		return may_have_peer(blind, record);
	/*
	 * Objects used by a kernel module have the name of the module, but no process
	 * data.
	 */
	case BLIND_PID:
	case BLIND_NETNS:
	case BLIND_CGROUP:
		return !comm || *comm != '[';
	default:
		return true;
	}
}

static void see_option(struct blind *blind, enum blind_option option,
		       const struct eadm_record *record,
		       struct blind_device *dev)
{
	const struct eadm_field *field = field_of(blind, option);

	if (field ? eadm_record_has(record, field) : shows_hw(record))
		dev->has[option] = true;
	else if (!dev->lacks[option] && could_show(blind, option, record) &&
		 filter_may_pass(blind->filter, record))
		dev->lacks[option] = true;
}

void blind_see(struct blind *blind, const struct eadm_record *record)
{
	struct blind_device *dev = NULL;
	const char *name;
	unsigned int i;

	for (i = 0; i < N_BLIND_OPTIONS; i++) {
		if (!is_wanted(blind, i))
			continue;
		if (!dev) {
			name = blind->name ?
			       eadm_record_string(record, blind->name) : NULL;
			dev = device_of(blind, name ? name : "");
			if (!dev)
				return;
			dev->family |= blind->family &&
				       eadm_record_has(record, blind->family);
		}
		if (!dev->has[i])
			see_option(blind, i, record, dev);
	}
}

/* ---- missing data --------------------------------------------------------------- */

/* If a known driver does not show contexts, the dump itself notes the reason. */
static bool is_blind(const struct blind_device *dev, unsigned int option)
{
	return dev->lacks[option] && !dev->has[option] &&
	       (option != BLIND_HW || !dev->family);
}

static bool lacks_right(const struct blind *blind,
			const struct blind_device *dev, enum blind_option option)
{
	const struct eadm_field *field = field_of(blind, option);

	return dev->family && field && eadm_field_perm(field) == EADM_PERM_ADMIN;
}

static void explain(struct blind *blind, const struct blind_device *dev,
		    enum blind_option option)
{
	const char *title = eadm_object_title(blind->object);
	char *text = blind->text;
	size_t size = sizeof(blind->text);

	if (option == BLIND_HW)
		snprintf(text, size, "%s have no adapter context", title);
	else if (option == BLIND_PID || option == BLIND_COMM)
		snprintf(text, size, "cannot be applied: the processes that own the %s are not visible",
			 title);
	else if (lacks_right(blind, dev, option))
		snprintf(text, size, "cannot be applied: it requires CAP_NET_ADMIN");
	else if (option == BLIND_PEER)
		snprintf(text, size, "cannot be applied: the peers of the %s are unknown%s",
			 title, dev->family ? "" : " (RDMA netlink shows only those of rdma_cm)");
	else if (!strcmp(eadm_object_name(blind->object), "dev"))
		snprintf(text, size, "cannot be applied: the device has no %s",
			 eadm_field_name(field_of(blind, option)));
	else
		snprintf(text, size, "cannot be applied: the %s have no %s", title,
			 eadm_field_name(field_of(blind, option)));
}

bool blind_next(struct blind *blind, size_t *at, struct eadm_note *note)
{
	const struct blind_device *dev;
	unsigned int option;

	for (; *at < blind->n * N_BLIND_OPTIONS; (*at)++) {
		dev = &blind->devices[*at / N_BLIND_OPTIONS];
		option = *at % N_BLIND_OPTIONS;
		if (!is_blind(dev, option))
			continue;
		explain(blind, dev, option);
		*note = (struct eadm_note){
			.size = sizeof(*note), .device = dev->name,
			.what = option_names[option], .why = blind->text,
		};
		(*at)++;
		return true;
	}
	return false;
}

int blind_status(const struct blind *blind)
{
	size_t i, n = 0;
	bool right = false;
	unsigned int option;

	for (i = 0; i < blind->n; i++) {
		for (option = 0; option < N_BLIND_OPTIONS; option++) {
			if (is_blind(&blind->devices[i], option))
				break;
		}
		if (option == N_BLIND_OPTIONS)
			continue;
		n++;
		right |= lacks_right(blind, &blind->devices[i], option);
	}
	if (!n)
		return STATUS_OK;
	return n < blind->n ? STATUS_PARTIAL :
	       right ? STATUS_PERMISSION : STATUS_UNSUPPORTED;
}
