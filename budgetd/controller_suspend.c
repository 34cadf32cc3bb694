/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_suspend.c - suspended time, where the site does not charge it (doc/model.md, 4): slurmctld says
 * how much of a run it was and since when, so that it lies where it was; slurmdbd says how much alone. */
#include "budgetd/pass.h"

struct pausing {
	struct run *run;
	int64_t total_s, until;
	bool over;
};

static int suspend_run(struct pass *p, void *arg, struct fault *why)
{
	const struct pausing *x = arg;

	return run_suspend(p->b->ledger, x->run, x->total_s, x->until, x->over, p->now, why) < 0 ? -1 : 0;
}

int pass_suspend(struct pass *p, struct run *r, const struct job_view *j, struct fault *why)
{
	bool over = j->stage != STAGE_SUSPENDED;
	struct pausing x = { .run = r, .total_s = j->suspended_s, .until = over ? j->suspend_time : p->now,
		.over = over };

	if (!r->pauses_free ||
		(x.total_s == r->suspended_s && !(x.over && x.until > r->charged_to)))
		return 0;
	if (j->end && x.until > j->end)
		x.until = j->end;
	return pass_write(p, LEDGER_HOLDS, suspend_run, &x, why);
}

int pass_suspend_by_row(struct pass *p, struct run *r, int64_t total_s, int64_t until, struct fault *why)
{
	struct pausing x = { .run = r, .total_s = total_s, .until = until };

	if (!r->pauses_free || total_s == r->suspended_s)
		return 0;
	return pass_write(p, LEDGER_HOLDS, suspend_run, &x, why);
}
