/* SPDX-License-Identifier: GPL-2.0-or-later
 * memory.c - nodes and policies (memory.h) */
#include "spank/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "locality/alignment.h"
#include "locality/sysfs.h"

enum {
	POLICY_DEFAULT = 0,
	POLICY_PREFERRED = 1,
	POLICY_BIND = 2,
	POLICY_PREFERRED_MANY = 5,
	NODES_MAX = 1024
};

static void nodes_near(const struct numa *numa, const struct cpu_set *cpus, struct cpu_set *out)
{
	for (int i = 0; i < numa->nodes; i++)
		if (cpu_set_meets(cpus, &numa->node[i].cpus)) {
			int memory = numa_nearest_memory(numa, i);

			if (memory >= 0)
				cpu_set_add(out, numa->node[memory].id);
		}
}

void memory_nodes(const struct numa *numa, const struct deal_task *t, struct cpu_set *out)
{
	int local, all = 0;
	enum alignment a = alignment_of(t, &local);

	cpu_set_clear(out);
	if (a == ALIGNED_UNKNOWN)
		return;
	nodes_near(numa, a == ALIGNED_NONE ? &t->cpus : &t->near->local, out);
	for (int i = 0; i < numa->nodes; i++)
		all += numa->node[i].has_memory && !cpu_set_empty(&numa->node[i].cpus);
	if (cpu_set_count(out) >= all)
		cpu_set_clear(out);
}

/* What the cgroup leaves; all when nobody tells. The kernel would leave out the others without a word. */
static void allowed_only(struct cpu_set *nodes)
{
	int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[SYSFS_TEXT_MAX], list[512];
	struct cpu_set allowed;

	if (root >= 0 && sysfs_read(root, text, sizeof(text), "proc/self/status") > 0 &&
		sysfs_field(text, "Mems_allowed_list", ':', list, sizeof(list)) == 0 &&
		cpu_set_parse(list, &allowed) == 0)
		cpu_set_and(nodes, nodes, &allowed);
	if (root >= 0)
		close(root);
}

static long policy_set(int policy, const struct cpu_set *nodes)
{
	return syscall(SYS_set_mempolicy, policy, nodes->word, NODES_MAX);
}

int memory_set(const struct cpu_set *nodes, enum memory_mode mode, struct fault *why)
{
	struct cpu_set set = *nodes, first = { { 0 } };
	char text[CPU_LIST_MAX];
	int now = POLICY_DEFAULT;

	if (mode == MEMORY_OFF || cpu_set_empty(nodes) ||
		syscall(SYS_get_mempolicy, &now, NULL, 0, NULL, 0) < 0 || now != POLICY_DEFAULT)
		return 0;
	allowed_only(&set);
	if (cpu_set_empty(&set))
		return 0;
	if (policy_set(mode == MEMORY_BIND ? POLICY_BIND : POLICY_PREFERRED_MANY, &set) == 0)
		return 0;
	cpu_set_add(&first, cpu_set_next(&set, 0));
	if (mode == MEMORY_PREFERRED && errno == EINVAL && policy_set(POLICY_PREFERRED, &first) == 0)
		return 0;
	return fault_set(why, "memory of the nodes %.200s cannot be %s: %s", cpu_set_text(&set, text),
		mode == MEMORY_BIND ? "bound" : "preferred", strerror(errno));
}
