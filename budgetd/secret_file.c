/* SPDX-License-Identifier: GPL-2.0-or-later
 * secret_file.c - a secret out of a file that nobody else may read (secret_file.h). */
#include "budgetd/secret_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096

static int check_file(const struct secret_file *f, int fd, const char *path, struct fault *why)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return fault_errno(why, EINVAL, "%s: %s is not a file", f->setting, path);
	if (st.st_mode & (S_IRWXO | S_IWGRP))
		return fault_errno(why, EACCES, "%s: others can read or write %s: %s; chmod 640 it", f->setting, path,
			f->harm);
	return 0;
}

static int take_line(const struct secret_file *f, const char *path, char *text, char **out, struct fault *why)
{
	size_t n = strcspn(text, "\r\n");

	if (n == 0 || n == LINE_MAX_BYTES)
		return fault_errno(why, EINVAL, "%s: the first line of %s is %s", f->setting, path,
			n ? "too long" : "empty");
	text[n] = '\0';
	*out = strdup(text);
	return *out ? 0 : fault_errno(why, ENOMEM, "out of memory");
}

int secret_file_read(const struct secret_file *f, const char *path, char **out, struct fault *why)
{
	char text[LINE_MAX_BYTES + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;	/* a FIFO must hang nobody */
	ssize_t n;

	if (fd < 0)
		return fault_errno(why, errno, "%s: %s: %s", f->setting, path, strerror(errno));
	rc = check_file(f, fd, path, why);
	n = rc == 0 ? read(fd, text, LINE_MAX_BYTES) : 0;
	close(fd);
	if (rc < 0)
		return -1;
	text[n > 0 ? n : 0] = '\0';
	return take_line(f, path, text, out, why);
}
