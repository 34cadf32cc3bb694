/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_admission.c - the verdict, from a table: what is asked, what there is, what follows and how it is
 * said */
#include "lib/admission.h"
#include "lib/duration.h"
#include "lib/number.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME, ASKS, PATH, GIVES, SAYS, COLUMNS };

static struct case_table cases;

/* One case as the rule wants it. */
struct scene {
	const struct case_row *row;
	struct gpu_request request;
	struct job_options options;
	struct admission_rules rules;
	struct admission_question question;
	struct budget_node path[BUDGET_DEPTH_MAX];
	int depth;
};

/* --- reading the table -------------------------------------------------------------------------- */

static int64_t number(const struct scene *s, const char *text)
{
	int64_t n;

	if (number_parse(text, INT64_MAX, &n) < 0)
		cases_die(&cases, s->row, "%s is not a number", text);
	return n;
}

static int64_t seconds(const struct scene *s, const char *text)
{
	struct fault why = {0};
	int64_t n;

	if (!strcmp(text, "none"))
		return DURATION_UNLIMITED;
	if (duration_parse(text, &n, &why) < 0)
		cases_die(&cases, s->row, "%s", why.text);
	return n;
}

static void set_gpus(struct scene *s, int64_t n)
{
	s->request.gpus_max = n;
	s->request.gpus.ntypes = 0;
	s->request.gpus.total = 0;
	ck_assert_int_eq(gpu_count_add(&s->request.gpus, "", n), 0);
}

static bool read_flag(struct scene *s, const char *word)
{
	struct {
		const char *word;
		bool *flag, value;
	} flags[] = {
		{ "begin", &s->question.deferred, true }, { "srun", &s->question.requeueable, false },
		{ "script", &s->question.signal_script, true }, { "classic", &s->rules.hold_time_limit, true }, { "strict", &s->rules.reject_unlimited, true },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (!strcmp(word, flags[i].word)) {
			*flags[i].flag = flags[i].value;
			return true;
		}
	return false;
}

static void read_word(struct scene *s, const char *word)
{
	if (read_flag(s, word))
		return;
	if (!strcmp(word, "reject"))
		s->question.on_exhausted = ADMIT_REJECT;
	else if (!strcmp(word, "wait"))
		s->question.on_exhausted = ADMIT_WAIT;
	else if (!strcmp(word, "USR1"))
		s->question.signal = SIGUSR1;
	else if (!strcmp(word, "at_once"))
		s->rules.grace_s = 0;
	else if (!strcmp(word, "behind"))
		s->question.behind = 7;
	else if (!strncmp(word, "min=", 4))
		s->options.min_runtime_s = seconds(s, word + 4);
	else if (!strncmp(word, "tier=", 5))
		ck_assert_int_eq(job_options_set(&s->options, OPT_TIER, word + 5, NULL), 0);
	else if (!strncmp(word, "to=", 3)) {
		s->request.exact = false;
		set_gpus(s, number(s, word + 3));
	} else
		cases_die(&cases, s->row, "%s is not known", word);
}

static void read_asks(struct scene *s)
{
	char text[256], *rest = text, *tasks;
	const char *gpus, *word;

	snprintf(text, sizeof(text), "%s", s->row->col[ASKS]);
	gpus = strtok_r(rest, " ", &rest);
	tasks = strchr(gpus, 'x');
	s->request.array_tasks = tasks ? number(s, tasks + 1) : 1;
	if (tasks)
		*tasks = '\0';
	s->request.exact = true;
	s->request.gpus_min = number(s, gpus);
	set_gpus(s, s->request.gpus_min);
	s->question.time_limit_s = seconds(s, strtok_r(NULL, " ", &rest));
	while ((word = strtok_r(NULL, " ", &rest)))
		read_word(s, word);
}

static void read_node(struct scene *s, char *text)
{
	struct budget_node *n = &s->path[s->depth++];
	char *money = strchr(text, '='), *rest;
	amount_t *const fields[] = { &n->amount, &n->held, &n->charged, &n->credit, &n->cap, &n->cap_held,
		&n->cap_charged };
	const size_t count = sizeof(fields) / sizeof(fields[0]);

	n->metered = money != NULL;
	if (money)
		*money++ = '\0';
	for (size_t i = 0; money && i < count; i++) {
		const char *one = strtok_r(i ? NULL : money, ",", &rest);

		if (!one && i < 3)
			cases_die(&cases, s->row, "%s needs AMOUNT,HELD,CHARGED", text);
		n->capped = n->capped || (one && i == 4);
		*fields[i] = one ? number(s, one) * AMOUNT_GPU_HOUR : 0;
	}
	if (text[strlen(text) - 1] == '!') {
		text[strlen(text) - 1] = '\0';
		n->metered = n->expired = true;
	}
	if (text[strlen(text) - 1] == '%') {
		text[strlen(text) - 1] = '\0';
		n->no_share = true;
	}
	snprintf(n->name, sizeof(n->name), "%s", text);
}

static void read_path(struct scene *s)
{
	char text[256], *rest = text, *word;

	snprintf(text, sizeof(text), "%s", s->row->col[PATH]);
	while ((word = strtok_r(rest, " ", &rest)))
		read_node(s, word);
}

static void read_scene(struct scene *s, const struct case_row *row)
{
	*s = (struct scene){ .row = row,
		.rules = { .default_min_runtime_s = 900, .max_min_runtime_s = 8 * 3600, .grace_s = 120 } };
	job_options_init(&s->options);
	s->question = (struct admission_question){ .request = &s->request, .options = &s->options,
		.requeueable = true, .signal = SIGTERM, .on_exhausted = ADMIT_FREE };
	read_asks(s);
	s->question.price = s->request.gpus_max * AMOUNT_RATE_ONE;
	read_path(s);
}

/* --- judging ------------------------------------------------------------------------------------ */

static const char *verdict_name(const struct admission *a)
{
	return a->accepted ? job_tier_name(a->tier) : "refused";
}

static void check_gives(const struct scene *s, const struct admission *a)
{
	char text[128], *rest = text, hold[AMOUNT_TEXT_MAX];
	const char *name = s->row->col[NAME], *word;

	snprintf(text, sizeof(text), "%s", s->row->col[GIVES]);
	word = strtok_r(text, " ", &rest);
	ck_assert_msg(!strcmp(word, verdict_name(a)), "%s: %s, the table says %s: %s", name, verdict_name(a),
		word, a->text);
	word = strtok_r(NULL, " ", &rest);
	ck_assert_msg(!strcmp(word, amount_text(a->hold, hold)), "%s: it holds %s, the table says %s", name,
		hold, word);
	ck_assert_msg(a->min_runtime_s == seconds(s, strtok_r(NULL, " ", &rest)), "%s: protected for %jd s",
		name, (intmax_t)a->min_runtime_s);
	word = strtok_r(NULL, " ", &rest);
	ck_assert_msg(a->waits == (word && !strcmp(word, "waits")), "%s: it waits: %d", name, a->waits);
}

static void check_says(const struct scene *s, const struct admission *a)
{
	char text[512], *rest = text, *piece;

	snprintf(text, sizeof(text), "%s", s->row->col[SAYS]);
	while ((piece = strsep(&rest, ";")))
		ck_assert_msg(strstr(a->text, piece), "%s: \"%s\" is not in \"%s\"", s->row->col[NAME], piece,
			a->text);
}

/* What holds of every verdict, whatever the case. */
static void check_always(const struct scene *s, const struct admission *a)
{
	int tightest = budget_tightest(s->path, s->depth);

	ck_assert_msg(strlen(a->text) > 20 && strlen(a->text) < 700, "%s: \"%s\"", s->row->col[NAME],
		a->text);
	ck_assert(a->hold == a->per_task * a->tasks && a->tasks <= s->request.array_tasks);
	ck_assert(!a->waits || a->tasks < s->request.array_tasks);
	ck_assert(a->hold == 0 || tightest < 0 || a->hold <= budget_available(&s->path[tightest]));
	ck_assert((a->tier == TIER_FUNDED) == (a->accepted && a->min_runtime_s > 0));
}

START_TEST(verdicts_are_as_the_table_says)
{
	struct scene s;
	struct admission a;

	read_scene(&s, &cases.row[_i]);
	admission_decide(&s.question, &s.rules, s.path, s.depth, &a);
	check_gives(&s, &a);
	check_says(&s, &a);
	check_always(&s, &a);
}
END_TEST

/* What the text proposes must be true: the job with the shorter minimum is funded, and a minute more would
 * not be. */
START_TEST(what_the_text_says_would_fit_does_fit)
{
	struct scene s;
	struct admission a;
	const char *offer, *option = "--gpu-min-runtime=";
	int64_t *asked;

	read_scene(&s, &cases.row[_i]);
	asked = &s.options.min_runtime_s;
	if (s.rules.hold_time_limit) {
		option = "--time=";
		asked = &s.question.time_limit_s;
	}
	admission_decide(&s.question, &s.rules, s.path, s.depth, &a);
	offer = strstr(a.text, option);
	if (!offer)
		return;
	*asked = strtoll(offer + strlen(option), NULL, 10) * 60;
	admission_decide(&s.question, &s.rules, s.path, s.depth, &a);
	ck_assert_msg(a.tier == TIER_FUNDED && !a.waits, "%s: %s", s.row->col[NAME], a.text);
	*asked += 60;
	admission_decide(&s.question, &s.rules, s.path, s.depth, &a);
	ck_assert_msg(a.tier != TIER_FUNDED || a.waits, "%s: %s", s.row->col[NAME], a.text);
}
END_TEST

Suite *admission_suite(void)
{
	Suite *s = suite_create("admission");
	TCase *t = tcase_create("verdict");

	cases = cases_load("admission.cases", COLUMNS);
	tcase_add_loop_test(t, verdicts_are_as_the_table_says, 0, cases.rows);
	tcase_add_loop_test(t, what_the_text_says_would_fit_does_fit, 0, cases.rows);
	suite_add_tcase(s, t);
	return s;
}
