/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_corrections.c - what Slurm's accounting says of a run otherwise than the books, and ends that are said
 * by hand.
 *
 * Who corrects brings the facts as slurmdbd has them; prices are the books' own, by the rates at the start of
 * the run. */
#include "budgetd/cluster_state.h"
#include "budgetd/http_money.h"
#include "budgetd/http_runs.h"
#include "budgetd/log.h"
#include "budgetd/rates.h"
#include "lib/agreement.h"
#include "lib/number.h"
#include "lib/tres.h"
#include "settings/enforce.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX (INT64_MAX / 4)

/* --- reading the body --------------------------------------------------------------------------- */

static int need_int(struct request *rq, const char *key, int64_t min, int64_t max, int64_t *out,
	struct fault *why)
{
	int rc = body_int(rq, key, min, max, out, why);

	return rc == 0 ? fault_errno(why, EINVAL, "\"%s\" is missing", key) : rc < 0 ? -1 : 0;
}

/* Kind, time, actor, reason and request id of a correction. */
static int read_correction(struct request *rq, const char *kind, struct correction *c, struct fault *why)
{
	struct journal_entry e;

	if (money_entry(rq, "", true, &e, why) < 0)
		return -1;
	*c = (struct correction){ .at = rq->now };
	snprintf(c->kind, sizeof(c->kind), "%s", kind);
	memcpy(c->actor, e.actor, sizeof(c->actor));
	memcpy(c->reason, e.reason, sizeof(c->reason));
	memcpy(c->request_id, e.request_id, sizeof(c->request_id));
	return 0;
}

/* Like body_int, of an object in the body. */
static int64_t member_int(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) &&
		json_object_is_type(v, json_type_int) ? json_object_get_int64(v) : -1;
}

static int read_piece(struct request *rq, struct json_object *o, int64_t start, struct run_piece *p,
	struct fault *why)
{
	struct json_object *tres = NULL;
	struct gpu_count given;

	if (!json_object_is_type(o, json_type_object) || !json_object_object_get_ex(o, "tres", &tres) ||
		!json_object_is_type(tres, json_type_string) ||
			strlen(json_object_get_string(tres)) >= sizeof(p->tres))
		return fault_errno(why, EINVAL,
			"a piece has \"from\", \"to\" and \"tres\", which is AllocTRES");
	*p = (struct run_piece){ .from = member_int(o, "from"), .to = member_int(o, "to"),
		.suspended_s = json_object_object_get_ex(o, "suspended_s", NULL)
			? member_int(o, "suspended_s") : 0 };
	snprintf(p->tres, sizeof(p->tres), "%s", json_object_get_string(tres));
	if (tres_read(p->tres, &given, why) < 0)
		return -1;
	p->gpus = given.total;
	if (rates_price(rq->b->rates, &given, start, &p->price) < 0)
		return fault_errno(why, EOVERFLOW, "the price of %.100s is more than can be counted",
			p->tres);
	return 0;
}

/* One after the other from `start` on; the last one leads to the end. Shorter gaps than a moment are none of
 * ours: slurmdbd's rows are whole seconds. */
static int check_pieces(const struct run_facts *f, int64_t start, struct fault *why)
{
	int64_t at = start;

	for (size_t i = 0; i < f->count; i++) {
		int64_t pause = f->pieces[i].suspended_s;

		if (f->pieces[i].from < at || f->pieces[i].to < f->pieces[i].from)
			return fault_errno(why, EINVAL,
				"the pieces of a run follow each other from its start to its end");
		if (pause < 0 || pause > f->pieces[i].to - f->pieces[i].from)
			return fault_errno(why, EINVAL,
				"a piece was not suspended for longer than it lasted");
		at = f->pieces[i].to;
	}
	return f->count == 0 || at == f->ended ? 0
		: fault_errno(why, EINVAL, "the last piece leads to the end of the run");
}

/* f->pieces is to be freed by the caller, whatever comes back. */
static int read_pieces(struct request *rq, int64_t start, struct run_facts *f, struct fault *why)
{
	struct json_object *list = NULL;
	struct run_piece *pieces;
	size_t n;

	if (!json_object_object_get_ex(rq->body, "pieces", &list) ||
		!json_object_is_type(list, json_type_array))
		return fault_errno(why, EINVAL, "\"pieces\" is missing");
	n = json_object_array_length(list);
	if (n > RUN_PIECES_MAX)
		return fault_errno(why, EINVAL, "a run has at most %d pieces", RUN_PIECES_MAX);
	f->pieces = pieces = calloc(n + 1, sizeof(*pieces));
	if (!pieces)
		return fault_errno(why, ENOMEM, "out of memory");
	for (f->count = 0; f->count < n; f->count++)
		if (read_piece(rq, json_object_array_get_idx(list, f->count), start, &pieces[f->count],
			why) < 0)
			return -1;
	return check_pieces(f, start, why);
}

/* The tier that a QOS gives; `otherwise` for one of neither tier. */
static enum job_tier tier_of(const struct settings *s, const char *qos, enum job_tier otherwise)
{
	if (strcmp(qos, s->qos_free) == 0)
		return TIER_FREE;
	return strcmp(qos, s->qos_funded) == 0 ||
		strcmp(qos, s->qos_funded_still) == 0 ? TIER_FUNDED : otherwise;
}

static int read_facts(struct request *rq, struct run_facts *f, int64_t start, enum job_tier otherwise,
	struct fault *why)
{
	const char *account = NULL, *qos = "", *state = "";
	struct project p;

	if (need_int(rq, "end", 0, TIME_MAX, &f->ended, why) < 0 ||
		body_need_text(rq, "account", &account, why) < 0 || body_text(rq, "qos", &qos, why) < 0 ||
		body_text(rq, "state", &state, why) < 0 ||
		project_find(rq->b->ledger, account, &p, why) != 1 || read_pieces(rq, start, f, why) < 0)
		return -1;
	f->project = p.id;
	f->tier = tier_of(rq->b->settings, qos, otherwise);
	snprintf(f->state, sizeof(f->state), "%.31s", state);
	return 0;
}

/* --- the run ------------------------------------------------------------------------------------ */

static int read_key(struct request *rq, struct run *r, struct fault *why)
{
	const char *cluster = NULL, *label = NULL, *partition = "";

	*r = (struct run){ .pauses_free = rq->b->settings->charge_suspended == SUSPENDED_NOT_CHARGED };
	if (body_need_text(rq, "cluster", &cluster, why) < 0 ||
		body_need_text(rq, "label", &label, why) < 0 ||
		body_text(rq, "partition", &partition, why) < 0 ||
		need_int(rq, "job", 1, UINT32_MAX, &r->job, why) < 0 ||
		need_int(rq, "submit", 0, TIME_MAX, &r->submit, why) < 0 ||
		need_int(rq, "start", 1, TIME_MAX, &r->start, why) < 0 ||
		need_int(rq, "uid", 0, UINT32_MAX, &r->uid, why) < 0)
		return -1;
	snprintf(r->cluster, sizeof(r->cluster), "%.63s", cluster);
	snprintf(r->label, sizeof(r->label), "%.63s", label);
	snprintf(r->partition, sizeof(r->partition), "%.63s", partition);
	return 0;
}

/* The answer that its job was given, by the number in front: tasks of an array share the one of the array. */
static int find_answer(struct request *rq, struct run *r, struct admission_row *a, struct fault *why)
{
	int rc = admission_by_job(rq->b->ledger, strtoll(r->label, NULL, 10), a, why);

	if (rc == 0)
		rc = admission_by_job(rq->b->ledger, r->job, a, why);
	r->admission = rc == 1 ? a->id : 0;
	return rc < 0 ? -1 : 0;
}

/* A run as budgetd would have met it: its tier is that of its QOS, without an answer of ours it is
 * uncovered. */
static int describe(struct request *rq, struct run *r, struct run_facts *f, struct fault *why)
{
	struct admission_row a = { .tier = TIER_FUNDED };

	if (read_key(rq, r, why) < 0 || find_answer(rq, r, &a, why) < 0 ||
		read_facts(rq, f, r->start, a.tier, why) < 0)
		return -1;
	if (f->count == 0)
		return fault_errno(why, EINVAL, "a run that is entered has pieces");
	if (r->admission && settings_enforcement(rq->b->settings, r->partition) != ENFORCE_ON)
		f->tier = a.tier;
	r->project = f->project;
	r->tier = f->tier;
	r->min_runtime_s = r->tier == TIER_FUNDED && r->admission ? a.min_runtime_s : 0;
	r->gpus = f->pieces[0].gpus;
	r->price = f->pieces[0].price;
	memcpy(r->tres, f->pieces[0].tres, sizeof(r->tres));
	r->covered_until = r->start;
	return r->price > 0 ? 0 : fault_errno(why, EINVAL, "job %s had nothing that costs", r->label);
}

/* Only a run that Slurm does not know has no pieces. */
static int check_kind(const char *kind, const struct run_facts *f, struct fault *why)
{
	for (int d = 0; d < DIFFERENCES; d++)
		if (difference_table[d].repair && strcmp(difference_table[d].id, kind) == 0)
			return (f->count == 0) == (d == DIFFERS_TWICE) ? 0 :
				fault_errno(why, EINVAL, "a correction of kind %s has %s", kind,
					f->count ? "no pieces" : "pieces");
	return fault_errno(why, EINVAL, "\"%.30s\" is no difference that can be corrected", kind);
}

static int correct_run(struct request *rq, struct run *r, struct run_facts *f, struct correction *c,
	struct fault *why)
{
	int64_t id;
	int rc;

	if (need_int(rq, "run", 1, INT64_MAX, &id, why) < 0)
		return -1;
	rc = run_by_id(rq->b->ledger, id, r, why);
	if (rc != 1)
		return rc < 0 ? -1 : fault_errno(why, ENOENT, "there is no run %jd", (intmax_t)id);
	if (read_facts(rq, f, r->start, r->tier, why) < 0 || check_kind(c->kind, f, why) < 0)
		return -1;
	return run_correct(rq->b->ledger, r, f, c, why);
}

static int reply_run(struct request *rq, const struct correction *c, struct fault *why)
{
	struct run_account a;
	bool dry_run = false;

	if (run_account_read(rq->b->ledger, c->run, &a, why) != 1 ||
		body_flag(rq, "dry_run", &dry_run, why) < 0)
		return -1;
	rq->reply = run_json(rq, rq->b->ledger, &a);
	if (!dry_run)
		log_info("job %s, run %jd: corrected (%s) by %s: %s", a.run.label, (intmax_t)a.run.id,
			c->kind, c->actor, c->reason);
	return 0;
}

static int correct(struct request *rq, struct fault *why)
{
	struct run_facts f = {0};
	struct correction c;
	const char *kind = NULL;
	struct run r;
	int rc;

	if (body_need_text(rq, "kind", &kind, why) < 0 || read_correction(rq, kind, &c, why) < 0)
		return -1;
	if (strcmp(kind, "missing") == 0)
		rc = describe(rq, &r, &f, why) < 0 ? -1 : run_enter(rq->b->ledger, &r, &f, &c, why);
	else
		rc = correct_run(rq, &r, &f, &c, why);
	free((void *)f.pieces);
	return rc < 0 ? -1 : reply_run(rq, &c, why);
}

int correction_post(struct request *rq, struct fault *why)
{
	return money_write(rq, correct, why);
}

/* --- an end that is said by hand ---------------------------------------------------------------- */

struct running {
	int64_t start;
	bool found;
};

static void look_at(const struct job_view *j, void *arg)
{
	struct running *x = arg;

	x->found |= j->start == x->start && (j->stage == STAGE_RUNNING || j->stage == STAGE_SUSPENDED);
}

static int end_run(struct request *rq, struct fault *why)
{
	struct running running = {0};
	struct correction c;
	int64_t end, id;
	struct run r;
	int rc = number_parse(rq->name, INT64_MAX, &id) < 0 ? 0 : run_by_id(rq->b->ledger, id, &r, why);

	if (rc != 1)
		return rc < 0 ? -1 : fault_errno(why, ENOENT, "there is no run %s", rq->name);
	if (read_correction(rq, "by hand", &c, why) < 0 || need_int(rq, "end", 1, rq->now, &end, why) < 0)
		return -1;
	running.start = r.start;
	cluster_state_job(rq->b->cluster, (uint32_t)r.job, look_at, &running);
	if (running.found)
		return fault_errno(why, EEXIST, "job %s runs: cancel it, and budgetd settles it", r.label);
	return run_end_by_hand(rq->b->ledger, &r, end, &c, why) < 0 ? -1 : reply_run(rq, &c, why);
}

int run_patch(struct request *rq, struct fault *why)
{
	if (money_write(rq, end_run, why) < 0)
		return -1;
	rq->status = MHD_HTTP_OK;
	return 0;
}
