/* SPDX-License-Identifier: GPL-2.0-or-later
 * nearest.c - the names that a mistyped word is closest to (nearest.h) */
#include "lib/nearest.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool swapped(const char *a, const char *b, size_t i, size_t j)
{
	return i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
}

/* Both are at most NEAREST_WORD_MAX bytes long. Row i holds the distances of the first i bytes of `a` to
 * every beginning of `b`; three rows are enough. */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][NEAREST_WORD_MAX + 1];
	size_t na = strlen(a), nb = strlen(b);

	for (size_t j = 0; j <= nb; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			row[j] =
				least(above[j - 1] + (a[i - 1] != b[j - 1]), 1 + least(above[j], row[j - 1]));
			if (swapped(a, b, i, j))
				row[j] = least(row[j], 1 + two_above[j - 2]);
		}
	}
	return rows[na % 3][nb];
}

void nearest_begin(struct nearest *n, const char *word)
{
	size_t length = strlen(word);

	*n = (struct nearest){.distance = (length + 1) / 3};
	if (n->distance < 1)
		n->distance = 1;
	if (length <= NEAREST_WORD_MAX)
		memcpy(n->word, word, length + 1);
}

void nearest_offer(struct nearest *n, const char *name)
{
	size_t d;

	if (!name || !n->word[0] || strlen(name) > NEAREST_WORD_MAX)
		return;
	d = distance(n->word, name);
	if (d > n->distance || d >= strlen(n->word)) /* "x" is not a slip for "y" */
		return;
	if (d < n->distance)
		n->count = 0;
	n->distance = d;
	for (size_t i = 0; i < n->count; i++)
		if (!strcmp(n->names[i], name))
			return; /* a noun of several commands is one name */
	if (n->count < NEAREST_NAMES_MAX)
		strcpy(n->names[n->count++], name);
}

const char *nearest_text(const struct nearest *n, const char *prefix, char buf[NEAREST_TEXT_MAX])
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < n->count && used < NEAREST_TEXT_MAX; i++)
		used += (size_t)snprintf(buf + used, NEAREST_TEXT_MAX - used, "%s%s%s",
			i == 0              ? ""
			: i + 1 == n->count ? " or "
					    : ", ",
			prefix, n->names[i]);
	return buf;
}
