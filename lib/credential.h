/* SPDX-License-Identifier: GPL-2.0-or-later
 * credential.h - what a request's MUNGE credential says: which request it is for
 *
 * Authorization: MUNGE <credential>, and the credential carries the text
 *
 *     gpubudget-1 METHOD PATH SHA256
 *
 * PATH is the target of the request line as budgetd sees it, with its query; SHA256 is that of the body in
 * lower-case hexadecimal (of nothing, when there is no body). So a credential that somebody has seen is worth
 * nothing for another request, and one that was made for another program is worth nothing here.
 *
 * Threads  pure functions: any thread. Needs Nettle: this file is no part of librules. */
#ifndef LIB_CREDENTIAL_H
#define LIB_CREDENTIAL_H
#include <stddef.h>

#define CREDENTIAL_SCHEME "MUNGE"

/* The text for this request, to be freed; NULL and ENOMEM. `body` may be NULL when `bytes` is 0. */
char *credential_payload(const char *method, const char *path, const void *body, size_t bytes);

#endif
