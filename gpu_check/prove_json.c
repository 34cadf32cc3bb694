/* SPDX-License-Identifier: GPL-2.0-or-later
 * prove_json.c - a proof as one line of JSON (prove_view.h); times in seconds, null for what is not known */
#include <errno.h>
#include <json-c/json.h>
#include "gpu_check/prove_view.h"

static void add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add(to, key, value);
}

static void add_text(struct json_object *to, const char *key, const char *text)
{
	add(to, key, text && text[0] ? json_object_new_string(text) : NULL);
}

static void add_count(struct json_object *to, const char *key, int n)
{
	add(to, key, n < 0 ? NULL : json_object_new_int(n));
}

static void add_seconds(struct json_object *to, const char *key, int64_t us)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6f", (double)us / 1e6);
	add(to, key, us < 0 ? NULL : json_object_new_double_s((double)us / 1e6, text));
}

/* The stages that were run. */
static struct json_object *stages_json(const struct report *r, const struct device_report *d)
{
	struct json_object *o = json_object_new_object();

	for (int s = 0; s < STAGES; s++) {
		int64_t us = d ? d->us[s] : report_stage_us(r, s);

		if (us != REPORT_NOT_RUN)
			add_seconds(o, stage_table[s].name, us);
	}
	return o;
}

static struct json_object *device_json(const struct report *r, const struct device_report *d)
{
	struct json_object *o = json_object_new_object();

	add_text(o, "kind", device_kind_name[d->kind]);
	add_text(o, "bus_id", d->bus_id);
	add_text(o, "uuid", d->uuid);
	add_text(o, "name", d->name);
	add(o, "to_device_mb_s", d->up_mb_s ? json_object_new_int64(d->up_mb_s) : NULL);
	add(o, "from_device_mb_s", d->down_mb_s ? json_object_new_int64(d->down_mb_s) : NULL);
	add(o, "stages", stages_json(r, d));
	return o;
}

static const char *failed_stage(const struct proof_of_backend *b)
{
	if (b->report.cause != CAUSE_NONE)
		return stage_table[b->report.failed_stage].name;
	return b->report.within ? stage_table[b->report.within_stage].name : NULL;
}

static void add_verdict(struct json_object *o, const struct proof_of_backend *b)
{
	const struct verdict *v = &b->verdict;
	const struct cause_row *c = &cause_table[v->cause];

	add_text(o, "verdict", outcome_name[v->outcome]);
	add_text(o, "cause", v->cause == CAUSE_NONE ? NULL : c->name);
	add_text(o, "stage", failed_stage(b));
	add_text(o, "evidence", v->evidence);
	add_text(o, "text", v->cause == CAUSE_NONE ? NULL : c->text);
	add_text(o, "advice", v->cause == CAUSE_NONE ? NULL : c->advice);
	add_text(o, "printed", b->result.said);
}

static struct json_object *backend_json(const struct proof_of_backend *b)
{
	struct json_object *o = json_object_new_object(), *devices = json_object_new_array();

	add_text(o, "backend", b->name);
	add_verdict(o, b);
	add_text(o, "library", b->report.library);
	add_text(o, "version", b->report.version);
	add_count(o, "allocated", b->expectation.judge_allocated ? b->expectation.allocation.allocated : -1);
	add_count(o, "named", b->expectation.allocation.named);
	add_count(o, "on_bus", b->expectation.on_bus);
	add_count(o, "seen", b->report.count);
	add_seconds(o, "seconds", b->result.us);
	add(o, "stages", stages_json(&b->report, NULL));
	for (int d = 0; d < b->report.devices; d++)
		json_object_array_add(devices, device_json(&b->report, &b->report.device[d]));
	add(o, "devices", devices);
	return o;
}

static void add_soak(struct json_object *o, const struct soak *soak)
{
	if (!soak)
		return;
	add(o, "proofs", json_object_new_int64(soak->proofs));
	add_seconds(o, "soak_seconds", soak->us);
	add_seconds(o, "slowest_seconds", soak->slowest_us);
}

int proof_print_json(FILE *to, const struct proof *p, enum level level, const struct soak *soak)
{
	struct json_object *o = json_object_new_object(), *backends = json_object_new_array();
	const char *text;

	add_text(o, "verdict", outcome_name[p->outcome]);
	add_text(o, "level", level_name[level]);
	add_text(o, "not_checked", p->why_nothing);
	add_seconds(o, "seconds", p->us);
	add_soak(o, soak);
	for (int i = 0; i < p->backends; i++)
		json_object_array_add(backends, backend_json(&p->of[i]));
	add(o, "backends", backends);
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		fprintf(to, "%s\n", text);
	json_object_put(o);
	errno = ENOMEM;
	return text ? 0 : -1;
}
