/* SPDX-License-Identifier: GPL-2.0-or-later
 * prove.c - gpu-check's proof behind a small command line, for tests/gpu/run.sh: it is built without
 * configure
 *
 *   prove --helper PATH [--backend NAME] [--level LEVEL] [--deadline S] [--expect N] [--root DIR] [--library
 *   DIR] */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "gpu_check/prove.h"
#include "gpu_check/prove_view.h"

static const struct option options[] = {
	{ "helper", 1, NULL, 'p' }, { "backend", 1, NULL, 'b' }, { "level", 1, NULL, 'l' }, { "deadline", 1, NULL, 'd' },
	{ "expect", 1, NULL, 'e' }, { "root", 1, NULL, 'r' },    { "library", 1, NULL, 'L' }, { NULL, 0, NULL, 0 },
};

/* false: there is no such option. */
static bool take(int option, struct prove_request *q)
{
	switch (option) {
	case 'p': q->helper = optarg; return true;
	case 'b': q->backend = optarg; return true;
	case 'l': q->level = (enum level)level_of(optarg); return true;
	case 'd': q->deadline_ms = strtol(optarg, NULL, 10) * 1000; return true;
	case 'e': q->expected = (int)strtol(optarg, NULL, 10); return true;
	case 'r': q->root = optarg; return true;
	case 'L': setenv("LD_LIBRARY_PATH", optarg, 1); return true;	/* the helper is a new program */
	default: return false;
	}
}

int main(int argc, char *argv[])
{
	static const int status[OUTCOMES] = { 0, 0, 4, 5 };	/* as gpu-check's */
	struct prove_request q = { .backend = "auto", .level = LEVEL_PRESET, .deadline_ms = 30000,
		.root = "/", .expected = -1 };
	struct fault why = { "" };
	struct proof p;
	int option, rc;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (!take(option, &q))
			return 2;
	q.environment = environ;
	if (prove(&q, &p, &why) < 0)
		return fprintf(stderr, "%s\n", why.text), 2;
	proof_print_table(stdout, &p);
	proof_print_lines(stdout, &p);
	rc = status[p.outcome];
	proof_free(&p);
	return rc;
}
