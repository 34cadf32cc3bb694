/* SPDX-License-Identifier: GPL-2.0-or-later
 * munge.h - who asks, proven by the munged of this host
 *
 * For programs that people run: the plugin inside slurmctld does not link this.
 *
 * Threads  any */
#ifndef CLIENT_MUNGE_H
#define CLIENT_MUNGE_H
#include <stddef.h>
#include "lib/fault.h"

/* "MUNGE <credential>", good for this one request (lib/credential.h); to be freed. `munge_socket` "" is
 * libmunge's own. NULL: errno ENOMEM, or ENOTCONN and a text that says what munged's trouble is. */
char *munge_authorization(const char *munge_socket, const char *method, const char *path, const void *body,
	size_t bytes, struct fault *why);

#endif
