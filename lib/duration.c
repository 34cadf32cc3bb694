/* SPDX-License-Identifier: GPL-2.0-or-later
 * duration.c - lengths of time as people and Slurm write them
 *
 * Two grammars that cannot be mixed: numbers with units ("1h30m"), and Slurm's clock ("D-HH:MM:SS"), in which
 * one number alone is minutes. As in Slurm, a field of the clock may be over 59. */
#include "lib/duration.h"
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "lib/number.h"

#define MINUTE ((int64_t)60)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define LONGEST (3653 * DAY)	/* ten years and their leap days: what is longer is a slip of the keyboard */

static int bad(const char *text, const char *at, struct fault *why, const char *what)
{
	return fault_errno(why, EINVAL, "\"%.80s\" is not a length of time: %s at character %td "
		"(write 2h, 90m, 1h30m or D-HH:MM:SS)", text, what, at - text + 1);
}

static int too_long(const char *text, struct fault *why)
{
	return fault_errno(why, EOVERFLOW, "\"%.80s\": a length of time over ten years", text);
}

/* *sum += n x unit, within ten years. */
static int add(const char *text, int64_t *sum, int64_t n, int64_t unit, struct fault *why)
{
	int64_t part;

	if (__builtin_mul_overflow(n, unit, &part) || part > LONGEST || *sum + part > LONGEST)
		return too_long(text, why);
	*sum += part;
	return 0;
}

static int number(const char *text, const char **p, int64_t *n, struct fault *why)
{
	if (number_read(p, n) == 0)
		return 0;
	return errno == EOVERFLOW ? too_long(text, why) : bad(text, *p, why, "a digit is missing");
}

/* "[D-]A[:B[:C]]": without days the fields are M, M:S or H:M:S, with days H, H:M or H:M:S. */
static int clock_parse(const char *text, int64_t *out, struct fault *why)
{
	static const int64_t plain[4][3] = {
		[1] = { MINUTE }, [2] = { MINUTE, 1 }, [3] = { HOUR, MINUTE, 1 }
	};
	static const int64_t after_days[3] = { HOUR, MINUTE, 1 };
	const char *p = text;
	int64_t field[3], sum = 0;
	int n = 0;
	bool days = false;

	for (;;) {
		if (n == 3)
			return bad(text, p, why, "a field too many");
		if (number(text, &p, &field[n], why) < 0)
			return -1;
		if (*p == '-' && n == 0 && !days) {
			days = true;
			if (add(text, &sum, field[0], DAY, why) < 0)
				return -1;
		} else {
			n++;
			if (*p != ':')
				break;
		}
		p++;
	}
	if (*p)
		return bad(text, p, why, "something unexpected");
	for (int i = 0; i < n; i++)
		if (add(text, &sum, field[i], days ? after_days[i] : plain[n][i], why) < 0)
			return -1;
	*out = sum;
	return 0;
}

/* ".25" of `unit`, in whole seconds: what is left over is cut. */
static int fraction(const char *text, const char **p, int64_t *thousandths, struct fault *why)
{
	int64_t scale = 100;

	*thousandths = 0;
	if (**p != '.')
		return 0;
	(*p)++;
	if (**p < '0' || **p > '9')
		return bad(text, *p, why, "a digit is missing");
	for (; **p >= '0' && **p <= '9'; (*p)++, scale /= 10) {
		if (scale == 0)
			return bad(text, *p, why, "a fourth decimal");
		*thousandths += (**p - '0') * scale;
	}
	return 0;
}

/* "1h30m": every number has a unit, larger units first, none twice. */
static int units_parse(const char *text, int64_t *out, struct fault *why)
{
	static const struct { char letter; int64_t seconds; } units[] = {
		{ 'd', DAY }, { 'h', HOUR }, { 'm', MINUTE }, { 's', 1 } };
	const char *p = text;
	int64_t sum = 0;
	size_t next = 0;

	while (*p) {
		int64_t n, thousandths;

		if (number(text, &p, &n, why) < 0 || fraction(text, &p, &thousandths, why) < 0)
			return -1;
		for (; next < 4 && *p != units[next].letter; next++)
			;
		if (next == 4)
			return bad(text, p, why, "not one of the units d, h, m, s in this order");
		if (add(text, &sum, n, units[next].seconds, why) < 0 ||
			add(text, &sum, thousandths * units[next].seconds / 1000, 1, why) < 0)
			return -1;
		next++;
		p++;
	}
	*out = sum;
	return 0;
}

int duration_parse(const char *text, int64_t *out, struct fault *why)
{
	if (!strcasecmp(text, "UNLIMITED") || !strcasecmp(text, "INFINITE")) {
		*out = DURATION_UNLIMITED;
		return 0;
	}
	if (!*text)
		return bad(text, text, why, "a digit is missing");
	if (text[strspn(text, "0123456789:-")] == '\0')
		return clock_parse(text, out, why);
	return units_parse(text, out, why);
}

const char *duration_text(int64_t seconds, char buf[DURATION_TEXT_MAX])
{
	static const struct { uint64_t seconds; const char *name; } units[] = {
		{ DAY, "d" }, { HOUR, "h" }, { MINUTE, "min" }, { 1, "s" }, { 0, NULL } };
	uint64_t left = seconds < 0 ? -(uint64_t)seconds : (uint64_t)seconds;
	const char *sign = seconds < 0 ? "-" : "";
	int i = 0;

	if (seconds == DURATION_UNLIMITED) {
		snprintf(buf, DURATION_TEXT_MAX, "no limit");
		return buf;
	}
	while (units[i + 1].name && left < units[i].seconds)
		i++;
	if (units[i + 1].name && left % units[i].seconds / units[i + 1].seconds > 0)
		snprintf(buf, DURATION_TEXT_MAX, "%s%" PRIu64 " %s %u %s", sign, left / units[i].seconds,
			units[i].name, (unsigned)(left % units[i].seconds / units[i + 1].seconds),
			units[i + 1].name);
	else
		snprintf(buf, DURATION_TEXT_MAX, "%s%" PRIu64 " %s", sign, left / units[i].seconds,
			units[i].name);
	return buf;
}
