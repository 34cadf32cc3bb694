/* SPDX-License-Identifier: GPL-2.0-or-later
 * evidence.h - what can be wrong with a node's GPUs, by the kind of evidence, and what is done about each
 *
 * Evidence is what root reads itself: registers of the bus, the kernel's log and counters, versions, and what
 * the driver's management library says in a process of root's own. What ran in a task proves nothing about
 * the node: a user's libraries and variables may be what is broken there.
 *
 * Threads  static table: any thread */
#ifndef GPU_CHECK_EVIDENCE_H
#define GPU_CHECK_EVIDENCE_H

enum evidence {
	EVIDENCE_GPU_MISSING,
	EVIDENCE_LINK_WIDTH,
	EVIDENCE_LINK_SPEED,
	EVIDENCE_AER_FATAL,
	EVIDENCE_AER_NONFATAL,
	EVIDENCE_AER_CORRECTED,
	EVIDENCE_GPU_LOST,
	EVIDENCE_GPU_RESET,
	EVIDENCE_GPU_MEMORY,
	EVIDENCE_GPU_ERROR,
	EVIDENCE_THROTTLE,
	EVIDENCE_CLOCK,
	EVIDENCE_IMAGE,
	EVIDENCE_UNREAD,
	EVIDENCES
};

/* From the mildest on, so that the worst of several is the largest. */
enum policy { POLICY_OFF, POLICY_WARN, POLICY_FAIL, POLICY_DRAIN, POLICIES };

extern const char *const policy_name[POLICIES]; /* "off", "warn", "fail", "drain" */

struct evidence_row {
	const char *name;   /* "link-width" */
	enum policy policy; /* where the site's file says nothing */
	const char *about;  /* what it is, for the manual */
	const char *cause;  /* a sentence without its full stop */
	const char *advice; /* what to do next, the same */
};

extern const struct evidence_row evidence_table[EVIDENCES];

/* Evidence of a name; -1: there is none. */
int evidence_of(const char *name);

/* Policy of a name; -1: there is none. */
int policy_of(const char *name);

#endif
