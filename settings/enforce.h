/* SPDX-License-Identifier: GPL-2.0-or-later
 * enforce.h - how seriously a partition takes the budget: on, warn (shadow mode) or off
 *
 * on    the verdict is carried out
 * warn  it is made, told, and written down for `budgetctl shadow report`; nothing in Slurm is changed
 * off   nobody is asked
 * `enforce` holds for the cluster, `enforce_partitions` ("debug=off gpu=warn") for the partitions that it
 * names. A job of several partitions is taken as the strictest of them takes it.
 *
 * Threads  pure functions: any thread */
#ifndef SETTINGS_ENFORCE_H
#define SETTINGS_ENFORCE_H
#include <stdbool.h>
#include <stddef.h>
#include "settings/settings.h"

/* `partitions` is "a,b"; NULL: the cluster's setting. */
enum enforcement settings_enforcement(const struct settings *s, const char *partitions);

/* Is any partition, or the cluster, in shadow mode? */
bool settings_shadow_in_use(const struct settings *s);

/* "on", "warn", "off"; static. */
const char *settings_enforcement_name(enum enforcement e);

/* The next pair of an enforce_partitions, from *cursor on: its partition, not ended by a NUL, and the word
 * behind it. False at the end. */
bool settings_enforce_next(const char **cursor, const char **partition, size_t *length,
	enum enforcement *word);

/* Is this a list of partition=word? 0; or -1, EINVAL, `why` names what is wrong. */
int settings_enforce_check(const char *enforce_partitions, struct fault *why);

#endif
