/* SPDX-License-Identifier: GPL-2.0-or-later
 * scratch.c - made, watched over, removed (scratch.h) */
#include "gpu_check/scratch.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	remove(path);
	return 0;
}

/* Before the folder is there: none may be left by a signal in between. */
static void signals_hold(struct scratch *s)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(&set, ends[i]);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals >= 0)
		sigprocmask(SIG_BLOCK, &set, &s->before);
}

static void signals_release(struct scratch *s)
{
	if (s->signals < 0)
		return;
	close(s->signals);
	sigprocmask(SIG_SETMASK, &s->before, NULL);
}

bool scratch_begin(struct scratch *s, const char *tmp)
{
	signals_hold(s);
	snprintf(s->path, sizeof(s->path), "%.200s/gpu-check-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (mkdtemp(s->path))
		return true;
	signals_release(s);
	return false;
}

void scratch_end(struct scratch *s)
{
	nftw(s->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	signals_release(s);
}
