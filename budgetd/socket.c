/* SPDX-License-Identifier: GPL-2.0-or-later
 * socket.c - a listening Unix socket or TCP port, and who is at the other end. */
#include "budgetd/socket.h"
#include "lib/address.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static bool somebody_listens(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool yes = fd >= 0 &&
		(connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno == EAGAIN);

	if (fd >= 0)
		close(fd);
	return yes;
}

/* Between bind and chmod the socket has the process's umask; nobody can connect before listen. */
static int bind_and_listen(int fd, const struct sockaddr_un *address, mode_t mode)
{
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		return -1;
	return chmod(address->sun_path, mode) < 0 || listen(fd, 1024) < 0 ? -1 : 0;
}

int socket_listen(const char *path, mode_t mode, struct fault *why)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return fault_errno(why, ENAMETOOLONG, "%s: the path of a socket has at most %zu characters",
			path, sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	if (somebody_listens(&address))
		return fault_errno(why, EADDRINUSE, "%s: another budgetd listens there; stop that one first",
			path);
	if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
		return fault_errno(why, EEXIST,
			"%s is there and is not a socket; remove it or name another path", path);
	unlink(path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind_and_listen(fd, &address, mode) < 0) {
		fault_set(why, "%s: cannot listen: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

/* A restarted daemon must not wait for its old connections to be forgotten; one address of IPv6 is to take
 * IPv4 as well when it is any. */
static int listen_at(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), saved;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (a->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){ 0 }, sizeof(int));
	if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, 256) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

int socket_listen_at(const char *address, struct fault *why)
{
	struct addrinfo hints = { .ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM }, *found = NULL;
	struct address at;
	int fd = -1, rc;

	if (address_parse(address, &at, why) < 0)
		return -1;
	rc = getaddrinfo(at.host[0] ? at.host : NULL, at.port, &hints, &found);
	if (rc != 0)
		return fault_errno(why, EADDRNOTAVAIL, "listen: %s: %s", address, gai_strerror(rc));
	/* IPv6 first where any address is meant: it takes both. A name is taken in the order of the
	 * resolver. */
	for (int pass = at.host[0] ? 1 : 0; pass < 2 && fd < 0; pass++)
		for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
			if (pass == 1 || a->ai_family == AF_INET6)
				fd = listen_at(a);
	if (fd < 0)
		fault_set(why, "listen: %s: cannot listen there: %s", address, strerror(errno));
	freeaddrinfo(found);
	return fd;
}

int socket_peer(int fd, uid_t *uid)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return -1;
	*uid = peer.uid;
	return 0;
}
