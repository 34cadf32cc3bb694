/* SPDX-License-Identifier: GPL-2.0-or-later
 * server.h - HTTP on two Unix sockets and over the network (libmicrohttpd)
 *
 * `socket` is for people, `slurm_socket` for the plugin inside slurmctld alone, `listen` for login nodes:
 * each has a thread of its own, so that nothing users do can keep a submission waiting. The caller is known
 * by SO_PEERCRED, over the network by a MUNGE credential. Rights and sizes are checked before a handler runs.
 *
 * Threads  server_start before, server_stop after everything that handlers use */
#ifndef BUDGETD_SERVER_H
#define BUDGETD_SERVER_H
#include "budgetd/budgetd.h"
#include "lib/fault.h"

struct server;

/* Removes a socket that nobody listens on, refuses one that is in use (EADDRINUSE). `b` must outlive the
 * server. */
int server_start(struct budgetd *b, struct server **out, struct fault *why);
void server_stop(struct server *s);	/* NULL is fine; finishes what it is answering */

#endif
