/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_job_id.c - what is a job id, and what only begins like one */
#include "lib/job_id.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <string.h>

static struct case_table cases;
static const char *const part_name[] = { [JOB_WHOLE] = "whole", [JOB_TASK] = "task", [JOB_TASKS] = "tasks",
	[JOB_COMPONENT] = "component" };

START_TEST(the_whole_text_is_a_job_id_or_it_is_none)
{
	const struct case_row *c = &cases.row[_i];
	struct job_name n = { .job = -7 };
	struct fault why = { "" };
	int rc = job_id_parse(c->col[0], &n, &why);

	if (case_none(c, 1)) {
		ck_assert_msg(rc == -1 && errno == EINVAL && n.job == -7, "%s was taken", c->col[0]);
		ck_assert_msg(strstr(why.text, c->col[0]) && strstr(why.text, "write 1234, 1234_5"), "%s",
			why.text);
		return;
	}
	ck_assert_msg(rc == 0, "%s: %s", c->col[0], why.text);
	ck_assert_int_eq(n.job, case_number(c, 1));
	ck_assert_str_eq(part_name[n.part], c->col[2]);
	ck_assert_int_eq(n.within, case_number(c, 3));
}
END_TEST

Suite *job_id_suite(void)
{
	Suite *s = suite_create("job_id");
	TCase *t = tcase_create("ids");

	cases = cases_load("job_id.cases", 4);
	cases_check_number(&cases, 1);
	tcase_add_loop_test(t, the_whole_text_is_a_job_id_or_it_is_none, 0, cases.rows);
	suite_add_tcase(s, t);
	return s;
}
