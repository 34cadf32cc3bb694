/* SPDX-License-Identifier: GPL-2.0-or-later
 * main.c - gpu-check: do a machine's GPUs work, and what are they next to; by hand, in a health check or in
 * CI
 *
 * Vendors' libraries run in other processes: in the helper (gpu_check/deadline.h), and for root in a child
 * (gpu_check/nvml.h). */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include "gpu_check/options.h"

int main(int argc, char **argv)
{
	struct options o;
	int rv;

	setlocale(LC_CTYPE, "");	/* libsmartcols counts columns by it */
	rv = options_read(argc, argv, &o);
	if (rv < 0)
		rv = o.command->run(&o);
	if (fflush(stdout) != 0 || ferror(stdout))
		return complain(EXIT_FAILED, "cannot write the result: %s", strerror(errno));
	return rv;
}
