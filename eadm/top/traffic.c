// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows the traffic of each device in the last refreshes as a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"

/* Width of a line without the bars: names, numbers, units and blanks. */
#define TEXT_WIDTH 48
#define MIN_BARS 4

void top_traffic_look(struct top *top)
{
	unsigned int i, j;

	for (i = 0; i < top->n_devs; i++) {
		struct top_dev *dev = &top->dev[i];

		memmove(&dev->traffic[1], &dev->traffic[0],
			sizeof(dev->traffic) - sizeof(dev->traffic[0]));
		for (j = 0; j < 2; j++)
			dev->traffic[0][j] = dev->count[C_TX_BYTES + j].rate;
		if (dev->n_traffic < TOP_TRAFFIC)
			dev->n_traffic++;
	}
}

/* Draws bars, the newest on the right, scaled to the maximum of both directions. */
static size_t put_bars(const struct top_dev *dev, unsigned int direction,
		       unsigned int n, bool utf8, char *buf, size_t size)
{
	static const char *const bars[] = { "\u2581", "\u2582", "\u2583", "\u2584",
					    "\u2585", "\u2586", "\u2587", "\u2588" };
	static const char ascii[] = "_.-:=+*#";
	double most = 0, rate;
	size_t at = 0;
	unsigned int i, level;

	for (i = 0; i < dev->n_traffic; i++) {
		if (dev->traffic[i][0] > most)
			most = dev->traffic[i][0];
		if (dev->traffic[i][1] > most)
			most = dev->traffic[i][1];
	}
	for (i = n; i-- > 0;) {
		rate = i < dev->n_traffic ? dev->traffic[i][direction] : -1;
		level = most > 0 && rate > 0 ? rate / most * 7 + 0.5 : 0;
		if (rate < 0)
			at += snprintf(buf + at, size - at, " ");
		else if (utf8)
			at += snprintf(buf + at, size - at, "%s", bars[level]);
		else
			at += snprintf(buf + at, size - at, "%c", ascii[level]);
	}
	return at;
}

/* Returns false if there is no data yet or no room. */
bool top_traffic_line(const struct top_dev *dev, unsigned int width, char *buf,
		      size_t size)
{
	static const char *const words[] = { "tx", "rx" };
	bool utf8 = MB_CUR_MAX > 1;
	unsigned int i, n;
	size_t at;

	if (width < TEXT_WIDTH + 2 * MIN_BARS || size < 8 * TOP_TRAFFIC + 128 ||
	    (dev->count[C_TX_BYTES].rate < 0 && dev->count[C_RX_BYTES].rate < 0))
		return false;
	n = (width - TEXT_WIDTH) / 2;
	if (n > TOP_TRAFFIC)
		n = TOP_TRAFFIC;
	at = snprintf(buf, size, "%-10.10s", dev->name);
	for (i = 0; i < 2; i++) {
		double rate = dev->count[C_TX_BYTES + i].rate;

		at += snprintf(buf + at, size - at, "  %s %6.2f Gbit/s ",
			       words[i], rate > 0 ? rate * 8 / 1e9 : 0);
		at += put_bars(dev, i, n, utf8, buf + at, size - at);
	}
	return true;
}
