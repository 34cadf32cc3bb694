/* SPDX-License-Identifier: GPL-2.0-or-later
 * spank_env.c - spank_job_env and comments of a submission inside slurmctld, and what budgetd answers to it */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "job_submit/question.h"
#include "job_submit/verdict.h"
#include "tests/fuzz/fuzz.h"

enum { ENVIRONMENT = 4, COMMENT = ENVIRONMENT, TRES, ANSWER, LINES };

static void asks(const job_desc_msg_t *d)
{
	struct json_object *o;

	for (int i = 0; i < JOB_OPTIONS; i++)
		question_option(d, (enum job_option)i);
	question_concerns(d);
	o = question_submit(d, 1000);
	fuzz_must(json_object_is_type(o, json_type_object));
	json_object_put(o);
}

static void answered(job_desc_msg_t *d, const char *text)
{
	struct json_object *o = json_tokener_parse(text);
	struct fault why = {0};
	struct verdict v;

	if (verdict_read(o, &v, &why) < 0) {
		fuzz_refused(&why);
		json_object_put(o);
		return;
	}
	verdict_apply(&v, d);
	verdict_clear(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	job_desc_msg_t d;
	char *line[LINES], *said = NULL;

	fuzz_lines(data, size, LINES, line);
	slurm_init_job_desc_msg(&d);
	d.spank_job_env = line;
	d.spank_job_env_size = ENVIRONMENT;
	verdict_set(&d.comment, line[COMMENT]);
	verdict_set(&d.tres_per_job, line[TRES]);
	asks(&d);
	answered(&d, line[ANSWER]);
	verdict_tell(line[ANSWER], &said);
	fuzz_must(!said || !strpbrk(said, "\033\r"));
	verdict_set(&d.comment, NULL);
	verdict_set(&d.tres_per_job, NULL);
	verdict_set(&d.account, NULL);
	verdict_set(&d.qos, NULL);
	verdict_set(&d.admin_comment, NULL);
	verdict_set(&said, NULL);
	fuzz_lines_free(LINES, line);
	return 0;
}
