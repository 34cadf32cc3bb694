/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranks.c - what each project had, and the ratios of it (lib/fairshare). */
#include <string.h>
#include "lib/amount.h"
#include "simulate/state.h"

void project_settle(struct engine *e, uint32_t project)
{
	struct project *p = &e->projects[project];
	struct sim_project *out = &e->out->projects[project];
	int64_t lasted = e->now - p->settled;

	if (lasted <= 0)
		return;
	out->delivered_gpu_s += p->funded_gpus * lasted;
	out->free_gpu_s += p->free_gpus * lasted;
	window_move(e->funded_window, e->now);
	window_move(e->free_window, e->now);
	window_add(e->funded_window, project, p->settled, e->now, p->funded_gpus * AMOUNT_RATE_ONE);
	window_add(e->free_window, project, p->settled, e->now, p->free_gpus * AMOUNT_RATE_ONE);
	p->settled = e->now;
}

/* Of both tiers: O and K are those of the funded one; by free use there is no entry penalty. */
static int ratios(struct engine *e, bool free, struct fairshare **out, struct fault *why)
{
	const struct shares *s = e->s->shares;
	int64_t capacity = e->gpus * AMOUNT_RATE_ONE;
	struct fairshare_cluster c = {capacity, capacity * (e->now - window_from(e->funded_window))};
	const struct window *w = free ? e->free_window : e->funded_window;

	memcpy(e->nodes, s->nodes, s->count * sizeof(*e->nodes));
	for (size_t i = 0; i < e->nprojects; i++) {
		const struct project *p = &e->projects[i];

		e->nodes[p->leaf].charged = window_sum(w, i);
		if (!free && e->s->scheduler == SIM_CONTRACT)
			e->nodes[p->leaf].entry =
				AMOUNT_RATE_ONE *
				(p->inside_until - p->inside_gpus * e->now + p->promised_gpu_s);
	}
	fairshare_free(*out);
	*out = NULL;
	return fairshare_new(e->nodes, s->count, &c, out, why);
}

int ranks_make(struct engine *e, struct fault *why)
{
	e->ranks_made++;
	for (uint32_t i = 0; i < e->nprojects; i++)
		project_settle(e, i);
	window_move(e->funded_window, e->now);
	window_move(e->free_window, e->now);
	if (ratios(e, false, &e->funded, why) < 0)
		return -1;
	return ratios(e, true, &e->free, why);
}
