/* SPDX-License-Identifier: GPL-2.0-or-later
 * submit_options_table.c - the options of sbatch(1), 22.05 to 26.05, and which of them concern us
 *
 * Names, letters and kinds of argument were tried with sbatch 22.05.8; later options are from the manual
 * pages. */
#include "lib/submit_options_table.h"
#include <string.h>

#define NONE     ARGUMENT_NONE
#define NEEDED   ARGUMENT_NEEDED
#define OPTIONAL ARGUMENT_OPTIONAL

static const struct submit_option options[] = {
	/* what decides GPUs, time and money */
	{ "account", 'A', NEEDED, FIELD_ACCOUNT },
	{ "array", 'a', NEEDED, FIELD_ARRAY },
	{ "comment", 0, NEEDED, FIELD_COMMENT },
	{ "cpus-per-task", 'c', NEEDED, FIELD_CPUS_PER_TASK },
	{ "exclusive", 0, OPTIONAL, FIELD_EXCLUSIVE },
	{ "extra-node-info", 'B', NEEDED, FIELD_EXTRA_NODE_INFO },
	{ "gpu-min-runtime", 0, NEEDED, FIELD_MIN_RUNTIME },
	{ "gpu-team-rank", 0, NEEDED, FIELD_TEAM_RANK },
	{ "gpu-tier", 0, NEEDED, FIELD_TIER },
	{ "gpus", 'G', NEEDED, FIELD_GPUS },
	{ "gpus-per-node", 0, NEEDED, FIELD_GPUS_PER_NODE },
	{ "gpus-per-socket", 0, NEEDED, FIELD_GPUS_PER_SOCKET },
	{ "gpus-per-task", 0, NEEDED, FIELD_GPUS_PER_TASK },
	{ "gres", 0, NEEDED, FIELD_GRES },
	{ "nodes", 'N', NEEDED, FIELD_NODES },
	{ "ntasks", 'n', NEEDED, FIELD_NTASKS },
	{ "ntasks-per-gpu", 0, NEEDED, FIELD_NTASKS_PER_TRES },
	{ "ntasks-per-node", 0, NEEDED, FIELD_NTASKS_PER_NODE },
	{ "ntasks-per-socket", 0, NEEDED, FIELD_NTASKS_PER_SOCKET },
	{ "ntasks-per-tres", 0, NEEDED, FIELD_NTASKS_PER_TRES },
	{ "partition", 'p', NEEDED, FIELD_PARTITION },
	{ "qos", 'q', NEEDED, FIELD_QOS },
	{ "sockets-per-node", 0, NEEDED, FIELD_SOCKETS_PER_NODE },
	{ "tasks-per-node", 0, NEEDED, FIELD_NTASKS_PER_NODE },
	{ "time", 't', NEEDED, FIELD_TIME },
	{ "tres-per-task", 0, NEEDED, FIELD_TRES_PER_TASK },
	/* the rest */
	{ "acctg-freq", 0, NEEDED, FIELD_NONE },
	{ "batch", 0, NEEDED, FIELD_NONE },
	{ "bb", 0, NEEDED, FIELD_NONE },
	{ "bbf", 0, NEEDED, FIELD_NONE },
	{ "begin", 'b', NEEDED, FIELD_NONE },
	{ "chdir", 'D', NEEDED, FIELD_NONE },
	{ "cluster", 0, NEEDED, FIELD_NONE },
	{ "cluster-constraint", 0, NEEDED, FIELD_NONE },
	{ "clusters", 'M', NEEDED, FIELD_NONE },
	{ "consolidate-segments", 0, NONE, FIELD_NONE },
	{ "constraint", 'C', NEEDED, FIELD_NONE },
	{ "container", 0, NEEDED, FIELD_NONE },
	{ "container-id", 0, NEEDED, FIELD_NONE },
	{ "contiguous", 0, NONE, FIELD_NONE },
	{ "core-spec", 'S', NEEDED, FIELD_NONE },
	{ "cores-per-socket", 0, NEEDED, FIELD_NONE },
	{ "cpu-freq", 0, NEEDED, FIELD_NONE },
	{ "cpus-per-gpu", 0, NEEDED, FIELD_NONE },
	{ "deadline", 0, NEEDED, FIELD_NONE },
	{ "delay-boot", 0, NEEDED, FIELD_NONE },
	{ "dependency", 'd', NEEDED, FIELD_DEPENDENCY },
	{ "distribution", 'm', NEEDED, FIELD_NONE },
	{ "error", 'e', NEEDED, FIELD_NONE },
	{ "exclude", 'x', NEEDED, FIELD_NONE },
	{ "export", 0, NEEDED, FIELD_NONE },
	{ "export-file", 0, NEEDED, FIELD_NONE },
	{ "extra", 0, NEEDED, FIELD_NONE },
	{ "get-user-env", 0, OPTIONAL, FIELD_NONE },
	{ "gid", 0, NEEDED, FIELD_NONE },
	{ "gpu-backend", 0, NEEDED, FIELD_NONE },
	{ "gpu-bind", 0, NEEDED, FIELD_NONE },
	{ "gpu-check", 0, NEEDED, FIELD_NONE },
	{ "gpu-freq", 0, NEEDED, FIELD_NONE },
	{ "gpu-numa", 0, NEEDED, FIELD_NONE },
	{ "gres-flags", 0, NEEDED, FIELD_NONE },
	{ "help", 'h', NONE, FIELD_NONE },
	{ "hint", 0, NEEDED, FIELD_NONE },
	{ "hold", 'H', NONE, FIELD_HOLD },
	{ "ignore-pbs", 0, NONE, FIELD_NONE },
	{ "input", 'i', NEEDED, FIELD_NONE },
	{ "job-name", 'J', NEEDED, FIELD_NONE },
	{ "kill-on-invalid-dep", 0, NEEDED, FIELD_NONE },
	{ "licenses", 'L', NEEDED, FIELD_NONE },
	{ "mail-type", 0, NEEDED, FIELD_NONE },
	{ "mail-user", 0, NEEDED, FIELD_NONE },
	{ "mcs-label", 0, NEEDED, FIELD_NONE },
	{ "mem", 0, NEEDED, FIELD_NONE },
	{ "mem-bind", 0, NEEDED, FIELD_NONE },
	{ "mem-per-cpu", 0, NEEDED, FIELD_NONE },
	{ "mem-per-gpu", 0, NEEDED, FIELD_NONE },
	{ "mincpus", 0, NEEDED, FIELD_NONE },
	{ "network", 0, NEEDED, FIELD_NONE },
	{ "nice", 0, OPTIONAL, FIELD_NONE },
	{ "no-kill", 'k', OPTIONAL, FIELD_NONE },
	{ "no-requeue", 0, NONE, FIELD_REQUEUE },
	{ "nodefile", 'F', NEEDED, FIELD_NONE },
	{ "nodelist", 'w', NEEDED, FIELD_NONE },
	{ "ntasks-per-core", 0, NEEDED, FIELD_NONE },
	{ "oom-kill-step", 0, OPTIONAL, FIELD_NONE },
	{ "open-mode", 0, NEEDED, FIELD_NONE },
	{ "output", 'o', NEEDED, FIELD_NONE },
	{ "overcommit", 'O', NONE, FIELD_NONE },
	{ "oversubscribe", 's', NONE, FIELD_NONE },
	{ "parsable", 0, NONE, FIELD_NONE },
	{ "power", 0, NEEDED, FIELD_NONE },
	{ "prefer", 0, NEEDED, FIELD_NONE },
	{ "priority", 0, NEEDED, FIELD_NONE },
	{ "profile", 0, NEEDED, FIELD_NONE },
	{ "propagate", 0, OPTIONAL, FIELD_NONE },
	{ "quiet", 'Q', NONE, FIELD_NONE },
	{ "reboot", 0, NONE, FIELD_NONE },
	{ "requeue", 0, NONE, FIELD_REQUEUE },
	{ "reservation", 0, NEEDED, FIELD_NONE },
	{ "resv-ports", 0, OPTIONAL, FIELD_NONE },
	{ "segment", 0, NEEDED, FIELD_NONE },
	{ "signal", 0, NEEDED, FIELD_SIGNAL },
	{ "spread-job", 0, NONE, FIELD_NONE },
	{ "stepmgr", 0, NONE, FIELD_NONE },
	{ "switches", 0, NEEDED, FIELD_NONE },
	{ "test-only", 0, NONE, FIELD_NONE },
	{ "thread-spec", 0, NEEDED, FIELD_NONE },
	{ "threads-per-core", 0, NEEDED, FIELD_NONE },
	{ "time-min", 0, NEEDED, FIELD_NONE },
	{ "tmp", 0, NEEDED, FIELD_NONE },
	{ "tres-bind", 0, NEEDED, FIELD_NONE },
	{ "uid", 0, NEEDED, FIELD_NONE },
	{ "usage", 0, NONE, FIELD_NONE },
	{ "use-min-nodes", 0, NONE, FIELD_NONE },
	{ "verbose", 'v', NONE, FIELD_NONE },
	{ "version", 'V', NONE, FIELD_NONE },
	{ "wait", 'W', NONE, FIELD_NONE },
	{ "wait-all-nodes", 0, NEEDED, FIELD_NONE },
	{ "wckey", 0, NEEDED, FIELD_NONE },
	{ "wrap", 0, NEEDED, FIELD_NONE },
};

#define COUNT (sizeof(options) / sizeof(options[0]))

const struct submit_option *submit_option_long(const char *name, size_t len, const char *ambiguous[2])
{
	const struct submit_option *found = NULL, *second = NULL;

	ambiguous[0] = ambiguous[1] = NULL;
	for (size_t i = 0; i < COUNT; i++) {
		if (strncmp(options[i].name, name, len) != 0)
			continue;
		if (!options[i].name[len])
			return &options[i];	/* "gpus" is no abbreviation of "gpus-per-node" */
		if (!found)
			found = &options[i];
		else
			second = &options[i];
	}
	if (!second)
		return found;
	ambiguous[0] = found->name;
	ambiguous[1] = second->name;
	return NULL;
}

const struct submit_option *submit_option_at(size_t i)
{
	return i < COUNT ? &options[i] : NULL;
}

const struct submit_option *submit_option_short(char letter)
{
	for (size_t i = 0; letter && i < COUNT; i++)
		if (options[i].letter == letter)
			return &options[i];
	return NULL;
}
