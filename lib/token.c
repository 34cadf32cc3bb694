/* SPDX-License-Identifier: GPL-2.0-or-later
 * token.c - find our word among those of others.
 *
 * A word that only looks like a token is skipped: whoever may write AdminComment may write anything. */
#include "lib/token.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

static bool is_token(const char *word, size_t n)
{
	const size_t prefix = strlen(TOKEN_PREFIX);

	return n > prefix && n < TOKEN_MAX && !strncmp(word, TOKEN_PREFIX, prefix) &&
		strspn(word + prefix, LETTERS) >= n - prefix;
}

bool token_valid(const char *token)
{
	return is_token(token, strlen(token));
}

bool token_find(const char *comment, char out[TOKEN_MAX])
{
	bool found = false;

	while (comment && *comment) {
		size_t n;

		comment += strspn(comment, BLANKS);
		n = strcspn(comment, BLANKS);
		if (is_token(comment, n)) {
			memcpy(out, comment, n);
			out[n] = '\0';
			found = true;
		}
		comment += n;
	}
	return found;
}

static bool is_waits(const char *word, size_t n)
{
	return n == strlen(WAITS_WORD) && !strncmp(word, WAITS_WORD, n);
}

bool token_waits(const char *comment)
{
	size_t n;

	for (; comment && *comment; comment += n) {
		comment += strspn(comment, BLANKS);
		n = strcspn(comment, BLANKS);
		if (is_waits(comment, n))
			return true;
	}
	return false;
}

char *token_set_waits(const char *comment, bool waits)
{
	size_t length = comment ? strlen(comment) : 0, used = 0, n;
	char *out = malloc(length + sizeof(" " WAITS_WORD));

	for (; out && comment && *comment; comment += n) {
		n = strspn(comment, BLANKS);
		n = n ? n : strcspn(comment, BLANKS);
		if (!is_waits(comment, n)) {
			memcpy(out + used, comment, n);
			used += n;
		} else if (used) {
			used--;		/* the blank in front of it */
		}
	}
	if (out)
		snprintf(out + used, length + sizeof(" " WAITS_WORD) - used, "%s%s", waits && used ? " " : "",
			waits ? WAITS_WORD : "");
	return out;
}
