/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_rules.c - the rules of node_rules.h */
#include "gpu_check/node_rules.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { HOUR_S = 3600 };

/* --- GPUs and links ----------------------------------------------------------------------------------- */

void rule_gpus(const struct node_views *v, struct findings *out)
{
	char at[PCI_TEXT_MAX];

	for (int i = 0; v->baseline && i < v->baseline->gpus; i++) {
		const struct node_card *g = &v->baseline->gpu[i];

		if (!state_gpu(v->now, &g->at))
			findings_add(out, EVIDENCE_GPU_MISSING, POLICY_DRAIN, pci_text(&g->at, at),
				"the GPU %04x:%04x was learned here, now %d of %d GPUs are on the bus",
				g->vendor, g->device, v->now->gpus, v->baseline->gpus);
	}
	for (int i = 0; v->baseline && i < v->now->gpus; i++)
		if (!state_gpu(v->baseline, &v->now->gpu[i].at))
			findings_add(out, EVIDENCE_IMAGE, POLICY_DRAIN, pci_text(&v->now->gpu[i].at, at),
				"this GPU was not there when the baseline was learned");
}

static void tell_link(const struct node_link *l, enum evidence kind, enum policy at_most, const char *what,
	const struct link_width *now, const struct link_width *want, struct findings *out)
{
	char at[PCI_TEXT_MAX], above[PCI_TEXT_MAX],
		of[PCI_TEXT_MAX + 16] = "", is[LINK_TEXT_MAX], should[LINK_TEXT_MAX], card[PCI_TEXT_MAX];

	if (pci_compare(&l->at, &l->of))
		snprintf(of, sizeof(of), ", on the way to %s", pci_text(&l->of, card));
	findings_add(out, kind, at_most, pci_text(&l->at, at), "the link to %s%s %s %s, %s were %s",
		pci_text(&l->above, above), of, what, link_text(now, is), link_text(want, should),
		at_most == POLICY_DRAIN ? "learned" : "possible");
}

static void judge_link(const struct node_link *l, const struct node_link *learned, struct findings *out)
{
	enum policy at_most = learned ? POLICY_DRAIN : POLICY_WARN;
	struct link_width want = learned ? learned->now : l->possible;

	if (l->now.lanes && l->now.lanes < want.lanes)
		tell_link(l, EVIDENCE_LINK_WIDTH, at_most, "runs at", &l->now, &want, out);
	if (learned && l->possible.tenths_gts && l->possible.tenths_gts < want.tenths_gts)
		tell_link(l, EVIDENCE_LINK_SPEED, at_most, "can do only", &l->possible, &want, out);
	else if ((!l->idles || l->works) && l->now.tenths_gts && l->now.tenths_gts < want.tenths_gts)
		tell_link(l, EVIDENCE_LINK_SPEED, at_most, "runs at", &l->now, &want, out);
}

void rule_links(const struct node_views *v, struct findings *out)
{
	for (int i = 0; i < v->now->links; i++)
		judge_link(&v->now->link[i], state_link(v->baseline, &v->now->link[i].at), out);
}

/* --- counters ----------------------------------------------------------------------------------------- */

bool mark_counts(const struct node_views *v)
{
	return v->mark && !strcmp(v->mark->boot, v->now->boot);
}

/* How many there are more than there were; a counter that went back began anew. */
static int64_t more_than(const struct node_errors *e, const struct node_errors *before, enum aer which)
{
	int64_t had = before && before->told[which] ? before->count[which] : 0;

	return e->count[which] >= had ? e->count[which] - had : e->count[which];
}

static void judge_errors(
	const struct node_views *v, const struct node_errors *e, int64_t per_hour, struct findings *out)
{
	static const enum evidence kind[AERS] = {
		EVIDENCE_AER_CORRECTED, EVIDENCE_AER_NONFATAL, EVIDENCE_AER_FATAL};
	const struct node_state *from = mark_counts(v) ? v->mark : v->baseline;
	int64_t seconds = (v->now->at_us - (mark_counts(v) ? v->mark->at_us : 0)) / 1000000;
	char at[PCI_TEXT_MAX];

	for (int a = 0; a < AERS; a++) {
		int64_t n = more_than(e, state_errors(from, &e->at), a);
		int64_t rate = seconds > HOUR_S ? (int64_t)((double)n * HOUR_S / (double)seconds) : n;

		if (!e->told[a] || n == 0 || (a == AER_CORRECTED && rate <= per_hour))
			continue;
		findings_add(out, kind[a], from ? POLICY_DRAIN : POLICY_WARN, pci_text(&e->at, at),
			"%" PRId64 " %s bus errors since %s%s%s%s", n, aer_name[a],
			mark_counts(v) ? "the mark" : "the boot", e->kinds[a][0] ? " (all: " : "",
			e->kinds[a], e->kinds[a][0] ? ")" : "");
	}
}

void rule_errors(const struct node_views *v, int64_t corrected_per_hour, struct findings *out)
{
	for (int i = 0; i < v->now->errors; i++)
		judge_errors(v, &v->now->error[i], corrected_per_hour, out);
}

/* --- versions ----------------------------------------------------------------------------------------- */

void rule_image(const struct node_views *v, struct findings *out)
{
	for (int i = 0; v->baseline && i < v->baseline->facts; i++) {
		const struct node_fact *f = &v->baseline->fact[i];
		const char *now = state_fact(v->now, f->name);

		if (!now && v->as_root)
			findings_add(out, EVIDENCE_IMAGE, POLICY_DRAIN, f->name,
				"is not there, %s was learned", f->value);
		else if (now && strcmp(now, f->value))
			findings_add(out, EVIDENCE_IMAGE, POLICY_DRAIN, f->name, "is %s, %s was learned", now,
				f->value);
	}
}
