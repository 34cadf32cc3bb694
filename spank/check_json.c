/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_json.c - a proof as one line of JSON for logs (check.h). By hand: a library for JSON would be loaded
 * into every srun and slurmstepd for this line alone. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "spank/check.h"

struct text {
	char *buf;
	size_t size, used;		/* used >= size: it was too long */
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (t->used >= t->size)
		return;
	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->used, t->size - t->used, fmt, ap);
	va_end(ap);
	t->used += n > 0 ? (size_t)n : 0;
}

static void add_string(struct text *t, const char *key, const char *value)
{
	add(t, ",\"%s\":\"", key);
	for (; *value; value++) {
		unsigned char c = (unsigned char)*value;

		if (c == '"' || c == '\\')
			add(t, "\\%c", c);
		else
			add(t, "%c", c >= 0x20 && c < 0x7F ? c : '?');
	}
	add(t, "\"");
}

/* --- what another process wrote ---------------------------------------------------------------------- */

/* A string in quotes; NULL: it is none. What is escaped are quotes and backslashes. */
static const char *after_string(const char *at)
{
	if (*at != '"')
		return NULL;
	for (at++; *at != '"'; at++) {
		if (*at == '\\')
			at++;
		if (*at < 0x20 || *at > 0x7E)
			return NULL;
	}
	return at + 1;
}

static const char *after_number(const char *at)
{
	size_t n = strspn(at, "0123456789");

	if (n && at[n] == '.')
		n += 1 + strspn(at + n + 1, "0123456789");
	return n ? at + n : NULL;
}

/* ,"key":VALUE with a key that is none of the head's. */
static const char *after_pair(const char *at)
{
	static const char *const head[] = { "\"gpu_check\"", "\"step\"", "\"task\"" };
	const char *key = at + 1, *end = *at == ',' ? after_string(key) : NULL;

	for (size_t i = 0; end && i < sizeof(head) / sizeof(head[0]); i++)
		if ((size_t)(end - key) == strlen(head[i]) && !strncmp(key, head[i], strlen(head[i])))
			return NULL;
	if (!end || *end != ':' || memchr(key, '\\', (size_t)(end - key)))
		return NULL;
	return end[1] == '"' ? after_string(end + 1) : after_number(end + 1);
}

bool check_json_is_of(const char *line, const char *step)
{
	char head[96];

	for (int o = 0; o < OUTCOMES; o++) {
		int n = snprintf(head, sizeof(head), "{\"gpu_check\":\"%s\",\"step\":\"%s\",\"task\":",
			outcome_name[o], step);
		const char *at = strncmp(line, head, (size_t)n) ? NULL : after_number(line + n);

		while (at && *at == ',')
			at = after_pair(at);
		if (at)
			return !strcmp(at, "}");
	}
	return false;
}

/* --- what is written --------------------------------------------------------------------------------- */

static void add_seconds(struct text *t, int64_t us)
{
	add(t, ",\"seconds\":%.3f", (double)us / 1e6);
}

static void add_worst(struct text *t, const struct proof_of_backend *b)
{
	const struct report *r = &b->report;

	add_string(t, "of", b->name);
	if (b->verdict.cause != CAUSE_NONE)
		add_string(t, "cause", cause_table[b->verdict.cause].name);
	if (r->cause != CAUSE_NONE || r->within)
		add_string(t, "stage",
			stage_table[r->cause != CAUSE_NONE ? r->failed_stage : r->within_stage].name);
	if (b->expectation.judge_allocated)
		add(t, ",\"allocated\":%d", b->expectation.allocation.allocated);
	if (r->count >= 0)
		add(t, ",\"seen\":%d", r->count);
	if (r->library[0])
		add_string(t, "library", r->library);
	add_string(t, "evidence", b->verdict.evidence);
}

static void add_head(struct text *t, const struct check_order *o, int task, const struct proof *p)
{
	add(t, "{\"gpu_check\":\"%s\",\"step\":\"%s\",\"task\":%d", outcome_name[p->outcome], o->step, task);
	add_string(t, "level", level_name[o->level]);
	add_seconds(t, p->us);
}

const char *check_json(const struct check_order *o, int task, const struct proof *p, char buf[PROOF_JSON_MAX])
{
	struct text t = { buf, PROOF_JSON_MAX, 0 };
	const struct proof_of_backend *worst = proof_worst(p);

	add_head(&t, o, task, p);
	if (worst)
		add_worst(&t, worst);
	else
		add_string(&t, "evidence", p->why_nothing);
	for (int i = 0; i < p->backends; i++)
		if (&p->of[i] != worst)
			add_string(&t, p->of[i].name, outcome_name[p->of[i].verdict.outcome]);
	add(&t, "}");
	if (t.used >= t.size) {		/* what is cut is no JSON */
		t.used = 0;
		add_head(&t, o, task, p);
		add(&t, "}");
	}
	return buf;
}
