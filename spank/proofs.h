/* SPDX-License-Identifier: GPL-2.0-or-later
 * proofs.h - the page on which tasks of a node that have the same GPUs share one proof
 *
 * Made by slurmstepd before it forks the tasks, and handed on as a file in memory where a program that was
 * executed since has to have it. The first task with a set of GPUs owns its proof: it proves, and puts the
 * result; the others wait for that. A task that dies meanwhile leaves the others with a deadline, never with
 * a lock.
 *
 * Threads  any number of processes; each call is complete in itself */
#ifndef SPANK_PROOFS_H
#define SPANK_PROOFS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "gpu_check/verdict.h"

#define PROOF_KEY_MAX  1024	/* bytes of the text that names a set of GPUs, with the NUL */
#define PROOF_SAY_MAX  (VERDICT_LINE_MAX + 64)
#define PROOF_JSON_MAX 3072

struct proof_result {
	enum outcome outcome;
	bool ends_task;			/* the program must not start */
	char say[PROOF_SAY_MAX];	/* the line for people; "" = nothing to say */
	char json[PROOF_JSON_MAX];	/* one line for logs; "" = none */
};

struct proofs;

/* For at most `sets` sets of GPUs, with a copy of `extra` (`size` bytes) for whoever opens it. NULL and
 * errno. proofs_free in each process; NULL is fine. */
struct proofs *proofs_new(int sets, const void *extra, size_t size);
void proofs_free(struct proofs *p);

/* The file, close-on-exec, and the same page in a program that inherited it. NULL and errno, EINVAL: it is no
 * such page, or its extra has another size. Takes `fd`. */
int proofs_fd(const struct proofs *p);
struct proofs *proofs_open(int fd, size_t size);
const void *proofs_extra(const struct proofs *p);

/* The slot of the set that `key` names. *own: nobody had it before; then proofs_put has to follow. -1 and
 * errno ENOSPC, ENAMETOOLONG, ETIMEDOUT: there is no slot to be had, the caller proves for itself. */
int proofs_claim(struct proofs *p, const char *key, bool *own);
void proofs_put(struct proofs *p, int slot, const struct proof_result *r);

/* The n-th result that was put, counted from 0. false: there are no more. */
bool proofs_put_already(const struct proofs *p, int n, struct proof_result *out);

/* 0 and *out; or -1 and ETIMEDOUT: the owner has not told. */
int proofs_wait(struct proofs *p, int slot, int64_t deadline_ms, struct proof_result *out);

#endif
