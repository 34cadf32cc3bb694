/* SPDX-License-Identifier: GPL-2.0-or-later
 * page_user.c - who looks at the page: what a proxy says, and whether it is believed (page.h).
 *
 * An address alone proves little: on the proxy's host any user can connect, with any header. So the proxy
 * shows a secret, too. */
#include "budgetd/page.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET_MIN 16
#define SECRET_MAX 256

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

static int check_file(int fd, const char *path, struct fault *why)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return fault_errno(why, EINVAL, "page_secret_file: %s is not a file", path);
	if (st.st_mode & (S_IRWXO | S_IWGRP))
		return fault_errno(why, EACCES,
			"page_secret_file: others can read or write %s: whoever knows the secret can be anybody; chmod 640 it",
			path);
	return 0;
}

static int take_line(const char *path, char *text, char **out, struct fault *why)
{
	size_t n = strcspn(text, "\r\n");

	text[n] = '\0';
	if (n < SECRET_MIN)
		return fault_errno(why, EINVAL,
			"page_secret_file: the first line of %s has %zu characters, at least %d make a secret: openssl rand -hex 32",
			path, n, SECRET_MIN);
	*out = strdup(text);
	return *out ? 0 : fault_errno(why, ENOMEM, "out of memory");
}

int page_secret_read(const char *path, char **out, struct fault *why)
{
	char text[SECRET_MAX + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
	ssize_t n;

	if (fd < 0)
		return fault_errno(why, errno, "page_secret_file: %s: %s", path, strerror(errno));
	rc = check_file(fd, path, why);
	n = rc == 0 ? read(fd, text, SECRET_MAX) : 0;
	close(fd);
	if (rc < 0)
		return -1;
	text[n > 0 ? n : 0] = '\0';
	return take_line(path, text, out, why);
}
