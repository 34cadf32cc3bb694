/* SPDX-License-Identifier: GPL-2.0-or-later
 * settings.c - budgetd.conf, which budgetd and the job_submit plugin read */
#include "settings/settings.h"
#include <stdlib.h>
#include "settings/enforce.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct settings *s = NULL;
	struct fault why = {0};
	char path[300];

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	fuzz_file("budgetd.conf", data, size);
	snprintf(path, sizeof(path), "%s/budgetd.conf", fuzz_folder_path());
	if (settings_load(path, &s, &why) < 0) {
		fuzz_refused(&why);
		return 0;
	}
	settings_enforcement(s, "gpu,debug");
	settings_shadow_in_use(s);
	settings_print(s, nowhere);
	settings_free(s);
	return 0;
}
