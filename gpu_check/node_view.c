/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_view.c - findings for people and for programs (node_view.h) */
#include "gpu_check/node_view.h"
#include <errno.h>
#include <json-c/json.h>

static const char *plural(int n)
{
	return n == 1 ? "" : "s";
}

void node_print_lines(FILE *to, const struct node_result *r)
{
	const struct node_state *s = r->views->now;
	char line[FINDING_LINE_MAX];

	for (int i = 0; i < r->findings->count; i++)
		fprintf(to, "gpu-check: %s\n", finding_line(&r->findings->row[i], line));
	if (r->findings->more)
		fprintf(to, "gpu-check: %d more findings are not shown\n", r->findings->more);
	if (r->findings->count == 0)
		fprintf(to,
			"gpu-check: ok node: %d GPU%s, %d link%s, %d device%s with error counters, %d "
			"version%s, %s\n",
			s->gpus, plural(s->gpus), s->links, plural(s->links), s->errors, plural(s->errors),
			s->facts, plural(s->facts),
			r->views->baseline ? "as the baseline" : "no baseline (gpu-check --learn makes one)");
}

static void add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add(to, key, value);
}

static struct json_object *finding_json(const struct finding *f)
{
	struct json_object *o = json_object_new_object();
	const struct evidence_row *e = &evidence_table[f->kind];

	add(o, "kind", json_object_new_string(e->name));
	add(o, "policy", json_object_new_string(policy_name[f->policy]));
	add(o, "subject", json_object_new_string(f->subject));
	add(o, "evidence", json_object_new_string(f->text));
	add(o, "cause", json_object_new_string(e->cause));
	add(o, "advice", json_object_new_string(e->advice));
	return o;
}

int node_print_json(FILE *to, const struct node_result *r)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	const struct node_state *s = r->views->now;
	char reason[FINDING_REASON_MAX];
	const char *text;

	findings_reason(r->findings, reason);
	for (int i = 0; i < r->findings->count; i++)
		json_object_array_add(list, finding_json(&r->findings->row[i]));
	add(o, "verdict", json_object_new_string(r->worst == POLICY_OFF ? "ok" : policy_name[r->worst]));
	add(o, "reason", reason[0] ? json_object_new_string(reason) : NULL);
	add(o, "gpus", json_object_new_int(s->gpus));
	add(o, "links", json_object_new_int(s->links));
	add(o, "counted", json_object_new_int(s->errors));
	add(o, "versions", json_object_new_int(s->facts));
	add(o, "baseline", json_object_new_boolean(r->views->baseline != NULL));
	add(o, "mark", json_object_new_boolean(mark_counts(r->views)));
	add(o, "findings", list);
	add(o, "not_shown", json_object_new_int(r->findings->more));
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		fprintf(to, "%s\n", text);
	json_object_put(o);
	errno = ENOMEM;
	return text ? 0 : -1;
}
