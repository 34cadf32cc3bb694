/* SPDX-License-Identifier: GPL-2.0-or-later
 * chain.c - links over what is final (chain.h) */
#include "books/chain.h"
#include <errno.h>
#include <nettle/sha2.h>
#include <nettle/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(CHAIN_HASH_BYTES == SHA256_DIGEST_SIZE, "the column `hash` holds a SHA-256");

/* When a row of each table becomes final: as it is written, or as `closing` gets a value. Where `single` does
 * not hold of a row it has no link of its own: its import has one for many. */
static const struct chained {
	const char *table, *closing, *single;
} chained[] = {
	{ "journal", NULL, NULL },
	{ "charge", NULL, "kind <> 'imported'" },
	{ "run", "ended", "import IS NULL" },
	{ "hold", "closed_at", NULL },
	{ "rate", NULL, NULL },
	{ "request", "decision", NULL },
	{ "correction", NULL, NULL },
	{ "change", NULL, NULL },
	{ "uncounted", NULL, NULL },
	{ "event", NULL, NULL },
	{ "capacity", NULL, NULL },
	{ "import", "hash", NULL },
	{ "period", NULL, NULL },
	{ "period_held", NULL, NULL },
};

#define CHAINED (sizeof(chained) / sizeof(chained[0]))

const char *chain_table(size_t i, const char **closing)
{
	*closing = i < CHAINED ? chained[i].closing : NULL;
	return i < CHAINED ? chained[i].table : NULL;
}

/* --- the hash ----------------------------------------------------------------------------------- */

/* As printf("%c%lld%c") would write it, which takes ten times as long. */
static void hash_number(struct sha256_ctx *c, char type, sqlite3_int64 n, char end_mark)
{
	char text[24], *end = text + sizeof(text), *at = end;
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;

	*--at = end_mark;
	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (n < 0)
		*--at = '-';
	*--at = type;
	sha256_update(c, (size_t)(end - at), (const uint8_t *)at);
}

static void hash_integer(struct sha256_ctx *c, sqlite3_int64 n)
{
	hash_number(c, 'i', n, ';');
}

static void hash_bytes(struct sha256_ctx *c, char type, const void *bytes, int length)
{
	hash_number(c, type, length, ':');
	if (length > 0)
		sha256_update(c, (size_t)length, bytes);
	sha256_update(c, 1, (const uint8_t *)";");
}

static void hash_null(struct sha256_ctx *c)
{
	sha256_update(c, 2, (const uint8_t *)"n;");
}

/* NULLs at the end are left out: this is where a row of an import ends. */
static void hash_row_end(struct sha256_ctx *c)
{
	sha256_update(c, 2, (const uint8_t *)"r;");
}

static void hash_value(struct sha256_ctx *c, sqlite3_value *v)
{
	switch (sqlite3_value_type(v)) {
	case SQLITE_NULL:
		hash_null(c);
		return;
	case SQLITE_INTEGER:
		hash_integer(c, sqlite3_value_int64(v));
		return;
	case SQLITE_BLOB:
		hash_bytes(c, 'b', sqlite3_value_blob(v), sqlite3_value_bytes(v));
		return;
	default:
		/* STRICT tables have no other: a number that is no integer is hashed as its text */
		hash_bytes(c, 't', sqlite3_value_text(v), sqlite3_value_bytes(v));
	}
}

/* The same for a column of a row that a statement stands on. */
static void hash_column(struct sha256_ctx *c, sqlite3_stmt *st, int i)
{
	switch (sqlite3_column_type(st, i)) {
	case SQLITE_NULL:
		hash_null(c);
		return;
	case SQLITE_INTEGER:
		hash_integer(c, sqlite3_column_int64(st, i));
		return;
	case SQLITE_BLOB:
		hash_bytes(c, 'b', sqlite3_column_blob(st, i), sqlite3_column_bytes(st, i));
		return;
	default:
		hash_bytes(c, 't', sqlite3_column_text(st, i), sqlite3_column_bytes(st, i));
	}
}

static void hash_finish(struct sha256_ctx *c, uint8_t out[CHAIN_HASH_BYTES])
{
#if NETTLE_VERSION_MAJOR >= 4
	sha256_digest(c, out);
#else
	sha256_digest(c, CHAIN_HASH_BYTES, out);
#endif
}

/* Rows `first` to `last` of `table`, by id. Its columns are read where they stand: as arguments of an SQL
 * function each would be copied. */
static int hash_rows(sqlite3 *db, const char *table, sqlite3_int64 first, sqlite3_int64 last,
	struct sha256_ctx *c)
{
	sqlite3_stmt *st = NULL;
	char sql[96];
	int rc;

	snprintf(sql, sizeof(sql), "SELECT * FROM main.%s NOT INDEXED WHERE id BETWEEN ? AND ? ORDER BY id",
		table);
	rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);
	if (rc == SQLITE_OK && sqlite3_bind_int64(st, 1, first) == SQLITE_OK &&
		sqlite3_bind_int64(st, 2, last) == SQLITE_OK)
		while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
			int n = sqlite3_column_count(st);

			while (n > 0 && sqlite3_column_type(st, n - 1) == SQLITE_NULL)
				n--;
			for (int i = 0; i < n; i++)
				hash_column(c, st, i);
			hash_row_end(c);
		}
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? 0 : -1;
}

struct chain_rows {
	struct sha256_ctx c;
};

struct chain_rows *chain_rows_new(void)
{
	struct chain_rows *r = malloc(sizeof(*r));

	if (r)
		sha256_init(&r->c);
	return r;
}

void chain_rows_free(struct chain_rows *r)
{
	free(r);
}

void chain_rows_integer(struct chain_rows *r, int64_t n)
{
	hash_integer(&r->c, n);
}

void chain_rows_text(struct chain_rows *r, const char *text)
{
	hash_bytes(&r->c, 't', text, (int)strlen(text));
}

void chain_rows_null(struct chain_rows *r)
{
	hash_null(&r->c);
}

void chain_rows_end(struct chain_rows *r)
{
	hash_row_end(&r->c);
}

void chain_import_hash(struct chain_rows *runs, struct chain_rows *charges,
	uint8_t out[static CHAIN_HASH_BYTES])
{
	uint8_t hash[CHAIN_HASH_BYTES];
	struct sha256_ctx c;

	sha256_init(&c);
	hash_finish(&runs->c, hash);
	sha256_update(&c, CHAIN_HASH_BYTES, hash);
	hash_finish(&charges->c, hash);
	sha256_update(&c, CHAIN_HASH_BYTES, hash);
	hash_finish(&c, out);
}

/* import_hash(FIRST-RUN, LAST-RUN, FIRST-CHARGE, LAST-CHARGE) */
static void import_hash(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	sqlite3 *db = sqlite3_context_db_handle(context);
	uint8_t hash[CHAIN_HASH_BYTES];
	struct chain_rows runs, charges;

	(void)argc;
	sha256_init(&runs.c);
	sha256_init(&charges.c);
	if (hash_rows(db, "run", sqlite3_value_int64(argv[0]), sqlite3_value_int64(argv[1]), &runs.c) < 0 ||
		hash_rows(db, "charge", sqlite3_value_int64(argv[2]), sqlite3_value_int64(argv[3]),
			&charges.c) < 0) {
		sqlite3_result_error(context, "import_hash cannot read the rows", -1);
		return;
	}
	chain_import_hash(&runs, &charges, hash);
	sqlite3_result_blob(context, hash, CHAIN_HASH_BYTES, SQLITE_TRANSIENT);
}

/* chain_hash(HASH-BEFORE, TABLE, COLUMN...) */
static void chain_hash(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	uint8_t hash[CHAIN_HASH_BYTES];
	struct sha256_ctx c;

	if (argc < 2 || sqlite3_value_bytes(argv[0]) != CHAIN_HASH_BYTES) {
		sqlite3_result_error(context,
			"chain_hash wants the 32 bytes before, the table and its columns", -1);
		return;
	}
	while (argc > 2 && sqlite3_value_type(argv[argc - 1]) == SQLITE_NULL)
		argc--;
	sha256_init(&c);
	sha256_update(&c, CHAIN_HASH_BYTES, sqlite3_value_blob(argv[0]));
	for (int i = 1; i < argc; i++)
		hash_value(&c, argv[i]);
	hash_finish(&c, hash);
	sqlite3_result_blob(context, hash, CHAIN_HASH_BYTES, SQLITE_TRANSIENT);
}

static int sql_fault(sqlite3 *db, const char *doing, struct fault *why)
{
	return fault_errno(why, sqlite3_errcode(db) == SQLITE_NOMEM ? ENOMEM : EIO, "database: %s while %s",
		sqlite3_errmsg(db), doing);
}

/* --- adding links ------------------------------------------------------------------------------- */

/* The columns of `table` in their order, each behind `prefix`. To be freed by sqlite3_free(). NULL: no
 * memory, or no such table. */
static char *columns_text(sqlite3 *db, const char *table, const char *prefix, struct fault *why)
{
	static const char columns_sql[] = "SELECT group_concat(?2 || '\"' || name || '\"', ', ')"
					  " FROM (SELECT name FROM pragma_table_info(?1) ORDER BY cid)";
	sqlite3_stmt *st = NULL;
	char *text = NULL;

	if (sqlite3_prepare_v2(db, columns_sql, -1, &st, NULL) == SQLITE_OK &&
		sqlite3_bind_text(st, 1, table, -1, NULL) == SQLITE_OK &&
		sqlite3_bind_text(st, 2, prefix, -1, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW &&
		sqlite3_column_type(st, 0) == SQLITE_TEXT)
		text = sqlite3_mprintf("%s", sqlite3_column_text(st, 0));
	if (!text)
		fault_errno(why, EIO, "database: there is no table %s", table);
	sqlite3_finalize(st);
	return text;
}

int chain_function(sqlite3 *db, struct fault *why)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;

	if (sqlite3_create_function_v2(db, "chain_hash", -1, flags, NULL, chain_hash, NULL, NULL, NULL) ||
		sqlite3_create_function_v2(db, "import_hash", 4, SQLITE_UTF8, NULL, import_hash, NULL, NULL,
			NULL))
		return sql_fault(db, "making chain_hash()", why);
	return 0;
}

static int trigger_make(sqlite3 *db, const struct chained *t, const char *event, const char *when,
	const char *columns, struct fault *why)
{
	char *sql = sqlite3_mprintf("CREATE TEMP TRIGGER %s_%s_is_chained AFTER %s ON main.%s %s BEGIN"
		" INSERT INTO chain (link, kind, row, hash) SELECT links + 1, '%s', NEW.id, chain_hash(hash, '%s', %s) FROM chain_head;"
		" UPDATE chain_head SET links = links + 1, hash = (SELECT hash FROM chain WHERE link = chain_head.links + 1);"
		" END", t->table, event, event, t->table, when, t->table, t->table, columns);
	int rv = 0;

	if (!sql)
		return fault_errno(why, ENOMEM, "out of memory");
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		rv = sql_fault(db, "preparing the chain", why);
	sqlite3_free(sql);
	return rv;
}

static int table_attach(sqlite3 *db, const struct chained *t, struct fault *why)
{
	const char *single = t->single ? t->single : "id";	/* an id is never 0 */
	char born[96], closed[128], *columns = columns_text(db, t->table, "NEW.", why);
	int rv = -1;

	if (!columns)
		return -1;
	snprintf(born, sizeof(born), "WHEN NEW.%s%s%s%s", single, t->closing ? " AND NEW." : "",
		t->closing ? t->closing : "", t->closing ? " IS NOT NULL" : "");
	if (t->closing)
		snprintf(closed, sizeof(closed), "WHEN NEW.%s AND OLD.%s IS NULL AND NEW.%s IS NOT NULL",
			single, t->closing, t->closing);
	if (trigger_make(db, t, "INSERT", born, columns, why) == 0)
		rv = t->closing ? trigger_make(db, t, "UPDATE", closed, columns, why) : 0;
	sqlite3_free(columns);
	return rv;
}

int chain_attach(sqlite3 *db, struct fault *why)
{
	if (chain_function(db, why) < 0)
		return -1;
	for (size_t i = 0; i < CHAINED; i++)
		if (table_attach(db, &chained[i], why) < 0)
			return -1;
	return 0;
}

/* --- looking at them ---------------------------------------------------------------------------- */

struct walk {
	sqlite3_stmt *links, *row[CHAINED];	/* row: what the link of a row must be */
	sqlite3_int64 last;			/* the link before */
	uint8_t before[CHAIN_HASH_BYTES];
};

static sqlite3_stmt *row_statement(sqlite3 *db, const char *table, struct fault *why)
{
	char *columns = columns_text(db, table, "", why), *sql = NULL;
	sqlite3_stmt *st = NULL;

	if (columns)
		sql = sqlite3_mprintf("SELECT chain_hash(?1, '%s', %s) FROM %s WHERE id = ?2", table, columns,
			table);
	if (sql && sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
		sql_fault(db, "looking at the chain", why);
	else if (columns && !sql)
		fault_errno(why, ENOMEM, "out of memory");
	sqlite3_free(columns);
	sqlite3_free(sql);
	return st;
}

static int walk_open(sqlite3 *db, struct walk *w, struct fault *why)
{
	for (size_t i = 0; i < CHAINED; i++) {
		w->row[i] = row_statement(db, chained[i].table, why);
		if (!w->row[i])
			return -1;
	}
	if (sqlite3_prepare_v2(db, "SELECT link, kind, row, hash FROM chain ORDER BY link", -1, &w->links,
		NULL) != SQLITE_OK)
		return sql_fault(db, "looking at the chain", why);
	return 0;
}

static void walk_close(struct walk *w)
{
	sqlite3_finalize(w->links);
	for (size_t i = 0; i < CHAINED; i++)
		sqlite3_finalize(w->row[i]);
}

/* 1 = what the row gives is the link's hash, 0 = it is not, -1 = there is no such row. */
static int row_gives(struct walk *w, const char *kind, sqlite3_int64 row, const void *hash)
{
	sqlite3_stmt *st = NULL;
	int rv = -1;

	for (size_t i = 0; i < CHAINED; i++)
		if (!strcmp(chained[i].table, kind))
			st = w->row[i];
	if (!st)
		return -1;
	sqlite3_bind_blob(st, 1, w->before, CHAIN_HASH_BYTES, SQLITE_STATIC);
	sqlite3_bind_int64(st, 2, row);
	if (sqlite3_step(st) == SQLITE_ROW)
		rv = sqlite3_column_bytes(st, 0) == CHAIN_HASH_BYTES &&
			!memcmp(sqlite3_column_blob(st, 0), hash, CHAIN_HASH_BYTES);
	sqlite3_reset(st);
	return rv;
}

static int link_check(struct walk *w, struct fault *wrong)
{
	sqlite3_int64 link = sqlite3_column_int64(w->links, 0), row = sqlite3_column_int64(w->links, 2);
	const unsigned char *kind = sqlite3_column_text(w->links, 1);
	const void *hash = sqlite3_column_blob(w->links, 3);
	int gives;

	if (link != w->last + 1)
		return fault_set(wrong,
			"link %lld of the chain is missing: the next that is there is %lld, %s %lld",
			w->last + 1, link, kind ? (const char *)kind : "", row), 1;
	if (!kind || !hash || sqlite3_column_bytes(w->links, 3) != CHAIN_HASH_BYTES)
		return fault_set(wrong, "link %lld of the chain is not one", link), 1;
	gives = row_gives(w, (const char *)kind, row, hash);
	if (gives < 0)
		return fault_set(wrong, "%s %lld is missing: link %lld of the chain is its", kind, row, link),
			1;
	if (!gives)
		return fault_set(wrong,
			"%s %lld is not what was written: it does not give link %lld of the chain", kind, row,
			link), 1;
	w->last = link;
	memcpy(w->before, hash, CHAIN_HASH_BYTES);
	return 0;
}

int chain_check_links(sqlite3 *db, struct fault *wrong)
{
	struct walk w = {0};
	int rc = SQLITE_DONE, rv = walk_open(db, &w, wrong);

	while (rv == 0 && (rc = sqlite3_step(w.links)) == SQLITE_ROW)
		rv = link_check(&w, wrong);
	if (rv == 0 && rc != SQLITE_DONE)
		rv = sql_fault(db, "looking at the chain", wrong);
	walk_close(&w);
	return rv;
}

/* The first row of `sql` is a text that says what is wrong. */
static int first_wrong(sqlite3 *db, const char *sql, struct fault *wrong)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL), rv = 0;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		fault_set(wrong, "%s", sqlite3_column_text(st, 0));
		rv = 1;
	} else if (rc != SQLITE_DONE) {
		rv = sql_fault(db, "looking at the chain", wrong);
	}
	sqlite3_finalize(st);
	return rv;
}

int chain_check_head(sqlite3 *db, struct fault *wrong)
{
	static const char head_sql[] =
		"SELECT CASE WHEN h.links IS NULL THEN 'the head of the chain is missing'"
		" WHEN h.links <> c.links THEN printf('the chain has %d links and had %d: %s', c.links, h.links,"
		"   iif(h.links > c.links, 'the last rows are missing', 'rows were added by another program'))"
		" ELSE printf('the last link of the chain, %d, is not the one that was written last', c.links) END"
		" FROM (SELECT coalesce(max(link), 0) AS links FROM chain) c LEFT JOIN chain_head h"
		" WHERE h.links IS NOT c.links OR h.hash <> coalesce((SELECT hash FROM chain WHERE link = c.links), zeroblob(32))";

	return first_wrong(db, head_sql, wrong);
}

int chain_check_rows(sqlite3 *db, struct fault *wrong)
{
	int rv = 0;

	for (size_t i = 0; rv == 0 && i < CHAINED; i++) {
		const struct chained *t = &chained[i];
		char sql[320];

		snprintf(sql, sizeof(sql),
			"SELECT printf('%s %%d has no link in the chain: another program wrote it', id) FROM %s WHERE %s%s"
			" %s AND id NOT IN (SELECT row FROM chain WHERE kind = '%s') ORDER BY id LIMIT 1",
			t->table, t->table, t->closing ? t->closing : "",
			t->closing ? " IS NOT NULL AND" : "", t->single ? t->single : "id", t->table);
		rv = first_wrong(db, sql, wrong);
	}
	return rv;
}

const char *chain_head_text(sqlite3 *db, char buf[static CHAIN_HEAD_TEXT_MAX])
{
	sqlite3_stmt *st = NULL;

	buf[0] = '\0';
	if (sqlite3_prepare_v2(db,
		"SELECT printf('%d links, the last is %s', links, lower(hex(hash))) FROM chain_head", -1, &st,
		NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		snprintf(buf, CHAIN_HEAD_TEXT_MAX, "%s", sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	return buf;
}
