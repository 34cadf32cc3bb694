/* SPDX-License-Identifier: GPL-2.0-or-later
 * script.c - a user's script: its lines of #SBATCH, and the same words as a command line */
#include <stdlib.h>
#include <string.h>
#include "lib/submit_options.h"
#include "tests/fuzz/fuzz.h"

enum { WORDS = 24 };

static void looked_over(const struct submit_options *s)
{
	struct gpu_request out;
	const char *name;
	int line;

	for (size_t i = 0; i < submit_options_components(s); i++) {
		const struct submit_component *c = submit_options_component(s, i);

		fuzz_must(c->time_limit_s >= TIME_LIMIT_UNSET);
		gpu_request_read(&c->gpus, NULL, &out, NULL);
	}
	for (size_t i = 0; submit_options_unknown(s, i, &line, &name); i++)
		fuzz_must(line > 0 && name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct submit_options *script = submit_options_new(), *words = submit_options_new();
	char *text = fuzz_text(data, size), *line[WORDS];
	struct fault why = {0}, other = {0};
	int at = 0;

	fuzz_must(script && words);
	if (submit_options_script(script, text, &why) < 0)
		fuzz_refused(&why);
	else
		looked_over(script);
	fuzz_lines(data, size, WORDS, line);
	if (submit_options_words(words, WORDS, (const char *const *)line, &at, &other) < 0)
		fuzz_refused(&other);
	else
		fuzz_must(at >= 0 && at <= WORDS);
	looked_over(words);
	submit_options_free(script);
	submit_options_free(words);
	fuzz_lines_free(WORDS, line);
	free(text);
	return 0;
}
