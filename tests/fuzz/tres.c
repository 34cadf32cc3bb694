/* SPDX-License-Identifier: GPL-2.0-or-later
 * tres.c - what Slurm gave, in words and by numbers; the devices of its details; --constraint */
#include "lib/tres.h"
#include <stdlib.h>
#include <string.h>
#include "lib/export.h"
#include "lib/features.h"
#include "lib/gpu_places.h"
#include "tests/fuzz/fuzz.h"

static const struct tres_id ids[] = { { 1, "cpu" }, { 2, "mem" }, { 4, "node" }, { 1001, "gres/gpu" },
	{ 1002, "gres/gpu:h100" }, { 1003, "gres/shard" } };

static void sums(const struct gpu_count *c)
{
	char text[GPU_COUNT_TEXT_MAX];
	int64_t sum = 0;

	fuzz_must(c->total >= 0 && c->ntypes >= 0 && c->ntypes <= GPU_TYPES_MAX);
	for (int i = 0; i < c->ntypes; i++)
		sum += c->types[i].count;
	fuzz_must(sum == c->total && strlen(gpu_count_text(c, text)) < sizeof(text));
}

static void places(const char *detail)
{
	struct gpu_places p = {0};
	char text[256] = "";
	int rounds = 0;

	if (gpu_places_add(text, sizeof(text), "g1", detail) == 0)
		p.text = text;
	while (p.text && rounds++ < 1000 && gpu_places_next(&p))
		fuzz_must(p.index >= 0 && !strcmp(p.node, "g1"));
	/* the same text out of the books, where it may be anything */
	p = (struct gpu_places){ .text = detail };
	for (rounds = 0; rounds < 1000 && gpu_places_next(&p); rounds++)
		fuzz_must(p.index >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gpu_count c = {0}, n = {0};
	struct fault why = {0}, other = {0};
	char *line[2], types[EXPORT_TYPES_MAX];

	fuzz_lines(data, size, 2, line);
	if (tres_read(line[0], &c, &why) < 0)
		fuzz_refused(&why);
	sums(&c);
	if (tres_read_ids(line[0], ids, sizeof(ids) / sizeof(*ids), &n, &other) < 0)
		fuzz_refused(&other);
	sums(&n);
	export_gpu_types(line[0], types);
	places(line[0]);
	features_met(line[0], line[1]);
	fuzz_lines_free(2, line);
	return 0;
}
