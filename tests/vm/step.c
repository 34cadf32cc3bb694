/* SPDX-License-Identifier: GPL-2.0-or-later
 * step.c - a step of tasks on this machine, as slurmstepd starts one, through spank/numa.h and without Slurm
 *
 *   step [WORD]... --task CPUS [NAME=VALUE]... [--task ...] -- COMMAND [ARGUMENT]...
 *
 * WORD is one of plugstack.conf (gpu_numa=strict, gpu_memory=bind, ...) or cpus_each=N, what Slurm gives a
 * task at least. CPUS are what Slurm gave the task, NAME=VALUE its own variables. Each task becomes COMMAND.
 * When all have ended, "task N: exit S" and what it wrote, task by task. The exit status is 0 when all tasks'
 * were. */
#include "spank/numa.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TASKS_MAX = 16, VARIABLES_MAX = 8, USAGE = 2 };

struct task {
	struct cpu_set cpus;
	char *variable[VARIABLES_MAX];
	int variables;
	pid_t pid;
	FILE *output;		/* a file without a name */
};

struct words {
	struct numa_site site;
	int cpus_each, tasks;
	struct task task[TASKS_MAX];
	char **command;
};

static int refuse(const char *what, const char *word)
{
	fprintf(stderr, "step: %s%s%s\n", what, word ? ": " : "", word ? word : "");
	return -1;
}

/* --- words -------------------------------------------------------------------------------------------- */

static int word_take(struct words *w, char *word)
{
	struct task *last = w->tasks ? &w->task[w->tasks - 1] : NULL;
	struct fault why = { "" };
	int rv;

	if (last) {
		if (last->variables == VARIABLES_MAX)
			return refuse("too many variables", word);
		last->variable[last->variables++] = word;
		return 0;
	}
	if (sscanf(word, "cpus_each=%d", &w->cpus_each) == 1)
		return 0;
	rv = numa_site_argument(&w->site, word, &why);
	return rv > 0 ? 0 : refuse(rv < 0 ? why.text : "no word of plugstack.conf", word);
}

static int task_add(struct words *w, const char *cpus)
{
	if (w->tasks == TASKS_MAX || !cpus || cpu_set_parse(cpus, &w->task[w->tasks].cpus) < 0)
		return refuse("--task wants CPUs such as 0-3, of at most 16 tasks", cpus);
	w->task[w->tasks].output = tmpfile();
	return w->task[w->tasks++].output ? 0 : refuse("no file", strerror(errno));
}

static int words_read(char **argv, struct words *w)
{
	numa_site_init(&w->site);
	w->cpus_each = 1;
	for (argv++; *argv && strcmp(*argv, "--"); argv++)
		if (!strcmp(*argv, "--task")) {
			if (task_add(w, argv[1]) < 0)
				return -1;
			argv++;
		} else if (word_take(w, *argv) < 0) {
			return -1;
		}
	w->command = *argv ? argv + 1 : argv;
	return w->tasks && *w->command ? 0 : refuse("a task and a command are needed", NULL);
}

/* --- a task, after its fork --------------------------------------------------------------------------- */

static const char *variable_of(void *from, const char *name)
{
	(void)from;
	return getenv(name);
}

static void told_export(const struct numa_told *told)
{
	setenv("GPUBUDGET_GPU_NUMA", told->numa, 1);
	setenv("GPUBUDGET_GPU_CPUS", told->cpus, 1);
	setenv("GPUBUDGET_GPU_NIC", told->nic, 1);
	setenv("GPUBUDGET_GPU_LOCAL", told->local, 1);
}

/* `go` ends when slurmstepd has told the CPUs of all. */
static _Noreturn void task_run(struct numa_step *step, const struct words *w, int n, int go)
{
	struct numa_told told;
	char byte;
	int rv;

	for (int i = 0; i < w->task[n].variables; i++)
		putenv(w->task[n].variable[i]);
	while (read(go, &byte, 1) < 0 && errno == EINTR)
		;
	dup2(fileno(w->task[n].output), STDOUT_FILENO);
	dup2(fileno(w->task[n].output), STDERR_FILENO);
	rv = numa_task(step, n, w->cpus_each, variable_of, NULL, &told);
	if (told.say.text[0])
		dprintf(STDERR_FILENO, "gpubudget: %s\n", told.say.text);
	if (rv < 0)
		_exit(EXIT_FAILURE);
	told_export(&told);
	execvp(w->command[0], w->command);
	dprintf(STDERR_FILENO, "step: %s: %s\n", w->command[0], strerror(errno));
	_exit(127);
}

/* --- slurmstepd --------------------------------------------------------------------------------------- */

static int tasks_start(struct numa_step *step, struct words *w)
{
	int go[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		return refuse("no pipe", strerror(errno));
	for (int n = 0; n < w->tasks; n++) {
		struct task *t = &w->task[n];

		t->pid = fork();
		if (t->pid == 0) {
			close(go[1]);
			task_run(step, w, n, go[0]);
		}
		if (t->pid < 0 || sched_setaffinity(t->pid, sizeof(t->cpus),
					  (const cpu_set_t *)(const void *)t->cpus.word) < 0)
			return refuse("a task cannot be started on its CPUs", strerror(errno));
		numa_forked(step, n, t->pid);
	}
	close(go[0]);
	close(go[1]);
	return 0;
}

static void output_copy(FILE *from)
{
	char buf[4096];
	size_t n;

	rewind(from);
	while ((n = fread(buf, 1, sizeof(buf), from)) > 0)
		fwrite(buf, 1, n, stdout);
	fclose(from);
}

static int tasks_end(struct words *w)
{
	int rv = EXIT_SUCCESS, status;

	for (int n = 0; n < w->tasks; n++) {
		if (waitpid(w->task[n].pid, &status, 0) < 0)
			return EXIT_FAILURE;
		printf("task %d: %s %d\n", n, WIFSIGNALED(status) ? "signal" : "exit",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		output_copy(w->task[n].output);
		rv = status ? EXIT_FAILURE : rv;
	}
	return rv;
}

int main(int argc, char **argv)
{
	struct words *w = calloc(1, sizeof(*w));
	struct numa_step *step;
	int rv;

	if (!w || argc < 1 || words_read(argv, w) < 0)
		return USAGE;
	step = numa_new(&w->site, w->site.mode, w->tasks);
	if (!step || tasks_start(step, w) < 0)
		return EXIT_FAILURE;
	rv = tasks_end(w);
	numa_end(step);
	free(w);
	return rv;
}
