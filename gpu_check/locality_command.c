/* SPDX-License-Identifier: GPL-2.0-or-later
 * locality_command.c - gpu-check locality: read a machine, deal CPUs to tasks
 *
 * GPUs go to tasks in the order in which they were named: with as many tasks as GPUs one each, with fewer
 * tasks (or more) neighbours together; when it does not come out even, every task has all of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "gpu_check/commands.h"
#include "gpu_check/locality_view.h"
#include "locality/sysfs.h"
#include "locality/task_devices.h"

static void view_free(struct view *v)
{
	for (int t = 0; t < v->tasks && v->deal; t++) {
		/* neighbours share */
		bool last = t + 1 == v->tasks || v->deal[t + 1].near != v->deal[t].near;

		if (last && v->deal[t].near) {
			nearness_free((struct nearness *)v->deal[t].near);
			free((struct nearness *)v->deal[t].near);
		}
	}
	free(v->deal);
	free(v->task);
	devices_free(&v->devices);
	numa_free(&v->numa);
}

const char *view_gpu_names(const struct view_task *t, char buf[static GPU_NAMES_MAX])
{
	size_t n = 0;
	char text[PCI_TEXT_MAX];

	buf[0] = '\0';
	for (int i = 0; i < t->gpus; i++)
		n += (size_t)snprintf(buf + n, GPU_NAMES_MAX - n, "%s%s", i ? "," : "",
			pci_text(&t->gpu[i]->address, text));
	return buf;
}

/* --- which GPUs --------------------------------------------------------------------------------------- */

static int gpu_add(struct view *v, const char *text)
{
	struct pci_address a;
	const struct gpu *g;

	if (pci_parse(text, &a) < 0)
		return complain(EXIT_USAGE, "--gpus: \"%s\" is no bus id such as 0000:c1:00.0", text);
	g = devices_gpu(&v->devices, &a);
	if (!g)
		return complain(EXIT_FAILED,
			"--gpus: there is no GPU %s on this machine; 'gpu-check locality' lists them", text);
	for (int i = 0; i < v->gpus; i++)
		if (v->gpu[i] == g)
			return complain(EXIT_USAGE, "--gpus: %s is named twice", text);
	v->gpu[v->gpus++] = g;
	return EXIT_DONE;
}

static const char *variable_of(void *from, const char *name)
{
	(void)from;
	return getenv(name);
}

static int gpus_mine(int root, struct view *v)
{
	struct device_name names[GPUS_MAX];
	struct task_gpus mine;

	device_names_read(root, &v->devices, names);
	task_gpus_find(&v->devices, names, variable_of, NULL, &mine);
	for (; v->gpus < mine.count; v->gpus++)
		v->gpu[v->gpus] = mine.gpu[v->gpus];
	if (mine.unsure)
		complain(EXIT_DONE, "the environment does not tell which of these GPUs are meant: all that "
				    "can be are shown");
	return EXIT_DONE;
}

/* Those that were named. Otherwise all: to be dealt only what somebody computes on. */
static int gpus_choose(int root, const struct options *o, struct view *v)
{
	char *list = o->gpus ? strdup(o->gpus) : NULL, *save = NULL;
	int rv = EXIT_DONE;

	if (o->mine)
		return gpus_mine(root, v);
	if (!o->gpus) {
		for (int i = 0; i < v->devices.gpus; i++)
			if (!o->tasks || !v->devices.gpu[i].console)
				v->gpu[v->gpus++] = &v->devices.gpu[i];
		return EXIT_DONE;
	}
	if (!list)
		return complain(EXIT_FAILED, "no memory");
	for (char *word = strtok_r(list, ",", &save); word && rv == EXIT_DONE;
		word = strtok_r(NULL, ",", &save))
		rv = gpu_add(v, word);
	free(list);
	if (rv == EXIT_DONE && v->gpus == 0)
		rv = complain(EXIT_USAGE, "--gpus names none");
	return rv;
}

/* --- dealing ------------------------------------------------------------------------------------------ */

static void gpus_to_task(const struct view *v, int t, struct view_task *out)
{
	*out = (struct view_task){ v->gpu, v->gpus };
	if (v->gpus && v->gpus % v->tasks == 0)
		*out = (struct view_task){ v->gpu + t * (v->gpus / v->tasks), v->gpus / v->tasks };
	else if (v->gpus && v->tasks % v->gpus == 0)
		*out = (struct view_task){ v->gpu + t / (v->tasks / v->gpus), 1 };
}

static int tasks_make(struct view *v)
{
	v->deal = calloc((size_t)v->tasks, sizeof(*v->deal));
	v->task = calloc((size_t)v->tasks, sizeof(*v->task));
	if (!v->deal || !v->task)
		return -1;
	for (int t = 0; t < v->tasks; t++) {
		struct nearness *near;

		gpus_to_task(v, t, &v->task[t]);
		if (t > 0 && v->task[t].gpu == v->task[t - 1].gpu) {
			v->deal[t].near = v->deal[t - 1].near;
			continue;
		}
		near = calloc(1, sizeof(*near));
		if (!near)
			return -1;
		v->deal[t].near = near;
		if (nearness_of(&v->numa, v->task[t].gpu, v->task[t].gpus, near) < 0)
			return -1;
	}
	return 0;
}

static int deal_cores(const struct cores *cores, int cpus, struct view *v)
{
	struct cpu_set *set = calloc((size_t)v->tasks, sizeof(*set));
	int rv = set ? deal_evenly(cores, v->tasks, cpus / v->tasks, set) : -1;

	for (int t = 0; rv == 0 && t < v->tasks; t++)
		v->deal[t].cpus = set[t];
	free(set);
	return rv == 0 ? deal_nearest(cores, v->deal, v->tasks) : -1;
}

static int cpus_read(int root, const struct options *o, struct cpu_set *cpus)
{
	struct cpu_set online, missing;
	char text[CPU_LIST_MAX];

	if (cpu_set_parse(o->cpus, cpus) < 0)
		return complain(EXIT_USAGE, "--cpus: \"%s\" is no list of CPUs such as 0-15,64-79", o->cpus);
	if (sysfs_list(root, &online, "sys/devices/system/cpu/online") < 0)
		return complain(EXIT_FAILED, "%s: sys/devices/system/cpu/online cannot be read: %s", o->root,
			strerror(errno));
	cpu_set_without(&missing, cpus, &online);
	if (!cpu_set_empty(&missing))
		return complain(EXIT_FAILED, "--cpus: this machine has no CPUs %s",
			cpu_set_text(&missing, text));
	return EXIT_DONE;
}

static int tasks_deal(int root, const struct options *o, struct view *v)
{
	struct cores cores = { 0 };
	struct cpu_set cpus;
	int rv = cpus_read(root, o, &cpus), n;

	if (rv != EXIT_DONE)
		return rv;
	n = cpu_set_count(&cpus);
	if (n < o->tasks)
		return complain(EXIT_FAILED, "--cpus: %d CPUs are too few for %d tasks", n, o->tasks);
	v->tasks = o->tasks;
	if (tasks_make(v) < 0 || cores_read(root, &v->numa, &cpus, &cores) < 0 ||
		deal_cores(&cores, n, v) < 0)
		rv = complain(EXIT_FAILED, "the CPUs cannot be dealt: %s", strerror(errno));
	cores_free(&cores);
	return rv;
}

/* Tell of tasks that are far from their GPUs. */
static int tasks_judge(const struct options *o, const struct view *v)
{
	int rv = EXIT_DONE, local;

	for (int t = 0; t < v->tasks; t++) {
		struct fault why = { "" };
		char names[GPU_NAMES_MAX];

		if (alignment_of(&v->deal[t], &local) != ALIGNED_NONE)
			continue;
		alignment_fault(&v->deal[t], t, view_gpu_names(&v->task[t], names), &v->deal[t].cpus, &why);
		complain(EXIT_FAR, "%s", why.text);
		if (o->strict)
			rv = EXIT_FAR;
	}
	return rv;
}

/* --- the command -------------------------------------------------------------------------------------- */

static int machine_read(int root, const struct options *o, struct view *v)
{
	struct places_file places = { 0 };
	struct fault why = { "" };
	int rv = EXIT_DONE;

	if (places_file_read(root, o->places + strspn(o->places, "/"), &places, &why) < 0)
		return complain(EXIT_FAILED, "%s", why.text);
	if (numa_read(root, &v->numa) < 0 || devices_read(root, &v->numa, &places, &v->devices) < 0)
		rv = complain(EXIT_FAILED, "%s cannot be read: %s", o->root, strerror(errno));
	else
		devices_links_read(root, &v->devices);
	places_file_free(&places);
	return rv;
}

static int view_make(int root, const struct options *o, struct view *v)
{
	int rv = machine_read(root, o, v);

	if (rv == EXIT_DONE)
		rv = gpus_choose(root, o, v);
	return rv == EXIT_DONE && o->tasks ? tasks_deal(root, o, v) : rv;
}

int locality_command(const struct options *o)
{
	int root = open(o->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rv;
	struct view v = { .gpus = 0 };

	if (root < 0)
		return complain(EXIT_FAILED, "%s: %s", o->root, strerror(errno));
	if (faccessat(root, "sys", F_OK, 0) < 0)
		rv = complain(EXIT_FAILED,
			"%s has no folder sys: --root is the folder that has it, as / does", o->root);
	else
		rv = view_make(root, o, &v);
	if (rv == EXIT_DONE) {
		rv = (o->json ? view_print_json : view_print_table)(&v) < 0
			? complain(EXIT_FAILED, "no memory") : tasks_judge(o, &v);
	}
	view_free(&v);
	close(root);
	return rv;
}
