/* SPDX-License-Identifier: GPL-2.0-or-later
 * copy.h - a backup of the books while they are in use, and the way back
 *
 * A backup is one file of its own, without a WAL beside it, of one moment of the books. What is not sound is
 * neither kept nor put back.
 *
 * Threads  any; both wait for the disk
 * Errors   -1 with errno and a text that says how to go on; what was there before is still there */
#ifndef BOOKS_COPY_H
#define BOOKS_COPY_H
#include <limits.h>
#include <stdint.h>
#include "lib/fault.h"

/* Copy the books at `from` to `to`, verify the copy and bring it to the disk. budgetd goes on meanwhile.
 * EEXIST when something is at `to`; EBADMSG: the copy is not sound, and nothing is left at `to`. The copy
 * belongs to the caller, mode 0600. */
int copy_backup(const char *from, const char *to, struct fault *why);

/* Put a copy of `from` in the place of the books at `to`, once it is known to be sound; an older schema is
 * brought forward. What was at `to` is kept beside it, and `aside` gets its name: TO.YYYYMMDDTHHMMSSZ of
 * `now` ("" = nothing was there). EBUSY: budgetd runs. The new file belongs to the owner of the old one, or
 * of the folder. */
int copy_restore(
	const char *from, const char *to, int64_t now, char aside[static PATH_MAX], struct fault *why);

#endif
