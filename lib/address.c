/* SPDX-License-Identifier: GPL-2.0-or-later
 * address.c - HOST:PORT, and the URL of a server without a path. */
#include "lib/address.h"
#include "lib/number.h"
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PORT_TOP 65535

static bool port_is_good(const char *text)
{
	int64_t port;

	return strlen(text) < ADDRESS_PORT_MAX && number_parse(text, PORT_TOP, &port) == 0 && port > 0;
}

/* A name or a number; an IPv6 number has its brackets taken off before. */
static bool host_is_good(const char *host, size_t n, bool ipv6)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_",
			  digits[] = "0123456789abcdefABCDEF:.";

	return n > 0 && n < ADDRESS_HOST_MAX && host[0] != '-' && strspn(host, ipv6 ? digits : letters) >= n;
}

int address_parse(const char *text, struct address *out, struct fault *why)
{
	const char *colon = strrchr(text, ':'), *host = text;
	size_t n = colon ? (size_t)(colon - text) : 0;
	bool ipv6 = n > 2 && text[0] == '[' && text[n - 1] == ']';
	bool any = n == 1 && text[0] == '*';

	host += ipv6;
	n -= ipv6 ? 2 : 0;
	if (!colon || !port_is_good(colon + 1) || !(any || host_is_good(host, n, ipv6)))
		return fault_errno(why, EINVAL,
			"\"%.80s\" is not HOST:PORT, [IPv6]:PORT or *:PORT with a port from 1 to %d", text,
			PORT_TOP);
	snprintf(out->host, sizeof(out->host), "%.*s", any ? 0 : (int)n, host);
	snprintf(out->port, sizeof(out->port), "%s", colon + 1);
	return 0;
}

/* Where the host of an http URL begins; NULL and a text when it is none. */
static const char *url_host(const char *url, struct fault *why)
{
	const char *host = strncmp(url, "http://", 7) == 0    ? url + 7
			   : strncmp(url, "https://", 8) == 0 ? url + 8
							      : NULL;

	if (!host)
		fault_errno(why, EINVAL, "\"%.80s\" is neither http://HOST:PORT nor https://HOST", url);
	return host;
}

/* The first `n` bytes of `host`, which are in `url`. */
static int check_host(const char *url, const char *host, size_t n, struct fault *why)
{
	char copy[ADDRESS_HOST_MAX + ADDRESS_PORT_MAX + 3];
	struct address ignored;

	if (n < sizeof(copy) - 2) {
		/* No port is one too: that of http or https. What ends in ] or has no colon gets one to be
		 * looked at. */
		snprintf(copy, sizeof(copy), "%.*s", (int)n, host);
		if (!strchr(copy, ':') || copy[n - 1] == ']')
			snprintf(copy + n, sizeof(copy) - n, ":1");
		if (copy[0] != '*' && address_parse(copy, &ignored, NULL) == 0)
			return 0;
	}
	return fault_errno(why, EINVAL, "\"%.80s\" names no host: http://HOST:PORT or https://HOST", url);
}

int address_check_url(const char *url, struct fault *why)
{
	const char *host = url_host(url, why);

	if (!host)
		return -1;
	if (url[strcspn(url, "?#")])
		return fault_errno(why, EINVAL, "\"%.80s\" has a query: name the host and the path before it",
			url);
	return check_host(url, host, strcspn(host, "/"), why);
}

int address_check_server(const char *url, struct fault *why)
{
	const char *host = url_host(url, why);
	size_t n = host ? strcspn(host, "/?#") : 0;

	if (!host)
		return -1;
	if (host[n] && strcmp(host + n, "/") != 0)
		return fault_errno(why, EINVAL,
			"\"%.80s\" has a path: name the host alone, a request's credential is for the path "
			"as budgetd "
			"sees it, so a proxy must pass paths on unchanged",
			url);
	return check_host(url, host, n, why);
}
