/* SPDX-License-Identifier: GPL-2.0-or-later
 * zone.c - a named time zone as a table (zone.h)
 *
 * The table is found by looking at the offset every few days and halving the times in which it changes, which
 * asks the C library for nothing but localtime_r() and works with any form of zone data. Days and years are
 * counted by the proleptic Gregorian rule, 400 years = 146,097 days. */
#include "lib/zone.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DAY_S  INT64_C(86400)
#define STEP_S (6 * DAY_S) /* no zone changed twice in less than 6.9 days (Cambridge Bay, 2000) since FIRST  \
			    */
#define FIRST       INT64_C(631152000)  /* 1990-01-01: before the first Slurm, at any offset */
#define LAST        INT64_C(4102444800) /* 2100-01-01 */
#define ZONE_FOLDER "/usr/share/zoneinfo"
#define LETTERS     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

struct change {
	int64_t at;     /* from here on */
	int64_t offset; /* local clock - UTC, in seconds */
};

struct zone {
	size_t n;
	struct change *change; /* at least one; the first one's `at` is not looked at */
};

/* --- days ------------------------------------------------------------------------------------------- */

static bool is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in(int64_t year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 1970-01-01; years that begin in March have their leap day at the end. */
static int64_t day_number(int64_t year, int month, int day)
{
	int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* The month of a local clock's seconds, as year * 12 + month - 1. */
static int month_of(int64_t local)
{
	int64_t days = local / DAY_S - (local % DAY_S < 0);
	int64_t year = 1970 + days / 366 - 2;
	int month = 1;

	while (day_number(year + 1, 1, 1) <= days)
		year++;
	while (month < 12 && day_number(year, month + 1, 1) <= days)
		month++;
	return (int)(year * 12 + month - 1);
}

/* --- the table -------------------------------------------------------------------------------------- */

static int64_t system_offset(int64_t at)
{
	time_t t = (time_t)at;
	struct tm tm;

	return localtime_r(&t, &tm) ? tm.tm_gmtoff : 0;
}

static int change_add(struct zone *z, int64_t at, int64_t offset)
{
	struct change *grown = realloc(z->change, (z->n + 1) * sizeof(*grown));

	if (!grown)
		return -1;
	z->change = grown;
	grown[z->n++] = (struct change){at, offset};
	return 0;
}

/* The offset is another one at `to` than at `from`: the first moment that has it. */
static int64_t change_between(int64_t from, int64_t to)
{
	int64_t offset = system_offset(to);

	while (to - from > 1) {
		int64_t middle = from + (to - from) / 2;

		if (system_offset(middle) == offset)
			to = middle;
		else
			from = middle;
	}
	return to;
}

static int table_fill(struct zone *z)
{
	int64_t before = system_offset(FIRST), now;

	if (change_add(z, FIRST, before) < 0)
		return -1;
	for (int64_t at = FIRST; at < LAST; at += STEP_S, before = now) {
		now = system_offset(at + STEP_S);
		if (now != before && change_add(z, change_between(at, at + STEP_S), now) < 0)
			return -1;
	}
	return 0;
}

/* The C library takes any text for TZ and means UTC by what it does not know. */
static bool is_known(const char *name)
{
	const char *folder = getenv("TZDIR");
	char path[512];

	if (!strcmp(name, "UTC"))
		return true;
	if (!*name || *name == '/' || *name == ':' || strstr(name, "..") || name[strlen(name) - 1] == '/')
		return false;
	if (snprintf(path, sizeof(path), "%s/%s", folder ? folder : ZONE_FOLDER, name) >= (int)sizeof(path))
		return false;
	return access(path, R_OK) == 0;
}

/* POSIX's "CET-1CEST,M3.5.0,M10.5.0" or "<+03>-3": a name of letters or in angles, and an offset. */
static bool has_offset(const char *tz)
{
	size_t name = *tz == '<' ? strcspn(tz, ">") + 1 : strspn(tz, LETTERS);

	if (name < 3 || name > strlen(tz))
		return false;
	tz += name;
	tz += *tz == '+' || *tz == '-';
	return *tz >= '0' && *tz <= '9';
}

int zone_variable_known(const char *tz)
{
	if (!tz || !*tz)
		return true;
	tz += *tz == ':';
	return *tz == '/' ? access(tz, R_OK) == 0 : is_known(tz) || has_offset(tz);
}

/* TZ = `name`, or unset. */
static int zone_set(const char *name)
{
	int rv = name ? setenv("TZ", name, 1) : unsetenv("TZ");

	tzset();
	return rv;
}

struct zone *zone_new(const char *name, struct fault *why)
{
	const char *set = getenv("TZ");
	char *before = set ? strdup(set) : NULL;
	struct zone *z = calloc(1, sizeof(*z));
	int rv;

	if (!is_known(name)) {
		fault_errno(why, ENOENT, "this machine knows no time zone \"%.60s\"", name);
		free(before);
		free(z);
		errno = ENOENT;
		return NULL;
	}
	rv = !z || (set && !before) ? -1 : zone_set(name);
	if (rv == 0)
		rv = table_fill(z);
	if (z && (before || !set))
		zone_set(before);
	free(before);
	if (rv == 0)
		return z;
	zone_free(z);
	fault_errno(why, ENOMEM, "out of memory");
	return NULL;
}

void zone_free(struct zone *z)
{
	int err = errno;

	if (z)
		free(z->change);
	free(z);
	errno = err;
}

/* --- questions -------------------------------------------------------------------------------------- */

/* The change that is in force at `at`. */
static size_t change_at(const struct zone *z, int64_t at)
{
	size_t low = 0, high = z->n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (z->change[middle].at <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* When the clock shows `local`. Offsets are within a day of UTC, so only changes near it matter. */
static int moments(const struct zone *z, int64_t local, int64_t at[2])
{
	size_t first = change_at(z, local - DAY_S), last = change_at(z, local + DAY_S);
	int n = 0;

	for (size_t i = first; i <= last && n < 2; i++) {
		int64_t t = local - z->change[i].offset;

		if (change_at(z, t) == i)
			at[n++] = t;
	}
	return n;
}

/* The reading as if the clock were UTC's. */
int zone_utc(const struct zone_reading *r, int64_t *at)
{
	if (r->year < 1970 || r->year > 9999 || r->month < 1 || r->month > 12 || r->day < 1 ||
		r->day > days_in(r->year, r->month) || r->hour < 0 || r->hour > 23 || r->minute < 0 ||
		r->minute > 59 || r->second < 0 || r->second > 60) {
		errno = EINVAL;
		return -1;
	}
	*at = day_number(r->year, r->month, r->day) * DAY_S + r->hour * 3600 + r->minute * 60 + r->second;
	return 1;
}

int zone_moments(const struct zone *z, const struct zone_reading *r, int64_t at[2])
{
	int64_t local;

	return zone_utc(r, &local) < 0 ? -1 : moments(z, local, at);
}

/* The first moment of a month; where the clock is put forward over its midnight, the moment of that. */
static int64_t month_start(const struct zone *z, int month)
{
	int64_t local = day_number(month / 12, month % 12 + 1, 1) * DAY_S, at[2];
	size_t i;

	if (moments(z, local, at) > 0)
		return at[0];
	for (i = change_at(z, local - DAY_S) + 1; i < z->n; i++)
		if (z->change[i].at + z->change[i].offset >= local)
			return z->change[i].at;
	return local - z->change[z->n - 1].offset;
}

int zone_month(const struct zone *z, int64_t at, int64_t *end)
{
	int month = month_of(at + z->change[change_at(z, at)].offset);

	/* a clock put back over midnight shows the old month again, after it has ended */
	while ((*end = month_start(z, month + 1)) <= at)
		month++;
	return month;
}

int zone_utc_month(int64_t at, int64_t *start, int64_t *end)
{
	int month = month_of(at);

	*start = day_number(month / 12, month % 12 + 1, 1) * DAY_S;
	*end = day_number((month + 1) / 12, (month + 1) % 12 + 1, 1) * DAY_S;
	return month;
}

int zone_month_read(const char *text, int *year, int *month)
{
	int y, m, length = 0;

	if (strlen(text) != 7 || strspn(text, "0123456789-") != 7 ||
		sscanf(text, "%4d-%2d%n", &y, &m, &length) != 2 || length != 7 || y < 1970 || y > 9998 || m < 1 ||
		m > 12) {
		errno = EINVAL;
		return -1;
	}
	*year = y;
	*month = m;
	return 0;
}

const char *zone_utc_text(int64_t at, char buf[static ZONE_TEXT_MAX])
{
	time_t when = (time_t)at;
	struct tm tm;

	if (!gmtime_r(&when, &tm) || strftime(buf, ZONE_TEXT_MAX, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		snprintf(buf, ZONE_TEXT_MAX, "%jd", (intmax_t)at);	/* a year beyond all calendars */
	return buf;
}

/* `digits` of them, with zeros in front. Returns what follows. */
static char *put_digits(char *to, int64_t n, int digits)
{
	for (int i = digits - 1; i >= 0; i--, n /= 10)
		to[i] = (char)('0' + n % 10);
	return to + digits;
}

/* The day as year, month and day of the calendar, years counted from March on (the leap day is the last one). */
static char *put_date(char *to, int64_t day)
{
	int64_t z = day + 719468, era = z / 146097, of_era = z % 146097,
		year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365,
		of_year = of_era - (365 * year + year / 4 - year / 100), m = (5 * of_year + 2) / 153,
		month = m < 10 ? m + 3 : m - 9;

	to = put_digits(to, year + era * 400 + (month <= 2), 4);
	*to++ = '-';
	to = put_digits(to, month, 2);
	*to++ = '-';
	return put_digits(to, of_year - (153 * m + 2) / 5 + 1, 2);
}

const char *zone_local_text(const struct zone *z, int64_t at, char buf[static ZONE_TEXT_MAX])
{
	int64_t offset = zone_offset(z, at), local = at + offset, second = local % DAY_S;
	char *to = buf;

	if (local < 0 || local >= 253402300800)		/* from 1970 to 9999 */
		return zone_utc_text(at, buf);
	to = put_date(to, local / DAY_S);
	*to++ = 'T';
	to = put_digits(to, second / 3600, 2);
	*to++ = ':';
	to = put_digits(to, second / 60 % 60, 2);
	*to++ = ':';
	to = put_digits(to, second % 60, 2);
	if (z) {
		*to++ = offset < 0 ? '-' : '+';
		offset = offset < 0 ? -offset : offset;
		to = put_digits(to, offset / 3600, 2);
		*to++ = ':';
		to = put_digits(to, offset / 60 % 60, 2);
	} else {
		*to++ = 'Z';
	}
	*to = '\0';
	return buf;
}

int64_t zone_offset(const struct zone *z, int64_t at)
{
	return z ? z->change[change_at(z, at)].offset : 0;
}

int64_t zone_day(const struct zone *z, int64_t at)
{
	int64_t local = at + zone_offset(z, at), midnight = local - local % DAY_S, t[2];
	int n = z ? moments(z, midnight, t) : 0;

	while (n > 0 && t[n - 1] > at)	/* put back over midnight: the second one is still to come */
		n--;
	return n > 0 ? t[n - 1] : at - local % DAY_S;
}
