/* SPDX-License-Identifier: GPL-2.0-or-later
 * notice_command.c - a notice to a program of the site (notice_tell.h). */
#include "budgetd/notice_tell.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 50		/* how often it is looked whether the program has ended */
#define SAID_MAX 200		/* of what it prints: the first words tell why it failed */
#define VARIABLES 10
#define VARIABLE_MAX (NOTICE_TO_MAX + 64)

/* --- may it be run ----------------------------------------------------------------------------------- */

static bool is_safe(const struct stat *st)
{
	bool sticky = S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX;	/* /tmp: nobody renames what is another's */

	return (st->st_uid == 0 || st->st_uid == geteuid()) && (sticky || !(st->st_mode & (S_IWGRP | S_IWOTH)));
}

static int check_folders(char *path, struct fault *why)
{
	struct stat st;

	while (strcmp(path, "/") != 0) {
		path = dirname(path);
		if (stat(path, &st) < 0)
			return fault_errno(why, errno, "notice_command: %s: %s", path, strerror(errno));
		if (!is_safe(&st))
			return fault_errno(why, EACCES,
				"notice_command: others can change what is in %s; chown root and chmod go-w it", path);
	}
	return 0;
}

int notice_command_check(const char *path, struct fault *why)
{
	char *real = realpath(path, NULL);
	struct stat st;
	int rc = -1;

	if (!real || stat(real, &st) < 0)
		fault_errno(why, errno, "notice_command: %s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode) || access(real, X_OK) < 0)
		fault_errno(why, EACCES, "notice_command: %s is no program that can be run; chmod 755 it", path);
	else if (!is_safe(&st))
		fault_errno(why, EACCES,
			"notice_command: others can change %s, and budgetd would run it; chown root and chmod go-w it", path);
	else
		rc = check_folders(real, why);
	free(real);
	return rc;
}

/* --- what it is given -------------------------------------------------------------------------------- */

struct environment {
	char text[VARIABLES][VARIABLE_MAX];
	char *list[VARIABLES + 1];
	size_t count;
};

/* On one line: a program may write it into the head of a mail. */
static void put(struct environment *e, const char *name, const char *value)
{
	char *to = e->text[e->count];
	int n = snprintf(to, VARIABLE_MAX, "%s=", name);

	notice_line(value, to + n, VARIABLE_MAX - (size_t)n);
	e->list[e->count++] = to;
}

static void environment_make(struct environment *e, const struct notice *n)
{
	char at[24];

	e->count = 0;
	snprintf(at, sizeof(at), "%" PRId64, n->at);
	put(e, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	put(e, "GPUBUDGET_NOTICE_ID", n->key);
	put(e, "GPUBUDGET_NOTICE_KIND", notice_kinds[n->kind].name);
	put(e, "GPUBUDGET_NOTICE_SEVERITY", notice_severity_name(n->severity));
	put(e, "GPUBUDGET_NOTICE_AT", at);
	put(e, "GPUBUDGET_NOTICE_PROJECT", n->project);
	put(e, "GPUBUDGET_NOTICE_JOB", n->job);
	put(e, "GPUBUDGET_NOTICE_TO", n->to);
	put(e, "GPUBUDGET_NOTICE_SUBJECT", n->subject);
	e->list[e->count] = NULL;
}

/* A file in memory: one that does not read its stdin keeps nobody waiting. */
static int text_open(const char *text)
{
	int fd = memfd_create("notice", MFD_CLOEXEC);
	size_t left = strlen(text);

	for (ssize_t n = 0; fd >= 0 && left; text += n, left -= (size_t)n) {
		n = write(fd, text, left);
		if (n <= 0) {
			close(fd);
			return -1;
		}
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

/* --- running it -------------------------------------------------------------------------------------- */

/* In a process group of its own, with the signals as a program expects them: ours are blocked or ignored. */
static int start(const char *path, const struct notice *n, int in, int out, pid_t *child)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	struct environment *e = malloc(sizeof(*e));
	char name[PATH_MAX];
	char *argv[] = { name, (char *)(uintptr_t)notice_kinds[n->kind].name, NULL };
	sigset_t none, standard;
	int rc;

	if (!e)
		return ENOMEM;
	snprintf(name, sizeof(name), "%s", path);
	environment_make(e, n);
	sigemptyset(&none);
	sigemptyset(&standard);
	sigaddset(&standard, SIGPIPE);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	rc = posix_spawn_file_actions_adddup2(&files, in, 0);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(&files, out, 1);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(&files, out, 2);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &standard);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes,
		POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	rc = rc ? rc : posix_spawn(child, path, &files, &attributes, argv, e->list);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	free(e);
	return rc;
}

static int64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct words {
	char text[SAID_MAX + 1];
	size_t used;
};

/* What does not fit is read and dropped. It may close its output long before it ends: then we wait for the
 * time alone. */
static void hear(struct pollfd *out, struct words *said)
{
	char buf[4096];
	ssize_t n = 1;
	int found = poll(out, 1, LOOK_MS);

	if (found <= 0 || !out->revents)
		return;
	n = read(out->fd, buf, sizeof(buf));
	if (n <= 0) {
		out->fd = -1;
		return;
	}
	for (ssize_t i = 0; i < n && said->used < SAID_MAX; i++)
		said->text[said->used++] = buf[i] ? buf[i] : ' ';
}

/* Its end, or ours of it. 0 and *status; -1. */
static int await(pid_t child, int fd, const struct notice_patience *p, struct words *said, int *status,
	struct fault *why)
{
	struct pollfd out = { .fd = fd, .events = POLLIN };
	int64_t until = clock_ms() + p->deadline_ms;

	for (;;) {
		hear(&out, said);
		if (waitpid(child, status, WNOHANG) == child) {
			struct pollfd rest = { .fd = out.fd, .events = POLLIN };

			if (rest.fd >= 0 && poll(&rest, 1, 0) == 1)
				hear(&out, said);
			return 0;
		}
		if (atomic_load(p->stop) || clock_ms() >= until)
			break;
	}
	kill(-child, SIGKILL);
	waitpid(child, status, 0);
	if (atomic_load(p->stop))
		return fault_errno(why, ECANCELED, "budgetd was told to stop");
	return fault_errno(why, ETIMEDOUT, "it did not end within %" PRId64 " ms and was killed", p->deadline_ms);
}

static int judge(int status, const struct words *said, struct fault *why)
{
	char line[SAID_MAX + 1];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	notice_line(said->text, line, sizeof(line));
	return fault_errno(why, EPROTO, "it ended with %s %d%s%s", WIFEXITED(status) ? "status" : "signal",
		WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), line[0] ? ": " : "", line);
}

int notice_command_run(const char *path, const struct notice *n, const struct notice_patience *p,
	struct fault *why)
{
	int out[2], in = text_open(n->text), status = 0, rc;
	struct words said = { .text = "" };
	pid_t child = -1;

	if (in < 0 || pipe2(out, O_CLOEXEC | O_NONBLOCK) < 0) {
		rc = errno;
		if (in >= 0)
			close(in);
		return fault_errno(why, rc, "no room for its text: %s", strerror(rc));
	}
	fcntl(out[1], F_SETFL, 0);	/* a program expects that it can write */
	rc = start(path, n, in, out[1], &child);
	close(in);
	close(out[1]);
	if (rc)
		fault_errno(why, rc, "%s cannot be run: %s", path, strerror(rc));
	rc = rc ? -1 : await(child, out[0], p, &said, &status, why);
	close(out[0]);
	return rc < 0 ? -1 : judge(status, &said, why);
}
