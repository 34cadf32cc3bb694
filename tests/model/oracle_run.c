/* SPDX-License-Identifier: GPL-2.0-or-later
 * oracle_run.c - what the books must say of runs: prices, holds, the parts that are paid and those that are
 * not
 *
 * The slow and plain way, see oracle.h. */
#include "tests/model/oracle_internal.h"
#include <string.h>

static int64_t rate_at(const struct oracle *o, int type, int64_t at)
{
	int64_t rate = O_NONE, from = -1;

	for (int i = 0; i < o->nrates; i++)
		if (o->rates[i].type == type && o->rates[i].from <= at && o->rates[i].from >= from) {
			from = o->rates[i].from;
			rate = o->rates[i].rate;
		}
	if (rate != O_NONE)
		return rate;
	return type == O_ANY_TYPE ? 1000 : rate_at(o, O_ANY_TYPE, at);
}

/* Units a second of GPUs of a known type, or the dearest that the cluster has. */
int64_t o_price_at(const struct oracle *o, int gpus, int type, int64_t at)
{
	int64_t rate = 0;

	if (type != O_ANY_TYPE)
		return gpus * rate_at(o, type, at);
	for (int i = 0; i < o->types; i++)
		rate = o_most(rate, rate_at(o, i, at));
	return gpus * rate;
}

/* --- holds --- */

int o_hold_new(struct oracle *o, int node, int user, int64_t units, int64_t now)
{
	int h = o->nholds++;

	o->holds[h] = (struct o_hold){.open = true, .user = user};
	o_hold_more(o, h, node, units, now);
	return h;
}

int o_hold_share(struct oracle *o, int hold, int tasks)
{
	int h = o->nholds++;

	o->holds[h] = (struct o_hold){.open = true, .user = o->holds[hold].user};
	o_hold_move(o, hold, h, o->holds[hold].units / tasks);
	return h;
}

void o_hold_end(struct oracle *o, int *h)
{
	if (*h == O_NONE)
		return;
	o_hold_less(o, *h, o->holds[*h].units);
	o->holds[*h].open = false;
	*h = O_NONE;
}

int64_t o_held_by(const struct oracle *o, int hold)
{
	return hold == O_NONE ? 0 : o->holds[hold].units;
}

/* --- runs --- */

int64_t o_month_edge(int64_t at, bool next)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64_t edge = 0, length = 0;

	for (int n = 0; edge + length <= at; n++) { /* months since January 1970 */
		edge += length;
		length = 86400 * (int64_t)(days[n % 12] + (n % 12 == 1 && (1970 + n / 12) % 4 == 0));
	}
	return next ? edge + length : edge;
}

/* In its own month, at the last second of it when it is over; when that is closed, in the open one. */
static int64_t booked_at(const struct oracle *o, int64_t from)
{
	int64_t edge = o_month_edge(from, true);

	return edge > o->now || edge - 1 < o->closed ? o->now : edge - 1;
}

/* No part is of two months. */
static void post(struct oracle *o, struct o_run *r, enum o_kind kind, int64_t from, int64_t to)
{
	int p;

	if (from >= to)
		return;
	if (o_month_edge(from, true) < to) {
		post(o, r, kind, from, o_month_edge(from, true));
		from = o_month_edge(from, true);
		post(o, r, kind, from, to);
		return;
	}
	r->posted_paused += kind == O_PAUSED ? to - from : 0;
	p = o->nparts++;
	o->parts[p] = (struct o_part){
		.run = (int)(r - o->runs), .kind = kind, .from = from, .to = to, .gpus = r->gpus,
		.at = booked_at(o, from)};
	if (kind != O_FUNDED)
		return;
	o->parts[p].units = r->price * (to - from);
	o_hold_charge(o, r->hold, p, o->parts[p].units);
}

/* What ran up to `at`. */
static void post_running(struct oracle *o, struct o_run *r, int64_t at)
{
	int64_t paid = o_most(r->part_from, o_least(r->paid_to, at));
	int64_t unknown = r->free_from ? o_most(paid, o_least(r->free_from, at)) : at;

	if (!r->funded) {
		post(o, r, r->free_from ? O_UNPAID : O_UNCOVERED, r->part_from, at);
	} else {
		post(o, r, O_FUNDED, r->part_from, paid);
		post(o, r, O_UNCOVERED, paid, unknown);
		post(o, r, O_UNPAID, unknown, at);
	}
	r->part_from = o_most(r->part_from, at);
}

/* Everything up to `at` is posted: what the hold covered, what nobody had looked at, what was decided to be
 * free; and at its end what it was suspended, where that costs nothing. */
static void post_until(struct oracle *o, struct o_run *r, int64_t at)
{
	int64_t pause = o_least(r->paused - r->posted_paused, at - r->part_from);
	int64_t paid_to = r->paid_to, free_from = r->free_from;

	if (pause <= 0) {
		post_running(o, r, at);
		return;
	}
	if (r->funded) /* the seconds that the hold is for, as if they were the first ones */
		r->paid_to = r->part_from + o_held_by(o, r->hold) / r->price;
	r->free_from = free_from && r->funded ? r->paid_to : free_from;
	post_running(o, r, at - pause);
	r->paid_to = paid_to;
	r->free_from = free_from;
	post(o, r, O_PAUSED, r->part_from, at);
	r->part_from = at;
}

/* What slurmctld or slurmdbd says of its suspensions: the hold lasts as much longer, where it had not run out
 * before. Since it goes on, where they lay is known. */
static void learn_pause(struct oracle *o, struct o_run *r, int64_t total, int64_t until, bool over)
{
	int64_t more = total - r->paused;

	if (!o->pauses_are_free)
		return;
	if (more > 0 && r->paid_to > until - more) {
		if (r->free_from == r->paid_to)
			r->free_from += more;
		r->paid_to += more;
	}
	r->paused = total;
	if (over && until > r->part_from)
		post_until(o, r, until);
}

struct o_run *o_run_of(struct oracle *o, const struct o_seen *s)
{
	for (int i = 0; i < o->nruns; i++)
		if (o->runs[i].job == s->job && o->runs[i].start == s->start)
			return &o->runs[i];
	return NULL;
}

/* At its start a run is priced by what was given. More is taken as far as the money goes, in whole seconds;
 * what is too much goes back. */
static void pay_from_start(struct oracle *o, struct o_run *r, int64_t now)
{
	int64_t need = r->minimum * r->price, has = o_held_by(o, r->hold), more;

	if (r->hold == O_NONE)
		r->hold = o_hold_new(o, r->node, r->user, 0, now);
	if (has > need)
		o_hold_less(o, r->hold, has - need);
	more = o_least(need - has, o_most(0, o_room(o, r->node, r->user, now)));
	if (more > 0)
		o_hold_more(o, r->hold, r->node, more - more % r->price, now);
	r->paid_to = r->start + o->holds[r->hold].units / r->price;
}

/* A start, also of a run that is over by now. A job that came past the plugin is funded by its QOS, unless
 * only slurmdbd knows of it. */
void o_start(struct oracle *o, const struct o_seen *s, int64_t now, bool from_rows)
{
	struct o_job *j = &o->jobs[s->answer];
	struct o_run *r = &o->runs[o->nruns++];
	int gpus = s->resized ? s->first_gpus : s->gpus;

	if (!j->known && !from_rows && s->in_funded_qos && s->minimum && s->minimum <= o->max_minimum) {
		*j = (struct o_job){
			.known = true, .hold = O_NONE, .tier = O_FUNDED_TIER, .at = now};
		o_declare(o, j, s, s->minimum, now);
	}
	*r = (struct o_run){.job = s->job,
		.answer = s->answer,
		.node = s->node,
		.user = s->user,
		.gpus = gpus,
		.type = s->type,
		.submit = s->submit,
		.start = s->start,
		.minimum = j->minimum,
		.price = o_price_at(o, gpus, s->type, s->start),
		.paid_to = s->start,
		.part_from = s->start,
		.hold = O_NONE};
	r->funded = j->known && j->tier == O_FUNDED_TIER && s->in_funded_qos;
	j->bound = j->known;
	if (r->funded) {
		if (j->paid > 1) {
			r->hold = o_hold_share(o, j->hold, j->paid--);
		} else {
			r->hold = j->hold;
			j->hold = O_NONE;
			j->paid = 0;
		}
		pay_from_start(o, r, now);
	} else if (s->in_free_qos || (j->known && j->tier == O_FREE_TIER)) {
		r->free_from = s->start;
	}
}

/* A smaller run is covered as long as before and gives the rest back, a larger one until its hold is used up.
 */
static void resize(struct oracle *o, struct o_run *r, const struct o_seen *s)
{
	int64_t need;

	if (!s->resized || s->resized < r->part_from || s->gpus == r->gpus)
		return;
	post_until(o, r, s->resized);
	r->gpus = s->gpus;
	r->price = o_price_at(o, s->gpus, r->type, r->start);
	need = o_most(0, r->paid_to - s->resized) * r->price;
	if (!r->funded)
		return;
	if (need <= o_held_by(o, r->hold)) {
		o_hold_less(o, r->hold, o_held_by(o, r->hold) - need);
		return;
	}
	r->paid_to = s->resized + o_held_by(o, r->hold) / r->price;
	if (r->free_from)
		r->free_from = r->paid_to;
}

/* As the table shows it, in the order in which it happened. */
void o_changes(struct oracle *o, struct o_run *r, const struct o_seen *s, int64_t now)
{
	int64_t until = s->suspended ? now : s->end ? o_least(s->end, s->paused_at) : s->paused_at;

	if (s->suspended || s->resized < s->paused_at) /* what is suspended does not change its size */
		resize(o, r, s);
	learn_pause(o, r, s->paused, until, !s->suspended);
	resize(o, r, s);
}

/* A row for each size: how long, and not when. */
static void changes_of_rows(struct oracle *o, struct o_run *r, const struct o_seen *s)
{
	if (s->paused_first > r->paused)
		learn_pause(o, r, s->paused_first, s->resized, false);
	resize(o, r, s);
	learn_pause(o, r, s->paused, s->end, false);
}

/* A month is over under a run that goes on: what ran in it is posted, a minute later, since clocks differ. */
void o_interim(struct oracle *o, struct o_run *r, const struct o_seen *s, int64_t now)
{
	int64_t edge = o_month_edge(now - 60, false);

	if (r->part_from < edge && !s->suspended)
		post_until(o, r, edge);
}

/* An end that lies before what was posted, by a slower clock than ours: the difference goes back. */
static void give_back_beyond(struct oracle *o, const struct o_run *r, int64_t end, int64_t now)
{
	for (int i = 0; i < o->nparts; i++) {
		struct o_part *p = &o->parts[i];
		int64_t back, left;

		if (p->run != (int)(r - o->runs) || !p->units || p->to <= end)
			continue;
		back = p->units / (p->to - p->from) * (p->to - o_most(end, p->from));
		left = oracle_refundable(o, i);
		if (back > left)
			back = left;
		if (back > 0)
			oracle_refund(o, now, i, back);
	}
}

void o_settle(struct oracle *o, struct o_run *r, const struct o_seen *s, int64_t now, bool from_rows)
{
	if (r->ended)
		return;
	if (from_rows)
		changes_of_rows(o, r, s);
	else
		o_changes(o, r, s, now);
	if (s->end < r->part_from)
		give_back_beyond(o, r, s->end, now);
	r->ended = o_most(s->end, r->part_from);
	post_until(o, r, r->ended);
	o_hold_end(o, &r->hold);
}

/* What nobody pays is free from here on. Time that is over was never decided on. */
static void set_free(struct oracle *o, struct o_run *r, int64_t now)
{
	if (r->free_from)
		return;
	if (r->paid_to < now) {
		post_until(o, r, now);
		r->paid_to = now;
	}
	r->free_from = r->paid_to;
}

/* What there is for it and its quantum, in seconds: at least a minute or all that is wanted, else 0. */
static int64_t affordable(const struct oracle *o, const struct o_run *r, int64_t wanted, int64_t now)
{
	int64_t seconds = o_least(wanted, o_room(o, r->node, r->user, now) / r->price);

	return seconds < o_least(60, wanted) ? 0 : seconds;
}

/* Before the pass began: money that this pass brought back is for what is funded, a run that became free sees
 * it in the next one. */
static bool was_affordable(struct oracle *o, const struct o_run *r, int64_t wanted, int64_t now)
{
	static struct oracle then;

	then = *o;
	memcpy(then.allocations, o->before, sizeof(o->before));
	memcpy(then.pieces, o->pieces_before, sizeof(o->pieces[0]) * (size_t)o->npieces_before);
	then.nallocations = o->nbefore;
	then.npieces = o->npieces_before;
	return affordable(&then, r, wanted, now) > 0;
}

/* The next quantum is paid before the time that it covers begins, to the time limit at most, past it by the
 * minute. */
void o_extend(struct oracle *o, struct o_run *r, const struct o_seen *s, int64_t now)
{
	int64_t from = o_most(r->paid_to, now), left = r->start + s->limit + r->paused - from;
	int64_t wanted = left > 0 ? o_least(left, o_most(60, o_least(r->minimum, 3600))) : 60;
	int64_t seconds = r->price ? affordable(o, r, wanted, now) : 0;

	if (o->pauses_are_free && s->suspended)
		return;
	if (!r->funded || r->paid_to > now + o->lead || r->free_from > now)
		return;
	if (r->free_from && !was_affordable(o, r, wanted, now))
		return;
	if (!seconds) {
		set_free(o, r, now);
		return;
	}
	if (from > r->paid_to)
		post_until(o, r, from);
	r->free_from = 0;
	r->paid_to = from + seconds;
	o_hold_more(o, r->hold, r->node, seconds * r->price, now);
}
