/* SPDX-License-Identifier: GPL-2.0-or-later
 * page_user.c - who looks at the page: what a proxy says, and whether it is believed (page.h).
 *
 * An address alone proves little: on the proxy's host any user can connect, with any header. So the proxy
 * shows a secret, too. */
#include "budgetd/page.h"
#include "budgetd/secret_file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECRET_MIN 16

/* An IPv4 address of a socket that takes both kinds is written in another way. */
static const char *plain_address(const char *peer)
{
	static const char mapped[] = "::ffff:";

	return strncmp(peer, mapped, sizeof(mapped) - 1) == 0 ? peer + sizeof(mapped) - 1 : peer;
}

static bool is_named(const char *list, const char *address)
{
	static const char between[] = ", \t";
	size_t n = strlen(address), length;

	for (const char *at = list + strspn(list, between); *at; at += length, at += strspn(at, between)) {
		length = strcspn(at, between);
		if (length == n && strncmp(at, address, n) == 0)
			return true;
	}
	return false;
}

/* In a time that tells nothing about where they differ. */
static bool same_secret(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	unsigned char differ = na != nb;

	for (size_t i = 0; i < na; i++)
		differ |= (unsigned char)(a[i] ^ (nb ? b[i % nb] : 1));
	return !differ;
}

int page_user(const struct settings *s, const char *secret, const struct page_sender *from, const char **name,
	struct fault *why)
{
	if (!*s->page_proxies || !from->user || !*from->user)
		return 0;
	if (from->headers > 1)
		return fault_errno(why, EACCES,
			"the request has %d headers %s: the proxy must replace what it is sent", from->headers,
			s->page_user_header);
	if (!from->peer || !is_named(s->page_proxies, plain_address(from->peer)))
		return fault_errno(why, EACCES,
			"%s is not believed from %.60s: page_proxies does not name that address",
			s->page_user_header, from->peer ? plain_address(from->peer) : "an unknown address");
	if (!secret || !from->secret || !same_secret(secret, from->secret))
		return fault_errno(why, EACCES,
			"%s is not believed without the secret of page_secret_file in X-Gpubudget-Secret",
			s->page_user_header);
	*name = from->user;
	return 1;
}

int page_secret_read(const char *path, char **out, struct fault *why)
{
	static const struct secret_file file = { "page_secret_file", "whoever knows the secret can be anybody" };
	char *text;
	size_t n;

	if (secret_file_read(&file, path, &text, why) < 0)
		return -1;
	n = strlen(text);
	if (n >= SECRET_MIN) {
		*out = text;
		return 0;
	}
	free(text);
	return fault_errno(why, EINVAL,
		"page_secret_file: the first line of %s has %zu characters, at least %d make a secret: openssl rand -hex 32",
		path, n, SECRET_MIN);
}
