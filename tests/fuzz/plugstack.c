/* SPDX-License-Identifier: GPL-2.0-or-later
 * plugstack.c - what doctor reads: plugstack.conf, a plugin file, lists of slurm.conf */
#include "doctor/plugstack.h"
#include <stdlib.h>
#include "doctor/looks.h"
#include "doctor/plugin_file.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[300], *text = fuzz_text(data, size);
	struct plugstack_line l = {0};
	struct fault why = {0};
	static FILE *nowhere;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	fuzz_file("plugstack.conf", data, size);
	snprintf(path, sizeof(path), "%s/plugstack.conf", fuzz_folder_path());
	if (plugstack_find(path, &l, &why) < 0)
		fuzz_refused(&why);
	plugstack_line_free(&l);
	plugin_file_version(path);
	list_has(text, "gpubudget");
	list_number(text, "bf_interval", -1);
	list_print(nowhere, text, "bf_interval", "x=1");
	version_number(text);
	free(text);
	return 0;
}
