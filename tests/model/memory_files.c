/* SPDX-License-Identifier: GPL-2.0-or-later
 * memory_files.c - databases whose bytes are in the memory of this process (memory_files.h) */
#include "tests/model/memory_files.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bytes {
	struct bytes *next;
	uint8_t *at;
	sqlite3_int64 size, room;
	char name[128];
};

struct memory_files {
	sqlite3_vfs vfs;
	sqlite3_vfs *disk;
	struct bytes *first;
};

/* As SQLite has it open. Only a database has locks, and so a file on the disk; its WAL has none. */
struct handle {
	sqlite3_file base;
	struct bytes *bytes;
	sqlite3_file *locks; /* behind this struct, or NULL */
};

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "files in memory: %s\n", what);
	abort();
}

/* --- the bytes ---------------------------------------------------------------------------------- */

static struct bytes *find(struct memory_files *m, const char *name)
{
	struct bytes *b = m->first;

	while (b && strcmp(b->name, name) != 0)
		b = b->next;
	return b;
}

static struct bytes *find_or_make(struct memory_files *m, const char *name)
{
	struct bytes *b = find(m, name);

	if (b)
		return b;
	b = calloc(1, sizeof(*b));
	must(b && strlen(name) < sizeof(b->name), name);
	strcpy(b->name, name);
	b->next = m->first;
	return m->first = b;
}

static void drop(struct memory_files *m, const char *name)
{
	for (struct bytes **b = &m->first; *b; b = &(*b)->next)
		if (strcmp((*b)->name, name) == 0) {
			struct bytes *gone = *b;

			*b = gone->next;
			free(gone->at);
			free(gone);
			return;
		}
}

static void resize(struct bytes *b, sqlite3_int64 size)
{
	if (size > b->room) {
		b->room = size + size / 2 + 65536;
		b->at = realloc(b->at, (size_t)b->room);
		must(b->at != NULL, "out of memory");
	}
	if (size > b->size)
		memset(b->at + b->size, 0, (size_t)(size - b->size));
	b->size = size;
}

/* --- an open file ------------------------------------------------------------------------------- */

static struct bytes *of(sqlite3_file *f)
{
	return ((struct handle *)f)->bytes;
}

static sqlite3_file *locks(sqlite3_file *f)
{
	return ((struct handle *)f)->locks;
}

static int close_file(sqlite3_file *f)
{
	return locks(f) ? locks(f)->pMethods->xClose(locks(f)) : SQLITE_OK;
}

static int read_file(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	const struct bytes *b = of(f);
	sqlite3_int64 there = b->size > at ? b->size - at : 0;

	if (there >= n) {
		memcpy(to, b->at + at, (size_t)n);
		return SQLITE_OK;
	}
	memset(to, 0, (size_t)n);
	if (there)
		memcpy(to, b->at + at, (size_t)there);
	return SQLITE_IOERR_SHORT_READ;
}

static int write_file(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
	struct bytes *b = of(f);

	if (at + n > b->size)
		resize(b, at + n);
	memcpy(b->at + at, from, (size_t)n);
	return SQLITE_OK;
}

static int truncate_file(sqlite3_file *f, sqlite3_int64 size)
{
	resize(of(f), size);
	return SQLITE_OK;
}

static int sync_file(sqlite3_file *f, int flags)
{
	(void)f;
	(void)flags;
	return SQLITE_OK;
}

static int size_of_file(sqlite3_file *f, sqlite3_int64 *size)
{
	*size = of(f)->size;
	return SQLITE_OK;
}

static int lock(sqlite3_file *f, int level)
{
	return locks(f) ? locks(f)->pMethods->xLock(locks(f), level) : SQLITE_OK;
}

static int unlock(sqlite3_file *f, int level)
{
	return locks(f) ? locks(f)->pMethods->xUnlock(locks(f), level) : SQLITE_OK;
}

static int check_lock(sqlite3_file *f, int *reserved)
{
	*reserved = 0;
	return locks(f) ? locks(f)->pMethods->xCheckReservedLock(locks(f), reserved) : SQLITE_OK;
}

static int control(sqlite3_file *f, int op, void *arg)
{
	(void)f;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int sector(sqlite3_file *f)
{
	(void)f;
	return 4096;
}

static int characteristics(sqlite3_file *f)
{
	(void)f;
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
	return locks(f)->pMethods->xShmMap(locks(f), page, size, extend, out);
}

static int shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
	return locks(f)->pMethods->xShmLock(locks(f), offset, n, flags);
}

static void shm_barrier(sqlite3_file *f)
{
	locks(f)->pMethods->xShmBarrier(locks(f));
}

static int shm_unmap(sqlite3_file *f, int remove)
{
	return locks(f)->pMethods->xShmUnmap(locks(f), remove);
}

static const sqlite3_io_methods methods = {2, close_file, read_file, write_file, truncate_file, sync_file,
	size_of_file, lock, unlock, check_lock, control, sector, characteristics, shm_map, shm_lock,
	shm_barrier, shm_unmap, NULL, NULL};

/* --- names -------------------------------------------------------------------------------------- */

/* Of the three kinds that a database in WAL mode has; what is temporary goes to the disk, if ever there is
 * any. */
static int open_file(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *f, int flags, int *out)
{
	struct memory_files *m = vfs->pAppData;
	struct handle *h = (struct handle *)f;

	if (!name || !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)))
		return m->disk->xOpen(m->disk, name, f, flags, out);
	*h = (struct handle){0};
	if (flags & SQLITE_OPEN_MAIN_DB) {
		int rc;

		h->locks = (sqlite3_file *)(h + 1);
		rc = m->disk->xOpen(m->disk, name, h->locks, flags, out);
		if (rc != SQLITE_OK)
			return rc;
	} else if (out) {
		*out = flags;
	}
	h->bytes = find_or_make(m, name);
	h->base.pMethods = &methods;
	return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync)
{
	struct memory_files *m = vfs->pAppData;

	if (!find(m, name))
		return m->disk->xDelete(m->disk, name, sync);
	drop(m, name);
	return SQLITE_OK;
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	struct memory_files *m = vfs->pAppData;
	const struct bytes *b = find(m, name);

	*out = b && (flags != SQLITE_ACCESS_EXISTS || b->size > 0);
	return SQLITE_OK;
}

struct memory_files *memory_files_new(void)
{
	struct memory_files *m = calloc(1, sizeof(*m));

	must(m && sqlite3_initialize() == SQLITE_OK, "starting SQLite");
	m->disk = sqlite3_vfs_find("unix-excl");
	must(m->disk != NULL, "SQLite has no VFS unix-excl");
	m->vfs = *m->disk;
	m->vfs.pNext = NULL;
	m->vfs.zName = "memory-files";
	m->vfs.szOsFile = (int)sizeof(struct handle) + m->disk->szOsFile;
	m->vfs.pAppData = m;
	m->vfs.xOpen = open_file;
	m->vfs.xDelete = delete_file;
	m->vfs.xAccess = access_file;
	must(sqlite3_vfs_register(&m->vfs, 1) == SQLITE_OK, "no VFS");
	return m;
}

void memory_files_free(struct memory_files *m)
{
	while (m->first)
		drop(m, m->first->name);
	sqlite3_vfs_unregister(&m->vfs);
	sqlite3_shutdown();
	free(m);
}

/* --- whole files -------------------------------------------------------------------------------- */

static void copy_bytes(struct memory_files *m, const char *from, const char *to)
{
	const struct bytes *a = find(m, from);
	struct bytes *b = a ? find_or_make(m, to) : NULL;

	if (!b)
		return;
	resize(b, a->size);
	if (a->size)
		memcpy(b->at, a->at, (size_t)a->size);
}

void memory_file_copy(struct memory_files *m, const char *from, const char *to)
{
	char a[128], b[128];
	FILE *f = fopen(to, "wx");

	must(f && fclose(f) == 0, to);
	copy_bytes(m, from, to);
	snprintf(a, sizeof(a), "%s-wal", from);
	snprintf(b, sizeof(b), "%s-wal", to);
	copy_bytes(m, a, b);
}

void memory_file_remove(struct memory_files *m, const char *path)
{
	char wal[128];

	snprintf(wal, sizeof(wal), "%s-wal", path);
	drop(m, wal);
	drop(m, path);
	unlink(path);
}
