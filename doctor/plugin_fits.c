/* SPDX-License-Identifier: GPL-2.0-or-later
 * plugin_fits.c - plugin-fits PLUGIN VERSION: may slurmctld of this version load the job_submit plugin?
 *
 * Asked by `make install` before it puts a plugin in its place, and by who upgrades Slurm before he stops
 * slurmctld: one that finds a plugin of another version does not come up. Not linked with libslurm, whose
 * name changes with each release: doctor cannot even start then. VERSION is what `slurmctld -V` prints.
 * Exit status 0: it fits; 1: it does not, and the text says what to do; 2: no such words. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "doctor/plugin_file.h"

#define MAJOR(v) (((v) >> 16) & 0xff)
#define MINOR(v) (((v) >> 8) & 0xff)
#define MICRO(v) ((v) & 0xff)

/* 0 = it is none. The last word counts: "slurm-wlm 24.11.5". */
static uint32_t version_read(const char *text)
{
	const char *word = strrchr(text, ' ');
	unsigned major, minor, micro;

	if (sscanf(word ? word + 1 : text, "%3u.%3u.%3u", &major, &minor, &micro) != 3 || major > 255 ||
		minor > 255 || micro > 255)
		return 0;
	return major << 16 | minor << 8 | micro;
}

int main(int argc, char *argv[])
{
	uint32_t wanted = argc == 3 ? version_read(argv[2]) : 0, has;

	if (!wanted) {
		fputs("usage: plugin-fits PLUGIN VERSION    (VERSION as slurmctld -V prints it)\n", stderr);
		return 2;
	}
	has = plugin_file_version(argv[1]);
	if (has == wanted)
		return 0;
	if (has)
		fprintf(stderr, "%s is built for Slurm %" PRIu32 ".%02" PRIu32 ".%" PRIu32, argv[1], MAJOR(has),
			MINOR(has), MICRO(has));
	else
		fprintf(stderr, "%s is no plugin of Slurm", argv[1]);
	fprintf(stderr,
		", slurmctld is %" PRIu32 ".%02" PRIu32 ".%" PRIu32
		": it would not come up with it. To do: install the headers of this Slurm "
		"(libslurm-dev, slurm-devel), then make clean, ./configure, make\n",
		MAJOR(wanted), MINOR(wanted), MICRO(wanted));
	return 1;
}
