/* SPDX-License-Identifier: GPL-2.0-or-later
 * numa_hooks.c - from SPANK to numa.h and back (numa_hooks.h)
 *
 * In task_init and nowhere else are CPUs, --mem-bind and the GPUs of one task all final. slurmstepd calls
 * task_post_fork for every task before it lets one go, so all CPUs are on the board by then. */
#include "spank/numa_hooks.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "spank/numa.h"
#include "spank/step.h"

#define OPTION "gpu-numa"

/* The one context of this file: SPANK hands none to its callbacks. */
static struct {
	struct numa_site site;
	bool given;			/* the user's word: */
	enum numa_mode mode;
	struct numa_step *step;		/* NULL: there is nothing to do */
} context;

static int option_given(int value, const char *text, int remote)
{
	struct fault why = { "" };

	(void)value;
	if (!text)
		return 0;
	if (numa_mode_parse(text, &context.mode, &why) == 0) {
		context.given = true;
		return 0;
	}
	if (remote)
		return 0;		/* the command has judged it */
	slurm_error("gpubudget: --" OPTION ": %s", why.text);
	return -1;
}

static struct spank_option option = {
	.name = (char *)OPTION,
	.arginfo = (char *)"auto|strict|report|off",
	.usage = (char *)"CPUs and memory of each task next to its GPUs; strict: fail when there are none",
	.has_arg = 1,
	.cb = option_given,
};

void numa_hooks_init(void)
{
	memset(&context, 0, sizeof(context));
	numa_site_init(&context.site);
}

int numa_hooks_argument(const char *argument, struct fault *why)
{
	return numa_site_argument(&context.site, argument, why);
}

void numa_hooks_register(spank_t sp)
{
	if (spank_option_register(sp, &option) != ESPANK_SUCCESS)
		slurm_error("gpubudget: --" OPTION " cannot be registered");
}

/* --- in srun ------------------------------------------------------------------------------------------ */

/* Among the words of this command, behind which the `behind` words of the task's command stand. getopt takes
 * abbreviations. */
static bool cpu_bind_given(int behind)
{
	static const char *const words[] = { "--cpu-b", "--cpu_b" };
	FILE *f = fopen("/proc/self/cmdline", "re");
	char *word = NULL;
	size_t room = 0;
	int before = -behind, at = 0;
	bool given = false;

	while (f && getdelim(&word, &room, '\0', f) >= 0)
		before++;
	if (f)
		rewind(f);
	for (; f && at < before && getdelim(&word, &room, '\0', f) >= 0; at++)
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			given |= !strncmp(word, words[i], strlen(words[i]));
	if (f)
		fclose(f);
	free(word);
	return given;
}

void numa_hooks_launch(spank_t sp)
{
	char **argv = NULL;
	int argc = 0;

	if (spank_get_item(sp, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS)
		argc = 0;
	if (getenv("SLURM_CPU_BIND") || cpu_bind_given(argc))
		setenv(NUMA_SAID, "1", 1);
	else
		unsetenv(NUMA_SAID);
}

/* --- in slurmstepd ------------------------------------------------------------------------------------ */

static enum numa_mode mode_of(spank_t sp)
{
	char text[16];
	enum numa_mode mode = context.given ? context.mode : context.site.mode;

	if (!context.given && step_inherited(sp, OPTION, text, sizeof(text)))
		numa_mode_parse(text, &mode, NULL);
	return mode;
}

void numa_hooks_begin(spank_t sp)
{
	enum numa_mode mode = mode_of(sp);
	int tasks = step_tasks(sp);

	if (mode == NUMA_OFF || !step_runs_user_code(sp) || !step_has_gpus(sp) || tasks == 0)
		return;
	context.step = numa_new(&context.site, mode, tasks);
	if (!context.step)
		slurm_error("gpubudget: tasks stay where Slurm put them: %s", strerror(errno));
}

void numa_hooks_forked(spank_t sp)
{
	pid_t pid = 0;
	int task = -1;

	if (context.step && spank_get_item(sp, S_TASK_ID, &task) == ESPANK_SUCCESS &&
		spank_get_item(sp, S_TASK_PID, &pid) == ESPANK_SUCCESS)
		numa_forked(context.step, task, pid);
}

void numa_hooks_end(void)
{
	numa_end(context.step);
	context.step = NULL;
}

/* --- in the task -------------------------------------------------------------------------------------- */

struct getter {
	spank_t sp;
	char value[4096];
};

static const char *variable_of(void *from, const char *name)
{
	struct getter *g = from;

	return spank_getenv(g->sp, name, g->value, sizeof(g->value)) == ESPANK_SUCCESS ? g->value : NULL;
}

static void export(spank_t sp, const char *name, const char *value)
{
	if (*value)
		spank_setenv(sp, name, value, 1);
	else
		spank_unsetenv(sp, name);	/* what an outer task had would be a lie */
}

int numa_hooks_task(spank_t sp)
{
	struct getter getter = { .sp = sp };
	struct numa_told told;
	uint32_t cpus_each = 1;
	int task = -1, rv;

	if (!context.step || spank_get_item(sp, S_TASK_ID, &task) != ESPANK_SUCCESS)
		return 0;
	if (spank_get_item(sp, S_STEP_CPUS_PER_TASK, &cpus_each) != ESPANK_SUCCESS)
		cpus_each = 1;
	rv = numa_task(context.step, task, (int)cpus_each, variable_of, &getter, &told);
	spank_unsetenv(sp, NUMA_SAID);
	export(sp, "GPUBUDGET_GPU_NUMA", told.numa);
	export(sp, "GPUBUDGET_GPU_CPUS", told.cpus);
	export(sp, "GPUBUDGET_GPU_NIC", told.nic);
	export(sp, "GPUBUDGET_GPU_LOCAL", told.local);
	if (told.say.text[0])
		slurm_error("gpubudget: %s", told.say.text);
	return rv;
}
