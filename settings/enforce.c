/* SPDX-License-Identifier: GPL-2.0-or-later
 * enforce.c - how seriously a partition takes the budget. */
#include "settings/enforce.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define SEPARATORS ", \t"

static const char *const words[] = { [ENFORCE_ON] = "on", [ENFORCE_WARN] = "warn", [ENFORCE_OFF] = "off" };

/* The next partition=word of a list. false at the end; *word is -1 for what is none of the three. */
static bool next_pair(const char **cursor, const char **name, size_t *length, int *word)
{
	size_t n, equals;

	*cursor += strspn(*cursor, SEPARATORS);
	n = strcspn(*cursor, SEPARATORS);
	if (n == 0)
		return false;
	equals = strcspn(*cursor, "=" SEPARATORS);
	*name = *cursor;
	*length = equals;
	*word = -1;
	for (int i = 0; i < 3; i++)
		if (equals > 0 && equals < n && n - equals - 1 == strlen(words[i]) &&
			memcmp(*cursor + equals + 1, words[i], n - equals - 1) == 0)
			*word = i;
	*cursor += n;
	return true;
}

const char *settings_enforcement_name(enum enforcement e)
{
	return words[e];
}

bool settings_enforce_next(const char **cursor, const char **partition, size_t *length,
	enum enforcement *word)
{
	int found;

	while (next_pair(cursor, partition, length, &found))
		if (found >= 0) {
			*word = (enum enforcement)found;
			return true;
		}
	return false;
}

/* Does a list name the partition? */
static bool names(const char *list, const char *partition, size_t n)
{
	const char *name;
	size_t length;
	int word;

	while (next_pair(&list, &name, &length, &word))
		if (length == n && memcmp(name, partition, n) == 0)
			return true;
	return false;
}

int settings_enforce_check(const char *enforce_partitions, struct fault *why)
{
	const char *cursor = enforce_partitions, *name;
	size_t length;
	int word;

	while (next_pair(&cursor, &name, &length, &word)) {
		if (word < 0)
			return fault_errno(why, EINVAL,
				"enforce_partitions: \"%.*s\" is not PARTITION=on, =warn or =off",
				(int)strcspn(name, SEPARATORS), name);
		if (names(cursor, name, length))
			return fault_errno(why, EINVAL,
				"enforce_partitions: %.*s stands there twice: say once how it takes the budget",
				(int)length, name);
	}
	return 0;
}

static enum enforcement of_partition(const struct settings *s, const char *partition, size_t n)
{
	const char *cursor = s->enforce_partitions, *name;
	enum enforcement found = (enum enforcement)s->enforce;
	size_t length;
	int word;

	while (next_pair(&cursor, &name, &length, &word))
		if (word >= 0 && length == n && memcmp(name, partition, n) == 0)
			found = (enum enforcement)word;
	return found;
}

enum enforcement settings_enforcement(const struct settings *s, const char *partitions)
{
	enum enforcement strictest = ENFORCE_OFF;

	if (!partitions || !*partitions)
		return (enum enforcement)s->enforce;
	while (*partitions) {
		size_t n = strcspn(partitions, ",");
		enum enforcement one = of_partition(s, partitions, n);

		if (one < strictest)
			strictest = one;
		partitions += n + (partitions[n] == ',');
	}
	return strictest;
}

bool settings_shadow_in_use(const struct settings *s)
{
	const char *cursor = s->enforce_partitions, *name;
	bool found = s->enforce == ENFORCE_WARN;
	size_t length;
	int word;

	while (!found && next_pair(&cursor, &name, &length, &word))
		found = word == ENFORCE_WARN;
	return found;
}
