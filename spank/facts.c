/* SPDX-License-Identifier: GPL-2.0-or-later
 * facts.c - what a job is told of its own run (facts.h). */
#include "spank/facts.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "lib/duration.h"
#include "lib/number.h"

const char *fact_tier(const char *qos, const struct settings *s)
{
	if (!strcmp(qos, s->qos_free))
		return "free";
	return !strcmp(qos, s->qos_funded) || !strcmp(qos, s->qos_funded_still) ? "funded" : NULL;
}

const char *fact_run(const char *restarts, char *buf, size_t size)
{
	int64_t n = 0;

	if (restarts && number_parse(restarts, INT32_MAX, &n) < 0)
		return NULL;
	snprintf(buf, size, "%" PRId64, n + 1);
	return buf;
}

static bool is_free(const char *tier)
{
	return !strcmp(tier, "free");
}

const char *fact_min_runtime(const char *tier, const char *declared, int64_t limit_s,
	const struct settings *s, char *buf, size_t size)
{
	int64_t seconds = s->default_min_runtime_s;

	if (declared && duration_parse(declared, &seconds, NULL) < 0)
		return NULL;
	if (limit_s > 0 && limit_s < seconds)
		seconds = limit_s;
	snprintf(buf, size, "%" PRId64, is_free(tier) ? 0 : seconds);
	return buf;
}

const char *fact_grace(const char *tier, const struct settings *s, char *buf, size_t size)
{
	snprintf(buf, size, "%" PRId64, is_free(tier) ? 0 : s->grace_s);
	return buf;
}
