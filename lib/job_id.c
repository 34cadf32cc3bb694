/* SPDX-License-Identifier: GPL-2.0-or-later
 * job_id.c - a job as people and squeue write it (job_id.h) */
#include "lib/job_id.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include "lib/number.h"

/* "[5-9,12%2]" to the end; squeue cuts a long one short with "...". */
static bool is_task_list(const char *p)
{
	size_t n = *p == '[' ? strspn(p + 1, "0123456789,-:%.") : 0;

	return n > 0 && !strcmp(p + 1 + n, "]");
}

int job_id_parse(const char *text, struct job_name *out, struct fault *why)
{
	struct job_name n = { .part = JOB_WHOLE };
	const char *p = text;
	bool good = number_read(&p, &n.job) == 0 && n.job > 0 && n.job <= UINT32_MAX;

	if (good && *p == '_' && is_task_list(p + 1)) {
		n.part = JOB_TASKS;
	} else if (good && *p) {
		n.part = *p == '_' ? JOB_TASK : JOB_COMPONENT;
		good = (*p == '_' || *p == '+') && number_parse(p + 1, UINT32_MAX, &n.within) == 0;
	}
	if (!good)
		return fault_errno(why, EINVAL,
			"\"%.40s\" is not a job id: write 1234, 1234_5 or 1234_[5-9] for tasks of an "
			"array, 1234+1 for a component of a het job", text);
	*out = n;
	return 0;
}
