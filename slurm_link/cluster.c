/* SPDX-License-Identifier: GPL-2.0-or-later
 * cluster.c - partitions and nodes: how many GPUs there are, and how many of them can be given work
 *
 * A node's gres string is the truth about its GPUs; its TRES string has gres/gpu only if
 * AccountingStorageTRES says so. */
#include "slurm_link/compat.h"
#include "slurm_link/internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/tres.h"

#define GRES_TEXT_MAX 512

/* "gpu:h100:8(S:0,2),shard:16" without what is in brackets: sockets and indices are not counts. */
static void without_brackets(const char *gres, char buf[GRES_TEXT_MAX])
{
	size_t n = 0;
	int depth = 0;

	for (; gres && *gres && n + 1 < GRES_TEXT_MAX; gres++) {
		depth += *gres == '(';
		if (!depth)
			buf[n++] = *gres;
		depth -= *gres == ')';
	}
	buf[n] = '\0';
}

static int gpus_of_node(const node_info_t *n, struct gpu_count *out, struct fault *why)
{
	char gres[GRES_TEXT_MAX];

	without_brackets(n->gres, gres);
	return tres_read(gres, out, why);
}

static bool node_is_healthy(uint32_t state)
{
	const uint32_t bad = NODE_STATE_DRAIN | NODE_STATE_FAIL | NODE_STATE_MAINT | NODE_STATE_NO_RESPOND |
		NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN | NODE_STATE_POWER_DOWN |
		NODE_STATE_INVALID_REG | NODE_STATE_REBOOT_ISSUED;
	uint32_t base = state & NODE_STATE_BASE;

	if (state & bad)
		return false;
	return base == NODE_STATE_IDLE || base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED;
}

/* Sum types, shards and mps into `to`. */
static int add_gpus(struct gpu_count *to, const struct gpu_count *from)
{
	for (int i = 0; i < from->ntypes; i++)
		if (gpu_count_add(to, from->types[i].type, from->types[i].count) < 0)
			return -1;
	to->shards += from->shards;
	to->mps += from->mps;
	return 0;
}

static const char *main_type(const struct gpu_count *c)
{
	const struct gpu_type_count *best = NULL;

	for (int i = 0; i < c->ntypes; i++)
		if (c->types[i].type[0] && (!best || c->types[i].count > best->count))
			best = &c->types[i];
	return best ? best->type : NULL;
}

/* What each node has, in the order of Slurm's node table, which a partition's node_inx counts in. */
struct node_gpus {
	struct gpu_count *of;
	size_t count;
};

/* Pairs of first and last index, ended by -1. */
static int fill_partition_gpus(struct partition_view *v, const partition_info_t *p,
	const struct node_gpus *nodes, struct strings *s)
{
	const struct gpu_count *largest = NULL;

	for (const int32_t *x = p->node_inx; x && x[0] >= 0 && x[1] >= 0; x += 2) {
		for (size_t i = (size_t)x[0]; i <= (size_t)x[1] && i < nodes->count; i++) {
			if (add_gpus(&v->gpus, &nodes->of[i]) < 0)
				return -1;
			if (!largest || nodes->of[i].total > largest->total)
				largest = &nodes->of[i];
		}
	}
	v->gpus_per_node = largest ? largest->total : 0;
	v->gpu_type = largest ? strings_keep(s, main_type(largest)) : NULL;
	return 0;
}

static int fill_partition(struct partition_view *v, const partition_info_t *p, const struct node_gpus *nodes,
	struct strings *s)
{
	memset(v, 0, sizeof(*v));
	v->name = strings_keep(s, p->name);
	v->is_default = p->flags & PART_FLAG_DEFAULT;
	v->up = p->state_up == PARTITION_UP;
	v->exclusive = p->max_share == 0;
	v->default_time_s = slurm_link_minutes(p->default_time);
	v->max_time_s = slurm_link_minutes(p->max_time);
	return fill_partition_gpus(v, p, nodes, s);
}

/* Which of the partitions have node `index` of Slurm's table. */
static void fill_partitions_of(uint64_t *in, const partition_info_msg_t *parts, int32_t index)
{
	for (uint32_t i = 0; i < parts->record_count; i++)
		for (const int32_t *x = parts->partition_array[i].node_inx; x && x[0] >= 0 && x[1] >= 0;
			x += 2)
			in[i / 64] |= x[0] <= index && index <= x[1] ? UINT64_C(1) << i % 64 : 0;
}

static int fill_node(struct cluster_view *c, struct node_view *v, const node_info_t *n,
	const struct gpu_count *gpus, struct strings *s)
{
	memset(v, 0, sizeof(*v));
	v->name = strings_keep(s, n->name);
	v->cpus_idle = n->cpus - compat_used_cpus(n);
	v->healthy = node_is_healthy(n->node_state);
	v->draining = n->node_state & NODE_STATE_DRAIN;
	v->reason = strings_keep(s, n->reason);
	v->gpus = gpus->total;
	v->gres = strings_keep(s, n->gres);
	v->features = strings_keep(s, n->features_act ? n->features_act : n->features);
	v->memory_mb = (int64_t)n->real_memory;
	v->reserved = n->node_state & NODE_STATE_RES;
	if (add_gpus(&c->gpus, gpus) < 0)
		return -1;
	return v->healthy ? add_gpus(&c->healthy, gpus) : 0;
}

/* Called twice, see internal.h. */
static int fill_cluster(struct cluster_view *c, const partition_info_msg_t *parts,
	const node_info_msg_t *nodes, const struct node_gpus *gpus, struct strings *s)
{
	memset(&c->gpus, 0, sizeof(c->gpus));
	memset(&c->healthy, 0, sizeof(c->healthy));
	c->node_count = c->partition_count = 0;
	for (uint32_t i = 0; i < nodes->record_count; i++) {
		struct node_view *v = &c->nodes[c->node_count];
		uint64_t *in = &c->partition_bits[i * PARTITION_WORDS(parts->record_count)];

		if (!nodes->node_array[i].name)		/* a gap in Slurm's table: deleted */
			continue;
		c->node_count++;
		if (fill_node(c, v, &nodes->node_array[i], &gpus->of[i], s) < 0)
			return -1;
		v->index = i;
		fill_partitions_of(in, parts, (int32_t)i);
		v->partitions = in;
	}
	for (uint32_t i = 0; i < parts->record_count; i++) {
		struct partition_view *v = &c->partitions[c->partition_count++];

		if (fill_partition(v, &parts->partition_array[i], gpus, s) < 0)
			return -1;
	}
	return 0;
}

static struct cluster_view *cluster_from(const partition_info_msg_t *parts, const node_info_msg_t *nodes,
	const struct node_gpus *gpus)
{
	struct cluster_view *c = calloc(1, sizeof(*c));
	struct strings s = { 0 };

	if (!c)
		return NULL;
	c->nodes = calloc((size_t)nodes->record_count + 1, sizeof(*c->nodes));
	c->partitions = calloc((size_t)parts->record_count + 1, sizeof(*c->partitions));
	c->partition_bits = calloc((size_t)nodes->record_count * PARTITION_WORDS(parts->record_count) + 1,
		sizeof(*c->partition_bits));
	if (!c->nodes || !c->partitions || !c->partition_bits || fill_cluster(c, parts, nodes, gpus, &s) < 0)
		goto fail;
	c->strings = s.at = malloc(s.used + 1);
	if (!s.at)
		goto fail;
	s.used = 0;
	if (fill_cluster(c, parts, nodes, gpus, &s) < 0)
		goto fail;
	return c;
fail:
	cluster_view_free(c);		/* keeps errno: ENOMEM, E2BIG or EOVERFLOW */
	return NULL;
}

/* A node whose gres cannot be read would shrink everybody's entitlement in silence, so it fails the whole
 * with its name. */
static int read_node_gpus(const node_info_msg_t *nodes, struct node_gpus *out, struct fault *why)
{
	out->count = nodes->record_count;
	out->of = calloc(out->count + 1, sizeof(*out->of));
	if (!out->of)
		return fault_errno(why, ENOMEM, "out of memory for the table of nodes");
	for (size_t i = 0; i < out->count; i++) {
		const node_info_t *n = &nodes->node_array[i];
		struct fault f = { "" };

		if (n->name && gpus_of_node(n, &out->of[i], &f) < 0)
			return fault_errno(why, EIO, "node %s: Gres=%s: %s", n->name, n->gres, f.text);
	}
	return 0;
}

int slurm_link_cluster(struct slurm_link *l, struct cluster_view **out, struct fault *why)
{
	partition_info_msg_t *parts = NULL;
	node_info_msg_t *nodes = NULL;
	struct node_gpus gpus = { 0 };
	struct cluster_view *c;
	int rv = -1;

	(void)l;
	errno = 0;
	if (slurm_load_node(0, &nodes, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS ||
	    slurm_load_partitions(0, &parts, SHOW_ALL) != SLURM_SUCCESS) {
		slurm_link_fail(why, "cannot read nodes and partitions");
		goto out;
	}
	if (read_node_gpus(nodes, &gpus, why) < 0)
		goto out;
	c = cluster_from(parts, nodes, &gpus);
	if (!c) {
		fault_errno(why, errno == ENOMEM ? ENOMEM : EIO, "cannot sum up the GPUs of the cluster: %s",
			strerror(errno));
		goto out;
	}
	*out = c;
	rv = 0;
out:
	free(gpus.of);
	if (nodes)
		slurm_free_node_info_msg(nodes);
	if (parts)
		slurm_free_partition_info_msg(parts);
	return rv;
}
