/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_policy.c - a node's policy file, with the site's table of the kernel's lines */
#include "gpu_check/node_policy.h"
#include <stdlib.h>
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct node_policy *p;
	struct fault why = {0};
	struct log_hit hit;

	if (!p)
		p = calloc(1, sizeof(*p));
	fuzz_must(p);
	fuzz_file("policy", data, size);
	if (node_policy_read(fuzz_folder(), "policy", p, &why) < 0)
		fuzz_refused(&why);
	fuzz_must(p->log.rows >= 0 && p->log.rows <= LOG_ROWS_MAX && p->corrected_per_hour >= 0);
	log_classify(&p->log, NULL, "NVRM: Xid (PCI:0000:c1:00): 48, pid=100, an error", &hit);
	return 0;
}
