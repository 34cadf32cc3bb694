/* SPDX-License-Identifier: GPL-2.0-or-later
 * admission.c - the verdict and its sentence (doc/model.md, 3 and 4).
 *
 * What is asked is priced first, then the tightest project on the path decides. Every text says what was
 * asked, what there is, which project it is about and what to do next. */
#include "lib/admission.h"
#include "lib/duration.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void say(struct admission *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends a sentence on a line of its own; what does not fit is cut, the first sentences are the important
 * ones. */
static void say(struct admission *a, const char *fmt, ...)
{
	size_t used = strlen(a->text);
	va_list ap;

	if (used && used + 1 < sizeof(a->text)) {
		a->text[used++] = '\n';
		a->text[used] = '\0';
	}
	va_start(ap, fmt);
	vsnprintf(a->text + used, sizeof(a->text) - used, fmt, ap);
	va_end(ap);
}

static void refuse(struct admission *a)
{
	a->accepted = false;
	a->tier = TIER_UNSET;
	a->min_runtime_s = 0;
	a->per_task = a->hold = 0;
	a->tasks = 0;
}

static void make_free(struct admission *a)
{
	a->accepted = true;
	a->tier = TIER_FREE;
	a->min_runtime_s = 0;
	a->per_task = a->hold = 0;
	a->tasks = 0;
}

static bool asks_for_free(const struct job_options *o)
{
	return o->tier == TIER_FREE || o->min_runtime_s == 0;
}

/* Declared or default, cut to the time limit: nobody is protected for longer than the job can run. */
static int64_t min_runtime(const struct admission_question *q, const struct admission_rules *rules)
{
	int64_t s = q->options->min_runtime_s;

	if (s == MIN_RUNTIME_UNSET)
		s = rules->default_min_runtime_s;
	return s < q->time_limit_s ? s : q->time_limit_s;
}

/* What is set aside: the minimum runtime, or the whole time limit where the site wants classic accounting. */
static int64_t hold_seconds(const struct admission_question *q, const struct admission_rules *rules,
	int64_t min_runtime_s)
{
	return rules->hold_time_limit && q->time_limit_s != DURATION_UNLIMITED ? q->time_limit_s
		: min_runtime_s;
}

int admission_price(const struct admission_question *q, const struct admission_rules *rules,
	struct admission *out, struct fault *why)
{
	int64_t tasks = q->request->array_tasks;
	amount_t per_task;

	*out = (struct admission){0};
	if (job_options_check(q->options, rules->max_min_runtime_s, why) < 0)
		return -1;
	if (asks_for_free(q->options)) {
		make_free(out);
		return 0;
	}
	out->tier = TIER_FUNDED;
	out->min_runtime_s = min_runtime(q, rules);
	if (amount_price(1, hold_seconds(q, rules, out->min_runtime_s), q->price, &per_task) < 0 ||
		(per_task > 0 && tasks > INT64_MAX / per_task))
		return fault_errno(why, EOVERFLOW,
			"%jd GPUs for %jd array tasks cost more GPU-hours than can be counted; "
			"ask for fewer", (intmax_t)q->request->gpus_max, (intmax_t)tasks);
	out->per_task = per_task;
	out->tasks = tasks;
	out->hold = per_task * tasks;
	return 0;
}

#define ASKED_TEXT_MAX (GPU_COUNT_TEXT_MAX + 160)

/* "2 GPUs x 3 h minimum runtime", with `n` tasks of an array in front. */
static const char *asked_for(const struct admission_question *q, const struct admission_rules *rules,
	const struct admission *a, int64_t n, char *buf, size_t size)
{
	char gpus[GPU_COUNT_TEXT_MAX], time[DURATION_TEXT_MAX], tasks[40] = "";

	if (q->request->array_tasks > 1)
		snprintf(tasks, sizeof(tasks), "%jd %s x ", (intmax_t)n, n == 1 ? "task" : "tasks");
	snprintf(buf, size, "%s%s%s x %s %s", tasks, q->request->exact ? "" : "up to ",
		gpu_count_text(&q->request->gpus, gpus),
		duration_text(hold_seconds(q, rules, a->min_runtime_s), time),
		rules->hold_time_limit ? "time limit" : "minimum runtime");
	return buf;
}

static const char *asked(const struct admission_question *q, const struct admission_rules *rules,
	const struct admission *a, char *buf, size_t size)
{
	return asked_for(q, rules, a, q->request->array_tasks, buf, size);
}

/* "vision has 2.00 of 8.00 GPU-h available (6.00 held, 0.00 charged)"; and what has not vested, where
 * something has not. Or what the cap of the user leaves, when that is less. */
static const char *left_at(const struct budget_node *n, char *buf, size_t size)
{
	char available[AMOUNT_TEXT_MAX], amount[AMOUNT_TEXT_MAX], held[AMOUNT_TEXT_MAX],
		charged[AMOUNT_TEXT_MAX], later[AMOUNT_TEXT_MAX];
	bool vests = n->unvested > 0;

	if (budget_cap_binds(n))
		snprintf(buf, size, "your cap of %s GPU-h in %s leaves %s (%s held, %s charged)",
			amount_text(n->cap, amount), n->name, amount_text(budget_cap_left(n), available),
			amount_text(n->cap_held, held), amount_text(n->cap_charged, charged));
	else if (n->expired)
		snprintf(buf, size,
			"the allocations of %s have expired or have not begun, it has 0.00 GPU-h available",
			n->name);
	else
		snprintf(buf, size, "%s has %s of %s GPU-h available (%s held, %s charged%s%s%s)", n->name,
			amount_text(budget_available(n), available),
			amount_text(n->amount + n->credit, amount), amount_text(n->held, held),
			amount_text(n->charged, charged), vests ? ", " : "",
			vests ? amount_text(n->unvested, later) : "", vests ? " not vested yet" : "");
	return buf;
}

/* The next step for a job that does not fit: the length that would, or whom to ask. */
static void say_what_would_fit(const struct admission_question *q, const struct admission_rules *rules,
	struct admission *a, const struct budget_node *n)
{
	int64_t price = q->price * q->request->array_tasks;
	bool stays = q->on_exhausted == ADMIT_KEEP || q->behind;
	int64_t fits_s = price > 0 && budget_available(n) > 0 ? budget_available(n) / price / 60 * 60 : 0;
	char time[DURATION_TEXT_MAX];

	if (fits_s > 0 && !stays)
		say(a, "--%s=%jdm would fit (%s).", rules->hold_time_limit ? "time" : "gpu-min-runtime",
			(intmax_t)(fits_s / 60), duration_text(fits_s, time));
	if (budget_cap_binds(n))
		say(a, "See `budgetctl cap list %s`; an owner of %s can set your cap higher.", n->name,
			n->name);
	else
		say(a, "See `budgetctl balance %s`; its owner can ask for more.", n->name);
}

static void say_funded(const struct admission_question *q, const struct admission_rules *rules,
	struct admission *a, const struct budget_node *leaf, const struct budget_node *tightest)
{
	char what[ASKED_TEXT_MAX], hold[AMOUNT_TEXT_MAX], left[AMOUNT_TEXT_MAX], of[AMOUNT_TEXT_MAX];

	asked(q, rules, a, what, sizeof(what));
	if (!tightest)
		say(a, "funded: %s (%s); %s has no allocation in its path and is bounded by its fair share.",
			leaf->name, what, leaf->name);
	else if (q->deferred)
		say(a,
			"funded: %s GPU-h of %s (%s) will be set aside when the job becomes eligible.",
			amount_text(a->hold, hold), leaf->name, what);
	else
		say(a, "funded: %s GPU-h of %s set aside (%s); %s of %s GPU-h of %s%s left.",
			amount_text(a->hold, hold), leaf->name, what,
			amount_text(budget_available(tightest) - a->hold, left),
			amount_text(budget_cap_binds(tightest) ? tightest->cap
			: tightest->amount + tightest->credit, of),
			budget_cap_binds(tightest) ? "your cap in " : "", tightest->name);
}

/* Some of its tasks: the others follow as there is money for them. */
static void say_funded_in_part(const struct admission_question *q, const struct admission_rules *rules,
	struct admission *a, const char *leaf, const struct budget_node *tightest)
{
	char what[ASKED_TEXT_MAX], left[320], hold[AMOUNT_TEXT_MAX], need[AMOUNT_TEXT_MAX];
	struct budget_node then = *tightest;

	asked_for(q, rules, a, a->tasks, what, sizeof(what));
	then.held += a->hold;
	then.cap_held += a->hold;
	left_at(&then, left, sizeof(left));
	say(a,
		"funded: %jd of %jd tasks are funded now, %s GPU-h of %s set aside (%s); the others wait, held, until money returns: each needs %s "
		"GPU-h and %s.", (intmax_t)a->tasks, (intmax_t)q->request->array_tasks,
		amount_text(a->hold, hold), leaf, what, amount_text(a->per_task, need), left);
}

/* The project lets its jobs wait. */
static void say_waits(const struct admission_question *q, const struct admission_rules *rules,
	struct admission *a, const struct budget_node *path, const struct budget_node *tightest)
{
	char what[ASKED_TEXT_MAX], left[320], need[AMOUNT_TEXT_MAX], head[64] = "another job";

	asked(q, rules, a, what, sizeof(what));
	left_at(tightest, left, sizeof(left));
	amount_text(a->per_task * q->request->array_tasks, need);
	if (q->behind > 0)
		snprintf(head, sizeof(head), "job %jd", (intmax_t)q->behind);
	if (q->behind)
		say(a,
			"waits for budget: the job needs %s GPU-h (%s), %s, but %s waits in front of it at %s and is not overtaken.",
			need, what, left, head, path[q->behind_at].name);
	else
		say(a, "waits for budget: the job needs %s GPU-h (%s), %s.", need, what, left);
	say(a,
		"It is held, and released in its order when money returns; it can be cancelled, not released by hand.");
	say_what_would_fit(q, rules, a, tightest);
	say(a, "--gpu-tier=free runs it uncharged and unprotected.");
}

/* Not eligible yet: what there will be then decides, and nothing is held. */
static void say_later(const struct admission_question *q, const struct admission_rules *rules,
	struct admission *a, const struct budget_node *leaf, const struct budget_node *tightest)
{
	char what[ASKED_TEXT_MAX], left[320], need[AMOUNT_TEXT_MAX];

	asked(q, rules, a, what, sizeof(what));
	left_at(tightest, left, sizeof(left));
	say(a,
		"funded: %s GPU-h of %s (%s) will be set aside when the job becomes eligible, as far as there is money: now %s. Until there is "
		"enough it is held then.", amount_text(a->per_task * q->request->array_tasks, need),
		leaf->name, what, left);
}

#define SIGNALLED_TEXT_MAX 128

/* Who of the job gets which signal. Slurm signals the shell of its script alone, or its steps alone: what the
 * script started without srun learns of it by a line in the job's output. */
static const char *signalled(const struct admission_question *q, char buf[SIGNALLED_TEXT_MAX])
{
	const char *name = sigabbrev_np(q->signal);

	if (q->signal_script)
		snprintf(buf, SIGNALLED_TEXT_MAX, "its script gets SIG%s", name ? name : "TERM");
	else
		snprintf(buf, SIGNALLED_TEXT_MAX,
			"what srun started in it gets SIG%s (its script only with --signal=B:USR1)",
			name ? name : "TERM");
	return buf;
}

/* What displacement will mean for it, and from when on that can be. */
static void say_displaced(const struct admission_question *q, const struct admission_rules *rules,
	struct admission *a)
{
	char min[DURATION_TEXT_MAX], grace[DURATION_TEXT_MAX], told[SIGNALLED_TEXT_MAX];
	bool funded = a->tier == TIER_FUNDED;

	duration_text(a->min_runtime_s, min);
	if (!q->requeueable && funded)
		say(a,
			"It cannot be requeued: if it is displaced it is cancelled. That is not before it has run for %s.",
			min);
	else if (!q->requeueable)
		say(a, "It cannot be requeued: if it is displaced it is cancelled.");
	else if (funded && rules->grace_s > 0)
		say(a, "When it has run for %s it may be displaced: %s, and %s later it is requeued.", min,
			signalled(q, told), duration_text(rules->grace_s, grace));
	else if (funded)
		say(a,
			"When it has run for %s it may be displaced: all its processes get SIGTERM, and it is requeued.",
			min);
	else
		say(a, "When it is displaced all its processes get SIGTERM, and it is requeued.");
}

/* What was declared, and not the site's default, that is longer than the job can run. */
static void say_cut(const struct admission_question *q, struct admission *a)
{
	char declared[DURATION_TEXT_MAX], limit[DURATION_TEXT_MAX];

	if (q->options->min_runtime_s > a->min_runtime_s)
		say(a, "The minimum runtime of %s is cut to the time limit: no job is protected for longer than the %s that it can run.",
			duration_text(q->options->min_runtime_s, declared), duration_text(q->time_limit_s, limit));
}

/* Why a job that does not fit cannot run free instead; NULL when it can. */
static const char *not_free_because(const struct admission_question *q)
{
	if (q->on_exhausted == ADMIT_KEEP)
		return "a funded job stays funded";
	if (q->on_exhausted == ADMIT_DECLARE)
		return "what does not fit is not changed";
	if (q->options->tier == TIER_FUNDED)
		return "--gpu-tier=funded was asked for";
	return q->on_exhausted == ADMIT_REJECT
		? "the project refuses what it cannot pay (on_exhausted=reject)" : NULL;
}

/* The money does not reach: free, or refused where the job insists or the project says so. */
static void decide_exhausted(const struct admission_question *q, const struct admission_rules *rules,
	struct admission *a, const struct budget_node *n)
{
	char what[ASKED_TEXT_MAX], left[320], need[AMOUNT_TEXT_MAX];
	const char *because = not_free_because(q);

	asked(q, rules, a, what, sizeof(what));
	amount_text(a->hold, need);
	left_at(n, left, sizeof(left));
	if (because)
		say(a, "refused: the job needs %s GPU-h (%s), %s, and %s.", need, what, left, because);
	else
		say(a,
			"free tier: the job needs %s GPU-h (%s), %s. It runs uncharged and may be displaced at any time.",
			need, what, left);
	say_what_would_fit(q, rules, a, n);
	if (because && q->on_exhausted != ADMIT_KEEP)
		say(a, "--gpu-tier=free runs it uncharged and unprotected.");
	if (because)
		refuse(a);
	else
		make_free(a);
}

/* Without any time limit nobody can say when the GPUs come back: not funded (doc/model.md, 4). */
static void decide_unlimited(const struct admission_question *q, const struct admission_rules *rules,
	struct admission *a)
{
	if (rules->reject_unlimited || q->options->tier == TIER_FUNDED || q->on_exhausted == ADMIT_KEEP) {
		say(a,
			"refused: the job has no time limit, and only a job with one can be funded; give --time.");
		refuse(a);
		return;
	}
	say(a,
		"free tier: the job has no time limit, and only a job with one can be funded; give --time. It runs uncharged and may be "
		"displaced at any time.");
	make_free(a);
	say_displaced(q, rules, a);
}

/* The first project on the path, from the leaf up, that has share 0; NULL when all have some. */
static const char *without_share(const struct budget_node *path, int depth)
{
	for (int i = 0; i < depth; i++) {
		if (path[i].no_share)
			return path[i].name;
	}
	return NULL;
}

/* Nobody is entitled to anything there, so nothing is protected either, whatever hours there are. */
static void decide_without_share(const struct admission_question *q, const struct admission_rules *rules,
	const char *name, struct admission *a)
{
	if (q->options->tier == TIER_FUNDED || q->on_exhausted == ADMIT_REJECT) {
		say(a,
			"refused: %s has share 0, and jobs below it are for the free tier; an owner above it can give "
			"it a share: budgetctl share set %s WEIGHT", name, name);
		refuse(a);
		return;
	}
	say(a,
		"free tier: %s has share 0, and jobs below it are for the free tier. It runs uncharged and may be displaced "
		"at any time.", name);
	make_free(a);
	say_displaced(q, rules, a);
}

/* May some tasks of an array be funded and others wait? Not where a funded job is changed: that fits as a
 * whole, or is not done. */
static bool may_wait_in_part(const struct admission_question *q)
{
	return q->on_exhausted != ADMIT_KEEP && q->on_exhausted != ADMIT_DECLARE;
}

/* It does not fit as a whole: `fits` tasks do. */
static void decide_short(const struct admission_question *q, const struct admission_rules *rules,
	const struct budget_node *path, int at, int64_t fits, struct admission *a)
{
	const struct budget_node *tightest = &path[at];

	if (!(fits > 0 && may_wait_in_part(q)) && q->on_exhausted != ADMIT_WAIT) {
		decide_exhausted(q, rules, a, tightest);
		return;
	}
	a->accepted = true;
	a->tasks = q->deferred ? 0 : fits;
	a->hold = a->per_task * a->tasks;
	a->waits = !q->deferred;
	a->waits_at = q->behind ? q->behind_at : at;
	a->behind = q->behind > 0 ? q->behind : 0;
	a->waits_user = q->behind ? q->behind_user : budget_cap_binds(tightest) ? q->user : WAIT_ANYBODY;
	if (q->deferred)
		say_later(q, rules, a, &path[0], tightest);
	else if (fits > 0)
		say_funded_in_part(q, rules, a, path[0].name, tightest);
	else
		say_waits(q, rules, a, path, tightest);
}

static void decide_funded(const struct admission_question *q, const struct admission_rules *rules,
	const struct budget_node *path, int at, struct admission *a)
{
	a->accepted = true;
	say_funded(q, rules, a, &path[0], at < 0 ? NULL : &path[at]);
	if (q->deferred)
		a->tasks = a->hold = 0;
}

void admission_decide(const struct admission_question *q, const struct admission_rules *rules,
	const struct budget_node *path, int depth, struct admission *out)
{
	const char *shareless = without_share(path, depth);
	struct fault why = {0};
	int64_t fits;
	int tightest;

	if (admission_price(q, rules, out, &why) < 0) {
		refuse(out);
		say(out, "refused: %s", why.text);
		return;
	}
	if (out->tier == TIER_FREE) {
		say(out, "free tier, as asked: not charged, not protected, may be displaced at any time.");
		say_displaced(q, rules, out);
		return;
	}
	if (q->time_limit_s == DURATION_UNLIMITED) {
		decide_unlimited(q, rules, out);
		return;
	}
	if (shareless && q->on_exhausted != ADMIT_KEEP) {	/* what is funded already stays so */
		decide_without_share(q, rules, shareless, out);
		return;
	}
	tightest = budget_tightest(path, depth);
	fits = q->behind ? 0 : budget_tasks(path, depth, out->per_task, out->tasks);
	if (fits == out->tasks)
		decide_funded(q, rules, path, tightest, out);
	else
		decide_short(q, rules, path, tightest < 0 ? q->behind_at : tightest, fits, out);
	if (out->tier == TIER_FUNDED && q->on_exhausted != ADMIT_KEEP)
		say_cut(q, out);
	if (out->accepted && q->on_exhausted != ADMIT_KEEP)	/* a change is no news of that */
		say_displaced(q, rules, out);
}
