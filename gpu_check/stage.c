/* SPDX-License-Identifier: GPL-2.0-or-later
 * stage.c - the tables of stage.h */
#include "gpu_check/stage.h"
#include <string.h>

const struct stage_row stage_table[STAGES] = {
	[STAGE_LOAD]      = { "load",      "loading its library",                LEVEL_ENUM,      false },
	[STAGE_INIT]      = { "init",      "initialising",                       LEVEL_ENUM,      false },
	[STAGE_COUNT]     = { "count",     "counting its devices",               LEVEL_ENUM,      false },
	[STAGE_IDENTITY]  = { "identity",  "asking which device that is",        LEVEL_ENUM,      true },
	[STAGE_CONTEXT]   = { "context",   "preparing the device",               LEVEL_COPY,      true },
	[STAGE_FILL]      = { "fill",      "filling memory on the device",       LEVEL_COPY,      true },
	[STAGE_COPY]      = { "copy",      "copying to the device and back",     LEVEL_COPY,      true },
	[STAGE_KERNEL]    = { "kernel",    "running a kernel on the device",     LEVEL_KERNEL,    true },
	[STAGE_BANDWIDTH] = { "bandwidth", "timing large copies",                LEVEL_BANDWIDTH, true },
};

const char *const level_name[LEVELS] = { "off", "enum", "copy", "kernel", "bandwidth" };

int level_of(const char *word)
{
	if (!strcmp(word, "auto"))
		return LEVEL_PRESET;
	for (int i = 0; i < LEVELS; i++)
		if (!strcmp(word, level_name[i]))
			return i;
	return -1;
}

int stage_of(const char *word)
{
	for (int i = 0; i < STAGES; i++)
		if (!strcmp(word, stage_table[i].name))
			return i;
	return -1;
}
