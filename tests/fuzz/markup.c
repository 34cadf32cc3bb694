/* SPDX-License-Identifier: GPL-2.0-or-later
 * markup.c - people's texts on a terminal and in pages: nothing in them is a command */
#include "lib/markup.h"
#include <stdlib.h>
#include <string.h>
#include "lib/roff.h"
#include "lib/utf8.h"
#include "tests/fuzz/fuzz.h"

static char *written(void (*put)(FILE *to, const char *text), const char *text)
{
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);

	fuzz_must(f);
	put(f, text);
	fclose(f);
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *html = written(markup_text, text),
	     *query = written(markup_query, text), *roff = written(roff_text, text);

	fuzz_must(!strpbrk(html, "<>\"'\033\r") && utf8_is_valid(html));
	fuzz_must(!strpbrk(query, "<>\"'&#? \033\r\n"));
	fuzz_must(roff[0] != '.' && roff[0] != '\'' && !strstr(roff, "\n."));
	free(html);
	free(query);
	free(roff);
	free(text);
	return 0;
}
