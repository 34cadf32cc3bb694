/* SPDX-License-Identifier: GPL-2.0-or-later
 * fake_slurm.c - slurm_link/link.h over a table in memory. */
#include "tests/unit/fake_slurm.h"
#include "budgetd/log.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In place of budgetd/log.c, beside the warnings of books.c: the last line is kept. */
static char last_line[1024];

void log_error(const char *fmt, ...)
{
	(void)fmt;
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(last_line, sizeof(last_line), fmt, ap);
	va_end(ap);
}

const char *fake_slurm_logged(void)
{
	return last_line;
}

static struct fake_job table[FAKE_JOBS_MAX];
#define FAKE_NODES_MAX 4
static struct fake_node node_table[FAKE_NODES_MAX];
static size_t named;
static size_t jobs;
static int64_t taken_at;
static int nodes, node_gpus;
#define LIKE_MAX 4
static struct node_view like[LIKE_MAX];
static size_t partitions;
static bool is_busy;
static struct gpu_count healthy;

void fake_slurm_reset(void)
{
	named = 0;
	is_busy = false;
	last_line[0] = '\0';
	memset(table, 0, sizeof(table));
	jobs = 0;
	taken_at = 0;
	nodes = node_gpus = 0;
	partitions = 1;
	memset(like, 0, sizeof(like));
	fake_slurm_healthy(0);
}

void fake_slurm_taken_at(int64_t at)
{
	taken_at = at;
}

void fake_slurm_is_busy(bool busy)
{
	is_busy = busy;
}

void fake_slurm_healthy(int64_t gpus)
{
	healthy = (struct gpu_count){ .total = gpus, .ntypes = 1, .types = { { "", gpus } } };
}

void fake_slurm_gpus(struct fake_job *f, int gpus)
{
	snprintf(f->tres, sizeof(f->tres), "cpu=4,mem=8G,node=1,gres/gpu=%d", gpus);
}

struct fake_job *fake_slurm_pending(uint32_t id, const char *account, int gpus, const char *qos,
	const char *token)
{
	struct fake_job *f = &table[jobs++];

	if (jobs > FAKE_JOBS_MAX)
		abort();
	snprintf(f->qos, sizeof(f->qos), "%s", qos);
	snprintf(f->admin_comment, sizeof(f->admin_comment), "%s", token);
	fake_slurm_gpus(f, gpus);
	f->view = (struct job_view){ .job_id = id, .array_task_id = JOB_NOT_A_TASK, .array_count = 1,
		.uid = 1000, .account = account, .partition = "gpu", .qos = f->qos,
		.admin_comment = f->admin_comment, .stage = STAGE_PENDING, .base_state = "PENDING",
		.priority = 1, .time_limit_s = 4 * 3600, .batch = true, .requeueable = true,
		.tres_req = f->tres, .node_count = 1 };
	gpu_request_input_init(&f->view.request);
	f->view.request.tres_per_job = "gres:gpu:1";
	return f;
}

void fake_slurm_het(struct fake_job *f, uint32_t leader, uint32_t offset)
{
	f->view.het_job_id = leader;
	f->view.het_offset = offset;
}

void fake_slurm_start(struct fake_job *f, int64_t start)
{
	f->view.stage = STAGE_RUNNING;
	f->view.base_state = "RUNNING";
	f->view.start = f->view.submit = start;
	f->view.tres_alloc = f->tres;
}

void fake_slurm_on(struct fake_job *f, uint32_t node, int gpus)
{
	f->part = (struct job_gpus){ node, gpus };
	f->view.parts = &f->part;
	f->view.part_count = 1;
}

void fake_slurm_partitions(size_t count)
{
	partitions = count;
}

struct node_view *fake_slurm_like(int node)
{
	if (node >= LIKE_MAX)
		abort();
	return &like[node];
}

void fake_slurm_nodes(int n, int gpus)
{
	nodes = n;
	node_gpus = gpus;
	fake_slurm_healthy((int64_t)n * gpus);
}

/* --- slurm_link/link.h -------------------------------------------------------------------------- */

int slurm_link_ping(struct slurm_link *l, struct fault *why)
{
	(void)l, (void)why;
	return 0;
}

int slurm_link_facts(struct slurm_link *l, struct slurm_facts *out, struct fault *why)
{
	(void)l, (void)why;
	*out = (struct slurm_facts){ .cluster = "fake", .version = "22.05.8", .slurm_uid = 0,
		.multifactor = true, .min_job_age_s = 300, .job_requeue = true, .gpu_tres = true };
	return 0;
}

int slurm_link_jobs(struct slurm_link *l, int64_t since, struct job_table **out, struct fault *why)
{
	struct job_table *t = calloc(1, sizeof(*t));

	(void)l, (void)since;
	if (t)
		t->jobs = calloc(FAKE_JOBS_MAX, sizeof(*t->jobs));
	if (!t || !t->jobs) {
		free(t);
		return fault_errno(why, ENOMEM, "out of memory");
	}
	t->taken_at = taken_at;
	for (size_t i = 0; i < jobs; i++)
		t->jobs[t->count++] = table[i].view;
	*out = t;
	return 0;
}

struct fake_node *fake_slurm_node(const char *name)
{
	struct fake_node *n = &node_table[named++];

	*n = (struct fake_node){ .draining = false };
	snprintf(n->name, sizeof(n->name), "%s", name);
	return n;
}

static int node_update(const char *node, bool draining, const char *reason, struct fault *why)
{
	for (size_t i = 0; i < named; i++) {
		struct fake_node *n = &node_table[i];

		if (strcmp(n->name, node) || n->deleted)
			continue;
		n->draining = draining;
		snprintf(n->reason, sizeof(n->reason), "%s", reason);
		*(draining ? &n->drained : &n->undrained) += 1;
		return 0;
	}
	return fault_errno(why, ENOENT, "there is no node %s", node);
}

int slurm_link_drain(struct slurm_link *l, const char *node, const char *reason, struct fault *why)
{
	(void)l;
	return node_update(node, true, reason, why);
}

int slurm_link_undrain(struct slurm_link *l, const char *node, struct fault *why)
{
	(void)l;
	return node_update(node, false, "", why);
}

bool slurm_link_has_node(const char *list, const char *node)
{
	size_t n = strlen(node);

	for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == n && strncmp(at, node, n) == 0)
			return true;
	return false;
}

static void fill_partitions(struct cluster_view *c)
{
	size_t words = PARTITION_WORDS(c->partition_count), last = c->partition_count - 1;

	for (size_t i = 0; i < c->partition_count; i++)
		c->partitions[i] = (struct partition_view){ .name = i == last ? "gpu" : "other",
			.is_default = i == last, .up = true };
	for (size_t i = 0; i < (size_t)nodes; i++)
		c->partition_bits[i * words + last / 64] = UINT64_C(1) << last % 64;
}

static int fill_nodes(struct cluster_view *c, struct fault *why)
{
	static const char *const names[] = { "n0", "n1", "n2", "n3" };

	size_t words = PARTITION_WORDS(partitions);

	c->partition_count = nodes ? partitions : 0;
	c->nodes = calloc((size_t)nodes + FAKE_NODES_MAX, sizeof(*c->nodes));
	c->partitions = calloc(partitions, sizeof(*c->partitions));
	c->partition_bits = calloc(((size_t)nodes + FAKE_NODES_MAX) * words, sizeof(*c->partition_bits));
	if (!c->nodes || !c->partitions || !c->partition_bits) {
		cluster_view_free(c);
		return fault_errno(why, ENOMEM, "out of memory");
	}
	fill_partitions(c);
	for (int i = 0; i < nodes; i++)
		c->nodes[c->node_count++] = (struct node_view){ .name = names[i], .index = (uint32_t)i,
			.partitions = &c->partition_bits[(size_t)i * words], .features = like[i].features,
			.memory_mb = like[i].memory_mb, .reserved = like[i].reserved, .healthy = true,
			.gpus = node_gpus, .gres = "gpu:8", .cpus_idle = like[i].cpus_idle < 0 ? 0 : 8 };
	for (size_t i = 0; i < named; i++)
		if (!node_table[i].deleted)
			c->nodes[c->node_count++] = (struct node_view){ .name = node_table[i].name,
				.index = (uint32_t)c->node_count, .gpus = 8,
				.partitions = &c->partition_bits[((size_t)nodes + i) * words],
				.draining = node_table[i].draining, .healthy = !node_table[i].draining,
				.reason = node_table[i].reason[0] ? node_table[i].reason : NULL };
	return 0;
}

int slurm_link_cluster(struct slurm_link *l, struct cluster_view **out, struct fault *why)
{
	(void)l;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return fault_errno(why, ENOMEM, "out of memory");
	(*out)->healthy = healthy;
	return fill_nodes(*out, why);
}

int slurm_link_update(struct slurm_link *l, const char *job, const struct job_update *u, struct fault *why)
{
	(void)l;
	for (size_t i = 0; i < jobs; i++) {
		struct fake_job *f = &table[i];

		if (f->view.job_id != strtoul(job, NULL, 10))
			continue;
		if (u->excluded && is_busy)
			return fault_errno(why, EAGAIN, "slurmctld is busy");
		if (u->qos)
			snprintf(f->qos, sizeof(f->qos), "%s", u->qos);
		if (u->admin_comment)
			snprintf(f->admin_comment, sizeof(f->admin_comment), "%s", u->admin_comment);
		if (u->excluded) {
			snprintf(f->excluded, sizeof(f->excluded), "%s", u->excluded);
			f->view.excluded = *u->excluded ? f->excluded : NULL;
		}
		if (u->set_site_factor)
			f->view.site_factor = u->site_factor;
		if (u->hold == HOLD_RELEASE && f->view.held != HELD_NOT) {
			f->released = true;
			snprintf(f->released_with, sizeof(f->released_with), "%s",
				f->view.excluded ? f->view.excluded : "");
		}
		if (u->hold == HOLD_AS_ADMIN && f->view.held != HELD_BY_ADMIN)
			snprintf(f->held_with, sizeof(f->held_with), "%s",
				f->view.excluded ? f->view.excluded : "");
		if (u->hold != HOLD_KEEP) {
			f->view.held = u->hold == HOLD_AS_ADMIN ? HELD_BY_ADMIN : HELD_NOT;
			f->view.priority = u->hold == HOLD_AS_ADMIN ? 0 : 1;
		}
		return 0;
	}
	return fault_errno(why, ENOENT, "there is no job %s", job);
}

int slurm_link_set_qos(struct slurm_link *l, const char *job, const char *qos, struct fault *why)
{
	return slurm_link_update(l, job, &(struct job_update){ .qos = qos }, why);
}

int slurm_link_set_site_factor(struct slurm_link *l, const char *job, int32_t site_factor, struct fault *why)
{
	return slurm_link_update(l, job,
		&(struct job_update){ .set_site_factor = true, .site_factor = site_factor }, why);
}

static struct fake_job *find(const char *job)
{
	for (size_t i = 0; i < jobs; i++)
		if (table[i].view.job_id == strtoul(job, NULL, 10))
			return &table[i];
	return NULL;
}

int slurm_link_signal(struct slurm_link *l, const char *job, int signal, bool script_only, struct fault *why)
{
	struct fake_job *f = find(job);

	(void)l;
	if (!f)
		return fault_errno(why, ENOENT, "there is no job %s", job);
	f->signal = signal;
	f->script_only = script_only;
	f->signals++;
	return 0;
}

int slurm_link_notify(struct slurm_link *l, uint32_t job_id, const char *text, struct fault *why)
{
	char name[16];
	struct fake_job *f;

	(void)l;
	snprintf(name, sizeof(name), "%u", job_id);
	f = find(name);
	if (!f)
		return fault_errno(why, ENOENT, "there is no job %u", job_id);
	snprintf(f->told, sizeof(f->told), "%s", text);
	f->lines++;
	return 0;
}

int slurm_link_requeue(struct slurm_link *l, const char *job, struct fault *why)
{
	struct fake_job *f = find(job);

	(void)l;
	if (f)
		f->requeued++;
	return f ? 0 : fault_errno(why, ENOENT, "there is no job %s", job);
}

int slurm_link_cancel(struct slurm_link *l, const char *job, struct fault *why)
{
	struct fake_job *f = find(job);

	(void)l;
	if (f)
		f->cancelled++;
	return f ? 0 : fault_errno(why, ENOENT, "there is no job %s", job);
}

int64_t slurm_link_updates_us(struct slurm_link *l)
{
	(void)l;
	return 0;
}

/* There is no slurmdbd: facts.slurmdbd says so. */
static int nobody_answers(struct fault *why)
{
	return fault_errno(why, ENOTCONN, "there is no slurmdbd");
}

int slurm_link_accounts(struct slurm_link *l, struct account_table **out, struct fault *why)
{
	(void)l, (void)out;
	return nobody_answers(why);
}

int slurm_link_runs_of(struct slurm_link *l, uint32_t job_id, int64_t since, struct run_table **out,
	struct fault *why)
{
	(void)l, (void)job_id, (void)since, (void)out;
	return nobody_answers(why);
}

int slurm_link_runs_between(struct slurm_link *l, int64_t from, int64_t to, struct run_table **out,
	struct fault *why)
{
	(void)l, (void)from, (void)to, (void)out;
	return nobody_answers(why);
}
