/* SPDX-License-Identifier: GPL-2.0-or-later
 * import.c - import sacct: what a file of sacct says was used
 *
 * The dry run asks neither budgetd nor Slurm. Every row is a run that is counted once, a row that is none (a
 * step, a job that never started, the same row once more), or set aside with its line and the reason; nothing
 * is dropped in silence. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "budgetctl/progress.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "lib/run_set.h"
#include "lib/sacct_json.h"
#include "lib/sacct_text.h"
#include "lib/usage.h"

#define UNITS_A_SECOND 1000 /* one GPU-second at rate 1.000 */
#define ASIDE_SHOWN    20   /* rows told to a person; JSON has all */
#define ROWS_AT_ONCE   4096 /* of a table: CSV needs no memory for the others */

struct import {
	FILE *from;
	struct sacct_text *text; /* of sacct -P; or */
	struct sacct_json *json;
	struct zone *zone;
	struct run_set *seen;
	struct usage *usage;
	struct json_object *aside;
	int64_t rows, runs, pieces, steps, not_started, twice;
	int64_t gpu_runs; /* rows with GPUs */
};

/* --- rows ------------------------------------------------------------------------------------------- */

/* Bytes that are no text are shown as '?': a reason quotes what the file has. */
static void text_clean(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x7f || (unsigned char)*text < 0x20)
			*text = '?';
}

static int aside_add(struct import *im, int64_t line, struct fault *reason)
{
	struct json_object *row = json_object_new_object();

	text_clean(reason->text);
	if (row && json_object_object_add(row, "line", json_object_new_int64(line)) == 0 &&
		json_object_object_add(row, "reason", json_object_new_string(reason->text)) == 0 &&
		json_object_array_add(im->aside, row) == 0)
		return DONE;
	json_object_put(row);
	return out_of_memory();
}

static int run_add(struct import *im, const struct sacct_run *r)
{
	switch (run_set_add(im->seen, r->cluster, r->job, r->submit, r->start)) {
	case RUN_FAILED:
		return out_of_memory();
	case RUN_TWICE:
		im->twice++;
		return DONE;
	case RUN_PIECE:
		im->pieces++;
		break;
	case RUN_NEW:
		im->runs++;
		break;
	}
	im->gpu_runs += r->gpus.total > 0;
	if (usage_add(im->usage, r->account, r->user, &r->gpus, r->from, r->end) == 0)
		return DONE;
	return errno == ENOMEM ? out_of_memory() : complain(REFUSED, "the sums are too large to be true");
}

static int row_add(struct import *im, const struct sacct_row *row)
{
	struct fault reason = {""};
	struct sacct_run run;

	im->rows++;
	switch (sacct_run_read(row, im->zone, &run, &reason)) {
	case SACCT_RUN:
		return run_add(im, &run);
	case SACCT_STEP:
		im->steps++;
		return DONE;
	case SACCT_NOT_STARTED:
		im->not_started++;
		return DONE;
	case SACCT_ASIDE:
		break;
	}
	return aside_add(im, row->line, &reason);
}

static enum sacct_got row_next(struct import *im, struct sacct_row *row, struct fault *why)
{
	return im->json ? sacct_json_next(im->json, row, why) : sacct_text_next(im->text, row, why);
}

static int rows_read(struct import *im, const char *file)
{
	struct progress progress;
	struct sacct_row row;
	int rv = DONE;

	progress_start(&progress, im->from);
	while (rv == DONE) {
		struct fault why = {""};
		enum sacct_got got = row_next(im, &row, &why);

		if (got == SACCT_END_OF_FILE)
			break;
		progress_step(&progress, im->from, im->rows);
		if (got == SACCT_ROW)
			rv = row_add(im, &row);
		else if (got == SACCT_BROKEN)
			rv = aside_add(im, row.line, &why);
		else
			rv = complain(REFUSED, "%s cannot be read: %s", file, why.text);
	}
	progress_end(&progress);
	return rv;
}

/* --- opening ---------------------------------------------------------------------------------------- */

/* sacct --json begins with a brace, sacct -P with the name of a column. */
static int reader_open(struct import *im, const char *file)
{
	struct fault why = {""};
	int c = getc(im->from);

	ungetc(c, im->from);
	if (c == '{') {
		im->json = sacct_json_new(im->from);
		return im->json ? DONE : out_of_memory();
	}
	im->text = sacct_text_new(im->from, &why);
	return im->text ? DONE : complain(REFUSED, "%s cannot be read as sacct -P: %s", file, why.text);
}

static int import_open(struct import *im, const char *file, const char *tz)
{
	struct fault why = {""};

	*im = (struct import){.zone = zone_new(tz ? tz : "UTC", &why)};
	if (!im->zone)
		return complain(errno == ENOENT ? USAGE : REFUSED, "--tz: %s", why.text);
	im->from = strcmp(file, "-") ? fopen(file, "r") : stdin;
	if (!im->from)
		return complain(REFUSED, "%s cannot be read: %s", file, strerror(errno));
	im->seen = run_set_new();
	im->usage = usage_new(im->zone);
	im->aside = json_object_new_array();
	return im->seen && im->usage && im->aside ? reader_open(im, file) : out_of_memory();
}

static void import_close(struct import *im)
{
	json_object_put(im->aside);
	usage_free(im->usage);
	run_set_free(im->seen);
	sacct_text_free(im->text);
	sacct_json_free(im->json);
	if (im->from && im->from != stdin)
		fclose(im->from);
	zone_free(im->zone);
}

/* --- printing --------------------------------------------------------------------------------------- */

static const struct column columns[] = {
	{"month", "Month", KIND_TEXT, NULL, false},
	{"account", "Account", KIND_TEXT, NULL, false},
	{"user", "User", KIND_TEXT, NULL, false},
	{"gpu_type", "GPU type", KIND_TEXT, NULL, false},
	{"gpu_seconds", NULL, KIND_COUNT, NULL, false},
	{"gpu_seconds_units", "Used", KIND_AMOUNT, NULL, false},
};

static int text_put(struct json_object *o, const char *key, const char *text)
{
	struct json_object *value = json_object_new_string(text);

	return value && json_object_object_add(o, key, value) == 0 ? 0 : -1;
}

static int number_put(struct json_object *o, const char *key, int64_t number)
{
	struct json_object *value = json_object_new_int64(number);

	return value && json_object_object_add(o, key, value) == 0 ? 0 : -1;
}

/* `units`: for a table; amounts have no place in JSON's row. */
static struct json_object *usage_object(const struct usage_row *r, bool units)
{
	struct json_object *o = json_object_new_object();
	char month[32];

	snprintf(month, sizeof(month), "%04d-%02d", r->month / 12, r->month % 12 + 1);
	if (o && text_put(o, "month", month) == 0 && text_put(o, "account", r->account) == 0 &&
		text_put(o, "user", r->user) == 0 && text_put(o, "gpu_type", r->gpu_type) == 0 &&
		number_put(o, "gpu_seconds", r->gpu_seconds) == 0 &&
		(!units || number_put(o, "gpu_seconds_units", r->gpu_seconds * UNITS_A_SECOND) == 0))
		return o;
	json_object_put(o);
	return NULL;
}

/* Rows from `from` on, `most` of them, as an array; NULL is out of memory. */
static struct json_object *usage_array(struct import *im, size_t from, size_t most, bool units)
{
	struct json_object *array = json_object_new_array();
	const struct usage_row *rows;
	size_t n;

	rows = usage_rows(im->usage, &n);
	for (size_t i = from; array && i < n && i - from < most; i++) {
		struct json_object *o = usage_object(&rows[i], units);

		if (o && json_object_array_add(array, o) == 0)
			continue;
		json_object_put(o);
		json_object_put(array);
		array = NULL;
	}
	return array;
}

static int json_print(const struct session *s, struct import *im)
{
	struct json_object *o = json_object_new_object(), *usage = usage_array(im, 0, SIZE_MAX, false);
	int rv = -1;

	if (o && usage && number_put(o, "runs", im->runs) == 0 && number_put(o, "rows", im->rows) == 0 &&
		number_put(o, "rows_of_steps", im->steps) == 0 &&
		number_put(o, "rows_not_started", im->not_started) == 0 &&
		number_put(o, "rows_twice", im->twice) == 0 &&
		number_put(o, "rows_of_pieces", im->pieces) == 0 &&
		json_object_object_add(o, "rows_set_aside", json_object_get(im->aside)) == 0) {
		json_object_object_add(o, "usage", json_object_get(usage));
		rv = table_object(columns, 0, &s->style, o);
	}
	json_object_put(usage);
	json_object_put(o);
	return rv < 0 ? out_of_memory() : DONE;
}

static int usage_add_to(struct table *t, struct import *im, bool people)
{
	size_t n;
	int rv = 0;

	usage_rows(im->usage, &n);
	for (size_t i = 0; rv == 0 && i < n; i += ROWS_AT_ONCE) {
		struct json_object *rows = usage_array(im, i, ROWS_AT_ONCE, people);

		rv = rows ? table_add(t, rows) : -1;
		json_object_put(rows);
	}
	return rv;
}

static int table_of_usage(const struct session *s, struct import *im)
{
	bool people = s->style.format == FORMAT_TABLE;
	struct table *t = table_new(columns, ARRAY_SIZE(columns) - !people, &s->style, false);
	int rv = t && usage_add_to(t, im, people) == 0 && table_print(t) == 0 ? DONE : out_of_memory();

	table_free(t);
	return rv;
}

/* On stderr, so that a program's rows on stdout stay rows. */
static void tell(const struct import *im)
{
	size_t n = json_object_array_length(im->aside);

	for (size_t i = 0; i < n && i < ASIDE_SHOWN; i++) {
		struct json_object *row = json_object_array_get_idx(im->aside, i);

		complain(DONE, "line %" PRId64 " is set aside: %s",
			json_object_get_int64(json_object_object_get(row, "line")),
			json_object_get_string(json_object_object_get(row, "reason")));
	}
	if (n > ASIDE_SHOWN)
		complain(DONE, "%zu more %s set aside; -o json lists all", n - ASIDE_SHOWN,
			n - ASIDE_SHOWN == 1 ? "row is" : "rows are");
	complain(DONE,
		"%" PRId64 " run%s counted, %zu row%s set aside; no runs: %" PRId64 " row%s of steps, %" PRId64
		" of jobs that never started, %" PRId64 " twice in the file",
		im->runs, im->runs == 1 ? "" : "s", n, n == 1 ? "" : "s", im->steps, im->steps == 1 ? "" : "s",
		im->not_started, im->twice);
}

static int dry_run_print(const struct session *s, struct import *im)
{
	int rv = s->style.format == FORMAT_JSON ? json_print(s, im) : table_of_usage(s, im);

	if (rv == DONE && s->style.format != FORMAT_JSON)
		tell(im);
	if (rv == DONE && im->runs && !im->gpu_runs)
		complain(DONE, "no row names a GPU: is gres/gpu in AccountingStorageTRES of slurm.conf?");
	return rv;
}

int cmd_import_sacct(struct session *s)
{
	const char *file = session_word(s, 0);
	struct import im;
	int rv;

	if (!session_option(s, OPT_DRY_RUN))
		return complain(USAGE, "only --dry-run exists yet: it tells what would be imported. "
				       "See budgetctl import sacct --help");
	rv = import_open(&im, file, session_option(s, OPT_TZ));
	if (rv == DONE)
		rv = rows_read(&im, file);
	if (rv == DONE)
		rv = dry_run_print(s, &im);
	import_close(&im);
	return rv;
}
