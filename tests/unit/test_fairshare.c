/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_fairshare.c - ratios, the order of trees, ties and margins, from tables; what the tables cannot say,
 * below them */
#include "lib/fairshare.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GPU_HOUR ((int64_t)3600 * 1000)
#define WEEK_H 168
#define NODES_MAX 64

static struct case_table ratios, trees;

static struct fairshare *built(const struct fairshare_node *nodes, size_t count, int64_t gpus)
{
	const struct fairshare_cluster c = { gpus * 1000, gpus * WEEK_H * GPU_HOUR };
	struct fairshare *f = NULL;
	struct fault why = { "" };

	ck_assert_msg(fairshare_new(nodes, count, &c, &f, &why) == 0, "%s", why.text);
	return f;
}

START_TEST(ratio_is_as_the_table_says)
{
	const struct case_row *c = &ratios.row[_i];
	int64_t share = case_number(c, 2);
	const struct fairshare_node nodes[] = {
		{ FAIRSHARE_NO_PARENT, share, case_number(c, 3) * GPU_HOUR, case_number(c, 4) * GPU_HOUR,
		  case_none(c, 5) ? FAIRSHARE_BY_SHARE : case_number(c, 5) * GPU_HOUR },
		{ FAIRSHARE_NO_PARENT, 100 - share, 0, 0, FAIRSHARE_BY_SHARE },
	};
	struct fairshare *f = built(nodes, 2, case_number(c, 1));

	ck_assert_msg(fairshare_ratio_ppm(f, 0) == case_number(c, 6), "%s: ratio %jd, the table says %s",
		c->col[0], (intmax_t)fairshare_ratio_ppm(f, 0), c->col[6]);
	ck_assert_int_eq(fairshare_share_ppm(f, 0), share * 10000);
	fairshare_free(f);
}
END_TEST

/* --- trees ----------------------------------------------------------------------------------------- */

struct tree {
	const char *name;
	const char *names[NODES_MAX];
	struct fairshare_node nodes[NODES_MAX];
	size_t count;
};

static int index_of(const struct tree *t, const struct case_row *row, const char *name)
{
	for (size_t i = 0; i < t->count; i++)
		if (!strcmp(t->names[i], name))
			return (int)i;
	cases_die(&trees, row, "there is no node %s", name);
}

static int64_t number(const struct case_row *row, int column)
{
	char *end;
	int64_t n = strtoll(row->col[column], &end, 10);

	if (end == row->col[column] || *end)
		cases_die(&trees, row, "%s is not a number", row->col[column]);
	return n;
}

static void add_node(struct tree *t, const struct case_row *row)
{
	bool root = !strcmp(row->col[2], "-");

	if (row->n != 6 || t->count == NODES_MAX)
		cases_die(&trees, row, "a node has five words, and a tree at most %d nodes", NODES_MAX);
	t->nodes[t->count] = (struct fairshare_node){
		root ? FAIRSHARE_NO_PARENT : index_of(t, row, row->col[2]), number(row, 3),
		number(row, 4) * 1000, number(row, 5) * 1000, FAIRSHARE_BY_SHARE };
	t->names[t->count++] = row->col[1];
}

/* Each leaf ranks behind the one before it, or like it with "=". */
static void check_order(const struct tree *t, const struct fairshare *f, const struct case_row *row)
{
	uint32_t before = 0;

	for (int i = 1; i < row->n; i++) {
		bool ties = row->col[i][0] == '=';
		uint32_t rank = fairshare_rank(f, (size_t)index_of(t, row, row->col[i] + ties));

		ck_assert_msg(i == 1 || (ties ? rank == before : rank > before),
			"%s: %s has rank %u behind %s with %u", t->name, row->col[i], rank, row->col[i - 1],
			before);
		before = rank;
	}
}

static void check_beats(const struct tree *t, const struct fairshare *f, const struct case_row *row)
{
	size_t p = (size_t)index_of(t, row, row->col[1]), r = (size_t)index_of(t, row, row->col[2]);
	bool wanted = !strcmp(row->col[4], "yes");

	ck_assert_msg(fairshare_beats(f, p, r, number(row, 3)) == wanted,
		"%s: %s beats %s by %s ppm: the table says %s", t->name, row->col[1], row->col[2],
		row->col[3], row->col[4]);
}

static void check_ahead(const struct tree *t, const struct fairshare *f, const struct case_row *row)
{
	int got = fairshare_ahead(f, (size_t)index_of(t, row, row->col[1]));
	int wanted = strcmp(row->col[2], "-") ? index_of(t, row, row->col[2]) : -1;

	ck_assert_msg(got == wanted, "%s: ahead of %s is %s, the table says %s", t->name, row->col[1],
		got < 0 ? "-" : t->names[got], row->col[2]);
}

static const struct {
	const char *word;
	int columns;			/* 0 = any number */
	void (*check)(const struct tree *, const struct fairshare *, const struct case_row *);
} checks[] = {
	{ "order", 0, check_order },
	{ "beats", 5, check_beats },
	{ "ahead", 3, check_ahead },
};

static void run_check(const struct tree *t, const struct fairshare *f, const struct case_row *row)
{
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (!strcmp(checks[i].word, row->col[0]) &&
		    (!checks[i].columns || row->n == checks[i].columns)) {
			checks[i].check(t, f, row);
			return;
		}
	cases_die(&trees, row, "neither tree, node, order, beats nor ahead, or the wrong number of words");
}

static bool is_on_path(const struct tree *t, size_t node, size_t from)
{
	for (int i = (int)from; i >= 0; i = t->nodes[i].parent)
		if ((size_t)i == node)
			return true;
	return false;
}

/* Wherever two ranks differ: where their paths part, the one in front has the smaller ratio. */
static void check_parts(const struct tree *t, const struct fairshare *f)
{
	size_t at_a, at_b;

	for (size_t a = 0; a < t->count; a++)
		for (size_t b = 0; b < t->count; b++) {
			if (fairshare_rank(f, a) >= fairshare_rank(f, b) || !fairshare_part(f, a, b, &at_a, &at_b))
				continue;
			ck_assert(is_on_path(t, at_a, a) && is_on_path(t, at_b, b) && at_a != at_b);
			ck_assert(fairshare_ratio_ppm(f, at_b) == FAIRSHARE_NO_RATIO ||
				fairshare_ratio_ppm(f, at_a) <= fairshare_ratio_ppm(f, at_b));
		}
}

static bool begins_tree(int row)
{
	return row >= trees.rows || !strcmp(trees.row[row].col[0], "tree");
}

/* The loop runs over all lines; only those that begin a tree do something. */
START_TEST(tree_is_in_the_order_of_the_table)
{
	struct tree t = { .name = trees.row[_i].col[1] };
	struct fairshare *f;
	int row = _i + 1;

	if (!begins_tree(_i))
		return;
	for (; !begins_tree(row) && !strcmp(trees.row[row].col[0], "node"); row++)
		add_node(&t, &trees.row[row]);
	f = built(t.nodes, t.count, 128);
	if (begins_tree(row))
		cases_die(&trees, &trees.row[_i], "a tree that nothing is said of");
	check_parts(&t, f);
	for (; !begins_tree(row); row++)
		run_check(&t, f, &trees.row[row]);
	fairshare_free(f);
}
END_TEST

/* --- what tables cannot say ------------------------------------------------------------------------ */

/* Weights whose products leave 64 bits after a few levels: still no overflow, still ordered. */
START_TEST(deep_trees_of_odd_weights_do_not_overflow)
{
	struct fairshare_node nodes[NODES_MAX];
	struct fairshare *f;
	size_t n = 0;

	for (int level = 0; level < 20; level++) {
		int parent = level ? (int)n - 2 : FAIRSHARE_NO_PARENT;

		nodes[n++] = (struct fairshare_node){ parent, 999999937, 1000, 0, FAIRSHARE_BY_SHARE };
		nodes[n++] = (struct fairshare_node){ parent, 999999929, 900, 0, FAIRSHARE_BY_SHARE };
	}
	f = built(nodes, n, 100000);
	for (size_t i = 2; i < n; i++)
		ck_assert_int_le(fairshare_share_ppm(f, i), fairshare_share_ppm(f, i - 2));
	ck_assert_int_gt(fairshare_ratio_ppm(f, n - 1), 0);
	ck_assert_uint_lt(fairshare_rank(f, 1), fairshare_rank(f, 0));
	ck_assert(fairshare_beats(f, 1, n - 1, 50000));
	fairshare_free(f);
}
END_TEST

/* One part in a thousand million, six levels down: less than the fraction can hold, but not nothing. */
START_TEST(the_smallest_share_is_not_zero)
{
	struct fairshare_node nodes[NODES_MAX];
	struct fairshare *f;
	size_t n = 0;

	for (int level = 0; level < 6; level++) {
		int parent = level ? (int)n - 2 : FAIRSHARE_NO_PARENT;

		nodes[n++] = (struct fairshare_node){ parent, 1, 0, 0, FAIRSHARE_BY_SHARE };
		nodes[n++] = (struct fairshare_node){ parent, 999999999, 0, 0, FAIRSHARE_BY_SHARE };
	}
	f = built(nodes, n, 100000);
	ck_assert_int_eq(fairshare_share_ppm(f, n - 2), 0);
	ck_assert_int_eq(fairshare_ratio_ppm(f, n - 2), 0);
	fairshare_free(f);
}
END_TEST

START_TEST(the_largest_amounts_do_not_overflow)
{
	const struct fairshare_node nodes[] = {
		{ FAIRSHARE_NO_PARENT, 1, FAIRSHARE_MAX / 2, FAIRSHARE_MAX / 2 - 1, 0 },
		{ FAIRSHARE_NO_PARENT, FAIRSHARE_SHARE_MAX, 0, 0, FAIRSHARE_MAX - 1 },
	};
	struct fairshare *f = built(nodes, 2, 1);

	ck_assert_int_eq(fairshare_ratio_ppm(f, 0), INT64_MAX);
	ck_assert_int_eq(fairshare_ratio_ppm(f, 1), 0);
	ck_assert(fairshare_beats(f, 1, 0, 1000000));
	ck_assert(!fairshare_beats(f, 0, 1, 0));
	fairshare_free(f);
}
END_TEST

START_TEST(what_is_below_is_rolled_up)
{
	const struct fairshare_node nodes[] = {
		{ FAIRSHARE_NO_PARENT, 1, 1, 10, FAIRSHARE_BY_SHARE },
		{ 0, 1, 2, 20, FAIRSHARE_BY_SHARE },
		{ 1, 1, 3, 30, FAIRSHARE_BY_SHARE },
		{ 0, 1, 4, 40, FAIRSHARE_BY_SHARE },
	};
	struct fairshare *f = built(nodes, 4, 8);

	ck_assert_int_eq(fairshare_charged(f, 0), 10);
	ck_assert_int_eq(fairshare_entry(f, 0), 100);
	ck_assert_int_eq(fairshare_charged(f, 1), 5);
	ck_assert_int_eq(fairshare_entitled(f, 0), 8 * WEEK_H * GPU_HOUR);
	ck_assert_int_eq(fairshare_entitled(f, 3), 4 * WEEK_H * GPU_HOUR);
	fairshare_free(f);
}
END_TEST

static void refused(struct fairshare_node node, int err)
{
	const struct fairshare_node nodes[] = {
		{ FAIRSHARE_NO_PARENT, 1, FAIRSHARE_MAX - 1, 0, FAIRSHARE_BY_SHARE }, node
	};
	const struct fairshare_cluster c = { 1000, 1000 };
	struct fairshare *f = NULL;
	struct fault why = { "" };

	ck_assert_int_eq(fairshare_new(nodes, 2, &c, &f, &why), -1);
	ck_assert_int_eq(errno, err);
	ck_assert_ptr_null(f);
	ck_assert_msg(strstr(why.text, "node "), "%s", why.text);
}

START_TEST(a_tree_that_makes_no_sense_is_refused)
{
	refused((struct fairshare_node){ 1, 1, 0, 0, FAIRSHARE_BY_SHARE }, EINVAL);
	refused((struct fairshare_node){ 2, 1, 0, 0, FAIRSHARE_BY_SHARE }, EINVAL);
	refused((struct fairshare_node){ -2, 1, 0, 0, FAIRSHARE_BY_SHARE }, EINVAL);
	refused((struct fairshare_node){ 0, -1, 0, 0, FAIRSHARE_BY_SHARE }, EINVAL);
	refused((struct fairshare_node){ 0, FAIRSHARE_SHARE_MAX + 1LL, 0, 0, FAIRSHARE_BY_SHARE }, EINVAL);
	refused((struct fairshare_node){ 0, 1, -1, 0, FAIRSHARE_BY_SHARE }, EINVAL);
	refused((struct fairshare_node){ 0, 1, 0, -1, FAIRSHARE_BY_SHARE }, EINVAL);
	refused((struct fairshare_node){ 0, 1, 0, 0, FAIRSHARE_MAX }, EOVERFLOW);
	/* the sum at its parent */
	refused((struct fairshare_node){ 0, 1, 1, 0, FAIRSHARE_BY_SHARE }, EOVERFLOW);
}
END_TEST

START_TEST(no_projects_are_no_error)
{
	struct fairshare *f = built(NULL, 0, 8);

	fairshare_free(f);
	fairshare_free(NULL);
}
END_TEST

Suite *fairshare_suite(void)
{
	Suite *s = suite_create("fairshare");
	TCase *t = tcase_create("rule");

	ratios = cases_load("fairshare_ratios.cases", 7);
	for (int i = 1; i < 7; i++)
		cases_check_number(&ratios, i);
	trees = cases_load_words("fairshare_trees.cases");
	tcase_add_loop_test(t, ratio_is_as_the_table_says, 0, ratios.rows);
	tcase_add_loop_test(t, tree_is_in_the_order_of_the_table, 0, trees.rows);
	tcase_add_test(t, deep_trees_of_odd_weights_do_not_overflow);
	tcase_add_test(t, the_smallest_share_is_not_zero);
	tcase_add_test(t, the_largest_amounts_do_not_overflow);
	tcase_add_test(t, what_is_below_is_rolled_up);
	tcase_add_test(t, a_tree_that_makes_no_sense_is_refused);
	tcase_add_test(t, no_projects_are_no_error);
	suite_add_tcase(s, t);
	return s;
}
