/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_project.h - the budget tree and its people
 *
 * All functions want an open transaction (ledger.h). Names are compared in lower case, as Slurm keeps its
 * accounts. */
#ifndef BUDGETD_LEDGER_PROJECT_H
#define BUDGETD_LEDGER_PROJECT_H
#include "budgetd/ledger.h"
#include "lib/budget.h"

#define USER_NAME_MAX 256

enum on_exhausted { ON_EXHAUSTED_INHERIT, ON_EXHAUSTED_FREE, ON_EXHAUSTED_REJECT, ON_EXHAUSTED_WAIT };

/* "free", "reject", "wait"; NULL for INHERIT. */
const char *on_exhausted_name(enum on_exhausted policy);
/* Of such a word; INHERIT for every other, NULL too. */
enum on_exhausted on_exhausted_of(const char *word);

/* Is a leaf divided among its users? What is set at a project holds for all below it that say nothing
 * else. */
enum user_shares { USER_SHARES_INHERIT, USER_SHARES_NO, USER_SHARES_YES };

/* "no", "yes"; NULL for INHERIT. */
const char *user_shares_name(enum user_shares u);

struct project {
	int64_t id, parent;		/* parent 0 = the root of a tree */
	char name[PROJECT_NAME_MAX];
	int64_t share;
	enum on_exhausted on_exhausted;
	amount_t credit;
	bool unmetered;			/* it bounds nothing, whatever allocations it has */
	enum user_shares user_shares;
	int64_t created_at;
};

/* The lower-case name, or -1 and EINVAL: empty, over 63 bytes, or a character that Slurm accounts do not
 * have. */
int project_name_normal(const char *name, char out[PROJECT_NAME_MAX], struct fault *why);

/* 1 found, 0 no such project (the text says so, errno ENOENT), -1. */
int project_find(struct ledger *l, const char *name, struct project *out, struct fault *why);
/* The last one of that name that was removed; 1, 0 without a text, -1. */
int project_find_removed(struct ledger *l, const char *name, struct project *out, struct fault *why);
int project_by_id(struct ledger *l, int64_t id, struct project *out, struct fault *why);

/* All live projects in depth-first order, children by name. `each` returning -1 stops the walk. */
typedef int (*project_fn)(const struct project *p, int depth, void *arg);
/* below 0 = all */
int project_walk(struct ledger *l, int64_t below, project_fn each, void *arg, struct fault *why);

/* "ai/vision". Cut at the front when longer. */
int project_path_text(struct ledger *l, int64_t id, char *buf, size_t size, struct fault *why);

/* p->id must be 0 and is set. EEXIST: the name is taken. EINVAL: the name, or the tree would be deeper than
 * BUDGET_DEPTH_MAX. */
int project_add(struct ledger *l, struct project *p, int64_t now, struct fault *why);
/* Write parent, share, on_exhausted, credit, unmetered and user_shares. EINVAL: it would be below itself, or
 * deeper than BUDGET_DEPTH_MAX. EEXIST: credit that is in use now would be taken away. */
int project_set(struct ledger *l, const struct project *p, struct fault *why);
/* Not while it has live children, open holds, running jobs or jobs that wait for money: the text counts them
 * (EEXIST). Its journal stays. */
int project_remove(struct ledger *l, int64_t id, int64_t now, struct fault *why);

enum member_role { ROLE_NOBODY, ROLE_MEMBER, ROLE_OWNER };

/* NOBODY removes */
int member_set(struct ledger *l, int64_t project, const char *user, enum member_role role, struct fault *why);
/* The role of `user` at the project itself. */
int member_role_here(struct ledger *l, int64_t project, const char *user, enum member_role *out,
	struct fault *why);
/* The best role of `user` at the project or at one above it. */
int member_role(struct ledger *l, int64_t project, const char *user, enum member_role *out,
	struct fault *why);
typedef int (*member_fn)(const char *user, enum member_role role, void *arg);
int member_walk(struct ledger *l, int64_t project, member_fn each, void *arg, struct fault *why);

#endif
