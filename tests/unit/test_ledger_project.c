/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_ledger_project.c - the budget tree: names, moves, removals, people */
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct books b;

static void setup(void)
{
	books_open(&b);
}

static void teardown(void)
{
	books_close(&b);
}

#define X31 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static const struct {
	const char *name, *normal;	/* NULL = refused */
} names[] = {
	{ "vision", "vision" }, { "Vision", "vision" }, { "A-b_c.d+e@f9", "a-b_c.d+e@f9" }, { X31 X31 "x", X31 X31 "x" },
	{ X31 X31 "xx", NULL }, { "", NULL }, { "two words", NULL }, { "a/b", NULL }, { "a,b", NULL }, { "tab\t", NULL },
	{ "caf\xc3\xa9", NULL }, { "new\nline", NULL }, { "'; DROP TABLE project; --", NULL }, { "%", NULL },
};

START_TEST(names_are_those_of_slurm_accounts)
{
	char out[PROJECT_NAME_MAX] = "before";
	struct fault why = {0};
	int rc = project_name_normal(names[_i].name, out, &why);

	ck_assert_msg(rc == (names[_i].normal ? 0 : -1), "\"%s\"", names[_i].name);
	ck_assert_str_eq(out, rc == 0 ? names[_i].normal : "before");
	if (rc < 0) {
		ck_assert_int_eq(errno, EINVAL);
		ck_assert_msg(why.text[0], "\"%s\" is refused without a word", names[_i].name);
	}
}
END_TEST

static int add(struct ledger *l, void *arg, struct fault *why)
{
	return project_add(l, arg, NOON, why);
}

static int set(struct ledger *l, void *arg, struct fault *why)
{
	return project_set(l, arg, why);
}

static int drop(struct ledger *l, void *arg, struct fault *why)
{
	return project_remove(l, *(int64_t *)arg, NOON, why);
}

static int move(int64_t id, const char *name, int64_t parent)
{
	struct project p = { .id = id, .parent = parent, .share = 1 };

	snprintf(p.name, sizeof(p.name), "%s", name);
	return books_do(&b, LEDGER_MONEY, set, &p);
}

START_TEST(a_name_is_taken_once_in_whatever_case_and_free_again_when_it_is_removed)
{
	int64_t first = books_project(&b, "vision", 0);
	struct project p = { .name = "VISION", .share = 1 };

	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, add, &p), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, drop, &first), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, add, &p), 0);
	ck_assert_str_eq(p.name, "vision");
	ck_assert_int_ne(p.id, first);
}
END_TEST

START_TEST(nothing_is_moved_below_itself)
{
	int64_t ai = books_project(&b, "ai", 0), lab = books_project(&b, "lab", ai),
		vision = books_project(&b, "vision", lab);

	ck_assert_int_eq(move(ai, "ai", ai), -1);
	ck_assert_int_eq(move(ai, "ai", lab), -1);
	ck_assert_int_eq(move(ai, "ai", vision), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_str_eq(b.why.text, "ai cannot be moved below itself");
	ck_assert_int_eq(move(vision, "vision", ai), 0);
	ck_assert_int_eq(move(lab, "lab", vision), 0);
	ck_assert_int_eq(move(lab, "lab", 0), 0);
}
END_TEST

static int set_credit(int64_t id, amount_t credit)
{
	struct project p = { .id = id, .name = "vision", .share = 1, .credit = credit };

	return books_do(&b, LEDGER_MONEY, set, &p);
}

START_TEST(credit_that_is_in_use_is_not_taken_away)
{
	int64_t p = books_project(&b, "vision", 0);
	struct submission s = { .project = p, .gpus = 2, .min_runtime_s = HOUR };

	ck_assert_int_eq(set_credit(p, 5 * GPU_H), 0);
	books_allot(&b, p, GPU_H, 0, 0);
	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_int_eq(set_credit(p, GPU_H - 1), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_str_eq(b.why.text,
		"vision has 1.00 GPU-h of its credit in use: the credit cannot be lower than that");
	ck_assert_int_eq(set_credit(p, GPU_H), 0);
	ledger_invariants(&b);
	ck_assert_int_eq(set_credit(p, 9 * GPU_H), 0);
}
END_TEST

START_TEST(what_is_to_come_covers_no_credit_that_is_in_use_now)
{
	int64_t p = books_project(&b, "vision", 0);
	struct submission s = { .project = p, .gpus = 2, .min_runtime_s = HOUR };

	ck_assert_int_eq(set_credit(p, GPU_H), 0);
	books_allot(&b, p, GPU_H, 0, 0);
	books_allot(&b, p, 100 * GPU_H, NOON + HOUR, 0);
	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_int_eq(set_credit(p, 0), -1);
	ck_assert_int_eq(errno, EEXIST);
}
END_TEST

/* A chain as deep as can be; returns the ids. */
static void chain(int64_t *ids, int n, char letter)
{
	char name[16];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%c%d", letter, i);
		ids[i] = books_project(&b, name, i ? ids[i - 1] : 0);
	}
}

START_TEST(the_tree_is_never_deeper_than_a_verdict_can_walk)
{
	int64_t deep[BUDGET_DEPTH_MAX], other[3];
	struct project p = { .name = "one-more", .share = 1 };

	chain(deep, BUDGET_DEPTH_MAX, 'd');
	books_allot(&b, deep[0], GPU_H, 0, 0);
	ck_assert_int_eq(books_available(&b, deep[BUDGET_DEPTH_MAX - 1], NOON), GPU_H);
	p.parent = deep[BUDGET_DEPTH_MAX - 1];
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, add, &p), -1);
	ck_assert_int_eq(errno, EINVAL);
	/* a project with two below it needs three places, wherever it is moved */
	chain(other, 3, 'o');
	ck_assert_int_eq(move(other[0], "o0", deep[BUDGET_DEPTH_MAX - 3]), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(move(other[0], "o0", deep[BUDGET_DEPTH_MAX - 4]), 0);
	ck_assert_int_eq(books_available(&b, other[2], NOON), GPU_H);
}
END_TEST

START_TEST(a_project_with_children_holds_runs_or_jobs_that_wait_is_not_removed)
{
	int64_t ai = books_project(&b, "ai", 0), vision = books_project(&b, "vision", ai);
	struct submission s = { .project = vision, .gpus = 1, .min_runtime_s = HOUR };
	struct run r;

	books_allot(&b, vision, GPU_H, 0, 0);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, drop, &ai), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_str_eq(b.why.text,
		"the project still has 1 projects below it, 0 open holds and 0 running jobs; remove or end those first");
	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, drop, &vision), -1);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, drop, &vision), -1);
	ck_assert_int_eq(books_end(&b, &r, NOON + 60), 0);
	ck_assert_ptr_null(books_try(&b, "UPDATE admission SET parked_at = 1, waits_at = project"));
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, drop, &vision), -1);
	ck_assert_ptr_nonnull(strstr(b.why.text, "1 jobs that wait for money"));
	ck_assert_ptr_null(books_try(&b, "UPDATE admission SET parked_at = NULL, waits_at = NULL"));
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, drop, &vision), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, drop, &ai), 0);
	ck_assert_int_gt(books_ask(&b, "SELECT count(*) FROM journal WHERE project = %lld",
		(long long)vision), 0);
	ledger_invariants(&b);
}
END_TEST

static int one_more(struct ledger *l, void *arg, struct fault *why)
{
	struct allocation a = { .project = *(int64_t *)arg };

	return allocation_add(l, &a, NOON, why);
}

START_TEST(one_project_has_a_bounded_number_of_live_allocations)
{
	int64_t p = books_project(&b, "p", 0);

	for (int i = 0; i < LIVE_ALLOCATIONS_MAX; i++)
		books_allot(&b, p, GPU_H, 0, NOON + HOUR + i);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, one_more, &p), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_int_eq(books_available(&b, p, NOON), LIVE_ALLOCATIONS_MAX * GPU_H);
	ck_assert_int_eq(books_available(&b, p, NOON + HOUR + 1), (LIVE_ALLOCATIONS_MAX - 2) * GPU_H);
	ck_assert_int_eq(books_available(&b, p, NOON + 2 * HOUR), 0);
}
END_TEST

/* ada owns the root, bob is a member of the leaf; who has which role where. */
static const struct {
	const char *user;
	int project;
	enum member_role role;
} roles[] = {
	{ "ada", 0, ROLE_OWNER }, { "ada", 1, ROLE_OWNER }, { "bob", 1, ROLE_MEMBER }, { "bob", 0, ROLE_NOBODY }, { "eve", 1, ROLE_NOBODY },
	{ "Ada", 0, ROLE_NOBODY }, { "", 0, ROLE_NOBODY },
};

struct asking {
	int64_t project;
	const char *user;
	enum member_role role;
};

static int enrol(struct ledger *l, void *arg, struct fault *why)
{
	struct asking *x = arg;

	return member_set(l, x->project, x->user, x->role, why);
}

static int ask_role(struct ledger *l, void *arg, struct fault *why)
{
	struct asking *x = arg;

	return member_role(l, x->project, x->user, &x->role, why);
}

START_TEST(roles_are_inherited_downwards)
{
	int64_t ids[2] = { books_project(&b, "ai", 0) };
	struct asking ada = { ids[0], "ada", ROLE_OWNER }, bob, x;

	ids[1] = books_project(&b, "vision", ids[0]);
	bob = (struct asking){ ids[1], "bob", ROLE_MEMBER };
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, enrol, &ada) + books_do(&b, LEDGER_MONEY, enrol, &bob),
		0);
	x = (struct asking){ ids[roles[_i].project], roles[_i].user, ROLE_NOBODY };
	ck_assert_int_eq(books_do(&b, LEDGER_READ, ask_role, &x), 0);
	ck_assert_int_eq(x.role, roles[_i].role);
}
END_TEST

Suite *ledger_project_suite(void)
{
	Suite *s = suite_create("ledger_project");
	TCase *n = tcase_create("names"), *t = tcase_create("tree");

	tcase_add_loop_test(n, names_are_those_of_slurm_accounts, 0, sizeof(names) / sizeof(names[0]));
	suite_add_tcase(s, n);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_name_is_taken_once_in_whatever_case_and_free_again_when_it_is_removed);
	tcase_add_test(t, nothing_is_moved_below_itself);
	tcase_add_test(t, the_tree_is_never_deeper_than_a_verdict_can_walk);
	tcase_add_test(t, a_project_with_children_holds_runs_or_jobs_that_wait_is_not_removed);
	tcase_add_test(t, credit_that_is_in_use_is_not_taken_away);
	tcase_add_test(t, what_is_to_come_covers_no_credit_that_is_in_use_now);
	tcase_add_test(t, one_project_has_a_bounded_number_of_live_allocations);
	tcase_add_loop_test(t, roles_are_inherited_downwards, 0, sizeof(roles) / sizeof(roles[0]));
	suite_add_tcase(s, t);
	return s;
}
