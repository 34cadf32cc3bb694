/* SPDX-License-Identifier: GPL-2.0-or-later
 * socket.h - a listening Unix socket or TCP port, and who is at the other end of a connection
 *
 * Threads  any */
#ifndef BUDGETD_SOCKET_H
#define BUDGETD_SOCKET_H
#include <sys/types.h>
#include "lib/fault.h"

/* Bind and listen at `path` with `mode`. A file that nobody listens on is removed, one that is in use is
 * refused (EADDRINUSE). The descriptor (close-on-exec, non-blocking), or -1 with errno and a text. */
int socket_listen(const char *path, mode_t mode, struct fault *why);

/* The same over TCP, at an address of address_parse. "*" takes both IPv6 and IPv4 where the host has them. */
int socket_listen_at(const char *address, struct fault *why);

/* The uid of the peer, from the kernel. 0, or -1 and errno. */
int socket_peer(int fd, uid_t *uid);

#endif
