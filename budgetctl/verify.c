/* SPDX-License-Identifier: GPL-2.0-or-later
 * verify.c - verify, backup, restore: the file of the books, with or without a budgetd
 *
 * The checks are books/audit.c's. People see what is wrong, and with --all what is sound too; programs get a
 * row for each check. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "books/audit.h"
#include "books/chain.h"
#include "books/copy.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "settings/settings.h"

#define TEXT_COLUMN 28			/* behind the result and the longest id */

static const struct column columns[] = {
	{ "result", "Result", KIND_TEXT, NULL, false },
	{ "check", "Check", KIND_TEXT, NULL, false },
	{ "text", "Found", KIND_LONG_TEXT, NULL, false },
};

/* --- the file --------------------------------------------------------------------------------------- */

/* The settings' database. DONE and *settings, to be freed by the caller, or a complaint. */
static int database_find(struct session *s, struct settings **settings)
{
	struct fault why = { "" };
	int rv = session_settings(s, settings, &why);

	return rv == DONE ? DONE : complain(rv, "%s", why.text);
}

static int file_complaint(const struct fault *why)
{
	if (errno == EACCES || errno == EPERM)
		return complain(FORBIDDEN,
			"%s. The books are closed to other users: run it as root or as SlurmUser", why->text);
	return complain(REFUSED, "%s", why->text);
}

/* --- verify ----------------------------------------------------------------------------------------- */

struct verification {
	sqlite3 *db;
	struct json_object *rows;
	const char *file;
	size_t wrong;
	char head[CHAIN_HEAD_TEXT_MAX];
};

static void check_print(const struct session *s, int found, const struct audit_check *c, const char *text)
{
	if (found == 0 && !session_option(s, OPT_ALL))
		return;
	printf("%-7s %-19s ", found == 0 ? "sound" : "WRONG", c->id);
	say_line(stdout, TEXT_COLUMN, text);
}

static int row_add(struct verification *v, int found, const struct audit_check *c, const char *text)
{
	struct json_object *row = json_object_new_object();

	if (row && request_text(row, "result", found == 0 ? "sound" : "wrong") == 0 &&
		request_text(row, "check", c->id) == 0 && request_text(row, "text", text) == 0 &&
		json_object_array_add(v->rows, row) == 0)
		return DONE;
	json_object_put(row);
	return out_of_memory();
}

/* The head is worth a note elsewhere, so it is the text of its check. */
static int check_make_one(struct session *s, struct verification *v, const struct audit_check *c)
{
	struct fault wrong = { "" };
	int found = audit_make(v->db, c, &wrong);
	const char *sound = c->look == chain_check_head ? v->head : c->about;

	v->wrong += found != 0;
	if (s->style.format != FORMAT_TABLE)
		return row_add(v, found, c, found ? wrong.text : sound);
	check_print(s, found, c, found ? wrong.text : sound);
	return DONE;
}

static int rows_print(struct session *s, struct verification *v)
{
	struct table *t = table_new(columns, ARRAY_SIZE(columns), &s->style, false);
	bool good = t && table_add(t, v->rows) == 0 && table_print(t) == 0;

	table_free(t);
	return good ? DONE : out_of_memory();
}

static int summary_print(struct session *s, struct verification *v)
{
	char text[PATH_MAX + 256];

	if (s->style.format != FORMAT_TABLE)
		return rows_print(s, v);
	snprintf(text, sizeof(text), "%s: %zu checks, %zu sound, %zu wrong; chain of %s", v->file,
		audit_check_count, audit_check_count - v->wrong, v->wrong, *v->head ? v->head : "nothing");
	say_line(stdout, 0, text);
	return DONE;
}

static int file_verify(struct session *s, const char *file)
{
	struct verification v = { .file = file };
	struct fault why = { "" };
	int rv = DONE;

	if (audit_open(file, &v.db, &why) < 0)
		return file_complaint(&why);
	v.rows = json_object_new_array();
	if (!v.rows)
		rv = out_of_memory();
	chain_head_text(v.db, v.head);
	for (size_t i = 0; rv == DONE && i < audit_check_count; i++)
		rv = check_make_one(s, &v, &audit_checks[i]);
	if (rv == DONE)
		rv = summary_print(s, &v);
	audit_close(v.db);
	json_object_put(v.rows);
	return rv == DONE && v.wrong ? REFUSED : rv;
}

int cmd_verify(struct session *s)
{
	const char *file = session_word(s, 0);
	struct settings *settings;
	int rv;

	if (file)
		return file_verify(s, file);
	rv = database_find(s, &settings);
	if (rv == DONE) {
		rv = file_verify(s, settings->database);
		settings_free(settings);
	}
	return rv;
}

/* --- copies ----------------------------------------------------------------------------------------- */

int cmd_backup(struct session *s)
{
	struct fault why = { "" };
	struct settings *settings;
	int rv = database_find(s, &settings);

	if (rv != DONE)
		return rv;
	if (copy_backup(settings->database, session_word(s, 0), &why) < 0)
		rv = file_complaint(&why);
	else
		printf("%s is a sound copy of %s\n", session_word(s, 0), settings->database);
	settings_free(settings);
	return rv;
}

int cmd_restore(struct session *s)
{
	struct fault why = { "" };
	struct settings *settings;
	char aside[PATH_MAX];
	int rv = database_find(s, &settings);

	if (rv != DONE)
		return rv;
	if (copy_restore(session_word(s, 0), settings->database, time(NULL), aside, &why) < 0)
		rv = file_complaint(&why);
	else
		printf("%s is restored from %s%s%s\n", settings->database, session_word(s, 0),
			*aside ? "; what was there is " : "", aside);
	settings_free(settings);
	return rv;
}
