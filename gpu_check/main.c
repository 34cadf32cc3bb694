/* SPDX-License-Identifier: GPL-2.0-or-later
 * main.c - gpu-check: what a machine's GPUs are next to, by hand, in a health check or in CI
 *
 * Reads files only: no library of any vendor, no GPU is woken up, no right is needed. */
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
