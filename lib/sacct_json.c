/* SPDX-License-Identifier: GPL-2.0-or-later
 * sacct_json.c - rows out of what `sacct --json` gave (sacct_json.h)
 *
 * A scanner that knows only strings and brackets finds the jobs; json-c reads each of them. Versions differ
 * in where a value stands (the user beside the job or in its association) and in its form (a number, or an
 * object of "set" and "number"): both are taken. */
#include "lib/sacct_json.h"
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define JOB_MAX    ((size_t)64 << 20) /* bytes: some 30,000 steps */
#define KEY_MAX    8                  /* "jobs" and a little more: longer keys are others */
#define NUMBER_MAX 24
#define TRES_MAX   4096

struct sacct_json {
	FILE *from;
	int64_t line;
	bool in_jobs, any;
	int depth;         /* of brackets, outside the list */
	char key[KEY_MAX]; /* the last string at depth 1 */
	char *text;        /* of one job */
	size_t length, room;
	struct json_object *job; /* the row's texts live in it, and here: */
	char number[SACCT_FIELDS][NUMBER_MAX];
	char tres[TRES_MAX];
};

/* --- the scanner ------------------------------------------------------------------------------------ */

static int byte(struct sacct_json *j)
{
	int c = getc_unlocked(j->from);

	j->line += c == '\n';
	return c;
}

/* The rest of a string whose quote was read; the first bytes of it in `start`, when that is not NULL. */
static int string_skip(struct sacct_json *j, char start[KEY_MAX])
{
	size_t n = 0;
	int c;

	while ((c = byte(j)) != EOF && c != '"') {
		if (start && n < KEY_MAX - 1)
			start[n++] = (char)c;
		if (c == '\\')
			c = byte(j);
	}
	if (start)
		start[n] = '\0';
	return c;
}

/* A value that is no object and whose first byte was read: it is skipped whole, and what ends it is left. */
static void value_skip(struct sacct_json *j, int c)
{
	int depth = 0;

	for (; c != EOF; c = byte(j)) {
		if (!depth && (c == ',' || c == ']' || c == '}')) {
			ungetc(c, j->from);
			return;
		}
		if (c == '"')
			string_skip(j, NULL);
		depth += (c == '{' || c == '[') - (c == '}' || c == ']');
	}
}

/* Up to the '[' of the next list "jobs". 1, 0 at the end of the file. */
static int jobs_find(struct sacct_json *j)
{
	int c;

	while ((c = byte(j)) != EOF) {
		if (c == '"')
			string_skip(j, j->depth == 1 ? j->key : NULL);
		else if (c == '{' || c == '[')
			j->depth++;
		else if (c == '}' || c == ']')
			j->depth--;
		if (c == '[' && j->depth == 2 && !strcmp(j->key, "jobs"))
			return 1;
	}
	return 0;
}

static int put(struct sacct_json *j, int c)
{
	if (j->length + 1 >= j->room) {
		size_t room = j->room ? 2 * j->room : 4096;
		char *grown = room > JOB_MAX ? NULL : realloc(j->text, room);

		if (!grown)
			return -1;
		j->text = grown;
		j->room = room;
	}
	j->text[j->length++] = (char)c;
	j->text[j->length] = '\0';
	return 0;
}

/* A job whose '{' was read, into j->text. 1, 0 when the file ends in it, -1 no memory. */
static int job_collect(struct sacct_json *j)
{
	bool string = false, escaped = false;
	int depth = 1, c = '{';

	for (j->length = 0; put(j, c) == 0;) {
		if (!depth)
			return 1;
		c = byte(j);
		if (c == EOF)
			return 0;
		if (string) {
			string = escaped || c != '"';
			escaped = !escaped && c == '\\';
		} else {
			string = c == '"';
			depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		}
	}
	return -1;
}

/* --- values ----------------------------------------------------------------------------------------- */

static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	if (json_object_is_type(o, json_type_object))
		json_object_object_get_ex(o, key, &value);
	return value;
}

/* A number, or {"set": true, "infinite": false, "number": 5}; nothing for one that is not set. */
static const char *number_text(struct sacct_json *j, enum sacct_field f, struct json_object *value)
{
	struct json_object *set = member(value, "set");

	if (json_object_is_type(value, json_type_object))
		value = set && !json_object_get_boolean(set) ? NULL : member(value, "number");
	if (!json_object_is_type(value, json_type_int))
		return NULL;
	snprintf(j->number[f], NUMBER_MAX, "%" PRId64, json_object_get_int64(value));
	return j->number[f];
}

static const char *string_of(struct json_object *value)
{
	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

/* Of the job itself, or of its association. */
static const char *owner_text(struct json_object *job, const char *key)
{
	const char *text = string_of(member(job, key));

	return text && *text ? text : string_of(member(member(job, "association"), key));
}

/* "COMPLETED", or a list that begins with it. */
static const char *state_text(struct json_object *job)
{
	struct json_object *state = member(member(job, "state"), "current");

	if (json_object_is_type(state, json_type_array) && json_object_array_length(state))
		state = json_object_array_get_idx(state, 0);
	return string_of(state);
}

/* The allocated resources as sacct writes them: "cpu=8,gres/gpu=4,gres/gpu:h100=4". NULL when they are too
 * many. */
static const char *tres_text(struct sacct_json *j)
{
	struct json_object *list = member(member(j->job, "tres"), "allocated");
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0,
	       length = 0;

	j->tres[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		struct json_object *item = json_object_array_get_idx(list, i);
		const char *type = string_of(member(item, "type")), *name = string_of(member(item, "name"));
		bool named = name && *name;

		if (!type)
			return NULL;
		length += (size_t)snprintf(j->tres + length, TRES_MAX - length, "%s%s%s%s=%" PRId64,
			length ? "," : "", type, named ? "/" : "", named ? name : "",
			json_object_get_int64(member(item, "count")));
		if (length >= TRES_MAX)
			return NULL;
	}
	return j->tres;
}

static enum sacct_got row_fill(struct sacct_json *j, struct sacct_row *row, struct fault *why)
{
	struct json_object *job = j->job, *time = member(job, "time");

	*row = (struct sacct_row){.line = row->line};
	row->field[SACCT_JOB_RAW] = number_text(j, SACCT_JOB_RAW, member(job, "job_id"));
	row->field[SACCT_CLUSTER] = owner_text(job, "cluster");
	row->field[SACCT_ACCOUNT] = owner_text(job, "account");
	row->field[SACCT_USER] = owner_text(job, "user");
	row->field[SACCT_SUBMIT] = number_text(j, SACCT_SUBMIT, member(time, "submission"));
	row->field[SACCT_START] = number_text(j, SACCT_START, member(time, "start"));
	row->field[SACCT_END] = number_text(j, SACCT_END, member(time, "end"));
	row->field[SACCT_ELAPSED_RAW] = number_text(j, SACCT_ELAPSED_RAW, member(time, "elapsed"));
	row->field[SACCT_SUSPENDED] = number_text(j, SACCT_SUSPENDED, member(time, "suspended"));
	row->field[SACCT_STATE] = state_text(job);
	row->field[SACCT_PARTITION] = string_of(member(job, "partition"));
	row->field[SACCT_QOS] = string_of(member(job, "qos"));
	row->field[SACCT_ALLOC_TRES] = tres_text(j);
	if (!row->field[SACCT_END])
		row->field[SACCT_END] = ""; /* never reckoned from what it ran so far */
	if (row->field[SACCT_ALLOC_TRES])
		return SACCT_ROW;
	fault_set(why, "its list of allocated resources cannot be read");
	return SACCT_BROKEN;
}

/* --- rows ------------------------------------------------------------------------------------------- */

struct sacct_json *sacct_json_new(FILE *from)
{
	struct sacct_json *j = calloc(1, sizeof(*j));

	if (j) {
		j->from = from;
		j->line = 1;
	}
	return j;
}

void sacct_json_free(struct sacct_json *j)
{
	if (!j)
		return;
	json_object_put(j->job);
	free(j->text);
	free(j);
}

/* The next byte of the list that begins something. */
static int next_mark(struct sacct_json *j)
{
	int c;

	do
		c = byte(j);
	while (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',');
	return c;
}

static enum sacct_got file_ended(struct sacct_json *j, struct fault *why)
{
	if (ferror(j->from))
		return fault_errno(why, EIO, "an input/output error"), SACCT_FAILED;
	if (!j->any)
		return fault_errno(why, EINVAL,
			"it is no document of sacct --json: there is no list \"jobs\" in it"),
		       SACCT_FAILED;
	return SACCT_END_OF_FILE;
}

static enum sacct_got job_read(struct sacct_json *j, struct sacct_row *row, struct fault *why)
{
	int rv = job_collect(j);

	json_object_put(j->job);
	j->job = NULL;
	if (rv < 0)
		return fault_errno(
			       why, ENOMEM, "a job of more than %zu MiB, or no memory for it", JOB_MAX >> 20),
		       SACCT_FAILED;
	if (rv == 0) {
		j->in_jobs = false;
		return fault_set(why, "cut short: the file ends within this job"), SACCT_BROKEN;
	}
	j->job = json_tokener_parse(j->text);
	if (j->job)
		return row_fill(j, row, why);
	return fault_set(why, "it is no JSON"), SACCT_BROKEN;
}

enum sacct_got sacct_json_next(struct sacct_json *j, struct sacct_row *row, struct fault *why)
{
	int c;

	for (;;) {
		if (!j->in_jobs && !jobs_find(j))
			return file_ended(j, why);
		j->in_jobs = j->any = true;
		c = next_mark(j);
		row->line = j->line;
		if (c == '{')
			return job_read(j, row, why);
		if (c != ']' && c != '}' && c != EOF) {
			value_skip(j, c);
			return fault_set(why, "it is no job: an object was expected"), SACCT_BROKEN;
		}
		j->in_jobs = false;
		if (c == ']')
			j->depth--;
		else
			return fault_set(why, "cut short: the list of jobs ends here"), SACCT_BROKEN;
	}
}
