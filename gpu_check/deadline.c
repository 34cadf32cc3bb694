/* SPDX-License-Identifier: GPL-2.0-or-later
 * deadline.c - start, listen, end (deadline.h) */
#include "gpu_check/deadline.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "gpu_check/lines.h"

#define PAUSE_MS     2		/* between two looks at a process that is about to end */
#define LINES_MAX    8192	/* 64 devices have 64 x 2 x 6 of them */
#define ADDED        2		/* variables beside those of the task */
#define PATHNAME_MAX 512
#define SAID_MAX     8192	/* of what libraries print */

struct watch {
	const struct helper *h;
	struct report *report;
	struct helper_result *result;
	int64_t start_us, end_us;
	int pipe, said;			/* report; a file in memory with what is printed */
	char line[LINE_LENGTH_MAX];
	size_t used;
	int lines;
};

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

/* --- start ---------------------------------------------------------------------------------------- */

/* The task's variables, and where PoCL, which cannot be told to keep nothing, may keep it. */
static char **environment_with(const struct helper *h, char cache[PATHNAME_MAX])
{
	char **env;
	size_t n = 0, to = 0;

	while (h->environment[n])
		n++;
	env = calloc(n + ADDED + 1, sizeof(*env));
	if (!env)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (!h->scratch || strncmp(h->environment[i], "POCL_CACHE_DIR=", 15))
			env[to++] = h->environment[i];
	if (h->scratch) {
		snprintf(cache, PATHNAME_MAX, "POCL_CACHE_DIR=%s", h->scratch);
		env[to++] = cache;
	}
	return env;
}

/* posix_spawn's descriptors: the report to 3, what is printed to a file that nobody has to read. */
static int actions_fill(posix_spawn_file_actions_t *a, int report, int said)
{
	int rc = posix_spawn_file_actions_addopen(a, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	if (!rc)
		rc = posix_spawn_file_actions_adddup2(a, said, STDOUT_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(a, said, STDERR_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(a, report, HELPER_FD);
	return rc;
}

/* A group of its own, so that all it starts can be ended with it, and signals as a new program expects
 * them. */
static int attributes_fill(posix_spawnattr_t *attr)
{
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	rc = posix_spawnattr_setpgroup(attr, 0);
	if (!rc)
		rc = posix_spawnattr_setsigmask(attr, &none);
	if (!rc)
		rc = posix_spawnattr_setsigdefault(attr, &all);
	if (!rc)
		rc = posix_spawnattr_setflags(attr,
			POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	return rc;
}

static int spawn(const struct watch *w, int report, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char cache[PATHNAME_MAX], parent[16];
	char *argv[] = { (char *)w->h->path, w->h->plain ? NULL : (char *)w->h->backend,
		(char *)level_name[w->h->level], parent, NULL };
	char **env = environment_with(w->h, cache);
	int rc;

	if (!env)
		return ENOMEM;
	snprintf(parent, sizeof(parent), "%d", (int)getpid());
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	rc = actions_fill(&actions, report, w->said);
	if (!rc)
		rc = attributes_fill(&attr);
	if (!rc)
		rc = posix_spawn(pid, w->h->path, &actions, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	free(env);
	return rc;
}

/* A descriptor above those that the helper gets, since dup2 of a number onto itself would leave it
 * close-on-exec. */
static int above_standard(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HELPER_FD + 1);

	if (fd >= 0)
		close(fd);
	return high;
}

/* A file in memory that cannot grow: a library may print for ever. */
static int said_make(void)
{
	int fd = above_standard(memfd_create("gpu-check", MFD_CLOEXEC | MFD_ALLOW_SEALING));

	if (fd >= 0 &&
		(ftruncate(fd, SAID_MAX) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int start(struct watch *w, struct fault *why)
{
	int ends[2] = { -1, -1 }, rc = 0;

	w->said = said_make();
	if (w->said < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return fault_set(why, "no descriptors for the helper: %s", strerror(errno));
	ends[0] = above_standard(ends[0]);
	ends[1] = above_standard(ends[1]);
	rc = ends[0] < 0 || ends[1] < 0 ? EMFILE : spawn(w, ends[1], &w->result->pid);
	close(ends[1]);
	w->pipe = ends[0];
	if (rc)
		return fault_errno(why, rc, "%s: %s", w->h->path, strerror(rc));
	return 0;
}

/* --- listen --------------------------------------------------------------------------------------- */

/* The lines that are complete. -1: one that is none. */
static int take_lines(struct watch *w)
{
	char *end;

	while ((end = memchr(w->line, '\n', w->used))) {
		size_t n = (size_t)(end - w->line) + 1;

		*end = '\0';
		if (strlen(w->line) + 1 != n || ++w->lines > LINES_MAX || line_read(w->report, w->line) < 0)
			return -1;
		memmove(w->line, w->line + n, w->used -= n);
	}
	return w->used < sizeof(w->line) ? 0 : -1;
}

/* true: there is more to come. */
static bool take(struct watch *w)
{
	ssize_t n = read(w->pipe, w->line + w->used, sizeof(w->line) - w->used);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (w->h->plain)
		return n > 0;		/* its end is awaited, nothing else */
	w->used += (size_t)n;
	if ((n == 0 && w->used > 0) || take_lines(w) < 0) {
		w->result->end = HELPER_GARBAGE;
		return false;
	}
	return n > 0 && !w->report->done;
}

/* Until the report is complete, its end, the deadline, or the word of the caller. */
static void listen_to(struct watch *w)
{
	struct pollfd p[2] = {{.fd = w->pipe, .events = POLLIN},
		{.fd = w->h->stop ? *w->h->stop : -1, .events = POLLIN}};

	for (;;) {
		int64_t left = w->end_us - now_us();

		if (left <= 0 || p[1].revents) {
			w->result->end = HELPER_LATE;
			return;
		}
		if (poll(p, 2, (int)(left / 1000) + 1) > 0 && p[0].revents && !take(w))
			return;
	}
}

/* --- end ------------------------------------------------------------------------------------------ */

static char state_of(pid_t pid)
{
	char path[32], text[512] = "", *at;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '?';
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	at = strrchr(text, ')');	/* the name before it may contain anything */
	return at && at[1] == ' ' && at[2] ? at[2] : '?';
}

/* Has it ended? It stays a zombie, so that its number, and its group's, is still its own. */
static bool has_ended(pid_t pid, int64_t until_us)
{
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno != EINTR)
			return true;	/* somebody ignores SIGCHLD: it is gone for good */
		if (info.si_pid == pid)
			return true;
		if (now_us() >= until_us)
			return false;
		pause_ms(PAUSE_MS);
	}
}

static void note_status(struct helper_result *r, int status, bool by_itself)
{
	if (WIFEXITED(status))
		r->exit_status = WEXITSTATUS(status);
	if (!WIFSIGNALED(status))
		return;
	r->signal = WTERMSIG(status);
	if (by_itself && r->end == HELPER_ENDED)
		r->end = HELPER_SIGNALLED;
}

/* Its report is complete, or will not be: give a sound one the time to go, then end it and all that it
 * started. */
static void finish(struct watch *w)
{
	struct helper_result *r = w->result;
	int64_t now = now_us(), until = w->report->done &&
		w->end_us < now + HELPER_GRACE_MS * 1000 ? now + HELPER_GRACE_MS * 1000 : w->end_us;
	bool by_itself = r->end == HELPER_ENDED && has_ended(r->pid, until);
	int status = 0;

	if (!by_itself)
		r->state = state_of(r->pid);
	if (!by_itself && r->end == HELPER_ENDED && !w->report->done) {
		r->end = HELPER_LATE;	/* it closed its end of the pipe and stayed */
		r->us = now_us() - w->start_us;
	}
	kill(-r->pid, SIGKILL);
	if (!has_ended(r->pid, now_us() + HELPER_GRACE_MS * 1000))
		r->end = HELPER_LEFT;
	else if (waitpid(r->pid, &status, WNOHANG) == r->pid)
		note_status(r, status, by_itself && !w->report->done);
}

/* The last line that is not empty. The offset is shared with the helper: so far it has written. */
static void read_said(struct watch *w)
{
	char text[SAID_MAX], *end, *line;
	off_t size = lseek(w->said, 0, SEEK_CUR);
	ssize_t n = size > 0 ? pread(w->said, text, size < SAID_MAX ? (size_t)size : SAID_MAX - 1, 0) : 0;

	if (n <= 0)
		return;
	for (ssize_t i = 0; i < n; i++)
		text[i] = text[i] == '\n' || (text[i] >= 0x20 && text[i] < 0x7F) ? text[i] : '?';
	for (end = text + n; end > text && end[-1] == '\n'; end--)
		;
	*end = '\0';
	line = strrchr(text, '\n');
	snprintf(w->result->said, sizeof(w->result->said), "%.*s", REPORT_TEXT_MAX - 1,
		line ? line + 1 : text);
}

int helper_run(const struct helper *h, struct report *report, struct helper_result *result, struct fault *why)
{
	struct watch w = { .h = h, .report = report, .result = result, .pipe = -1, .said = -1 };
	int rv = -1, saved;

	report_init(report);
	memset(result, 0, sizeof(*result));
	result->state = '?';
	w.start_us = now_us();
	w.end_us = w.start_us + h->deadline_ms * 1000;
	if (start(&w, why) < 0)
		goto out;
	listen_to(&w);
	result->us = now_us() - w.start_us;
	finish(&w);
	read_said(&w);
	rv = 0;
out:
	saved = errno;
	if (w.pipe >= 0)
		close(w.pipe);
	if (w.said >= 0)
		close(w.said);
	errno = saved;
	return rv;
}
