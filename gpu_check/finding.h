/* SPDX-License-Identifier: GPL-2.0-or-later
 * finding.h - what was found wrong with a node, and how it is told
 *
 * Threads  a list belongs to its caller */
#ifndef GPU_CHECK_FINDING_H
#define GPU_CHECK_FINDING_H
#include <stdbool.h>
#include "gpu_check/evidence.h"

#define FINDINGS_MAX        128 /* what is behind them is counted only */
#define FINDING_SUBJECT_MAX 48
#define FINDING_TEXT_MAX    512

struct finding {
	enum evidence kind;
	enum policy at_most;               /* evidence that is not sure does not go further than this */
	enum policy policy;                /* what is done; by findings_judge */
	char subject[FINDING_SUBJECT_MAX]; /* bus id, or what the image says another thing about */
	char text[FINDING_TEXT_MAX];       /* the evidence, with its numbers; printable */
};

struct findings {
	int count, more;
	struct finding row[FINDINGS_MAX];
};

/* One more; where there is one of this kind about the subject already, the text is put behind it. What is not
 * printable in it becomes '?'. */
void findings_add(struct findings *f, enum evidence kind, enum policy at_most, const char *subject,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Give each its policy: `of` by evidence; drain is fail where `may_drain` is false, what is off goes away.
 * The worst that is left; POLICY_OFF: there is none. The worst come first, then by kind and subject. */
enum policy findings_judge(struct findings *f, const enum policy of[static EVIDENCES], bool may_drain);

/* The sentence for people: "DRAIN link-width 0000:c1:00.0: EVIDENCE. Cause: CAUSE. To do: ADVICE." */
#define FINDING_LINE_MAX (FINDING_TEXT_MAX + 768)
const char *finding_line(const struct finding *f, char buf[static FINDING_LINE_MAX]);

/* Slurm's reason: "gpubudget: gpu-check: link-width 0000:c1:00.0: EVIDENCE", and how many more there are of
 * those that drain; cut. "" where none drains. */
#define FINDING_REASON_MAX 256
const char *findings_reason(const struct findings *f, char buf[static FINDING_REASON_MAX]);

#endif
