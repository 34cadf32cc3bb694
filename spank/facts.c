/* SPDX-License-Identifier: GPL-2.0-or-later
 * facts.c - what a job is told of its own run (facts.h). */
#include "spank/facts.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "lib/duration.h"
#include "lib/number.h"

const char *fact_tier(const char *qos)
{
	static const struct {
		const char *qos, *tier;
	} tiers[] = { { "funded", "funded" }, { "funded-still", "funded" }, { "free", "free" } };

	for (size_t i = 0; i < sizeof(tiers) / sizeof(tiers[0]); i++)
		if (!strcmp(qos, tiers[i].qos))
			return tiers[i].tier;
	return NULL;
}

const char *fact_run(const char *restarts, char *buf, size_t size)
{
	int64_t n = 0;

	if (restarts && number_parse(restarts, INT32_MAX, &n) < 0)
		return NULL;
	snprintf(buf, size, "%" PRId64, n + 1);
	return buf;
}

const char *fact_min_runtime(const char *tier, const char *declared, char *buf, size_t size)
{
	int64_t seconds = 0;

	if (strcmp(tier, "free") != 0 && (!declared || duration_parse(declared, &seconds, NULL) < 0))
		return NULL;
	snprintf(buf, size, "%" PRId64, seconds);
	return buf;
}
