/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_state.c - what is kept of a node between two checks: its file */
#include <stdlib.h>
#include <string.h>
#include "gpu_check/state_file.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct node_state *s, *again;
	struct fault why = {0};
	int rv;

	if (!s) {
		s = calloc(1, sizeof(*s));
		again = calloc(1, sizeof(*again));
	}
	fuzz_must(s && again);
	fuzz_file("state", data, size);
	rv = state_read(fuzz_folder(), "state", s, &why);
	if (rv < 0)
		fuzz_refused(&why);
	if (rv != 1)
		return 0;
	/* what was read is written and read as the same */
	fuzz_must(state_write(fuzz_folder(), "again", "fuzzed", s, false, NULL) == 0 &&
		state_read(fuzz_folder(), "again", again, NULL) == 1 && again->gpus == s->gpus &&
		again->links == s->links && again->errors == s->errors && again->facts == s->facts);
	return 0;
}
