/* SPDX-License-Identifier: GPL-2.0-or-later
 * library.h - a vendor's library, loaded by name, and the addresses of what is used of it
 *
 * Every address is looked up before anything is called: an emulation that lacks one function would else end
 * the process with a NULL pointer in the middle of the proof.
 *
 * Threads  one */
#ifndef GPU_CHECK_LIBRARY_H
#define GPU_CHECK_LIBRARY_H
#include <stdbool.h>
#include <stddef.h>
#include "gpu_check/cause.h"

struct library {
	void *handle;
	char path[256];			/* the file, as the loader has it */
};

/* One function: where its address goes, counted from the start of the backend's state. */
struct symbol_row {
	const char *name;
	const char *older;		/* another name of the same function in older versions; NULL */
	size_t at;
	bool optional;			/* NULL stays there when it is missing */
};

/* Load the first of `names` that can be loaded. 0; or -1 with the cause (no library, or one that cannot be
 * loaded) and a text: that of the first one that is there and broken, else of the last. It is never unloaded:
 * drivers do not survive that. */
int library_open(struct library *l, const char *const *names, enum cause *cause, char *text, size_t size);

/* Fill the addresses of `rows` in `state`. 0; or -1 with the name of the first one that is missing in
 * *missing. */
int library_symbols(const struct library *l, const struct symbol_row *rows, size_t n, void *state,
	const char **missing);

#endif
