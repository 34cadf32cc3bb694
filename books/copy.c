/* SPDX-License-Identifier: GPL-2.0-or-later
 * copy.c - backup and restore (copy.h)
 *
 * Everything is made beside its place, under a name that nobody else takes, and gets its own name last: a
 * kill at any moment leaves either what was there, or the new one, or (in the middle of a restore) nothing at
 * the name and both beside it. */
#include "books/copy.h"
#include "books/audit.h"
#include "books/schema.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int errno_of(int code)
{
	return code == SQLITE_FULL ? ENOSPC : code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? EBADMSG : EIO;
}

static int copy_fault(const char *path, sqlite3 *db, struct fault *why)
{
	return fault_errno(why, db ? errno_of(sqlite3_errcode(db) & 0xff) : ENOMEM, "%s: %s", path,
		db ? sqlite3_errmsg(db) : "out of memory");
}

/* --- pages -------------------------------------------------------------------------------------- */

/* All pages in one step: one state of the source, whoever writes it meanwhile. */
static int copy_pages(sqlite3 *from, const char *from_path, sqlite3 *to, const char *to_path,
	struct fault *why)
{
	sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
	int rc;

	if (!b)
		return copy_fault(to_path, to, why);
	rc = sqlite3_backup_step(b, -1);
	if (rc != SQLITE_DONE) {
		sqlite3_backup_finish(b);
		return fault_errno(why, errno_of(rc & 0xff), "%s cannot be copied to %s: %s", from_path,
			to_path, sqlite3_errstr(rc));
	}
	return sqlite3_backup_finish(b) == SQLITE_OK ? 0 : copy_fault(to_path, to, why);
}

/* Forward when it is older, and then without a WAL: one file that can be carried about. What is wrong with
 * the copy is said of `path`, which it was made of: the copy is gone when somebody reads that. */
static int settle(sqlite3 *db, const char *path, struct fault *why)
{
	if (sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) != SQLITE_OK)
		return copy_fault(path, db, why);
	return schema_of(db, path, &schema_steps, why) < 0 ||
		schema_upgrade(db, path, &schema_steps, why) < 0 ? -1 : 0;
}

/* `to` is an empty file of ours. */
static int copy_into(const char *from, const char *to, struct fault *why)
{
	sqlite3 *source = NULL, *copy = NULL;
	int rv = -1;

	if (sqlite3_open_v2(from, &source, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		copy_fault(from, source, why);
	else if (sqlite3_open_v2(to, &copy, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		copy_fault(to, copy, why);
	else if (sqlite3_busy_timeout(source, 5000) == SQLITE_OK &&
		copy_pages(source, from, copy, to, why) == 0)
		rv = settle(copy, from, why);
	sqlite3_close(source);
	sqlite3_close(copy);
	return rv;
}

/* --- files -------------------------------------------------------------------------------------- */

static int sync_path(const char *path, int flags, struct fault *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | flags), rv = fd < 0 ? -1 : fsync(fd);

	if (rv < 0)
		fault_set(why, "%s cannot be brought to the disk: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return rv;
}

static int sync_folder(const char *path, struct fault *why)
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	return sync_path(dirname(copy), O_DIRECTORY, why);
}

/* A sound copy of `from` beside `to`; its name in `part`. */
static int make_part(const char *from, const char *to, char part[static PATH_MAX], struct fault *why)
{
	int fd;

	part[0] = '\0';
	if (access(from, R_OK) < 0)
		return fault_set(why, "%s cannot be read: %s", from, strerror(errno));
	if (snprintf(part, PATH_MAX, "%s.XXXXXX", to) >= PATH_MAX - 32) {
		part[0] = '\0';
		return fault_errno(why, ENAMETOOLONG, "%s: the name is too long", to);
	}
	fd = mkostemp(part, O_CLOEXEC);		/* mode 0600 */
	if (fd < 0) {
		part[0] = '\0';
		return fault_set(why, "%s cannot be written: %s", to, strerror(errno));
	}
	close(fd);
	return copy_into(from, part, why) < 0 || audit_copy(part, from, why) < 0 ||
		sync_path(part, 0, why) < 0 ? -1 : 0;
}

static void drop_part(const char *part)
{
	int saved = errno;

	if (*part)
		unlink(part);
	errno = saved;
}

int copy_backup(const char *from, const char *to, struct fault *why)
{
	char part[PATH_MAX];
	struct stat st;
	int rv = -1;

	if (lstat(to, &st) == 0)
		return fault_errno(why, EEXIST, "%s is there already: name a file that is not", to);
	if (make_part(from, to, part, why) == 0) {
		rv = link(part, to);		/* rename() would replace what came meanwhile */
		if (rv < 0)
			fault_set(why, "%s cannot be made: %s", to, strerror(errno));
		else
			rv = sync_folder(to, why);
	}
	drop_part(part);
	return rv;
}

/* --- back --------------------------------------------------------------------------------------- */

/* The lock that budgetd has while it runs. The descriptor, -1 on failure, -2 when there is no file. */
static int lock_books(const char *path, struct fault *why)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return -2;
	if (fd < 0)
		return fault_set(why, "%s cannot be opened: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return fault_errno(why, EBUSY, "%s is in use: stop budgetd first", path);
}

/* Whose the file was, or else whose the folder is. */
static int give_to_owner(const char *part, const char *to, struct fault *why)
{
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%s", to);
	if (stat(to, &st) < 0 && stat(dirname(folder), &st) < 0)
		return fault_set(why, "%s: whose it is cannot be seen: %s", to, strerror(errno));
	if (geteuid() != 0 && st.st_uid == geteuid())
		return 0;
	if (chown(part, st.st_uid, st.st_gid) < 0)
		return fault_set(why, "%s cannot be given to its owner: %s", part, strerror(errno));
	return 0;
}

/* What its WAL holds goes into the file, so that the file alone is all; a file that is too damaged for that
 * keeps its WAL. */
static void fold_wal(const char *path)
{
	sqlite3 *db = NULL;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK)
		sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
	sqlite3_close(db);
}

static int move_beside(const char *path, const char *aside, struct fault *why)
{
	static const char *const with[] = { "-wal", "-shm" };
	char from[PATH_MAX], to[PATH_MAX + 8];

	if (access(aside, F_OK) == 0)
		return fault_errno(why, EEXIST, "%s is there already: wait a second", aside);
	if (rename(path, aside) < 0)
		return fault_set(why, "%s cannot be put aside as %s: %s", path, aside, strerror(errno));
	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		snprintf(from, sizeof(from), "%s%s", path, with[i]);
		snprintf(to, sizeof(to), "%s%s", aside, with[i]);
		if (rename(from, to) < 0 && errno != ENOENT)
			return fault_set(why, "%s cannot be put aside: %s; the database is %s now", from,
				strerror(errno), aside);
	}
	return 0;
}

static int put_aside(const char *to, int64_t now, char aside[static PATH_MAX], struct fault *why)
{
	time_t t = (time_t)now;
	char stamp[32];
	struct tm tm;

	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", gmtime_r(&t, &tm));
	snprintf(aside, PATH_MAX, "%s.%s", to, stamp);
	fold_wal(to);
	return move_beside(to, aside, why);
}

static int replace(const char *part, const char *to, bool there, int64_t now, char aside[static PATH_MAX],
	struct fault *why)
{
	if (give_to_owner(part, to, why) < 0 || (there && put_aside(to, now, aside, why) < 0))
		return -1;
	if (rename(part, to) < 0)
		return fault_set(why, "%s cannot be made: %s; what was there is %s", to, strerror(errno),
			aside);
	return sync_folder(to, why);
}

int copy_restore(const char *from, const char *to, int64_t now, char aside[static PATH_MAX],
	struct fault *why)
{
	int lock = lock_books(to, why), rv = -1;
	char part[PATH_MAX];

	aside[0] = '\0';
	if (lock == -1)
		return -1;
	if (make_part(from, to, part, why) == 0)
		rv = replace(part, to, lock >= 0, now, aside, why);
	if (rv < 0)
		drop_part(part);
	if (lock >= 0)
		close(lock);
	return rv;
}
