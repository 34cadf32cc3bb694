/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_import_rows.c - rows of an import, many by one statement (ledger_import_rows.h). */
#include "budgetd/ledger_import_rows.h"
#include "budgetd/ledger_sql.h"
#include "books/chain.h"

#define FIVE_TIMES(row) row ", " row ", " row ", " row ", " row
#define ROWS_AT_ONCE 25
#define RUN_VALUES "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
#define RUN_INSERT \
	"INSERT INTO run (id, cluster, job, submit, start, label, admission, project, uid, partition, tier, min_runtime, gpus, tres," \
	" price, covered_until, free_since, ended, state, lost_at, import) VALUES "
#define PART_VALUES "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
#define PART_INSERT \
	"INSERT INTO charge (id, run, seq, kind, project, at, part_start, part_end, gpus, price, units, dated, ends_run," \
	" tres) VALUES "

/* Where the next value goes: into a statement, and into the hash over what is written, in the order of the
 * table. NULLs at the end are not hashed. */
struct place {
	sqlite3_stmt *st;
	int at, nulls;
	struct chain_rows *hash;
};

static struct chain_rows *hash_for_a_value(struct place *p)
{
	for (; p->nulls > 0; p->nulls--)
		chain_rows_null(p->hash);
	return p->hash;
}

static void put_number(struct place *p, int64_t n)
{
	sqlite3_bind_int64(p->st, ++p->at, n);
	chain_rows_integer(hash_for_a_value(p), n);
}

static void put_string(struct place *p, const char *text)
{
	sqlite3_bind_text(p->st, ++p->at, text, -1, SQLITE_STATIC);
	chain_rows_text(hash_for_a_value(p), text);
}

static void put_null(struct place *p)
{
	sqlite3_bind_null(p->st, ++p->at);
	p->nulls++;
}

static void put_end(struct place *p)
{
	p->nulls = 0;
	chain_rows_end(p->hash);
}

static void run_put(struct place *p, const struct import *im, const struct import_run_values *v)
{
	put_number(p, v->id);
	put_string(p, v->cluster);
	put_number(p, v->job);
	put_number(p, v->submit);
	put_number(p, v->start);
	put_string(p, v->label);
	put_null(p);			/* admission */
	put_number(p, v->project);
	put_number(p, v->uid);
	put_string(p, v->partition);
	put_string(p, v->tier);
	put_number(p, 0);		/* min_runtime */
	put_number(p, v->gpus);
	put_string(p, v->tres);
	put_number(p, v->price);
	put_number(p, v->start);	/* covered_until: it had no hold */
	put_null(p);			/* free_since */
	put_number(p, v->end);
	put_string(p, v->state);
	put_null(p);			/* lost_at */
	put_number(p, im->id);
	put_end(p);
}

static void part_put(struct place *p, const struct import *im, const struct import_part_values *v)
{
	put_number(p, v->id);
	put_number(p, v->run);
	put_number(p, v->seq);
	put_string(p, v->kind);
	put_number(p, v->project);
	put_number(p, im->now);
	put_number(p, v->from);
	put_number(p, v->end);
	put_number(p, v->gpus);
	put_number(p, v->price);
	put_number(p, v->units);
	if (v->dated != im->now)
		put_number(p, v->dated);
	else
		put_null(p);
	put_null(p);			/* ends_run */
	if (v->tres)
		put_string(p, v->tres);
	else
		put_null(p);
	put_end(p);
}

static int runs_write(struct ledger *l, struct import *im, struct fault *why)
{
	static const char many_sql[] = RUN_INSERT FIVE_TIMES(FIVE_TIMES(RUN_VALUES)),
		one_sql[] = RUN_INSERT RUN_VALUES;

	for (size_t done = 0, n; done < im->nruns; done += n) {
		struct place p = { .hash = im->runs_hash };

		n = im->nruns - done >= ROWS_AT_ONCE ? ROWS_AT_ONCE : 1;
		p.st = sql_bind(l, n > 1 ? many_sql : one_sql, why, "");
		for (size_t i = 0; p.st && i < n; i++)
			run_put(&p, im, &im->runs[done + i]);
		if (!p.st || sql_step(l, p.st, why) < 0)
			return -1;
	}
	im->nruns = 0;
	return 0;
}

static int parts_write(struct ledger *l, struct import *im, struct fault *why)
{
	static const char many_sql[] = PART_INSERT FIVE_TIMES(FIVE_TIMES(PART_VALUES)),
		one_sql[] = PART_INSERT PART_VALUES;

	for (size_t done = 0, n; done < im->nparts; done += n) {
		struct place p = { .hash = im->parts_hash };

		n = im->nparts - done >= ROWS_AT_ONCE ? ROWS_AT_ONCE : 1;
		p.st = sql_bind(l, n > 1 ? many_sql : one_sql, why, "");
		for (size_t i = 0; p.st && i < n; i++)
			part_put(&p, im, &im->parts[done + i]);
		if (!p.st || sql_step(l, p.st, why) < 0)
			return -1;
	}
	im->nparts = 0;
	return 0;
}

/* A part refers to its run: runs first. */
int import_rows_write(struct ledger *l, struct import *im, struct fault *why)
{
	return runs_write(l, im, why) < 0 ? -1 : parts_write(l, im, why);
}
