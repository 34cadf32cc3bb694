/* SPDX-License-Identifier: GPL-2.0-or-later
 * quote_json.c - a quote as JSON (quote_json.h) */
#include "lib/quote_json.h"
#include "lib/duration.h"
#include <errno.h>

/* Takes `value` over; a NULL that is no null ends it all. */
static void put(struct json_object *o, const char *key, struct json_object *value, bool *ok)
{
	if (!value || json_object_object_add(o, key, value) < 0) {
		json_object_put(value);
		*ok = false;
	}
}

static void put_number(struct json_object *o, const char *key, int64_t n, bool *ok)
{
	put(o, key, json_object_new_int64(n), ok);
}

static void put_number_or_null(struct json_object *o, const char *key, int64_t n, bool known, bool *ok)
{
	if (known)
		put_number(o, key, n, ok);
	else if (json_object_object_add(o, key, NULL) < 0)
		*ok = false;
}

static void put_types(struct json_object *o, const struct gpu_count *c, bool *ok)
{
	struct json_object *types = json_object_new_object();

	for (int i = 0; types && i < c->ntypes; i++)
		put_number(types, c->types[i].type[0] ? c->types[i].type : "untyped", c->types[i].count, ok);
	put(o, "types", types, ok);
	if (c->shards)
		put_number(o, "shards", c->shards, ok);
	if (c->mps)
		put_number(o, "mps", c->mps, ok);
}

struct json_object *quote_json(const struct quote *q)
{
	struct json_object *o = json_object_new_object();
	bool ok = o != NULL;

	if (o) {
		put_number_or_null(o, "gpus", q->gpus.total, q->clear, &ok);
		put_number(o, "gpus_min", q->gpus_min, &ok);
		put_number(o, "gpus_max", q->gpus_max, &ok);
		put_types(o, &q->gpus, &ok);
		put_number(o, "array_tasks", q->array_tasks, &ok);
		put_number_or_null(o, "time_limit_s", q->time_limit_s,
			q->time_limit_s != QUOTE_NOT_KNOWN && q->time_limit_s != DURATION_UNLIMITED, &ok);
		put_number(o, "min_runtime_s", q->min_runtime_s, &ok);
		put_number(o, "hold_gpu_seconds", q->hold_gpu_seconds, &ok);
		put_number(o, "hold_units", q->hold, &ok);
		put_number_or_null(o, "whole_units", q->whole, q->whole != QUOTE_NOT_KNOWN, &ok);
		put(o, "rule", json_object_new_string(q->rule), &ok);
	}
	if (ok)
		return o;
	json_object_put(o);
	errno = ENOMEM;
	return NULL;
}
