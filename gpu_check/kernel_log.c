/* SPDX-License-Identifier: GPL-2.0-or-later
 * kernel_log.c - reading records (kernel_log.h)
 *
 * /dev/kmsg gives one record a read; EPIPE says that some were overwritten before they could be read, which
 * is no end. */
#include "gpu_check/kernel_log.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG "dev/kmsg"

struct listener {
	int64_t since_us;
	void (*each)(const char *text, int64_t at_us, void *arg);
	void *arg;
};

/* The priority is 8 times the facility and the level; facility 0 is the kernel, and no program can write as
 * it: syslog daemons may pass on what users said. */
static bool is_kernels(long priority)
{
	return priority >= 0 && priority < 8;
}

const char *log_record(char *line, int64_t *at_us)
{
	int64_t whole;
	long priority = 0;
	char *text;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%ld,%*d,%" SCNd64 ",%n", &priority, at_us, &at) == 2 && at > 0) {
		text = is_kernels(priority) ? strchr(line + at, ';') : NULL;
		return text ? text + 1 : NULL;
	}
	if (line[0] == '<' && (text = strchr(line, '>'))) {
		if (!is_kernels(strtol(line + 1, NULL, 10)))
			return NULL;
		line = text + 1;
	}
	if (line[0] != '[' || sscanf(line, "[ %" SCNd64 ".%n", &whole, &at) != 1 || at == 0)
		return NULL;
	if (__builtin_mul_overflow(whole, 1000000, &whole) ||
		__builtin_add_overflow(whole, strtoll(line + at, &text, 10), at_us) || *text != ']')
		return NULL;
	text += 1 + (text[1] == ' ');
	at = 0;		/* "[ T1234] ": who called, where the kernel tells it */
	sscanf(text, "[ %*[TC]%*d]%n", &at);
	return text + at + (at > 0 && text[at] == ' ');
}

static void tell(const struct listener *l, char *line)
{
	int64_t at_us;
	const char *text = log_record(line, &at_us);

	if (text && at_us >= l->since_us)
		l->each(text, at_us, l->arg);
}

static int device_read(int fd, const struct listener *l)
{
	char record[8192]; /* the kernel's own bound */
	ssize_t n;

	while ((n = read(fd, record, sizeof(record) - 1)) != 0) {
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (n < 0)
			return -1;
		record[n] = '\0';
		tell(l, record);
	}
	return 0;
}

static int file_read(int fd, const struct listener *l)
{
	FILE *from = fdopen(dup(fd), "r");
	char *line = NULL;
	size_t room = 0;

	if (!from)
		return -1;
	while (getline(&line, &room, from) >= 0)
		tell(l, line);
	free(line);
	fclose(from);
	return 0;
}

int kernel_log_read(
	int root, int64_t since_us, void (*each)(const char *text, int64_t at_us, void *arg), void *arg)
{
	struct listener l = {since_us, each, arg};
	int fd = openat(root, LOG, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rv;
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	rv = fstat(fd, &st) < 0 ? -1 : S_ISREG(st.st_mode) ? file_read(fd, &l) : device_read(fd, &l);
	close(fd);
	return rv;
}
