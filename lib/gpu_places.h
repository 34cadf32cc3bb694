/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_places.h - which devices of which nodes a job has: "g1=0-3;g2=0,5"
 *
 * Slurm counts the devices of a node from 0, in the order of its gres.conf. Exporters of GPU metrics know a
 * node and a device; this is where both meet.
 *
 * Threads  pure functions: any thread */
#ifndef LIB_GPU_PLACES_H
#define LIB_GPU_PLACES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_NODE_MAX 64

/* Add what Slurm's gres detail says of a node, "gpu:h100:2(IDX:0-1),shard:4(...)": its GPUs that have
 * indices. 0, also when there is none; or -1 and EMSGSIZE, `buf` as it was. */
int gpu_places_add(char *buf, size_t size, const char *node, const char *detail);

/* One after the other. Begin with .text = the places and the rest zero. False: that was the last one, or what
 * follows cannot be read. */
struct gpu_places {
	const char *text;
	char node[GPU_NODE_MAX];
	int64_t index;
	int64_t last; /* of the range that `index` is in */
};
bool gpu_places_next(struct gpu_places *p);

#endif
