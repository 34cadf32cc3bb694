/* SPDX-License-Identifier: GPL-2.0-or-later
 * oracle_queue.c - what the books must say of what waits: whose turn it is, who is in front, what each gets
 *
 * The slow and plain way, see oracle.h. */
#include "tests/model/oracle_internal.h"
#include <string.h>

/* --- who waits for money --- */

/* The first of the line at the nearest project of the path, NULL: nobody is in front. */
const struct o_place *o_in_front(const struct oracle *o, const struct o_line *l, const struct o_job *j)
{
	for (int n = j->node; n != O_NONE; n = o->nodes[n].parent)
		for (int i = 0; i < l->n; i++)
			if (l->at[i].node == n && (l->at[i].user == O_NONE || l->at[i].user == j->user))
				return &l->at[i];
	return NULL;
}

void o_park(struct o_job *j, const struct o_place *p)
{
	j->parked = true;
	j->waits_at = p->node;
	j->waits_user = p->user;
}

/* The project that has least, the nearest of those that have as little. */
struct o_place o_refused_by(const struct oracle *o, const struct o_job *j, int64_t now)
{
	struct o_place p = {O_NONE, O_NONE};
	int64_t least = INT64_MAX;

	for (int n = j->node; n != O_NONE; n = o->nodes[n].parent) {
		bool is_cap = false;
		int64_t left = o->nodes[n].metered ? o_available_to(o, n, j->user, now, &is_cap) : INT64_MAX;

		if (left >= least)
			continue;
		least = left;
		p = (struct o_place){n, is_cap ? j->user : O_NONE};
	}
	return p;
}

/* Those who wait, as a new job meets them: by the time of their answers. */
struct o_line o_those_who_wait(const struct oracle *o)
{
	struct o_line l = {.n = 0};
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
		l.at[l.n++] = (struct o_place){next->waits_at, next->waits_user};
		at = next->at;
		turn = next->turn;
	}
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
static void take_turn(struct oracle *o, struct o_job *j, struct o_line *heads, int64_t now)
{
	bool waits = o_policy_of(o, j) != O_FREE || j->parked || j->hold != O_NONE;
	int64_t has = o_held_by(o, j->hold), room = o_room(o, j->node, j->user, now);
	int fits = room > INT64_MAX - has ? j->wants : (int)o_least(j->wants, o_most(0, room + has) / j->per_task);

	const struct o_place *front = o_in_front(o, heads, j);
	struct o_place refused = o_refused_by(o, j, now);

	if (waits && j->wants > j->paid && front) {
		o_park(j, front);
		return;
	}
	if (fits < j->wants && waits) {
		heads->at[heads->n++] = refused;
		o_park(j, &refused);
	} else if (!fits) {
		j->tier = O_FREE_TIER;
	} else if (fits < j->wants) {
		o_park(j, &refused);
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

/* --- het jobs: all components have their hours, or none has --- */

/* Where one is free all are. */
static void in_one_tier(struct oracle *o, const int het[O_JOBS])
{
	for (int i = 0; i < O_JOBS; i++)
		for (int k = 0; k < O_JOBS; k++)
			if (het[i] && het[k] == het[i] && o->jobs[k].tier == O_FREE_TIER) {
				o->jobs[i].tier = O_FREE_TIER;
				o->jobs[i].parked = false;
				o_hold_end(o, &o->jobs[i].hold);
				o->jobs[i].paid = 0;
			}
}

/* Does all of it fit, taken one after the other? On a copy, in which nobody of it has anything at first. The
 * one that does not, O_NONE: all do. */
static int first_that_does_not_fit(const struct oracle *o, const int het[O_JOBS], int which,
	const struct o_line *heads, bool waits, int64_t now, struct o_place *refused)
{
	static struct oracle then;

	then = *o;
	for (int i = 0; i < O_JOBS; i++)
		if (het[i] == which)
			o_hold_end(&then, &then.jobs[i].hold);
	for (int i = 0; i < O_JOBS; i++) {
		const struct o_job *j = &o->jobs[i];
		int64_t need = j->wants * j->per_task;
		bool stays = waits || o_policy_of(o, j) != O_FREE;
		const struct o_place *front = stays && j->wants > j->paid ? o_in_front(o, heads, j) : NULL;

		if (het[i] != which)
			continue;
		*refused = front ? *front : o_refused_by(&then, j, now);
		if (front || need > o_most(0, o_room(&then, j->node, j->user, now)))
			return i;
		o_hold_new(&then, j->node, j->user, need, now);
	}
	return O_NONE;
}

static void pay_all(struct oracle *o, const int het[O_JOBS], int which, int64_t now)
{
	for (int i = 0; i < O_JOBS; i++) {
		struct o_job *j = &o->jobs[i];

		if (het[i] != which)
			continue;
		if (j->hold == O_NONE)
			j->hold = o_hold_new(o, j->node, j->user, 0, now);
		o_hold_more(o, j->hold, j->node, j->wants * j->per_task - o_held_by(o, j->hold), now);
		j->paid = j->wants;
		j->parked = false;
	}
}

static void take_turn_together(struct oracle *o, const int het[O_JOBS], int which, struct o_line *heads,
	int64_t now)
{
	bool waits = false, is_behind;
	struct o_place refused;
	int short_of;

	for (int i = 0; i < O_JOBS; i++)
		if (het[i] == which)
			waits = waits || o->jobs[i].parked || o->jobs[i].insists;
	short_of = first_that_does_not_fit(o, het, which, heads, waits, now, &refused);
	if (short_of == O_NONE) {
		pay_all(o, het, which, now);
		return;
	}
	waits = waits || o_policy_of(o, &o->jobs[short_of]) != O_FREE;
	is_behind = waits && o_in_front(o, heads, &o->jobs[short_of]) && !o->jobs[short_of].paid;
	if (waits && !is_behind)
		heads->at[heads->n++] = refused;
	for (int i = 0; i < O_JOBS; i++) {
		if (het[i] != which)
			continue;
		o_hold_end(o, &o->jobs[i].hold);
		o->jobs[i].paid = 0;
		if (waits)
			o_park(&o->jobs[i], &refused);
		else
			o->jobs[i].tier = O_FREE_TIER;
	}
}

static void give_more(struct oracle *o, bool asks[O_JOBS], const int het[O_JOBS], int64_t now)
{
	struct o_line heads = {.n = 0};

	for (;;) {
		int first = O_NONE;

		for (int i = 0; i < O_JOBS; i++)
			if (asks[i] && (first == O_NONE || is_before(o, i, first)))
				first = i;
		if (first == O_NONE)
			return;
		asks[first] = false;
		if (!het[first]) {
			take_turn(o, &o->jobs[first], &heads, now);
			continue;
		}
		for (int i = 0; i < O_JOBS; i++)
			asks[i] = asks[i] && het[i] != het[first];
		take_turn_together(o, het, het[first], &heads, now);
	}
}

/* What is too much, and what nobody waits for, comes back first, and may pay for those who need more. */
void o_look_at_queue(struct oracle *o, int64_t now, const struct o_seen *table, int n, bool all_seen)
{
	bool asks[O_JOBS] = {false};
	int het[O_JOBS] = {0}; /* of those that wait */

	for (int i = 0; i < O_JOBS; i++) {
		struct o_job *j = &o->jobs[i];
		const struct o_seen *s = waits_in(table, n, i);
		struct tasks t = tasks_of(table, n, i);

		if (!j->known)
			continue;
		if (!s && (j->bound_before || now - j->at >= o->unbound))
			j->parked = false;
		if (s && j->bound && !j->just_met) {
			het[i] = s->het;
			asks[i] = queued(o, s, &t, now);
		}
		else if (!s && all_seen && (j->bound_before || (!j->bound && now - j->at >= o->unbound))) {
			o_hold_end(o, &j->hold);
			j->paid = 0;
		}
	}
	in_one_tier(o, het);
	for (int i = 0; i < O_JOBS; i++)
		asks[i] = asks[i] && o->jobs[i].tier == O_FUNDED_TIER;
	give_more(o, asks, het, now);
}
