/* SPDX-License-Identifier: GPL-2.0-or-later
 * fake_gpus.c - a gpu_watch without a Prometheus. */
#include "tests/unit/fake_gpus.h"
#include <stdio.h>

int gpu_watch_view(struct gpu_watch *w, int64_t until, struct gpu_table *out)
{
	if (w->table.until == until)
		return 0;
	return gpu_table_copy(&w->table, out) < 0 ? -1 : 1;
}

void gpu_watch_state(struct gpu_watch *w, struct gpu_watch_state *out)
{
	*out = (struct gpu_watch_state){ .gpus = w ? w->table.count : 0 };
}
