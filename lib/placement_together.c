/* SPDX-License-Identifier: GPL-2.0-or-later
 * placement_together.c - the components of one job: all of them fit, or none does.
 *
 * Each is tried with what those before it were given as if it were so; then all of that is taken back. So the
 * answer to the whole is as good as the order of its components: the most demanding go first. */
#include "lib/placement_inside.h"

void placement_stay(struct placement *p, uint32_t run)
{
	struct run *x = &p->runs[run];

	if (!x->leaving)
		return;
	x->leaving = false;
	for (size_t i = 0; i < x->in.nparts; i++)
		p->nodes[x->in.parts[i].node].coming -= x->in.parts[i].gpus;
}

static void take(struct placement *p, const struct placement_choice *c)
{
	for (size_t i = 0; i < c->nvictims; i++)
		placement_leave(p, c->victims[i]);
	placement_promise(p, c->parts, c->nparts);
}

static void take_back(struct placement *p, const struct placement_choice *c)
{
	for (size_t i = 0; i < c->nvictims; i++)
		placement_stay(p, c->victims[i]);
	placement_take_back(p, c->parts, c->nparts);
}

int placement_fit_together(struct placement *p, const struct placement_job *jobs, size_t n, int64_t now,
	struct placement_choice *choices)
{
	size_t done = 0;
	int rv = 1;

	while (rv == 1 && done < n) {
		rv = placement_fits(p, &jobs[done], now, &choices[done]);
		if (rv == 1)
			take(p, &choices[done++]);
	}
	while (done-- > 0)
		take_back(p, &choices[done]);
	return rv;
}

int placement_make_room_together(struct placement *p, const struct placement_rules *rules,
	const struct placement_job *jobs, size_t n, int64_t now, struct placement_choice *choices)
{
	size_t done = 0;
	int rv = 1;

	while (rv == 1 && done < n) {
		rv = placement_make_room(p, rules, &jobs[done], now, false, &choices[done]);
		if (rv == 1)
			take(p, &choices[done++]);
	}
	while (done-- > 0)
		take_back(p, &choices[done]);
	return rv;
}
