/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_runs.c - what runs and what ended: opened once, extended in time, charged once.
 *
 * A run that is in slurmctld's table is followed there. One that left the table, or whose job went back to
 * the queue, is settled from slurmdbd's row, the only place that still knows when it ended. */
#include "budgetd/admit.h"
#include "budgetd/ledger_lane.h"
#include "budgetd/ledger_refund.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "budgetd/rates.h"
#include "budgetd/tally.h"
#include "lib/duration.h"
#include "lib/zone.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- opening ------------------------------------------------------------------------------------ */

struct starting {
	const struct job_view *j;
	struct gpu_count gpus;
	const char *told;		/* what names them */
	struct run run;
	struct admission_row admission;	/* id 0 = none */
};

/* The start the site pays for: what the hold covers beyond it is given back, what is missing is drawn if it
 * is there. */
static int fit_hold_to_start(struct pass *p, struct starting *s, struct hold_row *h, struct fault *why)
{
	struct budget_node nodes[BUDGET_DEPTH_MAX];
	struct path path;
	int64_t basis_s = s->run.min_runtime_s;
	amount_t wanted, more;
	int tightest;

	if (p->b->settings->hold == HOLD_TIME_LIMIT && s->j->time_limit_s > 0 &&
		s->j->time_limit_s != DURATION_UNLIMITED)
		basis_s = s->j->time_limit_s;
	if (amount_price(1, basis_s, s->run.price, &wanted) < 0)
		return fault_errno(why, EOVERFLOW, "the hold of job %s is more than can be counted",
			s->run.label);
	if (wanted <= h->units)
		return hold_shrink(p->b->ledger, h, h->units - wanted, why);
	if (path_load_for(p->b->ledger, s->run.project, s->run.uid, p->now, &path, why) < 0)
		return -1;
	path_budgets(&path, nodes);
	tightest = budget_tightest(nodes, path.depth);
	more = wanted - h->units;
	if (tightest >= 0 && budget_available(&nodes[tightest]) < more)
		more = budget_available(&nodes[tightest]) > 0 ? budget_available(&nodes[tightest]) : 0;
	more -= more % s->run.price;	/* whole seconds only */
	return more > 0 ? hold_grow(p->b->ledger, &path, h, more, why) : 0;
}

/* Its share of the pool; or, met as it runs, a hold of its own from its start. */
static int take_hold(struct pass *p, struct starting *s, struct hold_row *h, struct fault *why)
{
	struct hold_row pool;
	int have = hold_pool(p->b->ledger, s->admission.id, &pool, why);

	if (have < 0)
		return -1;
	p->pool_taken = p->pool_taken || have;
	if (have && pool.project == s->run.project)
		return hold_take_task(p->b->ledger, &pool, s->run.id, p->now, h, why);
	/* It was to move to another project, and started where it was. */
	if (have && pool.tasks <= 1 &&
		hold_close(p->b->ledger, &pool, p->now, "started in another project", why) < 0)
		return -1;
	*h = (struct hold_row){ .admission = s->admission.id, .project = s->run.project, .run = s->run.id,
		.tasks = 1, .opened_at = p->now };
	/* empty, to be filled as far as the money goes */
	return hold_open(p->b->ledger, &(struct path){0}, h, why);
}

static int open_funded(struct pass *p, struct starting *s, struct fault *why)
{
	struct hold_row h;

	if (take_hold(p, s, &h, why) < 0 || fit_hold_to_start(p, s, &h, why) < 0)
		return -1;
	s->run.covered_until = s->run.start + h.units / s->run.price;
	return run_update(p->b->ledger, &s->run, why);
}

static int open_run(struct pass *p, void *arg, struct fault *why)
{
	struct starting *s = arg;
	int known;

	if (s->admission.id && s->admission.job == 0) {	/* it started before a pass saw it wait */
		s->admission.job = pass_array_or_job_id(s->j);
		if (admission_update(p->b->ledger, &s->admission, why) < 0)
			return -1;
	}
	known = run_open(p->b->ledger, &s->run, why);
	if (known != 0)
		return known < 0 ? -1 : 0;
	if (s->run.admission && lane_run_began(p->b->ledger, s->run.id, s->run.admission, why) < 0)
		return -1;
	return s->run.tier == TIER_FUNDED && s->admission.id ? open_funded(p, s, why) : 0;
}

struct finding {
	int64_t job;
	struct admission_row *admission;
};

/* In the writer: the snapshot of the pass is older than the answer. */
static int find_admission(struct pass *p, void *arg, struct fault *why)
{
	struct finding *f = arg;

	return admission_by_job(p->b->ledger, f->job, f->admission, why) < 0 ? -1 : 0;
}

/* The answer may have been tied to its job by this very pass; in shadow mode perhaps not even that. */
static int known_admission(struct pass *p, struct starting *s, struct fault *why)
{
	int rc = pass_admission(p, s->j, &s->admission, why);
	struct finding find = { .admission = &s->admission, .job = pass_array_or_job_id(s->j) };

	if (rc != 0)
		return rc;
	s->admission = (struct admission_row){0};
	if ((pass_mode(p, s->j) == ENFORCE_WARN && pass_meet_shadow(p, s->j, why) < 0) ||
		pass_write(p, LEDGER_HOLDS, find_admission, &find, why) < 0)
		return -1;
	return s->admission.id || pass_mode(p, s->j) == ENFORCE_WARN;
}

/* A job that runs in our funded QOS without an answer of ours (the daemon was away) gets one: a hold from its
 * start, as far as it goes. */
static int admission_for_running(struct pass *p, struct starting *s, struct fault *why)
{
	struct finding find = { .admission = &s->admission, .job = pass_array_or_job_id(s->j) };
	struct question q;
	struct verdict v;
	int rc = known_admission(p, s, why);

	if (rc != 0)
		return rc < 0 ? -1 : 0;
	s->admission = (struct admission_row){0};
	if (!s->j->qos || (strcmp(s->j->qos, p->b->settings->qos_funded) &&
		strcmp(s->j->qos, p->b->settings->qos_funded_still)))
		return 0;
	question_from_job(s->j, &q);
	q.gpus.array = NULL;
	/* the answer looks at no money: the run takes what there is, from its start */
	q.stranger = q.time_limit_s != DURATION_UNLIMITED;
	if (pass_admit(p, &q, s->j, admit, &v, why) < 0)
		return -1;
	log_info("job %u runs without an answer of ours: %s", s->j->job_id, v.text);
	return v.token[0] ? pass_write(p, LEDGER_HOLDS, find_admission, &find, why) : 0;
}

/* The tier of a run is the one its QOS gave it: that is what Slurm protects. Without an answer of ours and in
 * another QOS it is `uncovered`, which is said in the charge. */
static enum job_tier tier_of_run(const struct pass *p, const struct starting *s)
{
	if (pass_mode(p, s->j) != ENFORCE_ON && s->admission.id)
		return s->admission.tier;
	if (s->j->qos && strcmp(s->j->qos, p->b->settings->qos_free) == 0)
		return TIER_FREE;
	return s->admission.id ? s->admission.tier : TIER_FUNDED;
}

static int describe_run(struct pass *p, struct starting *s, struct fault *why)
{
	const struct job_view *j = s->j;
	struct project project;
	struct run *r = &s->run;
	int64_t total = s->gpus.total;

	if (project_find(p->books, j->account ? j->account : "", &project, why) != 1)
		return -1;
	*r = (struct run){ .job = j->job_id, .submit = j->submit, .start = j->start,
		.admission = s->admission.id, .project = project.id, .uid = j->uid, .gpus = total,
		.price = r->price, .covered_until = j->start,
		.pauses_free = p->b->settings->charge_suspended == SUSPENDED_NOT_CHARGED };
	r->tier = tier_of_run(p, s);
	r->min_runtime_s = r->tier == TIER_FUNDED ? s->admission.min_runtime_s : 0;
	snprintf(r->cluster, sizeof(r->cluster), "%s", p->facts.cluster);
	snprintf(r->partition, sizeof(r->partition), "%s", j->partition ? j->partition : "");
	snprintf(r->tres, sizeof(r->tres), "%s", s->told);
	job_view_text(j, r->label);
	return 0;
}

static void tell_wait(struct pass *p, const struct job_view *j, enum job_tier tier)
{
	int64_t since = j->eligible ? j->eligible : j->submit;

	tally_waited(p->b->tally, tier == TIER_FUNDED ? TALLY_FUNDED : TALLY_FREE,
		(j->start - since) * 1000000);
}

static int start_run(struct pass *p, const struct job_view *j, struct run *out, struct fault *why)
{
	struct starting s = { .j = j };

	if (pass_gpus_given(j, &s.gpus, &s.told, why) < 0 ||
		rates_price(p->b->rates, &s.gpus, j->start, &s.run.price) < 0)
		return -1;
	if (s.run.price == 0)		/* no GPUs; or shards, where those cost nothing */
		return 0;
	if (admission_for_running(p, &s, why) < 0 || describe_run(p, &s, why) < 0 ||
		pass_write(p, LEDGER_HOLDS, open_run, &s, why) < 0)
		return -1;
	log_info("job %s started: %jd GPUs, %s, covered until %jd", s.run.label, (intmax_t)s.run.gpus,
		job_tier_name(s.run.tier), (intmax_t)s.run.covered_until);
	tell_wait(p, j, s.run.tier);
	*out = s.run;
	return 1;
}

/* --- ending ------------------------------------------------------------------------------------- */

struct ending {
	struct run *run;
	int64_t end;
	const char *state;
	amount_t refunded;
};

static int end_run(struct pass *p, void *arg, struct fault *why)
{
	struct ending *e = arg;
	int rc = run_end(p->b->ledger, e->run, e->end, e->state, p->now, why);

	if (rc != 0)
		return rc < 0 ? -1 : 0;	/* it had ended already */
	return run_refund(p->b->ledger, e->run, p->b->settings->node_fail_refund_s, p->now, &e->refunded,
		why);
}

static int settle(struct pass *p, struct run *r, int64_t end, const char *state, struct fault *why)
{
	struct ending e = { .run = r, .end = end, .state = state };
	char given[AMOUNT_TEXT_MAX];

	if (pass_write(p, LEDGER_MONEY, end_run, &e, why) < 0)
		return -1;
	log_info("job %s ended %s after %jd s on %jd GPUs", r->label, state, (intmax_t)(end - r->start),
		(intmax_t)r->gpus);
	if (e.refunded)
		log_info("job %s: %s GPU-h are given back", r->label, amount_text(e.refunded, given));
	return 0;
}

/* Sizes change while a job runs: what came first is told first. */
static int follow_changes(struct pass *p, struct run *r, const struct job_view *j, struct fault *why)
{
	bool size_first = j->resized < j->suspend_time || j->stage == STAGE_SUSPENDED;

	if (size_first && pass_follow_size(p, r, j, why) < 0)
		return -1;
	if (pass_suspend(p, r, j, why) < 0)
		return -1;
	return size_first ? 0 : pass_follow_size(p, r, j, why);
}

/* slurmdbd's row of the first part comes within seconds of the change, or not at all */
#define FIRST_SIZE_WAIT_S 60

/* A run that changed its size before it was first seen began with another one, which only slurmdbd still
 * knows. 1 = opened, 0 = not now. */
static int start_resized(struct pass *p, const struct job_view *j, struct run *out, struct fault *why)
{
	struct job_view first = *j;
	struct run_table *rows;
	bool found = false;
	int rc = 0;

	if (slurm_link_runs_of(p->b->slurm, j->job_id, j->start - 1, &rows, why) < 0)
		return -1;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].job_id == j->job_id && rows->rows[i].start == j->start &&
			rows->rows[i].resized && !found) {
			first.tres_alloc = rows->rows[i].tres_alloc;
			found = true;
		}
	if (found || p->now - j->resized > FIRST_SIZE_WAIT_S)
		rc = start_run(p, &first, out, why);
	run_table_free(rows);
	return rc;
}

int pass_meet_run(struct pass *p, const struct job_view *j, struct fault *why)
{
	struct run r;
	int rc;

	if (pass_mode(p, j) == ENFORCE_OFF || j->start == 0 || j->start > p->now + 60 ||
		!(j->tres_alloc || j->gres_detail))
		return 0;	/* cancelled before it started, or between two runs */
	rc = run_find(p->books, p->facts.cluster, j->job_id, j->submit, j->start, &r, why);
	if (rc == 0 && j->end && j->end <= j->start)
		/* over before it was seen, in the second in which it began: it cost nothing */
		return 0;
	if (rc == 0)
		rc = j->resized > j->start ? start_resized(p, j, &r, why) : start_run(p, j, &r, why);
	if (rc != 1)
		return rc;
	if (j->stage == STAGE_RUNNING || j->stage == STAGE_SUSPENDED || r.ended || !j->end ||
		strcmp(j->base_state, "PENDING") == 0)
		return 0;	/* base state PENDING: it is being requeued, its end is in slurmdbd */
	if (follow_changes(p, &r, j, why) < 0)
		return -1;
	return settle(p, &r, j->end, j->base_state, why);
}

/* --- following ---------------------------------------------------------------------------------- */

/* in one pass: a month that ends under 50,000 runs must not keep those that wait from an answer */
#define INTERIMS_MAX 2000

static int charge_month(struct pass *p, void *arg, struct fault *why)
{
	return run_interim(p->b->ledger, arg, p->month_began, p->now, why) < 0 ? -1 : 0;
}

/* A month is over and the run goes on. Not while it is suspended: a job that is cancelled then ended, for
 * Slurm, when it was suspended. A power cut loses nothing that the next pass would not charge alike. */
static int charge_past_months(struct pass *p, struct run *r, const struct job_view *j, struct fault *why)
{
	if (r->charged_to >= p->month_began || j->stage != STAGE_RUNNING || p->interims == INTERIMS_MAX)
		return 0;
	p->interims++;
	if (pass_write(p, LEDGER_HOLDS, charge_month, r, why) < 0)
		return -1;
	log_info("job %s: a month has ended, it is charged up to %jd and goes on", r->label,
		(intmax_t)r->charged_to);
	return 0;
}

static bool is_this_run(const struct job_view *j, const struct run *r)
{
	return j && j->start == r->start && j->submit == r->submit &&
		(j->stage == STAGE_RUNNING || j->stage == STAGE_SUSPENDED);
}

/* Requeued in the seconds in which it began: slurmdbd has its end and never got its start. For Slurm it did
 * not run, and costs nothing. */
static bool never_started_for_slurmdbd(const struct run *r, const struct run_row *row)
{
	return row->submit == r->submit && !row->start && row->end;
}

/* What the rows so far said of the run's suspensions; a row may come twice. */
struct row_pauses {
	int64_t total_s, counted;	/* counted: the effective start of the last row */
};

static int settle_by_row(struct pass *p, struct run *r, const struct run_row *row, struct row_pauses *pauses,
	struct fault *why)
{
	if (row->job_id != r->job)
		return 0;
	if (never_started_for_slurmdbd(r, row))
		return settle(p, r, r->start, row->state, why);
	if (row->start != r->start)
		return 0;
	if (pass_follow_size_by_row(p, r, row, why) < 0)
		return -1;
	pauses->total_s += row->effective_start > pauses->counted ? row->suspended_s : 0;
	pauses->counted = row->effective_start;
	/* Of a run that went on with another size slurmctld may have told more since. */
	if (row->end && (!row->resized || pauses->total_s > r->suspended_s) &&
		pass_suspend_by_row(p, r, pauses->total_s, row->end, why) < 0)
		return -1;
	return row->end && !row->resized ? settle(p, r, row->end, row->state, why) : 0;
}

/* slurmdbd's row of this run. Later parts of a resized run have the same start and another submit. */
static int settle_from_slurmdbd(struct pass *p, struct run *r, struct fault *why)
{
	struct run_table *rows;
	struct row_pauses pauses = {0};
	int rc = 0;

	if (slurm_link_runs_of(p->b->slurm, (uint32_t)r->job, r->start - 1, &rows, why) < 0)
		return -1;
	for (size_t i = 0; i < rows->count && rc == 0; i++)
		rc = settle_by_row(p, r, &rows->rows[i], &pauses, why);
	run_table_free(rows);
	return rc;
}

static int follow_run(const struct run *open, void *arg)
{
	struct pass *p = arg;
	const struct job_view *j = job_table_find(p->jobs, (uint32_t)open->job);
	struct fault why = {0};
	struct run r = *open;

	/* The snapshot is older than what this pass wrote: an ended run is not settled again (run_end would
	 * not either). */
	if (is_this_run(j, open)) {
		if (pass_note_found(p, &r, &why) < 0 || follow_changes(p, &r, j, &why) < 0 ||
			charge_past_months(p, &r, j, &why) < 0 || pass_give_excess_back(p, &r, j, &why) < 0 ||
			pass_extend_if_due(p, &r, j, &why) < 0)
			log_warning("job %s: %s", r.label, why.text);
		return 0;
	}
	if (j && j->start == open->start && j->submit == open->submit && j->end &&
		strcmp(j->base_state, "PENDING") != 0)
		return 0;	/* settled from the table by pass_meet_run */
	if (p->slurmdbd_away)
		return 0;
	if (p->facts.slurmdbd && settle_from_slurmdbd(p, &r, &why) < 0) {
		p->slurmdbd_away = errno == ENOTCONN;
		log_warning("job %s left the queue and slurmdbd does not say when%s: %s", r.label,
			p->slurmdbd_away ? ", others may have as well" : "", why.text);
	} else if (!r.ended && pass_note_lost(p, &r, &why) < 0) {
		log_warning("job %s left the queue without an end: %s", r.label, why.text);
	}
	return 0;
}

/* slurmctld and budgetd can be on two machines: the edge of a month has gone by on both when it has on this
 * one for that long. */
#define CLOCKS_DIFFER_S 60

int pass_follow_runs(struct pass *p, struct fault *why)
{
	int64_t end;

	zone_utc_month(p->now - CLOCKS_DIFFER_S, &p->month_began, &end);
	return run_walk_open(p->books, p->facts.cluster, follow_run, p, why);
}
