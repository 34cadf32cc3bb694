/* SPDX-License-Identifier: GPL-2.0-or-later
 * apart.c - fork, wait, kill (apart.h) */
#include "gpu_check/apart.h"
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_MS = 5, KILLED_MS = 1000 };

void *apart_new(size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return shared == MAP_FAILED ? NULL : shared;
}

void apart_free(void *shared, size_t size)
{
	if (shared)
		munmap(shared, size);
}

_Noreturn static void child(
	void (*work)(void *shared, const void *question), void *shared, const void *question, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	/* what libraries print is nothing for the output of this program */
	if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		_exit(1);
	work(shared, question);
	_exit(0);
}

/* true: it ended by itself. */
static bool wait_until(pid_t pid, int64_t ms, int *status)
{
	for (; ms >= 0; ms -= PAUSE_MS) {
		if (waitpid(pid, status, WNOHANG) != 0)
			return true;
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
	}
	return false;
}

int apart_run(void (*work)(void *shared, const void *question), void *shared, const void *question,
	int64_t deadline_ms, struct apart *out)
{
	pid_t parent = getpid(), pid;

	*out = (struct apart){.ended = false};
	fflush(NULL);	/* the child's freopen would write it, too */
	pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0)
		child(work, shared, question, parent);
	out->ended = wait_until(pid, deadline_ms, &out->status);
	if (!out->ended) {
		kill(pid, SIGKILL);
		wait_until(pid, KILLED_MS, &out->status);	/* in state D it stays: init has it then */
	}
	return 0;
}

const char *apart_text(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (char *c = text; *c; c++)
		*c = *c >= 0x20 && *c < 0x7F ? *c : '?';
	return text;
}
