/* SPDX-License-Identifier: GPL-2.0-or-later
 * verdict.h - the rule: from what a helper reported, how it ended and what was expected, to one word, one
 * cause and the evidence
 *
 * The first of these that holds is the cause:
 *   1. the helper hung, crashed, was silent or wrote garbage
 *   2. a stage failed (not where a variable hides all devices on purpose)
 *   3. a processor answered where a GPU was asked for
 *   4. a device is not on the node's bus, or the task's own ones are missing
 *   5. the numbers of devices do not agree: fewer than given is a failure, as is none at all; more than
 *      given, or fewer by a variable that the user set, is worth a warning
 *
 * Threads  pure functions: any thread */
#ifndef GPU_CHECK_VERDICT_H
#define GPU_CHECK_VERDICT_H
#include "gpu_check/allocation.h"
#include "gpu_check/deadline.h"
#include "gpu_check/report.h"

enum outcome { OUTCOME_PROVEN, OUTCOME_WARNED, OUTCOME_FAILED, OUTCOME_UNCHECKED, OUTCOMES };

extern const char *const outcome_name[OUTCOMES];	/* "ok", "warn", "fail", "unchecked" */

#define VERDICT_TEXT_MAX 768

struct expectation {
	const char *backend;		/* the name that was asked for */
	enum level level;
	bool any_kind;			/* a processor will do */
	bool judge_allocated;		/* hold the number of devices against allocation.allocated */
	bool by_hand;			/* that number is not Slurm's: somebody said so */
	struct allocation allocation;
	/* GPUs of this vendor on the node, when all of them are to be seen; -1 */
	int on_bus;
	bool bus_known;			/* the node has a PCI bus: devices have to be on it */
	const bool *is_on_bus;		/* by device of the report */
	const char (*own)[PCI_TEXT_MAX];	/* bus ids that the task has to see; NULL */
	int own_count;
};

struct verdict {
	enum outcome outcome;
	enum cause cause;
	char evidence[VERDICT_TEXT_MAX];	/* what happened, with its numbers; printable */
};

/* `started` false: the helper could not be started, `why` says why, report and result are not looked at. */
void verdict_make(const struct report *r, const struct helper_result *h, const struct expectation *e,
	bool started, const char *why, struct verdict *out);

/* Of a program of the site's own, `path`, that was run in the place of a helper. */
void verdict_of_program(const struct helper_result *h, const char *path, bool started, const char *why,
	struct verdict *out);

/* The sentence for people: "FAIL cuda: EVIDENCE. CAUSE. ADVICE." */
#define VERDICT_LINE_MAX (VERDICT_TEXT_MAX + 640)
const char *verdict_line(const struct verdict *v, const char *backend, char buf[VERDICT_LINE_MAX]);

/* Devices by their bus ids, where all of them have one, else all rows: tiles of a card are one. */
int report_cards(const struct report *r);

#endif
