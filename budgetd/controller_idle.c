/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_idle.c - jobs whose GPUs nobody uses (doc/model.md, 6).
 *
 * Looked at when there are new samples, not in every pass: nothing changes in between. What is not known is
 * never idle. What was said stands in the events of the run, so nothing is said twice and a restart forgets
 * nothing. Times are those of the samples. */
#include "budgetd/cluster_state.h"
#include "budgetd/gpu_watch.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "lib/duration.h"
#include "lib/tres.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Whole GPUs of a running job. Shards and MPS have none: several jobs use the same device. */
static int64_t whole_gpus(const struct job_view *j)
{
	struct gpu_count count;
	const char *tres = j->tres_alloc ? j->tres_alloc : j->gres_detail;

	if (j->stage != STAGE_RUNNING || !tres || tres_read(tres, &count, NULL) < 0)
		return 0;
	return count.total;
}

/* --- what is said ------------------------------------------------------------------------------- */

static struct idle_limits limits_of(const struct settings *s)
{
	return (struct idle_limits){ s->idle_note_s, s->idle_warning_s, s->idle_last_warning_s,
		s->idle_unprotected_s };
}

/* The last word that was said to the run. A warning is the last one when it came as late as that. */
static int last_said(struct pass *p, int64_t run, int64_t since, enum idle_word *word, int64_t *at,
	struct fault *why)
{
	static const enum event_what whats[] = { EVENT_NOTED, EVENT_WARNED, EVENT_UNPROTECTED };
	int64_t last_warning_s = p->b->settings->idle_last_warning_s;
	struct event e;

	*word = IDLE_NOTHING;
	*at = 0;
	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
		int rc = event_last(p->books, run, whats[i], REASON_IDLE, &e, why);

		if (rc < 0)
			return -1;
		if (rc == 0 || e.at < *at)
			continue;
		*at = e.at;
		*word = e.what == EVENT_NOTED	    ? IDLE_NOTE :
			e.what == EVENT_UNPROTECTED ? IDLE_UNPROTECTED :
			last_warning_s && e.at - since >= last_warning_s ? IDLE_LAST_WARNING : IDLE_WARNING;
	}
	return 0;
}

struct saying {
	struct run run;
	enum idle_word word;
	int64_t at;			/* of the samples */
	char text[sizeof(((struct event *)NULL)->detail)];
};

/* What is the matter, and what comes of it. */
static void sentence_write(struct saying *s, int64_t since, const struct idle_limits *l)
{
	char idle[DURATION_TEXT_MAX], left[DURATION_TEXT_MAX], end[160] = "Others wait for GPUs.";
	int64_t left_s = since + l->unprotected_s - s->at;

	if (s->word == IDLE_LAST_WARNING && left_s < l->unprotected_s - l->last_warning_s)
		left_s = l->unprotected_s - l->last_warning_s;
	if (s->word == IDLE_UNPROTECTED)
		snprintf(end, sizeof(end),
			"The run is not protected any more: any funded job may displace it.");
	else if (l->unprotected_s)
		snprintf(end, sizeof(end),
			"Unless they are used, the run loses its protection in %s and any funded job may displace it.",
			duration_text(left_s, left));
	snprintf(s->text, sizeof(s->text), "%s%jd GPU%s not used for %s. %s",
		s->word == IDLE_LAST_WARNING ? "last warning: " : s->word == IDLE_WARNING ? "warning: " : "",
		(intmax_t)s->run.gpus, s->run.gpus == 1 ? " was" : "s were",
		duration_text(s->at - since, idle), end);
}

static int write_saying(struct pass *p, void *arg, struct fault *why)
{
	struct saying *s = arg;
	struct event e = { .at = s->at, .job = s->run.job, .run = s->run.id, .reason = REASON_IDLE,
		.what = s->word == IDLE_NOTE ? EVENT_NOTED : EVENT_WARNED };

	if (s->word == IDLE_UNPROTECTED)
		return run_unprotect(p->b->ledger, &s->run, REASON_IDLE, s->text, s->at, why) < 0 ? -1 : 0;
	snprintf(e.cluster, sizeof(e.cluster), "%s", s->run.cluster);
	snprintf(e.detail, sizeof(e.detail), "%s", s->text);
	return event_add(p->b->ledger, &e, why);
}

/* In the books first: what is lost when we are killed in between is a line in the job's output. */
static int say(struct pass *p, const struct job_view *j, struct saying *s, struct fault *why)
{
	struct fault problem = { "" };
	char line[sizeof(s->text) + 16];

	if (pass_write(p, LEDGER_HOLDS, write_saying, s, why) < 0)
		return -1;
	log_info("job %s: %s", s->run.label, s->text);
	snprintf(line, sizeof(line), "gpubudget: %s", s->text);
	if (slurm_link_notify(p->b->slurm, j->job_id, line, &problem) < 0)
		log_info("%s", problem.text);
	return 0;
}

/* Funded runs only: others have no protection to lose. */
static int go_up(struct pass *p, const struct job_view *j, int64_t since, int64_t until, struct fault *why)
{
	const struct idle_limits l = limits_of(p->b->settings);
	struct saying s = { .at = until };
	enum idle_word said;
	int64_t said_at;
	int rc;

	if (idle_next(&l, since, IDLE_NOTHING, 0, until) == IDLE_NOTHING || pass_mode(p, j) != ENFORCE_ON)
		return 0;
	rc = run_find(p->books, p->facts.cluster, j->job_id, j->submit, j->start, &s.run, why);
	if (rc != 1 || s.run.ended || s.run.tier == TIER_FREE)
		return rc < 0 ? -1 : 0;
	if (last_said(p, s.run.id, since, &said, &said_at, why) < 0)
		return -1;
	s.word = idle_next(&l, since, said, said_at, until);
	if (s.word == IDLE_NOTHING)
		return 0;
	sentence_write(&s, since, &l);
	return say(p, j, &s, why);
}

/* --- who is idle -------------------------------------------------------------------------------- */

/* Since when, or 0. */
static int64_t look_at(const struct job_view *j, const struct gpu_table *t, struct idle_jobs *out)
{
	const struct idle_gpu *found[GPU_FOUND_MAX];
	int64_t gpus = whole_gpus(j);
	size_t known = gpus ? gpu_table_of_job(t, j->job_id, j->gpu_places, found) : 0;

	out->used += gpus;
	if ((int64_t)known < gpus)
		out->unseen += gpus - (int64_t)known;
	return gpus ? idle_since(found, known, gpus, j->start, t->until) : 0;
}

static int look_at_all(struct pass *p, const struct gpu_table *t, struct fault *why)
{
	struct idle_jobs idle = { .until = t->until, .jobs = calloc(p->jobs->count + 1, sizeof(*idle.jobs)) };

	if (!idle.jobs)
		return fault_errno(why, ENOMEM, "out of memory");
	for (size_t i = 0; i < p->jobs->count; i++) {
		const struct job_view *j = &p->jobs->jobs[i];
		int64_t since = look_at(j, t, &idle);
		struct fault problem = { "" };

		if (since)
			idle.jobs[idle.count++] = (struct idle_job){ j->job_id, since };
		if (since && go_up(p, j, since, t->until, &problem) < 0)
			log_warning("job %u: %s", j->job_id, problem.text);
	}
	cluster_state_publish_idle(p->b->cluster, &idle);
	return 0;
}

int pass_look_at_idle(struct pass *p, struct fault *why)
{
	struct gpu_table t;
	int rc = p->b->gpus ? gpu_watch_view(p->b->gpus, cluster_state_idle_until(p->b->cluster), &t) : 0;

	if (rc < 0)
		return fault_errno(why, ENOMEM, "out of memory");
	if (rc > 0) {
		rc = look_at_all(p, &t, why);
		gpu_table_clear(&t);
	}
	return rc;
}
