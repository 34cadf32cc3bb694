/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_hooks.c - from SPANK to check.h and back (check_hooks.h) */
#include "spank/check_hooks.h"
#include <errno.h>
#include <fcntl.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "spank/check.h"
#include "spank/step.h"

#define OPTION_CHECK   "gpu-check"
#define OPTION_BACKEND "gpu-backend"

/* Slurm 23.11; NULL in an older one. */
extern spank_err_t spank_prepend_task_argv(spank_t sp, int argc, const char *argv[]) __attribute__((weak));

enum { WORDS, BACKEND, OPTIONS };

/* The one context of this file: SPANK hands none to its callbacks. */
static struct {
	struct check_site site;
	char given[OPTIONS][CHECK_WORDS_MAX];	/* the user's words; "" = none */
	struct proofs *proofs;		/* NULL: there is nothing to do */
	char step[32];			/* its own: tasks could write over the page's */
	bool at_program;		/* slurmstepd: programs may have put results there */
} context;

static const char *given_or_null(int which)
{
	return context.given[which][0] ? context.given[which] : NULL;
}

/* Judged together with what was given before, by the command alone: a node takes what it was sent, or, where
 * it knows no such word, the site's. */
static int option_given(int which, const char *text, int remote)
{
	static const char *const name[OPTIONS] = { OPTION_CHECK, OPTION_BACKEND };
	struct check_order order;
	struct fault why = { "" };

	if (which < 0 || which >= OPTIONS || !text)
		return 0;
	if (!text[0] || strlen(text) >= CHECK_WORDS_MAX) {
		fault_set(&why, "\"%.40s\" has to have 1 to %d characters", text, CHECK_WORDS_MAX - 1);
	} else {
		strcpy(context.given[which], text);
		if (remote || check_order_make(&context.site, given_or_null(WORDS), given_or_null(BACKEND),
				      &order, &why) == 0)
			return 0;
	}
	if (remote)
		return 0;
	slurm_error("gpubudget: --%s: %s", name[which], why.text);
	return -1;
}

static struct spank_option options[OPTIONS] = {
	[WORDS] = { .name = (char *)OPTION_CHECK,
		.arginfo = (char *)"auto|off|enum|copy|kernel|bandwidth|NAME,...",
		.usage = (char *)"prove that the GPUs of each task work before its program starts",
		.has_arg = 1,
		.val = WORDS,
		.cb = option_given },
	[BACKEND] = { .name = (char *)OPTION_BACKEND,
		.arginfo = (char *)"auto|cuda|hip|level-zero|opencl|opencl-cpu",
		.usage = (char *)"what the GPUs have to work with; auto: by their vendors",
		.has_arg = 1,
		.val = BACKEND,
		.cb = option_given },
};

void check_hooks_init(void)
{
	memset(&context, 0, sizeof(context));
	check_site_init(&context.site);
}

int check_hooks_argument(const char *argument, struct fault *why)
{
	return check_site_argument(&context.site, argument, why);
}

void check_hooks_register(spank_t sp)
{
	for (int i = 0; i < OPTIONS; i++)
		if (spank_option_register(sp, &options[i]) != ESPANK_SUCCESS)
			slurm_error("gpubudget: --%s cannot be registered", options[i].name);
}

/* --- in slurmstepd ------------------------------------------------------------------------------------ */

static void step_name(spank_t sp, char *buf, size_t size)
{
	uint32_t job = 0, step = 0;

	spank_get_item(sp, S_JOB_ID, &job);
	spank_get_item(sp, S_JOB_STEPID, &step);
	if (step == SLURM_BATCH_SCRIPT)
		snprintf(buf, size, "%u.batch", job);
	else
		snprintf(buf, size, "%u.%u", job, step);
}

/* What srun sent, else what sbatch left. */
static const char *word_of(spank_t sp, int which, char buf[CHECK_WORDS_MAX])
{
	const char *given = given_or_null(which);

	return given ? given : step_inherited(sp, options[which].name, buf, CHECK_WORDS_MAX);
}

static int order_make(spank_t sp, struct check_order *order)
{
	char words[CHECK_WORDS_MAX], backend[CHECK_WORDS_MAX];
	struct fault why = { "" };

	if (check_order_make(&context.site, word_of(sp, WORDS, words), word_of(sp, BACKEND, backend), order,
		    &why) < 0) {
		slurm_error("gpubudget: %s; the site's own is taken", why.text);
		if (check_order_make(&context.site, NULL, NULL, order, NULL) < 0)
			return -1;
	}
	step_name(sp, order->step, sizeof(order->step));
	return 0;
}

void check_hooks_begin(spank_t sp)
{
	struct check_order order;
	int tasks = step_tasks(sp);

	if (!step_runs_user_code(sp) || !step_was_given_gpus(sp) || tasks == 0 ||
		order_make(sp, &order) < 0 || check_order_empty(&order))
		return;
	memcpy(context.step, order.step, sizeof(context.step));
	context.proofs = proofs_new(tasks, &order, sizeof(order));
	if (!context.proofs)
		slurm_error("gpubudget: GPUs are not checked: %s", strerror(errno));
	context.at_program = context.proofs && spank_prepend_task_argv && context.site.at != CHECK_AT_HOOK;
}

/* Logs of the node: all but a proof, which is told with more of a log. */
static void log_json(const struct proof_result *r)
{
	if (!r->json[0])
		return;
	if (r->outcome == OUTCOME_PROVEN || r->outcome == OUTCOME_UNCHECKED)
		slurm_verbose("gpubudget: %s", r->json);
	else
		slurm_info("gpubudget: %s", r->json);
}

void check_hooks_end(void)
{
	struct proof_result result;

	for (int i = 0; context.at_program && proofs_put_already(context.proofs, i, &result); i++)
		if (!result.json[0] || check_json_is_of(result.json, context.step))
			log_json(&result);
		else
			slurm_info("gpubudget: step %s: a task wrote over the results of its GPUs' proof",
				context.step);
	proofs_free(context.proofs);
	context.proofs = NULL;
}

/* --- in the task -------------------------------------------------------------------------------------- */

/* Whose command ends with a slash is filled in by Slurm behind this hook (--bcast), and --container starts in
 * a bundle that has no such program. */
static bool program_can_stand_before(spank_t sp, const char *program)
{
	char **argv = NULL, value[2];
	int argc = 0;
	size_t n;

	if (context.site.at == CHECK_AT_HOOK || !spank_prepend_task_argv || access(program, X_OK) < 0 ||
		spank_getenv(sp, "SLURM_CONTAINER", value, sizeof(value)) != ESPANK_ENV_NOEXIST ||
		spank_get_item(sp, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS || argc < 1 || !argv)
		return false;
	n = strlen(argv[0]);
	return n > 0 && argv[0][n - 1] != '/';
}

/* false: it is to be proven here. */
static bool program_put_before(spank_t sp, int task)
{
	char program[CHECK_PROGRAM_MAX], fd[16], number[16];
	const char *words[] = { check_program(&context.site, program), fd, number };
	int file = proofs_fd(context.proofs);

	if (!program_can_stand_before(sp, program))
		return false;
	snprintf(fd, sizeof(fd), "%d", file);
	snprintf(number, sizeof(number), "%d", task);
	if (fcntl(file, F_SETFD, 0) == 0 && spank_prepend_task_argv(sp, 3, words) == ESPANK_SUCCESS)
		return true;
	fcntl(file, F_SETFD, FD_CLOEXEC);
	return false;
}

int check_hooks_task(spank_t sp)
{
	struct proof_result result;
	char **environment = NULL;
	bool own = false;
	int task = -1, rv;

	if (!context.proofs || spank_get_item(sp, S_TASK_ID, &task) != ESPANK_SUCCESS ||
		spank_get_item(sp, S_JOB_ENV, &environment) != ESPANK_SUCCESS || !environment)
		return 0;
	if (program_put_before(sp, task))
		return 0;
	rv = check_task(context.proofs, task, environment, &result, &own);
	if (own)
		log_json(&result);
	if (result.say[0])
		slurm_error("gpubudget: task %d: %s", task, result.say);
	spank_setenv(sp, CHECK_VARIABLE, outcome_name[result.outcome], 1);
	return rv;
}
