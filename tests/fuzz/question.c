/* SPDX-License-Identifier: GPL-2.0-or-later
 * question.c - the question of slurmctld, a modification over it, and what is kept of both */
#include "budgetd/question.h"
#include <stdlib.h>
#include <string.h>
#include "tests/fuzz/fuzz.h"

static void round_trip(struct json_object *body)
{
	struct question q = {0}, again = {0};
	struct fault why = {0};
	struct json_object *o;

	if (question_from_json(body, &q, &why) < 0) {
		fuzz_refused(&why);
		return;
	}
	o = question_to_json(&q);
	fuzz_must(o && question_from_json(o, &again, &why) == 0 && again.uid == q.uid &&
		again.time_limit_s == q.time_limit_s && again.gpus.num_tasks == q.gpus.num_tasks);
	json_object_put(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line[2];
	struct json_object *body, *both;

	fuzz_lines(data, size, 2, line);
	body = json_tokener_parse(line[0]);
	if (json_object_is_type(body, json_type_object)) {
		round_trip(body);
		both = question_overlay(line[1], body);
		if (json_object_is_type(both, json_type_object))
			round_trip(both);
		json_object_put(both);
	}
	json_object_put(body);
	fuzz_lines_free(2, line);
	return 0;
}
