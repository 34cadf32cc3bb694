/* SPDX-License-Identifier: GPL-2.0-or-later
 * numa.c - tasks next to their GPUs (numa.h): read the machine, tell the others, work out the same deal, take
 * one's own part of it */
#include "config.h"
#include "spank/numa.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "locality/alignment.h"
#include "locality/plan.h"
#include "locality/sysfs.h"
#include "spank/board.h"

enum { WAIT_MS = 2000 };	/* tasks are let go together; one that is not there by then has failed */

struct numa_step {
	struct numa_site site;
	enum numa_mode mode;
	struct board *board;
};

/* --- words -------------------------------------------------------------------------------------------- */

const char *const numa_mode_name[NUMA_MODES] = {
	[NUMA_OFF] = "off", [NUMA_REPORT] = "report", [NUMA_AUTO] = "auto", [NUMA_STRICT] = "strict",
};

void numa_site_init(struct numa_site *s)
{
	*s = (struct numa_site){.mode = NUMA_AUTO,
		.memory = MEMORY_PREFERRED,
		.root = "/",
		.places = CONFDIR "/gpu-places.conf"};
}

int numa_mode_parse(const char *text, enum numa_mode *out, struct fault *why)
{
	for (int m = 0; m < NUMA_MODES; m++)
		if (!strcmp(numa_mode_name[m], text)) {
			*out = (enum numa_mode)m;
			return 0;
		}
	return fault_errno(why, EINVAL, "\"%.40s\" is none of auto, strict, report and off", text);
}

static int memory_parse(const char *text, enum memory_mode *out, struct fault *why)
{
	static const char *const names[] = {
		[MEMORY_OFF] = "off", [MEMORY_PREFERRED] = "preferred", [MEMORY_BIND] = "bind"};

	for (size_t m = 0; m < sizeof(names) / sizeof(names[0]); m++)
		if (!strcmp(names[m], text)) {
			*out = (enum memory_mode)m;
			return 0;
		}
	return fault_errno(
		why, EINVAL, "plugstack.conf: gpu_memory=%.40s is none of preferred, bind and off", text);
}

static int path_keep(char buf[256], const char *text, struct fault *why)
{
	if (text[0] != '/' || strlen(text) >= 256)
		return fault_errno(
			why, EINVAL, "plugstack.conf: \"%.100s\" is no path that begins with /", text);
	strcpy(buf, text);
	return 1;
}

int numa_site_argument(struct numa_site *s, const char *argument, struct fault *why)
{
	const char *value = strchr(argument, '=');
	size_t n = value ? (size_t)(value - argument) : 0;

	if (n == 8 && !strncmp(argument, "gpu_numa", n))
		return numa_mode_parse(value + 1, &s->mode, why) < 0 ? -1 : 1;
	if (n == 10 && !strncmp(argument, "gpu_memory", n))
		return memory_parse(value + 1, &s->memory, why) < 0 ? -1 : 1;
	if (n == 8 && !strncmp(argument, "gpu_root", n))
		return path_keep(s->root, value + 1, why);
	if (n == 10 && !strncmp(argument, "gpu_places", n))
		return path_keep(s->places, value + 1, why);
	return 0;
}

/* --- the step ----------------------------------------------------------------------------------------- */

struct numa_step *numa_new(const struct numa_site *site, enum numa_mode mode, int tasks)
{
	struct numa_step *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->site = *site;
	s->mode = mode;
	s->board = board_new(tasks);
	if (!s->board) {
		numa_end(s);
		return NULL;
	}
	return s;
}

void numa_end(struct numa_step *s)
{
	int err = errno;

	if (s)
		board_free(s->board);
	free(s);
	errno = err;
}

static int affinity_get(pid_t pid, struct cpu_set *out)
{
	cpu_set_clear(out);
	return sched_getaffinity(pid, sizeof(*out), (cpu_set_t *)(void *)out->word);
}

void numa_forked(struct numa_step *s, int task, pid_t pid)
{
	struct cpu_set cpus;

	if (affinity_get(pid, &cpus) == 0)
		board_put_cpus(s->board, task, &cpus);
}

/* --- one task ----------------------------------------------------------------------------------------- */

/* All that it works with. */
struct work {
	struct numa_step *step;
	int task, tasks, root;
	struct numa numa;
	struct devices devices;
	struct task_gpus mine;
	struct cpu_set cpus;		/* as Slurm gave them */
	struct cpu_set all;		/* of all tasks of the node */
	struct deal_task *deal;		/* of all tasks of the node */
	uint64_t *gpus;			/* the same */
	struct nearness *near;		/* the same: of each task's GPUs, by the first task that has these */
	bool kept;			/* by somebody's word nothing is moved */
};

static int machine_read(struct work *w, variable_get get, void *from)
{
	struct device_name names[GPUS_MAX];
	struct places_file places = { 0 };
	const char *file = w->step->site.places;

	w->root = open(w->step->site.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->root < 0 || numa_read(w->root, &w->numa) < 0)
		return -1;
	/* gpu-check tells what is wrong with it */
	places_file_read(w->root, file + strspn(file, "/"), &places, NULL);
	if (devices_read(w->root, &w->numa, &places, &w->devices) < 0) {
		places_file_free(&places);
		return -1;
	}
	places_file_free(&places);
	device_names_read(w->root, &w->devices, names);
	task_gpus_find(&w->devices, names, get, from, &w->mine);
	return 0;
}

static uint64_t gpu_bits(const struct work *w)
{
	uint64_t bits = 0;

	for (int i = 0; i < w->mine.count; i++)
		bits |= UINT64_C(1) << (w->mine.gpu[i] - w->devices.gpu);
	return bits;
}

/* Tasks with the same GPUs share what is near to them. */
static int near_find(struct work *w, int t)
{
	const struct gpu *gpu[GPUS_MAX];
	int n = 0;

	for (int u = 0; u < t; u++)
		if (w->gpus[u] == w->gpus[t]) {
			w->deal[t].near = w->deal[u].near;
			return 0;
		}
	for (int i = 0; i < w->devices.gpus; i++)
		if (w->gpus[t] >> i & 1)
			gpu[n++] = &w->devices.gpu[i];
	if (n == 0)
		return 0;
	if (nearness_of(&w->numa, gpu, n, &w->near[t]) < 0)
		return -1;
	w->deal[t].near = &w->near[t];
	return 0;
}

/* Of all tasks, or of this one alone (`all` false) when the others did not tell. */
static int rows_read(struct work *w, bool all)
{
	w->tasks = all ? board_tasks(w->step->board) : 1;
	w->deal = calloc((size_t)w->tasks, sizeof(*w->deal));
	w->gpus = calloc((size_t)w->tasks, sizeof(*w->gpus));
	w->near = calloc((size_t)w->tasks, sizeof(*w->near));
	if (!w->deal || !w->gpus || !w->near)
		return -1;
	for (int t = 0; t < w->tasks; t++) {
		bool kept = false;

		if (!all) {
			w->deal[t].cpus = w->cpus;
			w->gpus[t] = gpu_bits(w);
		} else if (!board_row(w->step->board, t, &w->deal[t].cpus, &w->gpus[t], &kept)) {
			kept = true;
		}
		w->kept |= kept || !all;
		cpu_set_or(&w->all, &w->all, &w->deal[t].cpus);
		if (near_find(w, t) < 0)
			return -1;
	}
	if (!all)
		w->task = 0;	/* the only row */
	return 0;
}

static void work_free(struct work *w)
{
	for (int t = 0; t < w->tasks && w->near; t++)
		nearness_free(&w->near[t]);
	free(w->deal);
	free(w->gpus);
	free(w->near);
	devices_free(&w->devices);
	numa_free(&w->numa);
	if (w->root >= 0)
		close(w->root);
}

/* The CPUs of the plan, if the kernel gives exactly these; else what was is put back. */
static int affinity_set(struct work *w)
{
	struct cpu_set *want = &w->deal[w->task].cpus, now;

	if (cpu_set_equal(want, &w->cpus))
		return 0;
	if (sched_setaffinity(0, sizeof(*want), (const cpu_set_t *)(const void *)want->word) == 0 &&
		affinity_get(0, &now) == 0 && cpu_set_equal(want, &now))
		return 0;
	sched_setaffinity(0, sizeof(w->cpus), (const cpu_set_t *)(const void *)w->cpus.word);
	*want = w->cpus;
	return -1;
}

static int cpus_deal(struct work *w, int cpus_each, enum binding binding)
{
	struct cores cores = { 0 };
	enum plan done = PLAN_KEPT;
	int rv;

	if (w->kept || w->step->mode < NUMA_AUTO)
		return 0;
	rv = cores_read(w->root, &w->numa, &w->all, &cores);
	if (rv == 0)
		rv = plan_make(&cores, w->deal, w->tasks, binding, cpus_each, &done);
	cores_free(&cores);
	return rv == 0 && done != PLAN_KEPT ? affinity_set(w) : rv;
}

/* --- telling ------------------------------------------------------------------------------------------ */

static void append(char *buf, size_t size, const struct gpu *g, const char *value)
{
	char address[PCI_TEXT_MAX];
	size_t n = strlen(buf);

	snprintf(buf + n, size - n, "%s%s=%s", n ? ";" : "", pci_text(&g->address, address), value);
}

static void variables_make(const struct work *w, struct numa_told *told)
{
	char text[CPU_LIST_MAX], node[16];
	int local;

	for (int i = 0; i < w->mine.count; i++) {
		const struct gpu *g = w->mine.gpu[i];
		const struct nic *n = nic_nearest(&w->devices, g);

		snprintf(node, sizeof(node), "%d", g->node);
		append(told->numa, sizeof(told->numa), g, g->node == NODE_UNKNOWN ? "unknown" : node);
		append(told->cpus, sizeof(told->cpus), g, cpu_set_text(&g->near_cpus, text));
		append(told->nic, sizeof(told->nic), g, n && n->name[0] ? n->name : "none");
	}
	if (w->mine.count)
		strcpy(told->local, alignment_name[alignment_of(&w->deal[w->task], &local)]);
}

static const char *gpu_names(const struct work *w, char *buf, size_t size)
{
	char address[PCI_TEXT_MAX];

	buf[0] = '\0';
	for (int i = 0; i < w->mine.count; i++)
		snprintf(buf + strlen(buf), size - strlen(buf), "%s%s", i ? "," : "",
			pci_text(&w->mine.gpu[i]->address, address));
	return buf;
}

/* 0; or -1: strict, and the task is far from its GPUs. */
static int judge(const struct work *w, int task, struct numa_told *told)
{
	const struct deal_task *t = &w->deal[w->task];
	char names[512], cpus[CPU_LIST_MAX];
	int local;
	enum alignment a = alignment_of(t, &local);

	if (w->mine.count && a == ALIGNED_NONE)
		alignment_fault(t, task, gpu_names(w, names, sizeof(names)), &w->all, &told->say);
	else if (w->mine.count && w->step->mode == NUMA_REPORT)
		fault_set(&told->say, "task %d: %d of its CPUs %.300s are beside its GPU %.200s, %s", task,
			local, cpu_set_text(&t->cpus, cpus), gpu_names(w, names, sizeof(names)),
			a == ALIGNED_UNKNOWN ? "as far as anybody knows" : told->numa);
	return w->step->mode == NUMA_STRICT && w->mine.count && a == ALIGNED_NONE ? -1 : 0;
}

/* --- together ----------------------------------------------------------------------------------------- */

/* A copy: the getter's text lives until its next call. */
static char *copy_of(variable_get get, void *from, const char *name)
{
	const char *value = get(from, name);

	return value ? strdup(value) : NULL;
}

static bool changed_since(const struct numa_step *s, int task, const struct cpu_set *now)
{
	struct cpu_set cpus;
	uint64_t gpus;
	bool kept;

	return !board_row(s->board, task, &cpus, &gpus, &kept) || !cpu_set_equal(&cpus, now);
}

/* Said by --mem-bind; "quiet" and the like alone say nothing. */
static bool memory_is_said(const char *type)
{
	static const char *const words[] = { "local", "rank", "map_mem", "mask_mem" };

	for (size_t i = 0; type && i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(type, words[i]))
			return true;
	return false;
}

static int task_place(struct work *w, int cpus_each, enum binding binding, const char *mem_bind_type,
	struct numa_told *told)
{
	struct cpu_set nodes;
	int task = w->task, rv;

	if (rows_read(w, board_wait(w->step->board, WAIT_MS) == 0) < 0 ||
		cpus_deal(w, cpus_each, binding) < 0)
		return 0;
	variables_make(w, told);
	rv = judge(w, task, told);
	if (rv == 0 && w->step->mode >= NUMA_AUTO && !memory_is_said(mem_bind_type)) {
		memory_nodes(&w->numa, &w->deal[w->task], &nodes);
		memory_set(&nodes, w->step->site.memory, NULL);
	}
	return rv;
}

int numa_task(
	struct numa_step *s, int task, int cpus_each, variable_get get, void *from, struct numa_told *told)
{
	struct work w = { .step = s, .task = task, .root = -1 };
	enum binding binding =
		get(from, NUMA_SAID) ? BINDING_USER : binding_of(get(from, "SLURM_CPU_BIND_TYPE"));
	char *mem_bind_type = copy_of(get, from, "SLURM_MEM_BIND_TYPE");
	bool readable =
		affinity_get(0, &w.cpus) == 0 && machine_read(&w, get, from) == 0 && w.devices.gpus > 0;
	int rv = 0;

	memset(told, 0, sizeof(*told));
	board_put_gpus(
		s->board, task, readable ? gpu_bits(&w) : 0, !readable || changed_since(s, task, &w.cpus));
	if (readable)
		rv = task_place(&w, cpus_each, binding, mem_bind_type, told);
	work_free(&w);
	free(mem_bind_type);
	return rv;
}
