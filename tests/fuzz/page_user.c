/* SPDX-License-Identifier: GPL-2.0-or-later
 * page_user.c - who a proxy says it is: headers of the page, and its file with the secret */
#include <stdlib.h>
#include <string.h>
#include "budgetd/page.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line[4], path[300], *secret = NULL;
	struct settings *s = settings_defaults();
	struct page_sender from = { .headers = 1 };
	struct fault why = {0}, other = {0};
	const char *name = NULL;
	int rv;

	fuzz_must(s);
	fuzz_lines(data, size, 4, line);
	free(s->page_proxies);
	s->page_proxies = strdup(line[0]);
	from.peer = line[1];
	from.user = line[2][0] ? line[2] : NULL;
	from.secret = line[3];
	rv = page_user(s, "a secret of 27 characters!!", &from, &name, &why);
	if (rv < 0)
		fuzz_refused(&why);
	if (rv == 1)		/* without the secret nobody is believed */
		fuzz_must(name && *name && !strcmp(line[3], "a secret of 27 characters!!"));
	fuzz_file("secret", data, size);
	snprintf(path, sizeof(path), "%s/secret", fuzz_folder_path());
	if (page_secret_read(path, &secret, &other) < 0)
		fuzz_refused(&other);
	free(secret);
	settings_free(s);
	fuzz_lines_free(4, line);
	return 0;
}
