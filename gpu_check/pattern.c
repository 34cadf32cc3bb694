/* SPDX-License-Identifier: GPL-2.0-or-later
 * pattern.c - the numbers of pattern.h */
#include "gpu_check/pattern.h"

uint32_t pattern_fill(uint32_t seed)
{
	return seed ^ 0x5AC3F00Du;
}

uint32_t pattern_filled(uint32_t seed, uint32_t i)
{
	(void)i;
	return pattern_fill(seed);
}

uint32_t pattern_copy(uint32_t seed, uint32_t i)
{
	return (seed + i) * 2246822519u;	/* an odd factor: no two words are alike */
}

uint32_t pattern_kernel(uint32_t seed, uint32_t i)
{
	return (i ^ seed) * 2654435761u + (i << 7);
}

size_t pattern_wrong(const uint32_t *words, size_t n, uint32_t (*expected)(uint32_t, uint32_t), uint32_t seed,
	size_t *first)
{
	size_t wrong = 0;

	for (size_t i = 0; i < n; i++)
		if (words[i] != expected(seed, (uint32_t)i) && wrong++ == 0)
			*first = i;
	return wrong;
}
