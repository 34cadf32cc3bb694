/* SPDX-License-Identifier: GPL-2.0-or-later
 * import_count.c - import sacct --dry-run: what a file of sacct says was used
 *
 * It asks neither budgetd nor Slurm. Every row is a run that is counted once, a row that is none (a step, a
 * job that never started, the same row once more), or set aside. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include "budgetctl/import.h"
#include "budgetctl/say.h"

#define UNITS_A_SECOND 1000 /* one GPU-second at rate 1.000 */
#define ROWS_AT_ONCE   4096 /* of a table: CSV needs no memory for the others */

int import_count_begin(struct import *im)
{
	im->seen = run_set_new();
	im->usage = usage_new(im->zone);
	return im->seen && im->usage ? DONE : out_of_memory();
}

void import_count_end(struct import *im)
{
	usage_free(im->usage);
	run_set_free(im->seen);
}

int import_count(struct import *im, int64_t line, const struct sacct_run *r)
{
	switch (run_set_add(im->seen, r->cluster, r->job, r->submit, r->start, r->end)) {
	case RUN_FAILED:
		return out_of_memory();
	case RUN_TWICE:
		im->twice++;
		return DONE;
	case RUN_OTHER_END:
		return import_set_aside(im, line,
			"the same row stands before it with another end: that one counts");
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

/* --- printing ------------------------------------------------------------------------------------------- */

static const struct column columns[] = {
	{"month", "Month", KIND_TEXT, NULL, false},
	{"account", "Account", KIND_TEXT, NULL, false},
	{"user", "User", KIND_TEXT, NULL, false},
	{"gpu_type", "GPU type", KIND_TEXT, NULL, false},
	{"gpu_seconds", NULL, KIND_COUNT, NULL, false},
	{"gpu_seconds_units", "Used", KIND_AMOUNT, NULL, false},
};

/* `units`: for a table; amounts have no place in JSON's row. */
static struct json_object *usage_object(const struct usage_row *r, bool units)
{
	struct json_object *o = json_object_new_object();
	char month[32];

	snprintf(month, sizeof(month), "%04d-%02d", r->month / 12, r->month % 12 + 1);
	if (o && import_put_text(o, "month", month) == 0 && import_put_text(o, "account", r->account) == 0 &&
		import_put_text(o, "user", r->user) == 0 &&
		import_put_text(o, "gpu_type", r->gpu_type) == 0 &&
		import_put_number(o, "gpu_seconds", r->gpu_seconds) == 0 &&
		(!units || import_put_number(o, "gpu_seconds_units", r->gpu_seconds * UNITS_A_SECOND) == 0))
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

	if (o && usage && import_put_number(o, "runs", im->runs) == 0 &&
		import_put_number(o, "rows", im->rows) == 0 &&
		import_put_number(o, "rows_of_steps", im->steps) == 0 &&
		import_put_number(o, "rows_not_started", im->not_started) == 0 &&
		import_put_number(o, "rows_twice", im->twice) == 0 &&
		import_put_number(o, "rows_of_pieces", im->pieces) == 0 &&
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

int import_count_print(const struct session *s, struct import *im)
{
	int rv = s->style.format == FORMAT_JSON ? json_print(s, im) : table_of_usage(s, im);
	char begins[64], ends[64];

	if (rv == DONE && s->style.format != FORMAT_JSON) {
		snprintf(begins, sizeof(begins), "%" PRId64 " run%s counted", im->runs,
			im->runs == 1 ? "" : "s");
		snprintf(ends, sizeof(ends), ", %" PRId64 " twice in the file", im->twice);
		import_tell(im, begins, ends);
	}
	if (rv == DONE && im->runs && !im->gpu_runs)
		complain(DONE, "no row names a GPU: is gres/gpu in AccountingStorageTRES of slurm.conf?");
	return rv;
}
