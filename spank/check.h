/* SPDX-License-Identifier: GPL-2.0-or-later
 * check.h - GPUs are proven in the environment of a task before its program starts: without a word of SPANK
 *
 * site     the words of plugstack.conf; order: what they and the user's make for one step
 * once     for each set of GPUs of a step on a node (proofs.h): the tasks that share them share the proof; a
 *          set is what Slurm's and the vendors' variables name, and which device files the task may use
 * ends     policy optional: nobody, all is only told; required: a task whose GPUs were looked at and do not
 *          work; strict: that, and one whose GPUs could not be looked at
 *
 * No library of any vendor is loaded here, and nothing here can hang: see gpu_check/deadline.h.
 *
 * Threads  an object belongs to its caller; else pure functions, but check_task, which is called by each task
 * once */
#ifndef SPANK_CHECK_H
#define SPANK_CHECK_H
#include "gpu_check/prove.h"
#include "spank/proofs.h"

enum check_policy { CHECK_OPTIONAL, CHECK_REQUIRED, CHECK_STRICT, CHECK_POLICIES };

/* Where: in the hook task_init; or in a program that stands before the task's own (Slurm 23.11), behind all
 * hooks, TaskProlog and containers. */
enum check_at { CHECK_AT_AUTO, CHECK_AT_HOOK, CHECK_AT_PROGRAM, CHECK_PLACES };

#define SITE_CHECKS_MAX 8
#define CHECK_WORDS_MAX 128	/* of an option, with the NUL */

struct check_site {
	char words[CHECK_WORDS_MAX];	/* when the user says nothing */
	char backend[16];		/* the same */
	enum level least;		/* a user may not choose less */
	enum check_policy policy;
	enum check_at at;
	int64_t deadline_ms;
	char root[256], helper[256];
	int checks;
	struct site_check check[SITE_CHECKS_MAX];
};

/* Of one step. No pointers: it is copied onto the page of the proofs. */
struct check_order {
	enum level level;
	enum check_policy policy;
	int64_t deadline_ms;
	char backend[16], root[256], helper[256];
	char step[32];			/* "12.0", for logs */
	int checks;
	struct site_check check[SITE_CHECKS_MAX];
};

void check_site_init(struct check_site *s);

/* A word of plugstack.conf: gpu_check=WORDS, gpu_backend=NAME, gpu_check_least=LEVEL, gpu_check_policy=...,
 * gpu_check_at=auto|hook|program, gpu_check_deadline=SECONDS, gpu_check_helper=PATH, gpu_root=DIR,
 * check_NAME=PATH (of a program that needs no arguments: Slurm splits the line at blanks). 1: it is one of
 * these; 0:
 * it is none; or -1 and EINVAL, *s untouched. */
int check_site_argument(struct check_site *s, const char *argument, struct fault *why);

/* WORDS are a level, names of the site's checks, or both: "kernel,torch"; names alone leave the level to the
 * site. NULL: the site's. 0; or -1 and EINVAL, *out untouched, `why` with what is allowed. */
int check_order_make(const struct check_site *s, const char *words, const char *backend,
	struct check_order *out, struct fault *why);

/* Nothing is to be done. */
bool check_order_empty(const struct check_order *o);

/* For task `task` of the step with this page (its extra is the order): prove, or wait for the one who does.
 * 0: its program may start; -1: it must not. *own: this task proved, result->json is its to be logged. */
int check_task(struct proofs *p, int task, char *const *environment, struct proof_result *result, bool *own);

/* Of the program that proves before the task's own, beside the helper. Returns buf. */
#define CHECK_PROGRAM_MAX 300
const char *check_program(const struct check_site *s, char buf[CHECK_PROGRAM_MAX]);

/* Set in the task: outcome_name[] of its proof. */
#define CHECK_VARIABLE "GPUBUDGET_GPU_CHECK"

/* The proof as one line of JSON. Returns buf. */
const char *check_json(
	const struct check_order *o, int task, const struct proof *p, char buf[PROOF_JSON_MAX]);

/* Is `line` such a proof of step `step` ("7.0")? The page on which it stands is the job's to write, too: what
 * root logs has to be one flat object about that step, with each of the first keys once. All it says else are
 * the words of the job. */
bool check_json_is_of(const char *line, const char *step);

/* The one of whose verdict people are told: the worst, the first of several. NULL: there is none. */
const struct proof_of_backend *proof_worst(const struct proof *p);

#endif
