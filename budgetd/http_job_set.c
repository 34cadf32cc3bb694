/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_job_set.c - PATCH /v1/jobs/JOB: what a job declares, changed while it waits.
 *
 * Only the books change here: this thread never talks to Slurm. The next pass finds that the job's QOS and
 * place are not those of its admission and sets them. Until then the job may start as it was, and then the
 * run is what its QOS says. */
#include "budgetd/admit.h"
#include "budgetd/cluster_state.h"
#include "budgetd/held.h"
#include "budgetd/http_job_seen.h"
#include "budgetd/log.h"
#include "budgetd/people.h"
#include "budgetd/routes.h"
#include "budgetd/said.h"
#include "lib/duration.h"
#include "lib/job_id.h"
#include "lib/tres.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const keys[JOB_OPTIONS] = { [OPT_MIN_RUNTIME] = "min_runtime", [OPT_TIER] = "tier",
	[OPT_TEAM_RANK] = "team_rank" };

/* The job as the last pass saw it, copied from under the lock. */
struct standing {
	int64_t waiting, eligible, running, ended;	/* tasks */
	struct gpu_count gpus;
	bool cron;
	struct json_object *question;
	int64_t now;
};

static void look_at(const struct job_view *j, void *arg)
{
	struct standing *s = arg;
	struct gpu_count asked;
	struct question q;

	if (j->stage != STAGE_PENDING) {
		*(j->stage == STAGE_ENDED ? &s->ended : &s->running) += 1;
		return;
	}
	s->waiting += j->array_count;
	s->cron = s->cron || j->cron;
	if (job_is_eligible(j, s->now))
		s->eligible += j->array_count;
	if (s->question)
		return;
	question_from_job(j, &q);
	q.gpus.array = NULL;
	s->question = question_to_json(&q);
	if (tres_read(j->tres_req, &asked, NULL) == 0)
		s->gpus = asked;
}

/* --- may it be done ----------------------------------------------------------------------------- */

static int read_job(const char *name, int64_t *job, struct fault *why)
{
	struct job_name id;

	if (job_id_parse(name, &id, why) < 0)
		return -1;
	*job = id.job;
	if (id.part == JOB_TASK || id.part == JOB_TASKS)
		return fault_errno(why, EINVAL,
			"the tasks of an array declare the same: name the whole job, %jd", (intmax_t)*job);
	if (id.part == JOB_COMPONENT)
		return fault_errno(why, EINVAL,
			"name the component by its own job id: `squeue -j %jd -o \"%%i %%A\"` shows it",
			(intmax_t)*job);
	return 0;
}

static int check_waits(const struct standing *s, int64_t job, struct fault *why)
{
	if (s->cron)
		return fault_errno(why, EEXIST,
			"job %jd is of scrontab, which takes no changes: it is always free", (intmax_t)job);
	if (s->waiting && s->question)
		return 0;
	if (s->running)
		return fault_errno(why, EEXIST,
			"job %jd runs: what it declared holds for its run. Only a job that waits can declare something "
			"else", (intmax_t)job);
	return fault_errno(why, EEXIST, "job %jd is not in the queue any more: it has ended", (intmax_t)job);
}

static int check_rights(struct request *rq, const struct admission_row *a, struct fault *why)
{
	enum member_role role = ROLE_NOBODY;
	char name[PERSON_NAME_MAX];

	if (rq->administrator || (int64_t)rq->uid == a->uid)
		return 0;
	people_name(rq->b->people, rq->uid, rq->now, name);
	if (member_role(rq->b->ledger, a->project, name, &role, why) < 0)
		return -1;
	if (role != ROLE_OWNER)
		return fault_errno(why, EACCES,
			"the job is not %s's; its user, an owner of its project and administrators may change it",
			name);
	return 0;
}

/* --- what is declared --------------------------------------------------------------------------- */

/* The declarations of `from` (the question as it was asked, with what is new) on the job as it is now. */
static void take_declarations(struct json_object *to, struct json_object *from)
{
	struct json_object *v;

	for (int i = 0; i < JOB_OPTIONS; i++)
		if (json_object_object_get_ex(from, keys[i], &v))
			json_object_object_add(to, keys[i], json_object_get(v));
}

/* Served before the gang, wherever there is room: not by the lane, which a longer minimum runtime leaves. */
static bool goes_before(struct request *rq, const struct job_turn *turn, uint32_t gang)
{
	struct job_turn its;

	return turn->front != ORDER_LANE && turn->front != ORDER_FREE &&
		cluster_state_turn(rq->b->cluster, gang, gang, &its) && its.front != ORDER_FREE &&
		turn->position < its.position;
}

static int refuse_for_guard(struct request *rq, const struct admission_row *after, struct fault *why)
{
	struct gang_guard g = cluster_state_guard(rq->b->cluster);
	char guard[ADMIT_GUARD_TEXT_MAX], declared[DURATION_TEXT_MAX], fits[80] = "";
	int64_t minutes = (g.at - rq->now) / 60 - 1;	/* one to say it in */

	if (after->tier == TIER_FUNDED && minutes > 0)
		snprintf(fits, sizeof(fits), " Now --min-runtime=%jdm may be declared at most.", (intmax_t)minutes);
	return fault_errno(why, EEXIST,
		"refused: %s. This job may use them with what it declares now, and may not with %s%s.%s Declare it when "
		"that one has started (budgetctl why %u); or cancel the job and submit it anew.",
		admit_guard_text(rq->b, rq->now, guard),
		after->tier == TIER_FUNDED ? "a minimum runtime of " : "the free tier",
		after->tier == TIER_FUNDED ? duration_text(after->min_runtime_s, declared) : "", fits, g.job);
}

/* Until the next pass has told Slurm, it may start anywhere: also on nodes that are cleared for a gang, where
 * the last pass let it. That alone counts: what it declares now may have been too long since only. */
static int check_guard(struct request *rq, int64_t job, const struct admission_row *before,
	const struct admission_row *after, struct fault *why)
{
	uint32_t gang = admit_must_be_kept_off(rq->b, after->tier, after->min_runtime_s, rq->now);
	struct job_turn turn;

	if (!gang || gang == (uint32_t)job ||
		(after->tier == before->tier && after->min_runtime_s <= before->min_runtime_s) ||
		(cluster_state_turn(rq->b->cluster, (uint32_t)job, (uint32_t)job, &turn) &&
			(turn.kept_off || goes_before(rq, &turn, gang))))
		return 0;
	return refuse_for_guard(rq, after, why);
}

static int write_it(struct request *rq, int64_t job, struct admission_row *a, struct standing *s,
	struct json_object *asked, struct verdict *v, struct fault *why)
{
	struct declaration d = { .gpus = s->gpus, .tasks = s->eligible };
	struct admission_row before = *a;
	struct question q;

	d.question = &q;
	d.priced = json_object_object_get_ex(rq->body, "min_runtime", NULL) ||
		json_object_object_get_ex(rq->body, "tier", NULL);
	take_declarations(s->question, asked);
	if (question_from_json(s->question, &q, why) < 0 ||
		admit_declaration(rq->b, &d, a, rq->now, v, why) < 0)
		return -1;
	if (!v->accepted)
		return 0;
	if (check_guard(rq, job, &before, a, why) < 0)
		return -1;
	return admission_ask_anew(rq->b->ledger, a->id,
		json_object_to_json_string_ext(asked, JSON_C_TO_STRING_PLAIN), why);
}

/* Its words as they are in the books, and those of the body over them. To be put by the caller; NULL and a
 * text. */
static struct json_object *asked_anew(struct request *rq, const struct admission_row *a, struct fault *why)
{
	struct json_object *asked;
	char *request;

	if (admission_request(rq->b->ledger, a->id, &request, why) < 0)
		return NULL;
	asked = question_overlay(request, rq->body);
	free(request);
	if (!asked)
		fault_set(why, "the question of the job cannot be read back");
	return asked;
}

static struct json_object *answer(int64_t job, const struct admission_row *a, const struct project *p,
	amount_t held, const char *text)
{
	struct json_object *o = json_object_new_object();
	char name[24];

	snprintf(name, sizeof(name), "%jd", (intmax_t)job);
	put_text(o, "job", name);
	put_text(o, "project", p->name);
	put_text(o, "tier", job_tier_name(a->tier));
	put_int(o, "min_runtime_s", a->min_runtime_s);
	put_int(o, "team_rank", a->team_rank);
	put_int(o, "held_units", held);
	put_text(o, "text", text);
	return o;
}

static int declare(struct request *rq, int64_t job, struct admission_row *a, struct standing *s,
	struct verdict *v, struct fault *why)
{
	struct json_object *asked;
	int rc;

	if (check_waits(s, job, why) < 0)
		return -1;
	asked = asked_anew(rq, a, why);
	rc = asked ? write_it(rq, job, a, s, asked, v, why) : -1;
	json_object_put(asked);
	if (rc == 0 && !v->accepted)
		return fault_errno(why, EEXIST, "%s", v->text);
	return rc;
}

static int set_in_transaction(struct request *rq, int64_t job, struct standing *s, struct verdict *v,
	struct fault *why)
{
	const char *text = v->text;
	struct hold_row pool = {0};
	struct admission_row a;
	struct project project;
	int rc = admission_by_job(rq->b->ledger, job, &a, why);

	if (rc == 0)
		return job_unknown(rq->b, job, rq->now, why);
	if (rc < 0 || check_rights(rq, &a, why) < 0 || request_said(rq, why) < 0 ||
		(!rq->said && declare(rq, job, &a, s, v, why) < 0))
		return -1;
	if (project_by_id(rq->b->ledger, a.project, &project, why) != 1 ||
		hold_pool(rq->b->ledger, a.id, &pool, why) < 0)
		return -1;
	if (!*text)
		text = rq->said ? "It was declared before, with the same request id: nothing is changed." :
				  "Its team rank is changed; the next pass moves it.";
	rq->reply = answer(job, &a, &project, pool.units, text);
	return 0;
}

static int check_body(struct request *rq, struct fault *why)
{
	const char *text;
	int given = 0;

	for (int i = 0; i < JOB_OPTIONS; i++) {
		struct job_options scratch;
		int rc = body_text(rq, keys[i], &text, why);

		job_options_init(&scratch);
		if (rc < 0 || (rc == 1 && job_options_set(&scratch, (enum job_option)i, text, why) < 0))
			return -1;
		given += rc;
	}
	return given ? 0 : fault_errno(why, EINVAL, "nothing to set: give min_runtime, tier or team_rank");
}

/* The answer of a dry run is that of the same transaction, which is rolled back. */
static int set_or_try(struct request *rq, int64_t job, struct standing *s, bool dry_run, struct verdict *v,
	struct fault *why)
{
	int rc;

	if (ledger_begin(rq->b->ledger, LEDGER_HOLDS, why) < 0)
		return -1;
	rc = set_in_transaction(rq, job, s, v, why);
	if (rc == 0 && !dry_run)
		return ledger_commit(rq->b->ledger, why);
	ledger_rollback(rq->b->ledger);
	if (rc == 0)
		put_bool(rq->reply, "dry_run", true);
	return rc;
}

int job_patch(struct request *rq, struct fault *why)
{
	struct standing s = { .now = rq->now };
	struct verdict v = {0};
	char who[PERSON_NAME_MAX];
	bool dry_run = false;
	int64_t job;
	int rc;

	if (read_job(rq->name, &job, why) < 0 || check_body(rq, why) < 0 ||
		body_flag(rq, "dry_run", &dry_run, why) < 0)
		return -1;
	cluster_state_job(rq->b->cluster, (uint32_t)job, look_at, &s);
	rc = set_or_try(rq, job, &s, dry_run, &v, why);
	json_object_put(s.question);
	if (rc == 0 && !rq->said && !dry_run)
		log_info("job %jd: %s declares something else: %s", (intmax_t)job,
			people_name(rq->b->people, rq->uid, rq->now, who), v.text);
	return rc;
}
