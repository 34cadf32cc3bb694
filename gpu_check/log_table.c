/* SPDX-License-Identifier: GPL-2.0-or-later
 * log_table.c - the kernel's log by kinds of evidence (log_table.h) */
#include "gpu_check/log_table.h"
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define XID(kind, number) { kind, number, "" }
#define TEXT(kind, pattern) { kind, XID_ANY, pattern }

static const struct log_row builtin[] = {
	XID(EVIDENCE_GPU_LOST, 79),
	XID(EVIDENCE_GPU_MEMORY, 48), XID(EVIDENCE_GPU_MEMORY, 64), XID(EVIDENCE_GPU_MEMORY, 95),
	XID(EVIDENCE_GPU_MEMORY, 140),
	XID(EVIDENCE_GPU_RESET, 46), XID(EVIDENCE_GPU_RESET, 62), XID(EVIDENCE_GPU_RESET, 74),
	XID(EVIDENCE_GPU_RESET, 109), XID(EVIDENCE_GPU_RESET, 110), XID(EVIDENCE_GPU_RESET, 119),
	XID(EVIDENCE_GPU_RESET, 120), XID(EVIDENCE_GPU_RESET, 136), XID(EVIDENCE_GPU_RESET, 143),
	XID(EVIDENCE_GPU_RESET, 155), XID(EVIDENCE_GPU_RESET, 156), XID(EVIDENCE_GPU_RESET, 158),
	XID(LOG_NOTHING, 13), XID(LOG_NOTHING, 31), XID(LOG_NOTHING, 43), XID(LOG_NOTHING, 45),
	XID(EVIDENCE_GPU_ERROR, XID_ANY),
	TEXT(EVIDENCE_GPU_LOST, "NVRM: *fallen off the bus*"),
	/* before the others: these have the names of programs in them, which users choose */
	TEXT(LOG_NOTHING, "*amdgpu*rocess * pid * thread * pid *"),
	TEXT(EVIDENCE_GPU_ERROR, "*i915*GPU HANG*"),
	TEXT(EVIDENCE_GPU_ERROR, "*xe *GPU HANG*"),
	TEXT(EVIDENCE_GPU_RESET, "*amdgpu*GPU reset*failed*"),
	TEXT(EVIDENCE_GPU_RESET, "*amdgpu*GPU Recovery Failed*"),
	TEXT(EVIDENCE_GPU_MEMORY, "*amdgpu*uncorrectable hardware errors detected*"),
	TEXT(EVIDENCE_GPU_ERROR, "*amdgpu*GPU reset begin*"),
	TEXT(EVIDENCE_GPU_ERROR, "*amdgpu*ring *timeout*"),
	TEXT(EVIDENCE_GPU_RESET, "*xe*declared device*wedged*"),
	TEXT(EVIDENCE_GPU_RESET, "*i915*wedged*"),
	TEXT(EVIDENCE_GPU_ERROR, "*i915*Resetting *"),
	TEXT(EVIDENCE_GPU_ERROR, "*xe *GT*reset*"),
	/* "pci ID: PCIe Bus Error: severity=", and the same with "AER: " before it; newer kernels say
	 * Uncorrectable. Corrected ones are counted by the kernel's own counters. */
	TEXT(EVIDENCE_AER_FATAL, "*PCIe Bus Error: severity=Uncorrect*(Fatal)*"),
	TEXT(EVIDENCE_AER_FATAL, "*AER: *Uncorrect*(Fatal) error *"),
	TEXT(EVIDENCE_AER_NONFATAL, "*PCIe Bus Error: severity=Uncorrect*(Non-Fatal)*"),
	TEXT(EVIDENCE_AER_NONFATAL, "*AER: *Uncorrect*(Non-Fatal) error *"),
};

const struct log_row *log_builtin(int i)
{
	return i >= 0 && (size_t)i < COUNT(builtin) ? &builtin[i] : NULL;
}

/* --- one line ----------------------------------------------------------------------------------------- */

static bool is_aer(int kind)
{
	return kind == EVIDENCE_AER_FATAL || kind == EVIDENCE_AER_NONFATAL || kind == EVIDENCE_AER_CORRECTED;
}

/* A bus id at `p`, with or without a function, as "0000:c1:00.0" or in "PCI:0000:c1:00". How long; 0: none.
 */
static size_t bus_id_at(const char *p, struct pci_address *out)
{
	size_t n = strspn(p, "0123456789abcdefABCDEF:.");
	char text[PCI_TEXT_MAX + 4];
	size_t used = n;

	while (used > 0 && (p[used - 1] == ':' || p[used - 1] == '.'))
		used--;
	if (used < 7 || used >= PCI_TEXT_MAX)	/* c1:00.0 */
		return 0;
	snprintf(text, sizeof(text), "%.*s%s", (int)used, p, memchr(p, '.', used) ? "" : ".0");
	return strchr(text, ':') != strrchr(text, ':') && pci_parse(text, out) == 0 ? n : 0;
}

/* The last of the line's bus ids that the node knows, else its first. */
static void bus_id_find(const struct node_state *node, const char *text, struct log_hit *out, bool *known)
{
	struct pci_address a;

	*known = false;
	for (const char *p = text; *p; p++) {
		size_t n = p > text && isalnum((unsigned char)p[-1]) ? 0 : bus_id_at(p, &a);

		if (!n)
			continue;
		if (state_errors(node, &a) || state_link(node, &a) || state_gpu(node, &a)) {
			out->at = a;
			*known = true;
		} else if (!out->bus_id) {
			out->at = a;
		}
		out->bus_id = true;
		p += n - 1;
	}
}

/* "NVRM: Xid (PCI:0000:c1:00): 79, pid=..."; -1: it is no such line */
static int xid_of(const char *text)
{
	const char *p = strncmp(text, "NVRM: Xid (", 11) ? NULL : strstr(text, "): ");

	return p && isdigit((unsigned char)p[3]) ? (int)strtol(p + 3, NULL, 10) : -1;
}

static bool row_fits(const struct log_row *r, const char *text, int xid)
{
	if (r->pattern[0])
		return fnmatch(r->pattern, text, 0) == 0;
	return xid >= 0 && (r->xid == XID_ANY || r->xid == xid);
}

/* The kernel repeats names of programs and files, which users choose: "NAME[123]: segfault at ... in FILE",
 * "traps: NAME[123] ...", "process 'FILE' started with executable stack". A name has 15 bytes, so its number
 * stands near the beginning. */
static bool tells_of_program(const char *text)
{
	enum { NAME_AT_MOST = 15 + sizeof("traps: ") - 1 };
	size_t digits;

	for (int at = 0; at <= NAME_AT_MOST && text[at]; at++)
		if (text[at] == '[' && (digits = strspn(text + at + 1, "0123456789")) > 0 &&
			text[at + 1 + (int)digits] == ']')
			return true;
	return !strncmp(text, "process '", 9);
}

/* Does it begin as drivers' lines do: "NVRM: ", "[drm", or driver and bus id, "amdgpu 0000:c1:00.0: "? That
 * is longer than the name of a program can be. */
static bool is_of_driver(const char *text)
{
	const char *id = strchr(text, ' ');
	struct pci_address a;
	size_t n = id ? bus_id_at(++id, &a) : 0;

	return !strncmp(text, "NVRM: ", 6) || !strncmp(text, "[drm", 4) ||
	       (n > sizeof("0000:c1:00.0") - 1 && id[n - 1] == ':' && id[n] == ' ');
}

static int kind_of(const struct log_table *table, const char *text, int xid)
{
	if (tells_of_program(text))
		return LOG_NOTHING;
	for (int i = 0; table && i < table->rows; i++)
		if (row_fits(&table->row[i], text, xid))
			return table->row[i].kind;
	for (size_t i = 0; is_of_driver(text) && i < COUNT(builtin); i++)
		if (row_fits(&builtin[i], text, xid))
			return builtin[i].kind;
	return LOG_NOTHING;
}

bool log_classify(const struct log_table *table, const struct node_state *node, const char *text,
	struct log_hit *out)
{
	int xid = xid_of(text), kind = kind_of(table, text, xid);
	bool known;

	if (kind == LOG_NOTHING)
		return false;
	*out = (struct log_hit){ .kind = (enum evidence)kind, .xid = xid };
	bus_id_find(node, text, out, &known);
	return !is_aer(kind) || known;
}

/* --- all of them -------------------------------------------------------------------------------------- */

void log_groups_take(const char *text, int64_t at_us, void *groups)
{
	struct log_groups *g = groups;
	struct log_group *to = NULL;
	struct log_hit hit;

	(void)at_us;
	if (!log_classify(g->table, g->node, text, &hit))
		return;
	for (int i = 0; i < g->count && !to; i++)
		if (g->group[i].hit.kind == hit.kind && g->group[i].hit.xid == hit.xid &&
			g->group[i].hit.bus_id == hit.bus_id && !pci_compare(&g->group[i].hit.at, &hit.at))
			to = &g->group[i];
	if (!to && g->count < LOG_GROUPS_MAX) {
		to = &g->group[g->count++];
		*to = (struct log_group){ .hit = hit };
	}
	if (!to)
		return;		/* 64 kinds of trouble are enough to be told of */
	to->count++;
	snprintf(to->last, sizeof(to->last), "%s", text);
}

void log_groups_tell(const struct log_groups *g, struct findings *out)
{
	char at[PCI_TEXT_MAX];

	for (int i = 0; i < g->count; i++) {
		const struct log_group *l = &g->group[i];

		findings_add(out, l->hit.kind, POLICY_DRAIN,
			l->hit.bus_id ? pci_text(&l->hit.at, at) : "kernel log",
			"the kernel logged%s \"%s\"", l->count > 1 ? " several times, last" : "", l->last);
	}
}
