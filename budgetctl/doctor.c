/* SPDX-License-Identifier: GPL-2.0-or-later
 * doctor.c - doctor: what is wrong with this installation, and the line that mends it
 *
 * The rows are doctor/checks.c's. People see what is wrong, and with --all what is well too; programs get the
 * same rows in their format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "budgetctl/diagnosis.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"

#define TEXT_COLUMN 31			/* behind health and the longest id */

static const struct column columns[] = {
	{ "health", "Health", KIND_TEXT, NULL, false },
	{ "check", "Check", KIND_TEXT, NULL, false },
	{ "text", "Found", KIND_LONG_TEXT, NULL, false },
	{ "where", "Where", KIND_TEXT, NULL, false },
	{ "mend", "Mend", KIND_LONG_TEXT, NULL, false },
};

static bool is_shown(const struct session *s, const struct finding *f)
{
	return session_option(s, OPT_ALL) || f->health == HEALTH_WARNING || f->health == HEALTH_ERROR;
}

/* What is well needs no line. */
static bool is_ill(const struct finding *f)
{
	return f->health == HEALTH_WARNING || f->health == HEALTH_ERROR;
}

static void finding_print(const struct finding *f)
{
	const char *mend = f->mend;
	char line[MEND_LINE_MAX];

	printf("%-10s%-21s", health_name[f->health], f->check->id);
	say_line(stdout, TEXT_COLUMN, f->health == HEALTH_UNKNOWN ? f->check->about : f->text);
	while (is_ill(f) && mend_next(f, &mend, line)) {
		printf("  %-15s ", place_name[f->check->place]);
		say_text(stdout, line);
		putchar('\n');
	}
}

static void summary_print(const size_t of[HEALTHS])
{
	printf("%zu checks: %zu error%s, %zu warning%s, %zu ok", check_count, of[HEALTH_ERROR],
		of[HEALTH_ERROR] == 1 ? "" : "s", of[HEALTH_WARNING], of[HEALTH_WARNING] == 1 ? "" : "s",
		of[HEALTH_OK]);
	if (of[HEALTH_UNKNOWN])
		printf(", %zu could not be made", of[HEALTH_UNKNOWN]);
	putchar('\n');
}

/* All lines of a mend in one text. NULL: out of memory. */
static char *mend_whole(const struct finding *f)
{
	const char *mend = f->mend;
	char line[MEND_LINE_MAX];
	char *whole = NULL;
	size_t size;
	FILE *to = open_memstream(&whole, &size);
	bool first = true;

	if (!to)
		return NULL;
	while (is_ill(f) && mend_next(f, &mend, line)) {
		fprintf(to, "%s%s", first ? "" : "\n", line);
		first = false;
	}
	if (fclose(to) == 0)
		return whole;
	free(whole);
	return NULL;
}

static int row_add(struct json_object *rows, const struct finding *f)
{
	struct json_object *row = json_object_new_object();
	char *mend = mend_whole(f);
	int rv = -1;

	if (row && mend && request_text(row, "health", health_name[f->health]) == 0 &&
		request_text(row, "check", f->check->id) == 0 &&
		request_text(row, "text", f->health == HEALTH_UNKNOWN ? f->check->about : f->text) == 0 &&
		request_text(row, "where", *mend ? place_name[f->check->place] : "") == 0 &&
		request_text(row, "mend", mend) == 0 && json_object_array_add(rows, row) == 0)
		rv = 0;
	else
		json_object_put(row);
	free(mend);
	return rv;
}

static int rows_print(struct session *s, const struct diagnosis *d)
{
	struct json_object *rows = json_object_new_array();
	struct table *t = table_new(columns, ARRAY_SIZE(columns), &s->style, false);
	bool good = rows && t;

	for (size_t i = 0; good && i < d->count; i++)
		if (is_shown(s, &d->findings[i]))
			good = row_add(rows, &d->findings[i]) == 0;
	good = good && table_add(t, rows) == 0 && table_print(t) == 0;
	table_free(t);
	json_object_put(rows);
	return good ? DONE : out_of_memory();
}

static int findings_print(struct session *s, const struct diagnosis *d, const size_t of[HEALTHS])
{
	if (s->style.format != FORMAT_TABLE)
		return rows_print(s, d);
	for (size_t i = 0; i < d->count; i++)
		if (is_shown(s, &d->findings[i]))
			finding_print(&d->findings[i]);
	summary_print(of);
	return DONE;
}

int cmd_doctor(struct session *s)
{
	size_t of[HEALTHS] = { 0 };
	struct diagnosis d;
	int rv = diagnosis_make(s, &d);

	for (size_t i = 0; rv == DONE && i < d.count; i++)
		of[d.findings[i].health]++;
	if (rv == DONE)
		rv = findings_print(s, &d, of);
	if (rv == DONE)
		rv = of[HEALTH_ERROR] ? ILL : of[HEALTH_WARNING] ? WARNED : DONE;
	diagnosis_drop(&d);
	return rv;
}
