// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plugging an adapter in and pulling it out.
 */
#include <linux/idr.h>

#include "../erdma/ev.h"

static DEFINE_IDA(domains);

static int domain_alloc(void)
{
	int first = EV_DOMAIN_FIRST;
	int domain;

	for (;;) {
		domain = ida_alloc_range(&domains, first, EV_DOMAIN_LAST,
					 GFP_KERNEL);
		if (domain < 0 || !pci_find_bus(domain, 0))
			return domain;
		ida_free(&domains, domain);
		first = domain + 1;
	}
}

/**
 * ev_adapter_plug() - put the adapter on a bus, where a driver may bind to it
 * @ad: unplugged adapter
 *
 * Context: may sleep, for as long as a driver's probe takes; @ad->plug_lock
 * held.
 * Return: 0 or a negative error.
 */
int ev_adapter_plug(struct ev_adapter *ad)
{
	int ret;

	lockdep_assert_held(&ad->plug_lock);
	ad->domain = domain_alloc();
	if (ad->domain < 0)
		return ad->domain;
	ret = ev_window_alloc(ad);
	if (ret)
		goto free_domain;
	ret = ev_msi_init(ad);
	if (ret)
		goto free_window;
	ret = ev_bus_add(ad);
	if (ret)
		goto exit_msi;
	ret = ev_model_start(ad);
	if (ret)
		goto remove_bus;
	ev_bus_scan(ad);
	ad->live = true;
	return 0;

remove_bus:
	ev_bus_remove(ad);
exit_msi:
	ev_msi_exit(ad);
free_window:
	ev_window_free(ad);
free_domain:
	ida_free(&domains, ad->domain);
	return ret;
}

/**
 * ev_adapter_unplug() - take the adapter off its bus
 * @ad: plugged adapter
 * @surprise: the device dies first, otherwise the driver can still talk to it
 *
 * Context: may sleep, for as long as a driver's removal takes; @ad->plug_lock
 * held.
 */
void ev_adapter_unplug(struct ev_adapter *ad, bool surprise)
{
	lockdep_assert_held(&ad->plug_lock);
	if (surprise)
		ev_model_kill(ad);
	ev_bus_remove(ad);
	ev_model_stop(ad);
	ev_msi_exit(ad);
	ev_window_free(ad);
	ida_free(&domains, ad->domain);
	ad->live = false;
}
