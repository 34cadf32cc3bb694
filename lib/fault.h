/* SPDX-License-Identifier: GPL-2.0-or-later
 * fault.h - the sentence that tells a person why a call failed
 *
 * A function that can fail returns -1, sets errno for the program and a text here for the human.
 * The first text wins: callers add nothing and simply return -1.
 *
 * Threads  a struct fault belongs to its caller; no shared state */
#ifndef LIB_FAULT_H
#define LIB_FAULT_H

#define FAULT_TEXT_MAX 1024

struct fault {
	char text[FAULT_TEXT_MAX];	/* "" = nothing went wrong yet */
};

/* Keep the first text. `why` may be NULL. Longer texts are cut. errno is kept. Returns -1 always, so that
 * an error path is one line: return fault_set(why, "..."). */
int fault_set(struct fault *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same, and errno = err. */
int fault_errno(struct fault *why, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
