/* SPDX-License-Identifier: GPL-2.0-or-later
 * places.c - the site's file of which GPU is next to what */
#include "locality/places_file.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pci_address at = { .bus = 0xc1 };
	struct places_file f = {0};
	struct fault why = {0};

	fuzz_file("places", data, size);
	if (places_file_read(fuzz_folder(), "places", &f, &why) < 0) {
		fuzz_refused(&why);
		return 0;
	}
	for (int i = 0; i < f.lines; i++)
		fuzz_must(f.line[i].pattern && f.line[i].node >= -1);
	places_file_find(&f, &at);
	places_file_free(&f);
	return 0;
}
