/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_request.h - what was asked: how many GPUs a submission will be given
 *
 * Every way in which sbatch, srun, salloc and the REST API can ask, in the syntax of Slurm 22.05
 * ("gres:gpu:2") and of
 * 23.11 and later ("gres/gpu:2", tres_per_task "cpu=2,gres/gpu=1"). The rule is the one of sbatch(1) and of
 * Slurm's own validation: for each type, the largest of job, node x nodes, socket x sockets, task x tasks
 * (doc/model.md, 4).
 *
 * Threads  pure functions: any thread */
#ifndef LIB_GPU_REQUEST_H
#define LIB_GPU_REQUEST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/fault.h"
#include "lib/gpu_count.h"

#define GPU_REQUEST_UNSET UINT32_MAX

/* The raw fields of a job description. Strings may be NULL; numbers not given are GPU_REQUEST_UNSET. Nothing
 * is owned. */
struct gpu_request_input {
	const char *tres_per_job, *tres_per_node, *tres_per_socket, *tres_per_task;
	uint32_t num_tasks, min_nodes, max_nodes, ntasks_per_node, ntasks_per_socket, sockets_per_node;
	uint32_t cpus_per_task, ntasks_per_tres;
	bool exclusive;			/* nodes are taken whole */
	const char *array;		/* "0-3,7%2", without brackets or with; NULL = not an array */
};

/* What is known of the cluster, for requests that only its nodes can answer. 0 = not known. */
struct gpu_request_cluster {
	/* the largest node of the partitions asked for: what --exclusive may get */
	int64_t gpus_per_node;
};

struct gpu_request {
	bool exact;			/* min == max and there is one right answer */
	/* not exact only because whole nodes may bring more than was asked for */
	bool at_least;
	struct gpu_count gpus;		/* of one array task: the answer when exact, else the upper bound */
	int64_t gpus_min, gpus_max;	/* honest bounds of one array task; equal when exact */
	int64_t array_tasks;		/* 1 when not an array */
	/* static text: how the figure came about, for messages and for quote */
	const char *rule;
};

void gpu_request_input_init(struct gpu_request_input *in);

/* Does this ask for anything that a GPU budget pays for? Cheap and without parsing: true when any string
 * contains "gpu", "shard" or "mps", when ntasks_per_tres is given, or when nodes are taken whole. False
 * means: nothing of our business. */
bool gpu_request_concerns(const struct gpu_request_input *in);

/* Answer the question. `cluster` may be NULL.
 * 0 and *out set; or -1, *out untouched, errno EINVAL (a string that makes no sense: `why` quotes it with the
 * position; two ways of asking that exclude each other) or EOVERFLOW (more than 2^31 GPUs). */
int gpu_request_read(const struct gpu_request_input *in, const struct gpu_request_cluster *cluster,
	struct gpu_request *out, struct fault *why);

/* Tasks named by an array expression: "0-3,7%2" = 5, "1-10:3" = 4, "[9-11,13,16-20]" = 9; *throttle (may be
 * NULL) is the %N or 0. 0 and *tasks set; or -1, untouched, errno EINVAL or EOVERFLOW, `why` names the
 * position. */
int gpu_request_array_tasks(const char *array, int64_t *tasks, int64_t *throttle, struct fault *why);

/* The first tasks of a rising expression, at most `most` of them, as one: of "3-6,8-9%2" the first five are
 * "3-6,8". Their number, fewer where `size` bytes do not suffice; 0 when the expression cannot be read or not
 * even one fits. */
int64_t gpu_request_array_first(const char *array, int64_t most, char *buf, size_t size);

/* Is the task named by the expression? False as well from where on it cannot be read. */
bool gpu_request_array_names(const char *array, int64_t task);

#endif
