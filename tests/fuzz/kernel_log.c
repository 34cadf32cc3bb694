/* SPDX-License-Identifier: GPL-2.0-or-later
 * kernel_log.c - lines of the kernel's log, which a device can have a say in */
#include <stdlib.h>
#include <string.h>
#include "gpu_check/kernel_log.h"
#include "gpu_check/log_table.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct node_state *node;
	static struct log_groups *groups;
	static struct findings *found;
	char *text = fuzz_text(data, size), *save = NULL;

	if (!node) {
		node = calloc(1, sizeof(*node));
		groups = calloc(1, sizeof(*groups));
		found = calloc(1, sizeof(*found));
		fuzz_must(node && groups && found);
		node->gpus = 1;
		pci_parse("0000:c1:00.0", &node->gpu[0].at);
	}
	*groups = (struct log_groups){ .node = node };
	memset(found, 0, sizeof(*found));
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		int64_t at = 0;
		char *copy = strdup(line);
		const char *record = log_record(copy, &at);

		fuzz_must(copy);
		log_groups_take(record ? record : line, at, groups);
		free(copy);
	}
	fuzz_must(groups->count <= LOG_GROUPS_MAX);
	log_groups_tell(groups, found);
	for (int i = 0; i < found->count; i++)
		fuzz_must(strpbrk(found->row[i].text, "\033\n\r") == NULL);
	free(text);
	return 0;
}
