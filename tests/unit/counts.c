/* SPDX-License-Identifier: GPL-2.0-or-later
 * counts.c - a gpu_count as the tables write it. */
#include "tests/unit/counts.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void append(char *buf, const char *name, int64_t n)
{
	size_t len = strlen(buf);

	if (n)
		snprintf(buf + len, COUNTS_TEXT_MAX - len, "%s%s=%" PRId64, len ? "," : "", name, n);
}

const char *counts_text(const struct gpu_count *c, char buf[COUNTS_TEXT_MAX])
{
	buf[0] = '\0';
	for (int i = 0; i < c->ntypes; i++)
		append(buf, c->types[i].type[0] ? c->types[i].type : "untyped", c->types[i].count);
	append(buf, "shards", c->shards);
	append(buf, "mps", c->mps);
	return buf[0] ? buf : strcpy(buf, "-");
}

int counts_sum_up(const struct gpu_count *c)
{
	int64_t sum = 0;

	for (int i = 0; i < c->ntypes; i++)
		sum += c->types[i].count;
	return sum == c->total;
}
