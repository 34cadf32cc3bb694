/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_shadow.c - shadow mode in the loop: which answer belongs to which job, and which free run would
 * have given way.
 *
 * Displacement is reckoned by numbers of GPUs, not node by node: an estimate that may call a job startable
 * whose GPUs are scattered. */
#include "budgetd/ledger_shadow.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "budgetd/shadow.h"
#include "lib/tres.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum enforcement pass_mode(const struct pass *p, const struct job_view *j)
{
	return settings_enforcement(p->b->settings, j->partition);
}

/* --- whose answer is it ------------------------------------------------------------------------- */

struct binding {
	const struct job_view *job;
	int64_t admission;
	int found;			/* 1 bound now or before, 0 nobody answered this job */
};

static int bind_answer(struct pass *p, void *arg, struct fault *why)
{
	struct binding *x = arg;
	struct shadow s = { .at = x->job->submit, .job = pass_array_or_job_id(x->job), .uid = x->job->uid };
	struct gpu_request request = {0};
	struct admission_row a;

	x->found = shadow_known(p->b->ledger, s.job, why);
	if (x->found != 0)
		return x->found < 0 ? -1 : 0;
	if (gpu_request_read(&x->job->request, NULL, &request, NULL) < 0)
		request.gpus_max = 0;
	s.gpus = request.gpus_max;
	snprintf(s.account, sizeof(s.account), "%s", x->job->account ? x->job->account : "");
	x->found = shadow_bind(p->b->ledger, &s, &x->admission, why);
	if (x->found != 1 || !x->admission)
		return x->found < 0 ? -1 : 0;
	if (admission_by_id(p->b->ledger, x->admission, &a, why) != 1)
		return -1;
	a.job = s.job;
	return admission_update(p->b->ledger, &a, why);
}

int pass_meet_shadow(struct pass *p, const struct job_view *j, struct fault *why)
{
	struct binding x = { .job = j };
	struct question q;
	struct verdict v;

	if (pass_write(p, LEDGER_HOLDS, bind_answer, &x, why) < 0)
		return -1;
	if (x.found)
		return 0;
	question_from_job(j, &q);
	if (pass_admit(p, &q, j, shadow_admit, &v, why) < 0)
		return -1;
	if (v.text[0])
		log_info("job %u, in shadow mode: %s", j->job_id, v.text);
	return 0;
}

/* --- who would have given way ------------------------------------------------------------------- */

struct free_run {
	const struct job_view *job;
	int64_t gpus, start;
	bool taken;
};

struct reckoning {
	struct pass *p;
	struct free_run *runs;		/* the youngest first, as Slurm would choose */
	size_t nruns, room;
	int64_t idle;
	struct fault *why;
};

static int collect_free(const struct run *r, void *arg)
{
	struct reckoning *k = arg;
	const struct job_view *j = job_table_find(k->p->jobs, (uint32_t)r->job);
	struct free_run *more;

	if (r->tier != TIER_FREE || !j || j->stage != STAGE_RUNNING || pass_mode(k->p, j) != ENFORCE_WARN)
		return 0;
	if (k->nruns == k->room) {
		more = reallocarray(k->runs, k->room + 64, sizeof(*more));
		if (!more)
			return -1;
		k->runs = more;
		k->room += 64;
	}
	k->runs[k->nruns++] = (struct free_run){ .job = j, .gpus = r->gpus, .start = r->start };
	return 0;
}

static int youngest_first(const void *a, const void *b)
{
	const struct free_run *x = a, *y = b;

	return (x->start < y->start) - (x->start > y->start);
}

static int64_t idle_gpus(const struct pass *p)
{
	int64_t idle = p->cluster->healthy.total;

	for (size_t i = 0; i < p->jobs->count; i++) {
		const struct job_view *j = &p->jobs->jobs[i];
		struct gpu_count given;

		if ((j->stage == STAGE_RUNNING || j->stage == STAGE_SUSPENDED ||
			j->stage == STAGE_COMPLETING) && tres_read(j->tres_alloc, &given, NULL) == 0)
			idle -= given.total;
	}
	return idle;
}

static int note_displaced(struct pass *p, void *arg, struct fault *why)
{
	return shadow_note(p->b->ledger, arg, why);
}

static int displace_for(struct reckoning *k, const struct waiting *w, struct free_run *run)
{
	struct shadow s = { .at = k->p->now, .job = pass_array_or_job_id(run->job), .kind = "displaced",
		.uid = run->job->uid, .gpus = run->gpus, .for_job = pass_array_or_job_id(w->job) };

	run->taken = true;
	snprintf(s.account, sizeof(s.account), "%s", run->job->account ? run->job->account : "");
	snprintf(s.partition, sizeof(s.partition), "%s", run->job->partition ? run->job->partition : "");
	snprintf(s.text, sizeof(s.text), "its %jd GPUs would be given to job %jd, which is funded",
		(intmax_t)run->gpus, (intmax_t)s.for_job);
	return pass_write(k->p, LEDGER_HOLDS, note_displaced, &s, k->why);
}

/* One funded job that waits: into idle GPUs if it fits, else over free runs if they suffice. */
static int place_one(struct reckoning *k, const struct waiting *w)
{
	int64_t need = w->admission.gpus, there = k->idle;

	for (size_t i = 0; i < k->nruns; i++)
		there += k->runs[i].taken ? 0 : k->runs[i].gpus;
	if (there < need)
		return 0;
	for (size_t i = 0; i < k->nruns && k->idle < need; i++) {
		if (k->runs[i].taken)
			continue;
		if (displace_for(k, w, &k->runs[i]) < 0)
			return -1;
		k->idle += k->runs[i].gpus;
	}
	k->idle -= need;
	return 0;
}

static int reckon_displaced(struct pass *p, struct fault *why)
{
	struct reckoning k = { .p = p, .idle = idle_gpus(p), .why = why };
	int rc = run_walk_open(p->books, p->facts.cluster, collect_free, &k, why);

	if (k.nruns)
		qsort(k.runs, k.nruns, sizeof(*k.runs), youngest_first);
	for (size_t i = 0; i < p->nwaiting && rc == 0 && k.nruns; i++)
		if (p->waiting[i].admission.tier == TIER_FUNDED && p->waiting[i].tasks &&
			pass_mode(p, p->waiting[i].job) == ENFORCE_WARN)
			rc = place_one(&k, &p->waiting[i]);
	free(k.runs);
	return rc;
}

static int expire_unbound(struct pass *p, void *arg, struct fault *why)
{
	(void)arg;
	return shadow_expire_unbound(p->b->ledger, p->now - p->b->settings->unbound_hold_s, why);
}

int pass_follow_shadow(struct pass *p, struct fault *why)
{
	if (!settings_shadow_in_use(p->b->settings))
		return 0;
	return pass_write(p, LEDGER_HOLDS, expire_unbound, NULL, why) < 0 ? -1 : reckon_displaced(p, why);
}
