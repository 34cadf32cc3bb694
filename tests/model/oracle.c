/* SPDX-License-Identifier: GPL-2.0-or-later
 * oracle.c - what the books must say of jobs: answers, the queue, what a pass does
 *
 * The slow and plain way, see oracle.h; runs are in oracle_run.c, the money itself is in oracle_money.c. */
#include "tests/model/oracle_internal.h"
#include <string.h>

/* --- who waits for money --- */

/* Who is in front, in the order in which they were refused. */
struct line {
	struct place {
		int node, user; /* that refused; whose jobs are behind: O_NONE: all */
	} at[O_JOBS];
	int n;
};

/* The first of the line at the nearest project of the path, NULL: nobody is in front. */
static const struct place *in_front(const struct oracle *o, const struct line *l, const struct o_job *j)
{
	for (int n = j->node; n != O_NONE; n = o->nodes[n].parent)
		for (int i = 0; i < l->n; i++)
			if (l->at[i].node == n && (l->at[i].user == O_NONE || l->at[i].user == j->user))
				return &l->at[i];
	return NULL;
}

static void park(struct o_job *j, const struct place *p)
{
	j->parked = true;
	j->waits_at = p->node;
	j->waits_user = p->user;
}

/* The project that has least, the nearest of those that have as little. */
static struct place refused_by(const struct oracle *o, const struct o_job *j, int64_t now)
{
	struct place p = {O_NONE, O_NONE};
	int64_t least = INT64_MAX;

	for (int n = j->node; n != O_NONE; n = o->nodes[n].parent) {
		bool is_cap = false;
		int64_t left = o->nodes[n].metered ? o_available_to(o, n, j->user, now, &is_cap) : INT64_MAX;

		if (left >= least)
			continue;
		least = left;
		p = (struct place){n, is_cap ? j->user : O_NONE};
	}
	return p;
}

/* Those who wait, as a new job meets them: by the time of their answers. */
static struct line those_who_wait(const struct oracle *o)
{
	struct line l = {.n = 0};
	int64_t at = -1;
	int turn = -1;

	for (;;) {
		const struct o_job *next = NULL;

		for (int i = 0; i < O_JOBS; i++) {
			const struct o_job *j = &o->jobs[i];
			bool is_later = j->at > at || (j->at == at && j->turn > turn);

			if (j->known && j->parked && is_later &&
				(!next || j->at < next->at || (j->at == next->at && j->turn < next->turn)))
				next = j;
		}
		if (!next)
			return l;
		l.at[l.n++] = (struct place){next->waits_at, next->waits_user};
		at = next->at;
		turn = next->turn;
	}
}

/* --- answers --- */

void o_declare(struct oracle *o, struct o_job *j, const struct o_seen *want, int64_t minimum, int64_t now)
{
	j->node = want->node;
	j->user = want->user;
	j->insists = want->insists;
	j->minimum = o_least(minimum, want->limit);
	j->limit = want->limit;
	j->gpus = want->asked_gpus;
	j->type = want->asked_type;
	j->per_task = o_price_at(o, j->gpus, j->type, now) * j->minimum;
}

static enum o_policy policy_of(const struct oracle *o, const struct o_job *j)
{
	enum o_policy p = o->nodes[j->node].policy;

	return j->insists && p == O_FREE ? O_REJECT : p;
}

enum o_tier oracle_ask(struct oracle *o, int64_t now, const struct o_seen *want)
{
	struct o_job *j = &o->jobs[want->answer];
	int64_t room = o_room(o, want->node, want->user, now);
	bool now_or_later = want->eligible && !want->held_by_user;
	struct line line = those_who_wait(o);
	const struct place *front;
	struct place refused;
	int fits;

	if (want->minimum > o->max_minimum)
		return O_REFUSED;
	*j = (struct o_job){
		.known = true, .hold = O_NONE, .tier = O_FUNDED_TIER, .at = now, .turn = o->nanswers++};
	o_declare(o, j, want, want->minimum, now);
	if (!want->minimum || want->free_tier)
		return j->tier = O_FREE_TIER;
	refused = refused_by(o, j, now);
	front = policy_of(o, j) == O_WAIT && now_or_later ? in_front(o, &line, j) : NULL;
	fits = front ? 0 : (int)o_least(want->tasks, o_most(0, room) / j->per_task);
	if (fits || policy_of(o, j) == O_WAIT) {
		if (!now_or_later)
			return j->tier;
		j->paid = fits;
		j->hold = fits ? o_hold_new(o, want->node, want->user, fits * j->per_task, now) : O_NONE;
		if (fits < want->tasks)
			park(j, front ? front : &refused);
	} else if (policy_of(o, j) == O_FREE)
		j->tier = O_FREE_TIER;
	else
		return j->known = false, O_REFUSED;
	return j->tier;
}

/* What waits gets its money when its turn comes; one that runs, as far as is known, waits for none; what
 * costs no more needs none. */
static bool needs_no_money(const struct oracle *o, const struct o_job *j, int job, int64_t need)
{
	for (int i = 0; i < o->nruns; i++)
		if (o->runs[i].answer == job && !o->runs[i].ended && o->runs[i].hold != O_NONE &&
			j->hold == O_NONE)
			return true;
	return !j->known || j->tier != O_FUNDED_TIER || (j->parked && j->hold == O_NONE) ||
		need <= j->per_task;
}

/* What it has is counted with what there is. */
bool oracle_change_job(struct oracle *o, int64_t now, const struct o_seen *want)
{
	struct o_job *j = &o->jobs[want->answer];
	int64_t need = o_price_at(o, want->gpus, want->type, now) * o_least(j->minimum, want->limit);
	int64_t more = need - o_held_by(o, j->hold);

	if (needs_no_money(o, j, want->answer, need))
		return true;
	if (more > o_room(o, j->node, j->user, now))
		return false;
	if (j->hold == O_NONE)
		return true;
	if (more > 0)
		o_hold_more(o, j->hold, j->node, more, now);
	j->per_task = need;
	j->changing_at = now;
	return true;
}

/* --- the queue --- */

/* The tasks of a job that wait, over all its records. */
struct tasks {
	int can_start, loose, user_holds;
};

static struct tasks tasks_of(const struct o_seen *table, int n, int job)
{
	struct tasks t = {0};

	for (int i = 0; i < n; i++) {
		const struct o_seen *s = &table[i];

		if (s->answer != job || s->stage != O_PENDING)
			continue;
		t.can_start += s->eligible && !s->held_by_user ? s->tasks : 0;
		t.loose += s->loose ? s->tasks : 0;
		t.user_holds += s->held_by_user ? s->tasks : 0;
	}
	return t;
}

/* What it has suffices, or is too much; else it asks for more when its turn comes. What its user holds keeps
 * what it has, for a while: of an array, the shares that no task which may start now has. */
static bool fit_hold(struct oracle *o, struct o_job *j, const struct tasks *t, int64_t now)
{
	int64_t need;

	if (!t->user_holds)
		j->user_held_at = 0;
	else if (!j->user_held_at)
		j->user_held_at = now;
	j->kept = 0;
	if (t->user_holds && now - j->user_held_at < o->user_held)
		j->kept = (int)o_least(t->user_holds, o_most(0, j->paid - t->loose));
	j->wants = t->can_start + j->kept;
	need = j->wants * j->per_task;
	if (need > o_held_by(o, j->hold))
		return true;
	j->parked = false;
	j->paid = j->wants;
	if (need)
		o_hold_less(o, j->hold, o_held_by(o, j->hold) - need);
	else
		o_hold_end(o, &j->hold);
	return false;
}

/* It was changed, or a change of it that was let through does not come: its price is that of what it is
 * now. */
static bool is_priced_anew(const struct oracle *o, const struct o_job *j, const struct o_seen *s, int64_t now)
{
	bool shown = j->gpus != s->gpus || j->type != s->type || j->limit != s->limit;

	if (!j->changing_at)
		return shown;
	return j->changing_at < now && (shown || now - j->changing_at >= o->unbound);
}

/* Does it need more than it has? */
static bool queued(struct oracle *o, const struct o_seen *s, const struct tasks *t, int64_t now)
{
	struct o_job *j = &o->jobs[s->answer];

	if (j->tier != O_FUNDED_TIER)
		return false;
	/* the price was made from the question: the terms are remembered as Slurm has them */
	if (j->looks++ == 0) {
		j->gpus = s->gpus;
		j->type = s->type;
		j->limit = s->limit;
	}
	if (is_priced_anew(o, j, s, now)) {
		o_declare(o, j, s, j->minimum, now);
		j->changing_at = 0;
	}
	return fit_hold(o, j, t, now);
}

/* Who waits for money is not overtaken, at the project that refused it and below, and keeps what it has; who
 * may run free does not wait. What has money, or waited before, is never free. */
static void take_turn(struct oracle *o, struct o_job *j, struct line *heads, int64_t now)
{
	bool waits = policy_of(o, j) != O_FREE || j->parked || j->hold != O_NONE;
	int64_t has = o_held_by(o, j->hold), room = o_room(o, j->node, j->user, now);
	int fits = room > INT64_MAX - has ? j->wants : (int)o_least(j->wants, o_most(0, room + has) / j->per_task);

	const struct place *front = in_front(o, heads, j);
	struct place refused = refused_by(o, j, now);

	if (waits && j->wants > j->paid && front) {
		park(j, front);
		return;
	}
	if (fits < j->wants && waits) {
		heads->at[heads->n++] = refused;
		park(j, &refused);
	} else if (!fits) {
		j->tier = O_FREE_TIER;
	} else if (fits < j->wants) {
		park(j, &refused);
	} else {
		j->parked = false;
	}
	if (fits * j->per_task <= has)
		return;
	if (j->hold == O_NONE)
		j->hold = o_hold_new(o, j->node, j->user, 0, now);
	o_hold_more(o, j->hold, j->node, fits * j->per_task - has, now);
	j->paid = fits;
}

static const struct o_seen *waits_in(const struct o_seen *table, int n, int job)
{
	for (int i = 0; i < n; i++)
		if (table[i].answer == job && table[i].stage == O_PENDING)
			return &table[i];
	return NULL;
}

/* By rank of the project, then by the time of the answer, then by number. */
static bool is_before(const struct oracle *o, int a, int b)
{
	const struct o_job *x = &o->jobs[a], *y = &o->jobs[b];

	if (o->rank[x->node] != o->rank[y->node])
		return o->rank[x->node] < o->rank[y->node];
	return x->at != y->at ? x->at < y->at : a < b;
}

static void give_more(struct oracle *o, bool asks[O_JOBS], int64_t now)
{
	struct line heads = {.n = 0};

	for (;;) {
		int first = O_NONE;

		for (int i = 0; i < O_JOBS; i++)
			if (asks[i] && (first == O_NONE || is_before(o, i, first)))
				first = i;
		if (first == O_NONE)
			return;
		asks[first] = false;
		take_turn(o, &o->jobs[first], &heads, now);
	}
}

/* What is too much, and what nobody waits for, comes back first, and may pay for those who need more. */
static void look_at_queue(
	struct oracle *o, int64_t now, const struct o_seen *table, int n, bool all_seen)
{
	bool asks[O_JOBS] = {false};

	for (int i = 0; i < O_JOBS; i++) {
		struct o_job *j = &o->jobs[i];
		const struct o_seen *s = waits_in(table, n, i);
		struct tasks t = tasks_of(table, n, i);

		if (!j->known)
			continue;
		if (!s && (j->bound_before || now - j->at >= o->unbound))
			j->parked = false;
		if (s && j->bound && !j->just_met)
			asks[i] = queued(o, s, &t, now);
		else if (!s && all_seen && (j->bound_before || now - j->at >= o->unbound)) {
			o_hold_end(o, &j->hold);
			j->paid = 0;
		}
	}
	give_more(o, asks, now);
}

/* --- a pass --- */

/* Runs that only slurmdbd tells of, of a job or (O_NONE) of all. They are followed from the next pass on. */
static void find_missed(struct oracle *o, int64_t now, const struct o_seen *rows, int nrows, int job)
{
	for (int i = 0; i < nrows; i++)
		if ((job == O_NONE || rows[i].job == job) && rows[i].start && rows[i].end > rows[i].start &&
			!o_run_of(o, &rows[i]))
			o_start(o, &rows[i], now, true);
}

static int runs_before(const struct oracle *o, int nruns, const struct o_seen *s)
{
	int n = 0;

	for (int i = 0; i < nruns; i++)
		n += o->runs[i].job == s->job && (s->stage == O_PENDING || o->runs[i].start < s->start);
	return n;
}

static void meet(struct oracle *o, int64_t now, const struct o_seen *s, const struct o_seen *rows, int nrows)
{
	struct o_job *j = &o->jobs[s->answer];
	struct o_run *r = o_run_of(o, s);
	bool tied = j->known && j->bound_before;

	if (s->stage == O_PENDING) {
		bool met = !j->known;

		if (j->known || oracle_ask(o, now, s) != O_REFUSED)
			j->bound = true;
		j->just_met = met;
	} else if (s->start) {
		if (!r && (s->stage == O_RUNNING || s->end > s->start) && (!s->resized || rows))
			o_start(o, s, now, false);
		r = o_run_of(o, s);
		if (r && s->stage == O_ENDED)
			o_settle(o, r, s, now, false);
	}
	if (!rows || !s->restarts || o->jobs[s->job].runs >= s->restarts || (s->stage == O_PENDING && !tied) ||
		o->told[s->job] == s->submit)
		return;
	find_missed(o, now, rows, nrows, s->job);
	if (now - s->submit > o->again)
		o->told[s->job] = s->submit;
}

static void follow(struct oracle *o, int64_t now, struct o_run *r, const struct o_seen *table, int n,
	const struct o_seen *rows, int nrows)
{
	for (int i = 0; i < n; i++)
		if (table[i].job == r->job && table[i].start == r->start && table[i].stage != O_PENDING) {
			if (table[i].stage == O_ENDED)
				return;
			o_changes(o, r, &table[i], now);
			o_interim(o, r, &table[i], now);
			o_extend(o, r, &table[i], now);
			return;
		}
	for (int i = 0; i < nrows; i++)
		if (rows[i].job == r->job && rows[i].start == r->start && rows[i].end)
			o_settle(o, r, &rows[i], now, true);
}

/* Running before pending, the oldest start first; what this pass has opened was looked at already. */
static void follow_all(struct oracle *o, int64_t now, int nruns, const struct o_seen *table, int n,
	const struct o_seen *rows, int nrows)
{
	bool done[O_RUNS] = {false};

	for (int k = 0; k < nruns; k++) {
		int oldest = O_NONE;

		for (int i = 0; i < nruns; i++)
			if (!done[i] && (oldest == O_NONE || o->runs[i].start < o->runs[oldest].start))
				oldest = i;
		done[oldest] = true;
		if (!o->runs[oldest].ended)
			follow(o, now, &o->runs[oldest], table, n, rows, nrows);
	}
}

void oracle_trouble(struct oracle *o, bool restarted)
{
	o->passes = 0;
	if (!restarted)
		return;
	o->seen_at = 0;
	memset(o->told, 0, sizeof(o->told));
}

/* After a start and after trouble: what ran meanwhile, in the second pass, when the answers are tied to their
 * jobs; and once more when the last rows have come. */
static bool look_back(struct oracle *o, int64_t now, const struct o_seen *rows, int nrows)
{
	bool gap = !o->seen_at || now - o->seen_at > o->away;

	if (o->passes++ == 0)
		return false;
	if (gap || (o->ask_again_at && now >= o->ask_again_at)) {
		if (!rows)
			return false;
		find_missed(o, now, rows, nrows, O_NONE);
		o->ask_again_at = gap ? now + o->again : 0;
	}
	o->seen_at = now;
	return true;
}

void oracle_pass(struct oracle *o, int64_t now, const struct o_seen *table, int n, const struct o_seen *rows,
	int nrows)
{
	int nruns = o->nruns;
	bool all_seen;

	memcpy(o->before, o->allocations, sizeof(o->before));
	memcpy(o->pieces_before, o->pieces, sizeof(o->pieces[0]) * (size_t)o->npieces);
	o->nbefore = o->nallocations;
	o->npieces_before = o->npieces;
	oracle_expire(o, now);
	for (int i = 0; i < O_JOBS; i++)
		o->jobs[i].bound_before = o->jobs[i].bound;
	for (int i = 0; i < n; i++)
		o->jobs[table[i].job].runs = runs_before(o, nruns, &table[i]);
	for (int i = 0; i < n; i++)
		if (table[i].stage != O_PENDING)
			meet(o, now, &table[i], rows, nrows);
	all_seen = look_back(o, now, rows, nrows);
	follow_all(o, now, nruns, table, n, rows, nrows); /* what runs before what waits */
	for (int i = 0; i < n; i++)
		if (table[i].stage == O_PENDING)
			meet(o, now, &table[i], rows, nrows);
	look_at_queue(o, now, table, n, all_seen);
}
