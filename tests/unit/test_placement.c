/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_placement.c - what fits where and who gives way, from a table; that the choice is minimal, by trying
 */
#include "lib/placement.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX   32
#define H_PPM 50000

static struct case_table cases;

struct world {
	const char *name;
	const char *projects[MAX];
	struct fairshare_node funded[MAX], free[MAX];
	size_t nprojects;
	struct fairshare *by_funded, *by_free;
	struct placement *p;
	struct {
		int64_t id;
		uint32_t run;
	} runs[MAX];
	size_t nruns;
	int64_t now;
};

static int64_t number(const struct case_row *row, const char *text)
{
	char *end;
	int64_t n = strtoll(text, &end, 10);

	if (end == text || *end)
		cases_die(&cases, row, "%s is not a number", text);
	return n;
}

static uint32_t project(const struct world *w, const struct case_row *row, const char *name)
{
	for (size_t i = 0; i < w->nprojects; i++)
		if (!strcmp(w->projects[i], name))
			return (uint32_t)i;
	cases_die(&cases, row, "there is no project %s", name);
}

/* The project, or a user below one. */
static void whose(const struct world *w, const struct case_row *row, const char *name, uint32_t *of,
	uint32_t *user)
{
	uint32_t node = project(w, row, name);
	int up = w->funded[node].parent;

	*of = up == FAIRSHARE_NO_PARENT ? node : (uint32_t)up;
	*user = up == FAIRSHARE_NO_PARENT ? 0 : node + 1;
}

static struct placement_part part(const struct case_row *row, const char *text)
{
	struct placement_part x;

	if (sscanf(text, "%u:%d", &x.node, &x.gpus) != 2)
		cases_die(&cases, row, "%s is not NODE:GPUS", text);
	return x;
}

/* --- lines that say what there is ------------------------------------------------------------------ */

static void do_share(struct world *w, const struct case_row *row)
{
	struct fairshare_node n = {
		FAIRSHARE_NO_PARENT, 1, number(row, row->col[2]) * 1000, 0, FAIRSHARE_BY_SHARE};

	if (row->n == 5)
		n.parent = (int)project(w, row, row->col[4]);
	w->projects[w->nprojects] = row->col[1];
	w->funded[w->nprojects] = n;
	n.charged = number(row, row->col[3]) * 1000;
	w->free[w->nprojects++] = n;
}

static void do_nodes(struct world *w, const struct case_row *row)
{
	const struct fairshare_cluster c = {100000, (int64_t)100000 * 604800};
	struct placement_node nodes[MAX];

	for (int i = 1; i < row->n; i++)
		nodes[i - 1] = (struct placement_node){(int32_t)number(row, row->col[i]), 0};
	w->p = placement_new(nodes, (size_t)row->n - 1);
	ck_assert_ptr_nonnull(w->p);
	ck_assert_int_eq(fairshare_new(w->funded, w->nprojects, &c, &w->by_funded, NULL), 0);
	ck_assert_int_eq(fairshare_new(w->free, w->nprojects, &c, &w->by_free, NULL), 0);
}

static void do_run(struct world *w, const struct case_row *row)
{
	struct placement_part parts[MAX];
	struct placement_run r = {.start = number(row, row->col[3]),
		.safe_until = number(row, row->col[4]),
		.parts = parts};
	bool leaving = false;
	int i = 5;

	whose(w, row, row->col[2], &r.project, &r.user);
	for (; i < row->n && strcmp(row->col[i], "at"); i++) {
		r.free |= !strcmp(row->col[i], "free");
		r.lost_protection |= !strcmp(row->col[i], "lost");
		r.still |= !strcmp(row->col[i], "still");
		r.slot |= !strcmp(row->col[i], "slot");
		leaving |= !strcmp(row->col[i], "leaving");
	}
	for (i++; i < row->n; i++)
		parts[r.nparts++] = part(row, row->col[i]);
	w->runs[w->nruns].id = number(row, row->col[1]);
	ck_assert_int_eq(placement_add(w->p, &r, &w->runs[w->nruns].run), 0);
	if (leaving)
		placement_leave(w->p, w->runs[w->nruns].run);
	w->nruns++;
}

static void do_promise(struct world *w, const struct case_row *row)
{
	for (int i = 1; i < row->n; i++) {
		struct placement_part x = part(row, row->col[i]);

		placement_promise(w->p, &x, 1);
	}
}

static void do_guard(struct world *w, const struct case_row *row)
{
	for (int i = 2; i < row->n; i++) {
		struct placement_part x = {(uint32_t)number(row, row->col[i]), 0};

		placement_guard(w->p, &x, 1, number(row, row->col[1]));
	}
}

static void do_keep(struct world *w, const struct case_row *row)
{
	for (int i = 1; i < row->n; i++)
		placement_keep(w->p, (uint32_t)number(row, row->col[i]));
}

static void do_now(struct world *w, const struct case_row *row)
{
	w->now = number(row, row->col[1]);
}

/* --- questions ------------------------------------------------------------------------------------- */

struct asked {
	struct placement_job job;
	bool only_free, all;
	int answer; /* column behind the arrow */
};

static bool option(struct asked *a, const char *word)
{
	int64_t keeps;

	if (sscanf(word, "keeps=%jd", &keeps) == 1)
		a->job.keeps_s = keeps;
	else if (!strcmp(word, "lane"))
		a->job.front = ORDER_LANE;
	else if (!strcmp(word, "slot"))
		a->job.front = ORDER_SLOT;
	else if (!strcmp(word, "free"))
		a->job.front = ORDER_FREE;
	else if (!strcmp(word, "cleared"))
		a->job.cleared = true;
	else if (!strcmp(word, "kept-only"))
		a->job.kept_only = true;
	else if (!strcmp(word, "only-free"))
		a->only_free = true;
	else if (!strcmp(word, "all"))
		a->all = true;
	else
		return false;
	return true;
}

static struct asked question(const struct world *w, const struct case_row *row)
{
	struct asked a = {0};
	int i = 3;

	whose(w, row, row->col[1], &a.job.project, &a.job.user);
	if (sscanf(row->col[2], "%d/%u", &a.job.gpus, &a.job.nodes) != 2)
		cases_die(&cases, row, "%s is not GPUS/NODES", row->col[2]);
	for (; i < row->n && strcmp(row->col[i], "->"); i++)
		if (!option(&a, row->col[i]))
			cases_die(&cases, row, "there is no word %s", row->col[i]);
	if (i + 1 >= row->n)
		cases_die(&cases, row, "a question has an answer behind ->");
	a.answer = i + 1;
	return a;
}

static int64_t id_of(const struct world *w, uint32_t run)
{
	for (size_t i = 0; i < w->nruns; i++)
		if (w->runs[i].run == run)
			return w->runs[i].id;
	return -1;
}

/* "0:4 1:4 - 2 1", as the table writes it. */
static void text_of(const struct world *w, const struct placement_choice *c, char *out, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nparts; i++)
		n += (size_t)snprintf(
			out + n, room - n, "%s%u:%d", i ? " " : "", c->parts[i].node, c->parts[i].gpus);
	for (size_t i = 0; i < c->nvictims; i++)
		n += (size_t)snprintf(
			out + n, room - n, "%s %jd", i ? "" : " -", (intmax_t)id_of(w, c->victims[i]));
}

static void check(const struct world *w, const struct case_row *row, int from, const char *got)
{
	char wanted[256] = "";

	for (int i = from; i < row->n; i++) {
		strcat(wanted, i > from ? " " : "");
		strcat(wanted, row->col[i]);
	}
	ck_assert_msg(
		!strcmp(got, wanted), "%s, line %d: %s, the table says %s", w->name, row->line, got, wanted);
}

static void do_fits(struct world *w, const struct case_row *row)
{
	struct asked a = question(w, row);
	struct placement_choice c = {0};
	char got[256] = "no";
	int rv = placement_fits(w->p, &a.job, w->now, &c);

	ck_assert_int_ge(rv, 0);
	if (rv)
		text_of(w, &c, got, sizeof(got));
	check(w, row, a.answer, got);
	placement_choice_free(&c);
}

static void do_room(struct world *w, const struct case_row *row)
{
	struct asked a = question(w, row);
	const struct placement_rules rules = {w->by_funded, w->by_free, H_PPM};
	struct placement_choice c = {0};
	char got[256] = "no";
	int rv = placement_make_room(w->p, &rules, &a.job, w->now, a.only_free, &c);

	ck_assert_int_ge(rv, 0);
	if (rv)
		text_of(w, &c, got, sizeof(got));
	check(w, row, a.answer, got);
	placement_choice_free(&c);
}

#define COMPONENTS 4

/* "a 4/1 2/1 -> 0:4 - 1 & 1:2": of one project, the components that start together. */
static void do_together(struct world *w, const struct case_row *row)
{
	const struct placement_rules rules = {w->by_funded, w->by_free, H_PPM};
	struct placement_job jobs[COMPONENTS];
	struct placement_choice c[COMPONENTS] = {{0}};
	char got[COMPONENTS * 260] = "no", one[256];
	size_t n = 0;
	int i = 2, rv;

	for (; i < row->n && strcmp(row->col[i], "->") && n < COMPONENTS; i++, n++) {
		jobs[n] = (struct placement_job){.project = project(w, row, row->col[1])};
		if (sscanf(row->col[i], "%d/%u", &jobs[n].gpus, &jobs[n].nodes) != 2)
			cases_die(&cases, row, "%s is not GPUS/NODES", row->col[i]);
	}
	rv = placement_make_room_together(w->p, &rules, jobs, n, w->now, c);
	ck_assert_int_ge(rv, 0);
	if (rv)
		*got = '\0';
	for (size_t k = 0; rv && k < n; k++) {
		text_of(w, &c[k], one, sizeof(one));
		strcat(strcat(got, k ? " & " : ""), one);
	}
	check(w, row, i + 1, got);
	for (size_t k = 0; k < n; k++)
		placement_choice_free(&c[k]);
}

static void do_when(struct world *w, const struct case_row *row)
{
	struct asked a = question(w, row);
	const struct placement_rules rules = {w->by_funded, w->by_free, H_PPM};
	struct placement_choice c = {0};
	char got[256] = "never";
	int64_t at = 0;
	int rv = placement_forecast(w->p, a.all ? NULL : &rules, &a.job, w->now, &c, &at);

	ck_assert_int_ge(rv, 0);
	c.nvictims = 0;
	if (rv)
		text_of(w, &c, got + sprintf(got, "%jd ", (intmax_t)at), sizeof(got) - 32);
	check(w, row, a.answer, got);
	placement_choice_free(&c);
}

static const struct {
	const char *word;
	int columns; /* at least */
	void (*run)(struct world *, const struct case_row *);
} lines[] = {
	{"share", 4, do_share},
	{"nodes", 2, do_nodes},
	{"run", 7, do_run},
	{"promise", 2, do_promise},
	{"guard", 3, do_guard},
	{"keep", 2, do_keep},
	{"together", 5, do_together},
	{"now", 2, do_now},
	{"fits", 5, do_fits},
	{"room", 5, do_room},
	{"when", 5, do_when},
};

static void run_line(struct world *w, const struct case_row *row)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strcmp(lines[i].word, row->col[0]) && row->n >= lines[i].columns) {
			lines[i].run(w, row);
			return;
		}
	cases_die(&cases, row, "no such line, or too few words");
}

static void world_end(struct world *w)
{
	placement_free(w->p);
	fairshare_free(w->by_funded);
	fairshare_free(w->by_free);
}

/* The loop runs over all lines; only those that begin a case do something. */
START_TEST(placement_is_as_the_table_says)
{
	struct world w = {.name = cases.row[_i].col[1], .now = 1000};

	if (strcmp(cases.row[_i].col[0], "case"))
		return;
	for (int row = _i + 1; row < cases.rows && strcmp(cases.row[row].col[0], "case"); row++)
		run_line(&w, &cases.row[row]);
	world_end(&w);
}
END_TEST

/* --- what must hold of any choice ------------------------------------------------------------------ */

static uint32_t next_number(uint32_t *state)
{
	return *state = *state * 1664525u + 1013904223u;
}

static uint32_t below(uint32_t *state, uint32_t n)
{
	return (next_number(state) >> 16) % n;
}

#define NODES    12
#define PER_NODE 8

struct crowd {
	struct placement *p;
	struct placement_part parts[NODES * PER_NODE]; /* a run each */
	uint32_t run[NODES * PER_NODE];
	bool protected[NODES * PER_NODE];
	size_t n;
};

static void crowd_fill(struct crowd *c, uint32_t *seed)
{
	struct placement_node nodes[NODES];

	for (size_t i = 0; i < NODES; i++)
		nodes[i] = (struct placement_node){PER_NODE, 0};
	c->p = placement_new(nodes, NODES);
	for (uint32_t node = 0; node < NODES; node++)
		for (int32_t left = PER_NODE; left > 0 && below(seed, 8);) {
			int32_t gpus = 1 + (int32_t)below(seed, (uint32_t)left);
			bool safe = below(seed, 4) == 0;
			struct placement_run r = {.project = 1 + below(seed, 3),
				.safe_until = safe ? 2000 : 500,
				.parts = &c->parts[c->n],
				.nparts = 1};

			c->parts[c->n] = (struct placement_part){node, gpus};
			c->protected[c->n] = safe;
			ck_assert_int_eq(placement_add(c->p, &r, &c->run[c->n]), 0);
			c->n++;
			left -= gpus;
		}
}

static size_t crowd_find(const struct crowd *c, uint32_t run)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->run[i] == run)
			return i;
	ck_abort_msg("there is no run %u", run);
}

/* With all victims gone the parts are idle; with any one of them still there they are not. */
static void check_minimal(const struct crowd *c, const struct placement_choice *choice)
{
	int32_t room[NODES];

	for (uint32_t i = 0; i < NODES; i++)
		room[i] = placement_idle(c->p, i);
	for (size_t i = 0; i < choice->nvictims; i++) {
		size_t v = crowd_find(c, choice->victims[i]);

		ck_assert(!c->protected[v]);
		room[c->parts[v].node] += c->parts[v].gpus;
	}
	for (size_t i = 0; i < choice->nparts; i++)
		ck_assert_int_le(choice->parts[i].gpus, room[choice->parts[i].node]);
	for (size_t i = 0; i < choice->nvictims; i++) {
		const struct placement_part *v = &c->parts[crowd_find(c, choice->victims[i])];
		bool needed = false;

		for (size_t k = 0; k < choice->nparts; k++)
			needed |= choice->parts[k].node == v->node &&
				  room[v->node] - v->gpus < choice->parts[k].gpus;
		ck_assert_msg(needed, "a run with %d GPUs on node %u went for nothing", v->gpus, v->node);
	}
}

START_TEST(nobody_goes_for_nothing_and_nobody_inside_the_minimum)
{
	const struct fairshare_node nodes[] = {{FAIRSHARE_NO_PARENT, 1, 0, 0, FAIRSHARE_BY_SHARE},
		{FAIRSHARE_NO_PARENT, 1, 5000, 0, FAIRSHARE_BY_SHARE},
		{FAIRSHARE_NO_PARENT, 1, 6000, 0, FAIRSHARE_BY_SHARE},
		{FAIRSHARE_NO_PARENT, 1, 7000, 0, FAIRSHARE_BY_SHARE}};
	const struct fairshare_cluster cluster = {96000, (int64_t)96000 * 604800};
	struct fairshare *f;
	uint32_t seed = (uint32_t)_i + 1;
	struct crowd c = {0};
	struct placement_choice choice = {0};

	ck_assert_int_eq(fairshare_new(nodes, 4, &cluster, &f, NULL), 0);
	crowd_fill(&c, &seed);
	for (uint32_t k = 1; k <= 4; k++)
		for (int32_t gpus = (int32_t)k; gpus <= (int32_t)k * PER_NODE; gpus++) {
			const struct placement_rules rules = {f, NULL, H_PPM};
			const struct placement_job job = {.project = 0, .nodes = k, .gpus = gpus};

			if (placement_make_room(c.p, &rules, &job, 1000, false, &choice) == 1)
				check_minimal(&c, &choice);
		}
	placement_choice_free(&choice);
	placement_free(c.p);
	fairshare_free(f);
}
END_TEST

START_TEST(what_comes_and_goes_leaves_the_nodes_as_they_were)
{
	const struct placement_node nodes[] = {{8, 0}, {8, 0}};
	const struct placement_part parts[] = {{0, 8}, {1, 3}};
	struct placement_run r = {.parts = parts, .nparts = 2};
	struct placement *p = placement_new(nodes, 2);
	uint32_t a, b;

	ck_assert_int_eq(placement_add(p, &r, &a), 0);
	ck_assert_int_eq(placement_idle_all(p), 5);
	placement_leave(p, a);
	placement_leave(p, a);
	placement_promise(p, parts, 1);
	ck_assert_int_eq(placement_idle(p, 0), -8);
	ck_assert_int_eq(placement_unused(p, 0), 0);
	placement_remove(p, a);
	ck_assert_int_eq(placement_unused(p, 0), 8);
	ck_assert_int_eq(placement_idle(p, 0), 0);
	placement_take_back(p, parts, 1);
	ck_assert_int_eq(placement_idle_all(p), 16);
	ck_assert_int_eq(placement_add(p, &r, &b), 0);
	ck_assert_uint_eq(a, b);
	r.nparts = 0;
	ck_assert_int_eq(placement_add(p, &r, &b), -1);
	placement_free(p);
}
END_TEST

Suite *placement_suite(void)
{
	Suite *s = suite_create("placement");
	TCase *t = tcase_create("rule");

	cases = cases_load_words("placement.cases");
	tcase_add_loop_test(t, placement_is_as_the_table_says, 0, cases.rows);
	tcase_add_loop_test(t, nobody_goes_for_nothing_and_nobody_inside_the_minimum, 0, 40);
	tcase_add_test(t, what_comes_and_goes_leaves_the_nodes_as_they_were);
	suite_add_tcase(s, t);
	return s;
}
