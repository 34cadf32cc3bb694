/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_job_options.c - minimum runtime, tier and team rank, as options and as words of a comment. */
#include "spank/facts.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/job_options.h"
#include "tests/unit/cases.h"

static struct case_table option_cases, comment_cases;

static enum job_option option_named(const char *name)
{
	enum job_option i = 0;

	while (i < JOB_OPTIONS && strcmp(job_option_table[i].name, name) != 0)
		i++;
	ck_assert_msg(i < JOB_OPTIONS, "there is no option %s", name);
	return i;
}

static void value_text(const struct job_options *o, enum job_option which, char buf[32])
{
	if (which == OPT_MIN_RUNTIME)
		snprintf(buf, 32, "%" PRId64, o->min_runtime_s);
	else if (which == OPT_TIER)
		snprintf(buf, 32, "%s", job_tier_name(o->tier));
	else
		snprintf(buf, 32, "%d", o->team_rank);
}

START_TEST(an_option_is_taken_or_refused_with_what_is_allowed)
{
	const struct case_row *c = &option_cases.row[_i];
	enum job_option which = option_named(c->col[0]);
	struct job_options o, before;
	struct fault why = { "" };
	char got[32];
	int rc;

	job_options_init(&o);
	before = o;
	rc = job_options_set(&o, which, c->col[1], &why);
	value_text(&o, which, got);
	if (!case_none(c, 2)) {
		ck_assert_msg(rc == 0, "--%s=%s: %s", c->col[0], c->col[1], why.text);
		ck_assert_str_eq(got, c->col[2]);
		return;
	}
	ck_assert_msg(rc == -1 && (errno == EINVAL || errno == EOVERFLOW), "--%s=%s was taken for %s",
		c->col[0], c->col[1], got);
	ck_assert_msg(strstr(why.text, c->col[3]), "--%s=%s: the text has no \"%s\": %s", c->col[0],
		c->col[1], c->col[3], why.text);
	ck_assert_mem_eq(&o, &before, sizeof(o));
}
END_TEST

START_TEST(words_of_a_comment_are_options_and_others_are_left_alone)
{
	const struct case_row *c = &comment_cases.row[_i];
	struct fault why = { "" };
	struct job_options o;
	char got[64];
	int rc;

	job_options_init(&o);
	rc = job_options_from_comment(&o, c->col[0], &why);
	snprintf(got, sizeof(got), "%" PRId64 " %s %d", o.min_runtime_s, job_tier_name(o.tier), o.team_rank);
	if (!case_none(c, 1)) {
		ck_assert_msg(rc == 0, "\"%s\": %s", c->col[0], why.text);
		ck_assert_str_eq(got, c->col[1]);
		return;
	}
	ck_assert_int_eq(rc, -1);
	ck_assert_msg(strstr(why.text, c->col[2]), "\"%s\": the text has no \"%s\": %s", c->col[0], c->col[2],
		why.text);
	ck_assert_str_eq(got, "-1 unset 0");
}
END_TEST

START_TEST(an_option_wins_over_a_word_of_the_comment)
{
	struct job_options o;

	job_options_init(&o);
	ck_assert_int_eq(job_options_set(&o, OPT_TIER, "free", NULL), 0);
	ck_assert_int_eq(job_options_from_comment(&o, "gpu-tier=funded gpu-team-rank=4", NULL), 0);
	ck_assert_int_eq(o.tier, TIER_FREE);
	ck_assert_int_eq(o.team_rank, 4);
	ck_assert_int_eq(job_options_from_comment(&o, NULL, NULL), 0);
}
END_TEST

START_TEST(a_minimum_runtime_over_the_maximum_is_refused_with_the_maximum)
{
	struct job_options o = { .min_runtime_s = 8 * 3600 };
	struct fault why = { "" };

	ck_assert_int_eq(job_options_check(&o, 8 * 3600, &why), 0);
	o.min_runtime_s++;
	ck_assert_int_eq(job_options_check(&o, 8 * 3600, &why), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_nonnull(strstr(why.text, "maximum of 8 h"));
}
END_TEST

START_TEST(funded_with_nothing_to_protect_is_a_contradiction)
{
	struct job_options o = { .min_runtime_s = 0, .tier = TIER_FUNDED };
	struct fault why = { "" };

	ck_assert_int_eq(job_options_check(&o, 3600, &why), -1);
	ck_assert_ptr_nonnull(strstr(why.text, "contradict"));
	o.tier = TIER_FREE;
	ck_assert_int_eq(job_options_check(&o, 3600, NULL), 0);
	o.min_runtime_s = MIN_RUNTIME_UNSET;
	o.tier = TIER_FUNDED;
	ck_assert_int_eq(job_options_check(&o, 3600, NULL), 0);
	o.min_runtime_s = -60;
	ck_assert_int_eq(job_options_check(&o, 3600, NULL), -1);
}
END_TEST

START_TEST(a_run_is_told_what_it_is)
{
	struct settings *site = settings_defaults();
	char buf[64];

	ck_assert_ptr_nonnull(site);
	ck_assert_str_eq(fact_tier("funded-still", site), "funded");
	ck_assert_str_eq(fact_tier("free", site), "free");
	ck_assert_ptr_null(fact_tier("normal", site));
	free(site->qos_funded);
	site->qos_funded = strdup("normal");
	ck_assert_str_eq(fact_tier("normal", site), "funded");
	ck_assert_str_eq(fact_run(NULL, buf, sizeof(buf)), "1");
	ck_assert_str_eq(fact_run("2", buf, sizeof(buf)), "3");
	ck_assert_ptr_null(fact_run("two", buf, sizeof(buf)));
	ck_assert_str_eq(fact_min_runtime("funded", "2h", 0, site, buf, sizeof(buf)), "7200");
	ck_assert_str_eq(fact_min_runtime("funded", NULL, 0, site, buf, sizeof(buf)), "900");
	ck_assert_str_eq(fact_min_runtime("funded", "2h", 3600, site, buf, sizeof(buf)), "3600");
	ck_assert_str_eq(fact_min_runtime("free", "2h", 0, site, buf, sizeof(buf)), "0");
	ck_assert_str_eq(fact_min_runtime("free", NULL, 0, site, buf, sizeof(buf)), "0");
	ck_assert_ptr_null(fact_min_runtime("funded", "soon", 0, site, buf, sizeof(buf)));
	ck_assert_str_eq(fact_grace("funded", site, buf, sizeof(buf)), "120");
	ck_assert_str_eq(fact_grace("free", site, buf, sizeof(buf)), "0");
	settings_free(site);
}
END_TEST

Suite *job_options_suite(void)
{
	Suite *s = suite_create("job_options");
	TCase *t = tcase_create("job_options");

	option_cases = cases_load("job_option.cases", 4);
	comment_cases = cases_load("job_comment.cases", 3);
	tcase_add_test(t, a_run_is_told_what_it_is);
	tcase_add_loop_test(t, an_option_is_taken_or_refused_with_what_is_allowed, 0, option_cases.rows);
	tcase_add_loop_test(
		t, words_of_a_comment_are_options_and_others_are_left_alone, 0, comment_cases.rows);
	tcase_add_test(t, an_option_wins_over_a_word_of_the_comment);
	tcase_add_test(t, a_minimum_runtime_over_the_maximum_is_refused_with_the_maximum);
	tcase_add_test(t, funded_with_nothing_to_protect_is_a_contradiction);
	suite_add_tcase(s, t);
	return s;
}
