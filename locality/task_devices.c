/* SPDX-License-Identifier: GPL-2.0-or-later
 * task_devices.c - variables of three vendors to GPUs (task_devices.h) */
#include "locality/task_devices.h"
#include <stdlib.h>
#include <string.h>
#include "lib/number.h"

/* Some GPUs, by their place in devices->gpu[], in the order that indices count. */
struct list {
	int count;
	int at[GPUS_MAX];
	bool unsure;
};

struct search {
	const struct devices *devices;
	const struct device_name *names;
	variable_get get;
	void *from;
};

/* --- what there is ------------------------------------------------------------------------------------ */

/* The GPUs of a vendor in the order of its runtime. */
static struct list all_of(const struct search *s, unsigned vendor)
{
	struct list l = { .count = 0 };

	for (int order = 0; order < s->devices->gpus; order++)
		for (int i = 0; i < s->devices->gpus; i++) {
			const struct gpu *g = &s->devices->gpu[i];

			if (g->vendor == vendor && !g->console && s->names[i].order == order)
				l.at[l.count++] = i;
		}
	return l;
}

/* Without those that are kept from us. */
static struct list allowed_of(const struct search *s, const struct list *all)
{
	struct list l = { .count = 0 };

	for (int i = 0; i < all->count; i++)
		if (s->names[all->at[i]].allowed != ALLOWED_NO)
			l.at[l.count++] = all->at[i];
	return l;
}

/* Numbers of a list such as "0,2-3". The count; -1: there is no such list. */
static int numbers_read(const char *text, int out[GPUS_MAX])
{
	struct cpu_set set;
	int n = 0;

	if (!text || !*text || cpu_set_parse(text, &set) < 0)
		return -1;
	for (int i = cpu_set_next(&set, 0); i >= 0 && n < GPUS_MAX; i = cpu_set_next(&set, i + 1))
		out[n++] = i;
	return n;
}

/* By Slurm's indices, in the order of the bus; those of a node with several vendors run on over all of them,
 * in an order that only gres.conf knows: then every GPU of the vendor can be meant. false: Slurm tells none.
 */
static bool slurm_list(const struct search *s, const struct list *all, struct list *out)
{
	const char *text = s->get(s->from, "SLURM_STEP_GPUS");
	int number[GPUS_MAX], n = numbers_read(text ? text : s->get(s->from, "SLURM_JOB_GPUS"), number),
			      others = 0;

	if (n < 0)
		return false;
	for (int i = 0; i < s->devices->gpus; i++)
		others += !s->devices->gpu[i].console;
	if (others > all->count) {
		*out = *all;
		out->unsure = n < others;
		return true;
	}
	*out = (struct list){ .count = 0 };
	for (int i = 0, at = 0; i < s->devices->gpus; i++) {
		if (s->devices->gpu[i].console)
			continue;
		for (int j = 0; j < n; j++)
			if (number[j] == at)
				out->at[out->count++] = i;
		at++;
	}
	return true;
}

/* --- words -------------------------------------------------------------------------------------------- */

/* "GPU-8f6d", abbreviated or not; "MIG-GPU-8f6d.../1/0" and "MIG-8f6d..." are parts: the second does not tell
 * of which. -1: none of these. */
static int uuid_find(const struct search *s, const struct list *l, const char *word)
{
	int found = -1;
	size_t n;

	if (!strncmp(word, "MIG-GPU-", 8))
		word += 4;
	else if (!strncmp(word, "MIG-", 4))
		return l->count == 1 ? l->at[0] : -1;
	n = strcspn(word, "/");
	for (int i = 0; i < l->count && n > 4; i++) {
		if (strncmp(s->names[l->at[i]].uuid, word, n))
			continue;
		if (found >= 0)
			return -1;	/* so short that it is two */
		found = l->at[i];
	}
	return found;
}

static bool has(const struct list *l, int at)
{
	for (int i = 0; i < l->count; i++)
		if (l->at[i] == at)
			return true;
	return false;
}

/* A GPU of `l`, or -1, which ends the list; *unsure: it is one of them, but nobody tells which. */
static int word_find(const struct search *s, const struct list *l, const char *word, bool *unsure)
{
	int64_t index;
	const char *p = word;

	if (number_read(&p, &index) == 0 && (!*p || *p == '.'))
		return index < l->count ? l->at[index] : -1;
	if (!strncmp(word, "MIG-", 4) && l->count > 1 && strncmp(word, "MIG-GPU-", 8))
		*unsure = true;
	return uuid_find(s, l, word);
}

/* What a variable leaves of a list. */
static struct list words_take(const struct search *s, const struct list *l, const char *value)
{
	struct list out = { .unsure = l->unsure };
	char *copy = strdup(value), *save = NULL;
	bool unsure = false;

	for (char *word = copy ? strtok_r(copy, ",", &save) : NULL; word; word = strtok_r(NULL, ",", &save)) {
		int at = word_find(s, l, word, &unsure);

		if (at < 0)
			break;
		if (!has(&out, at))	/* tiles of one card */
			out.at[out.count++] = at;
	}
	if (unsure || !copy) {
		out = *l;
		out.unsure = true;
	}
	free(copy);
	return out;
}

/* Are the numbers in the variable Slurm's own? Without ConstrainDevices it writes the same into both. */
static bool counts_the_node(const struct search *s, const char *value)
{
	const char *text = s->get(s->from, "SLURM_STEP_GPUS");
	struct cpu_set slurm, visible;

	if (!text)
		text = s->get(s->from, "SLURM_JOB_GPUS");
	return !text || cpu_set_parse(text, &slurm) < 0 || cpu_set_parse(value, &visible) < 0 ||
	       cpu_set_within(&visible, &slurm);
}

static bool models_differ(const struct search *s, const struct list *l)
{
	for (int i = 1; i < l->count; i++)
		if (s->devices->gpu[l->at[i]].device != s->devices->gpu[l->at[0]].device)
			return true;
	return false;
}

/* --- one vendor --------------------------------------------------------------------------------------- */

/* CUDA counts the fastest first unless it is told otherwise: of different models an index can be any. */
static void cuda_order(const struct search *s, const struct list *base, const char *value, struct list *l)
{
	const char *order = s->get(s->from, "CUDA_DEVICE_ORDER");

	if (l->count < base->count && strncmp(value, "GPU-", 4) && strncmp(value, "MIG-", 4) &&
		models_differ(s, base) && (!order || strcmp(order, "PCI_BUS_ID"))) {
		*l = *base;
		l->unsure = true;
	}
}

/* The variable of a vendor, which counts what the cgroup leaves; where nobody knows what that is, Slurm's
 * list or the whole node. */
static struct list vendor_take(const struct search *s, unsigned vendor, const char *variable)
{
	struct list all = all_of(s, vendor), base = allowed_of(s, &all), slurm, out;
	bool kept_out = base.count < all.count, told = slurm_list(s, &all, &slurm);
	const char *get = s->get(s->from, variable);
	char *value = get && all.count ? strdup(get) : NULL;

	if (!all.count)
		return all;
	if (!value) {
		if (kept_out)
			return base;
		return told ? slurm : (struct list){ .count = 0 };
	}
	if (!kept_out && told && !counts_the_node(s, value))
		base = slurm;
	out = words_take(s, &base, value);
	if (vendor == PCI_NVIDIA)
		cuda_order(s, &base, value, &out);
	free(value);
	return out;
}

/* HIP's own list counts what ROCR left. */
static void hip_take(const struct search *s, bool nvidia, struct list *l)
{
	const char *value = s->get(s->from, "HIP_VISIBLE_DEVICES");
	char *copy;

	if (!value && !nvidia)
		value = s->get(s->from, "CUDA_VISIBLE_DEVICES");
	copy = value ? strdup(value) : NULL;
	if (copy)
		*l = words_take(s, l, copy);
	free(copy);
}

void task_gpus_find(const struct devices *devices, const struct device_name names[], variable_get get,
	void *from, struct task_gpus *out)
{
	static const struct {
		unsigned vendor;
		const char *variable;
	} vendors[] = {{PCI_NVIDIA, "CUDA_VISIBLE_DEVICES"}, {PCI_AMD, "ROCR_VISIBLE_DEVICES"},
		{PCI_INTEL, "ZE_AFFINITY_MASK"}};
	struct search s = { devices, names, get, from };
	bool chosen[GPUS_MAX] = { false }, nvidia = all_of(&s, PCI_NVIDIA).count > 0;

	*out = (struct task_gpus){ .count = 0 };
	for (size_t v = 0; v < sizeof(vendors) / sizeof(vendors[0]); v++) {
		struct list l = vendor_take(&s, vendors[v].vendor, vendors[v].variable);

		if (vendors[v].vendor == PCI_AMD && l.count)
			hip_take(&s, nvidia, &l);
		for (int i = 0; i < l.count; i++)
			chosen[l.at[i]] = true;
		out->unsure |= l.unsure;
	}
	for (int i = 0; i < devices->gpus; i++)
		if (chosen[i])
			out->gpu[out->count++] = &devices->gpu[i];
}
