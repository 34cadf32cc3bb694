/* SPDX-License-Identifier: GPL-2.0-or-later
 * verdict.c - the rule of verdict.h, and its sentence */
#include "gpu_check/verdict.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const outcome_name[OUTCOMES] = { "ok", "warn", "fail", "unchecked" };

__attribute__((format(printf, 4, 5))) static bool decide(struct verdict *v, enum outcome outcome,
	enum cause cause, const char *fmt, ...)
{
	va_list ap;

	v->outcome = outcome;
	v->cause = cause;
	va_start(ap, fmt);
	vsnprintf(v->evidence, sizeof(v->evidence), fmt, ap);
	va_end(ap);
	return true;
}

/* --- 1: how the helper ended ------------------------------------------------------------------------ */

/* "while a kernel ran on the device (device 2, 0000:c1:00.0)" */
static const char *where_text(const struct report *r, enum stage stage, int device, char buf[128])
{
	int n = snprintf(buf, 128, "while %s", stage_table[stage].doing);

	if (device >= 0 && device < r->devices && r->device[device].bus_id[0])
		snprintf(buf + n, 128 - (size_t)n, " (device %d, %s)", device, r->device[device].bus_id);
	else if (device >= 0)
		snprintf(buf + n, 128 - (size_t)n, " (device %d)", device);
	return buf;
}

static void within_text(const struct report *r, char buf[128])
{
	if (r->within)
		where_text(r, r->within_stage, r->within_device, buf);
	else
		snprintf(buf, 128, "between two stages");
}

static const char *said_text(const struct helper_result *h, char buf[REPORT_TEXT_MAX + 16])
{
	buf[0] = '\0';
	if (h->said[0])
		snprintf(buf, REPORT_TEXT_MAX + 16, "; it printed \"%s\"", h->said);
	return buf;
}

static bool judge_end(const struct report *r, const struct helper_result *h, struct verdict *v)
{
	char where[128], said[REPORT_TEXT_MAX + 16];

	said_text(h, said);
	within_text(r, where);
	switch (h->end) {
	case HELPER_LEFT:
		return decide(v, OUTCOME_FAILED, CAUSE_HANG_KERNEL,
			"no answer in %.1f s %s; process %d is in state %c and does not end%s",
			(double)h->us / 1e6, where, (int)h->pid, h->state, said);
	case HELPER_LATE:
		return decide(v, OUTCOME_FAILED, h->state == 'D' ? CAUSE_HANG_KERNEL : CAUSE_HANG,
			"no answer in %.1f s %s; the process was in state %c%s", (double)h->us / 1e6, where,
			h->state, said);
	case HELPER_SIGNALLED:
		return decide(v, OUTCOME_FAILED, CAUSE_CRASH, "signal %d (%s) %s%s", h->signal,
			strsignal(h->signal), where, said);
	case HELPER_GARBAGE:
		return decide(v, OUTCOME_FAILED, CAUSE_GARBAGE, "a line that is none of a report %s%s", where,
			said);
	case HELPER_ENDED:
		break;
	}
	if (r->done)
		return false;
	if (!r->backend[0])
		return decide(v, OUTCOME_FAILED, CAUSE_NO_HELPER,
			"it ended with status %d before its first word%s", h->exit_status, said);
	return decide(v, OUTCOME_FAILED, CAUSE_SILENT, "the process ended with status %d %s%s",
		h->exit_status, where, said);
}

/* --- 2: a stage ------------------------------------------------------------------------------------- */

static bool judge_stages(const struct report *r, const struct helper_result *h, struct verdict *v)
{
	char where[128], said[REPORT_TEXT_MAX + 16];

	if (r->cause == CAUSE_NONE)
		return false;
	return decide(v, OUTCOME_FAILED, r->cause, "%s, %s%s", r->text,
		where_text(r, r->failed_stage, r->failed_device, where), said_text(h, said));
}

/* --- 3 and 4: which devices ------------------------------------------------------------------------- */

static bool judge_kind(const struct report *r, const struct expectation *e, struct verdict *v)
{
	for (int d = 0; d < r->devices && !e->any_kind; d++)
		if (r->device[d].kind == DEVICE_CPU)
			return decide(v, OUTCOME_FAILED, CAUSE_CPU, "device %d of %d is \"%s\"", d, r->count,
				r->device[d].name);
	return false;
}

static bool sees(const struct report *r, const char *bus_id)
{
	for (int d = 0; d < r->devices; d++)
		if (!strcmp(r->device[d].bus_id, bus_id))
			return true;
	return false;
}

static bool judge_bus(const struct report *r, const struct expectation *e, struct verdict *v)
{
	for (int d = 0; d < r->devices && e->bus_known; d++)
		if (r->device[d].bus_id[0] && !e->is_on_bus[d])
			return decide(v, OUTCOME_FAILED, CAUSE_NOT_ON_BUS, "device %d is \"%s\" at %s", d,
				r->device[d].name, r->device[d].bus_id);
	for (int i = 0; i < e->own_count; i++)
		if (r->devices > 0 && r->device[0].bus_id[0] && !sees(r, e->own[i]))
			return decide(v, OUTCOME_FAILED,
				r->count < e->own_count ? CAUSE_FEWER : CAUSE_OTHER_GPU,
				"%s belongs to the task and is not among the %d that it sees", e->own[i],
				r->count);
	return false;
}

/* --- 5: how many ------------------------------------------------------------------------------------ */

int report_cards(const struct report *r)
{
	int cards = 0;

	for (int d = 0; d < r->devices; d++) {
		int first = 0;

		if (!r->device[d].bus_id[0])
			return r->count;
		while (strcmp(r->device[first].bus_id, r->device[d].bus_id))
			first++;
		cards += first == d;
	}
	return cards;
}

static bool is_instance(const struct report *r, const struct expectation *e)
{
	return e->allocation.instance || (r->devices > 0 && !strncmp(r->device[0].uuid, "MIG-", 4));
}

/* "4 were given, CUDA_VISIBLE_DEVICES names 2, the node has 8 and the backend has 2" */
static void numbers_text(const struct report *r, const struct expectation *e, char buf[256])
{
	size_t n = 0;

	buf[0] = '\0';
	if (e->judge_allocated)
		n += (size_t)snprintf(buf, 256, "%d %s, ", e->allocation.allocated,
			e->by_hand ? "expected" : "given by Slurm");
	if (e->allocation.named >= 0)
		n += (size_t)snprintf(buf + n, 256 - n, "%d in %s, ", e->allocation.named,
			e->allocation.variable);
	if (e->on_bus >= 0)
		n += (size_t)snprintf(buf + n, 256 - n, "%d on the node's bus, ", e->on_bus);
	snprintf(buf + n, 256 - n, "%d seen by the backend", r->count < 0 ? 0 : r->count);
}

/* Whoever hides all devices (CUDA_VISIBLE_DEVICES=) wants none: that is no failure, but worth a word where
 * they are paid for. Drivers say "no device" then, or count none. */
static bool judge_hidden(const struct report *r, const struct expectation *e, struct verdict *v)
{
	char numbers[256];

	if (e->allocation.named != 0 || !(r->count == 0 || r->cause == CAUSE_NO_DEVICE))
		return false;
	numbers_text(r, e, numbers);
	if (e->judge_allocated && e->allocation.allocated > 0)
		return decide(v, OUTCOME_WARNED, CAUSE_NARROWED, "%s", numbers);
	return decide(v, OUTCOME_UNCHECKED, CAUSE_HIDDEN, "%s", numbers);
}

static bool judge_number(const struct report *r, const struct expectation *e, struct verdict *v)
{
	const struct allocation *a = &e->allocation;
	bool given = e->judge_allocated && a->allocated >= 0;
	char numbers[256];

	numbers_text(r, e, numbers);
	if (r->count == 0)
		return decide(v, OUTCOME_FAILED, CAUSE_NO_DEVICE, "%s", numbers);
	if (is_instance(r, e) || a->shared)
		return false;
	if (a->named >= 0 && r->count < a->named)
		return decide(v, OUTCOME_FAILED, CAUSE_FEWER, "%s", numbers);
	if (given && a->named >= 0 && a->named < a->allocated)
		return decide(v, OUTCOME_WARNED, CAUSE_NARROWED, "%s", numbers);
	if ((given && r->count < a->allocated) || (a->named < 0 && r->count < e->on_bus))
		return decide(v, OUTCOME_FAILED, CAUSE_FEWER, "%s", numbers);
	if (given && report_cards(r) > a->allocated)
		return decide(v, OUTCOME_WARNED, CAUSE_MORE, "%s", numbers);
	return false;
}

/* --- the verdict ------------------------------------------------------------------------------------ */

static const char *const proven_by[LEVELS] = {
	[LEVEL_OFF] = "nothing was asked of it",
	[LEVEL_ENUM] = "counted, not used",
	[LEVEL_COPY] = "memory filled and copied on each",
	[LEVEL_KERNEL] = "a kernel ran on each",
	[LEVEL_BANDWIDTH] = "a kernel ran on each",
};

static void praise(const struct report *r, const struct helper_result *h, const struct expectation *e,
	struct verdict *v)
{
	const struct device_report *d = &r->device[0];
	char rate[64] = "", also[16] = "";

	if (e->level == LEVEL_BANDWIDTH && d->up_mb_s > 0)
		snprintf(rate, sizeof(rate), ", %.1f GB/s to the first and %.1f back",
			(double)d->up_mb_s / 1000, (double)d->down_mb_s / 1000);
	if (r->count > 1)
		snprintf(also, sizeof(also), ", ...");
	decide(v, r->no_kernel ? OUTCOME_WARNED : OUTCOME_PROVEN, r->no_kernel ? CAUSE_NO_KERNEL : CAUSE_NONE,
		"%d %s (%s%s%s%s), %s%s, %.2f s", r->count, r->count == 1 ? "device" : "devices", d->name,
		d->bus_id[0] ? " at " : "", d->bus_id, also,
		r->no_kernel ? proven_by[LEVEL_COPY] : proven_by[e->level], rate, (double)h->us / 1e6);
}

void verdict_make(const struct report *r, const struct helper_result *h, const struct expectation *e,
	bool started, const char *why, struct verdict *out)
{
	if (!started) {
		decide(out, OUTCOME_FAILED, CAUSE_NO_HELPER, "%s", why);
		return;
	}
	if (judge_end(r, h, out) || judge_hidden(r, e, out) || judge_stages(r, h, out) ||
		judge_kind(r, e, out) || judge_bus(r, e, out) || judge_number(r, e, out))
		return;
	praise(r, h, e, out);
}

void verdict_of_program(const struct helper_result *h, const char *path, bool started, const char *why,
	struct verdict *out)
{
	char said[REPORT_TEXT_MAX + 16];

	said_text(h, said);
	if (!started)
		decide(out, OUTCOME_FAILED, CAUSE_SITE_CHECK, "%s", why);
	else if (h->end == HELPER_LATE || h->end == HELPER_LEFT)
		decide(out, OUTCOME_FAILED, CAUSE_SITE_CHECK, "%s did not end in %.1f s%s", path,
			(double)h->us / 1e6, said);
	else if (h->signal)
		decide(out, OUTCOME_FAILED, CAUSE_SITE_CHECK, "%s: signal %d (%s)%s", path, h->signal,
			strsignal(h->signal), said);
	else if (h->exit_status)
		decide(out, OUTCOME_FAILED, CAUSE_SITE_CHECK, "%s: status %d after %.1f s%s", path,
			h->exit_status, (double)h->us / 1e6, said);
	else
		decide(out, OUTCOME_PROVEN, CAUSE_NONE, "%s, %.2f s", path, (double)h->us / 1e6);
}

const char *verdict_line(const struct verdict *v, const char *backend, char buf[VERDICT_LINE_MAX])
{
	static const char *const word[OUTCOMES] = { "ok", "warning", "FAIL", "not checked" };
	const struct cause_row *c = &cause_table[v->cause];

	if (v->cause == CAUSE_NONE)
		snprintf(buf, VERDICT_LINE_MAX, "%s %s: %s", word[v->outcome], backend, v->evidence);
	else
		snprintf(buf, VERDICT_LINE_MAX, "%s %s: %s. Cause: %s. To do: %s.", word[v->outcome], backend,
			v->evidence, c->text, c->advice);
	return buf;
}
