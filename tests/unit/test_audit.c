/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_audit.c - whoever changes the file behind budgetd's back is found out, and the row is named
 *
 * Every change is made as somebody would who knows SQL: the triggers that refuse are dropped first. It is
 * rolled back afterwards. */
#include "budgetd/ledger_change.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include "books/audit.h"
#include "books/chain.h"
#include <stdio.h>
#include <string.h>

static struct books b;

#define ADMITTED (NOON + 60)

static void submit(int64_t project, int64_t tasks, struct submission *out)
{
	*out = (struct submission){ .project = project, .gpus = 1, .min_runtime_s = HOUR, .tasks = tasks,
		.now = ADMITTED };
	ck_assert_int_eq(books_submit(&b, out), 0);
}

/* What administrators said, as it is kept. */
static int settings_said(struct ledger *l, void *arg, struct fault *why)
{
	struct project was = { .id = 2, .parent = 1, .share = 3 },
		is = { .id = 2, .parent = 1, .name = "vision", .share = 7 };
	struct allocation a = { .id = 2, .project = 2, .ends = NOON + 99 * HOUR },
		open = { .id = 2, .project = 2 }, added = { .id = 1, .project = 1 };
	struct change_words w = { .at = NOON, .actor = "ada" };

	(void)arg;
	return change_number(l, &w, &(struct change){ .project = 2, .what = "share" }, 1, 3, why) < 0 ||
		project_set(l, &is, why) < 0 || change_project(l, &w, &was, &is, why) < 0 ||
		change_allocation(l, &w, &a, &open, why) < 0 ||
		member_set(l, 2, "ada", ROLE_OWNER, why) < 0 ||
		change_role(l, &w, 2, "ada", ROLE_NOBODY, ROLE_OWNER, why) < 0 ||
		change_existence(l, &w, 1, true, why) < 0 ||
		change_allocation(l, &w, NULL, &added, why) < 0 ? -1 : 0;
}

/* lab (1) above vision (2), an allocation each. Run 1 ended in time, run 2 runs, admission 3 waits, run 3
 * outlived its hold, run 4 was imported. */
static void setup(void)
{
	int64_t lab, vision, allocation;
	struct import_run past = { .cluster = "c", .label = "14", .partition = "gpu", .state = "COMPLETED",
		.job = 14, .start = NOON - HOUR, .tier = TIER_FUNDED, .npieces = 1,
		.pieces = { { .submit = NOON - HOUR, .from = NOON - HOUR, .end = NOON, .gpus = 1,
		.price = AMOUNT_RATE_ONE, .tres = "gres/gpu=1" } } };
	struct submission s[4];
	struct run r;

	books_open(&b);
	lab = books_project(&b, "lab", 0);
	vision = past.project = books_project(&b, "vision", lab);
	books_allot(&b, lab, 100 * GPU_H, 0, 0);
	allocation = books_allot(&b, vision, 50 * GPU_H, 0, 0);
	ck_assert_int_eq(books_deposit(&b, allocation, GPU_H, "more"), 0);
	submit(vision, 1, &s[0]);
	books_start(&b, &s[0], 11, ADMITTED + 5, &r);
	ck_assert_int_eq(books_end(&b, &r, ADMITTED + 1805), 0);
	submit(vision, 1, &s[1]);
	books_start(&b, &s[1], 12, ADMITTED + 5, &r);
	submit(vision, 2, &s[2]);
	submit(vision, 1, &s[3]);
	books_start(&b, &s[3], 13, ADMITTED + 5, &r);
	ck_assert_int_eq(books_end(&b, &r, ADMITTED + 5 + 2 * HOUR), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, settings_said, NULL), 0);
	books_import(&b, &past, false);
	ledger_invariants(&b);
}

static void teardown(void)
{
	books_close(&b);
}

/* --- changing what is there --------------------------------------------------------------------- */

static void begin_tampering(void)
{
	static const char drop_sql[] =
		"SELECT group_concat('DROP TRIGGER ' || name, ';') FROM sqlite_schema WHERE type = 'trigger'";
	sqlite3_stmt *st = NULL;

	ck_assert_ptr_null(books_try(&b, "PRAGMA foreign_keys = OFF; BEGIN"));
	ck_assert(sqlite3_prepare_v2(b.look, drop_sql, -1, &st, NULL) == SQLITE_OK &&
		sqlite3_step(st) == SQLITE_ROW);
	char *drops = sqlite3_mprintf("%s", sqlite3_column_text(st, 0));

	sqlite3_finalize(st);
	ck_assert_ptr_null(books_try(&b, drops));
	sqlite3_free(drops);
}

static void end_tampering(void)
{
	ck_assert_ptr_null(books_try(&b, "ROLLBACK"));
}

static void tamper(const char *sql)
{
	const char *error;

	ck_assert_ptr_null(books_try(&b, "PRAGMA ignore_check_constraints = ON"));
	error = books_try(&b, sql);
	ck_assert_msg(!error, "%s: %s", sql, error);
	ck_assert_ptr_null(books_try(&b, "PRAGMA ignore_check_constraints = OFF"));
}

static const struct audit_check *check_named(const char *id)
{
	for (size_t i = 0; i < audit_check_count; i++)
		if (!strcmp(audit_checks[i].id, id))
			return &audit_checks[i];
	ck_abort_msg("there is no check %s", id);
}

static void finds(const char *id, const char *sql, const char *says)
{
	struct fault wrong = {0};

	ck_assert_msg(audit_make(b.look, check_named(id), &wrong) == 1, "%s does not find: %s (%s)", id, sql,
		wrong.text);
	ck_assert_msg(strstr(wrong.text, says), "%s after %s says \"%s\", not \"%s\"", id, sql, wrong.text,
		says);
}

static const struct {
	const char *check, *sql, *says;
} cases[] = {
	{ "file", "UPDATE project SET share = -1 WHERE id = 2", "CHECK constraint failed in project" },
	{ "schema", "SELECT 1", "the trigger said_is_never_replaced is missing" },
	{ "schema", "DROP INDEX charge_by_project", "the index charge_by_project is missing" },
	{ "schema", "ALTER TABLE member ADD COLUMN x TEXT", "the table member is not as this version makes it" },
	{ "references", "UPDATE hold SET admission = 99 WHERE id = 2", "hold, row 2: it refers to a row of admission that is missing" },
	{ "chain.links", "DELETE FROM chain WHERE link = 2", "link 2 of the chain is missing: the next that is there is 3, journal 3" },
	{ "chain.links", "UPDATE chain SET hash = zeroblob(32) WHERE link = 1", "journal 1 is not what was written" },
	{ "chain.links", "UPDATE chain SET kind = 'project' WHERE link = 2", "project 2 is missing: link 2" },
	{ "chain.links", "UPDATE journal SET id = 50 WHERE id = 2; UPDATE journal SET id = 2 WHERE id = 1; UPDATE journal SET id = 1 WHERE id = 50",
		"journal 1 is not what was written: it does not give link 1" },
	{ "chain.head", "DELETE FROM chain WHERE link = (SELECT max(link) FROM chain)", "and had" },
	{ "chain.head", "DELETE FROM chain WHERE link > 3", "the chain has 3 links and had 25: the last rows are missing" },
	{ "chain.head", "UPDATE chain_head SET links = 1", "rows were added by another program" },
	{ "chain.head", "UPDATE chain_head SET hash = zeroblob(32)", "is not the one that was written last" },
	{ "chain.head", "DELETE FROM chain_head", "the head of the chain is missing" },
	{ "chain.rows", "INSERT INTO journal (id, at, kind, allocation, project, units, balance, actor) VALUES (77, 1, 'deposit', 2, 2, 1, 1, 'x')",
		"journal 77 has no link in the chain: another program wrote it" },
	{ "chain.rows", "INSERT INTO charge (id, run, seq, kind, project, at, part_start, part_end, gpus, price, units)"
		" VALUES (77, 2, 0, 'free', 2, 1, 1, 2, 1, 1000, 0)", "charge 77 has no link" },
	{ "chain.rows", "UPDATE run SET ended = 1 WHERE id = 2", "run 2 has no link" },
	{ "chain.rows", "UPDATE hold SET closed_at = 1 WHERE id = 3", "hold 3 has no link" },
	{ "import.rows", "UPDATE run SET uid = 1 WHERE id = 4", "import 1: its runs 4 to 4, or their parts, are not what was written" },
	{ "import.rows", "UPDATE charge SET units = units + 3600 WHERE kind = 'imported'", "import 1: its runs 4 to 4, or their parts" },
	{ "import.rows", "DELETE FROM charge WHERE kind = 'imported'", "import 1: its runs 4 to 4, or their parts" },
	{ "import.rows", "UPDATE import SET hash = zeroblob(32)", "import 1: its runs 4 to 4, or their parts" },
	{ "import.rows", "INSERT INTO run (cluster, job, submit, start, label, project, uid, partition, tier, min_runtime, gpus, tres, price,"
		" covered_until, ended, import) VALUES ('c', 99, 1, 1, '99', 2, 1, '', 'funded', 0, 1, '', 1, 1, 1, 1)",
		"run 5: it says that import 1 wrote it, which wrote 4 to 4" },
	{ "import.rows", "INSERT INTO charge (run, seq, kind, project, at, part_start, part_end, gpus, price, units)"
		" VALUES (2, 7, 'imported', 2, 1, 1, 2, 1, 1000, 1000)", "it is imported, run 2 is not" },
	{ "journal.balance", "UPDATE journal SET balance = balance + 1 WHERE id = 3",
		"journal 3: the balance of allocation 2 is 183600001 units, the entries up to it sum to 183600000" },
	{ "journal.balance", "UPDATE journal SET units = units + 1 WHERE id = 1", "journal 1: the balance of allocation 1" },
	{ "journal.balance", "DELETE FROM journal WHERE id = 2", "journal 3: the balance of allocation 2" },
	{ "journal.project", "UPDATE journal SET project = 1 WHERE id = 3", "journal 3: it names project 1, allocation 2 belongs to project 2" },
	{ "journal.project", "UPDATE allocation SET project = 1 WHERE id = 2", "journal 2: it names project 2" },
	{ "sums.missing", "DELETE FROM allocation_sum WHERE allocation = 2", "allocation 2: it has no running sums" },
	{ "sums.amount", "UPDATE allocation_sum SET amount = amount + 7 WHERE allocation = 1",
		"allocation 1: its running sum of amount is 360000007 units, the journal says 360000000" },
	{ "sums.charged", "UPDATE allocation_sum SET charged = 0 WHERE allocation = 2",
		"allocation 2: its running sum of charged is 0 units, the journal says 5400000" },
	{ "sums.held", "UPDATE allocation_sum SET held = held + 1 WHERE allocation = 2", "allocation 2: its running sum of held is" },
	{ "sums.held", "UPDATE hold_draw SET units = units - 1 WHERE hold = 2 AND allocation = 1", "allocation 1: its running sum of held" },
	{ "sums.users", "UPDATE user_sum SET charged = charged + 1 WHERE allocation = 1", "allocation 1: user 1000 has 5400001 units charged" },
	{ "sums.users", "DELETE FROM user_sum WHERE allocation = 2", "allocation 2: user 1000 has 0 units charged and 0 held" },
	{ "sums.users", "UPDATE user_sum SET uid = 7 WHERE allocation = 1", "allocation 1: user 7 has" },
	{ "change.last", "UPDATE project SET share = 9 WHERE id = 2", "change 2: share is 9, it was last changed to 7" },
	{ "change.last", "UPDATE allocation SET ends = 5000000000 WHERE id = 2", "change 3: ends is 5000000000, it was last changed to none" },
	{ "change.last", "DELETE FROM member", "change 4: role of ada is none, it was last changed to owner" },
	{ "change.missing", "UPDATE project SET unmetered = 1 WHERE id = 1", "project lab: unmetered is yes, and no change says who set it" },
	{ "change.missing", "UPDATE project SET user_shares = 0 WHERE id = 1", "project lab: user_shares is no, and no change" },
	{ "change.missing", "UPDATE project SET on_exhausted = 'wait' WHERE id = 1", "project lab: on_exhausted is wait, and no change" },
	{ "change.missing", "UPDATE project SET parent = 2 WHERE id = 1", "project lab: parent is vision, and no change" },
	{ "change.missing", "INSERT INTO member VALUES (1, 'eve', 'owner')", "project lab: role of eve is owner, and no change" },
	{ "change.missing", "INSERT INTO cap VALUES (1, 7, 'eve', 5)", "project lab: cap_units of eve is 5, and no change" },
	{ "change.missing", "INSERT INTO user_share VALUES (1, 7, 'eve', 5)", "project lab: user_share of eve is 5, and no change" },
	{ "change.missing", "INSERT INTO slot VALUES (3, 1, 0, 3600, 50, 1, NULL)", "project lab: slot 3 is there, and no change" },
	{ "change.missing", "UPDATE allocation SET ends = 5000000000 WHERE id = 1", "allocation 1: ends is 5000000000, and no change" },
	{ "hold.draws", "UPDATE hold SET units = units + 1 WHERE id = 2", "hold 2: it holds 3600001 units and draws 3600000 on " },
	{ "hold.draws", "UPDATE hold SET units = units - 1 WHERE id = 3", "hold 3: it holds 7199999 units" },
	{ "hold.draws", "DELETE FROM hold_draw WHERE hold = 3 AND allocation = 2", "hold 3: it holds 7200000 units and draws 0 on vision" },
	{ "hold.closed", "UPDATE hold SET closed_at = 5 WHERE id = 2", "hold 2: it is closed and draws 3600000 units on allocation" },
	{ "hold.run", "UPDATE hold SET tasks = 2 WHERE id = 2", "hold 2: run 2 is one task, not 2" },
	{ "hold.run", "UPDATE hold SET admission = 3 WHERE id = 2", "hold 2: run 2 is of admission 2, not 3" },
	{ "hold.run", "UPDATE hold SET run = 1, admission = 1 WHERE id = 2", "hold 2: run 1 has ended" },
	{ "hold.run", "UPDATE hold SET run = 2, admission = 2, tasks = 1 WHERE id = 3", "hold 3: hold 2 is for run 2, too" },
	{ "hold.pool", "UPDATE hold SET project = 1 WHERE id = 3", "hold 3: it is of project 1, admission 3 of project 2" },
	{ "hold.pool", "UPDATE hold SET tasks = 9 WHERE id = 3", "hold 3: it is for 9 tasks, admission 3 has 2" },
	{ "hold.pool", "UPDATE hold SET run = NULL, admission = 3 WHERE id = 2", "hold 3: hold 2 is for admission 3, too" },
	{ "project.overdrawn", "UPDATE allocation_sum SET amount = 0 WHERE allocation = 2",
		"project vision: 16200000 units are charged and held, its allocations have 0 and its credit is 0" },
	{ "charge.paid", "UPDATE charge SET units = units - 1000 WHERE id = 1", "charge 1: it is 1799000 units, project" },
	{ "charge.paid", "UPDATE journal SET units = units - 1 WHERE kind = 'charge' AND charge = 1 AND project = 2", "project 2 paid 1800001" },
	{ "charge.price", "UPDATE charge SET units = units + 1 WHERE id = 1", "charge 1: 1800 seconds at 1000 units a second cost 1800001" },
	{ "charge.price", "UPDATE run SET price = 999 WHERE id = 1", "charge 1: it is at 1000 units a second, run 1 at 999" },
	{ "charge.tres", "INSERT INTO charge (run, seq, kind, project, at, part_start, part_end, gpus, price, units)"
		" VALUES (2, 7, 'free', 2, 1, 1, 2, 1, 1000, 0)", "run 2 goes on, and what was allocated in the part is not told" },
	{ "charge.uncounted", "INSERT INTO uncounted (at, charge, units, cause) VALUES (1, 1, 1800001, 'correction')",
		"charge 1: it is 1800000 units and 1800001 of them do not count" },
	{ "run.parts", "UPDATE charge SET part_start = part_start + 1 WHERE id = 3", "charge 3: part 1 of run 3 begins at" },
	{ "run.parts", "UPDATE charge SET part_end = part_end - 1 WHERE id = 2", "charge 3: part 1 of run 3 begins at" },
	{ "run.months", "UPDATE charge SET part_start = part_start - 15 * 86400 WHERE id = 1", "charge 1: part 0 of run 1 is of 2026-12 and of 2027-01" },
	{ "run.charged", "UPDATE run SET ended = ended + 1 WHERE id = 1", "run 1: it ended at 1800001866 and is charged up to 1800001865" },
	{ "run.charged", "DELETE FROM charge WHERE run = 1", "run 1: it ended at" },
	{ "period.frozen", "INSERT INTO period VALUES (24324, 1798761600, 1801440000, 1801440001, 1, 0, 'ada', '', NULL, NULL)",
		"journal 2: it is dated 2027-01-" },
	{ "period.frozen", "INSERT INTO period VALUES (24324, 1798761600, 1801440000, 1801440001, 99, 1, 'ada', '', NULL, NULL)",
		"charge 2: it is dated 2027-01-" },
	{ "period.months", "INSERT INTO period VALUES (24324, 1798761600, 1801440001, 1801440001, 99, 99, 'ada', '', NULL, NULL)",
		"period 24324: it is from 2027-01-01 to 2027-02-01" },
	{ "period.months", "INSERT INTO period VALUES (24323, 1796083200, 1798761600, 1801440001, 99, 99, 'ada', '', NULL, NULL),"
		" (24325, 1801440000, 1803859200, 1803859200, 99, 99, 'ada', '', NULL, NULL)", "period 24325: it is from 2027-02-01 to 2027-03-01" },
	{ "event.displaced", "UPDATE run SET state = 'PREEMPTED' WHERE id = 1", "run 1: it ended PREEMPTED and no event says why" },
	{ "event.minimum", "INSERT INTO event (at, cluster, job, run, what, reason, detail) VALUES (1800000100, 'c', 12, 2, 'told', 'ROTATED', '')",
		"event 1: run 2 was told to go after 35 s, its minimum runtime is 3600 s" },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

START_TEST(what_was_changed_is_named)
{
	begin_tampering();
	tamper(cases[_i].sql);
	finds(cases[_i].check, cases[_i].sql, cases[_i].says);
	end_tampering();
	ledger_invariants(&b);
}
END_TEST

/* A check that nothing can break is none. */
START_TEST(every_check_has_a_case)
{
	for (size_t i = 0; i < audit_check_count; i++) {
		size_t k = 0;

		while (k < CASES && strcmp(cases[k].check, audit_checks[i].id))
			k++;
		ck_assert_msg(k < CASES, "nothing is known to break %s", audit_checks[i].id);
	}
}
END_TEST

/* --- every column of every row that is final ------------------------------------------------------ */

static const struct {
	const char *table, *final;
	int rows;
	const char *of_many;	/* NULL = each has a link of its own */
} finals[] = {
	{ "journal", "1", 7, NULL },
	{ "charge", "kind <> 'imported'", 3, NULL },
	{ "run", "ended IS NOT NULL AND import IS NULL", 2, NULL },
	{ "hold", "closed_at IS NOT NULL", 2, NULL },
	{ "charge", "kind = 'imported'", 1, "import 1: its runs 4 to 4" },
	{ "run", "import IS NOT NULL", 1, "import 1: its runs 4 to 4" },
	{ "change", "1", 10, NULL },
};

/* `sql` changes the row, and it is told: by its link, or by that of its import. */
static void is_seen(const char *of_many, const char *sql, const char *says)
{
	begin_tampering();
	tamper(sql);
	finds(of_many ? "import.rows" : "chain.links", sql, of_many ? of_many : says);
	end_tampering();
}

/* Something else of the same type. */
static void change_column(const char *table, const char *column, const char *type, int64_t row,
	const char *of_many)
{
	bool text = strcmp(type, "TEXT") == 0;
	char sql[256], says[64];

	snprintf(sql, sizeof(sql), "UPDATE %s SET \"%s\" = coalesce(\"%s\", %s) %s WHERE id = %lld", table,
		column, column, text ? "''" : "0", text ? "|| 'x'" : "+ 1000", (long long)row);
	snprintf(says, sizeof(says), "%s %lld is %s", table, (long long)row,
		strcmp(column, "id") ? "not what was written" : "missing");
	is_seen(of_many, sql, says);
}

static int change_columns(const char *table, int64_t row, const char *of_many)
{
	sqlite3_stmt *st = NULL;
	int n = 0;

	ck_assert_int_eq(sqlite3_prepare_v2(b.look, "SELECT name, type FROM pragma_table_info(?)", -1, &st,
		NULL), SQLITE_OK);
	sqlite3_bind_text(st, 1, table, -1, NULL);
	while (sqlite3_step(st) == SQLITE_ROW) {
		char column[64], type[16];

		snprintf(column, sizeof(column), "%s", sqlite3_column_text(st, 0));
		snprintf(type, sizeof(type), "%s", sqlite3_column_text(st, 1));
		change_column(table, column, type, row, of_many);
		n++;
	}
	sqlite3_finalize(st);
	return n;
}

static void delete_row(const char *table, int64_t row, const char *of_many)
{
	char sql[96], says[64];

	snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE id = %lld", table, (long long)row);
	snprintf(says, sizeof(says), "%s %lld is missing", table, (long long)row);
	is_seen(of_many, sql, says);
}

START_TEST(no_column_of_a_final_row_can_be_changed_unseen)
{
	const char *table = finals[_i].table, *final = finals[_i].final, *of_many = finals[_i].of_many;
	int64_t row = 0;
	int rows = 0;

	while ((row = books_ask(&b, "SELECT coalesce(min(id), 0) FROM %s WHERE id > %lld AND %s", table,
		(long long)row, final)) != 0) {
		ck_assert_int_ge(change_columns(table, row, of_many), 9);
		delete_row(table, row, of_many);
		rows++;
	}
	ck_assert_int_eq(rows, finals[_i].rows);
}
END_TEST

/* --- the chain ------------------------------------------------------------------------------------ */

/* What sha256sum(1) makes of 32 zero bytes and: t7:journal;i1;i-5;n;t3:ada; */
START_TEST(the_hash_is_the_one_that_is_documented)
{
	static const char hash_sql[] =
		"SELECT lower(hex(chain_hash(zeroblob(32), 'journal', 1, -5, NULL, 'ada', NULL, NULL))) ="
		" '9083d1e1b730e7c8a1c712e640f238542b4025aa1f11e27cc2a776741e4488d1'";

	ck_assert_int_eq(books_ask(&b, "%s", hash_sql), 1);
}
END_TEST

START_TEST(links_are_in_the_order_of_writing_and_the_head_follows)
{
	char head[CHAIN_HEAD_TEXT_MAX];

	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM chain"), 25);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM chain WHERE kind = 'journal'"), 7);
	ck_assert_int_eq(books_ask(&b, "SELECT max(link) FROM chain"), 25);
	ck_assert_msg(strstr(chain_head_text(b.look, head), "25 links, the last is ") == head, "%s", head);
}
END_TEST

/* --- what is unusual and sound --------------------------------------------------------------------- */

static int move_to_root(struct ledger *l, void *arg, struct fault *why)
{
	struct project p = { .id = *(int64_t *)arg, .name = "vision", .share = 7 };

	return project_set(l, &p, why);
}

/* Its open holds stay drawn on what was above it. */
START_TEST(a_project_that_moves_leaves_the_books_sound)
{
	struct fault why = {0};
	int64_t vision = 2;

	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, move_to_root, &vision), 0);
	ck_assert_msg(audit_file(b.path, &why) == 0, "%s", why.text);
}
END_TEST

/* It is drawn on for what is added later only; in the same second nobody can tell what came first. */
START_TEST(a_project_that_gets_its_first_allocation_later_leaves_the_books_sound)
{
	int64_t leaf = books_project(&b, "leaf", books_project(&b, "top", 0));
	struct fault why = {0};
	struct submission s;
	struct run r;

	books_allot(&b, leaf, 50 * GPU_H, 0, 0);
	s = (struct submission){ .project = leaf, .gpus = 1, .min_runtime_s = HOUR, .tasks = 2, .now = NOON };
	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_int_eq(books_try(&b,
		"INSERT INTO allocation (id, project, starts, created_at) SELECT 9, id, 0, 1800000000 FROM project"
		" WHERE name = 'top'; INSERT INTO allocation_sum (allocation) VALUES (9)") == NULL, 1);
	ck_assert_msg(audit_file(b.path, &why) == 0, "%s", why.text);
	ck_assert_ptr_null(books_try(&b,
		"UPDATE hold SET opened_at = opened_at - 1 WHERE closed_at IS NULL"));
	books_start(&b, &s, 21, NOON - 1, &r);
	ck_assert_msg(audit_file(b.path, &why) == 0, "%s", why.text);
}
END_TEST

/* The share of a task that starts later is a younger hold than the one that it comes from. */
START_TEST(tasks_that_start_after_the_first_allocation_leave_the_books_sound)
{
	int64_t leaf = books_project(&b, "leaf", 0);
	struct fault why = {0};
	struct submission s = { .project = leaf, .gpus = 1, .min_runtime_s = HOUR, .tasks = 2,
		.now = NOON - 9 };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_allot(&b, leaf, 50 * GPU_H, 0, 0);
	books_start(&b, &s, 21, NOON + 5, &r);
	ck_assert_int_eq(books_extend(&b, &r, HOUR, NOON + 5), 0);
	ck_assert_int_eq(books_end(&b, &r, NOON + 2 * HOUR), 0);
	ck_assert_msg(audit_file(b.path, &why) == 0, "%s", why.text);
}
END_TEST

/* A part of another size, charged while the run goes on. */
static int resize(struct ledger *l, void *arg, struct fault *why)
{
	return run_resize(l, arg, ADMITTED + 1000, 3, 3 * AMOUNT_RATE_ONE, "gres/gpu=3", ADMITTED + 1000,
		why);
}

START_TEST(a_run_that_was_resized_leaves_the_books_sound)
{
	struct submission s;
	struct run r;

	submit(2, 1, &s);
	books_start(&b, &s, 31, ADMITTED + 5, &r);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, resize, &r), 0);
	ledger_invariants(&b);
	ck_assert_int_eq(books_end(&b, &r, ADMITTED + 5000), 0);
}
END_TEST

/* What is rolled back leaves no link. */
static int post_and_fail(struct ledger *l, void *arg, struct fault *why)
{
	struct journal_entry e = { .at = NOON, .kind = "deposit", .allocation = 1, .units = 5,
		.actor = "ada" };

	(void)arg;
	return journal_post(l, &e, why) < 0 ? -1 : fault_set(why, "on purpose");
}

START_TEST(what_is_rolled_back_leaves_no_link)
{
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, post_and_fail, NULL), -1);
	ck_assert_str_eq(b.why.text, "on purpose");
	ck_assert_int_eq(books_ask(&b, "SELECT links FROM chain_head"), 25);
	ledger_invariants(&b);
}
END_TEST

Suite *audit_suite(void)
{
	Suite *s = suite_create("audit");
	TCase *t = tcase_create("audit");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, what_was_changed_is_named, 0, CASES);
	tcase_add_test(t, every_check_has_a_case);
	tcase_add_loop_test(t, no_column_of_a_final_row_can_be_changed_unseen, 0,
		sizeof(finals) / sizeof(finals[0]));
	tcase_add_test(t, the_hash_is_the_one_that_is_documented);
	tcase_add_test(t, links_are_in_the_order_of_writing_and_the_head_follows);
	tcase_add_test(t, a_project_that_moves_leaves_the_books_sound);
	tcase_add_test(t, a_project_that_gets_its_first_allocation_later_leaves_the_books_sound);
	tcase_add_test(t, tasks_that_start_after_the_first_allocation_leave_the_books_sound);
	tcase_add_test(t, a_run_that_was_resized_leaves_the_books_sound);
	tcase_add_test(t, what_is_rolled_back_leaves_no_link);
	suite_add_tcase(s, t);
	return s;
}
