/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_request.c - the raw fields of a job description: how many GPUs are asked for; job arrays */
#include "lib/gpu_request.h"
#include <stdlib.h>
#include <string.h>
#include "tests/fuzz/fuzz.h"

enum { TEXTS = 5, NUMBERS = 8, LINES = TEXTS + 1 };

static const char *given(const char *text)
{
	return *text ? text : NULL;
}

static void array(const char *text)
{
	struct fault why = {0};
	char first[64];
	int64_t tasks = 0, throttle = 0, n;

	if (gpu_request_array_tasks(text, &tasks, &throttle, &why) < 0)
		fuzz_refused(&why);
	else
		fuzz_must(tasks > 0 && throttle >= 0);
	n = gpu_request_array_first(text, 3, first, sizeof(first));
	fuzz_must(n >= 0 && n <= 3);
	if (n > 0)		/* what was written can be read, and has as many, if none is named twice */
		fuzz_must(gpu_request_array_tasks(first, &tasks, &throttle, NULL) == 0 && tasks <= n);
	gpu_request_array_names(text, 5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gpu_request_input in;
	struct gpu_request_cluster cluster = { .gpus_per_node = 4 };
	struct gpu_request out = {0};
	struct fault why = {0};
	char *line[LINES], *at;
	uint32_t *const number[NUMBERS] = { &in.num_tasks, &in.min_nodes, &in.max_nodes, &in.ntasks_per_node,
		&in.ntasks_per_socket, &in.sockets_per_node, &in.cpus_per_task, &in.ntasks_per_tres };

	fuzz_lines(data, size, LINES, line);
	gpu_request_input_init(&in);
	in.tres_per_job = given(line[0]);
	in.tres_per_node = given(line[1]);
	in.tres_per_socket = given(line[2]);
	in.tres_per_task = given(line[3]);
	in.array = given(line[4]);
	at = line[5];
	in.exclusive = *at == 'x';
	at += in.exclusive;
	for (int i = 0; i < NUMBERS && *at; i++) {
		char *end;
		unsigned long n = strtoul(at, &end, 10);

		if (end != at)
			*number[i] = (uint32_t)n;
		at = *end ? end + 1 : end;
	}
	gpu_request_concerns(&in);
	if (gpu_request_read(&in, &cluster, &out, &why) < 0)
		fuzz_refused(&why);
	else
		fuzz_must(out.gpus_min >= 0 && out.gpus_min <= out.gpus_max && out.array_tasks >= 1 &&
			out.gpus_max <= (int64_t)1 << 31);
	array(line[4]);
	fuzz_lines_free(LINES, line);
	return 0;
}
