/* SPDX-License-Identifier: GPL-2.0-or-later
 * admit.c - the verdict, and the hold that makes it true. */
#include "budgetd/admit.h"
#include "budgetd/admit_parts.h"
#include "budgetd/cluster_state.h"
#include "budgetd/ledger_guard.h"
#include "budgetd/rates.h"
#include "lib/duration.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* --- what is asked ------------------------------------------------------------------------------ */

static int read_options(const struct question *q, struct job_options *o, struct fault *why)
{
	job_options_init(o);
	for (int i = 0; i < JOB_OPTIONS; i++)
		if (q->text[i] && job_options_set(o, (enum job_option)i, q->text[i], why) < 0)
			return -1;
	/* a site's own words there are no reason to refuse a job */
	job_options_from_comment(o, q->admin_comment, NULL);
	return job_options_from_comment(o, q->comment, why);
}

/* A job without --time gets its partition's default. Before the first pass nothing is known of partitions:
 * then nothing is cut. */
static int64_t time_limit(const struct budgetd *b, const struct question *q, const struct partition_answer *p)
{
	if (q->time_limit_s != JOB_TIME_LIMIT_UNSET)
		return q->time_limit_s;
	return p->known ? p->time_limit_s : b->settings->max_min_runtime_s;
}

/* By the rates of now: the start of the job prices it anew (doc/model.md, 4). */
static int price_request(struct budgetd *b, const struct partition_answer *where, int64_t now,
	struct priced *p, struct fault *why)
{
	if (rates_price_dearest(b->rates, &p->request.gpus, p->request.gpus_max, &where->gpus, now,
		&p->price) < 0)
		return fault_errno(why, EOVERFLOW,
			"the job costs more GPU-hours than can be counted; ask for fewer GPUs");
	return 0;
}

int admit_price(struct budgetd *b, const struct question *q, int64_t now, struct priced *out,
	struct fault *why)
{
	struct partition_answer p = cluster_state_partitions(b->cluster, q->partition);
	struct gpu_request_cluster facts = { .gpus_per_node = p.gpus_per_node };
	struct gpu_request_input in = q->gpus;

	in.exclusive = in.exclusive || p.exclusive;
	*out = (struct priced){
		.time_limit_s = time_limit(b, q, &p),
		.rules = { .default_min_runtime_s = b->settings->default_min_runtime_s,
			.max_min_runtime_s = b->settings->max_min_runtime_s,
			.grace_s = b->settings->displace == DISPLACE_OFF ? 0 : b->settings->grace_s,
			.hold_time_limit = b->settings->hold == HOLD_TIME_LIMIT,
			.reject_unlimited = b->settings->unlimited_time == UNLIMITED_REJECT },
	};
	if (read_options(q, &out->options, why) < 0 ||
		gpu_request_read(&in, &facts, &out->request, why) < 0 ||
		price_request(b, &p, now, out, why) < 0)
		return -1;
	out->valid = true;
	return 0;
}

int admit_price_count(struct budgetd *b, const struct question *q, const struct gpu_count *asked, int64_t now,
	struct priced *p, struct fault *why)
{
	struct partition_answer where = cluster_state_partitions(b->cluster, q->partition);

	p->request.gpus = *asked;
	p->request.gpus_max = asked->total;
	return price_request(b, &where, now, p, why);
}

/* Reserving for a job that cannot start would take the money from those that can (doc/model.md, 4.1). */
static bool is_deferred(const struct question *q, int64_t now)
{
	return q->begin > now || q->has_dependency || q->held;
}

const char *admit_qos(const struct budgetd *b, enum job_tier tier, bool het)
{
	if (tier == TIER_FREE)
		return b->settings->qos_free;
	return het ? b->settings->qos_funded_still : b->settings->qos_funded;
}

/* --- the decision ------------------------------------------------------------------------------- */

void admit_refuse(struct verdict *v, const char *text)
{
	*v = (struct verdict){0};
	snprintf(v->text, sizeof(v->text), "refused: %s", text);
}

enum on_exhausted admit_site_policy(const struct budgetd *b)
{
	static const enum on_exhausted policies[] = {
		[EXHAUSTED_FREE] = ON_EXHAUSTED_FREE, [EXHAUSTED_REJECT] = ON_EXHAUSTED_REJECT,
			[EXHAUSTED_WAIT] = ON_EXHAUSTED_WAIT,
	};

	return policies[b->settings->on_exhausted];
}

struct admission_question admit_ask(const struct budgetd *b, const struct question *q, const struct priced *p,
	const struct path *path, int64_t now)
{
	static const enum admission_exhausted exhausted[] = {
		[ON_EXHAUSTED_FREE] = ADMIT_FREE, [ON_EXHAUSTED_REJECT] = ADMIT_REJECT,
			[ON_EXHAUSTED_WAIT] = ADMIT_WAIT,
	};

	bool script_only;
	int signal = question_signal(q, &script_only);

	return (struct admission_question){
		.request = &p->request,
		.options = &p->options,
		.user = q->uid,
		.time_limit_s = p->time_limit_s,
		.price = p->price,
		.deferred = is_deferred(q, now),
		.requeueable = q->requeueable,
		.signal = signal,
		.signal_script = script_only,
		.on_exhausted = exhausted[path_on_exhausted(path, admit_site_policy(b))],
	};
}

void admit_decide(const struct admission_question *aq, const struct priced *p, const struct path *path,
	struct admission *out)
{
	struct budget_node nodes[BUDGET_DEPTH_MAX];

	path_budgets(path, nodes);
	admission_decide(aq, &p->rules, nodes, path->depth, out);
}

/* Where jobs wait, the first of those that do is not overtaken by a smaller one: this one stands behind it,
 * until a pass has put both into their order. `self` (0 = none) is not in its own way. */
int admit_look_in_front(struct ledger *l, const struct path *path, int64_t uid, int64_t self,
	struct admission_question *aq, struct fault *why)
{
	struct admission_row head;

	if (aq->on_exhausted != ADMIT_WAIT || aq->deferred)
		return 0;
	for (int i = 0; i < path->depth; i++) {
		int rc = admission_head(l, path->nodes[i].id, uid, &head, why);

		if (rc < 0)
			return -1;
		if (rc == 0 || head.id == self)
			continue;
		aq->behind = head.job ? head.job : -1;
		aq->behind_at = i;
		aq->behind_user = head.waits_user;
		return 0;
	}
	return 0;
}

static int make_token(char token[TOKEN_MAX], struct fault *why)
{
	unsigned char r[12];

	if (getrandom(r, sizeof(r), 0) != sizeof(r))
		return fault_set(why, "no random numbers for a token: %s", strerror(errno));
	strcpy(token, TOKEN_PREFIX);
	for (size_t i = 0; i < sizeof(r); i++)
		sprintf(token + strlen(token), "%02x", r[i]);
	return 0;
}

/* Write the answer down: the admission, and the hold when money is set aside now. */
static int record(struct ledger *l, const struct question *q, const struct priced *p,
	const struct admission *a, const struct path *path, const char *request, int64_t job, int64_t now,
	struct verdict *v, struct fault *why)
{
	struct admission_row row = { .at = now, .uid = q->uid, .project = path->nodes[0].id, .tier = a->tier,
		.min_runtime_s = a->min_runtime_s, .team_rank = p->options.team_rank,
		.insists = p->options.tier == TIER_FUNDED, .gpus = p->request.gpus_max,
		.tasks = p->request.array_tasks, .per_task = a->per_task, .job = job,
		.parked_at = a->waits ? now : 0, .waits_at = a->waits ? path->nodes[a->waits_at].id : 0,
		.waits_user = a->waits ? a->waits_user : WAIT_ANYBODY,
		.waits_behind = a->waits ? a->behind : 0, .request = request };
	struct hold_row hold = { .project = row.project, .tasks = a->tasks, .units = a->hold,
		.opened_at = now };

	if (make_token(row.token, why) < 0 || admission_add(l, &row, why) < 0)
		return -1;
	memcpy(v->token, row.token, sizeof(v->token));
	v->waits = a->waits;
	hold.admission = row.id;
	return a->hold > 0 ? hold_open(l, path, &hold, why) : 0;
}

/* The account is no project. */
static void judge_unknown(const struct budgetd *b, const char *text, struct verdict *v)
{
	admit_refuse(v, text);
	if (b->settings->unknown_account != UNKNOWN_ACCOUNT_FREE)
		return;
	*v = (struct verdict){ .accepted = true, .tier = TIER_FREE, .qos = b->settings->qos_free };
	snprintf(v->text, sizeof(v->text),
		"free tier: %s. It runs uncharged and may be displaced at any time.", text);
}

/* Units that are spoken for and not in the books: the components of a het job that are quoted before this
 * one. */
void path_set_aside(struct path *path, const struct set_aside *aside)
{
	for (int i = 0; i < path->depth; i++)
		for (size_t k = 0; aside && k < aside->count; k++) {
			if (aside->at[k].project != path->nodes[i].id)
				continue;
			path->nodes[i].budget.held += aside->at[k].units;
			path->nodes[i].budget.cap_held += aside->at[k].units;
		}
}

/* A user whom slurmdbd does not know in the account, perhaps only not yet: the job's budget is looked at when
 * Slurm has let it in. Else anybody could lock up another project's hours, and read them, by submissions that
 * Slurm then refuses. */
static void decide_for_stranger(const struct admission_question *aq, const struct priced *p,
	const char *project, struct admission *a)
{
	struct fault problem = {0};

	a->accepted = admission_price(aq, &p->rules, a, &problem) == 0;
	a->tasks = a->hold = 0;
	snprintf(a->text, sizeof(a->text),
		a->accepted ? "the budget of %s is asked as soon as Slurm has accepted the job for it."
		: "refused: %s", a->accepted ? project : problem.text);
}

/* The queue alone tells what belongs together: the next pass does it (controller_het.c). */
#define HET_FOLLOWS "\nAll components of its het job follow."
static_assert(sizeof(HET_FOLLOWS) + sizeof(((struct admission *)0)->text) + 192 <= VERDICT_TEXT_MAX,
	"there is room for it behind any text");

/* The verdict over the books of `l`, and what it was made from; nothing is written. path->depth is 0 when the
 * account is no project. */
static int judge(const struct budgetd *b, struct ledger *l, const struct question *q, const struct priced *p,
	const struct set_aside *aside, int64_t now, struct path *path, struct admission *a, struct verdict *v,
	struct fault *why)
{
	struct fault unknown = {0};
	struct admission_question aq;
	struct project project;
	int rc = project_find(l, q->account, &project, &unknown);

	path->depth = 0;
	if (rc < 0 && errno != EINVAL)
		return fault_set(why, "%s", unknown.text);
	if (rc != 1) {
		judge_unknown(b, unknown.text, v);
		return 0;
	}
	if (path_load_for(l, project.id, q->uid, now, path, why) < 0)
		return -1;
	path_set_aside(path, aside);
	aq = admit_ask(b, q, p, path, now);
	if (admit_look_in_front(l, path, q->uid, 0, &aq, why) < 0)
		return -1;
	if (q->stranger)
		decide_for_stranger(&aq, p, project.name, a);
	else
		admit_decide(&aq, p, path, a);
	v->accepted = a->accepted;
	v->tier = a->accepted ? a->tier : TIER_UNSET;
	memcpy(v->text, a->text, sizeof(a->text));
	if (!a->accepted)
		return 0;
	if (q->het && (a->tier == TIER_FREE || a->waits))
		strcat(v->text, HET_FOLLOWS);
	memcpy(v->account, project.name, sizeof(v->account));
	v->qos = admit_qos(b, a->tier, q->het);
	return 0;
}

/* Is the verdict there before the books are looked at? */
static bool judge_early(struct budgetd *b, const struct question *q, int64_t now, struct priced *p,
	struct verdict *v)
{
	struct fault problem = {0};
	bool priced = admit_price(b, q, now, p, &problem) == 0;

	*v = (struct verdict){0};
	p->valid = priced;
	if (!priced)
		admit_refuse(v, problem.text);
	else if (p->price == 0)
		v->accepted = true;
	else if (!q->account || !*q->account)
		admit_refuse(v,
			"no account was given and the user has no default account; submit with --account=PROJECT");
	else
		return false;
	return true;
}

uint32_t admit_must_be_kept_off(const struct budgetd *b, enum job_tier tier, int64_t min_runtime_s, int64_t now)
{
	struct gang_guard g = cluster_state_guard(b->cluster);

	if (tier == TIER_FUNDED ? now + min_runtime_s <= g.at : !g.together ||
		now + GUARD_CLOSES_S(b->settings) < g.at)
		return 0;
	return g.job;
}

const char *admit_guard_text(const struct budgetd *b, int64_t now, char buf[ADMIT_GUARD_TEXT_MAX])
{
	struct gang_guard g = cluster_state_guard(b->cluster);
	char left[DURATION_TEXT_MAX];

	duration_text(g.at - now, left);
	snprintf(buf, ADMIT_GUARD_TEXT_MAX, "nodes are cleared for job %u, planned to start %s%s", g.job,
		g.at > now ? "in " : "now", g.at > now ? left : "");
	return buf;
}

/* Slurm starts what fits at once, wherever it fits: one that would be inside its minimum runtime when a gang
 * is to start on nodes that are cleared for it waits for the next pass, which keeps it off them. What its
 * user holds is not held by us: the pass would release it. */
static void keep_off(struct budgetd *b, const struct question *q, const struct admission *a, int64_t now,
	struct verdict *v)
{
	uint32_t gang = admit_must_be_kept_off(b, a->tier, a->min_runtime_s, now);
	char guard[ADMIT_GUARD_TEXT_MAX];
	size_t n = strlen(v->text);

	if (!gang || a->waits || q->held)
		return;
	v->kept_off = true;
	snprintf(v->text + n, sizeof(v->text) - n, "%sIt is held for a moment, since %s%s.", n ? "\n" : "",
		admit_guard_text(b, now, guard),
		a->tier == TIER_FUNDED
		? "; a minimum runtime that ends before that one starts may use them" : "");
}

static int admit_in_transaction(struct budgetd *b, const struct question *q, const struct priced *p,
	const char *request, int64_t job, int64_t now, struct verdict *v, struct fault *why)
{
	struct admission a;
	struct path path;

	if (judge(b, b->ledger, q, p, NULL, now, &path, &a, v, why) < 0)
		return -1;
	if (!v->accepted || !path.depth)
		return 0;
	keep_off(b, q, &a, now, v);
	return record(b->ledger, q, p, &a, &path, request, job, now, v, why);
}

int admit(struct budgetd *b, const struct question *q, const char *request, int64_t job, int64_t now,
	struct verdict *out, struct fault *why)
{
	struct priced p;

	if (judge_early(b, q, now, &p, out))
		return 0;
	if (ledger_begin(b->ledger, LEDGER_HOLDS, why) < 0)
		return -1;
	if (admit_in_transaction(b, q, &p, request, job, now, out, why) < 0) {
		ledger_rollback(b->ledger);
		return -1;
	}
	return ledger_decided(b->ledger, why);
}

/* --- a quote ------------------------------------------------------------------------------------ */

int set_aside_add(struct set_aside *aside, const struct path *path, amount_t units, struct fault *why)
{
	for (int i = 0; i < path->depth && units > 0; i++) {
		size_t k = 0;

		while (k < aside->count && aside->at[k].project != path->nodes[i].id)
			k++;
		if (k == SET_ASIDE_MAX)
			return fault_errno(why, EINVAL,
				"the components of one job are of more than %d projects", SET_ASIDE_MAX);
		if (k == aside->count)
			aside->at[aside->count++] = (struct set_aside_at){ .project = path->nodes[i].id };
		if (amount_add(aside->at[k].units, units, &aside->at[k].units) < 0)
			return fault_errno(why, EOVERFLOW,
				"the job costs more GPU-hours than can be counted");
	}
	return 0;
}

int admit_quote(struct budgetd *b, struct ledger *l, const struct question *q, struct set_aside *aside,
	int64_t now, struct priced *priced, struct verdict *out, struct fault *why)
{
	struct admission a = {0};
	struct path path;

	*priced = (struct priced){0};
	if (judge_early(b, q, now, priced, out))
		return 0;
	if (judge(b, l, q, priced, aside, now, &path, &a, out, why) < 0)
		return -1;
	return set_aside_add(aside, &path, out->accepted && path.depth ? a.hold : 0, why);
}
