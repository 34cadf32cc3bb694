/* SPDX-License-Identifier: GPL-2.0-or-later
 * when.c - moments as people write them (when.h)
 *
 * mktime() is asked only for fields that are in range: it would turn 30 February into 2 March without a
 * word. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "budgetctl/when.h"
#include "lib/zone.h"

/* Exactly `digits` digits into *out; the text behind them, or NULL. */
static const char *digits_read(const char *p, int digits, int *out)
{
	int value = 0;

	for (int i = 0; i < digits; i++, p++) {
		if (!isdigit((unsigned char)*p))
			return NULL;
		value = value * 10 + (*p - '0');
	}
	*out = value;
	return p;
}

static const char *separator_read(const char *p, const char *any)
{
	return p && *p && strchr(any, *p) ? p + 1 : NULL;
}

static int month_days(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month == 2 && leap ? 29 : days[month - 1];
}

static const char *date_read(const char *p, struct tm *tm)
{
	int year, month, day;

	p = digits_read(p, 4, &year);
	p = separator_read(p, "-");
	p = p ? digits_read(p, 2, &month) : NULL;
	p = separator_read(p, "-");
	p = p ? digits_read(p, 2, &day) : NULL;
	if (!p || year < 1970 || month < 1 || month > 12 || day < 1 || day > month_days(year, month))
		return NULL;
	*tm = (struct tm){ .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_isdst = -1 };
	return p;
}

/* "T12:00" or "T12:00:30", or nothing at all, which is 00:00. */
static const char *clock_read(const char *p, struct tm *tm)
{
	if (!separator_read(p, "T "))
		return p;
	p = digits_read(p + 1, 2, &tm->tm_hour);
	p = separator_read(p, ":");
	p = p ? digits_read(p, 2, &tm->tm_min) : NULL;
	if (separator_read(p, ":"))
		p = digits_read(p + 1, 2, &tm->tm_sec);
	return tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec < 60 ? p : NULL;
}

/* "Z", "+02:00", "-0530" or nothing: *local stays true. */
static const char *offset_read(const char *p, bool *local, int *offset_s)
{
	int sign = *p == '-' ? -1 : 1;
	int hours, minutes;

	if (!*p)
		return p;
	*local = false;
	*offset_s = 0;
	if (*p == 'Z')
		return p + 1;
	p = separator_read(p, "+-");
	p = p ? digits_read(p, 2, &hours) : NULL;
	if (p && *p == ':')
		p++;
	p = p ? digits_read(p, 2, &minutes) : NULL;
	if (!p || hours > 14 || minutes > 59)
		return NULL;
	*offset_s = sign * (hours * 3600 + minutes * 60);
	return p;
}

static int absolute_read(const char *text, bool *local, int64_t *out)
{
	int offset_s = 0;
	struct tm tm;
	const char *p = date_read(text, &tm);

	p = p ? clock_read(p, &tm) : NULL;
	*local = true;
	p = p ? offset_read(p, local, &offset_s) : NULL;
	if (!p || *p)
		return -1;
	*out = *local ? (int64_t)mktime(&tm) : (int64_t)timegm(&tm) - offset_s;
	return 0;
}

static const struct {
	const char *name;
	int days, seconds;
} when_units[] = {
	{ "s", 0, 1 }, { "second", 0, 1 }, { "seconds", 0, 1 },
	{ "m", 0, 60 }, { "min", 0, 60 }, { "minute", 0, 60 }, { "minutes", 0, 60 },
	{ "h", 0, 3600 }, { "hour", 0, 3600 }, { "hours", 0, 3600 },
	{ "d", 1, 0 }, { "day", 1, 0 }, { "days", 1, 0 },
	{ "w", 7, 0 }, { "week", 7, 0 }, { "weeks", 7, 0 },
};

static const struct {
	const char *name;
	bool midnight;
	int days;
} when_anchors[] = {
	{ "now", false, 0 }, { "today", true, 0 }, { "tomorrow", true, 1 }, { "yesterday", true, -1 },
};

/* "+30d": added to *days and *seconds. -1 when it is not that. */
static int step_read(const char *p, int *days, int64_t *seconds)
{
	int sign = *p == '-' ? -1 : 1;
	char *end;
	long n;

	if (!isdigit((unsigned char)p[1]))
		return -1;
	n = strtol(p + 1, &end, 10);
	if (n > 1000000)		/* of days it is 2,700 years */
		return -1;
	for (size_t i = 0; i < sizeof(when_units) / sizeof(when_units[0]); i++) {
		if (strcmp(end, when_units[i].name))
			continue;
		*days += sign * (int)n * when_units[i].days;
		*seconds += sign * (int64_t)n * when_units[i].seconds;
		return 0;
	}
	return -1;
}

static int relative_read(const char *text, int64_t now, bool *local, int64_t *out)
{
	size_t length = strcspn(text, "+-");
	time_t at = (time_t)now;
	int64_t seconds = 0;
	struct tm tm;

	for (size_t i = 0; i < sizeof(when_anchors) / sizeof(when_anchors[0]); i++) {
		int days = when_anchors[i].days;

		if (strlen(when_anchors[i].name) != length || strncmp(text, when_anchors[i].name, length))
			continue;
		if ((text[length] && step_read(text + length, &days, &seconds) < 0) || !localtime_r(&at, &tm))
			return -1;
		*local = when_anchors[i].midnight;
		if (*local)
			tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		tm.tm_mday += days;
		tm.tm_isdst = days || when_anchors[i].midnight ? -1 : tm.tm_isdst;
		*out = (int64_t)mktime(&tm) + seconds;
		return 0;
	}
	return -1;
}

int when_parse(const char *text, int64_t now, int64_t *out, struct fault *why)
{
	const char *tz = getenv("TZ");
	bool local;
	int64_t at;

	if (absolute_read(text, &local, &at) < 0 && relative_read(text, now, &local, &at) < 0)
		return fault_errno(why, EINVAL,
			"\"%s\" is not a time: write 2026-12-31, 2026-12-31T12:00 or now+30d", text);
	if (local && !zone_variable_known(tz))
		return fault_errno(why, EINVAL,
			"TZ=%.60s is no time zone that this machine knows, so \"%s\" could be any hour: unset it, or name one, "
			"as TZ=Europe/Berlin; a time in UTC ends in Z", tz, text);
	*out = at;
	return 0;
}

const char *when_text(int64_t at, bool offset, char buf[WHEN_TEXT_MAX])
{
	time_t t = (time_t)at;
	struct tm tm;
	size_t n;

	if (!localtime_r(&t, &tm)) {	/* a year that does not fit an int */
		snprintf(buf, WHEN_TEXT_MAX, "@%" PRId64, at);
		return buf;
	}
	n = strftime(buf, WHEN_TEXT_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	if (offset)
		snprintf(buf + n, WHEN_TEXT_MAX - n, "%c%02ld:%02ld", tm.tm_gmtoff < 0 ? '-' : '+',
			labs(tm.tm_gmtoff) / 3600, labs(tm.tm_gmtoff) / 60 % 60);
	return buf;
}
