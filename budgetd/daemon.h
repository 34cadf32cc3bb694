/* SPDX-License-Identifier: GPL-2.0-or-later
 * daemon.h - the life of the daemon: parts made in their order, passes until told to stop, settings read
 * again on SIGHUP
 *
 * Threads  main only */
#ifndef BUDGETD_DAEMON_H
#define BUDGETD_DAEMON_H
#include "lib/fault.h"
#include "settings/settings.h"

struct daemon_start {
	const char *conf;	/* read again on SIGHUP */
	struct settings *settings;	/* given away */
	int report;		/* of start_detach, or -1 */
};

/* Serve until SIGTERM or SIGINT: 0. Or -1 and a text: it could not start, nothing is left behind. */
int daemon_run(const struct daemon_start *start, struct fault *why);

#endif
