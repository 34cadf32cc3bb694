/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_wait_line.c - who may start with what there is, from a table */
#include "lib/wait_line.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME, MONEY, LINE, GIVES, COLUMNS };

#define PROJECTS_MAX 8

static struct case_table cases;

struct tree {
	const struct case_row *row;
	struct budget_node node[PROJECTS_MAX];
	int parent[PROJECTS_MAX];
	int64_t cap_user[PROJECTS_MAX];	/* 0 = no cap */
	int count;
};

static int find(const struct tree *t, const char *name)
{
	for (int i = 0; i < t->count; i++)
		if (!strcmp(t->node[i].name, name))
			return i;
	cases_die(&cases, t->row, "there is no project %s", name);
}

static void read_project(struct tree *t, char *text)
{
	struct budget_node *n = &t->node[t->count];
	char *money = strchr(text, '='), *slash = strchr(text, '/');
	char name[PROJECT_NAME_MAX];

	*n = (struct budget_node){ .metered = money != NULL };
	if (money && sscanf(money, "=%jd,%jd,%jd.%jd", (intmax_t *)&n->amount, (intmax_t *)&n->held,
		(intmax_t *)&n->cap, (intmax_t *)&t->cap_user[t->count]) < 1)
		cases_die(&cases, t->row, "%s has no amount", text);
	if (money)
		*money = '\0';
	snprintf(name, sizeof(name), "%.*s", slash ? (int)(slash - text) : 0, text);
	snprintf(n->name, sizeof(n->name), "%s", slash ? slash + 1 : text);
	t->parent[t->count] = slash ? find(t, name) : -1;
	t->count++;
}

static struct tree read_tree(const struct case_row *row)
{
	struct tree t = { .row = row };
	char text[256], *rest = text, *word;

	snprintf(text, sizeof(text), "%s", row->col[MONEY]);
	while ((word = strtok_r(rest, " ", &rest)))
		read_project(&t, word);
	return t;
}

static int path_of(const struct tree *t, int leaf, int at[])
{
	int depth = 0;

	for (int i = leaf; i >= 0; i = t->parent[i])
		at[depth++] = i;
	return depth;
}

static void hold(struct tree *t, int project, int64_t user, int64_t units)
{
	t->node[project].held += units;
	if (t->cap_user[project] == user)
		t->node[project].cap_held += units;
}

/* "JOB[.USER]:PROJECT:TASKSxEACH[+PAID]" */
static void read_job(const struct tree *t, const char *word, struct wait_job *j, char name[PROJECT_NAME_MAX])
{
	intmax_t job, user = 0, tasks, each, paid = 0;
	const char *rest = strchr(word, ':');

	if (!rest || sscanf(word, "%jd.%jd", &job, &user) < 1 ||
		sscanf(rest, ":%63[^:]:%jdx%jd+%jd", name, &tasks, &each, &paid) < 3)
		cases_die(&cases, t->row, "%s is no job", word);
	*j = (struct wait_job){ .job = job, .user = user, .tasks = tasks, .per_task = each, .paid = paid,
		.has = paid * each,		.stands = word[strlen(word) - 1] != '!' };
}

/* Asked over what there is, as if what it has were given back; and what it gets is taken. */
static void ask(struct tree *t, struct wait_line *line, const char *word, char *gives, size_t size)
{
	struct budget_node path[PROJECTS_MAX];
	int64_t projects[PROJECTS_MAX];
	struct wait_job j;
	struct wait_answer got;
	char name[PROJECT_NAME_MAX];
	int at[PROJECTS_MAX], depth;

	read_job(t, word, &j, name);
	depth = path_of(t, find(t, name), at);
	for (int i = 0; i < depth; i++) {
		hold(t, at[i], j.user, -j.paid * j.per_task);
		path[i] = t->node[at[i]];
		path[i].capped = t->cap_user[at[i]] && t->cap_user[at[i]] == j.user;
		projects[i] = at[i] + 1;
	}
	ck_assert_int_eq(wait_line_ask(line, &j, path, projects, depth, &got, NULL), 0);
	for (int i = 0; i < depth; i++)
		hold(t, at[i], j.user, got.tasks * j.per_task);
	snprintf(gives, size, "%s%jd=%jd", *gives ? " " : "", (intmax_t)j.job, (intmax_t)got.tasks);
	if (got.behind)
		snprintf(gives + strlen(gives), size - strlen(gives), "<%jd", (intmax_t)got.behind);
	if (got.refused_at >= 0)
		snprintf(gives + strlen(gives), size - strlen(gives), "@%s", path[got.refused_at].name);
}

START_TEST(the_line_goes_on_as_the_table_says)
{
	const struct case_row *row = &cases.row[_i];
	struct tree t = read_tree(row);
	struct wait_line line = {0};
	char text[256], *rest = text, *word, all[512] = "";

	snprintf(text, sizeof(text), "%s", row->col[LINE]);
	while ((word = strtok_r(rest, " ", &rest))) {
		char one[128] = "";

		ask(&t, &line, word, one, sizeof(one));
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", *all ? " " : "", one);
	}
	ck_assert_msg(!strcmp(all, row->col[GIVES]), "%s: %s, the table says %s", row->col[NAME], all,
		row->col[GIVES]);
	wait_line_clear(&line);
}
END_TEST

/* Whatever stands in a line of any length, money is never promised twice. */
START_TEST(no_more_is_given_than_there_is)
{
	struct budget_node v = { .name = "v", .metered = true, .amount = 1000 };
	struct wait_line line = {0};
	const int64_t projects[] = { 1 };
	unsigned int seed = (unsigned int)_i + 1;

	for (int i = 0; i < 100; i++) {
		struct wait_job j = { .job = i + 1, .tasks = rand_r(&seed) % 9 + 1,
			.per_task = rand_r(&seed) % 50, .stands = rand_r(&seed) % 3 };
		struct wait_answer got;

		ck_assert_int_eq(wait_line_ask(&line, &j, &v, projects, 1, &got, NULL), 0);
		ck_assert(got.tasks >= 0 && got.tasks <= j.tasks);
		ck_assert((got.refused_at < 0) == (got.tasks == j.tasks));
		v.held += got.tasks * j.per_task;
		ck_assert_int_ge(budget_available(&v), 0);
	}
	wait_line_clear(&line);
}
END_TEST

Suite *wait_line_suite(void)
{
	Suite *s = suite_create("wait_line");
	TCase *t = tcase_create("rule");

	cases = cases_load("wait_line.cases", COLUMNS);
	tcase_add_loop_test(t, the_line_goes_on_as_the_table_says, 0, cases.rows);
	tcase_add_loop_test(t, no_more_is_given_than_there_is, 0, 50);
	suite_add_tcase(s, t);
	return s;
}
