/* SPDX-License-Identifier: GPL-2.0-or-later
 * cause.h - why a backend is not proven: one word for programs, one sentence for people, and what to do
 *
 * Threads  static table: any thread */
#ifndef GPU_CHECK_CAUSE_H
#define GPU_CHECK_CAUSE_H

enum cause {
	CAUSE_NONE,			/* proven */
	/* what the backend itself says */
	CAUSE_NO_LIBRARY,
	CAUSE_BAD_LIBRARY,
	CAUSE_SYMBOL,
	CAUSE_STUB_LIBRARY,
	CAUSE_NO_DEVICE,
	CAUSE_NO_DRIVER,
	CAUSE_NO_ICD,
	CAUSE_MISMATCH,
	CAUSE_FABRIC,
	CAUSE_MPS,
	CAUSE_BUSY,
	CAUSE_NO_MEMORY,
	CAUSE_FORBIDDEN,
	CAUSE_LOST,
	CAUSE_COMPILER,
	CAUSE_KERNEL_UNSUITED,
	CAUSE_API,
	/* what was read back */
	CAUSE_WRONG_FILL,
	CAUSE_WRONG_COPY,
	CAUSE_WRONG_KERNEL,
	CAUSE_NO_KERNEL,
	/* what the helper's parent saw */
	CAUSE_HANG,
	CAUSE_HANG_KERNEL,
	CAUSE_CRASH,
	CAUSE_SILENT,
	CAUSE_GARBAGE,
	CAUSE_NO_HELPER,
	CAUSE_SITE_CHECK,
	/* what does not agree with the allocation and the node */
	CAUSE_CPU,
	CAUSE_FEWER,
	CAUSE_MORE,
	CAUSE_NARROWED,
	CAUSE_HIDDEN,
	CAUSE_NOT_ON_BUS,
	CAUSE_OTHER_GPU,
	CAUSE_UNKNOWN_KIND,
	CAUSES
};

struct cause_row {
	const char *name;		/* "no-library" */
	const char *text;		/* the cause, as a sentence without its full stop */
	const char *advice;		/* what to do next, the same */
};

extern const struct cause_row cause_table[CAUSES];

/* Cause of a name; -1: there is none. */
int cause_of(const char *name);

#endif
