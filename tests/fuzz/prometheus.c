/* SPDX-License-Identifier: GPL-2.0-or-later
 * prometheus.c - what Prometheus answers, and a site's labels and queries */
#include <stdlib.h>
#include <string.h>
#include "budgetd/gpu_table.h"
#include "tests/fuzz/fuzz.h"

#define BEGAN ((int64_t)1767571200)

static void labels(const char *text)
{
	struct gpu_labels l;
	struct fault why = {0};
	char node[GPU_NODE_MAX], query[GPU_QUERY_MAX];

	if (gpu_labels_parse(text, &l, &why) < 0)
		fuzz_refused(&why);
	if (gpu_label_node(text, node, sizeof(node)) == 0)
		fuzz_must(node[0] && strlen(node) < sizeof(node));
	fuzz_must(gpu_label_index(text) >= -1 && gpu_label_job(text) >= 0);
	gpu_query_text(text, 60, query, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct gpu_labels names = { .name = { "Hostname", "device", "UUID", "hpc_job" } };
	char *line[2];
	struct gpu_table t = {0};
	struct fault why = {0};
	struct json_object *answer, *series[QUERIES];

	fuzz_lines(data, size, 2, line);
	labels(line[0]);
	answer = json_tokener_parse(line[1]);
	for (int q = 0; q < QUERIES; q++)
		series[q] = answer;
	if (json_object_is_type(answer, json_type_array) && gpu_table_add(&t, &names, series, BEGAN, BEGAN + 600, 60, &why) < 0)
		fuzz_refused(&why);
	for (size_t i = 0; i < t.count; i++)
		fuzz_must(t.rows[i].index >= -1 && t.rows[i].job >= 0);
	gpu_table_clear(&t);
	json_object_put(answer);
	fuzz_lines_free(2, line);
	return 0;
}
