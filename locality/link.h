/* SPDX-License-Identifier: GPL-2.0-or-later
 * link.h - the PCIe link of a card: what it is now, and what both ends of it could do
 *
 * Which link  of a card with a switch of its own (AMD, Intel) the GPU behind it tells 2.5 GT/s x1 or whatever
 *             is on the board; what counts is the card's upper port in its slot.
 * Possible    the smaller of what the card and the port above it can do
 * Speed       an idle GPU turns its link down: a low speed says something only while it works, a small width
 *             always
 * Threads     any; nothing is kept */
#ifndef LOCALITY_LINK_H
#define LOCALITY_LINK_H
#include "locality/pci.h"

/* 0: not told ("Unknown", 0 and 255 are not). */
struct link_width {
	int tenths_gts;		/* 160 = 16.0 GT/s */
	int lanes;
};

struct link {
	struct link_width now, possible;
};

/* `vendor` is the GPU's, `path` its way (pci.h); `root` as in sysfs.h. Cannot fail. */
void link_read(int root, unsigned vendor, const struct pci_path *path, struct link *out);

/* The link between two neighbours on a way: what it is now, by its lower end, or by the upper one where that
 * does not tell; and the smaller of what both can do. Cannot fail. */
void link_between(int root, const struct pci_address *upper, const struct pci_address *lower,
	struct link_width *now, struct link_width *possible);

/* "16.0 GT/s PCIe", "2.5 GT/s" -> 160, 25; 0 for what is no speed. */
int link_speed_parse(const char *text);

/* "16 GT/s x8"; "" when neither is told. Returns buf. */
#define LINK_TEXT_MAX 32
const char *link_text(const struct link_width *w, char buf[static LINK_TEXT_MAX]);

#endif
