/* SPDX-License-Identifier: GPL-2.0-or-later
 * range.c - a month or a range of time (range.h). */
#include "budgetctl/range.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "budgetctl/say.h"
#include "budgetctl/when.h"
#include "lib/zone.h"

int range_zone(struct session *s, const char **out)
{
	const char *wanted = session_option(s, OPT_TZ), *name = wanted ? wanted : "UTC";
	struct fault why = { "" };
	struct zone *zone = zone_new(name, &why);

	if (!zone)
		return complain(errno == ENOENT ? USAGE : REFUSED, "--tz: %s", why.text);
	*out = name;
	zone_free(zone);
	if (setenv("TZ", name, 1) < 0)
		return out_of_memory();
	tzset();
	return DONE;
}

static int moment(const char *option, const char *text, int64_t *out)
{
	struct fault why = { "" };

	return when_parse(text, time(NULL), out, &why) < 0 ? complain(USAGE, "%s: %s", option, why.text) : DONE;
}

/* A month of the zone: in UTC one that can be closed. */
static int month_read(const char *text, int64_t *from, int64_t *to)
{
	char first[16], next[16];
	int year, month, rv;

	if (zone_month_read(text, &year, &month) < 0)
		return complain(USAGE, "--period %s: a month is written like 2026-12, up to 9999-11", text);
	snprintf(first, sizeof(first), "%04d-%02d-01", year % 10000, month % 100);
	snprintf(next, sizeof(next), "%04d-%02d-01", (year + month / 12) % 10000, month % 12 + 1);
	rv = moment("--period", first, from);
	return rv == DONE ? moment("--period", next, to) : rv;
}

int range_read(struct session *s, int64_t *from, int64_t *to)
{
	const char *period = session_option(s, OPT_PERIOD), *first = session_option(s, OPT_FROM),
		*last = session_option(s, OPT_TO), *zone;
	int rv = range_zone(s, &zone);

	if (rv != DONE)
		return rv;
	if (period ? first || last : !first || !last)
		return complain(USAGE, "name a month, --period 2026-12, or both --from and --to");
	if (period)
		return month_read(period, from, to);
	rv = moment("--from", first, from);
	if (rv == DONE)
		rv = moment("--to", last, to);
	if (rv == DONE && *to <= *from)
		rv = complain(USAGE, "--to is not after --from");
	return rv;
}
