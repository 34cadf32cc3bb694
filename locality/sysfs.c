/* SPDX-License-Identifier: GPL-2.0-or-later
 * sysfs.c - openat, read, close (sysfs.h): stdio would cost as much again, and there are hundreds of
 * files.
 *
 * The kernel gives a file of sysfs and a small one of /proc whole to whoever asks for more than it has: a
 * second read, to see the end, would only cost. */
#include "locality/sysfs.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* O_NONBLOCK: a tree that was copied or made may have a pipe in it. */
static int path_read(int root, char *buf, size_t size, const char *path)
{
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t n;
	ssize_t got;

	buf[0] = '\0';
	if (fd < 0)
		return -1;
	got = read(fd, buf, size - 1);
	close(fd);
	n = got < 0 ? 0 : (size_t)got;
	while (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return got < 0 ? -1 : (int)n;
}

#define FORMATTED(path, format) \
	do { \
		va_list ap; \
		va_start(ap, format); \
		vsnprintf(path, sizeof(path), format, ap); \
		va_end(ap); \
	} while (0)

int sysfs_read(int root, char *buf, size_t size, const char *path_format, ...)
{
	char path[SYSFS_PATH_MAX];

	FORMATTED(path, path_format);
	return path_read(root, buf, size, path);
}

int sysfs_folder(int root, const char *path_format, ...)
{
	char path[SYSFS_PATH_MAX];

	FORMATTED(path, path_format);
	return openat(root, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void sysfs_leave(int folder)
{
	int err = errno;

	if (folder >= 0)
		close(folder);
	errno = err;
}

int sysfs_number(int root, int64_t *out, const char *path_format, ...)
{
	char path[SYSFS_PATH_MAX], text[32], *end;
	int64_t value;

	FORMATTED(path, path_format);
	if (path_read(root, text, sizeof(text), path) <= 0)
		return -1;
	errno = 0;
	value = strtoll(text, &end, 0);
	if (errno || *end || end == text)
		return -1;
	*out = value;
	return 0;
}

int sysfs_list(int root, struct cpu_set *out, const char *path_format, ...)
{
	char path[SYSFS_PATH_MAX], text[SYSFS_TEXT_MAX];

	FORMATTED(path, path_format);
	return path_read(root, text, sizeof(text), path) < 0 ? -1 : cpu_set_parse(text, out);
}

int sysfs_field(const char *text, const char *name, char separator, char *buf, size_t size)
{
	size_t length = strlen(name), n;

	buf[0] = '\0';
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) || line[length] != separator)
			continue;
		line += length + 1;
		line += strspn(line, " \t");
		n = strcspn(line, "\n");
		while (n > 0 && line[n - 1] == ' ')
			n--;
		snprintf(buf, size, "%.*s", (int)n, line);
		return 0;
	}
	return -1;
}
