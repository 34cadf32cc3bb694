/* SPDX-License-Identifier: GPL-2.0-or-later
 * comment.c - our words in --comment and AdminComment, which users write too: options, tokens, the mark of who waits; job ids */
#include <stdlib.h>
#include <string.h>
#include "lib/job_id.h"
#include "lib/job_options.h"
#include "lib/token.h"
#include "tests/fuzz/fuzz.h"

static void marks(const char *text)
{
	char token[TOKEN_MAX], again[TOKEN_MAX], *with = token_set_waits(text, true), *without;
	bool has = token_find(text, token);

	fuzz_must(with && token_waits(with));
	without = token_set_waits(with, false);
	fuzz_must(without && !token_waits(without));
	if (has)		/* the mark does not disturb the token */
		fuzz_must(token_valid(token) && token_find(with, again) && !strcmp(token, again) &&
			token_find(without, again) && !strcmp(token, again));
	free(with);
	free(without);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct fault why = {0}, other = {0};
	struct job_options o;
	struct job_name name;

	job_options_init(&o);
	if (job_options_from_comment(&o, text, &why) < 0)
		fuzz_refused(&why);
	fuzz_must(o.min_runtime_s >= MIN_RUNTIME_UNSET && o.team_rank >= 0 && o.team_rank <= TEAM_RANK_MAX);
	job_options_check(&o, 8 * 3600, NULL);
	marks(text);
	if (job_id_parse(text, &name, &other) < 0)
		fuzz_refused(&other);
	else
		fuzz_must(name.job >= 1 && name.job <= UINT32_MAX && name.within >= 0);
	free(text);
	return 0;
}
