/* SPDX-License-Identifier: GPL-2.0-or-later
 * zones.c - names of time zones, in budgetd.conf and in TZ */
#include <stdlib.h>
#include <string.h>
#include "lib/zone.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), shown[ZONE_TEXT_MAX];
	struct fault why = {0};
	struct zone *z = zone_new(text, &why);
	int64_t end;

	if (z) {
		zone_month(z, 1800000000, &end);
		fuzz_must(end > 1800000000 && strlen(zone_local_text(z, 1800000000, shown)) > 0);
	} else {
		fuzz_refused(&why);
	}
	zone_free(z);
	zone_variable_known(text);
	free(text);
	return 0;
}
