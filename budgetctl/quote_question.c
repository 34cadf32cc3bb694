/* SPDX-License-Identifier: GPL-2.0-or-later
 * quote_question.c - the body of POST /v1/quotes (quote_question.h) */
#include "budgetctl/quote_question.h"
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include "budgetctl/command.h"
#include "budgetctl/request.h"
#include "lib/duration.h"

#define AT(field) offsetof(struct submit_component, field)

static const struct {
	const char *key; /* in doc/api.md, question */
	size_t offset;
} texts[] =
	{
		{"account", AT(account)},
		{"partition", AT(partition)},
		{"qos", AT(qos)},
		{"comment", AT(comment)},
		{"tres_per_job", AT(gpus.tres_per_job)},
		{"tres_per_node", AT(gpus.tres_per_node)},
		{"tres_per_socket", AT(gpus.tres_per_socket)},
		{"tres_per_task", AT(gpus.tres_per_task)},
		{"array", AT(gpus.array)},
},
  counts[] = {
	  {"num_tasks", AT(gpus.num_tasks)},
	  {"min_nodes", AT(gpus.min_nodes)},
	  {"max_nodes", AT(gpus.max_nodes)},
	  {"ntasks_per_node", AT(gpus.ntasks_per_node)},
	  {"ntasks_per_socket", AT(gpus.ntasks_per_socket)},
	  {"sockets_per_node", AT(gpus.sockets_per_node)},
	  {"cpus_per_task", AT(gpus.cpus_per_task)},
	  {"ntasks_per_tres", AT(gpus.ntasks_per_tres)},
};

static int put_fields(struct json_object *q, const struct submit_component *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *text = *(const char *const *)((const char *)c + texts[i].offset);

		if (request_text(q, texts[i].key, text) < 0)
			return -1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		uint32_t n = *(const uint32_t *)((const char *)c + counts[i].offset);

		if (n != GPU_REQUEST_UNSET && request_number(q, counts[i].key, n) < 0)
			return -1;
	}
	return 0;
}

/* As texts, the way users write them: budgetd reads them as it reads the plugin's. */
static int put_options(struct json_object *q, const struct job_options *o)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64 "s", o->min_runtime_s);
	if (o->min_runtime_s != MIN_RUNTIME_UNSET && request_text(q, "min_runtime", text) < 0)
		return -1;
	if (o->tier != TIER_UNSET && request_text(q, "tier", job_tier_name(o->tier)) < 0)
		return -1;
	snprintf(text, sizeof(text), "%d", o->team_rank);
	return o->team_rank ? request_text(q, "team_rank", text) : 0;
}

static int put_time(struct json_object *q, int64_t limit_s)
{
	if (limit_s == TIME_LIMIT_UNSET)
		return 0;
	return request_number(q, "time_limit_min", limit_s == DURATION_UNLIMITED ? -1 : (limit_s + 59) / 60);
}

/* What changes when hours are set aside, and what being displaced means. */
static int put_terms(struct json_object *q, const struct submit_component *c)
{
	if (c->dependency && *c->dependency && request_text(q, "dependency", c->dependency) < 0)
		return -1;
	if (c->held && json_object_object_add(q, "held", json_object_new_boolean(true)) < 0)
		return -1;
	if (c->signal && (request_number(q, "signal", c->signal) < 0 ||
		json_object_object_add(q, "signal_script", json_object_new_boolean(c->signal_script)) < 0))
		return -1;
	return c->no_requeue ? json_object_object_add(q, "requeue", json_object_new_boolean(false)) : 0;
}

static struct json_object *component_json(const struct submit_component *c)
{
	struct json_object *q = json_object_new_object();

	if (q && put_fields(q, c) == 0 && put_options(q, &c->options) == 0 &&
		put_time(q, c->time_limit_s) == 0 && put_terms(q, c) == 0 &&
		(!c->gpus.exclusive ||
			json_object_object_add(q, "exclusive", json_object_new_boolean(true)) == 0))
		return q;
	json_object_put(q);
	return NULL;
}

struct json_object *quote_question(const struct submit_options *o)
{
	struct json_object *body = json_object_new_object(), *list = json_object_new_array();
	bool ok = body && list;

	for (size_t i = 0; ok && i < submit_options_components(o); i++) {
		struct json_object *q = component_json(submit_options_component(o, i));

		ok = q && json_object_array_add(list, q) == 0;
		if (!ok)
			json_object_put(q);
	}
	if (ok && json_object_object_add(body, "components", list) == 0)
		return body;
	json_object_put(list);
	json_object_put(body);
	errno = ENOMEM;
	return NULL;
}
