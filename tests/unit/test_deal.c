/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_deal.c - CPUs to tasks on real machines: what deal.h promises, for random jobs, against a second and
 * slower way. */
#include "locality/alignment.h"
#include "locality/deal.h"
#include "locality/sysfs.h"
#include "spank/memory.h"
#include "tests/unit/machine_tree.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One of each kind. */
static const char *const machines[] = { "lassen", "pascal", "tioga", "corona", "chimera", "westmere",
	"power8" };
#define MACHINES ((int)(sizeof(machines) / sizeof(machines[0])))

enum { TASKS_MAX = 16, ROUNDS = 60 };

/* A machine, and a job on it. */
struct scene {
	struct numa numa;
	struct devices devices;
	struct cpu_set online;
	struct cores cores;
	struct nearness near[GPUS_MAX];	/* of each GPU alone */
	struct deal_task task[TASKS_MAX];
	int tasks;
};

/* Read once, before the tests are forked: a tree is thousands of files. */
static struct scene scenes[MACHINES];

static void scene_read(struct scene *s, const char *machine)
{
	char dir[MACHINE_DIR_MAX];
	int root = open(machine_temporary(machine, MACHINE_CORES, dir), O_RDONLY | O_DIRECTORY);

	ck_assert_int_eq(numa_read(root, &s->numa), 0);
	ck_assert_int_eq(devices_read(root, &s->numa, NULL, &s->devices), 0);
	ck_assert_int_eq(sysfs_list(root, &s->online, "sys/devices/system/cpu/online"), 0);
	ck_assert_int_eq(cores_read(root, &s->numa, &s->online, &s->cores), 0);
	for (int i = 0; i < s->devices.gpus; i++)
		ck_assert_int_eq(nearness_of(&s->numa, (const struct gpu *const[]){ &s->devices.gpu[i] }, 1,
			&s->near[i]), 0);
	close(root);
	machine_remove(dir);
}

static void scenes_read(void)
{
	for (int i = 0; i < MACHINES; i++)
		scene_read(&scenes[i], machines[i]);
}

static struct scene *scene_of(const char *machine)
{
	for (int i = 0; i < MACHINES; i++)
		if (!strcmp(machines[i], machine))
			return &scenes[i];
	ck_abort_msg("%s is none of the machines", machine);
}

static void scenes_free(void)
{
	for (struct scene *s = scenes; s < scenes + MACHINES; s++) {
		for (int i = 0; i < s->devices.gpus; i++)
			nearness_free(&s->near[i]);
		cores_free(&s->cores);
		devices_free(&s->devices);
		numa_free(&s->numa);
	}
}

static int below(int n)
{
	return n > 0 ? (int)(random() % n) : 0;
}

/* Tasks that Slurm has given CPUs without a look at GPUs: cores in any order, some whole, some by threads,
 * some not used at all. */
static void job_invent(struct scene *s, bool threads)
{
	s->tasks = 1 + below(TASKS_MAX);
	for (int t = 0; t < s->tasks; t++) {
		cpu_set_clear(&s->task[t].cpus);
		s->task[t].near = below(6) ? &s->near[below(s->devices.gpus)] : NULL;
	}
	for (int i = 0; i < s->cores.count; i++) {
		int t = below(s->tasks + 2);

		for (int j = 0; j < s->cores.core[i].threads; j++) {
			if (threads && below(3) == 0)
				t = below(s->tasks + 2);
			if (t < s->tasks)
				cpu_set_add(&s->task[t].cpus, s->cores.core[i].cpu[j]);
		}
	}
}

static int threads_of(const struct core *c, const struct cpu_set *s)
{
	int n = 0;

	for (int j = 0; j < c->threads; j++)
		n += cpu_set_has(s, c->cpu[j]);
	return n;
}

/* Numbers 1, 2 and 4 of deal.h. */
static void ck_kept(const struct scene *s, const struct deal_task before[])
{
	struct cpu_set was = { { 0 } }, is = { { 0 } };

	for (int t = 0; t < s->tasks; t++) {
		ck_assert_int_eq(cpu_set_count(&s->task[t].cpus), cpu_set_count(&before[t].cpus));
		ck_assert(!cpu_set_meets(&is, &s->task[t].cpus));
		cpu_set_or(&is, &is, &s->task[t].cpus);
		cpu_set_or(&was, &was, &before[t].cpus);
	}
	ck_assert(cpu_set_equal(&was, &is));
	for (int i = 0; i < s->cores.count; i++)
		for (int t = 0; t < s->tasks; t++) {
			int n = threads_of(&s->cores.core[i], &before[t].cpus), found = 0;

			for (int u = 0; u < s->tasks && n > 1; u++)
				found |= threads_of(&s->cores.core[i], &s->task[u].cpus) >= n;
			ck_assert(n < 2 || found);
		}
}

/* What task t pays for the threads of core a that task u has. */
static int64_t cost_for(const struct scene *s, const struct core *a, int u, int t)
{
	int64_t sum = 0;

	for (int j = 0; s->task[t].near && j < a->threads; j++)
		if (cpu_set_has(&s->task[u].cpus, a->cpu[j]))
			sum += nearness_cost(s->task[t].near, a, a->cpu[j]);
	return sum;
}

/* Does an exchange of two pieces of the same size between two tasks make the sum smaller? */
static bool exchange_helps(const struct scene *s)
{
	for (int tries = 0; tries < 2000; tries++) {
		const struct core *a = &s->cores.core[below(s->cores.count)],
			*b = &s->cores.core[below(s->cores.count)];
		int t = below(s->tasks), u = below(s->tasks);

		if (t != u && threads_of(a, &s->task[t].cpus) == threads_of(b, &s->task[u].cpus) &&
			cost_for(s, a, t, u) + cost_for(s, b, u, t) < cost_for(s, a, t, t) + cost_for(s, b, u,
				u))
			return true;
	}
	return false;
}

/* What 5 makes smaller. */
static int64_t squares(const struct deal_task task[], int tasks)
{
	int64_t sum = 0;
	int local;

	for (int t = 0; t < tasks; t++) {
		alignment_of(&task[t], &local);
		sum += (int64_t)local * local;
	}
	return sum;
}

START_TEST(random_jobs_get_what_is_promised)
{
	struct deal_task before[TASKS_MAX];
	struct scene *s = &scenes[_i];

	srandom((unsigned)_i + 1);
	for (int round = 0; round < ROUNDS; round++) {
		int64_t was, is;

		job_invent(s, round % 2);
		memcpy(before, s->task, sizeof(before));
		was = deal_cost(&s->cores, s->task, s->tasks);
		ck_assert_int_eq(deal_nearest(&s->cores, s->task, s->tasks), 0);
		is = deal_cost(&s->cores, s->task, s->tasks);
		ck_kept(s, before);
		ck_assert_int_le(is, was);
		ck_assert(!exchange_helps(s));
		/* 6 */
		for (int t = 0; t < s->tasks && is == was &&
			squares(before, s->tasks) == squares(s->task, s->tasks); t++)
			ck_assert(cpu_set_equal(&before[t].cpus, &s->task[t].cpus));
		/* and a second time nothing moves, unless threads of a core came together */
		memcpy(before, s->task, sizeof(before));
		ck_assert_int_eq(deal_nearest(&s->cores, s->task, s->tasks), 0);
		for (int t = 0; t < s->tasks && round % 2 == 0; t++)
			ck_assert(cpu_set_equal(&before[t].cpus, &s->task[t].cpus));
	}
}
END_TEST

/* The least sum there is, by trying everything: core `at` and what follows to tasks that have room. */
static int64_t least(const struct scene *s, const struct core *const pool[], int count, int at, int room[])
{
	int64_t best = INT64_MAX;

	if (at == count)
		return 0;
	for (int t = 0; t < s->tasks; t++) {
		int64_t rest, cost = 0;

		if (!room[t])
			continue;
		for (int j = 0; s->task[t].near && j < pool[at]->threads; j++)
			cost += nearness_cost(s->task[t].near, pool[at], pool[at]->cpu[j]);
		room[t]--;
		rest = least(s, pool, count, at + 1, room);
		room[t]++;
		if (cost + rest < best)
			best = cost + rest;
	}
	return best;
}

START_TEST(small_jobs_are_as_near_as_can_be)
{
	struct scene *s = &scenes[_i];

	srandom((unsigned)_i + 1);
	for (int round = 0; round < 40; round++) {
		const struct core *pool[7];
		int room[4] = { 0 };

		s->tasks = 2 + below(3);
		for (int t = 0; t < s->tasks; t++) {
			cpu_set_clear(&s->task[t].cpus);
			s->task[t].near = below(5) ? &s->near[below(s->devices.gpus)] : NULL;
		}
		/* cores all over the machine */
		for (int i = 0, first = below(s->cores.count); i < 7; i++) {
			int t = below(s->tasks);

			pool[i] = &s->cores.core[(first + i * (s->cores.count / 7)) % s->cores.count];
			for (int j = 0; j < pool[i]->threads; j++)
				cpu_set_add(&s->task[t].cpus, pool[i]->cpu[j]);
			room[t]++;
		}
		ck_assert_int_eq(deal_nearest(&s->cores, s->task, s->tasks), 0);
		ck_assert_int_eq(deal_cost(&s->cores, s->task, s->tasks), least(s, pool, 7, 0, room));
	}
}
END_TEST

/* Every machine, all of it: as many tasks as GPUs. */
START_TEST(whole_machine_is_dealt_next_to_its_gpus)
{
	struct cpu_set set[GPUS_MAX];
	struct scene *s = &scenes[_i];
	int local;

	s->tasks = 0;
	for (int i = 0; i < s->devices.gpus; i++)
		if (!s->devices.gpu[i].console)
			s->task[s->tasks++].near = &s->near[i];
	ck_assert_int_gt(s->tasks, 0);
	ck_assert_int_eq(deal_evenly(&s->cores, s->tasks, 1, set), 0);
	for (int t = 0; t < s->tasks; t++)
		s->task[t].cpus = set[t];
	ck_assert_int_eq(deal_nearest(&s->cores, s->task, s->tasks), 0);
	for (int t = 0; t < s->tasks; t++)
		ck_assert_int_ne(alignment_of(&s->task[t], &local), ALIGNED_NONE);
}
END_TEST

START_TEST(order_in_which_tasks_are_known_does_not_matter)
{
	struct deal_task one[TASKS_MAX], two[TASKS_MAX];
	struct scene *s = scene_of("tioga");

	srandom(7);
	for (int round = 0; round < ROUNDS; round++) {
		job_invent(s, false);
		memcpy(one, s->task, sizeof(one));
		memset(two, 0, sizeof(two));
		/* they arrive from `first` on */
		for (int left = s->tasks, first = below(s->tasks); left > 0; left--,
			first = (first + 1) % s->tasks)
			two[first] = s->task[first];
		ck_assert_int_eq(deal_nearest(&s->cores, one, s->tasks), 0);
		ck_assert_int_eq(deal_nearest(&s->cores, two, s->tasks), 0);
		for (int t = 0; t < s->tasks; t++)
			ck_assert(cpu_set_equal(&one[t].cpus, &two[t].cpus));
	}
}
END_TEST

START_TEST(tasks_that_share_a_cpu_are_left_alone)
{
	struct scene *s = scene_of("pascal");

	s->tasks = 2;
	cpu_set_parse("0-3", &s->task[0].cpus);
	cpu_set_parse("3-5", &s->task[1].cpus);
	ck_assert_int_eq(deal_nearest(&s->cores, s->task, 2), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_int_eq(cpu_set_count(&s->task[0].cpus), 4);
}
END_TEST

/* --- evenly ------------------------------------------------------------------------------------------- */

/* What cores_read would tell of some of the CPUs. */
static void cores_of(const struct cores *all, const struct cpu_set *some, struct cores *out)
{
	*out = (struct cores){ .core = calloc((size_t)all->count, sizeof(*out->core)) };
	ck_assert_ptr_nonnull(out->core);
	for (int i = 0; i < all->count; i++) {
		struct core *c = &out->core[out->count];

		*c = all->core[i];
		c->threads = 0;
		for (int j = 0; j < all->core[i].threads; j++)
			if (cpu_set_has(some, all->core[i].cpu[j]))
				c->cpu[c->threads++] = all->core[i].cpu[j];
		out->count += c->threads > 0;
	}
}

START_TEST(even_shares_are_whole_cores_and_never_too_few)
{
	struct cpu_set set[64], some;
	struct scene *s = &scenes[_i];
	struct cores cores;

	srandom((unsigned)_i + 1);
	for (int round = 0; round < ROUNDS; round++) {
		int tasks = 1 + below(8), all, at_least;
		struct cpu_set sum = { { 0 } };

		cpu_set_clear(&some);
		for (int i = 0; i < s->cores.count; i++)
			for (int j = 0; j < s->cores.core[i].threads; j++)
				if (round % 2 ? below(2) : below(s->cores.count) < 20 && j == 0)
					cpu_set_add(&some, s->cores.core[i].cpu[j]);
		cores_of(&s->cores, &some, &cores);
		all = cpu_set_count(&some);
		at_least = all / tasks;
		if (at_least == 0) {
			ck_assert_int_eq(deal_evenly(&cores, tasks, at_least, set), -1);
			ck_assert_int_eq(errno, ERANGE);
		} else {
			ck_assert_int_eq(deal_evenly(&cores, tasks, at_least, set), 0);
			for (int t = 0; t < tasks; t++) {
				ck_assert_int_ge(cpu_set_count(&set[t]), at_least);
				ck_assert(!cpu_set_meets(&sum, &set[t]));
				cpu_set_or(&sum, &sum, &set[t]);
			}
			ck_assert(cpu_set_equal(&sum, &some));
		}
		cores_free(&cores);
	}
}
END_TEST

/* --- by hand ------------------------------------------------------------------------------------------ */

/* Slurm's block order gives tasks 0 and 1 the first socket, their GPUs are at the second. */
START_TEST(tasks_with_crossed_gpus_change_sides)
{
	char text[CPU_LIST_MAX];
	struct scene *s = scene_of("pascal");
	int local;

	s->tasks = 2;
	cpu_set_parse("18-35,54-71", &s->task[0].cpus);
	s->task[0].near = &s->near[0];
	cpu_set_parse("0-17,36-53", &s->task[1].cpus);
	s->task[1].near = NULL;
	ck_assert_int_eq(deal_nearest(&s->cores, s->task, 2), 0);
	ck_assert_str_eq(cpu_set_text(&s->task[0].cpus, text), "0-17,36-53");
	ck_assert_int_eq(alignment_of(&s->task[0], &local), ALIGNED_ALL);
	ck_assert_int_eq(local, 36);
}
END_TEST

/* Ids of the nodes, for a task of one GPU with all CPUs of a node. */
START_TEST(memory_comes_from_the_nodes_next_to_the_gpus)
{
	static const struct {
		const char *machine, *gpu, *cpus, *nodes;
	} rows[] = {
		{ "corona", "0000:53:00.0", "30-35", "5" },
		{ "corona", "0000:53:00.0", "0-5", "0" },	/* far from its GPU: where its CPUs are */
		{ "lassen", "0035:03:00.0", "96-175", "8" },	/* not the GPU's own memory */
		{ "chimera", "0000:44:00.0", "8-15", "2" },
		{ "chimera", "0000:44:00.0", "24-31", "0" },	/* its CPUs' node has none */
		{ "tioga", "0000:c1:00.0", "48-55", "3" },
		{ "tioga", "none", "48-55", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scene *s = scene_of(rows[i].machine);
		struct pci_address a;
		struct deal_task t = { .near = NULL };
		struct cpu_set nodes;
		char text[CPU_LIST_MAX];

		if (pci_parse(rows[i].gpu, &a) == 0)
			t.near = &s->near[devices_gpu(&s->devices, &a) - s->devices.gpu];
		ck_assert_int_eq(cpu_set_parse(rows[i].cpus, &t.cpus), 0);
		memory_nodes(&s->numa, &t, &nodes);
		ck_assert_msg(!strcmp(cpu_set_text(&nodes, text), rows[i].nodes), "%s %s: %s",
			rows[i].machine, rows[i].gpu, text);
	}
}
END_TEST

START_TEST(task_without_a_local_cpu_is_told_what_mends_it)
{
	struct fault why = { "" };
	struct scene *s = scene_of("pascal");
	int local;

	s->tasks = 1;
	cpu_set_parse("18-21", &s->task[0].cpus);
	s->task[0].near = &s->near[0];
	ck_assert_int_eq(deal_nearest(&s->cores, s->task, 1), 0);
	ck_assert_int_eq(alignment_of(&s->task[0], &local), ALIGNED_NONE);
	ck_assert_int_eq(alignment_fault(&s->task[0], 0, "0000:04:00.0", &s->task[0].cpus, &why), -1);
	ck_assert_str_eq(why.text, "task 0: none of its CPUs 18-21 is next to its GPU 0000:04:00.0, whose "
				   "CPUs are 0-17,36-53; the job's part "
				   "of this node has no others. Ask for them with "
				   "--gres-flags=enforce-binding, or for more CPUs with --cpus-per-gpu");
}
END_TEST

Suite *deal_suite(void)
{
	TCase *t = tcase_create("deal");
	Suite *s = suite_create("deal");

	tcase_add_unchecked_fixture(t, scenes_read, scenes_free);
	tcase_add_loop_test(t, random_jobs_get_what_is_promised, 0, MACHINES);
	tcase_add_loop_test(t, small_jobs_are_as_near_as_can_be, 0, MACHINES);
	tcase_add_loop_test(t, whole_machine_is_dealt_next_to_its_gpus, 0, MACHINES);
	tcase_add_test(t, order_in_which_tasks_are_known_does_not_matter);
	tcase_add_test(t, tasks_that_share_a_cpu_are_left_alone);
	tcase_add_loop_test(t, even_shares_are_whole_cores_and_never_too_few, 0, MACHINES);
	tcase_add_test(t, tasks_with_crossed_gpus_change_sides);
	tcase_add_test(t, memory_comes_from_the_nodes_next_to_the_gpus);
	tcase_add_test(t, task_without_a_local_cpu_is_told_what_mends_it);
	suite_add_tcase(s, t);
	return s;
}
