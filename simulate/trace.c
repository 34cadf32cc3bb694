/* SPDX-License-Identifier: GPL-2.0-or-later
 * trace.c - jobs out of a file, in the order in which they are submitted. */
#include "simulate/trace.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "lib/nearest.h"
#include "lib/sacct_json.h"
#include "lib/sacct_text.h"

#define GPUS_MAX    1000000
#define SECONDS_MAX ((int64_t)1 << 40)
#define FIELDS_MAX  64

/* --- names ------------------------------------------------------------------------------------------ */

/* splitmix64: http://prng.di.unimi.it/splitmix64.c (public domain) */
uint64_t trace_random(uint64_t seed, uint64_t thing)
{
	uint64_t z = seed + (thing + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t hash_of(const char *name)
{
	uint64_t h = 0;

	for (; *name; name++)
		h = trace_random(h, (unsigned char)*name);
	return h;
}

static int hash_grow(struct trace_names *n)
{
	size_t room = n->hash_room ? 2 * n->hash_room : 64;
	uint32_t *hash = calloc(room, sizeof(*hash));

	if (!hash)
		return -1;
	for (size_t i = 0; i < n->count; i++) {
		size_t k = hash_of(n->name[i]) % room;

		while (hash[k])
			k = (k + 1) % room;
		hash[k] = (uint32_t)i + 1;
	}
	free(n->hash);
	n->hash = hash;
	n->hash_room = room;
	return 0;
}

static int name_add(struct trace_names *n, const char *name, size_t at)
{
	if (n->count == n->room) {
		size_t room = n->room ? 2 * n->room : 32;
		char **names = reallocarray(n->name, room, sizeof(*names));

		if (!names)
			return -1;
		n->name = names;
		n->room = room;
	}
	n->name[n->count] = strdup(name);
	if (!n->name[n->count])
		return -1;
	n->hash[at] = (uint32_t)++n->count;
	return (int)n->count - 1;
}

int trace_name(struct trace_names *n, const char *name, bool add)
{
	size_t k;

	if (2 * (n->count + 1) > n->hash_room && hash_grow(n) < 0)
		return -1;
	k = hash_of(name) % n->hash_room;
	for (; n->hash[k]; k = (k + 1) % n->hash_room)
		if (!strcmp(n->name[n->hash[k] - 1], name))
			return (int)n->hash[k] - 1;
	return add ? name_add(n, name, k) : -1;
}

static void names_free(struct trace_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->name[i]);
	free(n->name);
	free(n->hash);
}

/* --- jobs ------------------------------------------------------------------------------------------- */

static int aside(struct trace *t, int64_t line, const char *what)
{
	t->aside++;
	if (!t->first_aside.text[0])
		fault_set(&t->first_aside, "line %jd: %s", (intmax_t)line, what);
	return 0;
}

struct reading {
	const char *project, *user;
	int64_t submit_s, duration_s, gpus, min_runtime_s;
	bool resumable;
};

static int job_add(struct trace *t, const struct reading *r)
{
	int project = trace_name(&t->projects, r->project, true);
	int user = trace_name(&t->users, r->user, true);

	if (project < 0 || user < 0)
		return -1;
	if (t->count == t->room) {
		size_t room = t->room ? 2 * t->room : 1024;
		struct trace_job *jobs = reallocarray(t->jobs, room, sizeof(*jobs));

		if (!jobs)
			return -1;
		t->jobs = jobs;
		t->room = room;
	}
	t->jobs[t->count++] = (struct trace_job){.submit_s = r->submit_s,
		.duration_s = r->duration_s,
		.min_runtime_s = r->min_runtime_s,
		.gpus = (int32_t)r->gpus,
		.project = (uint32_t)project,
		.user = (uint32_t)user,
		.resumable = r->resumable};
	return 0;
}

/* --- CSV -------------------------------------------------------------------------------------------- */

enum csv_column {
	CSV_SUBMIT,
	CSV_DURATION,
	CSV_GPUS,
	CSV_PROJECT,
	CSV_USER,
	CSV_MIN_RUNTIME,
	CSV_RESUMABLE,
	CSV_COLUMNS
};

static const char *const csv_name[CSV_COLUMNS] = {
	[CSV_SUBMIT] = "submit_s",
	[CSV_DURATION] = "duration_s",
	[CSV_GPUS] = "gpus",
	[CSV_PROJECT] = "project",
	[CSV_USER] = "user",
	[CSV_MIN_RUNTIME] = "min_runtime_s",
	[CSV_RESUMABLE] = "resumable",
};

#define CSV_NEEDED (CSV_PROJECT + 1)

/* What Windows writes in front of UTF-8. */
static size_t byte_order_mark(const char *text)
{
	return strncmp(text, "\xef\xbb\xbf", 3) ? 0 : 3;
}

/* Cut at commas; quotes around a field go. The number of fields. */
static int csv_cut(char *line, char *field[FIELDS_MAX])
{
	int n = 0;

	line[strcspn(line, "\r\n")] = '\0';
	for (char *p = line; p && n < FIELDS_MAX; n++) {
		char *comma = strchr(p, ',');
		size_t length;

		if (comma)
			*comma = '\0';
		p += strspn(p, " \t\"");
		for (length = strlen(p); length && strchr(" \t\"", p[length - 1]); length--)
			p[length - 1] = '\0';
		field[n] = p;
		p = comma ? comma + 1 : NULL;
	}
	return n;
}

/* Others are left out; one that is nearly called like one of these is a slip of the fingers, and its numbers would
 * silently not count. 0; or -1. */
static int other_column(const char *name, struct fault *why)
{
	struct nearest meant;
	char text[NEAREST_TEXT_MAX];

	nearest_begin(&meant, name);
	for (int c = 0; c < CSV_COLUMNS; c++)
		nearest_offer(&meant, csv_name[c]);
	nearest_text(&meant, "", text);
	return *text ? fault_errno(why, EINVAL, "its header has a column %.40s: did you mean %s?", name, text) : 0;
}

/* Its columns, where each stands. Their number, or -1. */
static int csv_header(char *line, int at[CSV_COLUMNS], struct fault *why)
{
	char *field[FIELDS_MAX];
	int n = csv_cut(line, field);

	memset(at, 0xff, CSV_COLUMNS * sizeof(*at));
	for (int i = 0; i < n; i++) {
		int c = 0;

		while (c < CSV_COLUMNS && strcasecmp(field[i], csv_name[c]))
			c++;
		if (c == CSV_COLUMNS && other_column(field[i], why) < 0)
			return -1;
		if (c < CSV_COLUMNS && at[c] >= 0)
			return fault_errno(why, EINVAL, "its header has the column %s twice", csv_name[c]);
		if (c < CSV_COLUMNS)
			at[c] = i;
	}
	for (int c = 0; c < CSV_NEEDED; c++)
		if (at[c] < 0)
			return fault_errno(why, EINVAL, "there is no column %s in its header", csv_name[c]);
	return n;
}

/* A whole number, or one with a point: what is behind it does not count. */
static bool number_of(const char *text, int64_t max, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	if (end != text && *end == '.')
		end += 1 + strspn(end + 1, "0123456789");
	return end != text && !*end && !errno && *out >= 0 && *out <= max;
}

/* Where nothing is said a job can be resumed. */
static bool yes_or_no(const char *text, bool *out)
{
	bool no = !strcmp(text, "0") || !strcasecmp(text, "no") || !strcasecmp(text, "false");

	*out = !no;
	return no || !*text || !strcmp(text, "1") || !strcasecmp(text, "yes") || !strcasecmp(text, "true");
}

static bool has_more(char *const *field, int n, int columns)
{
	while (n > columns && !*field[n - 1])
		n--;
	return n > columns;
}

static int csv_row(struct trace *t, char *const *field, int n, const int at[CSV_COLUMNS], int columns,
	int64_t line)
{
	const char *text[CSV_COLUMNS];
	struct reading r = {.min_runtime_s = TRACE_MIN_RUNTIME_S};

	if (has_more(field, n, columns))
		return aside(t, line, "it has more cells than the header has columns");
	for (int c = 0; c < CSV_COLUMNS; c++)
		text[c] = at[c] >= 0 && at[c] < n ? field[at[c]] : "";
	if (!number_of(text[CSV_SUBMIT], SECONDS_MAX, &r.submit_s))
		return aside(t, line, "submit_s is no number of seconds");
	if (!number_of(text[CSV_DURATION], SECONDS_MAX, &r.duration_s) || !r.duration_s)
		return aside(t, line, "duration_s is no number of seconds above 0");
	if (!number_of(text[CSV_GPUS], GPUS_MAX, &r.gpus) || !r.gpus)
		return aside(t, line, "gpus is no number above 0");
	if (*text[CSV_MIN_RUNTIME] && !number_of(text[CSV_MIN_RUNTIME], SECONDS_MAX, &r.min_runtime_s))
		return aside(t, line, "min_runtime_s is no number of seconds");
	if (!yes_or_no(text[CSV_RESUMABLE], &r.resumable))
		return aside(t, line, "resumable is none of 1, 0, yes, no, true and false");
	if (!*text[CSV_PROJECT])
		return aside(t, line, "it has no project");
	r.project = text[CSV_PROJECT];
	r.user = *text[CSV_USER] ? text[CSV_USER] : r.project; /* nobody is told apart: one user a project */
	return job_add(t, &r);
}

static int csv_read(struct trace *t, FILE *from, struct fault *why)
{
	int at[CSV_COLUMNS], columns = -1, rv = -1;
	char *line = NULL;
	size_t size = 0;

	if (getline(&line, &size, from) < 0)
		fault_errno(why, EINVAL, "it is empty");
	else
		columns = csv_header(line + byte_order_mark(line), at, why);
	rv = columns < 0 ? -1 : 0;
	for (int64_t number = 2; rv == 0 && getline(&line, &size, from) > 0; number++) {
		char *field[FIELDS_MAX];
		int n = csv_cut(line, field);

		if (n > 1 || *field[0])
			rv = csv_row(t, field, n, at, columns, number);
	}
	free(line);
	if (rv == 0 && ferror(from))
		return fault_errno(why, EIO, "%s", strerror(EIO));
	return rv < 0 ? fault_set(why, "out of memory") : 0;
}

/* --- sacct ------------------------------------------------------------------------------------------ */

static int sacct_row_add(struct trace *t, const struct sacct_row *row, const struct zone *z)
{
	struct fault reason = {""};
	struct sacct_run run;
	struct reading r;

	switch (sacct_run_read(row, z, &run, &reason)) {
	case SACCT_RUN:
		break;
	case SACCT_ASIDE:
		return aside(t, row->line, reason.text);
	default:
		return 0; /* a step, or a job that never started */
	}
	r = (struct reading){run.account, *run.user ? run.user : run.account, run.submit, run.end - run.from,
		run.gpus.total, TRACE_MIN_RUNTIME_S, true};
	return run.gpus.total > 0 && r.duration_s > 0 ? job_add(t, &r) : 0;
}

static int sacct_read(struct trace *t, FILE *from, bool json, const struct zone *z, struct fault *why)
{
	struct sacct_text *text = json ? NULL : sacct_text_new(from, why);
	struct sacct_json *document = json ? sacct_json_new(from) : NULL;
	enum sacct_got got = text || document ? SACCT_ROW : SACCT_FAILED;

	while (got == SACCT_ROW || got == SACCT_BROKEN) {
		struct fault broken = {""};
		struct sacct_row row;

		got = json ? sacct_json_next(document, &row, &broken) : sacct_text_next(text, &row, &broken);
		if (got == SACCT_BROKEN)
			aside(t, row.line, broken.text);
		else if (got == SACCT_FAILED)
			fault_set(why, "%s", broken.text);
		else if (got == SACCT_ROW && sacct_row_add(t, &row, z) < 0)
			got = SACCT_FAILED;
	}
	sacct_text_free(text);
	sacct_json_free(document);
	return got == SACCT_FAILED ? fault_set(why, "%s", strerror(errno)) : 0;
}

/* --- all -------------------------------------------------------------------------------------------- */

static int by_submit(const void *a, const void *b)
{
	const struct trace_job *x = a, *y = b;

	if (x->submit_s != y->submit_s)
		return x->submit_s < y->submit_s ? -1 : 1;
	return (x->limit_s > y->limit_s) - (x->limit_s < y->limit_s);
}

/* Time limits by the seed, and minimum runtimes within them. */
static void set_limits(struct trace *t, uint64_t seed)
{
	for (size_t i = 0; i < t->count; i++) {
		struct trace_job *j = &t->jobs[i];

		j->limit_s = i; /* keeps the order of the file while sorting */
	}
	qsort(t->jobs, t->count, sizeof(*t->jobs), by_submit);
	for (size_t i = 0; i < t->count; i++) {
		struct trace_job *j = &t->jobs[i];
		int64_t more = (int64_t)(trace_random(seed, i) % 2001) * j->duration_s / 1000;

		j->limit_s = (j->duration_s + more + 59) / 60 * 60;
		if (j->min_runtime_s > j->limit_s)
			j->min_runtime_s = j->limit_s;
	}
}

/* sacct --json begins with a brace; a CSV file names submit_s or duration_s before the first newline. */
static int kind_of(FILE *from, char *peek, size_t size)
{
	size_t n = fread(peek, 1, size - 1, from);

	peek[n] = '\0';
	peek[strcspn(peek, "\n")] = '\0';
	if (fseek(from, 0, SEEK_SET) < 0)
		return -1;
	return peek[strspn(peek, " \t")] == '{' ? 'j' : strcasestr(peek, csv_name[CSV_SUBMIT]) ||
		strcasestr(peek, csv_name[CSV_DURATION]) ? 'c' : 's';
}

/* A pipe, as a file that can be read twice. NULL and errno. */
static FILE *spooled(FILE *from)
{
	FILE *file = tmpfile();
	char block[65536];
	size_t n;

	while (file && (n = fread(block, 1, sizeof(block), from)) > 0)
		fwrite(block, 1, n, file);
	if (file && (ferror(from) || fflush(file) == EOF || fseek(file, 0, SEEK_SET) < 0)) {
		fclose(file);
		file = NULL;
	}
	return file;
}

static int file_read(struct trace *t, FILE *from, const struct zone *z, struct fault *why)
{
	char peek[4096];
	int kind = kind_of(from, peek, sizeof(peek));

	if (kind < 0)
		return fault_set(why, "%s", strerror(errno));
	return kind == 'c' ? csv_read(t, from, why) : sacct_read(t, from, kind == 'j', z, why);
}

int trace_read(struct trace *t, FILE *from, const struct zone *z, uint64_t seed, struct fault *why)
{
	bool pipe = fseek(from, 0, SEEK_SET) < 0;
	FILE *file = pipe ? spooled(from) : from;
	int rv;

	*t = (struct trace){0};
	if (!file)
		return fault_set(why, "%s", strerror(errno));
	rv = file_read(t, file, z, why);
	if (pipe)
		fclose(file);
	if (rv < 0)
		return -1;
	if (!t->count)
		return fault_errno(
			why, EINVAL, "there is no job in it%s%s", t->aside ? ": " : "", t->first_aside.text);
	set_limits(t, seed);
	return 0;
}

void trace_free(struct trace *t)
{
	names_free(&t->projects);
	names_free(&t->users);
	free(t->jobs);
	*t = (struct trace){0};
}
