/* SPDX-License-Identifier: GPL-2.0-or-later
 * import_stop.c - an import that somebody stops says how far it came (import.h)
 *
 * The reader may wait for a pipe for as long as it likes, so a thread of its own waits for the signals. What
 * was on its way at that moment may be in the books or not: that is said, and does no harm. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include "budgetctl/import.h"
#include "budgetctl/say.h"

struct import_stop {
	const struct import *im;
	sigset_t signals, before;
	pthread_t thread;
};

static const struct {
	int signal;
	const char *name;
} stopping[] = {{SIGINT, "SIGINT (Ctrl-C)"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};

/* Those that would end this program. */
static void signals_of(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(stopping); i++) {
		struct sigaction now;

		if (sigaction(stopping[i].signal, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			sigaddset(set, stopping[i].signal);
	}
}

static void tell(const struct import *im, int signal)
{
	const char *name = "a signal";

	for (size_t i = 0; i < ARRAY_SIZE(stopping); i++)
		if (stopping[i].signal == signal)
			name = stopping[i].name;
	if (im->sending)
		complain(REFUSED,
			"stopped by %s: %" PRId64
			" runs were imported so far, and perhaps some of the rows that were on their way; the rows behind "
			"them were not. The same command goes on from there, and nothing counts twice",
			name, im->runs);
	else
		complain(REFUSED, "stopped by %s: it was a dry run, nothing was imported", name);
}

static void *wait_for_signal(void *arg)
{
	struct import_stop *stop = arg;
	sigset_t one;
	int signal;

	if (sigwait(&stop->signals, &signal) != 0)
		return NULL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	tell(stop->im, signal);
	sigemptyset(&one);
	sigaddset(&one, signal);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	raise(signal); /* who called sees what ended it, as without this thread */
	return NULL;
}

struct import_stop *import_stop_begin(const struct import *im)
{
	struct import_stop *stop = calloc(1, sizeof(*stop));

	if (!stop)
		return NULL;
	stop->im = im;
	signals_of(&stop->signals);
	pthread_sigmask(SIG_BLOCK, &stop->signals, &stop->before);
	if (pthread_create(&stop->thread, NULL, wait_for_signal, stop) == 0)
		return stop;
	pthread_sigmask(SIG_SETMASK, &stop->before, NULL);
	free(stop);
	return NULL;
}

void import_stop_end(struct import_stop *stop)
{
	if (!stop)
		return;
	pthread_cancel(stop->thread);
	pthread_join(stop->thread, NULL);
	pthread_sigmask(SIG_SETMASK, &stop->before, NULL);
	free(stop);
}
