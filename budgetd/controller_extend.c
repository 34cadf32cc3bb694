/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_extend.c - a run that outlives its hold: extended by a quantum while the money lasts, else free
 * from there on (doc/model.md, 4). */
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "lib/duration.h"

#define QUANTUM_MAX_S 3600		/* an extension is at most that, at least a minute (doc/model.md, 4) */
#define QUANTUM_MIN_S 60

struct extension {
	struct run *run;
	int64_t wanted_s, granted_s;
};

/* What the money leaves of it, whole seconds; at least a minute, or all that is wanted. */
static int64_t affordable_s(const struct path *path, const struct extension *x)
{
	struct budget_node nodes[BUDGET_DEPTH_MAX];
	int64_t least_s = x->wanted_s < QUANTUM_MIN_S ? x->wanted_s : QUANTUM_MIN_S, s = x->wanted_s;
	int tightest;

	path_budgets(path, nodes);
	tightest = budget_tightest(nodes, path->depth);
	if (tightest >= 0 && budget_available(&nodes[tightest]) / x->run->price < s)
		s = budget_available(&nodes[tightest]) / x->run->price;
	return s >= least_s ? s : 0;
}

/* Time that no hold covered stays as it was: free, or uncovered. What is granted begins now. */
static int grant(struct pass *p, struct extension *x, const struct path *path, struct hold_row *h,
	struct fault *why)
{
	if (x->run->covered_until < p->now && run_cut(p->b->ledger, x->run, h, p->now, p->now, why) < 0)
		return -1;
	/* of one that was to be free from this very second on, nothing is cut */
	x->run->free_since = 0;
	x->run->covered_until += x->granted_s;
	return hold_grow(p->b->ledger, path, h, x->granted_s * x->run->price, why);
}

/* Free from here on: of the time that is over by now nobody had decided so, it is uncovered. */
static int become_free(struct pass *p, struct run *r, struct hold_row *h, struct fault *why)
{
	if (h && r->covered_until < p->now && run_cut(p->b->ledger, r, h, p->now, p->now, why) < 0)
		return -1;
	r->free_since = r->covered_until;
	return 0;
}

static int extend_hold(struct pass *p, void *arg, struct fault *why)
{
	struct extension *x = arg;
	struct hold_row h;
	struct path path;
	int have = hold_of_run(p->b->ledger, x->run->id, &h, why);

	if (have < 0 || path_load_for(p->b->ledger, x->run->project, x->run->uid, p->now, &path, why) < 0)
		return -1;
	x->granted_s = have ? affordable_s(&path, x) : 0;
	if (x->granted_s && grant(p, x, &path, &h, why) < 0)
		return -1;
	if (!x->granted_s && !x->run->free_since && become_free(p, x->run, have ? &h : NULL, why) < 0)
		return -1;
	return run_update(p->b->ledger, x->run, why);
}

/* An extension is looked for that long before the cover ends. */
static int64_t lead(const struct pass *p)
{
	return 2 * p->b->settings->pass_interval_s + 5;
}

static int64_t quantum(const struct run *r, const struct job_view *j, int64_t now)
{
	int64_t from = r->covered_until > now ? r->covered_until : now;
	int64_t q = r->min_runtime_s < QUANTUM_MAX_S ? r->min_runtime_s : QUANTUM_MAX_S;
	int64_t limit_end = j->time_limit_s > 0 &&
		j->time_limit_s != DURATION_UNLIMITED ? r->start + j->time_limit_s + r->suspended_s
		: INT64_MAX;

	if (q < QUANTUM_MIN_S)
		q = QUANTUM_MIN_S;
	/* To the time limit at most; past it (KillWait, OverTimeLimit) by the minute, since what runs is
	 * charged. */
	if (limit_end > from && limit_end - from < q)
		return limit_end - from;
	return limit_end <= from ? QUANTUM_MIN_S : q;
}

/* A run that became free is looked at in the snapshot first: most stay free, and that writes nothing. */
static int money_is_back(struct pass *p, const struct extension *x, struct fault *why)
{
	struct path path;

	return path_load_for(p->books, x->run->project, x->run->uid, p->now, &path, why) < 0 ? -1
		: affordable_s(&path, x) > 0;
}

static void tell_extension(const struct run *r, const struct extension *x, bool was_free)
{
	if (x->granted_s && was_free)
		log_info("job %s: its project can pay again, it is charged for the next %jd s", r->label,
			(intmax_t)x->granted_s);
	else if (x->granted_s)
		log_info("job %s: its hold goes on for %jd s", r->label, (intmax_t)x->granted_s);
	else if (!was_free)
		log_info("job %s: its project cannot pay beyond %jd, from then on it is free", r->label,
			(intmax_t)r->covered_until);
}

struct excess {
	struct run *run;
	int64_t covered_until;
};

/* A change of the limit that was accepted a moment ago may not show yet. */
static int give_excess_back(struct pass *p, void *arg, struct fault *why)
{
	struct excess *x = arg;
	struct admission_row a;
	struct hold_row h;
	int rc = admission_by_id(p->b->ledger, x->run->admission, &a, why);

	if (rc == 1 && a.changing_at > p->now - p->b->settings->unbound_hold_s)
		return 0;
	rc = rc < 0 ? -1 : hold_of_run(p->b->ledger, x->run->id, &h, why);
	if (rc != 1 || hold_shrink(p->b->ledger, &h,
		(x->run->covered_until - x->covered_until) * x->run->price, why) < 0)
		return rc == 1 ? -1 : rc;
	x->run->covered_until = x->covered_until;
	return run_update(p->b->ledger, x->run, why);
}

int pass_give_excess_back(struct pass *p, struct run *r, const struct job_view *j, struct fault *why)
{
	struct excess x = { .run = r, .covered_until = r->start + j->time_limit_s + r->suspended_s };
	/* past its limit a run is covered by the minute */
	int64_t soon = p->now + lead(p) + QUANTUM_MIN_S;

	if (p->b->settings->hold != HOLD_TIME_LIMIT || r->tier != TIER_FUNDED || !r->admission ||
		r->free_since || j->time_limit_s <= 0 || j->time_limit_s == DURATION_UNLIMITED)
		return 0;
	if (x.covered_until < soon)
		x.covered_until = soon;
	return r->covered_until > x.covered_until ? pass_write(p, LEDGER_HOLDS, give_excess_back, &x, why)
		: 0;
}

/* Before the time that the hold covers is over: two passes and some seconds ahead. When money returns to a
 * run that became free, the next quantum is charged again; its protection does not return (doc/model.md,
 * 4). */
int pass_extend_if_due(struct pass *p, struct run *r, const struct job_view *j, struct fault *why)
{
	int64_t lead_s = lead(p);
	bool was_free = r->free_since && r->free_since <= p->now;
	struct extension x = { .run = r, .wanted_s = quantum(r, j, p->now) };
	int rc;

	if (j->stage == STAGE_SUSPENDED && r->pauses_free)
		return 0;	/* its cover lasts until it goes on */
	if (r->tier != TIER_FUNDED || !r->admission || r->price == 0 || r->covered_until - p->now > lead_s ||
		(r->free_since && !was_free))
		return 0;
	rc = was_free ? money_is_back(p, &x, why) : 1;
	if (rc <= 0)
		return rc;
	if (pass_write(p, x.run->covered_until < p->now ? LEDGER_MONEY : LEDGER_HOLDS, extend_hold, &x,
		why) < 0)
		return -1;
	tell_extension(r, &x, was_free);
	return 0;
}
