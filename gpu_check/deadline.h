/* SPDX-License-Identifier: GPL-2.0-or-later
 * deadline.h - a helper is started, listened to and ended; whatever it does, its caller goes on
 *
 * The helper may hang in its library or inside the kernel (state D, where not even SIGKILL ends it), crash,
 * end without a word or write anything at all. Nothing of that reaches the caller but as a value, at most
 * HELPER_GRACE_MS after the deadline.
 *
 * Only async-signal-safe calls are made between fork and exec (posix_spawn), since the caller may be a fork
 * of a program with threads. No other child of the caller is waited for.
 *
 * Threads  one at a time for each caller */
#ifndef GPU_CHECK_DEADLINE_H
#define GPU_CHECK_DEADLINE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "lib/fault.h"
#include "gpu_check/report.h"

#define HELPER_FD       3	/* where the helper writes its report */
#define HELPER_GRACE_MS 1000	/* how long a killed helper may take to be gone */

struct helper {
	const char *path;		/* of gpu-check-helper; or a program of the site's own */
	/* the site's own: no report is expected of it, and its status is its verdict */
	bool plain;
	const char *backend;
	enum level level;
	int64_t deadline_ms;
	char *const *environment;	/* of the task */
	const char *scratch;		/* a folder for caches that cannot be switched off; NULL = none */
	const int *stop;		/* readable: the helper is ended at once; NULL = never */
};

/* How it ended. Its report is complete only with HELPER_ENDED and report.done. */
enum helper_end {
	/* the report is complete, or the process ended by itself (exit_status) */
	HELPER_ENDED,
	HELPER_SIGNALLED,		/* by `signal`, before its report was complete */
	HELPER_LATE,			/* killed at the deadline */
	HELPER_LEFT,			/* the same, and it is still there (state D): left behind */
	HELPER_GARBAGE			/* killed after a line that is none */
};

struct helper_result {
	enum helper_end end;
	int exit_status, signal;
	pid_t pid;
	char state;			/* of the process at the deadline, as in /proc/PID/stat; '?' */
	int64_t us;			/* from the start to the end of the report */
	/* the last line that libraries printed; what is not printable is '?' */
	char said[REPORT_TEXT_MAX];
};

/* 0, with *report and *result filled; or -1 and errno where it cannot be started, with both empty. */
int helper_run(const struct helper *h, struct report *report, struct helper_result *result,
	struct fault *why);

#endif
