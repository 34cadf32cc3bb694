/* SPDX-License-Identifier: GPL-2.0-or-later
 * prove_command.c - gpu-check without another command: is every backend that there should be proven */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "gpu_check/commands.h"
#include "gpu_check/prove.h"
#include "gpu_check/prove_view.h"

static int64_t clock_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static enum exit_code code_of(enum outcome outcome, bool optional)
{
	switch (outcome) {
	case OUTCOME_PROVEN:
	case OUTCOME_WARNED:
		return EXIT_DONE;
	case OUTCOME_UNCHECKED:
		return EXIT_NOTHING;
	default:
		return optional ? EXIT_DONE : EXIT_UNPROVEN;
	}
}

/* JSON is for programs: people read the sentences beside it where something is wrong. */
static int show(const struct options *o, const struct proof *p, const struct soak *soak)
{
	if (!o->json) {
		proof_print_table(stdout, p);
		proof_print_lines(stdout, p);
		if (soak->proofs > 1)
			soak_print(stdout, soak);
		return 0;
	}
	if (p->outcome != OUTCOME_PROVEN)
		proof_print_lines(stderr, p);
	return proof_print_json(stdout, p, o->level, o->soak_s > 0 ? soak : NULL);
}

/* One proof, or with --soak one after the other until the time is over or one fails; *p is the last. 0, or -1
 * as prove(). */
static int prove_again(const struct options *o, const struct prove_request *q, struct proof *p,
	struct soak *soak, struct fault *why)
{
	int64_t start = clock_us();

	for (;;) {
		if (prove(q, p, why) < 0)
			return -1;
		soak->proofs++;
		soak->slowest_us = p->us > soak->slowest_us ? p->us : soak->slowest_us;
		soak->us = clock_us() - start;
		if (p->outcome >= OUTCOME_FAILED || soak->us >= o->soak_s * 1000000)
			return 0;
		proof_free(p);
	}
}

int prove_command(const struct options *o)
{
	struct prove_request q = { .helper = o->helper ? o->helper : GPU_CHECK_HELPER,
		.backend = o->backend ? o->backend : "auto", .level = o->level, .deadline_ms = o->deadline_ms,
		.root = o->root, .all = o->all, .gpus = o->gpus, .expected = o->expected,
		.environment = environ };
	struct fault why = { "" };
	struct soak soak = { 0 };
	struct proof p;
	int code;

	if (prove_again(o, &q, &p, &soak, &why) < 0)
		return complain(EXIT_USAGE, "%s", why.text);
	code = code_of(p.outcome, o->optional);
	if (show(o, &p, &soak) < 0)
		code = complain(EXIT_FAILED, "there is no memory for the result");
	proof_free(&p);
	return code;
}
