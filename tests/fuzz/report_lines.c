/* SPDX-License-Identifier: GPL-2.0-or-later
 * report_lines.c - the report of the helper that vendors' libraries are loaded into */
#include "gpu_check/lines.h"
#include <stdlib.h>
#include <string.h>
#include "gpu_check/verdict.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct report *r;
	static struct verdict v;
	struct helper_result h = { .end = HELPER_ENDED };
	struct expectation e = { .backend = "cuda", .allocation = { .allocated = -1, .named = -1 }, .on_bus = -1 };
	char *text = fuzz_text(data, size), *save = NULL, said[VERDICT_LINE_MAX];
	int rv = 0;

	if (!r)
		r = calloc(1, sizeof(*r));
	fuzz_must(r);
	report_init(r);
	for (char *line = strtok_r(text, "\n", &save); line && rv == 0; line = strtok_r(NULL, "\n", &save))
		rv = line_read(r, line);
	fuzz_must(r->devices >= 0 && r->devices <= REPORT_DEVICES_MAX);
	if (rv < 0)
		h.end = HELPER_GARBAGE;
	verdict_make(r, &h, &e, true, NULL, &v);
	fuzz_must(strpbrk(verdict_line(&v, "cuda", said), "\033\n\r") == NULL);
	free(text);
	return 0;
}
