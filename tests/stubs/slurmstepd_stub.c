/* SPDX-License-Identifier: GPL-2.0-or-later
 * slurmstepd_stub.c - a stub, not Slurm: the hooks of a SPANK plugin, called in the order in which slurmstepd
 * does, with spank_prepend_task_argv() as Slurm has it from 23.11 on (-DSTUB_OLD: without)
 *
 *   slurmstepd_stub PLUGIN "ARGUMENT..." TASKS PROGRAM [ARGUMENT...]
 *   slurmstepd_stub --prolog PLUGIN "ARGUMENT..."       slurm_spank_job_prolog alone; 1 when it says no
 *   slurmstepd_stub --rounds N PLUGIN "ARGUMENT..."     "us": the median time of all hooks of a step of one task
 *
 * Its environment is the job's. What goes to slurmd's log is written to the file STUB_LOG. A TaskProlog
 * exports STUB_PROLOG="NAME=VALUE". The status is the worst of the tasks. */
#include <dlfcn.h>
#include <slurm/spank.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS_MAX = 64, TASKS_MAX = 64 };

typedef int hook(spank_t sp, int argc, char *argv[]);

static char *plugin_word[WORDS_MAX], *program[WORDS_MAX];
static int plugin_words, words, tasks = 1, task;
static pid_t pid_of_task;
static FILE *log_file;

/* --- what a plugin calls ------------------------------------------------------------------------------ */

int spank_remote(spank_t sp)
{
	(void)sp;
	return 1;
}

enum spank_context spank_context(void)
{
	return S_CTX_REMOTE;
}

spank_err_t spank_option_register(spank_t sp, struct spank_option *option)
{
	(void)sp;
	(void)option;
	return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t sp, const char *name, char *buf, int size)
{
	const char *value = getenv(name);

	(void)sp;
	if (!value)
		return ESPANK_ENV_NOEXIST;
	snprintf(buf, (size_t)size, "%s", value);
	return strlen(value) < (size_t)size ? ESPANK_SUCCESS : ESPANK_NOSPACE;
}

spank_err_t spank_setenv(spank_t sp, const char *name, const char *value, int overwrite)
{
	(void)sp;
	return setenv(name, value, overwrite) == 0 ? ESPANK_SUCCESS : ESPANK_ERROR;
}

spank_err_t spank_unsetenv(spank_t sp, const char *name)
{
	(void)sp;
	return unsetenv(name) == 0 ? ESPANK_SUCCESS : ESPANK_ERROR;
}

static uint32_t number_of(spank_item_t item)
{
	return item == S_JOB_ID ? 7 : item == S_JOB_STEPID ? 0 : item == S_JOB_LOCAL_TASK_COUNT ? (uint32_t)tasks : 1;
}

spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
	va_list ap;
	int *argc;

	(void)sp;
	va_start(ap, item);
	switch (item) {
	case S_JOB_ENV:
		*va_arg(ap, char ***) = environ;
		break;
	case S_JOB_ARGV:
		argc = va_arg(ap, int *);
		*argc = words;
		*va_arg(ap, char ***) = program;
		break;
	case S_TASK_ID:
		*va_arg(ap, int *) = task;
		break;
	case S_TASK_PID:
		*va_arg(ap, pid_t *) = pid_of_task;
		break;
	default:
		*va_arg(ap, uint32_t *) = number_of(item);
	}
	va_end(ap);
	return ESPANK_SUCCESS;
}

#ifndef STUB_OLD
spank_err_t spank_prepend_task_argv(spank_t sp, int argc, const char *argv[]);
spank_err_t spank_prepend_task_argv(spank_t sp, int argc, const char *argv[])
{
	(void)sp;
	if (words + argc >= WORDS_MAX)
		return ESPANK_BAD_ARG;
	memmove(program + argc, program, (size_t)(words + 1) * sizeof(*program));
	for (int i = 0; i < argc; i++)
		program[i] = strdup(argv[i]);
	words += argc;
	return ESPANK_SUCCESS;
}
#endif

#define SAY(name, to, prefix) \
	void name(const char *fmt, ...) \
	{ \
		va_list ap; \
\
		if (!(to)) \
			return; \
		fputs(prefix, to); \
		va_start(ap, fmt); \
		vfprintf(to, fmt, ap); \
		va_end(ap); \
		fputc('\n', to); \
		fflush(to); \
	}

SAY(slurm_error, stderr, "slurmstepd: error: ")
SAY(slurm_info, log_file, "info: ")
SAY(slurm_verbose, log_file, "verbose: ")
SAY(slurm_debug, log_file, "debug: ")

/* --- a step ------------------------------------------------------------------------------------------- */

static int call(void *plugin, const char *name)
{
	hook *h = (hook *)(uintptr_t)dlsym(plugin, name);

	return h ? h((spank_t)&tasks, plugin_words, plugin_word) : 0;
}

static pid_t task_start(void *plugin, int n, int go)
{
	pid_t pid = fork();
	char c;

	if (pid != 0)
		return pid;
	task = n;
	pid_of_task = getpid();
	if (read(go, &c, 1) != 1 || call(plugin, "slurm_spank_task_init") < 0)
		_exit(1);
	if (getenv("STUB_PROLOG"))
		putenv(strdup(getenv("STUB_PROLOG")));
	execvp(program[0], program);
	perror(program[0]);
	_exit(127);
}

static int step_run(void *plugin)
{
	pid_t pid[TASKS_MAX];
	int go[2], worst = 0, status;

	if (pipe(go) < 0 || call(plugin, "slurm_spank_init") < 0 || call(plugin, "slurm_spank_init_post_opt") < 0 ||
		call(plugin, "slurm_spank_user_init") < 0)
		return 2;
	for (int t = 0; t < tasks; t++)
		pid[t] = task_start(plugin, t, go[0]);
	for (task = 0; task < tasks; task++) {
		pid_of_task = pid[task];
		call(plugin, "slurm_spank_task_post_fork");
	}
	for (int t = 0; t < tasks; t++)
		if (write(go[1], "x", 1) != 1)
			return 2;
	for (int t = 0; t < tasks; t++)
		if (waitpid(pid[t], &status, 0) == pid[t] && (!WIFEXITED(status) || WEXITSTATUS(status) > worst))
			worst = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	call(plugin, "slurm_spank_exit");
	return worst;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int rounds_run(void *plugin, int rounds)
{
	static const char *const hooks[] = { "slurm_spank_init", "slurm_spank_init_post_opt",
		"slurm_spank_user_init", "slurm_spank_task_post_fork", "slurm_spank_task_init",
		"slurm_spank_exit" };
	double *us = calloc((size_t)rounds + 1, sizeof(*us));
	struct timespec from, to;

	pid_of_task = getpid();
	for (int r = 0; us && r < rounds; r++) {
		clock_gettime(CLOCK_MONOTONIC, &from);
		for (size_t h = 0; h < sizeof(hooks) / sizeof(hooks[0]); h++)
			call(plugin, hooks[h]);
		clock_gettime(CLOCK_MONOTONIC, &to);
		us[r] = (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
	}
	if (us)
		qsort(us, (size_t)rounds, sizeof(*us), by_value);
	printf("%.1f\n", us ? us[rounds / 2] : -1);
	free(us);
	return 0;
}

int main(int argc, char *argv[])
{
	const char *log = getenv("STUB_LOG");
	bool prolog = argc > 3 && !strcmp(argv[1], "--prolog");
	int rounds = 0, at = prolog ? 2 : 1;
	void *plugin;

	if (argc > 3 && !strcmp(argv[1], "--rounds")) {
		rounds = atoi(argv[2]);
		at = 3;
	}
	if (argc < at + (rounds || prolog ? 2 : 4) || !(plugin = dlopen(argv[at], RTLD_LAZY))) {
		fprintf(stderr, "slurmstepd_stub: %s\n", argc < at + 2 ? "too few words" : dlerror());
		return 2;
	}
	log_file = log ? fopen(log, "ae") : NULL;
	for (char *w = strtok(argv[at + 1], " "); w && plugin_words < WORDS_MAX; w = strtok(NULL, " "))
		plugin_word[plugin_words++] = w;
	if (rounds)
		return rounds_run(plugin, rounds);
	if (prolog)
		return call(plugin, "slurm_spank_job_prolog") < 0;
	tasks = atoi(argv[at + 2]);
	for (int i = at + 3; i < argc && words < WORDS_MAX - 1; i++)
		program[words++] = argv[i];
	return tasks > 0 && tasks <= TASKS_MAX ? step_run(plugin) : 2;
}
