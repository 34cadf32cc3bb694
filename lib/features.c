/* SPDX-License-Identifier: GPL-2.0-or-later
 * features.c - does a node have what `sbatch --constraint` asks for. */
#include "lib/features.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define NOT_READ_HERE "[](){}*,!" /* what makes more of it than a list */

static bool has_one(const char *has, const char *name, size_t length)
{
	while (has && *has) {
		size_t n = strcspn(has, ",");

		if (n == length && !strncmp(has, name, n))
			return true;
		has += n + (has[n] == ',');
	}
	return false;
}

enum features_met features_met(const char *wanted, const char *has)
{
	bool any = wanted && strchr(wanted, '|');

	if (!wanted || !*wanted)
		return FEATURES_YES;
	if (wanted[strcspn(wanted, NOT_READ_HERE)] || (any && strchr(wanted, '&')))
		return FEATURES_UNKNOWN;
	for (const char *at = wanted; *at;) {
		size_t n = strcspn(at, "&|");

		if (n == 0)
			return FEATURES_UNKNOWN;
		if (has_one(has, at, n) == any)
			return any ? FEATURES_YES : FEATURES_NO;
		at += n + (at[n] != '\0');
	}
	return any ? FEATURES_NO : FEATURES_YES;
}
