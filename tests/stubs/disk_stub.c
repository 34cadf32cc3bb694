/* SPDX-License-Identifier: GPL-2.0-or-later
 * disk_stub.c - a disk that fails as it is told to (LD_PRELOAD): budgetd's database on a bad day
 *
 * DISK_STUB names a file, which is read at each write. Its first word:
 *
 *   fail        writes and syncs of files whose name contains budget.db fail with EIO
 *   readonly    the same with EROFS, as on a file system that the kernel has given up
 *   stall MS    each sync of them takes MS milliseconds longer
 *
 * anything else, or no such file: as usual. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool is_of_database(int fd)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	return strstr(path, "budget.db") != NULL;
}

struct order {
	int error;
	long stall_ms;
};

static struct order order_read(int fd)
{
	struct order o = { 0, 0 };
	const char *name = getenv("DISK_STUB");
	FILE *f = name && is_of_database(fd) ? fopen(name, "re") : NULL;
	char word[16];

	if (!f)
		return o;
	if (fscanf(f, "%15s", word) == 1) {
		o.error = strcmp(word, "fail") == 0 ? EIO : strcmp(word, "readonly") == 0 ? EROFS : 0;
		if (strcmp(word, "stall") == 0 && fscanf(f, "%ld", &o.stall_ms) != 1)
			o.stall_ms = 0;
	}
	fclose(f);
	return o;
}

static ssize_t write_at(const char *name, int fd, const void *data, size_t size, off64_t at)
{
	ssize_t (*real)(int, const void *, size_t, off64_t) =
		(ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, name);

	struct order o = order_read(fd);

	if (o.error) {
		errno = o.error;
		return -1;
	}
	return real(fd, data, size, at);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	return write_at("pwrite", fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
	return write_at("pwrite64", fd, data, size, at);
}

static int sync_as(const char *name, int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
	struct order o = order_read(fd);
	struct timespec wait = { o.stall_ms / 1000, o.stall_ms % 1000 * 1000000 };

	if (o.error) {
		errno = o.error;
		return -1;
	}
	nanosleep(&wait, NULL);
	return real(fd);
}

int fsync(int fd)
{
	return sync_as("fsync", fd);
}

int fdatasync(int fd)
{
	return sync_as("fdatasync", fd);
}
