/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_request.c - what was asked: how many GPUs a submission will be given
 *
 * For each type the largest of job, node x nodes, socket x sockets and task x tasks. Numbers of nodes and
 * tasks are spans, from the least to the most that Slurm may choose, and so is the answer. Combinations that
 * Slurm itself refuses when it validates a job (seen with 22.05.8) are errors here too, with the figures that
 * do not go together. Whole nodes (--exclusive) come with all their GPUs, whatever was asked. */
#include "config.h"
#include "lib/gpu_request.h"
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include "lib/gres_list.h"

#define GPUS_MOST ((int64_t)1 << 31)

enum per { PER_JOB, PER_NODE, PER_SOCKET, PER_TASK, PERS };

/* The four strings, what users call them, and the sentence for the answer they give: exact or not. */
static const struct {
	const char *name, *options;
	size_t offset;
	const char *rule, *rule_span;
} fields[PERS] = {
	[PER_JOB] = { "tres_per_job", "--gpus", offsetof(struct gpu_request_input, tres_per_job),
		"GPUs of the whole job", "GPUs of the whole job" },
	[PER_NODE] = { "tres_per_node", "--gres, --gpus-per-node",
		offsetof(struct gpu_request_input, tres_per_node), "GPUs per node x nodes",
		"GPUs per node x nodes, and how many nodes is for Slurm to choose; --nodes=N settles it" },
	[PER_SOCKET] = { "tres_per_socket", "--gpus-per-socket",
		offsetof(struct gpu_request_input, tres_per_socket),
		"GPUs per socket x sockets per node x nodes",
		"GPUs per socket x sockets per node x nodes, and how many nodes is for Slurm to choose; "
		"--nodes=N settles it" },
	[PER_TASK] = { "tres_per_task", "--gpus-per-task", offsetof(struct gpu_request_input, tres_per_task),
		"GPUs per task x tasks",
		"GPUs per task x tasks, and how many nodes, so tasks, is for Slurm to choose; --ntasks=N "
		"settles it" },
};

struct span {
	int64_t min, max;
};

/* What is asked of one kind and type. */
struct ask {
	enum gres_kind kind;
	char type[GPU_TYPE_MAX];
	int64_t by[PERS];	/* 0 = not asked this way */
};

struct reading {
	const struct gpu_request_input *in;
	struct ask asks[GPU_TYPES_MAX + 2];	/* the types, shard and mps */
	int nasks;
	struct span nodes, tasks;
	bool twice;		/* the same GPUs by two options that exclude each other */
	const char *rule;
};

void gpu_request_input_init(struct gpu_request_input *in)
{
	*in = (struct gpu_request_input){
		.num_tasks = GPU_REQUEST_UNSET,
		.min_nodes = GPU_REQUEST_UNSET,
		.max_nodes = GPU_REQUEST_UNSET,
		.ntasks_per_node = GPU_REQUEST_UNSET,
		.ntasks_per_socket = GPU_REQUEST_UNSET,
		.sockets_per_node = GPU_REQUEST_UNSET,
		.cpus_per_task = GPU_REQUEST_UNSET,
		.ntasks_per_tres = GPU_REQUEST_UNSET,
	};
}

/* 0 tasks or nodes is how some clients write "not given". */
static bool given(uint32_t n)
{
	return n != GPU_REQUEST_UNSET && n != 0;
}

static const char *field_text(const struct gpu_request_input *in, enum per per)
{
	return *(const char *const *)((const char *)in + fields[per].offset);
}

bool gpu_request_concerns(const struct gpu_request_input *in)
{
	static const char *const words[] = { "gpu", "shard", "mps" };

	for (enum per per = 0; per < PERS; per++)
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (field_text(in, per) && strcasestr(field_text(in, per), words[i]))
				return true;
	return given(in->ntasks_per_tres) || in->exclusive;
}

static int64_t divide_up(int64_t a, int64_t b)
{
	return a / b + (a % b > 0);
}

static int too_many(struct fault *why)
{
	return fault_errno(why, EOVERFLOW, "more than %" PRId64 " GPUs are asked for", GPUS_MOST);
}

/* --- the strings ------------------------------------------------------------------------------------ */

static struct ask *find_ask(struct reading *r, const struct gres_item *item)
{
	struct ask *a = r->asks;

	for (; a < r->asks + r->nasks; a++)
		if (a->kind == item->kind && (item->kind != GRES_GPU || !strcmp(a->type, item->type)))
			return a;
	if (r->nasks == (int)(sizeof(r->asks) / sizeof(r->asks[0])))
		return NULL;
	*a = (struct ask){ .kind = item->kind };
	if (item->kind == GRES_GPU)
		memcpy(a->type, item->type, sizeof(a->type));
	r->nasks++;
	return a;
}

static int64_t at_least(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Shards and mps are summed over types. The same GPUs twice are two options that exclude each other
 * (--gres=gpu and
 * --gpus-per-node): sbatch takes them all the same and counts them once, but which one is not documented. */
static int take_item(
	struct reading *r, enum per per, const char *list, const struct gres_item *item, struct fault *why)
{
	struct ask *a;

	if (item->id)
		return gres_list_fault(
			list, item->name, EINVAL, why, "a number where a name such as gpu belongs");
	if (item->kind == GRES_OTHER || item->count == 0)
		return 0;
	if (item->count > GPUS_MOST)
		return gres_list_fault(list, item->name, EOVERFLOW, why, "more than 2147483648 GPUs");
	a = find_ask(r, item);
	if (!a)
		return gres_list_fault(list, item->name, EINVAL, why, "more types than can be told apart");
	if (a->by[per] && item->kind == GRES_GPU) {
		r->twice = true;
		a->by[per] = at_least(a->by[per], item->count);
		return 0;
	}
	a->by[per] += item->count;
	return a->by[per] > GPUS_MOST ? too_many(why) : 0;
}

static int read_field(struct reading *r, enum per per, struct fault *why)
{
	const char *list = field_text(r->in, per), *cursor = NULL;
	struct fault reason = { "" };
	struct gres_item item;
	int rc = 0;

	while (list && (rc = gres_list_next(list, &cursor, &item, &reason)) > 0)
		if (take_item(r, per, list, &item, &reason) < 0) {
			rc = -1;
			break;
		}
	if (rc < 0)
		return fault_set(why, "%s (%s): %s", fields[per].name, fields[per].options, reason.text);
	return 0;
}

static int count_gpu_asks(const struct reading *r)
{
	int n = 0;

	for (int i = 0; i < r->nasks; i++)
		n += r->asks[i].kind == GRES_GPU;
	return n;
}

/* Slurm refuses GPUs with and without a type in one job, in whatever options they stand. */
static int check_types(const struct reading *r, struct fault *why)
{
	for (int i = 0; i < r->nasks; i++)
		if (r->asks[i].kind == GRES_GPU && !r->asks[i].type[0] && count_gpu_asks(r) > 1)
			return fault_errno(why, EINVAL,
				"GPUs are asked for with a type and without one; give all of them a type or "
				"none");
	return 0;
}

/* --- nodes and tasks -------------------------------------------------------------------------------- */

/* Tasks spread over at most as many nodes as there are tasks; a number per node tells how many they fill. */
static struct span nodes_by_tasks(const struct gpu_request_input *in)
{
	if (!given(in->num_tasks))
		return (struct span){ 1, 1 };
	if (given(in->ntasks_per_node))
		return (struct span){ divide_up(in->num_tasks, in->ntasks_per_node),
			divide_up(in->num_tasks, in->ntasks_per_node) };
	return (struct span){ 1, in->num_tasks };
}

static int64_t at_most(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int read_nodes(struct reading *r, struct fault *why)
{
	const struct gpu_request_input *in = r->in;
	struct span tasks = nodes_by_tasks(in), n = tasks;

	if (given(in->min_nodes) && given(in->max_nodes) && in->min_nodes > in->max_nodes)
		return fault_errno(why, EINVAL,
			"at least %" PRIu32 " nodes but at most %" PRIu32 " are asked for", in->min_nodes,
			in->max_nodes);
	if (given(in->min_nodes)) {
		n.min = at_least(in->min_nodes, tasks.min);
		n.max = at_least(in->min_nodes, tasks.max);
	}
	if (given(in->max_nodes)) {
		int64_t most = given(in->num_tasks) ? at_least(tasks.max, n.min) : in->max_nodes;

		n.max = at_most(in->max_nodes, most);
		n.min = at_most(n.min, n.max);
	}
	r->nodes = n;
	return 0;
}

/* Absurd numbers of tasks per node stay absurd, without wrapping round. */
static int64_t multiply(int64_t a, int64_t b)
{
	int64_t n;

	return __builtin_mul_overflow(a, b, &n) ? INT64_MAX : n;
}

/* The default is one task per node. */
static void read_tasks(struct reading *r)
{
	const struct gpu_request_input *in = r->in;
	int64_t per_node = given(in->ntasks_per_node) ? in->ntasks_per_node : 1;

	if (given(in->num_tasks))
		r->tasks = (struct span){ in->num_tasks, in->num_tasks };
	else
		r->tasks =
			(struct span){ multiply(r->nodes.min, per_node), multiply(r->nodes.max, per_node) };
}

/* GPUs of the job and per node together are a number of nodes. */
static int settle_nodes(struct reading *r, const struct ask *a, struct fault *why)
{
	int64_t job = a->by[PER_JOB], node = a->by[PER_NODE], nodes;
	int64_t least = given(r->in->min_nodes) ? r->in->min_nodes : 1;

	if (!job || !node)
		return 0;
	if (job % node)
		return fault_errno(why, EINVAL,
			"%" PRId64 " GPUs for the job are not a multiple of %" PRId64 " per node", job, node);
	nodes = job / node;
	if (nodes < least || (given(r->in->max_nodes) && nodes > r->in->max_nodes))
		return fault_errno(why, EINVAL,
			"%" PRId64 " GPUs for the job, %" PRId64 " per node, are %" PRId64
			" nodes, but another number of nodes is asked for",
			job, node, nodes);
	r->nodes = (struct span){ nodes, nodes };
	return 0;
}

/* GPUs of the job and per task together are a number of tasks. */
static int settle_tasks(struct reading *r, const struct ask *a, struct fault *why)
{
	int64_t job = a->by[PER_JOB], task = a->by[PER_TASK];

	if (task && given(r->in->ntasks_per_tres))
		return fault_errno(why, EINVAL, "--gpus-per-task and --ntasks-per-gpu exclude each other");
	if (!job || !task)
		return 0;
	if (job % task)
		return fault_errno(why, EINVAL,
			"%" PRId64 " GPUs for the job are not a multiple of %" PRId64 " per task", job, task);
	if (given(r->in->num_tasks) && r->in->num_tasks != job / task)
		return fault_errno(why, EINVAL,
			"%" PRId64 " GPUs for the job, %" PRId64 " per task, are %" PRId64
			" tasks, but %" PRIu32 " are asked for",
			job, task, job / task, r->in->num_tasks);
	r->tasks = (struct span){ job / task, job / task };
	return 0;
}

/* --ntasks-per-gpu alone asks for GPUs too: tasks / tasks per GPU, of any type. */
static int ask_by_tasks(struct reading *r, struct fault *why)
{
	const struct gpu_request_input *in = r->in;
	struct gres_item any = { .kind = GRES_GPU };
	struct ask *a;

	if (!given(in->ntasks_per_tres) || count_gpu_asks(r) > 0)
		return 0;
	if (!given(in->num_tasks) && !given(in->min_nodes))
		return fault_errno(
			why, EINVAL, "--ntasks-per-gpu needs a number of GPUs, of tasks or of nodes");
	if (given(in->num_tasks) && in->num_tasks % in->ntasks_per_tres)
		return fault_errno(why, EINVAL,
			"%" PRIu32 " tasks are not a multiple of %" PRIu32 " tasks per GPU", in->num_tasks,
			in->ntasks_per_tres);
	a = find_ask(r, &any);
	if (!a)
		return fault_errno(why, EINVAL, "more types of GPUs than can be told apart");
	if (given(in->num_tasks))
		a->by[PER_JOB] = in->num_tasks / in->ntasks_per_tres;
	else
		a->by[PER_NODE] = 1;	/* each node gets just the tasks that share one GPU */
	r->rule = "tasks / tasks per GPU";
	return 0;
}

static int derive(struct reading *r, struct fault *why)
{
	if (read_nodes(r, why) < 0 || ask_by_tasks(r, why) < 0)
		return -1;
	for (int i = 0; i < r->nasks; i++)
		if (settle_nodes(r, &r->asks[i], why) < 0)
			return -1;
	read_tasks(r);
	for (int i = 0; i < r->nasks; i++)
		if (settle_tasks(r, &r->asks[i], why) < 0)
			return -1;
	return 0;
}

/* --- the answer ------------------------------------------------------------------------------------- */

/* How many sockets: per node x nodes, else what the tasks fill. GPUs per node tell it too: node / socket. */
static int sockets(const struct reading *r, const struct ask *a, struct span *out, struct fault *why)
{
	const struct gpu_request_input *in = r->in;
	int64_t per_node = 0;

	if (a->by[PER_NODE] && a->by[PER_NODE] % a->by[PER_SOCKET])
		return fault_errno(why, EINVAL,
			"%" PRId64 " GPUs per node are not a multiple of %" PRId64 " per socket",
			a->by[PER_NODE], a->by[PER_SOCKET]);
	if (given(in->sockets_per_node))
		per_node = in->sockets_per_node;
	else if (a->by[PER_NODE])
		per_node = a->by[PER_NODE] / a->by[PER_SOCKET];
	if (per_node) {
		if (__builtin_mul_overflow(r->nodes.min, per_node, &out->min) ||
			__builtin_mul_overflow(r->nodes.max, per_node, &out->max))
			return too_many(why);
		return 0;
	}
	if (!given(in->num_tasks) || !given(in->ntasks_per_socket))
		return fault_errno(why, EINVAL, "--gpus-per-socket needs --sockets-per-node");
	out->min = out->max = divide_up(in->num_tasks, in->ntasks_per_socket);
	return 0;
}

/* The largest of the four ways; *winner is the one that gave the lower bound. */
static int total(
	const struct reading *r, const struct ask *a, struct span *out, enum per *winner, struct fault *why)
{
	struct span times[PERS] = { [PER_JOB] = { 1, 1 }, [PER_NODE] = r->nodes, [PER_TASK] = r->tasks };

	*out = (struct span){ 0, 0 };
	*winner = PER_JOB;
	if (a->by[PER_SOCKET] && sockets(r, a, &times[PER_SOCKET], why) < 0)
		return -1;
	for (enum per per = 0; per < PERS; per++) {
		int64_t min, max;

		if (__builtin_mul_overflow(a->by[per], times[per].min, &min) ||
			__builtin_mul_overflow(a->by[per], times[per].max, &max) || max > GPUS_MOST)
			return too_many(why);
		if (min > out->min)
			*winner = per;
		out->min = at_least(out->min, min);
		out->max = at_least(out->max, max);
	}
	return 0;
}

static int add_ask(struct reading *r, const struct ask *a, struct gpu_request *out, struct fault *why)
{
	enum per winner;
	struct span n;

	if (total(r, a, &n, &winner, why) < 0)
		return -1;
	if (n.min != n.max)
		out->exact = false;
	if (!r->rule || n.min != n.max)
		r->rule = n.min == n.max ? fields[winner].rule : fields[winner].rule_span;
	if (a->kind == GRES_SHARD)
		out->gpus.shards += n.max;
	else if (a->kind == GRES_MPS)
		out->gpus.mps += n.max;
	else if (gpu_count_add(&out->gpus, a->type, n.max) < 0)
		return fault_set(why, "more types of GPUs than can be told apart");
	else
		out->gpus_min += n.min;
	return 0;
}

/* Nodes taken whole bring all their GPUs. What a node has may not be known: then the figure is the least. */
static int take_whole_nodes(
	const struct reading *r, int64_t per_node, struct gpu_request *out, struct fault *why)
{
	int64_t nodes = r->nodes.max, whole;

	if (per_node <= 0) {
		out->exact = false;
		out->at_least = true;
		out->rule = "nodes taken whole: the GPUs asked for, or more, as many as those nodes have";
		return 0;
	}
	if (!given(r->in->max_nodes))
		nodes = at_least(nodes, divide_up(out->gpus.total, per_node));
	if (__builtin_mul_overflow(nodes, per_node, &whole) || whole > GPUS_MOST)
		return too_many(why);
	if (whole > out->gpus.total && gpu_count_add(&out->gpus, "", whole - out->gpus.total) < 0)
		return fault_set(why, "more types of GPUs than can be told apart");
	out->rule = "nodes taken whole: nodes x the GPUs of the largest node";
	return 0;
}

static int answer(struct reading *r, const struct gpu_request_cluster *cluster, struct gpu_request *out,
	struct fault *why)
{
	for (int i = 0; i < r->nasks; i++)
		if (add_ask(r, &r->asks[i], out, why) < 0)
			return -1;
	if (out->gpus.total > GPUS_MOST)
		return too_many(why);
	out->rule = r->rule ? r->rule : "no GPU is asked for";
	if (r->in->exclusive && take_whole_nodes(r, cluster ? cluster->gpus_per_node : 0, out, why) < 0)
		return -1;
	out->gpus_max = out->gpus.total;
	if (out->gpus_min != out->gpus_max || r->twice)
		out->exact = false;
	if (r->twice) {
		out->at_least = false;
		out->rule = "the same GPUs asked for by two options that exclude each other: the larger figure, perhaps";
	}
	return 0;
}

int gpu_request_read(const struct gpu_request_input *in, const struct gpu_request_cluster *cluster,
	struct gpu_request *out, struct fault *why)
{
	struct gpu_request result = { .exact = true, .array_tasks = 1 };
	struct reading r = { .in = in };

	if (in->array && gpu_request_array_tasks(in->array, &result.array_tasks, NULL, why) < 0)
		return -1;
	for (enum per per = 0; per < PERS; per++)
		if (read_field(&r, per, why) < 0)
			return -1;
	if (check_types(&r, why) < 0 || derive(&r, why) < 0 || answer(&r, cluster, &result, why) < 0)
		return -1;
	*out = result;
	return 0;
}
