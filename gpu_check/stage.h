/* SPDX-License-Identifier: GPL-2.0-or-later
 * stage.h - the stages in which a backend is proven, and how far each level goes
 *
 * Return codes are no proof: drivers that execute nothing answer "success" to everything, and one that
 * emulates a GPU on the processor passes every copy. Only a value that a launched kernel computed, read back,
 * proves that the GPU works; so that is the preset level.
 *
 * Threads  pure functions, static tables: any thread */
#ifndef GPU_CHECK_STAGE_H
#define GPU_CHECK_STAGE_H
#include <stdbool.h>

enum level { LEVEL_OFF, LEVEL_ENUM, LEVEL_COPY, LEVEL_KERNEL, LEVEL_BANDWIDTH, LEVELS };
#define LEVEL_PRESET LEVEL_KERNEL	/* what "auto" is */

/* In this order; from STAGE_IDENTITY on once for each device. */
enum stage {
	STAGE_LOAD,
	STAGE_INIT,
	STAGE_COUNT,
	STAGE_IDENTITY,
	STAGE_CONTEXT,
	STAGE_FILL,
	STAGE_COPY,
	STAGE_KERNEL,
	STAGE_BANDWIDTH,
	STAGES
};

struct stage_row {
	const char *name;		/* in the protocol, in JSON and in tables */
	const char *doing;		/* "while it ..." */
	enum level from;		/* the lowest level that has it */
	bool per_device;
};

extern const struct stage_row stage_table[STAGES];
extern const char *const level_name[LEVELS];

/* Level of a word; "auto" is LEVEL_PRESET. -1: there is no such level. */
int level_of(const char *word);

/* Stage of a word; -1: there is none. */
int stage_of(const char *word);

#endif
