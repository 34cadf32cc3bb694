/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_imports.c - rows of Slurm's accounting, a batch a call.
 *
 * A batch is one transaction: an import that is cut off leaves whole batches, and said again it goes on where
 * it was. It holds the writer for some 10 us a row, so that ROWS_MAX bounds how long a submission waits for
 * it. A row that cannot be taken is set aside with its line and the reason, the others are written. */
#include "budgetd/cluster_state.h"
#include "budgetd/http_money.h"
#include "budgetd/ledger_import.h"
#include "budgetd/people.h"
#include "budgetd/rates.h"
#include "lib/sacct.h"
#include "lib/tres.h"
#include "lib/zone.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 1000

/* One row as it came. */
struct row {
	int64_t line, job, uid, submit, start, end, suspended;
	const char *cluster, *label, *account, *partition, *qos, *state, *tres;
};

/* All rows are one text, a line each, its values in this order with tabs between them: as JSON values of
 * their own they would cost half of the time. */
static const struct row_column {
	const char *name;
	bool number;
	size_t at;
	int64_t max;		/* of a number; of a text: bytes */
} row_columns[] = {
	{ "line", true, offsetof(struct row, line), INT64_MAX / 4 },
	{ "cluster", false, offsetof(struct row, cluster), 63 },
	{ "job", true, offsetof(struct row, job), UINT32_MAX },
	{ "label", false, offsetof(struct row, label), 63 },
	{ "account", false, offsetof(struct row, account), 1024 },
	{ "uid", true, offsetof(struct row, uid), UINT32_MAX },
	{ "partition", false, offsetof(struct row, partition), 63 },
	{ "qos", false, offsetof(struct row, qos), 1024 },
	{ "submit", true, offsetof(struct row, submit), INT64_MAX / 4 },
	{ "start", true, offsetof(struct row, start), INT64_MAX / 4 },
	{ "end", true, offsetof(struct row, end), INT64_MAX / 4 },
	{ "state", false, offsetof(struct row, state), 31 },
	{ "tres", false, offsetof(struct row, tres), 511 },
	{ "suspended", true, offsetof(struct row, suspended), INT64_MAX / 4 },
};

#define ROW_COLUMNS (sizeof(row_columns) / sizeof(row_columns[0]))

/* What the batch came to at one account. */
struct account {
	char name[PROJECT_NAME_MAX];
	int64_t project;	/* 0 = there is none */
	struct import_result sum;
};

struct batch {
	struct request *rq;
	struct import import;
	char actor[PERSON_NAME_MAX], cluster[SLURM_CLUSTER_MAX];
	struct json_object *aside;
	struct account *accounts;
	size_t naccounts, room;
	int64_t without_gpus;
};

/* --- reading ------------------------------------------------------------------------------------ */

/* Digits alone, up to `max`. */
static int number_read(const char *text, int64_t max, int64_t *out)
{
	int64_t n = 0;

	if (!*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || n > (max - (*text - '0')) / 10)
			return -1;
		n = 10 * n + (*text - '0');
	}
	*out = n;
	return 0;
}

static int column_read(const char *text, const struct row_column *c, struct row *out, struct fault *why)
{
	void *to = (char *)out + c->at;

	if (c->number && number_read(text, c->max, to) < 0)
		return fault_errno(why, EINVAL, "\"%s\" must be a number from 0 to %jd, not \"%.40s\"",
			c->name, (intmax_t)c->max, text);
	if (!c->number && strlen(text) > (size_t)c->max)
		return fault_errno(why, EINVAL, "\"%s\" has %zu bytes, at most %jd are taken", c->name,
			strlen(text), (intmax_t)c->max);
	if (!c->number)
		memcpy(to, &text, sizeof(text));
	return 0;
}

/* `text` is cut into its values. */
static int row_read(char *text, size_t index, struct row *out, struct fault *why)
{
	struct fault what = {0};
	size_t n = 0;

	for (char *value = text, *next; value; value = next, n++) {
		next = strchr(value, '\t');
		if (next)
			*next++ = '\0';
		if (n < ROW_COLUMNS && column_read(value, &row_columns[n], out, &what) < 0)
			return fault_errno(why, EINVAL, "row %zu: %s", index, what.text);
	}
	return n == ROW_COLUMNS ? 0
		: fault_errno(why, EINVAL, "row %zu has %zu values, not %zu", index, n, ROW_COLUMNS);
}

/* The rows of a call, and their texts in one block. */
struct rows {
	size_t count;
	struct row *row;
	char *text;
};

static void rows_free(struct rows *r)
{
	free(r->row);
	free(r->text);
}

/* A newline at the end begins no further one. */
static size_t lines_count(const char *text)
{
	size_t count = *text != '\0';

	while ((text = strchr(text, '\n')))
		count += *++text != '\0';
	return count;
}

static int rows_read(const char *text, struct rows *out, struct fault *why)
{
	size_t count = lines_count(text);
	char *at;

	if (count > ROWS_MAX)
		return fault_errno(why, EINVAL, "\"rows\" has %zu rows, at most %d are taken", count,
			ROWS_MAX);
	*out = (struct rows){ count, calloc(count + 1, sizeof(struct row)), strdup(text) };
	if (!out->row || !out->text)
		return fault_errno(why, ENOMEM, "out of memory");
	at = out->text;
	for (size_t i = 0; i < count; i++)
		if (row_read(strsep(&at, "\n"), i, &out->row[i], why) < 0)
			return -1;
	return 0;
}

/* --- accounts ----------------------------------------------------------------------------------- */

static struct account *account_new(struct batch *b, struct fault *why)
{
	size_t room = b->room ? 2 * b->room : 16;
	struct account *grown;

	if (b->naccounts == b->room) {
		grown = reallocarray(b->accounts, room, sizeof(*grown));
		if (!grown) {
			fault_errno(why, ENOMEM, "out of memory");
			return NULL;
		}
		b->accounts = grown;
		b->room = room;
	}
	b->accounts[b->naccounts] = (struct account){0};
	return &b->accounts[b->naccounts++];
}

/* NULL: no memory, no database. One that is no project has 0; a name that no project can have is none,
 * too. */
static struct account *account_of(struct batch *b, const char *name, struct fault *why)
{
	char normal[PROJECT_NAME_MAX] = "";
	struct project p = {0};
	struct fault what = {0};
	struct account *a;

	if (project_name_normal(name, normal, NULL) < 0)
		normal[0] = '\0';
	for (size_t i = 0; i < b->naccounts; i++)
		if (strcmp(b->accounts[i].name, normal) == 0)
			return &b->accounts[i];
	if (normal[0] && project_find(b->rq->b->ledger, normal, &p, &what) < 0) {
		fault_set(why, "%s", what.text);
		return NULL;
	}
	a = account_new(b, why);
	if (a) {
		memcpy(a->name, normal, sizeof(a->name));
		a->project = p.id;
	}
	return a;
}

/* --- rows to runs ------------------------------------------------------------------------------- */

static int set_aside(struct batch *b, const struct row *row, const struct fault *reason)
{
	struct json_object *o = json_object_new_object();

	put_int(o, "line", row->line);
	put_text(o, "reason", reason->text);
	return json_object_array_add(b->aside, o);
}

static int64_t begins(const struct row *row)
{
	return row->start > row->submit ? row->start : row->submit;
}

/* Are they pieces of one run? */
static bool is_same_run(const struct row *a, const struct row *b)
{
	return a->job == b->job && a->start == b->start && strcmp(a->cluster, b->cluster) == 0 &&
		strcmp(a->account, b->account) == 0;
}

/* 1 = the piece costs something, 0 = nothing; -1 = it is to be set aside. */
static int piece_read(struct batch *b, const struct row *row, struct import_piece *out, struct fault *reason)
{
	struct gpu_count gpus;
	amount_t units;

	bool costs = b->rq->b->settings->charge_suspended != SUSPENDED_NOT_CHARGED;

	*out = (struct import_piece){ .submit = row->submit, .from = begins(row), .end = row->end,
		.tres = row->tres };
	if (out->end < out->from)
		return fault_set(reason, "it ends before it begins");
	if (!costs && row->suspended > out->end - row->start)
		return fault_set(reason, "it was suspended for %jd s, and lasted %jd s from its start to its end",
			(intmax_t)row->suspended, (intmax_t)(out->end - row->start));
	if (!costs)	/* of a resized job it may be that of the pieces before, too */
		out->suspended_s = row->suspended < out->end - out->from ? row->suspended
			: out->end - out->from;
	if (sacct_ends_in_future(row->end, b->rq->now))
		return fault_set(reason, SACCT_IN_FUTURE);
	if (tres_read(row->tres, &gpus, reason) < 0)
		return -1;
	out->gpus = gpus.total;
	if (rates_price(b->rq->b->rates, &gpus, row->start, &out->price) < 0 ||
		amount_price(1, out->end - out->from, out->price, &units) < 0 ||
		units > IMPORT_UNITS_MAX / IMPORT_PIECES_MAX)
		return fault_set(reason, "it would cost more than can be counted");
	return out->price > 0;
}

/* What is wrong with a run as a whole. 0, or -1 and the reason. */
static int run_check(struct batch *b, const struct row *first, const struct row *last,
	const struct account *a, struct fault *reason)
{
	if (b->cluster[0] && first->cluster[0] && strcmp(first->cluster, b->cluster))
		return fault_set(reason, "it ran on cluster %s; these are the books of %s", first->cluster,
			b->cluster);
	if (!a->project)
		return fault_set(reason, "there is no project %.63s; budgetctl project add makes it",
			first->account);
	if (strncmp(last->state, "RESIZ", 5) == 0)
		return fault_set(reason,
			"its job was resized, and the row of what followed is not next to it: it may still run");
	return 0;
}

static int aside_all(struct batch *b, const struct row *rows, size_t n, const struct fault *reason)
{
	for (size_t i = 0; i < n; i++)
		if (set_aside(b, &rows[i], reason) < 0)
			return -1;
	return 0;
}

static void run_describe(struct batch *b, const struct row *first, const struct row *last,
	const struct account *a, struct import_run *r)
{
	const char *qos_free = b->rq->b->settings->qos_free;

	r->cluster = first->cluster[0] ? first->cluster : b->cluster;
	r->label = first->label;
	r->partition = first->partition;
	r->state = last->state;
	r->job = first->job;
	r->start = first->start;
	r->project = a->project;
	r->uid = first->uid;
	r->tier = strcmp(last->qos, qos_free) == 0 ? TIER_FREE : TIER_FUNDED;
	r->npieces = 0;
}

/* What is in the books stays as it is; what slurmdbd says now is for `check` to find out. */
static int aside_other_ends(struct batch *b, const struct import_run *r, const struct row *const of[],
	const int64_t booked_to[])
{
	for (int i = 0; i < r->npieces; i++) {
		char has[ZONE_TEXT_MAX], says[ZONE_TEXT_MAX];
		struct fault reason = {0};

		if (!booked_to[i])
			continue;
		fault_set(&reason, "it ends at %s here, and the same run is in the books up to %s: that stays. If slurmdbd "
			"says the same as this row, budgetctl check --job=%jd --repair corrects it",
			zone_utc_text(of[i]->end, says), zone_utc_text(booked_to[i], has), (intmax_t)r->job);
		if (set_aside(b, of[i], &reason) < 0)
			return -1;
	}
	return 0;
}

/* Rows that are one run. */
static int run_add(struct batch *b, const struct row *rows, size_t n, struct fault *why)
{
	struct account *a = account_of(b, rows[0].account, why);
	struct fault reason = {0};
	const struct row *of[IMPORT_PIECES_MAX];
	int64_t booked_to[IMPORT_PIECES_MAX];
	struct import_run r;

	if (!a)
		return -1;
	if (run_check(b, &rows[0], &rows[n - 1], a, &reason) < 0)
		return aside_all(b, rows, n, &reason);
	run_describe(b, &rows[0], &rows[n - 1], a, &r);
	for (size_t i = 0; i < n; i++) {
		struct fault what = {0};
		int rc = piece_read(b, &rows[i], &r.pieces[r.npieces], &what);

		if (rc < 0 && set_aside(b, &rows[i], &what) < 0)
			return -1;
		of[r.npieces] = &rows[i];
		r.npieces += rc > 0;
		b->without_gpus += rc == 0;
	}
	if (import_add(b->rq->b->ledger, &b->import, &r, &a->sum, booked_to, why) < 0)
		return -1;
	return aside_other_ends(b, &r, of, booked_to);
}

/* Most files have one cluster, and jobs in the order of their ids. */
static int expect(struct batch *b, const struct row *rows, size_t count, struct fault *why)
{
	const char *cluster = count && rows[0].cluster[0] ? rows[0].cluster : b->cluster;
	int64_t first = INT64_MAX, last = 0;

	for (size_t i = 0; i < count; i++) {
		first = rows[i].job < first ? rows[i].job : first;
		last = rows[i].job > last ? rows[i].job : last;
	}
	return import_expect(b->rq->b->ledger, &b->import, cluster, first, last, why);
}

static int rows_add(struct batch *b, const struct row *rows, size_t count, struct fault *why)
{
	if (expect(b, rows, count, why) < 0)
		return -1;
	for (size_t i = 0, n; i < count; i += n) {
		for (n = 1; i + n < count && n < IMPORT_PIECES_MAX && is_same_run(&rows[i], &rows[i + n]);
			n++)
			;
		if (run_add(b, &rows[i], n, why) < 0)
			return -1;
	}
	return import_end(b->rq->b->ledger, &b->import, why);
}

/* --- the answer --------------------------------------------------------------------------------- */

static void answer(struct batch *b)
{
	struct json_object *o = json_object_new_object(), *projects = json_object_new_array();
	int64_t runs = 0, known = 0;

	for (size_t i = 0; i < b->naccounts; i++) {
		const struct import_result *sum = &b->accounts[i].sum;
		struct json_object *p = sum->runs ? json_object_new_object() : NULL;

		runs += sum->runs;
		known += sum->known;
		if (!p)
			continue;
		put_text(p, "project", b->accounts[i].name);
		put_int(p, "runs", sum->runs);
		put_int(p, "gpu_seconds", sum->gpu_seconds);
		put_int(p, "units", sum->units);
		put_int(p, "unpaid_units", sum->unpaid);
		json_object_array_add(projects, p);
	}
	put_int(o, "runs", runs);
	put_int(o, "rows_known", known);
	put_int(o, "rows_without_gpus", b->without_gpus);
	json_object_object_add(o, "rows_set_aside", json_object_get(b->aside));
	json_object_object_add(o, "projects", projects);
	b->rq->reply = o;
}

/* --- the call ----------------------------------------------------------------------------------- */

/* A row without a cluster is of this one, whose name slurmctld tells. */
static int clusters_check(const struct batch *b, const struct row *rows, size_t count, struct fault *why)
{
	for (size_t i = 0; i < count && !b->cluster[0]; i++)
		if (!rows[i].cluster[0])
			return fault_errno(why, EAGAIN,
				"slurmctld was not seen yet, and nothing else tells on which cluster these jobs ran; "
				"start it, or print the column Cluster");
	return 0;
}

static int import_batch(struct batch *b, const char *text, struct fault *why)
{
	struct rows rows = {0};
	int rv = rows_read(text, &rows, why);

	if (rv == 0)
		rv = clusters_check(b, rows.row, rows.count, why);
	if (rv == 0)
		rv = rows_add(b, rows.row, rows.count, why);
	if (rv == 0)
		answer(b);
	rows_free(&rows);
	return rv;
}

static int import_rows(struct request *rq, struct fault *why)
{
	struct batch b = { .rq = rq, .import = { .now = rq->now } };
	struct cluster_health seen;
	const char *text = NULL;
	int rv = body_text(rq, "rows", &text, why);

	if (rv == 0)
		return fault_errno(why, EINVAL, "\"rows\" is needed: a text with a row on each line");
	if (rv < 0 || body_flag(rq, "charge", &b.import.charge, why) < 0)
		return -1;
	cluster_state_health(rq->b->cluster, &seen);
	memcpy(b.cluster, seen.cluster, sizeof(b.cluster));
	b.import.actor = people_name(rq->b->people, rq->uid, rq->now, b.actor);
	b.aside = json_object_new_array();
	rv = b.aside ? import_batch(&b, text, why) : fault_errno(why, ENOMEM, "out of memory");
	json_object_put(b.aside);
	import_free(&b.import);
	free(b.accounts);
	return rv;
}

/* What is only counted may be lost with the power before the last batch: the same import puts it back. That
 * one waits for the disk, and with it all that was written before. */
int import_post(struct request *rq, struct fault *why)
{
	bool more = false, charge = false;

	if (body_flag(rq, "more", &more, why) < 0 || body_flag(rq, "charge", &charge, why) < 0)
		return -1;
	return money_write_lasting(rq, more && !charge ? LEDGER_HOLDS : LEDGER_MONEY, import_rows, why);
}
