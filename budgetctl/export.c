/* SPDX-License-Identifier: GPL-2.0-or-later
 * export.c - export jobs, journal, statement: a month or a range as CSV (RFC 4180) or JSON, for other programs
 *
 * budgetd sends rows as lib/export.h has them, and each is written as it arrives: memory does not grow with
 * the list. A file gets its name when it is whole and on the disk. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "budgetctl/progress.h"
#include "budgetctl/range.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "lib/export.h"
#include "lib/zone.h"

struct exporting {
	const struct export_table *table;
	bool json;
	enum amount_unit unit;
	struct zone *zone;		/* NULL = UTC */
	FILE *to;
	char *temporary;		/* its name until it is whole; NULL = stdout */
	bool nameless;			/* it has not even that one before the end */
	const char *file;
	struct progress progress;
	struct export_reader in;
	bool header_seen;
	int64_t rows;
	char line[4 * EXPORT_ROW_MAX];
};

/* --- one row ------------------------------------------------------------------------------------- */

/* "charges_units" as "charges_hours" when it holds hours. */
static void column_name(const struct exporting *x, const struct export_column *c, char out[64])
{
	static const char *const suffix[] = { [IN_HOURS] = "hours", [IN_SECONDS] = "seconds", [IN_UNITS] = "units" };

	if (c->kind == EXPORT_UNITS)
		snprintf(out, 64, "%.*s%s", (int)(strlen(c->name) - strlen("units")), c->name, suffix[x->unit]);
	else
		snprintf(out, 64, "%s", c->name);
}

/* With all decimals that a unit has, so that a sum of them stays what it is; hours have too many and are rounded
 * to the sixth. */
static void amount_put_text(const struct exporting *x, const char *units, char out[64])
{
	int64_t n = strtoll(units, NULL, 10), whole = x->unit == IN_HOURS ? 3600000 : 1000;
	uint64_t u = n < 0 ? -(uint64_t)n : (uint64_t)n, micro;

	if (x->unit == IN_UNITS) {
		snprintf(out, 64, "%s", units);
		return;
	}
	micro = u % (uint64_t)whole * 1000000 / (uint64_t)whole;
	if (u % (uint64_t)whole * 1000000 % (uint64_t)whole * 2 >= (uint64_t)whole && ++micro == 1000000) {
		micro = 0;
		u += (uint64_t)whole;
	}
	snprintf(out, 64, "%s%" PRIu64 ".%06" PRIu64, n < 0 ? "-" : "", u / (uint64_t)whole, micro);
}

/* The field as it is shown: itself, or in `text`. */
static const char *field_text(const struct exporting *x, const struct export_column *c, const char *field,
	char text[64])
{
	if (!*field || c->kind == EXPORT_TEXT || c->kind == EXPORT_NUMBER)
		return field;
	if (c->kind == EXPORT_TIME)
		zone_local_text(x->zone, strtoll(field, NULL, 10), text);
	else
		amount_put_text(x, field, text);
	return text;
}

static void json_string(FILE *to, const char *text)
{
	putc_unlocked('"', to);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc_unlocked('\\', to);
		if ((unsigned char)*text < 0x20)
			fprintf(to, "\\u%04x", (unsigned)*text);
		else
			putc_unlocked(*text, to);
	}
	putc_unlocked('"', to);
}

static void row_json(struct exporting *x, char *const fields[])
{
	char text[64], name[64];

	fputs(x->rows ? ",\n{" : "\n{", x->to);
	for (size_t i = 0; i < x->table->count; i++) {
		const struct export_column *c = &x->table->columns[i];
		const char *shown = field_text(x, c, fields[i], text);

		column_name(x, c, name);
		fprintf(x->to, "%s\"%s\":", i ? "," : "", name);
		if (!*shown)
			fputs("null", x->to);
		else if (c->kind == EXPORT_TEXT || c->kind == EXPORT_TIME)
			json_string(x->to, shown);
		else
			fputs(shown, x->to);
	}
	putc_unlocked('}', x->to);
}

static void row_csv(struct exporting *x, char *const fields[])
{
	struct export_writer w = { .text = x->line, .size = sizeof(x->line) };
	char text[64];

	for (size_t i = 0; i < x->table->count; i++)
		export_put_text(&w, field_text(x, &x->table->columns[i], fields[i], text));
	export_end_row(&w);
	fwrite(w.text, 1, w.used, x->to);
}

/* As the answer begins: of what is refused nothing is written. */
static void header_put(struct exporting *x)
{
	struct export_writer w = { .text = x->line, .size = sizeof(x->line) };
	char name[64];

	x->header_seen = true;
	if (x->json) {
		fputs("{\"rows\":[", x->to);
		return;
	}
	for (size_t i = 0; i < x->table->count; i++) {
		column_name(x, &x->table->columns[i], name);
		export_put_text(&w, name);
	}
	export_end_row(&w);
	fwrite(w.text, 1, w.used, x->to);
}

static int row_add(char *const fields[], size_t n, void *arg)
{
	struct exporting *x = arg;

	if (n != x->table->count) {
		complain(UNREACHABLE, "budgetd's export has %zu columns and not %zu: is it of another version?", n,
			x->table->count);
		return -1;
	}
	if (!x->header_seen) {
		header_put(x);
		return 0;
	}
	if (x->json)
		row_json(x, fields);
	else
		row_csv(x, fields);
	progress_step(&x->progress, stderr, ++x->rows);
	if (!ferror(x->to))
		return 0;
	if (x->temporary)		/* of stdout main says so */
		complain(REFUSED, "%s cannot be written: %s", x->file, strerror(errno));
	return -1;
}

static int piece(const char *data, size_t n, void *arg)
{
	struct exporting *x = arg;
	int rv;

	errno = 0;
	rv = export_read(&x->in, data, n, row_add, x);
	if (rv < 0 && errno == EPROTO)
		complain(UNREACHABLE, "a row of budgetd's export cannot be read: is it of another version?");
	return rv;
}

/* --- the file ------------------------------------------------------------------------------------ */

/* To be freed; NULL: no memory. */
static char *folder_of(const char *file)
{
	char *folder = strdup(file), *slash = folder ? strrchr(folder, '/') : NULL;

	if (slash)
		slash[slash == folder] = '\0';
	else if (folder) {
		free(folder);
		folder = strdup(".");
	}
	return folder;
}

/* Without a name where the file system has such files, so that nothing is left of an export that is killed. */
static int open_nameless(const char *file)
{
	char *folder = folder_of(file);
	int fd = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;

	free(folder);
	return fd;
}

static int open_named(char *temporary)
{
	mode_t mask = umask(0);
	int fd = mkstemp(temporary);

	umask(mask);
	if (fd >= 0)
		fchmod(fd, 0666 & ~mask);
	return fd;
}

static int file_open(struct exporting *x)
{
	int fd;

	x->to = stdout;
	if (!x->file)
		return DONE;
	if (asprintf(&x->temporary, "%s.XXXXXX", x->file) < 0) {
		x->temporary = NULL;
		return out_of_memory();
	}
	fd = open_nameless(x->file);
	x->nameless = fd >= 0;
	if (fd < 0)
		fd = open_named(x->temporary);
	if (fd >= 0 && (x->to = fdopen(fd, "w")) != NULL)
		return DONE;
	complain(REFUSED, "%s cannot be written: %s", x->file, strerror(errno));
	if (fd >= 0) {
		close(fd);
		unlink(x->temporary);
	}
	free(x->temporary);
	return REFUSED;
}

/* The name itself is in the folder: a file that is there after a power cut is the whole one. */
static void folder_sync(const char *file)
{
	char *folder = folder_of(file);
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(folder);
}

/* A file without a name cannot take that of another at once: it gets the temporary one, as others have it. */
static int file_name(struct exporting *x)
{
	char proc[40];
	int fd;

	if (!x->nameless)
		return 0;
	fd = mkstemp(x->temporary);	/* a name that nobody has */
	if (fd < 0)
		return -1;
	close(fd);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fileno(x->to));
	return unlink(x->temporary) < 0 ? -1
		: linkat(AT_FDCWD, proc, AT_FDCWD, x->temporary, AT_SYMLINK_FOLLOW);
}

/* `rv` DONE: the file gets its name; else nothing is left of it. */
static int file_close(struct exporting *x, int rv)
{
	bool written;

	if (!x->temporary)
		return rv;
	written = rv == DONE && fflush(x->to) == 0 && !ferror(x->to) && fsync(fileno(x->to)) == 0 &&
		file_name(x) == 0;
	if (fclose(x->to) != 0 || !written || rename(x->temporary, x->file) < 0) {
		if (rv == DONE)
			rv = complain(REFUSED, "%s cannot be written: %s", x->file, strerror(errno));
		unlink(x->temporary);
	} else {
		folder_sync(x->file);
		complain(DONE, "%" PRId64 " rows in %s", x->rows, x->file);
	}
	free(x->temporary);
	return rv;
}

/* --- commands ------------------------------------------------------------------------------------ */

static int begin(struct session *s, struct exporting *x, const char *what)
{
	const char *zone = session_option(s, OPT_TZ);
	struct fault why = { "" };

	if (s->style.format == FORMAT_PARSABLE)
		return complain(USAGE, "an export is csv (default) or json");
	x->table = export_table_find(what);
	x->json = s->style.format == FORMAT_JSON;
	x->unit = session_option(s, OPT_AMOUNTS) ? s->style.unit : IN_UNITS;
	x->file = session_option(s, OPT_FILE);
	if (zone && strcmp(zone, "UTC") && !(x->zone = zone_new(zone, &why)))
		return complain(USAGE, "--tz: %s", why.text);
	return file_open(x);
}

static char *export_path(const struct session *s, const char *base, const char *below, int64_t from, int64_t to)
{
	char from_text[24], to_text[24];

	snprintf(from_text, sizeof(from_text), "%" PRId64, from);
	snprintf(to_text, sizeof(to_text), "%" PRId64, to);
	return request_query(base, "project", session_option(s, OPT_PROJECT), "from", from_text, "to", to_text,
		"below", below, (char *)NULL);
}

/* Statements are few: they come as one answer, and the lines of whole projects are left out, so that a column
 * can be summed. */
static int statement_rows(struct session *s, struct exporting *x, const char *path)
{
	char *fields[EXPORT_FIELDS_MAX];
	struct json_object *rows = NULL, *v;
	int rv = session_fetch(s, path, &rows);

	if (rv == DONE)
		header_put(x);
	for (size_t i = 0; rv == DONE && i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (!json_object_object_get(row, "allocation"))
			continue;
		for (size_t k = 0; k < x->table->count; k++) {
			v = json_object_object_get(row, x->table->columns[k].name);
			fields[k] = v ? (char *)json_object_get_string(v) : (char[]){ "" };
		}
		if (row_add(fields, x->table->count, x) < 0)
			rv = REFUSED;
	}
	json_object_put(rows);
	return rv;
}

static int export(struct session *s, const char *what)
{
	struct exporting *x = calloc(1, sizeof(*x));
	bool statement = strcmp(what, "statement") == 0;
	char base[40], *path = NULL;
	int64_t from, to;
	int rv = x ? range_read(s, &from, &to) : out_of_memory();

	if (rv == DONE)
		rv = begin(s, x, what);
	if (rv != DONE) {
		free(x);
		return rv;
	}
	snprintf(base, sizeof(base), statement ? "/v1/%ss" : "/v1/exports/%s", what);
	path = export_path(s, base, statement ? "1" : NULL, from, to);
	if (x->temporary || !isatty(STDOUT_FILENO))
		progress_start(&x->progress, stderr);
	rv = !path ? out_of_memory() : statement ? statement_rows(s, x, path) : session_stream(s, path, piece, x);
	progress_end(&x->progress);
	if (rv == DONE && x->json)	/* what was cut off is no JSON, so that nobody takes it for the whole */
		fputs("\n]}\n", x->to);
	rv = file_close(x, rv);
	zone_free(x->zone);
	free(path);
	free(x);
	return rv;
}

int cmd_export_jobs(struct session *s)
{
	return export(s, "jobs");
}

int cmd_export_journal(struct session *s)
{
	return export(s, "journal");
}

int cmd_export_statement(struct session *s)
{
	return export(s, "statement");
}
