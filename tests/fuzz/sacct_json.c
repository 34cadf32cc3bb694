/* SPDX-License-Identifier: GPL-2.0-or-later
 * sacct_json.c - sacct --json, of a file that somebody made */
#include "lib/sacct_json.h"
#include <stdlib.h>
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct zone *utc;
	FILE *f = fuzz_stream(data, size);
	struct sacct_json *j = sacct_json_new(f);
	enum sacct_got got = SACCT_ROW;
	struct sacct_row row;
	struct sacct_run run;

	if (!utc)
		utc = zone_new("UTC", NULL);
	fuzz_must(j);
	while (got == SACCT_ROW || got == SACCT_BROKEN) {
		struct fault why = {0};

		got = sacct_json_next(j, &row, &why);
		if (got == SACCT_ROW && sacct_run_read(&row, utc, &run, &why) == SACCT_RUN)
			fuzz_must(run.from <= run.end && run.gpus.total >= 0);
		else if (got == SACCT_BROKEN || got == SACCT_FAILED)
			fuzz_refused(&why);
	}
	sacct_json_free(j);
	fclose(f);
	return 0;
}
