/* SPDX-License-Identifier: GPL-2.0-or-later
 * finding.c - a list of findings (finding.h) */
#include "gpu_check/finding.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct finding *same(struct findings *f, enum evidence kind, const char *subject)
{
	for (int i = 0; i < f->count; i++)
		if (f->row[i].kind == kind && !strcmp(f->row[i].subject, subject))
			return &f->row[i];
	return NULL;
}

static void make_printable(char *text)
{
	for (; *text; text++)
		if (*text < 0x20 || *text > 0x7e)
			*text = '?';
}

void findings_add(struct findings *f, enum evidence kind, enum policy at_most, const char *subject,
	const char *format, ...)
{
	struct finding *to = same(f, kind, subject);
	char text[FINDING_TEXT_MAX];
	size_t used = to ? strlen(to->text) : 0;
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	make_printable(text);
	if (!to && f->count == FINDINGS_MAX) {
		f->more++;
		return;
	}
	if (!to) {
		to = &f->row[f->count++];
		*to = (struct finding){.kind = kind, .at_most = at_most};
		snprintf(to->subject, sizeof(to->subject), "%s", subject);
	}
	if (at_most > to->at_most)
		to->at_most = at_most;
	snprintf(to->text + used, sizeof(to->text) - used, "%s%s", used ? "; " : "", text);
}

static enum policy policy_for(const struct finding *f, const enum policy of[static EVIDENCES], bool may_drain)
{
	enum policy p = of[f->kind];

	if (p > f->at_most)
		p = f->at_most;
	return p == POLICY_DRAIN && !may_drain ? POLICY_FAIL : p;
}

/* The same order each time, whatever qsort does with equal ones. */
static int worse_first(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (x->policy != y->policy)
		return x->policy > y->policy ? -1 : 1;
	return x->kind != y->kind ? (int)x->kind - (int)y->kind : strcmp(x->subject, y->subject);
}

enum policy findings_judge(struct findings *f, const enum policy of[static EVIDENCES], bool may_drain)
{
	int kept = 0;

	for (int i = 0; i < f->count; i++) {
		f->row[i].policy = policy_for(&f->row[i], of, may_drain);
		if (f->row[i].policy != POLICY_OFF)
			f->row[kept++] = f->row[i];
	}
	f->count = kept;
	qsort(f->row, (size_t)kept, sizeof(f->row[0]), worse_first);
	return kept ? f->row[0].policy : POLICY_OFF;
}

const char *finding_line(const struct finding *f, char buf[static FINDING_LINE_MAX])
{
	static const char *const word[POLICIES] = {"off", "warning", "FAIL", "DRAIN"};
	const struct evidence_row *e = &evidence_table[f->kind];

	snprintf(buf, FINDING_LINE_MAX, "%s %s %s: %s. Cause: %s. To do: %s.", word[f->policy], e->name,
		f->subject, f->text, e->cause, e->advice);
	return buf;
}

const char *findings_reason(const struct findings *f, char buf[static FINDING_REASON_MAX])
{
	char more[32] = "";
	int n = 0;

	buf[0] = '\0';
	while (n < f->count && f->row[n].policy == POLICY_DRAIN)
		n++;
	if (n > 1)
		snprintf(more, sizeof(more), " (and %d more)", n - 1);
	if (n > 0)
		snprintf(buf, FINDING_REASON_MAX, "gpubudget: gpu-check: %s %s: %.*s%s",
			evidence_table[f->row[0].kind].name, f->row[0].subject, 140, f->row[0].text, more);
	return buf;
}
