/* SPDX-License-Identifier: GPL-2.0-or-later
 * numa.h - each task next to its GPUs: the hooks of gpubudget.so on a node, without a word of SPANK
 *
 * mode     off; report: tell, move nothing; auto: move, tell of a task without a CPU beside its GPU; strict:
 *          that ends the task
 * order    numa_new, before the tasks are forked · numa_forked for each, by slurmstepd · numa_task in each,
 *          as its user
 * never    a step without GPUs waits for nothing; nothing that cannot be read or set ends a task, but strict
 *
 * Threads  as said above; an object is shared with what is forked later, and else not */
#ifndef SPANK_NUMA_H
#define SPANK_NUMA_H
#include <stdint.h>
#include <sys/types.h>
#include "lib/fault.h"
#include "locality/task_devices.h"
#include "spank/memory.h"

enum numa_mode { NUMA_OFF, NUMA_REPORT, NUMA_AUTO, NUMA_STRICT, NUMA_MODES };
extern const char *const numa_mode_name[NUMA_MODES];

/* Set by srun when --cpu-bind was given: on a node the user's masks and Slurm's own look the same. It begins
 * with SLURM_, so that it is there after --export=NONE, too. */
#define NUMA_SAID "SLURM_GPUBUDGET_CPU_BIND"

struct numa_site {
	enum numa_mode mode;		/* unless the user says otherwise */
	enum memory_mode memory;
	char root[256];			/* "/" */
	char places[256];		/* below root */
};

void numa_site_init(struct numa_site *s);

/* "off", "report", "auto", "strict". 0; or -1 and EINVAL, `why` with what is allowed. */
int numa_mode_parse(const char *text, enum numa_mode *out, struct fault *why);

/* A word of plugstack.conf: gpu_numa=MODE, gpu_memory=preferred|bind|off, gpu_root=DIR, gpu_places=FILE.
 * 1: it is one of these; 0: it is none; or -1 and EINVAL, *s untouched. */
int numa_site_argument(struct numa_site *s, const char *argument, struct fault *why);

struct numa_step;

/* For a step of `tasks` tasks on this node. NULL and errno. */
struct numa_step *numa_new(const struct numa_site *site, enum numa_mode mode, int tasks);
void numa_end(struct numa_step *s);	/* NULL is fine */

void numa_forked(struct numa_step *s, int task, pid_t pid);

/* What a task is told: variables for launchers inside it, and sentences. */
struct numa_told {
	/* GPUBUDGET_GPU_NUMA, _CPUS, _NIC, _LOCAL; "" = not set */
	char numa[1024], cpus[4096], nic[1024], local[16];
	struct fault say;		/* "" = nothing to say to the user */
};

/* `get` reads the task's environment, `cpus_each` are Slurm's CPUs for a task. 0: go on; -1: the task must
 * not run, told->say has why. */
int numa_task(
	struct numa_step *s, int task, int cpus_each, variable_get get, void *from, struct numa_told *told);

#endif
