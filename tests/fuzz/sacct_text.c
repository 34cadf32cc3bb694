/* SPDX-License-Identifier: GPL-2.0-or-later
 * sacct_text.c - sacct's rows, of a file that somebody made */
#include "lib/sacct_text.h"
#include <stdlib.h>
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct zone *utc;
	FILE *f = fuzz_stream(data, size);
	struct fault why = {0};
	struct sacct_text *t = sacct_text_new(f, &why);
	enum sacct_got got = SACCT_ROW;
	struct sacct_row row;
	struct sacct_run run;

	if (!utc)
		utc = zone_new("UTC", NULL);
	if (!t)
		fuzz_refused(&why);
	while (t && (got == SACCT_ROW || got == SACCT_BROKEN)) {
		struct fault aside = {0};

		got = sacct_text_next(t, &row, &aside);
		if (got == SACCT_ROW && sacct_run_read(&row, utc, &run, &aside) == SACCT_RUN)
			fuzz_must(run.from <= run.end && run.gpus.total >= 0);
		else if (got == SACCT_BROKEN || got == SACCT_FAILED)
			fuzz_refused(&aside);
	}
	sacct_text_free(t);
	fclose(f);
	return 0;
}
