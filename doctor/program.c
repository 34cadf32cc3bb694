/* SPDX-License-Identifier: GPL-2.0-or-later
 * program.c - fork, exec, read until the end or the deadline (program.h) */
#include "doctor/program.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NO_PROGRAM 127

struct child {
	pid_t pid;
	int out;			/* what it says */
};

struct exec {
	char *const *argv;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int run_exec(void *arg)
{
	const struct exec *e = arg;

	execvp(e->argv[0], e->argv);
	fprintf(stderr, "%s: %s\n", e->argv[0], strerror(errno));
	return NO_PROGRAM;
}

/* The input is a file that is gone already: it can be of any length and nobody waits for anybody. */
static int input_open(const char *input)
{
	FILE *f;
	int fd;

	if (!input || !*input)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	f = tmpfile();
	if (!f)
		return -1;
	fd = fputs(input, f) >= 0 && fflush(f) == 0 ? dup(fileno(f)) : -1;
	fclose(f);
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

static void child_main(int in, int out, int (*run)(void *), void *arg)
{
	signal(SIGPIPE, SIG_DFL);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	_exit(run(arg));
}

static int child_start(struct child *c, const char *input, int (*run)(void *), void *arg)
{
	int in = input_open(input), out[2] = { -1, -1 };

	fflush(NULL);
	if (in < 0 || pipe2(out, O_CLOEXEC) < 0 || (c->pid = fork()) < 0) {
		int saved = errno;

		close(in);
		close(out[0]);
		close(out[1]);
		errno = saved;
		return -1;
	}
	if (c->pid == 0)
		child_main(in, out[1], run, arg);
	close(in);
	close(out[1]);
	c->out = out[0];
	return 0;
}

/* 0 at its end; -1 when the time is over. */
static int child_listen(const struct child *c, int64_t end_ms, char said[PROGRAM_SAID_MAX])
{
	struct pollfd fd = { .fd = c->out, .events = POLLIN };
	size_t used = 0;

	for (;;) {
		int64_t left = end_ms - now_ms();
		char more[1024];
		ssize_t n;

		if (left <= 0 || (poll(&fd, 1, (int)left) < 0 && errno != EINTR))
			return -1;
		if (!fd.revents)
			continue;
		n = read(c->out, more, sizeof(more));
		if (n == 0 || (n < 0 && errno != EINTR))
			return 0;
		for (ssize_t i = 0; i < n && used + 1 < PROGRAM_SAID_MAX; i++)
			said[used++] = more[i];
		said[used] = '\0';
	}
}

/* The exit status of one whose output has ended. It may live on for a moment, or, closing its output early,
 * for longer: then it is killed as well. */
static int child_end(const struct child *c, int64_t end_ms, int *status)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	pid_t ended;

	while ((ended = waitpid(c->pid, status, WNOHANG)) == 0 && now_ms() < end_ms)
		nanosleep(&pause, NULL);
	if (ended == c->pid)
		return 0;
	kill(c->pid, SIGKILL);
	waitpid(c->pid, status, 0);
	return -1;
}

static int run_child(const char *name, const char *input, int (*run)(void *), void *arg, int deadline_ms,
	char said[PROGRAM_SAID_MAX], struct fault *why)
{
	int64_t end_ms = now_ms() + deadline_ms;
	struct child c = { 0, -1 };
	int status = 0;

	said[0] = '\0';
	if (child_start(&c, input, run, arg) < 0)
		return fault_set(why, "%s cannot be started: %s", name, strerror(errno));
	if (child_listen(&c, end_ms, said) < 0)
		end_ms = 0;
	close(c.out);
	if (child_end(&c, end_ms, &status) < 0)
		return fault_errno(why, ETIMEDOUT, "%s did not end within %d ms", name, deadline_ms);
	if (WIFSIGNALED(status))
		return fault_errno(why, EINTR, "%s was ended by signal %d", name, WTERMSIG(status));
	return WEXITSTATUS(status);
}

int program_run(char *const argv[], const char *input, int deadline_ms, char said[PROGRAM_SAID_MAX],
	struct fault *why)
{
	struct exec e = { argv };

	return run_child(argv[0], input, run_exec, &e, deadline_ms, said, why);
}

int program_try(
	int (*run)(void *arg), void *arg, int deadline_ms, char said[PROGRAM_SAID_MAX], struct fault *why)
{
	return run_child("a trial", NULL, run, arg, deadline_ms, said, why);
}
