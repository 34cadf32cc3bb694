/* SPDX-License-Identifier: GPL-2.0-or-later
 * places_file.c - gpu-places.conf (places_file.h) */
#include "locality/places_file.h"
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/number.h"

static int line_take(struct place_line *l, const char *kind, const char *value)
{
	int64_t node;

	*l = (struct place_line){ .node = -1 };
	if (!strcmp(kind, "node") && number_parse(value, CPUS_MAX, &node) == 0) {
		l->node = (int)node;
		return 0;
	}
	return !strcmp(kind, "cpus") && cpu_set_parse(value, &l->cpus) == 0 &&
		!cpu_set_empty(&l->cpus) ? 0 : -1;
}

/* `text` is one line, which is cut into words. 0; or -1. */
static int line_add(struct places_file *f, char *text)
{
	char *save = NULL, *pattern, *kind, *value;
	struct place_line *grown;

	text[strcspn(text, "#\n")] = '\0';
	pattern = strtok_r(text, " \t", &save);
	if (!pattern)
		return 0;
	kind = strtok_r(NULL, " \t", &save);
	value = strtok_r(NULL, " \t", &save);
	grown = reallocarray(f->line, (size_t)f->lines + 1, sizeof(*grown));
	if (!grown)
		return -1;
	f->line = grown;
	errno = EINVAL;
	if (!kind || !value || strtok_r(NULL, " \t", &save) || line_take(&grown[f->lines], kind, value) < 0)
		return -1;
	grown[f->lines].pattern = strdup(pattern);
	return grown[f->lines].pattern ? f->lines++, 0 : -1;
}

static int lines_read(FILE *from, const char *path, struct places_file *out, struct fault *why)
{
	char *text = NULL;
	size_t room = 0;
	int number = 0, rv = 0;

	while (rv == 0 && getline(&text, &room, from) >= 0) {
		number++;
		rv = line_add(out, text);
	}
	if (rv < 0 && errno == EINVAL)
		fault_set(why,
			"/%s:%d: a line is \"BUS_ID node N\" or \"BUS_ID cpus LIST\", as in \"0000:d1:00.0 "
			"cpus 0-7,64-71\"",
			path, number);
	else if (rv < 0 || ferror(from))
		rv = fault_set(why, "/%s: %s", path, strerror(errno));
	free(text);
	return rv;
}

/* Without waiting for whoever might write into it: each task with GPUs comes by here. */
static FILE *file_open(int root, const char *path)
{
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *from = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
		errno = S_ISDIR(st.st_mode) ? EISDIR : ENOTSUP;
	else
		from = fdopen(fd, "r");
	if (!from) {
		int err = errno;

		close(fd);
		errno = err;
	}
	return from;
}

int places_file_read(int root, const char *path, struct places_file *out, struct fault *why)
{
	FILE *from = file_open(root, path);
	int rv;

	*out = (struct places_file){ .lines = 0 };
	if (!from)
		return errno == ENOENT ? 0 : fault_set(why, "/%s: %s", path,
			errno == ENOTSUP ? "this is no file that can be read" : strerror(errno));
	rv = lines_read(from, path, out, why);
	fclose(from);
	if (rv < 0)
		places_file_free(out);
	return rv;
}

void places_file_free(struct places_file *f)
{
	int err = errno;

	for (int i = 0; i < f->lines; i++)
		free(f->line[i].pattern);
	free(f->line);
	*f = (struct places_file){ .lines = 0 };
	errno = err;
}

const struct place_line *places_file_find(const struct places_file *f, const struct pci_address *a)
{
	char text[PCI_TEXT_MAX];

	pci_text(a, text);
	for (int i = 0; i < f->lines; i++)
		if (fnmatch(f->line[i].pattern, text, 0) == 0)
			return &f->line[i];
	return NULL;
}
