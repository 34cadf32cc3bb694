/* SPDX-License-Identifier: GPL-2.0-or-later
 * memory_files.h - databases whose bytes are in the memory of this process
 *
 * SQLite's default way to files from here on. A history makes three thousand reads and writes of a page, and
 * nothing in it is about a disk. Locks and the index of the WAL are those of the VFS "unix-excl", on an empty
 * file of the same name, so that several connections of this process see each other as they would on a disk;
 * another process finds nothing.
 *
 * Threads  one
 * Failure  ends the program */
#ifndef TESTS_MODEL_MEMORY_FILES_H
#define TESTS_MODEL_MEMORY_FILES_H

struct memory_files;

/* From here on, and until it is freed. SQLite is shut down before and after: nothing is open. */
struct memory_files *memory_files_new(void);
void memory_files_free(struct memory_files *m);

/* `to` is what `from` is at this moment, with its WAL; the empty file on the disk is made, too. */
void memory_file_copy(struct memory_files *m, const char *from, const char *to);
/* No connection has it open. */
void memory_file_remove(struct memory_files *m, const char *path);

#endif
