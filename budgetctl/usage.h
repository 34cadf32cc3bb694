/* SPDX-License-Identifier: GPL-2.0-or-later
 * usage.h - what was used in a range, asked of budgetd, for the commands that show it
 *
 * Every function that returns an exit code has said by itself what went wrong.
 *
 * Threads  one */
#ifndef BUDGETCTL_USAGE_H
#define BUDGETCTL_USAGE_H
#include "budgetctl/session.h"

#define USAGE_DAYS_MAX 400		/* a year and a month, a call each */

struct usage_range {
	const char *project;		/* NULL = all that one may see */
	int64_t from, to;
	const char *zone;		/* of the days, for people */
};

/* --from (without it: `since`, as when_parse reads it), --to, --tz, and the project of the words. From here
 * on the local time of the process is that of --tz, UTC without it, as in range.h. */
int usage_range_read(struct session *s, const char *since, struct usage_range *out);

/* Rows by "project", "user", "gpu_type" or "partition"; or by "day", of which each has one, without runs too.
 * DONE and *rows, to be put by the caller. */
int usage_ask(struct session *s, const struct usage_range *r, const char *by, struct json_object **rows);

/* "2026-11-01T00:00:00+01:00 to ..., by the clock of Europe/Berlin", below a table for people. */
void usage_range_say(const struct session *s, const struct usage_range *r);

int64_t usage_number(struct json_object *row, const char *key);	/* 0 where there is none */

#endif
