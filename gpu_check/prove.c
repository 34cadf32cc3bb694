/* SPDX-License-Identifier: GPL-2.0-or-later
 * prove.c - choose the backends, run a helper for each, judge (prove.h) */
#include "gpu_check/prove.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "gpu_check/backend_names.h"
#include "gpu_check/node_gpus.h"
#include "gpu_check/scratch.h"

#define LEAST_MS 100		/* a helper is not started for less */

struct proving {
	const struct prove_request *q;
	struct node_gpus node;
	char own[GPUS_MAX][PCI_TEXT_MAX];
	int own_count;
	const char *name[PROOF_BACKENDS_MAX];
	int names;
	/* GPUs of several vendors: nobody knows which of them the one number means */
	bool mixed;
	int64_t end_us;
};

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* --- what is to be proven --------------------------------------------------------------------------- */

static int read_own(struct proving *p, struct fault *why)
{
	const char *list = p->q->gpus;

	if (list && !*list)
		return fault_errno(why, EINVAL, "the list of GPUs names none");
	while (list && *list) {
		size_t n = strcspn(list, ",");
		char one[PCI_TEXT_MAX];
		struct pci_address a;

		if (p->own_count == GPUS_MAX)
			return fault_errno(why, EINVAL, "more than %d GPUs are named", GPUS_MAX);
		snprintf(one, sizeof(one), "%.*s", (int)n, list);
		if (n >= sizeof(one) || pci_parse(one, &a) < 0)
			return fault_errno(why, EINVAL, "\"%s\" is no bus id such as 0000:c1:00.0", one);
		pci_text(&a, p->own[p->own_count++]);
		list += n + (list[n] == ',');
	}
	return 0;
}

static bool is_own(const struct proving *p, const char *bus_id)
{
	for (int i = 0; i < p->own_count; i++)
		if (!strcmp(p->own[i], bus_id))
			return true;
	return p->own_count == 0;
}

static void add_name(struct proving *p, const char *name)
{
	for (int i = 0; i < p->names; i++)
		if (!strcmp(p->name[i], name))
			return;
	if (p->names < PROOF_BACKENDS_MAX)
		p->name[p->names++] = name;
}

static void choose_backends(struct proving *p)
{
	if (strcmp(p->q->backend, "auto")) {
		add_name(p, p->q->backend);
		return;
	}
	for (int i = 0; i < p->node.count; i++)
		if (p->node.gpu[i].backend && is_own(p, p->node.gpu[i].bus_id))
			add_name(p, p->node.gpu[i].backend);
	if (p->names == 0 && p->node.nvidia_driver)
		add_name(p, "cuda");
	p->mixed = p->names > 1 && p->own_count == 0 && (!p->q->all || p->q->expected >= 0);
}

static int count_on_bus(const struct proving *p, const char *backend)
{
	int n = 0;

	for (int i = 0; i < p->node.count; i++)
		n += p->node.gpu[i].backend && !strcmp(p->node.gpu[i].backend, backend);
	return n;
}

static void expect(const struct proving *p, const char *name, struct expectation *e)
{
	const struct prove_request *q = p->q;

	*e = (struct expectation){ .backend = name, .level = q->level, .on_bus = -1,
		.bus_known = p->node.bus };
	e->any_kind = !strcmp(name, backend_name[BACKEND_OPENCL_CPU]);
	allocation_read(q->environment, name, &e->allocation);
	if (q->all)
		e->allocation.allocated = -1;
	e->by_hand = q->expected >= 0;
	if (e->by_hand)
		e->allocation.allocated = q->expected;
	e->judge_allocated = e->allocation.allocated >= 0 && !p->mixed && !e->any_kind;
	if (q->all && count_on_bus(p, name) > 0)
		e->on_bus = count_on_bus(p, name);
	if (!e->any_kind) {
		e->own = p->own;
		e->own_count = p->own_count;
	}
}

/* --- one backend ------------------------------------------------------------------------------------ */

static void prove_one(const struct proving *p, const char *name, struct proof_of_backend *b)
{
	int64_t left_ms = (p->end_us - now_us()) / 1000;
	struct helper h = { .path = p->q->helper, .backend = name, .level = p->q->level,
		.environment = p->q->environment, .deadline_ms = left_ms > LEAST_MS ? left_ms : LEAST_MS };
	struct scratch scratch;
	bool own = !strncmp(name, "opencl", 6) && scratch_begin(&scratch,
		environment_value(p->q->environment, "TMPDIR"));
	bool on_bus[REPORT_DEVICES_MAX] = { false }, started;
	struct fault why = { "" };

	snprintf(b->name, sizeof(b->name), "%s", name);
	expect(p, name, &b->expectation);
	if (own) {
		h.scratch = scratch.path;
		h.stop = &scratch.signals;
	}
	started = helper_run(&h, &b->report, &b->result, &why) == 0;
	for (int d = 0; d < b->report.devices; d++)
		on_bus[d] = node_has_gpu(&p->node, b->report.device[d].bus_id);
	b->expectation.is_on_bus = on_bus;
	verdict_make(&b->report, &b->result, &b->expectation, started, why.text, &b->verdict);
	b->expectation.is_on_bus = NULL;
	b->expectation.own = NULL;
	if (own)
		scratch_end(&scratch);
}

/* As long as all before it was sound: a framework has no better error for a GPU that does not work. */
static void prove_program(const struct proving *p, const struct site_check *c, struct proof_of_backend *b)
{
	int64_t left_ms = (p->end_us - now_us()) / 1000;
	struct helper h = { .path = c->path, .plain = true, .environment = p->q->environment,
		.deadline_ms = left_ms > LEAST_MS ? left_ms : LEAST_MS };
	struct fault why = { "" };
	bool started;

	snprintf(b->name, sizeof(b->name), "%s", c->name);
	started = helper_run(&h, &b->report, &b->result, &why) == 0;
	b->expectation.allocation.allocated = b->expectation.allocation.named = b->expectation.on_bus = -1;
	verdict_of_program(&b->result, c->path, started, why.text, &b->verdict);
}

/* Somebody knows that there are GPUs, and there is none to choose a backend by: they fell off the bus. */
static bool is_missed(const struct proving *p)
{
	return p->names == 0 && (p->q->expected > 0 ||
		(p->own_count > 0 && !node_has_gpu(&p->node, p->own[0])));
}

static void miss(const struct proving *p, struct proof_of_backend *b)
{
	snprintf(b->name, sizeof(b->name), "%s", p->q->backend);
	report_init(&b->report);
	b->expectation.allocation.allocated = b->expectation.allocation.named = b->expectation.on_bus = -1;
	b->verdict.outcome = OUTCOME_FAILED;
	b->verdict.cause = CAUSE_FEWER;
	if (p->own_count > 0)
		snprintf(b->verdict.evidence, sizeof(b->verdict.evidence), "%s is not on the node's bus",
			p->own[0]);
	else
		snprintf(b->verdict.evidence, sizeof(b->verdict.evidence),
			"%d expected, none of a known vendor is on the node's bus", p->q->expected);
}

/* --- all of them ------------------------------------------------------------------------------------ */

/* A failure that one backend has told already says it better. */
static void expected_more(struct proof *out, int seen)
{
	struct verdict *v = &out->of[out->backends - 1].verdict;

	for (int i = 0; i < out->backends; i++)
		if (out->of[i].verdict.outcome == OUTCOME_FAILED)
			return;
	v->outcome = OUTCOME_FAILED;
	v->cause = CAUSE_FEWER;
	snprintf(v->evidence, sizeof(v->evidence), "%d expected, %d seen by the %d backends together",
		out->of[0].expectation.allocation.allocated, seen, out->backends);
}

/* GPUs of several vendors: what all backends see together is what was given, and one that sees none is not
 * missed. */
static void judge_together(const struct proving *p, struct proof *out)
{
	int given = out->backends ? out->of[0].expectation.allocation.allocated : -1, seen = 0;

	for (int i = 0; i < out->backends; i++)
		if (out->of[i].verdict.outcome <= OUTCOME_WARNED)
			seen += out->of[i].report.count;
	if (p->mixed && seen < p->q->expected)
		expected_more(out, seen);
	if (!p->mixed || seen == 0 || seen < given)
		return;
	for (int i = 0; i < out->backends; i++)
		if (out->of[i].report.count <= 0 && out->of[i].verdict.outcome == OUTCOME_FAILED)
			out->of[i].verdict.outcome = OUTCOME_UNCHECKED;
}

/* Unchecked is the best of several, and the worst of one. */
static enum outcome worst(const struct proof *p)
{
	enum outcome w = OUTCOME_UNCHECKED;

	for (int i = 0; i < p->backends; i++) {
		enum outcome o = p->of[i].verdict.outcome;

		if (o != OUTCOME_UNCHECKED && (w == OUTCOME_UNCHECKED || o > w))
			w = o;
	}
	return w;
}

static int prepare(struct proving *p, const struct prove_request *q, struct fault *why)
{
	char list[BACKEND_LIST_MAX];

	memset(p, 0, sizeof(*p));
	p->q = q;
	p->end_us = now_us() + q->deadline_ms * 1000;
	if (strcmp(q->backend, "auto") && backend_of(q->backend) < 0)
		return fault_errno(why, EINVAL, "there is no backend \"%s\", only auto, %s", q->backend,
			backend_list(list));
	if (q->deadline_ms <= 0)
		return fault_errno(why, EINVAL, "a deadline is more than 0 s");
	if (read_own(p, why) < 0 || node_gpus_read(q->root, &p->node, why) < 0)
		return -1;
	choose_backends(p);
	return 0;
}

int prove(const struct prove_request *q, struct proof *out, struct fault *why)
{
	struct proving p;
	int64_t start = now_us();
	int missed;

	if (prepare(&p, q, why) < 0)
		return -1;
	memset(out, 0, sizeof(*out));
	out->outcome = OUTCOME_UNCHECKED;
	if (q->level == LEVEL_OFF)
		p.names = 0;
	missed = q->level != LEVEL_OFF && is_missed(&p);
	if (p.names + missed + q->checks == 0) {
		snprintf(out->why_nothing, sizeof(out->why_nothing), "%s",
			q->level == LEVEL_OFF ? "the level is off" : cause_table[CAUSE_UNKNOWN_KIND].text);
		return 0;
	}
	out->of = calloc((size_t)(p.names + missed + q->checks), sizeof(*out->of));
	if (!out->of)
		return fault_errno(why, ENOMEM, "there is no memory for %d reports", p.names + q->checks);
	if (missed)
		miss(&p, &out->of[out->backends++]);
	for (; out->backends < p.names; out->backends++)
		prove_one(&p, p.name[out->backends], &out->of[out->backends]);
	judge_together(&p, out);
	out->outcome = worst(out);
	for (int i = 0; i < q->checks && out->outcome != OUTCOME_FAILED; i++) {
		prove_program(&p, &q->check[i], &out->of[out->backends++]);
		out->outcome = worst(out);
	}
	out->us = now_us() - start;
	return 0;
}

void proof_free(struct proof *p)
{
	int saved = errno;

	if (p)
		free(p->of);
	if (p)
		memset(p, 0, sizeof(*p));
	errno = saved;
}
