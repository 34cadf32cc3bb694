/* SPDX-License-Identifier: GPL-2.0-or-later
 * plugstack.c - plugstack.conf as Slurm reads it, as far as it concerns us (plugstack.h)
 *
 * A line is "required|optional PATH [ARGUMENT...]" or "include PATTERN"; a pattern without a leading '/' is
 * relative to the folder of the file. */
#include "doctor/plugstack.h"
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PLUGIN "gpubudget.so"
#define LIMIT "max_min_runtime="
#define DEPTH_MAX 8			/* files that include files: a circle ends here */
#define FILES_MAX 256			/* and so do files that include each other several times */
#define WORDS_MAX 64
#define BLANKS " \t\r\n"

struct way {
	int depth, files;		/* where we are, and what was opened so far */
};

static int file_read(const char *path, struct way *way, struct plugstack_line *out, struct fault *why);

static bool is_ours(const char *plugin)
{
	const char *slash = strrchr(plugin, '/');

	return !strcmp(slash ? slash + 1 : plugin, PLUGIN);
}

static int keep(
	struct plugstack_line *out, const char *text, char *const *words, int count, struct fault *why)
{
	const char *limit = NULL;

	for (int i = 2; i < count; i++)
		if (!strncmp(words[i], LIMIT, strlen(LIMIT)))
			limit = words[i] + strlen(LIMIT);
	out->text = strdup(text);
	out->plugin = strdup(words[1]);
	out->limit = limit ? strdup(limit) : NULL;
	if (out->text && out->plugin && (!limit || out->limit))
		return 0;
	plugstack_line_free(out);
	return fault_errno(why, ENOMEM, "out of memory");
}

/* A pattern that matches nothing is no error, as in Slurm. */
static int include(
	const char *from, const char *pattern, struct way *way, struct plugstack_line *out, struct fault *why)
{
	const char *slash = strrchr(from, '/');
	char *whole = NULL;
	glob_t g;
	int rv = 0;

	if (asprintf(&whole, "%.*s%s", *pattern == '/' || !slash ? 0 : (int)(slash - from + 1), from,
		    pattern) < 0)
		return fault_errno(why, ENOMEM, "out of memory");
	if (way->depth < DEPTH_MAX && glob(whole, 0, NULL, &g) == 0) {
		way->depth++;
		for (size_t i = 0; rv == 0 && !out->text && i < g.gl_pathc && way->files < FILES_MAX; i++)
			rv = file_read(g.gl_pathv[i], way, out, why);
		way->depth--;
		globfree(&g);
	}
	free(whole);
	return rv;
}

/* `line` is taken apart. */
static int line_read(const char *from, char *line, struct way *way, struct plugstack_line *out, struct fault *why)
{
	char *words[WORDS_MAX], *state = NULL, *whole;
	int count = 0, rv = 0;

	line[strcspn(line, "#\r\n")] = '\0';
	line += strspn(line, BLANKS);
	for (size_t n = strlen(line); n && strchr(BLANKS, line[n - 1]); n--)
		line[n - 1] = '\0';
	whole = strdup(line);
	if (!whole)
		return fault_errno(why, ENOMEM, "out of memory");
	for (char *w = strtok_r(line, BLANKS, &state); w && count < WORDS_MAX;
		w = strtok_r(NULL, BLANKS, &state))
		words[count++] = w;
	if (count >= 2 && !strcasecmp(words[0], "include"))
		rv = include(from, words[1], way, out, why);
	else if (count >= 2 && is_ours(words[1]))
		rv = keep(out, whole, words, count, why);
	free(whole);
	return rv;
}

static int file_read(const char *path, struct way *way, struct plugstack_line *out, struct fault *why)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int rv = 0;

	way->files++;
	if (!file)
		return fault_errno(why, errno, "%s: %s", path, strerror(errno));
	while (rv == 0 && !out->text && getline(&line, &size, file) >= 0)
		rv = line_read(path, line, way, out, why);
	free(line);
	fclose(file);
	return rv;
}

int plugstack_find(const char *path, struct plugstack_line *out, struct fault *why)
{
	memset(out, 0, sizeof(*out));
	return file_read(path, &(struct way){0}, out, why);
}

void plugstack_line_free(struct plugstack_line *l)
{
	free(l->text);
	free(l->plugin);
	free(l->limit);
	memset(l, 0, sizeof(*l));
}
