/* SPDX-License-Identifier: GPL-2.0-or-later
 * start.c - telling whoever started the daemon how it went. */
#include "config.h"
#include "budgetd/start.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#else
#define sd_notify(unset, text) ((void)(text))
#define sd_notifyf(unset, ...) ((void)0)
#endif

/* The child closes its end without a word when it fails: then its exit status is ours. */
static void wait_for_report(int fd, pid_t child)
{
	char ready;
	int status;

	if (read(fd, &ready, 1) == 1)
		_exit(EXIT_SUCCESS);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

int start_detach(int *report, struct fault *why)
{
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return fault_set(why, "cannot detach: %s", strerror(errno));
	child = fork();
	if (child < 0)
		return fault_set(why, "cannot detach: %s", strerror(errno));
	if (child > 0) {
		close(ends[1]);
		wait_for_report(ends[0], child);
	}
	close(ends[0]);
	setsid();
	*report = ends[1];
	return 0;
}

/* Whoever reads what the command printed must see its end; stderr stays, it is the log. */
static void stdout_close(void)
{
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (nowhere < 0)
		return;
	dup2(nowhere, STDIN_FILENO);
	dup2(nowhere, STDOUT_FILENO);
	close(nowhere);
}

void start_ready(int report, const char *status)
{
	if (report >= 0)
		stdout_close();
	if (report >= 0 && write(report, "r", 1) != 1)
		errno = 0;	/* the parent is gone: nobody waits */
	sd_notifyf(0, "READY=1\nSTATUS=%s", status);
}

void start_failed(const char *text)
{
	sd_notifyf(0, "STATUS=%s", text);
}

void start_reloading(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000);
}

void start_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}

void start_alive(void)
{
	sd_notify(0, "WATCHDOG=1");
}
