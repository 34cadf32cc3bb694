/* SPDX-License-Identifier: GPL-2.0-or-later
 * fuzz.c - what the fuzzers share (fuzz.h). */
#include "tests/fuzz/fuzz.h"
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void fuzz_hold(bool true_, const char *text, const char *file, int line)
{
	if (true_)
		return;
	fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, text);
	abort();
}

void fuzz_refused(const struct fault *why)
{
	fuzz_must(why->text[0]);
}

char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	fuzz_must(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

void fuzz_lines(const uint8_t *data, size_t size, size_t n, char *line[])
{
	for (size_t i = 0; i < n; i++) {
		const uint8_t *end = size && i + 1 < n ? memchr(data, '\n', size) : NULL;
		size_t length = end ? (size_t)(end - data) : size;

		line[i] = fuzz_text(data, length);
		data += length + (end ? 1 : 0);
		size -= length + (end ? 1 : 0);
	}
}

void fuzz_lines_free(size_t n, char *line[])
{
	for (size_t i = 0; i < n; i++)
		free(line[i]);
}

FILE *fuzz_stream(const uint8_t *data, size_t size)
{
	/* a stream over no bytes at all is EINVAL in some C libraries */
	FILE *f = size ? fmemopen((void *)(uintptr_t)data, size, "r") : fopen("/dev/null", "r");

	fuzz_must(f);
	return f;
}

/* --- files -------------------------------------------------------------------------------------------- */

static char folder[256];

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st, (void)kind, (void)walk;
	return remove(path);
}

static void remove_folder(void)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder_path(void)
{
	const char *tmp = getenv("TMPDIR");

	if (!folder[0]) {
		snprintf(folder, sizeof(folder), "%.200s/fuzz-XXXXXX", tmp && *tmp ? tmp : "/tmp");
		fuzz_must(mkdtemp(folder));
		atexit(remove_folder);
	}
	return folder;
}

int fuzz_folder(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open(fuzz_folder_path(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fuzz_must(fd >= 0);
	return fd;
}

static void make_folders(char *path)
{
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdirat(fuzz_folder(), path, 0755);
		*slash = '/';
	}
}

static bool has_already(int fd, const void *content, size_t size)
{
	char *now = malloc(size + 1);
	bool same = now && pread(fd, now, size + 1, 0) == (ssize_t)size && memcmp(now, content, size) == 0;

	free(now);
	return same;
}

void fuzz_file(const char *path, const void *content, size_t size)
{
	int fd = openat(fuzz_folder(), path, O_RDWR | O_CLOEXEC);
	char *copy = strdup(path);

	fuzz_must(copy);
	if (fd < 0) {
		make_folders(copy);
		fd = openat(fuzz_folder(), path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	}
	fuzz_must(fd >= 0);
	if (!has_already(fd, content, size))
		fuzz_must(ftruncate(fd, 0) == 0 && pwrite(fd, content, size, 0) == (ssize_t)size);
	close(fd);
	free(copy);
}
