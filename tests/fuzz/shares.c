/* SPDX-License-Identifier: GPL-2.0-or-later
 * shares.c - a tree of projects with their weights: a file, and words of the command line */
#include "simulate/shares.h"
#include <stdlib.h>
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *f = fuzz_stream(data, size);
	struct shares s = {0}, words = {0};
	struct trace none = {0};
	struct fault why = {0}, other = {0}, third = {0};
	char *line[3];

	if (shares_read(&s, f, &why) < 0)
		fuzz_refused(&why);
	else if (shares_finish(&s, &none, &third) < 0)
		fuzz_refused(&third);
	for (size_t i = 0; i < s.count; i++)
		fuzz_must(s.parents[i] < (int)i && s.weights[i] >= 0);
	shares_free(&s);
	fuzz_lines(data, size, 3, line);
	for (int i = 0; i < 3; i++)
		if (shares_add_text(&words, line[i], &other) < 0)
			fuzz_refused(&other);
	shares_free(&words);
	fuzz_lines_free(3, line);
	fclose(f);
	return 0;
}
