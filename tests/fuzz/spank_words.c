/* SPDX-License-Identifier: GPL-2.0-or-later
 * spank_words.c - words of plugstack.conf and of --gpu-check, --gpu-numa and the other options */
#include <stdlib.h>
#include <string.h>
#include "spank/check.h"
#include "spank/numa.h"
#include "spank/options.h"
#include "tests/fuzz/fuzz.h"

static void site(const char *text)
{
	struct check_site *c = calloc(1, sizeof(*c));
	struct numa_site *n = calloc(1, sizeof(*n));
	struct declared d;
	struct fault why = {0}, other = {0}, third = {0};

	fuzz_must(c && n);
	check_site_init(c);
	numa_site_init(n);
	declared_init(&d, 8 * 3600);
	if (check_site_argument(c, text, &why) < 0)
		fuzz_refused(&why);
	if (numa_site_argument(n, text, &other) < 0)
		fuzz_refused(&other);
	if (declared_argument(&d, text, &third) < 0)
		fuzz_refused(&third);
	fuzz_must(c->checks <= SITE_CHECKS_MAX && d.max_min_runtime_s >= 0);
	free(c);
	free(n);
}

static void users(const char *words, const char *backend)
{
	struct check_site *c = calloc(1, sizeof(*c));
	struct check_order *o = calloc(1, sizeof(*o));
	enum numa_mode mode;
	struct declared d;
	struct fault why = {0};

	fuzz_must(c && o);
	check_site_init(c);
	check_site_argument(c, "check_torch=/usr/local/bin/torch", NULL);
	if (check_order_make(c, words, *backend ? backend : NULL, o, &why) < 0)
		fuzz_refused(&why);
	fuzz_must(o->checks <= SITE_CHECKS_MAX);
	numa_mode_parse(words, &mode, NULL);
	declared_init(&d, 8 * 3600);
	for (int i = 0; i < JOB_OPTIONS; i++) {
		struct fault no = {0};

		if (declared_keep(&d, (enum job_option)i, words, &no) < 0 || declared_check(&d, (enum job_option)i, &no) < 0)
			fuzz_refused(&no);
	}
	free(c);
	free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line[3];

	fuzz_lines(data, size, 3, line);
	site(line[0]);
	users(line[1], line[2]);
	fuzz_lines_free(3, line);
	return 0;
}
