/* SPDX-License-Identifier: GPL-2.0-or-later
 * address.c - addresses in settings and of --server */
#include "lib/address.h"
#include <stdlib.h>
#include <string.h>
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct fault why = {0}, other = {0}, third = {0};
	struct address a = {0};

	if (address_parse(text, &a, &why) < 0)
		fuzz_refused(&why);
	else
		fuzz_must(atoi(a.port) >= 1 && atoi(a.port) <= 65535 && strlen(a.host) < sizeof(a.host));
	if (address_check_server(text, &other) < 0)
		fuzz_refused(&other);
	else			/* what is a server is a service, too */
		fuzz_must(address_check_url(text, NULL) == 0);
	if (address_check_url(text, &third) < 0)
		fuzz_refused(&third);
	free(text);
	return 0;
}
