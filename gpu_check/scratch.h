/* SPDX-License-Identifier: GPL-2.0-or-later
 * scratch.h - a folder for what OpenCL compiles, which is gone when the check is over
 *
 * Signals  Ctrl-C, a time limit and scancel would end the caller before it can remove the folder: from
 *          scratch_begin to scratch_end SIGHUP, SIGINT, SIGQUIT and SIGTERM wait, and `signals` is readable
 *          when one has come, so that the caller ends what it does. scratch_end lets them do what they do.
 *          Nothing helps against SIGKILL.
 * Threads  of one thread at a time; a caller with several has to block these signals in the others */
#ifndef GPU_CHECK_SCRATCH_H
#define GPU_CHECK_SCRATCH_H
#include <signal.h>
#include <stdbool.h>

struct scratch {
	char path[256];
	int signals;			/* -1: they cannot be waited for; they are not held up then */
	sigset_t before;
};

/* Below `tmp`; NULL and "": /tmp. false: there is none to be had, and nothing is to be ended. */
bool scratch_begin(struct scratch *s, const char *tmp);
void scratch_end(struct scratch *s);

#endif
