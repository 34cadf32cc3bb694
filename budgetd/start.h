/* SPDX-License-Identifier: GPL-2.0-or-later
 * start.h - telling whoever started the daemon how it went
 *
 * systemd by sd_notify(3); a person or a script by --detach: the command returns when the daemon is ready, or
 * prints why it is not and fails.
 *
 * Threads  main only */
#ifndef BUDGETD_START_H
#define BUDGETD_START_H
#include "lib/fault.h"

/* Fork into the background. In the parent this never returns: it waits for the child to be ready (exit 0) or
 * to end (its exit status; the child has said why on stderr). In the child: 0, and the descriptor of its
 * report in *report. Before any thread. -1 and errno. */
int start_detach(int *report, struct fault *why);

/* Ready: the parent of a detached daemon returns, systemd goes on. `report` may be -1. */
void start_ready(int report, const char *status);

void start_failed(const char *text);		/* systemd shows it in `systemctl status` */
void start_reloading(void);			/* then start_ready again */
void start_stopping(void);
void start_alive(void);				/* the watchdog's sign of life; nothing without one */

#endif
