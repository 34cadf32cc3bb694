/* SPDX-License-Identifier: GPL-2.0-or-later
 * sacct_time.c - moments and lengths of time as sacct prints them (sacct_time.h) */
#include "lib/sacct_time.h"
#include <errno.h>
#include <string.h>
#include <strings.h>
#include "lib/duration.h"
#include "lib/number.h"

#define EPOCH_MAX  INT64_C(253402300799) /* the end of the year 9999 */
#define LENGTH_MAX INT64_C(3153600000)   /* 100 years: more is no job */

int sacct_is_none(const char *text)
{
	static const char *const words[] = {"", "Unknown", "None", "None assigned", "N/A", "(null)", "null"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(text, words[i]))
			return 1;
	return 0;
}

/* `n` digits, then `mark` (0 = nothing particular). */
static int digits(const char **p, int n, char mark, int *out)
{
	int v = 0;

	for (; n > 0; n--, ++*p) {
		if (**p < '0' || **p > '9')
			return -1;
		v = v * 10 + (**p - '0');
	}
	if (mark && *(*p)++ != mark)
		return -1;
	*out = v;
	return 0;
}

/* "2026-10-25T02:30:00", a blank for the T as some exports have it; *p behind it. */
static int reading(const char **p, struct zone_reading *r)
{
	if (digits(p, 4, '-', &r->year) < 0 || digits(p, 2, '-', &r->month) < 0 ||
		digits(p, 2, 0, &r->day) < 0)
		return -1;
	if (**p != 'T' && **p != ' ')
		return -1;
	++*p;
	return digits(p, 2, ':', &r->hour) < 0 || digits(p, 2, ':', &r->minute) < 0 ||
			       digits(p, 2, 0, &r->second) < 0
		       ? -1
		       : 0;
}

/* What stands behind a reading: nothing, or an offset. 1 when there is one. */
static int offset(const char *p, int64_t *out)
{
	int hours, minutes, sign = *p == '-' ? -1 : 1;

	if (!*p)
		return 0;
	*out = 0;
	if (!strcmp(p, "Z"))
		return 1;
	if (*p != '+' && *p != '-')
		return -1;
	p++;
	if (digits(&p, 2, 0, &hours) < 0)
		return -1;
	p += *p == ':';
	if (digits(&p, 2, 0, &minutes) < 0 || *p || hours > 14 || minutes > 59)
		return -1;
	*out = sign * (hours * 3600 + minutes * 60);
	return 1;
}

/* Nothing but digits. */
static int epoch(const char *text, struct sacct_time *out, struct fault *why)
{
	int64_t at;

	if (number_parse(text, EPOCH_MAX, &at) < 0)
		return fault_errno(why, EINVAL, "\"%.40s\" is no time", text);
	*out = (struct sacct_time){.n = at > 0, .at = {at, 0}}; /* slurmdbd's 0 is "never" */
	return 0;
}

int sacct_time_read(const char *text, const struct zone *z, struct sacct_time *out, struct fault *why)
{
	struct sacct_time t = {0, {0, 0}};
	struct zone_reading r;
	const char *p = text;
	int64_t east = 0;
	int told = 0;

	if (sacct_is_none(text)) {
		*out = t;
		return 0;
	}
	if (!text[strspn(text, "0123456789")])
		return epoch(text, out, why);
	if (reading(&p, &r) < 0 || (told = offset(p, &east)) < 0)
		return fault_errno(why, EINVAL, "\"%.40s\" is no time", text);
	t.n = told ? zone_utc(&r, &t.at[0]) : zone_moments(z, &r, t.at);
	if (t.n < 0)
		return fault_errno(why, EINVAL, "\"%.40s\" is no time", text);
	if (t.n == 0)
		return fault_errno(why, EINVAL, "no clock of this time zone ever read %.40s", text);
	t.at[0] -= east;
	*out = t;
	return 0;
}

/* sacct cuts nothing below a minute, and prints milliseconds for steps. */
int sacct_length_read(const char *text, int64_t *out, struct fault *why)
{
	char whole[DURATION_TEXT_MAX];
	size_t length = strcspn(text, ".");

	if (sacct_is_none(text)) {
		*out = -1;
		return 0;
	}
	if (length < sizeof(whole) && !text[length + strspn(text + length, ".0123456789")]) {
		memcpy(whole, text, length);
		whole[length] = '\0';
		if (number_parse(whole, LENGTH_MAX, out) == 0)
			return 0;
		if (whole[0] >= '0' && whole[0] <= '9' && strchr(whole, ':') &&
			duration_parse(whole, out, NULL) == 0)
			return 0;
	}
	return fault_errno(why, EINVAL, "\"%.40s\" is no length of time", text);
}
