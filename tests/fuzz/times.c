/* SPDX-License-Identifier: GPL-2.0-or-later
 * times.c - lengths of time, GPU-hours and moments, as people and sacct write them */
#include <string.h>
#include "budgetctl/when.h"
#include "lib/amount.h"
#include "lib/duration.h"
#include "lib/number.h"
#include "lib/sacct_time.h"
#include "lib/zone.h"
#include "tests/fuzz/fuzz.h"
#include <stdlib.h>

#define NOON 1800000000

static void lengths(const char *text)
{
	char shown[DURATION_TEXT_MAX], hours[AMOUNT_TEXT_MAX];
	struct fault why = {0}, other = {0}, third = {0};
	int64_t s = 0;
	amount_t a = 0;

	if (duration_parse(text, &s, &why) < 0)
		fuzz_refused(&why);
	else
		fuzz_must(s >= 0 && strlen(duration_text(s, shown)) > 0);
	if (amount_parse(text, &a, &other) < 0)
		fuzz_refused(&other);
	else
		fuzz_must(a >= 0 && a <= AMOUNT_MAX && strlen(amount_text(a, hours)) > 0);
	if (sacct_length_read(text, &s, &third) < 0)
		fuzz_refused(&third);
	else
		fuzz_must(s >= -1);
	if (number_parse(text, 1000, &s) == 0)
		fuzz_must(s >= 0 && s <= 1000);
}

static void moments(const struct zone *z, const char *text)
{
	struct fault why = {0}, other = {0};
	struct sacct_time t;
	int year, month;
	int64_t at;

	if (sacct_time_read(text, z, &t, &why) < 0)
		fuzz_refused(&why);
	else
		fuzz_must(t.n >= 0 && t.n <= 2 && (t.n < 2 || t.at[0] < t.at[1]));
	if (when_parse(text, NOON, &at, &other) < 0)
		fuzz_refused(&other);
	if (zone_month_read(text, &year, &month) == 0)
		fuzz_must(year >= 1970 && year <= 9998 && month >= 1 && month <= 12);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct zone *berlin;
	char *text = fuzz_text(data, size);

	if (!berlin)
		berlin = zone_new("Europe/Berlin", NULL);
	fuzz_must(berlin);
	lengths(text);
	moments(berlin, text);
	free(text);
	return 0;
}
