/* SPDX-License-Identifier: GPL-2.0-or-later
 * prove_command.c - gpu-check without another command: is every backend that there should be proven */
#include <stdlib.h>
#include <unistd.h>
#include "gpu_check/commands.h"
#include "gpu_check/prove.h"
#include "gpu_check/prove_view.h"

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
static int show(const struct options *o, const struct proof *p)
{
	if (!o->json) {
		proof_print_table(stdout, p);
		proof_print_lines(stdout, p);
		return 0;
	}
	if (p->outcome != OUTCOME_PROVEN)
		proof_print_lines(stderr, p);
	return proof_print_json(stdout, p, o->level);
}

int prove_command(const struct options *o)
{
	struct prove_request q = { .helper = o->helper ? o->helper : GPU_CHECK_HELPER, .backend = o->backend ? o->backend : "auto",
		.level = o->level, .deadline_ms = o->deadline_ms, .root = o->root, .all = o->all, .gpus = o->gpus,
		.expected = o->expected, .environment = environ };
	struct fault why = { "" };
	struct proof p;
	int code;

	if (prove(&q, &p, &why) < 0)
		return complain(EXIT_USAGE, "%s", why.text);
	code = code_of(p.outcome, o->optional);
	if (show(o, &p) < 0)
		code = complain(EXIT_FAILED, "there is no memory for the result");
	proof_free(&p);
	return code;
}
