/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_ledger_failures.c - one story told again and again, each time with another write of the disk failing
 *
 * The 1st, 2nd, 3rd... write fails once (disk full, I/O error) or from there on; whoever sees an error does
 * the step again later, as the loop does. The books are sound after every step, and at the end they are what
 * they are without trouble. */
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <errno.h>

static struct books b;

/* --- a disk that fails -------------------------------------------------------------------------- */

#define KINDS_MAX 8			/* SQLite has a table of methods for each kind of file */

static struct {
	sqlite3_vfs vfs, *real;
	struct kind {
		sqlite3_io_methods ours;	/* first: a file's table leads to its kind */
		const sqlite3_io_methods *real;
	} kinds[KINDS_MAX];
	int countdown, failed;		/* countdown 0 = never */
	int error;
} disk;

static int failing_write(sqlite3_file *f, const void *data, int bytes, sqlite3_int64 at)
{
	if (disk.countdown > 0 && --disk.countdown == 0) {
		disk.failed++;
		return disk.error;
	}
	return ((const struct kind *)f->pMethods)->real->xWrite(f, data, bytes, at);
}

/* What reached the file is enough here; waiting for the disk a thousand times is not. */
static int no_sync(sqlite3_file *f, int flags)
{
	(void)f, (void)flags;
	return SQLITE_OK;
}

static const sqlite3_io_methods *wrap(const sqlite3_io_methods *real)
{
	struct kind *k = disk.kinds;

	while (k->real && k->real != real)
		ck_assert(++k < disk.kinds + KINDS_MAX);
	k->real = real;
	k->ours = *real;
	k->ours.xWrite = failing_write;
	k->ours.xSync = no_sync;
	return &k->ours;
}

static int open_file(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *got)
{
	int rc = disk.real->xOpen(disk.real, name, f, flags, got);

	(void)v;
	if (rc == SQLITE_OK && f->pMethods)
		f->pMethods = wrap(f->pMethods);
	return rc;
}

static void setup(void)
{
	disk.real = sqlite3_vfs_find(NULL);
	disk.vfs = *disk.real;
	disk.vfs.zName = "failing";
	disk.vfs.xOpen = open_file;
	disk.countdown = 0;
	ck_assert_int_eq(sqlite3_vfs_register(&disk.vfs, 1), SQLITE_OK);
}

static void teardown(void)
{
	sqlite3_vfs_unregister(&disk.vfs);
}

/* --- the story ---------------------------------------------------------------------------------- */

struct story {
	int64_t vision, allocation;
	struct submission s;
	struct run run[2];
};

static int start_task(struct story *t, int i);

static int step_deposit(struct story *t)
{
	return books_deposit(&b, t->allocation, 4 * GPU_H, "more");
}

static int step_submit(struct story *t)
{
	return books_submit(&b, &t->s);
}

static int step_start(struct story *t)
{
	return start_task(t, 0);
}

static int step_start_second(struct story *t)
{
	return start_task(t, 1);
}

static int step_extend(struct story *t)
{
	struct run copy = t->run[0];	/* what failed is forgotten, as by a pass that begins anew */
	int rc = books_extend(&b, &copy, HOUR, NOON + HOUR);

	if (rc == 0)
		t->run[0] = copy;
	return rc;
}

static int step_end(struct story *t)
{
	return books_end(&b, &t->run[0], NOON + HOUR + 1800);
}

static int step_end_second(struct story *t)
{
	return books_end(&b, &t->run[1], NOON + 3 * HOUR);
}

static int (*const steps[])(struct story *) = {
	step_deposit, step_submit, step_start, step_start_second, step_extend, step_end, step_end_second,
};

/* books_start ends the test when it fails, and here it may. */
struct task {
	struct story *t;
	int i;
};

static int open_task(struct ledger *l, void *arg, struct fault *why)
{
	struct task *x = arg;
	struct run *r = &x->t->run[x->i];
	struct hold_row pool, h;

	*r = (struct run){ .cluster = "c", .job = 10 + x->i, .submit = NOON, .start = NOON, .label = "job",
		.partition = "gpu", .admission = x->t->s.admission.id, .project = x->t->vision,
		.tier = TIER_FUNDED, .min_runtime_s = HOUR, .gpus = 1, .tres = "gres/gpu=1",
		.price = AMOUNT_RATE_ONE, .covered_until = NOON + HOUR };
	if (run_open(l, r, why) != 0 || hold_pool(l, r->admission, &pool, why) != 1)
		return -1;
	return hold_take_task(l, &pool, r->id, NOON, &h, why);
}

static int start_task(struct story *t, int i)
{
	struct task x = { t, i };

	return books_do(&b, LEDGER_HOLDS, open_task, &x);
}

/* The writes of the whole story, so that the loops know where to end. */
static int tell(int fail_at, int error)
{
	struct story t = {0};
	int64_t lab;

	books_open(&b);
	lab = books_project(&b, "lab", 0);
	t.vision = books_project(&b, "vision", lab);
	books_allot(&b, lab, 9 * GPU_H, 0, 0);
	t.allocation = books_allot(&b, t.vision, GPU_H, 0, 0);
	t.s = (struct submission){ .project = t.vision, .gpus = 1, .min_runtime_s = HOUR, .tasks = 2 };
	disk.failed = 0;
	disk.error = error;
	disk.countdown = fail_at;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int tries = 0, failed = disk.failed;

		while (steps[i](&t) < 0) {
			ck_assert_msg(disk.failed > failed && ++tries == 1, "step %zu, write %d: %s", i,
				fail_at, b.why.text);
			ledger_invariants(&b);
		}
		ledger_invariants(&b);
	}
	fail_at = disk.failed;
	disk.countdown = 0;
	ck_assert_int_eq(books_ask(&b, "SELECT sum(units) FROM charge"), 2 * GPU_H + 1800 * AMOUNT_RATE_ONE);
	ck_assert_int_eq(books_ask(&b,
		"SELECT sum(part_end - part_start) FROM charge WHERE kind = 'uncovered'"), 2 * HOUR);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM hold WHERE closed_at IS NULL"), 0);
	ck_assert_int_eq(books_ask(&b, "SELECT sum(held) FROM allocation_sum"), 0);
	ck_assert_int_eq(books_available(&b, t.vision, NOON), 2 * GPU_H + 1800 * AMOUNT_RATE_ONE);
	books_close(&b);
	return fail_at;
}

static const int errors[] = { SQLITE_FULL, SQLITE_IOERR_WRITE };

START_TEST(whichever_write_fails_the_books_are_sound_and_the_story_ends_alike)
{
	int n = 1;

	while (tell(n, errors[_i]) > 0)
		n++;
	ck_assert_int_gt(n, 50);	/* it did fail, at each of so many places */
}
END_TEST

/* --- what a failure is called ------------------------------------------------------------------- */

static const struct {
	int sqlite, err;
} names[] = { { SQLITE_FULL, ENOSPC }, { SQLITE_IOERR_WRITE, EIO }, { SQLITE_READONLY, EROFS } };

START_TEST(a_full_disk_is_called_a_full_disk)
{
	int64_t p, a;

	books_open(&b);
	p = books_project(&b, "p", 0);
	a = books_allot(&b, p, GPU_H, 0, 0);
	disk.error = names[_i].sqlite;
	disk.countdown = 1;
	ck_assert_int_eq(books_deposit(&b, a, GPU_H, ""), -1);
	ck_assert_int_eq(errno, names[_i].err);
	ck_assert(b.why.text[0]);
	ledger_invariants(&b);
	ck_assert_int_eq(books_deposit(&b, a, GPU_H, ""), 0);
	ck_assert_int_eq(books_available(&b, p, NOON), 2 * GPU_H);
	books_close(&b);
}
END_TEST

/* --- an answer that goes out before it is written ------------------------------------------------ */

/* One decision, as a submission makes it: 0 when it counts. */
static int decide(int64_t allocation)
{
	struct journal_entry e = { .at = NOON, .kind = "deposit", .allocation = allocation, .units = GPU_H,
		.actor = "ada" };

	ck_assert_int_eq(ledger_begin(b.l, LEDGER_HOLDS, &b.why), 0);
	ck_assert_int_eq(journal_post(b.l, &e, &b.why), 0);
	return ledger_decided(b.l, &b.why);
}

START_TEST(after_a_write_that_failed_a_decision_counts_only_when_it_is_written)
{
	int64_t p, a;

	books_open(&b);
	p = books_project(&b, "p", 0);
	a = books_allot(&b, p, GPU_H, 0, 0);
	disk.error = SQLITE_FULL;
	ck_assert_int_eq(decide(a), 0);
	disk.countdown = 1;
	ck_assert_int_eq(ledger_write(b.l, &b.why), -1);	/* the one that was told too early */
	ck_assert_int_eq(ledger_writes(b.l, &b.why), -1);
	ck_assert_msg(strstr(b.why.text, "full") != NULL, "%s", b.why.text);
	disk.countdown = 1;
	ck_assert_int_eq(decide(a), -1);
	ck_assert_int_eq(books_available(&b, p, NOON), GPU_H);
	ck_assert_int_eq(decide(a), 0);				/* there is room, for a moment */
	ck_assert_int_eq(ledger_writes(b.l, &b.why), 0);
	disk.countdown = 1;
	ck_assert_int_eq(decide(a), -1);
	ck_assert_int_eq(ledger_write(b.l, &b.why), 0);
	ck_assert_int_eq(books_available(&b, p, NOON), 2 * GPU_H);
	ledger_invariants(&b);
	books_close(&b);
}
END_TEST

Suite *ledger_failures_suite(void)
{
	Suite *s = suite_create("ledger_failures");
	TCase *t = tcase_create("disk");

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, whichever_write_fails_the_books_are_sound_and_the_story_ends_alike, 0,
		sizeof(errors) / sizeof(errors[0]));
	tcase_add_loop_test(t, a_full_disk_is_called_a_full_disk, 0, sizeof(names) / sizeof(names[0]));
	tcase_add_test(t, after_a_write_that_failed_a_decision_counts_only_when_it_is_written);
	suite_add_tcase(s, t);
	return s;
}
