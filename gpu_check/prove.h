/* SPDX-License-Identifier: GPL-2.0-or-later
 * prove.h - the whole check: which backends there should be, a helper for each, and what is to be said
 *
 * Loads no library of any vendor and does not change its process; what is dangerous happens in the helpers
 * (deadline.h).
 *
 * Threads  one */
#ifndef GPU_CHECK_PROVE_H
#define GPU_CHECK_PROVE_H
#include "gpu_check/verdict.h"
#include "lib/fault.h"

#define PROOF_BACKENDS_MAX 3	/* "auto" on a node with GPUs of every vendor */

/* A program that has to succeed in the environment of the task, behind the backends. */
struct site_check {
	char name[16];			/* "torch" */
	char path[256];
};

struct prove_request {
	const char *helper;		/* path of gpu-check-helper */
	/* a name that backend_find() knows, or "auto": by the vendors of the GPUs */
	const char *backend;
	enum level level;
	int64_t deadline_ms;		/* for everything together */
	const char *root;		/* "/", or a copy of a node's files */
	/* the node's GPUs, not those of a task: Slurm's variables are not looked at */
	bool all;
	const char *gpus;		/* "BUS-ID,...": the task's own; NULL = not known */
	int expected;			/* how many GPUs there are to be, instead of what Slurm says; -1 */
	char *const *environment;	/* of the task */
	const struct site_check *check;	/* borrowed; NULL: none */
	int checks;
};

struct proof_of_backend {
	/* of a backend, or of a site_check: then nothing but result and verdict is filled */
	char name[16];
	struct report report;
	struct helper_result result;
	struct expectation expectation;
	struct verdict verdict;
};

struct proof {
	enum outcome outcome;		/* the worst of all */
	int64_t us;
	int backends;
	struct proof_of_backend *of;	/* NULL: there was nothing to be proven */
	char why_nothing[VERDICT_TEXT_MAX];
};

/* 0 and *out filled, to be freed with proof_free(), whatever the verdicts are; or -1, *out untouched, errno
 * EINVAL (a request that makes no sense) or ENOMEM. */
int prove(const struct prove_request *q, struct proof *out, struct fault *why);

/* NULL is fine; errno is kept. */
void proof_free(struct proof *p);

#endif
