/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_numa.c - tasks of a step as processes: what they tell each other, and where they are in the end.
 *
 * The machine is made up of the first two CPUs that this process may use, one on each node, with a GPU at
 * each. */
#include "locality/plan.h"
#include "spank/board.h"
#include "spank/numa.h"
#include "tests/unit/machine_tree.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TASKS = 2 };

/* --- what bindings mean ------------------------------------------------------------------------------- */

START_TEST(binding_is_what_slurm_writes)
{
	static const struct {
		const char *type;
		enum binding binding;
	} rows[] = {{NULL, BINDING_NONE}, {"", BINDING_NONE}, {"quiet", BINDING_NONE},
		{"verbose,", BINDING_NONE}, {"none", BINDING_USER}, {"quiet,none", BINDING_USER},
		{"map_cpu:", BINDING_USER}, {"quiet,map_cpu:0,1", BINDING_USER}, {"rank_ldom", BINDING_USER},
		{"map_ldom:", BINDING_USER}, {"mask_ldom:0x1", BINDING_USER}, {"mask_cpu:", BINDING_MASK},
		{"quiet,mask_cpu:0x1,0x2", BINDING_MASK}, {"cores,mask_cpu:", BINDING_UNITS},
		{"quiet,threads,mask_cpu", BINDING_UNITS}, {"sockets", BINDING_UNITS},
		{"ldoms,mask_cpu", BINDING_UNITS}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_msg(binding_of(rows[i].type) == rows[i].binding, "%s: %d",
			rows[i].type ? rows[i].type : "(null)", binding_of(rows[i].type));
}
END_TEST

/* --- the board ---------------------------------------------------------------------------------------- */

START_TEST(tasks_that_tell_in_any_order_are_all_there)
{
	struct cpu_set cpus = { { 5 } }, got;
	struct board *b = board_new(3);
	uint64_t gpus;
	bool kept;
	int status;

	ck_assert_ptr_nonnull(b);
	for (int t = 0; t < 3; t++)
		board_put_cpus(b, t, &cpus);
	for (int t = 2; t >= 0; t--)
		if (fork() == 0) {
			board_put_gpus(b, t, UINT64_C(1) << t, t == 1);
			_exit(board_wait(b, 60000) == 0 && board_row(b, 2 - t, &got, &gpus, &kept) &&
						gpus == UINT64_C(1) << (2 - t)
					? 0
					: 1);
		}
	ck_assert_int_eq(board_wait(b, 60000), 0);
	ck_assert(board_row(b, 1, &got, &gpus, &kept) && kept && gpus == 2 && cpu_set_equal(&got, &cpus));
	while (wait(&status) > 0)
		ck_assert_int_eq(status, 0);
	board_free(b);
}
END_TEST

START_TEST(task_that_never_tells_is_not_waited_for_long)
{
	struct board *b = board_new(2);

	board_put_gpus(b, 0, 1, false);
	board_put_gpus(b, 0, 1, false);	/* twice is once */
	ck_assert_int_eq(board_wait(b, 20), -1);
	ck_assert_int_eq(errno, ETIMEDOUT);
	board_free(b);
	ck_assert_ptr_null(board_new(0));
}
END_TEST

/* --- steps -------------------------------------------------------------------------------------------- */

/* What a task found in the end, in memory that both see. */
struct found {
	struct cpu_set cpus;
	struct numa_told told;
	int rv;
};

static int cpu_at[2];			/* of node 0 and node 1 */
static char tree[MACHINE_DIR_MAX];

static void machine_up(void)
{
	struct cpu_set mine;

	cpu_set_clear(&mine);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(mine), (cpu_set_t *)(void *)mine.word), 0);
	ck_assert_int_ge(cpu_set_count(&mine), 2);
	cpu_at[0] = cpu_set_next(&mine, 0);
	cpu_at[1] = cpu_set_next(&mine, cpu_at[0] + 1);
	machine_temporary(NULL, MACHINE_DEVICES, tree);
	machine_put(tree, "0-1", "sys/devices/system/node/online");
	machine_put(tree, "0-1", "sys/devices/system/node/has_memory");
	for (int i = 0; i < 2; i++) {
		char cpu[16];

		snprintf(cpu, sizeof(cpu), "%d", cpu_at[i]);
		machine_put(tree, cpu, "sys/devices/system/node/node%d/cpulist", i);
		machine_put(tree, i ? "20 10" : "10 20", "sys/devices/system/node/node%d/distance", i);
		machine_put(tree, "0x030200", "sys/bus/pci/devices/0000:0%d:00.0/class", i + 1);
		machine_put(tree, "0x10de", "sys/bus/pci/devices/0000:0%d:00.0/vendor", i + 1);
		machine_put(tree, "0x2330", "sys/bus/pci/devices/0000:0%d:00.0/device", i + 1);
		machine_put(tree, i ? "1" : "0", "sys/bus/pci/devices/0000:0%d:00.0/numa_node", i + 1);
	}
}

static void machine_down(void)
{
	machine_remove(tree);
}

static void bind_to(int first, int second)
{
	struct cpu_set s = { { 0 } };

	cpu_set_add(&s, first);
	cpu_set_add(&s, second);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(s), (cpu_set_t *)(void *)s.word), 0);
}

struct variables {
	const char *cuda, *bind;
};

static const char *variable_of(void *from, const char *name)
{
	const struct variables *v = from;

	if (!strcmp(name, "CUDA_VISIBLE_DEVICES"))
		return v->cuda;
	if (!strcmp(name, NUMA_SAID))
		return v->bind && !strncmp(v->bind, "said ", 5) ? "1" : NULL;
	return strcmp(name, "SLURM_CPU_BIND_TYPE") ? NULL : v->bind;
}

/* A step as slurmstepd makes it: all tasks are forked and bound, then all CPUs noted, then all are let go.
 * CPUs are those of nodes. */
static struct found *step_run(
	enum numa_mode mode, const char *bind, const int node[TASKS][2], const char *const cuda[TASKS])
{
	struct found *found =
		mmap(NULL, TASKS * sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct numa_site site;
	struct numa_step *s;
	int ready[2], go[2];
	pid_t pid[TASKS];
	char c = 'x';

	numa_site_init(&site);
	snprintf(site.root, sizeof(site.root), "%s", tree);
	s = numa_new(&site, mode, TASKS);
	ck_assert(found != MAP_FAILED && s && pipe(ready) == 0 && pipe(go) == 0);
	for (int t = 0; t < TASKS; t++) {
		pid[t] = fork();
		if (pid[t] == 0) {
			struct variables v = { cuda[t], bind };

			bind_to(cpu_at[node[t][0]], cpu_at[node[t][1]]);
			if (write(ready[1], &c, 1) != 1 || read(go[0], &c, 1) != 1)
				_exit(1);
			found[t].rv = numa_task(s, t, 1, variable_of, &v, &found[t].told);
			sched_getaffinity(0, sizeof(found[t].cpus), (cpu_set_t *)(void *)found[t].cpus.word);
			_exit(0);
		}
	}
	for (int t = 0; t < TASKS; t++)
		ck_assert_int_eq(read(ready[0], &c, 1), 1);
	for (int t = 0; t < TASKS; t++)
		numa_forked(s, t, pid[t]);
	ck_assert_int_eq(write(go[1], "xx", TASKS), TASKS);
	for (int t = 0, status; t < TASKS; t++)
		ck_assert(waitpid(pid[t], &status, 0) == pid[t] && status == 0);
	numa_end(s);
	return found;
}

static void ck_at(const struct found *f, int first, int second)
{
	struct cpu_set s = { { 0 } };
	char is[CPU_LIST_MAX];

	cpu_set_add(&s, cpu_at[first]);
	cpu_set_add(&s, cpu_at[second]);
	ck_assert_msg(cpu_set_equal(&s, &f->cpus), "%s: %s", cpu_set_text(&f->cpus, is), f->told.say.text);
}

START_TEST(tasks_with_crossed_gpus_change_places)
{
	struct found *f = step_run(NUMA_AUTO, "quiet,cores,mask_cpu:", (const int[TASKS][2]){{0, 0}, {1, 1}},
		(const char *const[]){"1", "0"});

	ck_at(&f[0], 1, 1);
	ck_at(&f[1], 0, 0);
	ck_assert_str_eq(f[0].told.numa, "0000:02:00.0=1");
	ck_assert_str_eq(f[0].told.local, "all");
	ck_assert_str_eq(f[1].told.say.text, "");
}
END_TEST

START_TEST(tasks_that_share_all_cpus_get_their_own)
{
	struct found *f = step_run(
		NUMA_AUTO, NULL, (const int[TASKS][2]){{0, 1}, {0, 1}}, (const char *const[]){"1", "0"});

	ck_at(&f[0], 1, 1);
	ck_at(&f[1], 0, 0);
}
END_TEST

START_TEST(what_the_user_bound_stays)
{
	struct found *f = step_run(NUMA_AUTO, "quiet,map_cpu:", (const int[TASKS][2]){{0, 0}, {1, 1}},
		(const char *const[]){"1", "0"});

	ck_at(&f[0], 0, 0);
	ck_at(&f[1], 1, 1);
	ck_assert_str_eq(f[0].told.local, "none");
	ck_assert_ptr_nonnull(strstr(f[0].told.say.text, "without --cpu-bind"));
	ck_assert_int_eq(f[0].rv, 0);
	f = step_run(NUMA_AUTO, "mask_cpu:", (const int[TASKS][2]){{0, 0}, {1, 1}},
		(const char *const[]){"1", "0"});
	ck_at(&f[0], 1, 1);	/* Slurm's masks */
	f = step_run(NUMA_AUTO, "said mask_cpu:", (const int[TASKS][2]){{0, 0}, {1, 1}},
		(const char *const[]){"1", "0"});
	ck_at(&f[0], 0, 0);	/* the user's */
}
END_TEST

START_TEST(strict_ends_the_task_that_is_far)
{
	struct found *f = step_run(
		NUMA_STRICT, "none", (const int[TASKS][2]){{0, 0}, {1, 1}}, (const char *const[]){"1", "1"});

	ck_assert_int_eq(f[0].rv, -1);
	ck_assert_int_eq(f[1].rv, 0);
}
END_TEST

START_TEST(report_tells_and_moves_nothing)
{
	struct found *f = step_run(
		NUMA_REPORT, NULL, (const int[TASKS][2]){{0, 1}, {0, 1}}, (const char *const[]){"1", "0"});

	ck_at(&f[0], 0, 1);
	ck_assert_ptr_nonnull(strstr(f[0].told.say.text, "1 of its CPUs"));
	ck_assert_str_eq(f[0].told.local, "part");
}
END_TEST

START_TEST(tasks_without_gpus_give_way_and_are_told_nothing)
{
	struct found *f = step_run(NUMA_STRICT, "cores,mask_cpu", (const int[TASKS][2]){{0, 0}, {1, 1}},
		(const char *const[]){"1", ""});

	ck_at(&f[0], 1, 1);
	ck_at(&f[1], 0, 0);
	ck_assert_str_eq(f[1].told.numa, "");
	ck_assert_int_eq(f[1].rv, 0);
}
END_TEST

START_TEST(words_of_plugstack_are_read_or_named)
{
	struct numa_site s;
	struct fault why = { "" };

	numa_site_init(&s);
	ck_assert_int_eq(numa_site_argument(&s, "gpu_numa=strict", NULL), 1);
	ck_assert_int_eq(s.mode, NUMA_STRICT);
	ck_assert_int_eq(numa_site_argument(&s, "gpu_memory=bind", NULL), 1);
	ck_assert_int_eq(s.memory, MEMORY_BIND);
	ck_assert_int_eq(numa_site_argument(&s, "gpu_root=/tmp/x", NULL), 1);
	ck_assert_str_eq(s.root, "/tmp/x");
	ck_assert_int_eq(numa_site_argument(&s, "max_min_runtime=8h", NULL), 0);
	ck_assert_int_eq(numa_site_argument(&s, "gpu_numa", NULL), 0);
	ck_assert_int_eq(numa_site_argument(&s, "gpu_numa=on", &why), -1);
	ck_assert_str_eq(why.text, "\"on\" is none of auto, strict, report and off");
	ck_assert_int_eq(numa_site_argument(&s, "gpu_root=tmp", NULL), -1);
	ck_assert_int_eq(numa_site_argument(&s, "gpu_memory=local", NULL), -1);
	ck_assert_int_eq(s.mode, NUMA_STRICT);
}
END_TEST

Suite *numa_suite(void)
{
	TCase *t = tcase_create("numa");
	Suite *s = suite_create("numa");

	tcase_add_unchecked_fixture(t, machine_up, machine_down);
	tcase_add_test(t, binding_is_what_slurm_writes);
	tcase_add_test(t, tasks_that_tell_in_any_order_are_all_there);
	tcase_add_test(t, task_that_never_tells_is_not_waited_for_long);
	tcase_add_test(t, tasks_with_crossed_gpus_change_places);
	tcase_add_test(t, tasks_that_share_all_cpus_get_their_own);
	tcase_add_test(t, what_the_user_bound_stays);
	tcase_add_test(t, strict_ends_the_task_that_is_far);
	tcase_add_test(t, report_tells_and_moves_nothing);
	tcase_add_test(t, tasks_without_gpus_give_way_and_are_told_nothing);
	tcase_add_test(t, words_of_plugstack_are_read_or_named);
	suite_add_tcase(s, t);
	return s;
}
