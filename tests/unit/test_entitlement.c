/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_entitlement.c - dated weights and health from a table */
#include "lib/entitlement.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX      32
#define HOUR     3600
#define GPU_HOUR ((int64_t)3600 * 1000)

static struct case_table cases;

struct world {
	const char *name;
	const char *names[MAX];
	struct fairshare_node nodes[MAX];
	size_t count;
	struct weight_change weights[MAX];
	size_t nweights;
	struct capacity_change capacities[MAX];
	size_t ncapacities;
	struct fairshare_cluster cluster;
};

static int64_t number(const struct case_row *row, int column)
{
	char *end;
	int64_t n = strtoll(row->col[column], &end, 10);

	if (end == row->col[column] || *end)
		cases_die(&cases, row, "%s is not a number", row->col[column]);
	return n;
}

static uint32_t node(const struct world *w, const struct case_row *row, const char *name)
{
	for (size_t i = 0; i < w->count; i++)
		if (!strcmp(w->names[i], name))
			return (uint32_t)i;
	cases_die(&cases, row, "there is no node %s", name);
}

static void do_node(struct world *w, const struct case_row *row)
{
	int parent = strcmp(row->col[2], "-") ? (int)node(w, row, row->col[2]) : FAIRSHARE_NO_PARENT;

	w->names[w->count] = row->col[1];
	w->nodes[w->count++] = (struct fairshare_node){.parent = parent, .share = number(row, 3)};
}

static void do_gpus(struct world *w, const struct case_row *row)
{
	w->capacities[w->ncapacities++] =
		(struct capacity_change){number(row, 1) * HOUR, number(row, 2) * 1000};
}

static void do_set(struct world *w, const struct case_row *row)
{
	w->weights[w->nweights++] = (struct weight_change){.at = number(row, 1) * HOUR,
		.node = node(w, row, row->col[2]), .share = number(row, 3)};
}

static void do_move(struct world *w, const struct case_row *row)
{
	int parent = strcmp(row->col[3], "-") ? (int)node(w, row, row->col[3]) : FAIRSHARE_NO_PARENT;

	w->weights[w->nweights++] = (struct weight_change){.at = number(row, 1) * HOUR,
		.node = node(w, row, row->col[2]), .share = number(row, 4), .moves = true, .parent = parent};
}

static struct fairshare *built(const struct world *w)
{
	struct fairshare *f;

	ck_assert_int_eq(fairshare_new(w->nodes, w->count, &w->cluster, &f, NULL), 0);
	return f;
}

/* Its steps, each rounded down, sum to the window. */
static void steps_agree(const struct world *w, struct fairshare_node *before, int64_t from, int64_t to)
{
	size_t steps = entitlement_steps(from, to, HOUR);
	int64_t *out = calloc(steps * w->count + 1, sizeof(*out));
	struct fairshare *f = built(w);
	struct fault why = {""};

	ck_assert_int_eq(entitlement_by_step(before, w->count, w->weights, w->nweights, w->capacities,
				 w->ncapacities, from, to, HOUR, out, &why), 0);
	for (size_t i = 0; i < w->count; i++) {
		bool same = w->nodes[i].entitled == FAIRSHARE_BY_SHARE;
		int64_t whole = same ? fairshare_entitled(f, i) : w->nodes[i].entitled, sum = 0;

		for (size_t step = 0; step < steps; step++)
			sum += out[step * w->count + i];
		ck_assert_msg(llabs(sum - whole) <= (long long)steps, "%s: %s: the steps sum to %jd, not %jd",
			w->name, w->names[i], (intmax_t)sum, (intmax_t)whole);
	}
	fairshare_free(f);
	free(out);
}

static void do_window(struct world *w, const struct case_row *row)
{
	struct fairshare_node before[MAX];
	struct fault why = {""};

	memcpy(before, w->nodes, sizeof(before));
	ck_assert_msg(
		entitlement_fill(w->nodes, w->count, w->weights, w->nweights, w->capacities, w->ncapacities,
			number(row, 1) * HOUR, number(row, 2) * HOUR, &w->cluster, &why) == 0,
		"%s: %s", w->name, why.text);
	steps_agree(w, before, number(row, 1) * HOUR, number(row, 2) * HOUR);
}

static void do_entitled(struct world *w, const struct case_row *row)
{
	struct fairshare *f = built(w);
	int64_t got = fairshare_entitled(f, node(w, row, row->col[1]));

	ck_assert_msg(got == number(row, 2) * GPU_HOUR, "%s: %s is entitled to %jd units", w->name,
		row->col[1], (intmax_t)got);
	fairshare_free(f);
}

static void do_same(struct world *w, const struct case_row *row)
{
	bool same = w->nodes[node(w, row, row->col[1])].entitled == FAIRSHARE_BY_SHARE;

	ck_assert_msg(same == !strcmp(row->col[2], "yes"), "%s: same share of %s: the table says %s", w->name,
		row->col[1], row->col[2]);
}

static void do_ratio(struct world *w, const struct case_row *row)
{
	uint32_t n = node(w, row, row->col[1]);
	struct fairshare *f;

	w->nodes[n].charged = number(row, 2) * GPU_HOUR;
	f = built(w);
	ck_assert_msg(fairshare_ratio_ppm(f, n) == number(row, 3), "%s: ratio %jd", w->name,
		(intmax_t)fairshare_ratio_ppm(f, n));
	fairshare_free(f);
}

static const struct {
	const char *word;
	int columns;
	void (*run)(struct world *, const struct case_row *);
} lines[] = {
	{"node", 4, do_node},
	{"gpus", 3, do_gpus},
	{"set", 4, do_set},
	{"move", 5, do_move},
	{"window", 3, do_window},
	{"entitled", 3, do_entitled},
	{"same", 3, do_same},
	{"ratio", 4, do_ratio},
};

static void run_line(struct world *w, const struct case_row *row)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strcmp(lines[i].word, row->col[0]) && row->n == lines[i].columns) {
			lines[i].run(w, row);
			return;
		}
	cases_die(&cases, row, "no such line, or the wrong number of words");
}

START_TEST(entitlement_is_as_the_table_says)
{
	struct world w = {.name = cases.row[_i].col[1]};

	if (strcmp(cases.row[_i].col[0], "case"))
		return;
	for (int row = _i + 1; row < cases.rows && strcmp(cases.row[row].col[0], "case"); row++)
		run_line(&w, &cases.row[row]);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused)
{
	struct fairshare_node nodes[] = {{FAIRSHARE_NO_PARENT, 1, 0, 0, 0}};
	const struct weight_change bad[] = {{5, 1, 1, false, 0}, {5, 0, -1, false, 0},
		{5, 0, FAIRSHARE_SHARE_MAX + 1LL, false, 0}, {5, 0, 1, true, 1}, {5, 0, 1, true, 0}};
	const struct capacity_change c = {0, 1000}, huge = {0, INT64_MAX};
	struct fairshare_cluster out;
	struct fault why = {""};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(entitlement_fill(nodes, 1, &bad[i], 1, &c, 1, 0, 10, &out, &why), -1);
		ck_assert_int_eq(errno, EINVAL);
	}
	ck_assert_int_eq(entitlement_fill(nodes, 1, NULL, 0, &c, 1, 10, 10, &out, &why), -1);
	ck_assert_int_eq(entitlement_fill(nodes, 1, NULL, 0, NULL, 0, 0, 10, &out, &why), -1);
	ck_assert_int_eq(entitlement_fill(nodes, 1, NULL, 0, &huge, 1, 0, 10, &out, &why), -1);
	ck_assert_int_eq(errno, EOVERFLOW);
}
END_TEST

Suite *entitlement_suite(void)
{
	Suite *s = suite_create("entitlement");
	TCase *t = tcase_create("rule");

	cases = cases_load_words("entitlement.cases");
	tcase_add_loop_test(t, entitlement_is_as_the_table_says, 0, cases.rows);
	tcase_add_test(t, what_makes_no_sense_is_refused);
	suite_add_tcase(s, t);
	return s;
}
