/* SPDX-License-Identifier: GPL-2.0-or-later
 * rights.h - can another user get at a file, judged from the rights of every folder on the way
 *
 * Access control lists are not looked at: they can let in somebody of whom this says that he is kept out.
 *
 * Threads  any that do not change users and groups */
#ifndef DOCTOR_RIGHTS_H
#define DOCTOR_RIGHTS_H
#include <stdbool.h>
#include <sys/types.h>

/* The first folder on the way to `path` that the user may not pass, else `path` itself if `read` and he may
 * not read it. Malloced, the caller's; NULL when he gets there, when something is not there, or ENOMEM.
 * RIGHTS_NOBODY stands for a user who owns nothing and is in no group. root gets everywhere. */
#define RIGHTS_NOBODY ((uid_t)-1)
char *rights_barred(const char *path, uid_t uid, bool read);

#endif
