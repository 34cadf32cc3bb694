/* SPDX-License-Identifier: GPL-2.0-or-later
 * import.c - import sacct: the rows of a file of sacct, one after the other (import.h)
 *
 * Every row is a run, a row that is none (a step, a job that never started), or set aside with its line and
 * the reason; nothing is dropped in silence. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "budgetctl/import.h"
#include "budgetctl/say.h"
#include "lib/sacct_json.h"
#include "lib/sacct_text.h"

#define ASIDE_SHOWN 20 /* rows told to a person; JSON has all */

int import_put_text(struct json_object *o, const char *key, const char *text)
{
	struct json_object *value = json_object_new_string(text);

	return value && json_object_object_add(o, key, value) == 0 ? 0 : -1;
}

int import_put_number(struct json_object *o, const char *key, int64_t number)
{
	struct json_object *value = json_object_new_int64(number);

	return value && json_object_object_add(o, key, value) == 0 ? 0 : -1;
}

/* --- set aside -------------------------------------------------------------------------------------- */

/* Bytes that are no text are shown as '?': a reason quotes what the file has. */
static void text_clean(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x7f || (unsigned char)*text < 0x20)
			*text = '?';
}

int import_set_aside(struct import *im, int64_t line, const char *reason)
{
	struct json_object *row;
	char text[FAULT_TEXT_MAX];

	if (im->naside++ >= ASIDE_SHOWN && im->style->format != FORMAT_JSON)
		return DONE; /* a file of which all is wrong needs no memory either */
	snprintf(text, sizeof(text), "%s", reason);
	text_clean(text);
	row = json_object_new_object();
	if (row && import_put_number(row, "line", line) == 0 && import_put_text(row, "reason", text) == 0 &&
		json_object_array_add(im->aside, row) == 0)
		return DONE;
	json_object_put(row);
	return out_of_memory();
}

void import_tell(const struct import *im, const char *begins, const char *ends)
{
	size_t n = json_object_array_length(im->aside);

	for (size_t i = 0; i < n && i < ASIDE_SHOWN; i++) {
		struct json_object *row = json_object_array_get_idx(im->aside, i);

		complain(DONE, "line %" PRId64 " is set aside: %s",
			json_object_get_int64(json_object_object_get(row, "line")),
			json_object_get_string(json_object_object_get(row, "reason")));
	}
	if (im->naside > ASIDE_SHOWN)
		complain(DONE, "%" PRId64 " more %s set aside; -o json lists all", im->naside - ASIDE_SHOWN,
			im->naside - ASIDE_SHOWN == 1 ? "row is" : "rows are");
	complain(DONE,
		"%s, %" PRId64 " row%s set aside; no runs: %" PRId64 " row%s of steps, %" PRId64
		" of jobs that never started%s",
		begins, im->naside, im->naside == 1 ? "" : "s", im->steps, im->steps == 1 ? "" : "s",
		im->not_started, ends);
}

/* --- rows ------------------------------------------------------------------------------------------- */

static int row_add(struct import *im, const struct sacct_row *row)
{
	struct fault reason = {""};
	struct sacct_run run;

	im->rows++;
	switch (sacct_run_read(row, im->zone, &run, &reason)) {
	case SACCT_RUN:
		if (sacct_ends_in_future(run.end, im->now))
			return import_set_aside(im, row->line, SACCT_IN_FUTURE);
		return im->sending ? import_send(im, row->line, &run) : import_count(im, row->line, &run);
	case SACCT_STEP:
		im->steps++;
		return DONE;
	case SACCT_NOT_STARTED:
		im->not_started++;
		return DONE;
	case SACCT_ASIDE:
		break;
	}
	return import_set_aside(im, row->line, reason.text);
}

static enum sacct_got row_next(struct import *im, struct sacct_row *row, struct fault *why)
{
	return im->json ? sacct_json_next(im->json, row, why) : sacct_text_next(im->text, row, why);
}

static int rows_read(struct import *im, const char *file)
{
	struct sacct_row row;
	int rv = DONE;

	progress_start(&im->progress, im->from);
	while (rv == DONE) {
		struct fault why = {""};
		enum sacct_got got = row_next(im, &row, &why);

		if (got == SACCT_END_OF_FILE)
			break;
		progress_step(&im->progress, im->from, im->rows);
		if (got == SACCT_ROW)
			rv = row_add(im, &row);
		else if (got == SACCT_BROKEN)
			rv = import_set_aside(im, row.line, why.text);
		else
			rv = complain(REFUSED, "%s cannot be read: %s", file, why.text);
	}
	if (rv == DONE && im->sending)
		rv = import_send_rest(im);
	progress_end(&im->progress);
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

static int import_open(struct import *im, struct session *s, const char *file)
{
	const char *tz = session_option(s, OPT_TZ);
	struct fault why = {""};

	*im = (struct import){.style = &s->style, .now = time(NULL), .zone = zone_new(tz ? tz : "UTC", &why)};
	if (!im->zone)
		return complain(errno == ENOENT ? USAGE : REFUSED, "--tz: %s", why.text);
	im->from = strcmp(file, "-") ? fopen(file, "r") : stdin;
	if (!im->from)
		return complain(REFUSED, "%s cannot be read: %s", file, strerror(errno));
	im->aside = json_object_new_array();
	return im->aside ? reader_open(im, file) : out_of_memory();
}

static void import_close(struct import *im)
{
	import_send_end(im);
	import_count_end(im);
	json_object_put(im->aside);
	sacct_text_free(im->text);
	sacct_json_free(im->json);
	if (im->from && im->from != stdin)
		fclose(im->from);
	zone_free(im->zone);
}

int cmd_import_sacct(struct session *s)
{
	const char *file = session_word(s, 0);
	bool dry_run = session_option(s, OPT_DRY_RUN), charge = session_option(s, OPT_CHARGE);
	struct import_stop *stop;
	struct import im;
	int rv;

	if (dry_run && charge)
		return complain(USAGE,
			"--dry-run asks no budgetd, which alone knows what --charge would come to");
	rv = import_open(&im, s, file);
	if (rv == DONE)
		rv = dry_run ? import_count_begin(&im) : import_send_begin(&im, s, charge);
	stop = rv == DONE ? import_stop_begin(&im) : NULL;
	if (rv == DONE)
		rv = rows_read(&im, file);
	import_stop_end(stop);
	if (rv == DONE)
		rv = dry_run ? import_count_print(s, &im) : import_send_print(s, &im);
	import_close(&im);
	return rv;
}
