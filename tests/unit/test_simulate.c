/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_simulate.c - small traces replayed, from a table; what must hold of any replay; broken traces */
#include "simulate/engine.h"
#include "simulate/owed.h"
#include "simulate/report.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER       "submit_s,duration_s,gpus,project,user,min_runtime_s,resumable\n"
#define TEXT_MAX     8192
#define PROJECTS_MAX 16

static struct case_table cases;

struct world {
	const char *name;
	char text[TEXT_MAX]; /* the trace */
	struct trace trace;
	struct shares shares;
	struct sim_setup setup;
	struct sim_result result;
	int64_t owed[PROJECTS_MAX];
	bool done;
};

static int64_t number(const struct case_row *row, const char *text)
{
	char *end;
	int64_t n = strtoll(text, &end, 10);

	if (end == text || *end)
		cases_die(&cases, row, "%s is not a number", text);
	return n;
}

static void trace_of(struct world *w)
{
	FILE *f = fmemopen(w->text, strlen(w->text), "r");
	struct fault why = {""};

	ck_assert_msg(f && trace_read(&w->trace, f, NULL, 1, &why) == 0, "%s: %s", w->name, why.text);
	fclose(f);
	ck_assert_uint_eq(w->trace.aside, 0);
	ck_assert_msg(shares_finish(&w->shares, &w->trace, &why) == 0, "%s: %s", w->name, why.text);
}

static void replay(struct world *w)
{
	struct fault why = {""};

	if (w->done)
		return;
	w->done = true;
	trace_of(w);
	w->setup.trace = &w->trace;
	w->setup.shares = &w->shares;
	w->setup.picture = true; /* every GPU has one owner: asserted while it is drawn */
	ck_assert_msg(sim_run(&w->setup, &w->result, &why) == 0, "%s: %s", w->name, why.text);
	ck_assert_int_eq(owed_count(&w->trace, &w->shares, (int64_t)w->setup.nodes * w->setup.gpus_per_node,
				 w->result.from, w->result.until, w->owed),
		0);
}

static void world_end(struct world *w)
{
	sim_result_free(&w->result);
	shares_free(&w->shares);
	trace_free(&w->trace);
}

/* --- what there is --------------------------------------------------------------------------------- */

static void do_cluster(struct world *w, const struct case_row *row)
{
	w->setup.nodes = (int)number(row, row->col[1]);
	w->setup.gpus_per_node = (int)number(row, row->col[2]);
}

static void do_with(struct world *w, const struct case_row *row)
{
	for (int i = 0; i < SIM_SCHEDULERS; i++)
		if (!strcmp(row->col[1], sim_scheduler_name[i])) {
			w->setup.scheduler = (enum sim_scheduler)i;
			return;
		}
	cases_die(&cases, row, "there is no scheduler %s", row->col[1]);
}

static void do_share(struct world *w, const struct case_row *row)
{
	ck_assert_int_eq(shares_add_text(&w->shares, row->col[1], NULL), 0);
}

static void do_until(struct world *w, const struct case_row *row)
{
	w->setup.until = number(row, row->col[1]);
}

static void do_job(struct world *w, const struct case_row *row)
{
	for (int i = 1; i < row->n; i++) {
		strncat(w->text, row->col[i], TEXT_MAX - strlen(w->text) - 1);
		strncat(w->text, "\n", TEXT_MAX - strlen(w->text) - 1);
	}
}

/* --- what came of it ------------------------------------------------------------------------------- */

static void expect_job(struct world *w, const struct case_row *row)
{
	size_t i = (size_t)number(row, row->col[1]) - 1;
	const struct sim_job *j = &w->result.jobs[i];
	int64_t wanted = strcmp(row->col[2], "-") ? number(row, row->col[2]) : -1;
	int64_t got = !strcmp(row->col[0], "start") ? j->first_start
		      : !strcmp(row->col[0], "end") ? j->end
						    : j->runs;

	ck_assert_uint_lt(i, w->trace.count);
	ck_assert_msg(got == wanted, "%s, line %d: %s of job %s is %jd, the table says %s", w->name,
		row->line, row->col[0], row->col[1], (intmax_t)got, row->col[2]);
}

static void expect_project(struct world *w, const struct case_row *row)
{
	int p = trace_name(&w->trace.projects, row->col[1], false);
	const struct sim_project *x = &w->result.projects[p];
	const char *what = row->col[0];
	int64_t got = !strcmp(what, "owed")        ? w->owed[p]
		      : !strcmp(what, "delivered") ? x->delivered_gpu_s
		      : !strcmp(what, "free")      ? x->free_gpu_s
						   : x->lost_gpu_s;

	ck_assert_int_ge(p, 0);
	ck_assert_msg(got == number(row, row->col[2]), "%s, line %d: %s of %s is %jd, the table says %s",
		w->name, row->line, what, row->col[1], (intmax_t)got, row->col[2]);
}

static void expect_all(struct world *w, const struct case_row *row)
{
	int64_t got = w->result.cancelled;

	for (size_t p = 0; strcmp(row->col[0], "cancelled") && p < w->trace.projects.count; p++)
		got += !strcmp(row->col[0], "displaced") ? w->result.projects[p].displaced
							 : w->result.projects[p].reclaimed;
	ck_assert_msg(got == number(row, row->col[1]), "%s, line %d: %s %jd, the table says %s", w->name,
		row->line, row->col[0], (intmax_t)got, row->col[1]);
}

static const struct {
	const char *word;
	int columns; /* at least */
	bool asks;   /* wants the replay done */
	void (*run)(struct world *, const struct case_row *);
} lines[] = {
	{"cluster", 3, false, do_cluster},
	{"with", 2, false, do_with},
	{"share", 2, false, do_share},
	{"until", 2, false, do_until},
	{"job", 2, false, do_job},
	{"start", 3, true, expect_job},
	{"end", 3, true, expect_job},
	{"runs", 3, true, expect_job},
	{"owed", 3, true, expect_project},
	{"delivered", 3, true, expect_project},
	{"free", 3, true, expect_project},
	{"lost", 3, true, expect_project},
	{"displaced", 2, true, expect_all},
	{"reclaimed", 2, true, expect_all},
	{"cancelled", 2, true, expect_all},
};

static void run_line(struct world *w, const struct case_row *row)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (strcmp(lines[i].word, row->col[0]) || row->n < lines[i].columns)
			continue;
		if (lines[i].asks)
			replay(w);
		else if (w->done)
			cases_die(&cases, row, "it comes after the first question");
		lines[i].run(w, row);
		return;
	}
	cases_die(&cases, row, "no such line, or too few words");
}

START_TEST(replay_is_as_the_table_says)
{
	struct world *w = calloc(1, sizeof(*w));

	ck_assert_ptr_nonnull(w);
	w->name = cases.row[_i].col[1];
	w->setup = sim_defaults();
	strcpy(w->text, HEADER);
	for (int row = _i + 1; !strcmp(cases.row[_i].col[0], "case") && row < cases.rows &&
			       strcmp(cases.row[row].col[0], "case");
		row++)
		run_line(w, &cases.row[row]);
	world_end(w);
	free(w);
}
END_TEST

/* --- what must hold of any replay ------------------------------------------------------------------ */

#define MANY         1500
#define CLUSTER_GPUS 32

/* A crowd of jobs, of which a part are gangs, a part free, a part cannot be requeued. */
static struct trace crowd(uint64_t seed)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct trace t;
	struct fault why = {""};

	fputs(HEADER, f);
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t x = trace_random(seed, i),
			 gpus = x % 7 == 0 ? 1 + x / 7 % CLUSTER_GPUS : 1 + x / 7 % 4;

		fprintf(f, "%ju,%ju,%ju,p%ju,u%ju,%ju,%d\n", i * 60, 60 + x / 11 % 20000, gpus, x / 13 % 5,
			x / 17 % 9, x / 19 % 5 == 0 ? 0 : 300 + x / 23 % 4000, x / 29 % 10 != 0);
	}
	fclose(f);
	f = fmemopen(text, size, "r");
	ck_assert_msg(trace_read(&t, f, NULL, seed, &why) == 0, "%s", why.text);
	fclose(f);
	free(text);
	return t;
}

static void run_crowd(
	const struct trace *t, const struct shares *s, enum sim_scheduler k, struct sim_result *out)
{
	struct sim_setup setup = sim_defaults();
	struct fault why = {""};

	setup.trace = t;
	setup.shares = s;
	setup.nodes = 4;
	setup.scheduler = k;
	setup.picture = true;
	setup.until = t->jobs[t->count - 1].submit_s + 40000000; /* all is done by then */
	ck_assert_msg(sim_run(&setup, out, &why) == 0, "%s", why.text);
}

/* What was used is what was asked for and what was lost; and each second of each GPU belongs to one run. */
START_TEST(no_second_is_lost_or_counted_twice)
{
	struct trace t = crowd((uint64_t)_i);
	struct shares s = {0};
	struct sim_result r;
	int64_t used = 0, asked = 0, drawn = 0;

	ck_assert_int_eq(shares_finish(&s, &t, NULL), 0);
	run_crowd(&t, &s, (enum sim_scheduler)(_i % SIM_SCHEDULERS), &r);
	for (size_t i = 0; i < t.count; i++) {
		ck_assert(r.jobs[i].first_start >= t.jobs[i].submit_s);
		if (r.jobs[i].end >= 0)
			asked += t.jobs[i].duration_s * t.jobs[i].gpus;
		else
			ck_assert(!t.jobs[i].resumable);
	}
	for (size_t p = 0; p < t.projects.count; p++) {
		asked += r.projects[p].lost_gpu_s;
		used += r.projects[p].delivered_gpu_s + r.projects[p].free_gpu_s;
	}
	for (size_t i = 0; i < r.nsegments; i++)
		drawn += r.segments[i].to - r.segments[i].from;
	ck_assert_int_eq(used, r.used_gpu_s);
	ck_assert_int_eq(drawn, r.used_gpu_s);
	ck_assert_int_le(r.used_gpu_s, r.usable_gpu_s);
	/* of the cancelled only what their last run had is lost; what they kept before is in no job's
	 * duration */
	ck_assert_int_le(asked, used);
	if (_i % SIM_SCHEDULERS != SIM_CONTRACT)
		ck_assert_int_eq(asked, used);
	sim_result_free(&r);
	shares_free(&s);
	trace_free(&t);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_replay)
{
	struct trace t = crowd(77);
	struct shares s = {0};
	struct sim_result a, b;

	ck_assert_int_eq(shares_finish(&s, &t, NULL), 0);
	run_crowd(&t, &s, (enum sim_scheduler)_i, &a);
	run_crowd(&t, &s, (enum sim_scheduler)_i, &b);
	ck_assert_int_eq(memcmp(a.projects, b.projects, t.projects.count * sizeof(*a.projects)), 0);
	for (size_t i = 0; i < t.count; i++) {
		ck_assert_int_eq(a.jobs[i].first_start, b.jobs[i].first_start);
		ck_assert_int_eq(a.jobs[i].end, b.jobs[i].end);
	}
	sim_result_free(&a);
	sim_result_free(&b);
	shares_free(&s);
	trace_free(&t);
}
END_TEST

/* --- files that make no sense ---------------------------------------------------------------------- */

static const struct {
	const char *text, *said;
} broken[] = {
	{"submit_s,duration_s,project\n1,2,a\n", "no column gpus"},
	{"submit_s,duration_s,gpus,project\n", "no job"},
	{"submit_s,duration_s,gpus,project\n1,2,0,a\n", "line 2: gpus"},
	{"submit_s,duration_s,gpus,project\n-1,2,1,a\n", "line 2: submit_s"},
	{"submit_s,duration_s,gpus,project\n1,0,1,a\n", "line 2: duration_s"},
	{"submit_s,duration_s,gpus,project\n1,2,1,\n", "line 2: it has no project"},
	{"submit_s,duration_s,gpus,project,usr\n1,2,1,a,b\n", "a column usr: did you mean user?"},
	{"submits,duration_s,gpus,project\n1,2,1,a\n", "a column submits: did you mean submit_s?"},
	{"submit_s,duration_s,gpus,project,gpus\n1,2,1,a,1\n", "the column gpus twice"},
	{"submit_s,duration_s,gpus,project\n1,2,1,a,b\n", "line 2: it has more cells than the header has columns"},
	{"submit_s,duration_s,gpus,project,resumable\n1,2,1,a,7\n", "line 2: resumable is none of 1, 0, yes"},
};

START_TEST(a_trace_that_is_none_is_refused)
{
	FILE *f = fmemopen((void *)broken[_i].text, strlen(broken[_i].text), "r");
	struct trace t;
	struct fault why = {""};

	ck_assert_int_eq(trace_read(&t, f, NULL, 1, &why), -1);
	ck_assert_msg(strstr(why.text, broken[_i].said), "%s", why.text);
	fclose(f);
	trace_free(&t);
}
END_TEST

START_TEST(a_row_that_is_none_is_set_aside_and_the_others_count)
{
	char text[] =
		"\xef\xbb\xbfproject, gpus ,\"duration_s\",submit_s,note\n\"a\",2,100.0,5,x\nb,two,100,5\n\na,1,100,3,,\n";
	FILE *f = fmemopen(text, strlen(text), "r");
	struct trace t;

	ck_assert_int_eq(trace_read(&t, f, NULL, 1, NULL), 0);
	ck_assert_uint_eq(t.count, 2);
	ck_assert_uint_eq(t.aside, 1);
	ck_assert_int_eq(t.jobs[0].submit_s, 3);
	ck_assert_int_eq(t.jobs[1].gpus, 2);
	ck_assert_int_eq(t.jobs[1].duration_s, 100);
	ck_assert_str_eq(t.projects.name[0], "a");
	fclose(f);
	trace_free(&t);
}
END_TEST

START_TEST(weights_keep_their_proportions)
{
	struct shares s = {0};
	struct trace t = {0};

	ck_assert_int_eq(shares_add_text(&s, "a=0.35", NULL), 0);
	ck_assert_int_eq(shares_add_text(&s, "b=256112.178334", NULL), 0);
	ck_assert_int_eq(shares_add_text(&s, "c=0", NULL), 0);
	ck_assert_int_eq(shares_add_text(&s, "a=1", NULL), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_int_eq(shares_add_text(&s, "d=x", NULL), -1);
	ck_assert_int_eq(shares_add_text(&s, "=1", NULL), -1);
	ck_assert_int_eq(shares_add_text(&s, "e=-1", NULL), -1);
	ck_assert_int_eq(shares_finish(&s, &t, NULL), 0);
	ck_assert_int_eq(s.nodes[0].share, 350);
	ck_assert_int_eq(s.nodes[1].share, 256112178);
	ck_assert_int_eq(s.nodes[2].share, 0);
	shares_free(&s);
}
END_TEST

Suite *simulate_suite(void)
{
	Suite *s = suite_create("simulate");
	TCase *t = tcase_create("replay");

	cases = cases_load_words("simulate.cases");
	tcase_set_timeout(t, 300); /* a machine may be slow */
	tcase_add_loop_test(t, replay_is_as_the_table_says, 0, cases.rows);
	tcase_add_loop_test(t, no_second_is_lost_or_counted_twice, 0, 12);
	tcase_add_loop_test(t, the_same_seed_gives_the_same_replay, 0, SIM_SCHEDULERS);
	tcase_add_loop_test(t, a_trace_that_is_none_is_refused, 0, sizeof(broken) / sizeof(broken[0]));
	tcase_add_test(t, a_row_that_is_none_is_set_aside_and_the_others_count);
	tcase_add_test(t, weights_keep_their_proportions);
	suite_add_tcase(s, t);
	return s;
}
