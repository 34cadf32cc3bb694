/* SPDX-License-Identifier: GPL-2.0-or-later
 * compare.c - the books beside the oracle, to the unit. */
#include "tests/model/history.h"
#include "budgetd/ledger_statement.h"
#include <string.h>

/* --- money, after each step --------------------------------------------------------------------- */

static void compare_allocation(struct history *h, int a, sqlite3_stmt *st)
{
	const struct o_allocation *x = &h->o.allocations[a];
	int64_t amount = sqlite3_column_int64(st, 1), charged = sqlite3_column_int64(st, 2),
		held = sqlite3_column_int64(st, 3);

	if (amount != x->amount || charged != x->charged || held != x->held)
		differ(h,
			"allocation %d of p%d: the oracle has amount %jd, charged %jd, held %jd; the books "
			"have %jd, %jd, %jd",
			a, x->node, (intmax_t)x->amount, (intmax_t)x->charged, (intmax_t)x->held,
			(intmax_t)amount, (intmax_t)charged, (intmax_t)held);
}

/* By the books' own numbers: what is charged and held at a project is in what was given to it. */
static void nothing_overdrawn(struct history *h, const int64_t left[O_NODES])
{
	for (int n = 0; n < h->o.nnodes; n++)
		if (left[n] + h->o.nodes[n].credit < 0)
			differ(h, "p%d is overdrawn by %jd units beyond its credit of %jd", n,
				(intmax_t)-left[n], (intmax_t)h->o.nodes[n].credit);
}

static int64_t open_holds(const struct oracle *o)
{
	int64_t sum = 0;

	for (int i = 0; i < o->nholds; i++)
		if (o->holds[i].open)
			sum += o->holds[i].units;
	return sum;
}

/* For the reader of a difference: both sides' numbers. */
void tell_numbers(struct history *h)
{
	int a = 0;

	sqlite3_reset(h->b->sums);
	for (; sqlite3_step(h->b->sums) == SQLITE_ROW && a < h->o.nallocations; a++)
		tell(h,
			"allocation %d of p%d: the oracle has %jd, charged %jd, held %jd; the books %jd, "
			"%jd, %jd",
			a, h->o.allocations[a].node, (intmax_t)h->o.allocations[a].amount,
			(intmax_t)h->o.allocations[a].charged, (intmax_t)h->o.allocations[a].held,
			(intmax_t)sqlite3_column_int64(h->b->sums, 1),
			(intmax_t)sqlite3_column_int64(h->b->sums, 2),
			(intmax_t)sqlite3_column_int64(h->b->sums, 3));
	sqlite3_reset(h->b->sums);
	for (int n = 0; n < h->o.nnodes; n++)
		tell(h, "p%d has %jd available", n, (intmax_t)oracle_available(&h->o, n, h->now));
	for (int i = 0; i < O_JOBS; i++)
		if (h->o.jobs[i].known && h->o.jobs[i].hold != O_NONE)
			tell(h, "job %d holds %jd in the queue", i,
				(intmax_t)h->o.holds[h->o.jobs[i].hold].units);
	for (int i = 0; i < h->o.nruns; i++) {
		const struct o_run *r = &h->o.runs[i];

		if (!r->ended)
			tell(h,
				"job %d runs since %+jd at %jd a second, paid to %+jd, free from %+jd, holds "
				"%jd",
				r->job, (intmax_t)(r->start - h->epoch), (intmax_t)r->price,
				(intmax_t)(r->paid_to - h->epoch),
				(intmax_t)(r->free_from ? r->free_from - h->epoch : 0),
				(intmax_t)(r->hold == O_NONE ? 0 : h->o.holds[r->hold].units));
	}
}

void compare_money(struct history *h)
{
	int64_t left[O_NODES] = {0}, holds;
	int a = 0;

	if (h->o.wrong)
		differ(h, "the oracle breaks its own rule: %s", h->o.wrong);
	for (; sqlite3_step(h->b->sums) == SQLITE_ROW; a++) {
		if (a >= h->o.nallocations)
			differ(h, "the books have more allocations than were made");
		compare_allocation(h, a, h->b->sums);
		left[h->o.allocations[a].node] += sqlite3_column_int64(h->b->sums, 1) -
						  sqlite3_column_int64(h->b->sums, 2) -
						  sqlite3_column_int64(h->b->sums, 3);
	}
	sqlite3_reset(h->b->sums);
	if (a != h->o.nallocations)
		differ(h, "the books have %d allocations and not %d", a, h->o.nallocations);
	nothing_overdrawn(h, left);
	holds = sqlite3_step(h->b->holds) == SQLITE_ROW ? sqlite3_column_int64(h->b->holds, 0) : -1;
	sqlite3_reset(h->b->holds);
	if (holds != open_holds(&h->o))
		differ(h, "the oracle holds %jd units, the books hold %jd", (intmax_t)open_holds(&h->o),
			(intmax_t)holds);
}

/* --- months ------------------------------------------------------------------------------------- */

static const struct {
	enum statement_item item;
	char kind;
	int sign, as; /* as: with this sign in the statement */
} moved[] = {
	{ITEM_DEPOSITS, 'd', 0, 1},
	{ITEM_WITHDRAWALS, 'w', 0, -1},
	{ITEM_TRANSFERS_IN, 't', 1, 1},
	{ITEM_TRANSFERS_OUT, 't', -1, -1},
	{ITEM_REFUNDS, 'r', 0, 1},
	{ITEM_ADJUSTMENTS, 'a', 0, 1},
	{ITEM_VOIDS, 'v', 0, 1},
	{ITEM_EXPIRED, 'e', 0, -1},
	{ITEM_CARRIED_IN, 'c', 1, 1},
	{ITEM_CARRIED_OUT, 'c', -1, -1},
};

struct comparing {
	struct history *h;
	int64_t from, to;
	int lines;
};

static struct statement_line line_of(const struct oracle *o, int a, int64_t from, int64_t to)
{
	struct statement_line s = {.items = {[ITEM_OPENING] = oracle_balance_at(o, a, from),
		[ITEM_CHARGES] = oracle_charged(o, a, from, to), [ITEM_CLOSING] = oracle_balance_at(o, a, to)}};

	for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++)
		s.items[moved[i].item] =
			moved[i].as * oracle_moved(o, a, moved[i].kind, moved[i].sign, from, to);
	return s;
}

/* What stands in each column, and that it foots. */
static int compare_line(const struct statement_line *s, void *arg)
{
	struct comparing *c = arg;
	struct history *h = c->h;
	int a = (int)s->allocation - 1;
	struct statement_line ours = line_of(&h->o, a, c->from, c->to);
	const int64_t *i = s->items;

	c->lines++;
	for (int k = 0; k < STATEMENT_ITEMS; k++)
		if (ours.items[k] != i[k])
			differ(h, "allocation %d from %+jd to %+jd: the oracle has %s of %jd units, the statement %jd",
				a, (intmax_t)(c->from - h->epoch), (intmax_t)(c->to - h->epoch),
				statement_item_name[k], (intmax_t)ours.items[k], (intmax_t)i[k]);
	if (i[ITEM_OPENING] + i[ITEM_DEPOSITS] - i[ITEM_WITHDRAWALS] + i[ITEM_TRANSFERS_IN] -
			i[ITEM_TRANSFERS_OUT] - i[ITEM_CHARGES] + i[ITEM_REFUNDS] + i[ITEM_ADJUSTMENTS] +
			i[ITEM_VOIDS] - i[ITEM_EXPIRED] + i[ITEM_CARRIED_IN] - i[ITEM_CARRIED_OUT] !=
		i[ITEM_CLOSING])
		differ(h, "the statement of allocation %d does not foot", a);
	return 0;
}

static int lines_of(const struct oracle *o, int64_t from, int64_t to)
{
	int n = 0;

	for (int a = 0; a < o->nallocations; a++) {
		struct statement_line s = line_of(o, a, from, to);
		bool moves = oracle_charged(o, a, from, to) != 0;

		for (int i = 0; i < o->nentries; i++)
			moves = moves || (o->entries[i].allocation == a && o->entries[i].at >= from &&
						 o->entries[i].at < to);
		n += moves || s.items[ITEM_OPENING] || s.items[ITEM_CLOSING];
	}
	return n;
}

/* Statements of the months, and of a range that ends in the middle of one. */
void compare_months(struct history *h)
{
	const int64_t edges[] = {H_MONTH - 31 * 86400, H_MONTH, H_MONTH + 28 * 86400, h->epoch + 3600};
	static const int ranges[][2] = {{0, 1}, {1, 2}, {3, 2}};
	struct ledger *l = h->b->d.ledger;

	for (size_t k = 0; k < sizeof(ranges) / sizeof(ranges[0]); k++) {
		struct comparing c = {.h = h, .from = edges[ranges[k][0]], .to = edges[ranges[k][1]]};
		struct statement_range r = {c.from, c.to, h->now};
		int rc = ledger_begin(l, LEDGER_READ, &h->b->why);

		for (int n = 0; rc == 0 && n < h->o.nnodes; n++)
			rc = statement_walk(l, h->b->projects[n], &r, compare_line, &c, &h->b->why);
		ledger_rollback(l);
		if (rc < 0)
			differ(h, "a statement failed: %s", h->b->why.text);
		if (c.lines != lines_of(&h->o, c.from, c.to))
			differ(h, "the oracle has %d lines from %+jd to %+jd, the statement %d",
				lines_of(&h->o, c.from, c.to), (intmax_t)(c.from - h->epoch),
				(intmax_t)(c.to - h->epoch), c.lines);
	}
}

/* --- runs, at the end --------------------------------------------------------------------------- */

struct sums {
	int64_t seconds[O_KINDS], units[O_KINDS];
};

static struct sums sums_of(const struct oracle *o, int run)
{
	struct sums s = {0};

	for (int i = 0; i < o->nparts; i++)
		if (o->parts[i].run == run) {
			s.seconds[o->parts[i].kind] += o->parts[i].to - o->parts[i].from;
			s.units[o->parts[i].kind] += o->parts[i].units;
		}
	return s;
}

static enum o_kind kind_of(const char *text)
{
	return strcmp(text, "funded") == 0	  ? O_FUNDED
	       : strcmp(text, "free") == 0	  ? O_UNPAID
	       : strcmp(text, "suspended") == 0 ? O_PAUSED
						  : O_UNCOVERED;
}

static struct sums sums_in_books(struct history *h, int job, int64_t start)
{
	struct sums s = {0};
	sqlite3_stmt *st = h->b->parts;

	sqlite3_bind_int64(st, 1, W_FIRST_JOB + job);
	sqlite3_bind_int64(st, 2, start);
	while (sqlite3_step(st) == SQLITE_ROW) {
		enum o_kind k = kind_of((const char *)sqlite3_column_text(st, 0));

		s.seconds[k] += sqlite3_column_int64(st, 1);
		s.units[k] += sqlite3_column_int64(st, 2);
	}
	sqlite3_reset(st);
	return s;
}

static void compare_run(struct history *h, const struct w_row *w)
{
	struct sums ours = {0}, theirs = sums_in_books(h, w->job, w->start);
	int64_t all = 0;

	for (int i = 0; i < h->o.nruns; i++)
		if (h->o.runs[i].job == w->job && h->o.runs[i].start == w->start)
			ours = sums_of(&h->o, i);
	for (int k = 0; k < O_KINDS; k++)
		all += theirs.seconds[k];
	if (memcmp(&ours, &theirs, sizeof(ours)) != 0)
		differ(h,
			"the run of job %d at %jd: the oracle has %jd s funded (%jd units), %jd s free, %jd "
			"s uncovered, %jd s suspended; the books have"
			" %jd s (%jd units), %jd s, %jd s, %jd s",
			w->job, (intmax_t)(w->start - h->epoch), (intmax_t)ours.seconds[0],
			(intmax_t)ours.units[0], (intmax_t)ours.seconds[1], (intmax_t)ours.seconds[2],
			(intmax_t)ours.seconds[O_PAUSED],
			(intmax_t)theirs.seconds[0], (intmax_t)theirs.units[0], (intmax_t)theirs.seconds[1],
			(intmax_t)theirs.seconds[2], (intmax_t)theirs.seconds[O_PAUSED]);
	/* Of two pauses with a change of size between them slurmctld tells where the second lay: with which of
	 * its sizes the run made the first is in slurmdbd alone, and `budgetctl check` names the seconds. */
	if (!w->slow_clock && !w->pauses_blurred && theirs.seconds[O_PAUSED] != (h->o.pauses_are_free ? w->paused : 0))
		differ(h,
			"the run of job %d was suspended for %jd s, and its suspended parts add up to %jd s",
			w->job, (intmax_t)w->paused, (intmax_t)theirs.seconds[O_PAUSED]);
	if (w->slow_clock ? all < w->end - w->start : all != w->end - w->start)
		differ(h, "the run of job %d lasted %jd s and its parts add up to %jd s", w->job,
			(intmax_t)(w->end - w->start), (intmax_t)all);
}

void compare_runs(struct history *h)
{
	sqlite3_stmt *st;
	int64_t open = -1;

	compare_months(h);
	for (int i = 0; i < h->w.nrows; i++)
		compare_run(h, &h->w.rows[i]);
	if (sqlite3_prepare_v2(h->b->look,
		"SELECT (SELECT count(*) FROM hold WHERE closed_at IS NULL) + (SELECT count(*) FROM run"
		" WHERE ended IS NULL)", -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		open = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	if (open != 0)
		differ(h, "%jd holds and runs are open when everything has ended", (intmax_t)open);
}
