/* SPDX-License-Identifier: GPL-2.0-or-later
 * pattern.h - what a device is made to compute, and whether it did
 *
 * The numbers depend on a seed that is new in every run, so that memory which still holds the result of the
 * run before proves nothing. The kernels of cuda.c, hip.c, level_zero_kernel.c and opencl.c compute
 * pattern_kernel(); this is what they are held against.
 *
 * Threads  pure functions: any thread */
#ifndef GPU_CHECK_PATTERN_H
#define GPU_CHECK_PATTERN_H
#include <stddef.h>
#include <stdint.h>

#define PATTERN_WORDS 4096	/* one buffer: 16 KiB, several groups of threads */
#define PATTERN_GROUP 128	/* threads in a group; divides PATTERN_WORDS */

/* As text, for the kernels that are compiled from source. */
#define PATTERN_KERNEL_SOURCE "((i ^ seed) * 2654435761u + (i << 7))"

/* What a filled buffer has in every word. */
uint32_t pattern_fill(uint32_t seed);

/* Word i of what is copied to the device and back. */
uint32_t pattern_copy(uint32_t seed, uint32_t i);

/* Word i of what the kernel writes. */
uint32_t pattern_kernel(uint32_t seed, uint32_t i);

/* How many of n words are not what `expected` says; *first is the index of the first one, untouched when all
 * are right. */
size_t pattern_wrong(const uint32_t *words, size_t n, uint32_t (*expected)(uint32_t seed, uint32_t i),
	uint32_t seed, size_t *first);

/* pattern_fill() as pattern_wrong() wants it. */
uint32_t pattern_filled(uint32_t seed, uint32_t i);

#endif
