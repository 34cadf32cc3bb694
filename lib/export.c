/* SPDX-License-Identifier: GPL-2.0-or-later
 * export.c - columns of exports, CSV (export.h). */
#include "lib/export.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A row for each part of a run, in the order of charges; behind them one for each refund, with a minus. */
static const struct export_column jobs[] = {
	{ "entry", EXPORT_TEXT },		/* charge, refund */
	{ "booked_at", EXPORT_TIME },		/* the month that it counts in */
	{ "charge_id", EXPORT_NUMBER },		/* of a refund: what it corrects */
	{ "entry_id", EXPORT_NUMBER },		/* of a refund: in the journal */
	{ "cluster", EXPORT_TEXT },
	{ "project", EXPORT_TEXT },
	{ "uid", EXPORT_NUMBER },
	{ "user", EXPORT_TEXT },
	{ "job_id", EXPORT_NUMBER },
	{ "job", EXPORT_TEXT },			/* as people write it: 12_3 */
	{ "array_job_id", EXPORT_NUMBER },	/* 12 of 12_3, and its 3; of no array: empty */
	{ "array_task_id", EXPORT_NUMBER },
	{ "het_job_id", EXPORT_NUMBER },	/* 12 of 12+1, and its 1 */
	{ "het_offset", EXPORT_NUMBER },
	{ "partition", EXPORT_TEXT },
	{ "tier", EXPORT_TEXT },
	{ "submit", EXPORT_TIME },
	{ "start", EXPORT_TIME },
	{ "end", EXPORT_TIME },			/* of the part with which the run ended */
	{ "state", EXPORT_TEXT },
	{ "part_start", EXPORT_TIME },
	{ "part_end", EXPORT_TIME },
	{ "elapsed_s", EXPORT_NUMBER },
	{ "kind", EXPORT_TEXT },		/* funded, free, uncovered, imported, suspended */
	{ "gpu_type", EXPORT_TEXT },
	{ "gpus", EXPORT_NUMBER },
	{ "gpu_seconds", EXPORT_NUMBER },
	{ "price", EXPORT_NUMBER },		/* units a second */
	{ "charged_units", EXPORT_UNITS },
	{ "reason", EXPORT_TEXT },
};

static const struct export_column journal[] = {
	{ "entry_id", EXPORT_NUMBER }, { "time", EXPORT_TIME }, { "kind", EXPORT_TEXT },
	{ "project", EXPORT_TEXT }, { "allocation", EXPORT_NUMBER }, { "amount_units", EXPORT_UNITS },
	{ "balance_units", EXPORT_UNITS }, { "charge_id", EXPORT_NUMBER }, { "job", EXPORT_TEXT },
	{ "uid", EXPORT_NUMBER }, { "actor", EXPORT_TEXT }, { "reason", EXPORT_TEXT },
	{ "request_id", EXPORT_TEXT }, { "first", EXPORT_NUMBER }, { "corrects", EXPORT_NUMBER },
};

static const struct export_column statement[] = {
	{ "project", EXPORT_TEXT }, { "allocation", EXPORT_NUMBER }, { "from", EXPORT_TIME },
	{ "to", EXPORT_TIME }, { "opening_units", EXPORT_UNITS }, { "deposits_units", EXPORT_UNITS },
	{ "withdrawals_units", EXPORT_UNITS }, { "transfers_in_units", EXPORT_UNITS },
	{ "transfers_out_units", EXPORT_UNITS }, { "charges_units", EXPORT_UNITS },
	{ "refunds_units", EXPORT_UNITS }, { "adjustments_units", EXPORT_UNITS },
	{ "voids_units", EXPORT_UNITS }, { "expired_units", EXPORT_UNITS },
	{ "carried_in_units", EXPORT_UNITS }, { "carried_out_units", EXPORT_UNITS },
	{ "closing_units", EXPORT_UNITS }, { "held_units", EXPORT_UNITS },
};

#define TABLE(t) { #t, t, sizeof(t) / sizeof(t[0]) }
static const struct export_table tables[] = { TABLE(jobs), TABLE(journal), TABLE(statement) };

const struct export_table *export_table_at(size_t i)
{
	return i < sizeof(tables) / sizeof(tables[0]) ? &tables[i] : NULL;
}

const struct export_table *export_table_find(const char *name)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (strcmp(tables[i].name, name) == 0)
			return &tables[i];
	return NULL;
}

/* Is the word one of those between the plusses? */
static bool is_there(const char *list, const char *word, size_t n)
{
	for (const char *p = list; *p; p += strcspn(p, "+"), p += *p == '+')
		if (strcspn(p, "+") == n && strncmp(p, word, n) == 0)
			return true;
	return false;
}

const char *export_gpu_types(const char *tres, char buf[static EXPORT_TYPES_MAX])
{
	static const char key[] = "gres/gpu:";
	size_t used = 0;

	buf[0] = '\0';
	while ((tres = strstr(tres, key)) != NULL) {
		size_t n;

		tres += sizeof(key) - 1;
		n = strcspn(tres, "=,");
		if (n == 0 || used + n + 2 > EXPORT_TYPES_MAX || is_there(buf, tres, n))
			continue;
		used += (size_t)snprintf(buf + used, EXPORT_TYPES_MAX - used, "%s%.*s", used ? "+" : "", (int)n,
			tres);
	}
	return buf;
}

/* --- writing ------------------------------------------------------------------------------------- */

static void put_bytes(struct export_writer *w, const char *bytes, size_t n)
{
	if (n > w->size - w->used) {
		w->full = true;
		return;
	}
	memcpy(w->text + w->used, bytes, n);
	w->used += n;
}

void export_put_nothing(struct export_writer *w)
{
	if (w->begun)
		put_bytes(w, ",", 1);
	w->begun = true;
}

void export_put_text(struct export_writer *w, const char *text)
{
	export_put_nothing(w);
	if (!text[strcspn(text, ",\"\r\n")]) {
		put_bytes(w, text, strlen(text));
		return;
	}
	put_bytes(w, "\"", 1);
	while (*text) {
		size_t n = strcspn(text, "\"");

		put_bytes(w, text, n);
		text += n;
		if (*text++ != '"')
			break;
		put_bytes(w, "\"\"", 2);
	}
	put_bytes(w, "\"", 1);
}

void export_put_number(struct export_writer *w, int64_t n)
{
	char digits[24], *end = digits + sizeof(digits), *p = end;
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;

	do
		*--p = (char)('0' + left % 10);
	while (left /= 10);
	if (n < 0)
		*--p = '-';
	export_put_nothing(w);
	put_bytes(w, p, (size_t)(end - p));
}

void export_end_row(struct export_writer *w)
{
	put_bytes(w, "\r\n", 2);
	w->begun = false;
}

void export_put_header(struct export_writer *w, const struct export_table *t)
{
	for (size_t i = 0; i < t->count; i++)
		export_put_text(w, t->columns[i].name);
	export_end_row(w);
}

/* --- reading ------------------------------------------------------------------------------------- */

static int keep(struct export_reader *r, char c)
{
	if (r->used == EXPORT_ROW_MAX) {
		errno = EPROTO;
		return -1;
	}
	r->text[r->used++] = c;
	return 0;
}

static int begin_field(struct export_reader *r)
{
	if (r->fields == EXPORT_FIELDS_MAX) {
		errno = EPROTO;
		return -1;
	}
	r->starts[r->fields++] = r->used;
	r->quoted = r->quote_seen = false;
	return 0;
}

static int end_row(struct export_reader *r, export_row_fn each, void *arg)
{
	char *fields[EXPORT_FIELDS_MAX];

	if (keep(r, '\0') < 0)
		return -1;
	for (size_t i = 0; i < r->fields; i++)
		fields[i] = r->text + r->starts[i];
	r->in_row = false;
	r->used = 0;
	return each(fields, r->fields, arg);
}

/* Inside quotes all is text but a quote, which is one when it comes twice. */
static int read_byte(struct export_reader *r, char c, export_row_fn each, void *arg)
{
	if (r->quoted && !r->quote_seen) {
		if (c != '"')
			return keep(r, c);
		r->quote_seen = true;
		return 0;
	}
	if (c == '"') {
		if (!r->quote_seen) {
			r->quoted = true;
			return 0;
		}
		r->quote_seen = false;
		return keep(r, c);
	}
	if (c == ',')
		return keep(r, '\0') < 0 ? -1 : begin_field(r);
	return c == '\n' ? end_row(r, each, arg) : c == '\r' ? 0 : keep(r, c);
}

int export_read(struct export_reader *r, const char *data, size_t n, export_row_fn each, void *arg)
{
	for (size_t i = 0; i < n; i++) {
		if (!r->in_row) {
			r->in_row = true;
			r->used = r->fields = 0;
			if (begin_field(r) < 0)
				return -1;
		}
		if (read_byte(r, data[i], each, arg) < 0)
			return -1;
	}
	return 0;
}
