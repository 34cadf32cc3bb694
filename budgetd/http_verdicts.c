/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_verdicts.c - POST /v1/verdicts: the question of a submission or a modification. */
#include "budgetd/admit.h"
#include "budgetd/cluster_state.h"
#include "budgetd/routes.h"
#include "budgetd/shadow.h"
#include "budgetd/tally.h"
#include "lib/gpu_request.h"
#include "lib/job_id.h"
#include "lib/token.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct json_object *verdict_json(struct request *rq, const struct verdict *v)
{
	struct json_object *o = json_object_new_object();
	int32_t place;

	put_text(o, "verdict", v->accepted ? "accept" : "reject");
	put_text(o, "tier", v->tier == TIER_UNSET ? "none" : job_tier_name(v->tier));
	if (v->qos)
		put_text(o, "qos", v->qos);
	if (v->account[0])
		put_text(o, "account", v->account);
	if (v->tier == TIER_FUNDED && v->token[0] && cluster_state_next_place(rq->b->cluster, &place))
		put_int(o, "site_factor", place);
	if (v->token[0])
		put_text(o, "token", v->token);
	if (v->waits || v->kept_off)
		json_object_object_add(o, "held", json_object_new_boolean(true));
	if (v->text[0])
		put_text(o, "text", v->text);
	return o;
}

static void find_stranger(struct request *rq, struct question *q)
{
	bool known, may = cluster_state_may_submit(rq->b->cluster, (uid_t)q->uid,
		q->account ? q->account : "", &known);

	q->stranger = known && !may;
}

static int answer_submission(struct request *rq, struct verdict *v, struct fault *why)
{
	const char *text = json_object_to_json_string_ext(rq->body, JSON_C_TO_STRING_PLAIN);
	struct question q;

	if (question_from_json(rq->body, &q, why) < 0)
		return -1;
	find_stranger(rq, &q);
	switch (shadow_mode(rq->b, q.partition)) {
	case ENFORCE_OFF:
		*v = (struct verdict){ .accepted = true };
		return 0;
	case ENFORCE_WARN:
		return shadow_admit(rq->b, &q, text, 0, rq->now, v, why);
	case ENFORCE_ON:
		break;
	}
	return admit(rq->b, &q, text, 0, rq->now, v, why);
}

/* Words that count in the --comment of a submission, in that of a change. */
static bool declares_anew(struct request *rq)
{
	const char *comment = NULL;
	struct job_options o, none;

	job_options_init(&o);
	job_options_init(&none);
	if (body_text(rq, "comment", &comment, NULL) != 1)
		return false;
	return job_options_from_comment(&o, comment, NULL) < 0 || memcmp(&o, &none, sizeof(o)) != 0;
}

/* What only the budget decides. The tier's QOS is not the user's to choose, and what the daemon holds only
 * money releases. */
static bool refuse_what_is_ours(struct request *rq, const struct admission_row *a, bool het,
	struct verdict *v)
{
	const char *qos = NULL, *ours = admit_qos(rq->b, a->tier, het);
	struct json_object *release, *waits;

	*v = (struct verdict){0};
	if (body_text(rq, "qos", &qos, NULL) == 1 && strcmp(qos, ours) != 0) {
		snprintf(v->text, sizeof(v->text),
			"refused: the QOS follows the tier (%s, QOS %s) and is not changed by hand",
			job_tier_name(a->tier), ours);
		return true;
	}
	if (declares_anew(rq)) {
		snprintf(v->text, sizeof(v->text),
			"refused: a comment changes nothing of a job that is in the queue; "
			"use budgetctl job set %jd --min-runtime, --tier or --team-rank", (intmax_t)a->job);
		return true;
	}
	if (json_object_object_get_ex(rq->body, "release", &release) && json_object_get_boolean(release) &&
		json_object_object_get_ex(rq->body, "waits", &waits) && json_object_get_boolean(waits)) {
		snprintf(v->text, sizeof(v->text),
			"refused: tasks of job %jd wait for budget and are released when their project can pay "
			"for them. See `budgetctl why %jd`; `budgetctl job set %jd --tier free` runs them uncharged and unprotected.",
			(intmax_t)a->job, (intmax_t)a->job, (intmax_t)a->job);
		return true;
	}
	return false;
}

/* A job that is changed before the loop has seen it for the first time is not what it was priced as: it is to
 * be priced anew. */
static int mark_changed(struct ledger *l, struct admission_row *a, struct fault *why)
{
	if (a->seen[0])
		return 0;
	snprintf(a->seen, sizeof(a->seen), "changed");
	return admission_update(l, a, why);
}

/* What of the job gets another time limit, as the change names it. */
static const char *limit_of(struct request *rq)
{
	const char *job = NULL;

	if (!json_object_object_get_ex(rq->body, "time_limit_min", NULL) ||
		body_text(rq, "job", &job, NULL) != 1)
		return NULL;
	return job;
}

/* A record that is named by its own number goes by its array's. */
static void note_array(const struct job_view *j, void *arg)
{
	if (j->array_job_id)
		*(uint32_t *)arg = j->array_job_id;
}

/* Its turn, as the last pass saw the job that the body names: 1, or 0 when it has none; -1. */
static int turn_of_named(struct request *rq, struct job_turn *turn, struct fault *why)
{
	const char *job = NULL;
	struct job_name id;
	uint32_t whole;

	if (body_need_text(rq, "job", &job, why) < 0 || job_id_parse(job, &id, why) < 0)
		return -1;
	whole = (uint32_t)id.job;
	cluster_state_job(rq->b->cluster, whole, note_array, &whole);
	return cluster_state_turn(rq->b->cluster, whole, (uint32_t)id.job, turn);
}

/* Held by its user, it was submitted since the last pass: nothing keeps it off the nodes of a gang yet, and
 * Slurm would start it there within a second. */
static int refuse_early_release(struct request *rq, const struct admission_row *a, struct verdict *v,
	struct fault *why)
{
	uint32_t gang = admit_must_be_kept_off(rq->b, a->tier, a->min_runtime_s, rq->now);
	char guard[ADMIT_GUARD_TEXT_MAX];
	struct json_object *release;
	struct job_turn turn;
	int rc;

	if (!gang || gang == a->job || !json_object_object_get_ex(rq->body, "release", &release) ||
		!json_object_get_boolean(release))
		return 0;
	rc = turn_of_named(rq, &turn, why);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	*v = (struct verdict){0};
	snprintf(v->text, sizeof(v->text),
		"refused for a moment: %s, and the next pass keeps this job off them. Release it again in %jd s.",
		admit_guard_text(rq->b, rq->now, guard), (intmax_t)rq->b->settings->pass_interval_s + 1);
	return 0;
}

static int change_in_transaction(struct request *rq, const char *token, struct verdict *v, struct fault *why)
{
	struct admission_row a;
	struct json_object *merged;
	struct question q;
	char *request;
	int rc = admission_by_token(rq->b->ledger, token, &a, why);

	*v = (struct verdict){ .accepted = true };
	if (rc != 1)
		return rc;	/* not one of ours: the loop meets what becomes of it */
	if (admission_request(rq->b->ledger, a.id, &request, why) < 0)
		return -1;
	merged = question_overlay(request, rq->body);
	free(request);
	if (!merged)
		return fault_set(why, "the question of token %s cannot be read back", token);
	rc = question_from_json(merged, &q, why);
	if (rc == 0 && !refuse_what_is_ours(rq, &a, q.het, v)) {
		*v = (struct verdict){ .accepted = true };
		rc = refuse_early_release(rq, &a, v, why);
	}
	if (rc == 0 && v->accepted) {
		find_stranger(rq, &q);
		rc = admit_change(rq->b, &q, limit_of(rq), &a, rq->now, v, why);
	}
	json_object_put(merged);
	return rc < 0 || !v->accepted ? rc : mark_changed(rq->b->ledger, &a, why);
}

static int answer_modification(struct request *rq, struct verdict *v, struct fault *why)
{
	const char *token = NULL;
	int rc;

	*v = (struct verdict){ .accepted = true };
	if (body_text(rq, "token", &token, why) < 0)
		return -1;
	if (!token)
		return 0;
	if (ledger_begin(rq->b->ledger, LEDGER_HOLDS, why) < 0)
		return -1;
	rc = change_in_transaction(rq, token, v, why);
	if (rc == 0)
		return ledger_commit(rq->b->ledger, why);
	ledger_rollback(rq->b->ledger);
	return rc;
}

/* --- a hold -------------------------------------------------------------------------------------- */

/* What the hold names: a job with all of its tasks or components, or tasks of it. */
struct named {
	uint32_t job;
	const char *tasks;		/* "5", "[2-5]"; NULL = all */
	char runs[JOB_NAME_TEXT_MAX], waits[JOB_NAME_TEXT_MAX];	/* the first record of either, "" = none */
};

static void look_at_record(const struct job_view *j, void *arg)
{
	struct named *n = arg;
	bool is_task = j->array_job_id && j->array_task_id != JOB_NOT_A_TASK;

	if (n->tasks && is_task && !gpu_request_array_names(n->tasks, j->array_task_id))
		return;
	if (j->stage == STAGE_PENDING && !n->waits[0])
		job_view_text(j, n->waits);
	if ((j->stage == STAGE_RUNNING || j->stage == STAGE_SUSPENDED) && !n->runs[0])
		job_view_text(j, n->runs);
}

static void refuse_hold(const struct named *n, struct verdict *v)
{
	*v = (struct verdict){0};
	snprintf(v->text, sizeof(v->text),
		"refused: job %s runs, and Slurm gives the GPUs of a run that is held to others. To stop it and keep "
		"it in the queue: scontrol requeuehold %s.%s%s%s", n->runs, n->runs,
		n->waits[0] ? " To hold what waits: scontrol hold " : "", n->waits, n->waits[0] ? "." : "");
}

/* What runs is not held: its priority would be 0, and Slurm displace it (doc/model.md, 6). As the last pass
 * saw it: what started since is put right by the next one. */
static int answer_hold(struct request *rq, struct verdict *v, struct fault *why)
{
	const char *job = NULL, *tasks;
	struct named n = {0};
	struct job_name id;

	*v = (struct verdict){ .accepted = true };
	if (body_need_text(rq, "job", &job, why) < 0 || job_id_parse(job, &id, why) < 0)
		return -1;
	tasks = id.part == JOB_TASK || id.part == JOB_TASKS ? strchr(job, '_') : NULL;
	n.job = (uint32_t)id.job;
	n.tasks = tasks ? tasks + 1 : NULL;
	cluster_state_job(rq->b->cluster, n.job, look_at_record, &n);
	if (n.runs[0])
		refuse_hold(&n, v);
	return 0;
}

/* --- other excluded nodes ------------------------------------------------------------------------ */

/* Slurm would start it within a second on nodes that are cleared for a gang, inside its minimum runtime. */
static int answer_exclude(struct request *rq, struct verdict *v, struct fault *why)
{
	struct gang_guard g = cluster_state_guard(rq->b->cluster);
	char guard[ADMIT_GUARD_TEXT_MAX];
	const char *job = NULL;
	struct job_turn turn;
	int rc = turn_of_named(rq, &turn, why);

	*v = (struct verdict){ .accepted = true };
	if (rc <= 0 || !g.job || !turn.kept_off)
		return rc < 0 ? -1 : 0;
	*v = (struct verdict){0};
	body_text(rq, "job", &job, NULL);
	snprintf(v->text, sizeof(v->text),
		"refused: %s, and the excluded nodes of job %s keep it off them. They are as they were when that "
		"one has started (budgetctl why %s); to exclude others now, cancel the job and submit it anew.",
		admit_guard_text(rq->b, rq->now, guard), job, job);
	return 0;
}

static int decide(struct request *rq, struct verdict *v, struct fault *why)
{
	const char *kind = NULL;

	if (body_need_text(rq, "kind", &kind, why) < 0)
		return -1;
	if (strcmp(kind, "submit") == 0)
		return answer_submission(rq, v, why);
	if (strcmp(kind, "modify") == 0)
		return answer_modification(rq, v, why);
	if (strcmp(kind, "hold") == 0)
		return answer_hold(rq, v, why);
	if (strcmp(kind, "exclude") == 0)
		return answer_exclude(rq, v, why);
	return fault_errno(why, EINVAL,
		"\"kind\" must be \"submit\", \"modify\", \"hold\" or \"exclude\", not \"%.40s\"", kind);
}

/* --- what is counted of it ------------------------------------------------------------------------ */

/* How often the plugin had no answer since it last told; it is no part of the question that is kept. */
static void count_unanswered(struct request *rq)
{
	static const char *const keys[TALLY_UNANSWERED] = { "unanswered_deadline", "unanswered_breaker",
		"unanswered_other" };

	for (int i = 0; i < TALLY_UNANSWERED; i++) {
		int64_t n = 0;

		if (body_int(rq, keys[i], 0, UINT32_MAX, &n, NULL) == 1)
			tally_not_answered(rq->b->tally, (enum tally_unanswered)i, (uint64_t)n);
		json_object_object_del(rq->body, keys[i]);
	}
}

static enum tally_decision kind_of(int rc, const struct verdict *v)
{
	if (rc < 0)
		return DECIDED_FAILED;
	if (!v->accepted)
		return DECIDED_REJECTED;
	if (v->waits)
		return DECIDED_WAITS;
	return v->tier == TIER_FUNDED ? DECIDED_FUNDED : v->tier == TIER_FREE ? DECIDED_FREE : DECIDED_LEFT;
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int verdict_post(struct request *rq, struct fault *why)
{
	int64_t begun = now_us();
	struct verdict v = { 0 };
	int rc;

	count_unanswered(rq);
	rc = decide(rq, &v, why);
	tally_decided(rq->b->tally, kind_of(rc, &v), now_us() - begun);
	if (rc == 0)
		rq->reply = verdict_json(rq, &v);
	return rc;
}
