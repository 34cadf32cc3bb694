/* SPDX-License-Identifier: GPL-2.0-or-later
 * internal.h - what the files of this folder share; nobody else includes it
 *
 * Strings of a table are in one block: the same filling function runs twice over Slurm's records, first with
 * `at` NULL to measure, then to copy. Twenty mallocs a job would cost more than the rest of a pass. */
#ifndef SLURM_LINK_INTERNAL_H
#define SLURM_LINK_INTERNAL_H
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include "slurm_link/link.h"

struct dbd;

struct slurm_link {
	char cluster[SLURM_CLUSTER_MAX];	/* "" until slurmctld was asked */
	struct dbd *dbd;			/* NULL until the first question about runs */
	atomic_int_least64_t updates_us;	/* spent in updates */
	atomic_bool away;		/* the last update did not reach slurmctld */
};

/* Turn errno, as libslurm left it, into ours (link.h) with Slurm's own words: "<what>: <words>". Returns
 * -1. */
int slurm_link_fail(struct fault *why, const char *what);

/* "COMPLETED" for a state with or without flags; static, "UNKNOWN" for one that a newer Slurm invented. */
const char *slurm_link_state_name(uint32_t state);

/* Slurm's minutes as job_view.h has time limits. */
int64_t slurm_link_minutes(uint32_t minutes);

/* Close slurmdbd's connection and forget its names. NULL is fine. */
void dbd_close(struct dbd *d);

/* The open connection to slurmdbd, opened when there is none; borrowed. -1: ENOTCONN. */
int dbd_connection(struct slurm_link *l, void **out, struct fault *why);
/* A connection that failed is not used again: it is unknown what is still on its way. */
void dbd_drop(struct slurm_link *l);
/* The link's own cluster is known from here on: a slurmdbd may serve several. */
int dbd_own_cluster(struct slurm_link *l, struct fault *why);

struct strings {
	char *at;		/* NULL: measure only */
	size_t used;
};

/* Keep a copy; NULL for NULL and "", and while measuring. */
static inline const char *strings_keep(struct strings *s, const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;
	char *to = s->at ? s->at + s->used : NULL;

	if (size <= 1)
		return NULL;
	s->used += size;
	return to ? memcpy(to, text, size) : NULL;
}

#endif
