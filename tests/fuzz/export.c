/* SPDX-License-Identifier: GPL-2.0-or-later
 * export.c - a CSV file of exports, read in pieces of any size */
#include "lib/export.h"
#include <stdlib.h>
#include <string.h>
#include "tests/fuzz/fuzz.h"

struct digest {
	uint64_t sum, rows;
};

static int row(char *const fields[], size_t n, void *arg)
{
	struct digest *d = arg;

	fuzz_must(n <= EXPORT_FIELDS_MAX);
	d->rows++;
	for (size_t i = 0; i < n; i++)
		for (const char *at = fields[i];; at++) {
			d->sum = d->sum * 31 + (unsigned char)*at + 1;
			if (!*at)
				break;
		}
	return 0;
}

/* -1, or 0 and the rows. */
static int read_in(const uint8_t *data, size_t size, size_t piece, struct digest *d)
{
	struct export_reader *r = calloc(1, sizeof(*r));
	int rv = 0;

	fuzz_must(r);
	*d = (struct digest){0};
	for (size_t at = 0; at < size && rv == 0; at += piece) {
		size_t n = size - at < piece ? size - at : piece;
		uint8_t *copy = malloc(n);

		fuzz_must(copy);
		memcpy(copy, data + at, n);
		rv = export_read(r, (const char *)copy, n, row, d);
		free(copy);
	}
	free(r);
	return rv;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct digest whole, pieces;
	int rv = size ? read_in(data, size, size, &whole) : 0;

	if (size)		/* where it was cut makes no difference */
		fuzz_must(read_in(data, size, 3, &pieces) == rv && whole.sum == pieces.sum && whole.rows == pieces.rows);
	return 0;
}
