/* SPDX-License-Identifier: GPL-2.0-or-later
 * books.c - stories about money on a real database file. */
#include "tests/unit/books.h"
#include "books/audit.h"
#include "budgetd/log.h"
#include "budgetd/occupancy.h"
#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In place of budgetd/log.c: nobody reads it here. */
int books_warnings;

void log_warning(const char *fmt, ...)
{
	(void)fmt;
	books_warnings++;
}

/* --- the invariants ----------------------------------------------------------------------------- */

/* No project of these stories moves in the tree, so that more is known of them than `verify` can know. */
static const char draws_up_the_tree[] =
	"WITH RECURSIVE up(hold, project) AS (SELECT id, project FROM hold WHERE closed_at IS NULL"
	" UNION ALL SELECT up.hold, p.parent FROM up JOIN project p ON p.id = up.project WHERE p.parent IS NOT NULL)"
	"SELECT count(*) FROM up JOIN hold h ON h.id = up.hold JOIN admission s ON s.id = h.admission"
	" WHERE EXISTS (SELECT 1 FROM allocation a WHERE a.project = up.project AND a.created_at <= min(s.at, h.opened_at))"
	" AND NOT (SELECT unmetered FROM project u WHERE u.id = up.project)"
	" AND h.units <> (SELECT coalesce(sum(d.units), 0) FROM hold_draw d JOIN allocation a ON a.id = d.allocation"
	" WHERE d.hold = h.id AND a.project = up.project)";

/* No step changes tables; building a schema to compare with takes as long as all that is about rows. */
static bool about_rows(const struct audit_check *c)
{
	return strcmp(c->id, "schema") != 0;
}

void ledger_invariants(struct books *b)
{
	struct fault wrong = {0};

	ck_assert_int_eq(sqlite3_exec(b->look, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
	for (size_t i = 0; i < audit_check_count; i++)
		ck_assert_msg(!about_rows(&audit_checks[i]) ||
			audit_make(b->look, &audit_checks[i], &wrong) == 0, "the books are not sound: %s: %s",
			audit_checks[i].id, wrong.text);
	ck_assert_msg(books_ask(b, draws_up_the_tree) == 0,
		"an open hold does not draw on every metered project of its path");
	ck_assert_int_eq(sqlite3_exec(b->look, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
}

int64_t books_ask(struct books *b, const char *fmt, ...)
{
	sqlite3_stmt *st = NULL;
	int64_t value;
	va_list ap;
	char *sql;

	va_start(ap, fmt);
	sql = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	ck_assert_msg(sqlite3_prepare_v2(b->look, sql, -1, &st, NULL) == SQLITE_OK &&
		sqlite3_step(st) == SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(b->look));
	value = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_free(sql);
	return value;
}

const char *books_try(struct books *b, const char *sql)
{
	return sqlite3_exec(b->look, sql, NULL, NULL, NULL) == SQLITE_OK ? NULL : sqlite3_errmsg(b->look);
}

/* --- the file ----------------------------------------------------------------------------------- */

void books_open(struct books *b)
{
	const char *tmp = getenv("TMPDIR");

	*b = (struct books){0};
	snprintf(b->folder, sizeof(b->folder), "%.40s/books-XXXXXX",
		tmp && *tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(b->folder));
	snprintf(b->path, sizeof(b->path), "%s/ledger.db", b->folder);
	ck_assert_msg(ledger_create(b->path, &b->why) == 0 && ledger_open(b->path, &b->l, &b->why) == 0, "%s",
		b->why.text);
	ck_assert_int_eq(sqlite3_open_v2(b->path, &b->look, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	sqlite3_busy_timeout(b->look, 10000);
	ck_assert_msg(audit_prepare(b->look, &b->why) == 0, "%s", b->why.text);
}

void books_close(struct books *b)
{
	static const char *const files[] = { "", "-wal", "-shm" };
	char name[128];

	sqlite3_close(b->look);
	ledger_close(b->l);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", b->path, files[i]);
		unlink(name);
	}
	rmdir(b->folder);
}

int books_do(struct books *b, enum ledger_durability d, books_step step, void *arg)
{
	b->why = (struct fault){0};
	if (ledger_begin(b->l, d, &b->why) < 0)
		return -1;
	int rc = step(b->l, arg, &b->why);

	if (rc < 0) {
		ledger_rollback(b->l);
		return -1;
	}
	return ledger_commit(b->l, &b->why) < 0 ? -1 : rc;
}

/* --- steps -------------------------------------------------------------------------------------- */

static int add_project(struct ledger *l, void *arg, struct fault *why)
{
	return project_add(l, arg, NOON, why);
}

int64_t books_project(struct books *b, const char *name, int64_t parent)
{
	struct project p = { .parent = parent, .share = 1 };

	snprintf(p.name, sizeof(p.name), "%s", name);
	ck_assert_msg(books_do(b, LEDGER_MONEY, add_project, &p) == 0, "%s", b->why.text);
	return p.id;
}

struct allotment {
	struct allocation a;
	amount_t units;
};

static int allot(struct ledger *l, void *arg, struct fault *why)
{
	struct allotment *x = arg;
	struct journal_entry e = { .at = NOON, .kind = "deposit", .units = x->units, .actor = "ada",
		.reason = "grant" };

	if (allocation_add(l, &x->a, NOON, why) < 0)
		return -1;
	e.allocation = x->a.id;
	return journal_post(l, &e, why);
}

int64_t books_allot(struct books *b, int64_t project, amount_t units, int64_t starts, int64_t ends)
{
	struct allotment x = { .a = { .project = project, .starts = starts, .ends = ends }, .units = units };

	ck_assert_msg(books_do(b, LEDGER_MONEY, allot, &x) == 0, "%s", b->why.text);
	ledger_invariants(b);
	return x.a.id;
}

static int deposit(struct ledger *l, void *arg, struct fault *why)
{
	return journal_post(l, arg, why);
}

int books_deposit(struct books *b, int64_t allocation, amount_t units, const char *request_id)
{
	struct journal_entry e = { .at = NOON, .kind = "deposit", .allocation = allocation, .units = units,
		.actor = "ada" };

	snprintf(e.request_id, sizeof(e.request_id), "%s", request_id);
	return books_do(b, LEDGER_MONEY, deposit, &e);
}

#define NOBODY (-1)		/* a user without a cap */

static int tightest(struct ledger *l, int64_t project, int64_t uid, int64_t now, struct path *p,
	amount_t *available, struct fault *why)
{
	struct budget_node nodes[BUDGET_DEPTH_MAX];
	int i;

	if (path_load_for(l, project, uid, now, p, why) < 0)
		return -1;
	path_budgets(p, nodes);
	i = budget_tightest(nodes, p->depth);
	*available = i < 0 ? AMOUNT_UNBOUNDED : budget_available(&nodes[i]);
	return 0;
}

static int submit(struct ledger *l, void *arg, struct fault *why)
{
	struct submission *s = arg;
	amount_t available, per_task = s->gpus * s->min_runtime_s * AMOUNT_RATE_ONE;
	struct admission_row a = { .at = s->now, .uid = s->uid, .project = s->project, .tier = TIER_FUNDED,
		.min_runtime_s = s->min_runtime_s, .gpus = s->gpus, .tasks = s->tasks, .per_task = per_task,
		.request = "{}" };
	struct hold_row h = { .project = s->project, .tasks = s->tasks, .units = per_task * s->tasks,
		.opened_at = s->now };
	struct path p;

	if (tightest(l, s->project, s->uid, s->now, &p, &available, why) < 0)
		return -1;
	if (available < h.units)
		return 1;
	sqlite3_snprintf(sizeof(a.token), a.token, "gpubudget:%lld", (long long)random());
	if (admission_add(l, &a, why) < 0)
		return -1;
	h.admission = a.id;
	s->admission = a;
	return hold_open(l, &p, &h, why);
}

int books_submit(struct books *b, struct submission *s)
{
	int rc;

	s->now = s->now ? s->now : NOON;
	s->tasks = s->tasks ? s->tasks : 1;
	s->uid = s->uid ? s->uid : 1000;
	rc = books_do(b, LEDGER_HOLDS, submit, s);
	ledger_invariants(b);
	return rc;
}

struct starting {
	const struct submission *s;
	struct run *run;
};

static int start_run(struct ledger *l, void *arg, struct fault *why)
{
	struct starting *x = arg;
	struct hold_row pool, h;
	int rc = run_open(l, x->run, why);

	if (rc != 0)
		return rc;
	if (hold_pool(l, x->s->admission.id, &pool, why) != 1 ||
		hold_take_task(l, &pool, x->run->id, x->run->start, &h, why) < 0)
		return -1;
	x->run->covered_until = x->run->start + h.units / x->run->price;
	return run_update(l, x->run, why);
}

void books_start(struct books *b, const struct submission *s, int64_t job, int64_t start, struct run *out)
{
	struct starting x = { s, out };

	*out = (struct run){ .cluster = "c", .job = job, .submit = s->now, .start = start, .label = "job",
		.partition = "gpu", .admission = s->admission.id, .project = s->project, .uid = s->uid,
		.tier = TIER_FUNDED, .min_runtime_s = s->min_runtime_s, .gpus = s->gpus, .tres = "gres/gpu=1",
		.price = s->gpus * AMOUNT_RATE_ONE, .covered_until = start };
	ck_assert_msg(books_do(b, LEDGER_HOLDS, start_run, &x) >= 0, "%s", b->why.text);
	ledger_invariants(b);
}

struct extension {
	struct run *run;
	int64_t seconds, now;
};

static int extend(struct ledger *l, void *arg, struct fault *why)
{
	struct extension *x = arg;
	struct hold_row h;
	struct path p;
	amount_t available;
	bool fits;

	if (hold_of_run(l, x->run->id, &h, why) != 1 ||
		tightest(l, x->run->project, x->run->uid, x->now, &p, &available, why) < 0)
		return -1;
	fits = available >= x->seconds * x->run->price;
	if (fits) {
		x->run->covered_until += x->seconds;
		if (hold_grow(l, &p, &h, x->seconds * x->run->price, why) < 0)
			return -1;
	} else {
		x->run->free_since = x->run->covered_until;
	}
	return run_update(l, x->run, why) < 0 ? -1 : !fits;
}

int books_extend(struct books *b, struct run *r, int64_t seconds, int64_t now)
{
	struct extension x = { r, seconds, now };
	int rc = books_do(b, LEDGER_HOLDS, extend, &x);

	ledger_invariants(b);
	return rc == 0 ? 0 : -1;
}

struct ending {
	struct run *run;
	int64_t end;
};

static int end_run(struct ledger *l, void *arg, struct fault *why)
{
	struct ending *x = arg;

	return run_end(l, x->run, x->end, "COMPLETED", x->end, why);
}

int books_end(struct books *b, struct run *r, int64_t end)
{
	struct ending x = { r, end };
	int rc = books_do(b, LEDGER_MONEY, end_run, &x);

	ledger_invariants(b);
	return rc;
}

struct importing {
	const struct import_run *run;
	bool charge;
	struct import_result result;
	int64_t booked_to[IMPORT_PIECES_MAX];
};

static int import_run(struct ledger *l, void *arg, struct fault *why)
{
	struct importing *x = arg;
	struct import im = { .now = NOON, .actor = "ada", .charge = x->charge };
	int rc = import_expect(l, &im, x->run->cluster, x->run->job, x->run->job, why);

	if (rc == 0)
		rc = import_add(l, &im, x->run, &x->result, x->booked_to, why);
	if (rc == 0)
		rc = import_end(l, &im, why);
	import_free(&im);
	return rc;
}

struct import_result books_import(struct books *b, const struct import_run *r, bool charge)
{
	struct importing x = { .run = r, .charge = charge };

	ck_assert_msg(books_do(b, LEDGER_MONEY, import_run, &x) == 0, "%s", b->why.text);
	b->booked_to = x.booked_to[r->npieces - 1];
	ledger_invariants(b);
	return x.result;
}

struct looking {
	int64_t project, now;
	amount_t available;
};

static int look(struct ledger *l, void *arg, struct fault *why)
{
	struct looking *x = arg;
	struct path p;

	return tightest(l, x->project, NOBODY, x->now, &p, &x->available, why);
}

amount_t books_available(struct books *b, int64_t project, int64_t now)
{
	struct looking x = { project, now, 0 };

	ck_assert_msg(books_do(b, LEDGER_READ, look, &x) == 0, "%s", b->why.text);
	return x.available;
}

struct occupied {
	int64_t project, from;
	amount_t units;
};

static void keep_paid(int64_t project, int64_t uid, amount_t paid, amount_t unpaid, void *arg)
{
	struct occupied *x = arg;

	(void)uid;
	(void)unpaid;
	x->units += project == x->project ? paid : 0;
}

static int read_occupied(struct ledger *l, void *arg, struct fault *why)
{
	struct occupied *x = arg;
	struct occupancy *o = occupancy_new();
	int rc = occupancy_read(o, l, x->from, false, why);

	occupancy_walk(o, keep_paid, x);
	occupancy_free(o);
	return rc;
}

amount_t books_occupied(struct books *b, int64_t project, int64_t from)
{
	struct occupied x = { .project = project, .from = from };

	ck_assert_msg(books_do(b, LEDGER_READ, read_occupied, &x) == 0, "%s", b->why.text);
	return x.units;
}
