/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_import.c - runs out of Slurm's accounting (ledger_import.h). */
#include "budgetd/ledger_import_rows.h"
#include "budgetd/ledger_period.h"
#include "budgetd/ledger_sql.h"
#include "books/chain.h"
#include "lib/zone.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run while its parts are made. */
struct writing {
	struct ledger *l;
	struct import *im;
	const struct import_run *r;
	const struct import_piece *piece;
	const char *tres;		/* the run's: of its last piece */
	int64_t seq;
	struct import_result *out;
};

/* --- what is there ------------------------------------------------------------------------------ */

/* By the key of the row; or the run of its start goes on beyond where the row begins: the loop keeps one key
 * for all pieces, and so does an import for those that follow each other. *to is where the books have it to
 * end, INT64_MAX while it goes on; what was corrected counts as its last correction says. 1, 0, -1. */
static int piece_known(struct ledger *l, const struct import_run *r, const struct import_piece *p,
	int64_t *to, struct fault *why)
{
	static const char known_sql[] =
		"SELECT max(CASE WHEN ended IS NULL THEN 9223372036854775807"
		"  ELSE coalesce((SELECT c.ended FROM correction c WHERE c.run = r.id ORDER BY c.id DESC LIMIT 1), ended) END)"
		" FROM run r WHERE cluster = ?1 AND job = ?2 AND ((+submit = ?3 AND +start = ?4)"
		"  OR (+start = ?5 AND (ended IS NULL OR ended > ?4 OR ended >= ?6))) HAVING count(*) > 0";

	return sql_int(l, to, known_sql, why, "siiiii", r->cluster, r->job, p->submit, p->from, r->start,
		p->end);
}

/* Can a run of this job be there already? Only among those that the books had, or that were added before. */
static bool may_be_known(const struct import *im, const struct import_run *r)
{
	return !im->cluster || strcmp(im->cluster, r->cluster) != 0 ||
		(im->lowest <= r->job && r->job <= im->highest);
}

int import_expect(struct ledger *l, struct import *im, const char *cluster, int64_t first, int64_t last,
	struct fault *why)
{
	static const char any_sql[] = "SELECT 1 FROM run WHERE cluster = ? AND job BETWEEN ? AND ? LIMIT 1";
	int64_t one;
	int rc = sql_int(l, &one, any_sql, why, "sii", cluster, first, last);

	im->cluster = rc == 0 ? cluster : NULL;
	im->lowest = INT64_MAX;
	im->highest = -1;
	return rc < 0 ? -1 : 0;
}

/* --- writing ------------------------------------------------------------------------------------ */

/* Room for one more. */
static void *one_more(void *rows, size_t count, size_t *room, size_t size, struct fault *why)
{
	size_t more = *room ? 2 * *room : 512;

	if (count < *room)
		return rows;
	rows = reallocarray(rows, more, size);
	if (rows)
		*room = more;
	else
		fault_errno(why, ENOMEM, "out of memory");
	return rows;
}

/* The row of the import, and where the ids of what it writes begin: nobody else writes within this
 * transaction. */
static int import_begin(struct ledger *l, struct import *im, struct fault *why)
{
	static const char begin_sql[] = "INSERT INTO import (at, actor) VALUES (?, ?)";
	static const char run_sql[] = "SELECT coalesce(max(id), 0) FROM run",
		charge_sql[] = "SELECT coalesce(max(id), 0) FROM charge";

	if (im->id)
		return 0;
	im->runs_hash = chain_rows_new();
	im->parts_hash = chain_rows_new();
	if (!im->runs_hash || !im->parts_hash)
		return fault_errno(why, ENOMEM, "out of memory");
	if (sql_do(l, begin_sql, why, "is", im->now, im->actor) < 0)
		return -1;
	im->id = sql_last_id(l);
	if (sql_int(l, &im->last_run, run_sql, why, "") < 0 ||
		sql_int(l, &im->last_charge, charge_sql, why, "") < 0 ||
		period_closed_until(l, &im->closed_until, why) < 0)
		return -1;
	im->first_run = im->last_run + 1;
	im->first_charge = im->last_charge + 1;
	return 0;
}

void import_free(struct import *im)
{
	free(im->runs);
	free(im->parts);
	chain_rows_free(im->runs_hash);
	chain_rows_free(im->parts_hash);
}

/* --- paying ------------------------------------------------------------------------------------- */

/* What was live when the part ended; what has expired since is over and pays nothing. */
static bool pays(const struct path_node *n, int i, int64_t end)
{
	return n->live[i].starts <= end;
}

static amount_t node_has(const struct path_node *n, int64_t end)
{
	amount_t has = 0, available = budget_available(&n->budget);
	bool any = false;

	for (int i = 0; i < n->nlive; i++) {
		has += pays(n, i, end) ? n->live[i].free : 0;
		any = any || pays(n, i, end);
	}
	has += n->budget.credit;
	if (!any || has < 0)
		return 0;
	return available < has ? (available > 0 ? available : 0) : has;
}

/* Whole seconds of `seconds` that every project of the path has the money for. */
static int64_t paid_seconds(const struct path *p, int64_t seconds, amount_t price, int64_t end)
{
	for (int i = 0; i < p->depth; i++) {
		const struct path_node *n = &p->nodes[i];

		if (n->budget.metered && node_has(n, end) / price < seconds)
			seconds = node_has(n, end) / price;
	}
	return seconds;
}

/* The soonest to expire first; what is beyond them all is credit and stands with the last. */
static int pay_at_node(struct writing *w, const struct path_node *n, amount_t units, int64_t end,
	int64_t charge, struct fault *why)
{
	int last = -1;

	for (int i = 0; i < n->nlive; i++)
		last = pays(n, i, end) ? i : last;
	for (int i = 0; i <= last && units > 0; i++) {
		struct journal_entry e = { .at = w->im->now, .kind = "charge", .allocation = n->live[i].id,
			.charge = charge, .reason = "imported" };
		amount_t take = i == last || n->live[i].free > units ? units : n->live[i].free;

		if (!pays(n, i, end) || take <= 0)
			continue;
		snprintf(e.actor, sizeof(e.actor), "%s", w->im->actor);
		e.units = -take;
		if (journal_post(w->l, &e, why) < 0)
			return -1;
		units -= take;
	}
	assert(units == 0);	/* paid_seconds() looked at the same path */
	return 0;
}

/* --- parts -------------------------------------------------------------------------------------- */

/* In its month, as all that ran. What goes to allocations is booked as it is charged: they were not there in
 * that month, as a rule, and its statement would go below nothing. */
static int64_t booked_at(const struct import *im, const char *kind, int64_t from)
{
	bool charged = strcmp(kind, "funded") == 0 || strcmp(kind, "uncovered") == 0;

	return charged ? im->now : period_date_of_part(from, im->now, im->closed_until);
}

static int part_add(struct writing *w, const char *kind, int64_t from, int64_t end, amount_t units,
	struct fault *why)
{
	struct import *im = w->im;
	struct import_part_values *grown = one_more(im->parts, im->nparts, &im->parts_room, sizeof(*grown),
		why);

	if (!grown)
		return -1;
	im->parts = grown;
	grown[im->nparts++] = (struct import_part_values){ .id = ++im->last_charge, .run = im->last_run,
		.seq = w->seq++, .kind = kind, .project = w->r->project, .from = from, .end = end,
		.gpus = w->piece->gpus, .price = w->piece->price, .units = units,
		.tres = strcmp(w->piece->tres, w->tres) != 0 ? w->piece->tres : NULL,
		.dated = booked_at(im, kind, from) };
	w->out->units += units;
	return 0;
}

static int part_charge(struct writing *w, int64_t from, int64_t end, struct fault *why)
{
	amount_t price = w->piece->price;
	struct path path;
	int64_t paid;

	if (path_load(w->l, w->r->project, w->im->now, &path, why) < 0)
		return -1;
	paid = paid_seconds(&path, end - from, price, end);
	assert(paid >= 0 && paid <= end - from);
	if (paid > 0 && (part_add(w, "funded", from, from + paid, paid * price, why) < 0 ||
		import_rows_write(w->l, w->im, why) < 0))
		return -1;
	for (int i = 0; paid > 0 && i < path.depth; i++)
		if (path.nodes[i].budget.metered &&
			pay_at_node(w, &path.nodes[i], paid * price, end, w->im->last_charge, why) < 0)
			return -1;
	w->out->unpaid += (end - from - paid) * price;
	return from + paid < end ? part_add(w, "uncovered", from + paid, end, 0, why) : 0;
}

static int part_write(struct writing *w, int64_t from, int64_t end, struct fault *why)
{
	w->out->gpu_seconds += w->piece->gpus * (end - from);
	if (w->r->tier == TIER_FREE)
		return part_add(w, "free", from, end, 0, why);
	if (w->im->charge)
		return part_charge(w, from, end, why);
	return part_add(w, "imported", from, end, w->piece->price * (end - from), why);
}

/* A piece is split at the months' edges, as every run is, and where its suspended seconds begin. */
static int piece_write(struct writing *w, struct fault *why)
{
	int64_t ran_to = w->piece->end - w->piece->suspended_s;

	for (int64_t from = w->piece->from, month, edge; from < w->piece->end; from = edge) {
		zone_utc_month(from, &month, &edge);
		if (from < ran_to && edge > ran_to)
			edge = ran_to;
		if (edge > w->piece->end)
			edge = w->piece->end;
		if ((from < ran_to ? part_write(w, from, edge, why)
			: part_add(w, "suspended", from, edge, 0, why)) < 0)
			return -1;
	}
	return 0;
}

/* --- runs --------------------------------------------------------------------------------------- */

/* Pieces `first` to `last`, which follow each other without a gap, as one run that has ended. */
static int run_add(struct writing *w, int first, int last, struct fault *why)
{
	const struct import_run *r = w->r;
	const struct import_piece *a = &r->pieces[first], *z = &r->pieces[last];
	struct import *im = w->im;
	struct import_run_values *grown = one_more(im->runs, im->nruns, &im->runs_room, sizeof(*grown), why);

	if (!grown)
		return -1;
	im->runs = grown;
	if (import_begin(w->l, im, why) < 0)
		return -1;
	grown[im->nruns++] = (struct import_run_values){ .id = ++im->last_run, .cluster = r->cluster,
		.job = r->job, .submit = a->submit, .start = a->from, .label = r->label,
		.partition = r->partition, .project = r->project, .uid = r->uid,
		.tier = job_tier_name(r->tier), .gpus = z->gpus, .tres = z->tres, .price = z->price,
		.end = z->end, .state = r->state };
	w->seq = 0;
	w->tres = z->tres;
	for (int i = first; i <= last; i++) {
		w->piece = &r->pieces[i];
		if (piece_write(w, why) < 0)
			return -1;
	}
	w->out->runs++;
	return 0;
}

/* Which pieces the books have already, and of which they have only the beginning. */
static int look_up(struct ledger *l, struct import *im, const struct import_run *r,
	bool known[IMPORT_PIECES_MAX], int64_t booked_to[IMPORT_PIECES_MAX], struct fault *why)
{
	if (import_rows_write(l, im, why) < 0)
		return -1;
	for (int i = 0; i < r->npieces; i++) {
		int64_t to = 0;
		int rc = piece_known(l, r, &r->pieces[i], &to, why);

		if (rc < 0)
			return -1;
		known[i] = rc;
		if (rc && to < r->pieces[i].end)
			booked_to[i] = to;
	}
	return 0;
}

/* The same row twice: the first one counts, whatever the other says. */
static void look_beside(const struct import_run *r, bool known[IMPORT_PIECES_MAX],
	int64_t booked_to[IMPORT_PIECES_MAX])
{
	for (int i = 1; i < r->npieces; i++) {
		const struct import_piece *a = &r->pieces[i - 1], *b = &r->pieces[i];

		if (known[i] || a->submit != b->submit || a->from != b->from)
			continue;
		known[i] = true;
		if (a->end != b->end)
			booked_to[i] = a->end;
	}
}

int import_add(struct ledger *l, struct import *im, const struct import_run *r, struct import_result *out,
	int64_t booked_to[IMPORT_PIECES_MAX], struct fault *why)
{
	struct writing w = { .l = l, .im = im, .r = r, .out = out };
	bool known[IMPORT_PIECES_MAX] = {0};
	int last;

	memset(booked_to, 0, sizeof(*booked_to) * IMPORT_PIECES_MAX);
	if (may_be_known(im, r) && look_up(l, im, r, known, booked_to, why) < 0)
		return -1;
	look_beside(r, known, booked_to);
	for (int first = 0; first < r->npieces; first = last + 1) {
		last = first;
		out->known += known[first] && !booked_to[first];
		if (known[first])
			continue;
		while (last + 1 < r->npieces && !known[last + 1] &&
			r->pieces[last + 1].from == r->pieces[last].end)
			last++;
		if (run_add(&w, first, last, why) < 0)
			return -1;
	}
	im->lowest = r->job < im->lowest ? r->job : im->lowest;
	im->highest = r->job > im->highest ? r->job : im->highest;
	return 0;
}

int import_end(struct ledger *l, struct import *im, struct fault *why)
{
	static const char end_sql[] =
		"UPDATE import SET first_run = ?, last_run = ?, first_charge = ?, last_charge = ?, hash = ? WHERE id = ?";
	uint8_t hash[CHAIN_HASH_BYTES];
	sqlite3_stmt *st;

	if (!im->id)
		return 0;
	if (import_rows_write(l, im, why) < 0)
		return -1;
	chain_import_hash(im->runs_hash, im->parts_hash, hash);
	st = sql_bind(l, end_sql, why, "iiii", im->first_run, im->last_run, im->first_charge,
		im->last_charge);
	if (!st)
		return -1;
	sqlite3_bind_blob(st, 5, hash, sizeof(hash), SQLITE_TRANSIENT);
	sqlite3_bind_int64(st, 6, im->id);
	return sql_step(l, st, why);
}
