/* SPDX-License-Identifier: GPL-2.0-or-later
 * nearest.h - what was meant by a word that nothing is called: "did you mean vision?"
 *
 * Distance  letters to insert, drop, replace or swap with a neighbour (optimal string alignment); a third of
 *           the letters wrong is still a slip of the fingers
 * Threads   pure functions: any thread; a struct nearest belongs to its caller */
#ifndef LIB_NEAREST_H
#define LIB_NEAREST_H
#include <stddef.h>

#define NEAREST_WORD_MAX  63 /* bytes; a longer word is no slip, and is near to nothing */
#define NEAREST_NAMES_MAX 3  /* of several that are equally near */

struct nearest {
	char word[NEAREST_WORD_MAX + 1]; /* "" = near to nothing */
	size_t distance;                 /* of the names found so far; at first the limit */
	size_t count;
	char names[NEAREST_NAMES_MAX][NEAREST_WORD_MAX + 1]; /* equally near, in the order they came */
};

/* Look for `word`, which is copied; then offer every name there is. NULL is no name. */
void nearest_begin(struct nearest *n, const char *word);
void nearest_offer(struct nearest *n, const char *name);

/* "--vision", "vision or vista", "a, b or c", each with `prefix` in front; "" when nothing is near. Returns
 * buf. */
#define NEAREST_TEXT_MAX 256
const char *nearest_text(const struct nearest *n, const char *prefix, char buf[NEAREST_TEXT_MAX]);

#endif
