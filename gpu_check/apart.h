/* SPDX-License-Identifier: GPL-2.0-or-later
 * apart.h - a function in a process of its own that is killed at a deadline: calls of a vendor's library hang
 * where its driver does, and what hangs inside the kernel is left behind
 *
 * Trust    what it finds goes through memory that it shares with its parent, and the library may write there:
 *          numbers to be checked, no pointers; texts through apart_text.
 * Threads  one; the caller has no other threads */
#ifndef GPU_CHECK_APART_H
#define GPU_CHECK_APART_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct apart {
	bool ended;	/* by itself; else it was killed */
	int status;	/* as of waitpid */
};

/* Memory of `size` bytes, all 0, for `work`; NULL and errno. apart_free: NULL is fine. */
void *apart_new(size_t size);
void apart_free(void *shared, size_t size);

/* `work` in a child, whose output goes nowhere. 0 and *out, however it ended; or -1 and errno: there is no
 * process for it. */
int apart_run(void (*work)(void *shared, const void *question), void *shared, const void *question,
	int64_t deadline_ms, struct apart *out);

/* A text that a child wrote: ends within `size`, what is not printable is '?'. Returns text. */
const char *apart_text(char *text, size_t size);

#endif
