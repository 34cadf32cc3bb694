/* SPDX-License-Identifier: GPL-2.0-or-later
 * credential.c - the text that binds a credential to one request. */
#include "lib/credential.h"
#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

char *credential_payload(const char *method, const char *path, const void *body, size_t bytes)
{
	char hex[BASE16_ENCODE_LENGTH(SHA256_DIGEST_SIZE) + 1] = "", *payload;
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx sha;

	sha256_init(&sha);
	if (bytes)
		sha256_update(&sha, bytes, body);
	sha256_digest(&sha, sizeof(digest), digest);
	base16_encode_update(hex, sizeof(digest), digest);
	return asprintf(&payload, "gpubudget-1 %s %s %s", method, path, hex) < 0 ? NULL : payload;
}
