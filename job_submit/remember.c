/* SPDX-License-Identifier: GPL-2.0-or-later
 * remember.c - options as words of AdminComment.
 *
 * AdminComment is trusted and the texts are the user's: only what lib/job_options understands is written, and
 * a blank or a comma could start a word that nobody declared. */
#include "job_submit/remember.h"
#include <string.h>
#include "job_submit/question.h"
#include "lib/job_options.h"

static bool is_one_word(const char *text)
{
	return *text && !text[strcspn(text, " \t\r\n,;")];
}

void remember_options(job_desc_msg_t *job_desc)
{
	struct job_options o;

	job_options_init(&o);
	for (int i = 0; i < JOB_OPTIONS; i++) {
		const char *text = question_option(job_desc, i);

		if (!text || !is_one_word(text) || job_options_set(&o, i, text, NULL) < 0)
			continue;
		slurm_xstrfmtcat(&job_desc->admin_comment, "%s%s=%s",
			job_desc->admin_comment && job_desc->admin_comment[0] ? " " : "",
			job_option_table[i].name, text);
	}
}
