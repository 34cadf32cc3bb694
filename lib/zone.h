/* SPDX-License-Identifier: GPL-2.0-or-later
 * zone.h - a named time zone as a table: local clock readings to epoch seconds, and the edges of its months
 *
 * The C library has one zone for the whole process. Here its data are copied once, at opening; afterwards
 * any number of zones can be asked from any thread.
 *
 * Range    changes of the clock are known from 1990 to 2100; outside, the nearest one holds
 * Unit     UTC epoch seconds
 * Threads  zone_new() sets the environment variable TZ for a moment: only at the start of a program, while
 *          it has one thread. All others are pure functions of the zone: any thread */
#ifndef LIB_ZONE_H
#define LIB_ZONE_H
#include <stdint.h>
#include "lib/fault.h"

struct zone;

/* A reading of the local clock: year 1970 .. 9999, month 1 .. 12, and so on. */
struct zone_reading {
	int year, month, day, hour, minute, second;
};

/* "UTC", "Europe/Berlin". NULL and a text: errno ENOENT (the system has no zone of this name) or ENOMEM. */
struct zone *zone_new(const char *name, struct fault *why);
/* Does the C library know what the environment variable TZ says, or does it silently take UTC? NULL (not set)
 * and "" are known; so are ":Europe/Berlin", the path of a file, and POSIX's own form, "CET-1CEST". */
int zone_variable_known(const char *tz);

void zone_free(struct zone *z);		/* NULL is fine; errno is kept */

/* When that zone's clock reads `r`: none (0; the clock is put forward over it), one, or two moments (it is
 * put back over it), the earlier first. -1 and EINVAL when there is no such day or time of day. */
int zone_moments(const struct zone *z, const struct zone_reading *r, int64_t at[2]);

/* When a clock of UTC reads `r`. 1 and *at; or -1, *at untouched, EINVAL as above. */
int zone_utc(const struct zone_reading *r, int64_t *at);

/* The month in which `at` lies, as year * 12 + month - 1; *end, which is above `at`, is where it ends: the
 * first moment of the next one. */
int zone_month(const struct zone *z, int64_t at, int64_t *end);

/* The month of UTC in which `at` lies, as above; *start and *end are its edges: start <= at < end. */
int zone_utc_month(int64_t at, int64_t *start, int64_t *end);

/* The month that "2026-12" names: 1970-01 to 9998-12. 0 and both set, or -1 and EINVAL. */
int zone_month_read(const char *text, int *year, int *month);

/* "2026-12-31T12:00:30Z" in the caller's buffer. Returns buf; cannot fail. */
#define ZONE_TEXT_MAX 32
const char *zone_utc_text(int64_t at, char buf[static ZONE_TEXT_MAX]);

/* The same by the clock of the zone, "2026-12-31T13:00:30+01:00"; "...Z" for NULL, which is UTC. For long lists:
 * it takes a fraction of what strftime() takes. */
const char *zone_local_text(const struct zone *z, int64_t at, char buf[static ZONE_TEXT_MAX]);

/* Local clock - UTC at `at`, in seconds; 0 for NULL, which is UTC. */
int64_t zone_offset(const struct zone *z, int64_t at);

/* The first moment of the local day in which `at` lies, NULL as above. */
int64_t zone_day(const struct zone *z, int64_t at);

#endif
