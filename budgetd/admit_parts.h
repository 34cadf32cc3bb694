/* SPDX-License-Identifier: GPL-2.0-or-later
 * admit_parts.h - what a submission, a change and the loop share of one decision; private to admit*.c and
 * controller_*.c
 *
 * Threads  any; all but set_aside_add and path_set_aside read the books or the settings only */
#ifndef BUDGETD_ADMIT_PARTS_H
#define BUDGETD_ADMIT_PARTS_H
#include "budgetd/admit.h"

/* *v becomes a refusal with `text`, and nothing else. */
void admit_refuse(struct verdict *v, const char *text);

/* The question for lib/admission.h; borrows from `p`. */
struct admission_question admit_ask(const struct budgetd *b, const struct question *q, const struct priced *p,
	const struct path *path, int64_t now);
void admit_decide(const struct admission_question *aq, const struct priced *p, const struct path *path,
	struct admission *out);

/* Where jobs wait, the first of those that do is not overtaken by a smaller one: this one stands behind it,
 * until a pass has put both into their order. `self` (0 = none) is not in its own way. */
int admit_look_in_front(struct ledger *l, const struct path *path, int64_t uid, int64_t self,
	struct admission_question *aq, struct fault *why);

/* Units that are spoken for and not in the books: the components of a het job that were looked at before this
 * one. In memory only. NULL is nothing. */
void path_set_aside(struct path *path, const struct set_aside *aside);
/* EINVAL: too many projects; EOVERFLOW */
int set_aside_add(struct set_aside *aside, const struct path *path, amount_t units, struct fault *why);

#endif
