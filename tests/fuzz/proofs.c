/* SPDX-License-Identifier: GPL-2.0-or-later
 * proofs.c - the page on which tasks share a proof: a task can write over all of it */
#include "spank/proofs.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/fuzz/fuzz.h"

/* The input is put over the beginning of a page of two slots, its first byte says from where on. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char extra[] = "extra";
	struct proofs *p = proofs_new(2, extra, sizeof(extra)), *other;
	struct proof_result *result = calloc(1, sizeof(*result));
	off_t at = size ? data[0] * 4 : 0;
	int fd;

	fuzz_must(p && result);
	fd = dup(proofs_fd(p));
	fuzz_must(fd >= 0);
	if (size > 1 && pwrite(fd, data + 1, size - 1, at) < 0)
		fuzz_must(false);
	other = proofs_open(fd, sizeof(extra));
	for (int i = 0; other && i < 4; i++)
		if (proofs_put_already(other, i, result))
			fuzz_must(strnlen(result->say, PROOF_SAY_MAX) < PROOF_SAY_MAX &&
				strnlen(result->json, PROOF_JSON_MAX) < PROOF_JSON_MAX);
	if (other && proofs_wait(other, 0, 1, result) == 0)
		fuzz_must(strnlen(result->say, PROOF_SAY_MAX) < PROOF_SAY_MAX);
	proofs_free(other);
	proofs_free(p);
	free(result);
	return 0;
}
