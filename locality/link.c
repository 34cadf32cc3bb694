/* SPDX-License-Identifier: GPL-2.0-or-later
 * link.c - current_link_* and max_link_* (link.h) */
#include "locality/link.h"
#include <stdio.h>
#include <stdlib.h>
#include "locality/sysfs.h"

enum { LANES_MAX = 32 };	/* more is a register that reads all ones */

int link_speed_parse(const char *text)
{
	char *end;
	long whole = strtol(text, &end, 10), tenth = 0;

	if (end == text || whole < 0 || whole > 1000)
		return 0;
	if (*end == '.' && end[1] >= '0' && end[1] <= '9')
		tenth = *++end - '0', end++;
	return *end == ' ' && end[1] == 'G' && end[2] == 'T' ? (int)(whole * 10 + tenth) : 0;
}

/* which: "current" or "max" */
static struct link_width width_read(int root, const struct pci_address *a, const char *which)
{
	char device[PCI_TEXT_MAX], text[64];
	struct link_width w = { 0 };
	int64_t lanes = 0;

	pci_text(a, device);
	if (sysfs_read(root, text, sizeof(text), "sys/bus/pci/devices/%s/%s_link_speed", device, which) > 0)
		w.tenths_gts = link_speed_parse(text);
	if (sysfs_number(root, &lanes, "sys/bus/pci/devices/%s/%s_link_width", device, which) == 0 &&
		lanes > 0 && lanes <= LANES_MAX)
		w.lanes = (int)lanes;
	return w;
}

static int smaller(int a, int b)
{
	if (!a || !b)
		return a ? a : b;
	return a < b ? a : b;
}

/* The hop of the card's end of the slot: up through bridges of the GPU's own vendor, which are on the card;
 * never the first hop, the port of the host, which is Intel's too on Intel's machines. */
static int slot_end(int root, unsigned vendor, const struct pci_path *path)
{
	int at = path->hops - 1;

	while (at > 1) {
		char device[PCI_TEXT_MAX];
		int64_t above = 0;

		if (sysfs_number(root, &above, "sys/bus/pci/devices/%s/vendor",
			pci_text(&path->hop[at - 1], device)) < 0 || above != vendor)
			break;
		at--;
	}
	return at;
}

void link_read(int root, unsigned vendor, const struct pci_path *path, struct link *out)
{
	int at = vendor == PCI_NVIDIA ? path->hops - 1 : slot_end(root, vendor, path);
	struct link_width port = { 0 };

	out->now = width_read(root, &path->hop[at], "current");
	out->possible = width_read(root, &path->hop[at], "max");
	if (at > 0)
		port = width_read(root, &path->hop[at - 1], "max");
	out->possible.tenths_gts = smaller(out->possible.tenths_gts, port.tenths_gts);
	out->possible.lanes = smaller(out->possible.lanes, port.lanes);
}

void link_between(int root, const struct pci_address *upper, const struct pci_address *lower,
	struct link_width *now, struct link_width *possible)
{
	struct link_width above = width_read(root, upper, "current"), port = width_read(root, upper, "max");

	*now = width_read(root, lower, "current");
	*possible = width_read(root, lower, "max");
	if (!now->lanes)
		now->lanes = above.lanes;
	if (!now->tenths_gts)
		now->tenths_gts = above.tenths_gts;
	possible->tenths_gts = smaller(possible->tenths_gts, port.tenths_gts);
	possible->lanes = smaller(possible->lanes, port.lanes);
}

const char *link_text(const struct link_width *w, char buf[static LINK_TEXT_MAX])
{
	int n = 0;

	buf[0] = '\0';
	if (w->tenths_gts % 10)
		n = snprintf(buf, LINK_TEXT_MAX, "%d.%d GT/s", w->tenths_gts / 10, w->tenths_gts % 10);
	else if (w->tenths_gts)
		n = snprintf(buf, LINK_TEXT_MAX, "%d GT/s", w->tenths_gts / 10);
	if (w->lanes)
		snprintf(buf + n, LINK_TEXT_MAX - (size_t)n, "%sx%d", n ? " " : "", w->lanes);
	return buf;
}
