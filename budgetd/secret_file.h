/* SPDX-License-Identifier: GPL-2.0-or-later
 * secret_file.h - a secret that is the first line of a file, so that it stands in no settings and no argv
 *
 * Threads  any */
#ifndef BUDGETD_SECRET_FILE_H
#define BUDGETD_SECRET_FILE_H
#include "lib/fault.h"

struct secret_file {
	const char *setting;		/* whose value the path is: texts begin with it */
	const char *harm;		/* what others could do with it, for whom it concerns */
};

/* The first line of `path`, to be freed. Others can neither read nor write the file, its group cannot write it.
 * 0; or -1: EACCES, EINVAL (no file, an empty line, over 4 KiB), what open() says. No text shows any of it. */
int secret_file_read(const struct secret_file *f, const char *path, char **out, struct fault *why);

#endif
