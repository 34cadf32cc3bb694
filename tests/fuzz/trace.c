/* SPDX-License-Identifier: GPL-2.0-or-later
 * trace.c - a trace that is to be replayed: CSV or sacct */
#include "simulate/trace.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct zone *utc;
	FILE *f = fuzz_stream(data, size);
	struct trace t = {0};
	struct fault why = {0};

	if (!utc)
		utc = zone_new("UTC", NULL);
	if (trace_read(&t, f, utc, 7, &why) < 0)
		fuzz_refused(&why);
	else
		fuzz_must(t.count > 0);
	for (size_t i = 0; i < t.count; i++)
		fuzz_must(t.jobs[i].gpus > 0 && t.jobs[i].duration_s >= 0 && t.jobs[i].limit_s >= t.jobs[i].duration_s &&
			t.jobs[i].project < t.projects.count && t.jobs[i].user < t.users.count);
	trace_free(&t);
	fclose(f);
	return 0;
}
