/* SPDX-License-Identifier: GPL-2.0-or-later
 * address.h - where budgetd listens and is asked over the network, as it is written in settings and options
 *
 * Threads  pure functions: any thread */
#ifndef LIB_ADDRESS_H
#define LIB_ADDRESS_H
#include "lib/fault.h"

#define ADDRESS_HOST_MAX 256
#define ADDRESS_PORT_MAX 6

struct address {
	char host[ADDRESS_HOST_MAX]; /* a name or a number, without brackets; "" = every address of this host
				      */
	char port[ADDRESS_PORT_MAX]; /* "1" to "65535" */
};

/* "head:6830", "[::1]:6830", "*:6830". 0; or -1, *out untouched, EINVAL and a text that quotes `text`. */
int address_parse(const char *text, struct address *out, struct fault *why);

/* "http://head:6830", "https://budget.example.org", with or without a last "/". No path, because a credential
 * is for the path as budgetd sees it; no user, no query. 0, or -1, EINVAL and a text. */
int address_check_server(const char *url, struct fault *why);

/* The same with a path, for a service that is not budgetd: "https://monitor.example.org/prometheus". */
int address_check_url(const char *url, struct fault *why);

#endif
