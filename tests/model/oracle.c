/* SPDX-License-Identifier: GPL-2.0-or-later
 * oracle.c - what the books must say of jobs: answers, what a pass does
 *
 * The slow and plain way, see oracle.h; the queue is in oracle_queue.c, runs are in
 * oracle_run.c, the money itself is in oracle_money.c. */
#include "tests/model/oracle_internal.h"
#include <string.h>

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

enum o_policy o_policy_of(const struct oracle *o, const struct o_job *j)
{
	enum o_policy p = o->nodes[j->node].policy;

	return j->insists && p == O_FREE ? O_REJECT : p;
}

enum o_tier oracle_ask(struct oracle *o, int64_t now, const struct o_seen *want)
{
	struct o_job *j = &o->jobs[want->answer];
	int64_t room = o_room(o, want->node, want->user, now);
	bool now_or_later = want->eligible && !want->held_by_user;
	struct o_line line = o_those_who_wait(o);
	const struct o_place *front;
	struct o_place refused;
	int fits;

	if (want->minimum > o->max_minimum)
		return O_REFUSED;
	*j = (struct o_job){
		.known = true, .hold = O_NONE, .tier = O_FUNDED_TIER, .at = now, .turn = o->nanswers++};
	o_declare(o, j, want, want->minimum, now);
	if (!want->minimum || want->free_tier)
		return j->tier = O_FREE_TIER;
	refused = o_refused_by(o, j, now);
	front = o_policy_of(o, j) == O_WAIT && now_or_later ? o_in_front(o, &line, j) : NULL;
	fits = front ? 0 : (int)o_least(want->tasks, o_most(0, room) / j->per_task);
	if (fits || o_policy_of(o, j) == O_WAIT) {
		if (!now_or_later)
			return j->tier;
		j->paid = fits;
		j->hold = fits ? o_hold_new(o, want->node, want->user, fits * j->per_task, now) : O_NONE;
		if (fits < want->tasks)
			o_park(j, front ? front : &refused);
	} else if (o_policy_of(o, j) == O_FREE)
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

/* --- a pass --- */

static bool is_missed(struct oracle *o, const struct o_seen *row, int job)
{
	return (job == O_NONE || row->job == job) && row->start && row->end > row->start && !o_run_of(o, row);
}

/* Runs that only slurmdbd tells of, of a job or (O_NONE) of all, the oldest start first. They are followed
 * from the next pass on. */
static void find_missed(struct oracle *o, int64_t now, const struct o_seen *rows, int nrows, int job)
{
	for (;;) {
		const struct o_seen *oldest = NULL;

		for (int i = 0; i < nrows; i++)
			if (is_missed(o, &rows[i], job) && (!oldest || rows[i].start < oldest->start ||
				(rows[i].start == oldest->start && rows[i].job < oldest->job)))
				oldest = &rows[i];
		if (!oldest)
			return;
		o_start(o, oldest, now, true);
	}
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

	o->now = now;
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
	o_look_at_queue(o, now, table, n, all_seen);
}
