/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger.c - opening the books, transactions, prepared statements.
 *
 * WAL mode, foreign keys, CHECKs and append-only triggers: this file never repeats a rule that the database
 * itself can hold (sql/). One connection, and a fair lock around each transaction: a busy loop cannot starve
 * a submission. */
#include "budgetd/ledger_sql.h"
#include "books/audit.h"
#include "books/chain.h"
#include "books/schema.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define STATEMENTS_BITS 9
#define STATEMENTS_MAX  (1 << STATEMENTS_BITS)	/* well above the number of statements */

/* A disk that is nearly full takes a small write between two that fail. */
#define CAREFUL_WRITES 1000

struct ledger {
	sqlite3 *db;
	int lock_fd;				/* flock: one budgetd per file */
	pthread_mutex_t mutex;			/* guards the two tickets and `failed` */
	pthread_cond_t turn;
	uint64_t next_ticket, serving;		/* first come, first served */
	bool in_transaction;
	bool unwritten;				/* a decided transaction whose COMMIT is still to come */
	struct fault failed;			/* of the last write; empty when it succeeded */
	unsigned int careful;			/* so many decisions more are written before they count */
	enum ledger_durability durability;	/* of PRAGMA synchronous as it stands */
	struct {
		const char *sql;
		sqlite3_stmt *st;
	} cache[STATEMENTS_MAX];
};

/* --- errors ------------------------------------------------------------------------------------- */

static const struct {
	int sqlite, err;
} error_table[] = {
	{ SQLITE_BUSY, EAGAIN },     { SQLITE_LOCKED, EAGAIN },	  { SQLITE_FULL, ENOSPC },
		{ SQLITE_IOERR, EIO },
	{ SQLITE_READONLY, EROFS },  { SQLITE_CORRUPT, EBADMSG }, { SQLITE_NOTADB, EBADMSG },
		{ SQLITE_CANTOPEN, ENOENT },
	{ SQLITE_CONSTRAINT, EEXIST }, { SQLITE_NOMEM, ENOMEM },
};

static int sql_fault(struct ledger *l, struct fault *why, const char *doing)
{
	int code = sqlite3_errcode(l->db) & 0xff, err = EIO;

	for (size_t i = 0; i < sizeof(error_table) / sizeof(*error_table); i++)
		if (error_table[i].sqlite == code)
			err = error_table[i].err;
	return fault_errno(why, err, "database: %s while %s", sqlite3_errmsg(l->db), doing);
}

/* --- statements --------------------------------------------------------------------------------- */

static sqlite3_stmt *sql_prepared(struct ledger *l, const char *sql, struct fault *why)
{
	size_t slot = ((uintptr_t)sql >> 3) * 0x9e3779b97f4a7c15u >> (64 - STATEMENTS_BITS);

	while (l->cache[slot].sql && l->cache[slot].sql != sql)
		slot = (slot + 1) & (STATEMENTS_MAX - 1);
	if (l->cache[slot].sql)
		return l->cache[slot].st;
	if (sqlite3_prepare_v3(l->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &l->cache[slot].st,
		NULL) != SQLITE_OK) {
		sql_fault(l, why, "preparing a statement");
		return NULL;
	}
	l->cache[slot].sql = sql;
	return l->cache[slot].st;
}

static int bind_one(sqlite3_stmt *st, int i, char type, va_list *ap)
{
	const int64_t *p;
	const char *s;

	switch (type) {
	case 'i':
		return sqlite3_bind_int64(st, i, va_arg(*ap, int64_t));
	case 's':
		s = va_arg(*ap, const char *);
		return s ? sqlite3_bind_text(st, i, s, -1, SQLITE_TRANSIENT) : sqlite3_bind_null(st, i);
	case 'p':
		p = va_arg(*ap, const int64_t *);
		return p ? sqlite3_bind_int64(st, i, *p) : sqlite3_bind_null(st, i);
	}
	return SQLITE_MISUSE;
}

static sqlite3_stmt *sql_vbind(struct ledger *l, const char *sql, struct fault *why, const char *types,
	va_list *ap)
{
	sqlite3_stmt *st = sql_prepared(l, sql, why);

	if (!st)
		return NULL;
	sqlite3_reset(st);
	for (int i = 0; types[i]; i++) {
		if (bind_one(st, i + 1, types[i], ap) != SQLITE_OK) {
			sql_fault(l, why, "binding a value");
			return NULL;
		}
	}
	return st;
}

sqlite3_stmt *sql_bind(struct ledger *l, const char *sql, struct fault *why, const char *types, ...)
{
	sqlite3_stmt *st;
	va_list ap;

	va_start(ap, types);
	st = sql_vbind(l, sql, why, types, &ap);
	va_end(ap);
	return st;
}

int sql_step(struct ledger *l, sqlite3_stmt *st, struct fault *why)
{
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		sql_fault(l, why, sqlite3_sql(st));
	sqlite3_reset(st);
	return rc == SQLITE_DONE ? 0 : -1;
}

int sql_do(struct ledger *l, const char *sql, struct fault *why, const char *types, ...)
{
	sqlite3_stmt *st;
	va_list ap;

	va_start(ap, types);
	st = sql_vbind(l, sql, why, types, &ap);
	va_end(ap);
	return st ? sql_step(l, st, why) : -1;
}

int sql_int(struct ledger *l, int64_t *out, const char *sql, struct fault *why, const char *types, ...)
{
	sqlite3_stmt *st;
	va_list ap;
	int rc;

	va_start(ap, types);
	st = sql_vbind(l, sql, why, types, &ap);
	va_end(ap);
	rc = st ? sql_step(l, st, why) : -1;
	if (rc == 1) {
		*out = sql_col(st, 0);
		sqlite3_reset(st);
	}
	return rc;
}

int64_t sql_last_id(struct ledger *l)
{
	return sqlite3_last_insert_rowid(l->db);
}

int sql_changes(struct ledger *l)
{
	return sqlite3_changes(l->db);
}

int64_t sql_col(sqlite3_stmt *st, int i)
{
	return sqlite3_column_int64(st, i);
}

const char *sql_text(sqlite3_stmt *st, int i)
{
	const unsigned char *s = sqlite3_column_text(st, i);

	return s ? (const char *)s : "";
}

bool sql_null(sqlite3_stmt *st, int i)
{
	return sqlite3_column_type(st, i) == SQLITE_NULL;
}

/* --- transactions ------------------------------------------------------------------------------- */

static void lock_take(struct ledger *l)
{
	uint64_t mine;

	pthread_mutex_lock(&l->mutex);
	mine = l->next_ticket++;
	while (mine != l->serving)
		pthread_cond_wait(&l->turn, &l->mutex);
	pthread_mutex_unlock(&l->mutex);
}

static void lock_give(struct ledger *l)
{
	pthread_mutex_lock(&l->mutex);
	l->serving++;
	pthread_cond_broadcast(&l->turn);
	pthread_mutex_unlock(&l->mutex);
}

/* PRAGMA synchronous cannot change inside a transaction; switching it costs a few microseconds and only when
 * it differs. */
static int set_durability(struct ledger *l, enum ledger_durability d, struct fault *why)
{
	static const char *const pragma[] = {
		[LEDGER_HOLDS] = "PRAGMA synchronous = NORMAL",
		[LEDGER_MONEY] = "PRAGMA synchronous = FULL",
	};

	if (d == LEDGER_READ || l->durability == d)
		return 0;
	if (sqlite3_exec(l->db, pragma[d], NULL, NULL, NULL) != SQLITE_OK)
		return sql_fault(l, why, pragma[d]);
	l->durability = d;
	return 0;
}

static void end_transaction(struct ledger *l)
{
	int saved = errno;

	for (size_t i = 0; i < STATEMENTS_MAX; i++)
		if (l->cache[i].st)
			/* a statement left in the middle would keep the transaction open */
			sqlite3_reset(l->cache[i].st);
	if (!sqlite3_get_autocommit(l->db))
		sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
	errno = saved;
}

static void note_write(struct ledger *l, const struct fault *failed)
{
	pthread_mutex_lock(&l->mutex);
	l->failed = *failed;
	pthread_mutex_unlock(&l->mutex);
}

/* Whoever comes next finds the decision made, and makes it last before anything else. */
static int write_decided(struct ledger *l, struct fault *why)
{
	static const char commit_sql[] = "COMMIT";
	struct fault failed = { .text = "" };

	if (!l->unwritten)
		return 0;
	l->unwritten = false;
	if (sql_do(l, commit_sql, &failed, "") < 0) {
		end_transaction(l);
		l->careful = CAREFUL_WRITES;
	}
	note_write(l, &failed);
	return failed.text[0] ? fault_errno(why, errno, "%s", failed.text) : 0;
}

int ledger_writes(struct ledger *l, struct fault *why)
{
	struct fault failed;

	pthread_mutex_lock(&l->mutex);
	failed = l->failed;
	pthread_mutex_unlock(&l->mutex);
	return failed.text[0] ? fault_set(why, "%s", failed.text) : 0;
}

int ledger_begin(struct ledger *l, enum ledger_durability d, struct fault *why)
{
	static const char write_sql[] = "BEGIN IMMEDIATE", read_sql[] = "BEGIN";

	lock_take(l);
	if (write_decided(l, why) < 0 || set_durability(l, d, why) < 0 ||
		sql_do(l, d == LEDGER_READ ? read_sql : write_sql, why, "") < 0) {
		int saved = errno;

		lock_give(l);
		errno = saved;
		return -1;
	}
	l->in_transaction = true;
	return 0;
}

int ledger_decided(struct ledger *l, struct fault *why)
{
	int rc = 0, saved;

	assert(l->in_transaction);
	l->in_transaction = false;
	l->unwritten = true;
	if (l->careful > 0) {
		l->careful--;
		rc = write_decided(l, why);
	}
	saved = errno;
	lock_give(l);
	errno = saved;
	return rc;
}

int ledger_write(struct ledger *l, struct fault *why)
{
	int rc, saved;

	lock_take(l);
	rc = write_decided(l, why);
	saved = errno;
	lock_give(l);
	errno = saved;
	return rc;
}

int ledger_commit(struct ledger *l, struct fault *why)
{
	int rc, saved;

	assert(l->in_transaction);
	l->in_transaction = false;
	l->unwritten = true;
	rc = write_decided(l, why);
	saved = errno;
	lock_give(l);
	errno = saved;
	return rc;
}

void ledger_rollback(struct ledger *l)
{
	int saved = errno;

	assert(l->in_transaction);
	end_transaction(l);
	l->in_transaction = false;
	lock_give(l);
	errno = saved;
}

int ledger_checkpoint(struct ledger *reader, struct fault *why)
{
	int rc = sqlite3_wal_checkpoint_v2(reader->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);

	return rc == SQLITE_OK || rc == SQLITE_BUSY ? 0 : sql_fault(reader, why, "a checkpoint");
}

int ledger_audit(struct ledger *reader, struct fault *why)
{
	struct fault wrong = {0};
	int rv = 0;

	if (ledger_begin(reader, LEDGER_READ, why) < 0)
		return -1;
	if (audit_prepare(reader->db, why) < 0)
		rv = -1;
	for (size_t i = 0; rv == 0 && i < audit_check_count; i++)
		if (audit_make(reader->db, &audit_checks[i], &wrong) != 0)
			rv = fault_errno(why, EBADMSG, "the books are not sound (%s): %s", audit_checks[i].id,
				wrong.text);
	ledger_rollback(reader);
	return rv;
}

/* --- opening ------------------------------------------------------------------------------------ */

int ledger_create(const char *path, struct fault *why)
{
	return schema_create(path, why);
}

static int lock_file(struct ledger *l, const char *path, struct fault *why)
{
	l->lock_fd = open(path, O_RDWR | O_CLOEXEC);
	if (l->lock_fd < 0 && errno == ENOENT)
		return fault_set(why,
			"%s does not exist: make a new database by budgetd --init, or restore a backup",
			path);
	if (l->lock_fd < 0)
		return fault_set(why,
			"%s cannot be opened for writing: %s; budgetd needs to own the file and its folder",
			path, strerror(errno));
	if (flock(l->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return fault_errno(why, EBUSY, "%s is in use by another budgetd; stop that one first", path);
	return 0;
}

static int set_up_connection(struct ledger *l, const char *path, struct fault *why)
{
	if (sqlite3_db_readonly(l->db, "main") == 1)
		return fault_errno(why, EROFS,
			"%s is read-only: budgetd must be able to write it and its folder", path);
	/* another program (a backup) may hold the lock for a moment */
	sqlite3_busy_timeout(l->db, 5000);
	if (sqlite3_exec(l->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) != SQLITE_OK)
		return fault_errno(why, EROFS,
			"%s cannot be written (%s): budgetd must own the file and its folder", path,
			sqlite3_errmsg(l->db));
	if (schema_upgrade(l->db, path, &schema_steps, why) < 0)
		return -1;
	if (sqlite3_exec(l->db, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; "
				/* pages; only when ledger_checkpoint does not come */
				"PRAGMA wal_autocheckpoint = 16384; "
				"PRAGMA cache_size = -32768; "		/* KiB */
				"PRAGMA temp_store = MEMORY; BEGIN IMMEDIATE; COMMIT;", NULL, NULL,
					NULL) != SQLITE_OK)
		return fault_errno(why, EROFS,
			"%s cannot be written (%s): budgetd must own the file and its folder", path,
			sqlite3_errmsg(l->db));
	l->durability = LEDGER_MONEY;
	return 0;
}

static struct ledger *ledger_new(struct fault *why)
{
	struct ledger *l = calloc(1, sizeof(*l));

	if (!l) {
		fault_errno(why, ENOMEM, "out of memory");
		return NULL;
	}
	l->lock_fd = -1;
	pthread_mutex_init(&l->mutex, NULL);
	pthread_cond_init(&l->turn, NULL);
	return l;
}

static int connect_file(struct ledger *l, const char *path, int flags, struct fault *why)
{
	if (sqlite3_open_v2(path, &l->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return l->db ? sql_fault(l, why, "opening it") : fault_errno(why, ENOMEM, "out of memory");
	return 0;
}

static int check_schema(struct ledger *l, const char *path, struct fault *why)
{
	int version = schema_of(l->db, path, &schema_steps, why);

	return version < 0 ? -1 : schema_check(l->db, path, &schema_steps, version, why);
}

int ledger_open(const char *path, struct ledger **out, struct fault *why)
{
	struct ledger *l = ledger_new(why);

	if (!l)
		return -1;
	if (lock_file(l, path, why) < 0 || connect_file(l, path, SQLITE_OPEN_READWRITE, why) < 0 ||
		check_schema(l, path, why) < 0 || set_up_connection(l, path, why) < 0 ||
		chain_attach(l->db, why) < 0) {
		ledger_close(l);
		return -1;
	}
	*out = l;
	return 0;
}

int ledger_open_reader(const char *path, struct ledger **out, struct fault *why)
{
	struct ledger *l = ledger_new(why);

	if (!l)
		return -1;
	/* Opened for writing, since a reader of a WAL file must be able to make its index; the pragma keeps
	 * it from more. */
	if (connect_file(l, path, SQLITE_OPEN_READWRITE, why) < 0 ||
		sqlite3_exec(l->db, "PRAGMA query_only = ON", NULL, NULL, NULL) != SQLITE_OK) {
		ledger_close(l);
		return -1;
	}
	*out = l;
	return 0;
}

void ledger_close(struct ledger *l)
{
	int saved = errno;

	if (!l)
		return;
	if (l->unwritten)
		ledger_write(l, NULL);
	for (size_t i = 0; i < STATEMENTS_MAX; i++)
		sqlite3_finalize(l->cache[i].st);
	sqlite3_close(l->db);
	if (l->lock_fd >= 0)
		close(l->lock_fd);
	pthread_cond_destroy(&l->turn);
	pthread_mutex_destroy(&l->mutex);
	free(l);
	errno = saved;
}
