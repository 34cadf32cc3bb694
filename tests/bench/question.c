/* SPDX-License-Identifier: GPL-2.0-or-later
 * question.c - how long the plugin's question takes, beside a bare round trip of the same bytes
 *
 *     question ROUNDS ACCOUNT SOCKET [SOCKET]
 *
 * In each round: one bare round trip with a second process, and one question to each budgetd, in an order
 * that turns. The same bytes: the second process first carries one question to budgetd and back, and keeps
 * what went either way. A line for each: name, median, p99 and longest in nanoseconds. Every question must be
 * funded, so that it takes a hold. */
#include <curl/curl.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/bench/ask.h"
#include "tests/bench/samples.h"

#define BYTES_MAX 16384
#define WARM_UP 500		/* rounds that are not counted: connections, caches, prepared statements */
/* before each measurement: submissions come one by one, to processes that sleep */
#define REST_US 500
#define DEADLINE_MS 5000
#define BUDGETDS_MAX 2
#define ATTEMPTS 2000		/* of a millisecond each, for the second process to listen */

/* Shared by both processes: what goes over the wire in one question. */
struct wire {
	char request[BYTES_MAX], reply[BYTES_MAX];
	size_t request_bytes, reply_bytes;
};

/* --- the second process ------------------------------------------------------------------------- */

static int socket_at(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(address->sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address->sun_path, path);
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int dial(const char *path)
{
	struct sockaddr_un address;
	int fd = socket_at(path, &address);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int serve(const char *path)
{
	struct sockaddr_un address;
	int fd = socket_at(path, &address);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 8) < 0)
		return -1;
	return fd;
}

/* Whole messages are small: one send is one packet here, and recv is repeated only until all of it is
 * there. */
static int receive(int fd, char *to, size_t bytes)
{
	ssize_t n;

	for (size_t have = 0; have < bytes; have += (size_t)n) {
		n = recv(fd, to + have, bytes - have, 0);
		if (n <= 0)
			return -1;
	}
	return 0;
}

/* One HTTP message with a Content-Length. */
static int receive_message(int fd, char *to, size_t *bytes)
{
	size_t have = 0, want = SIZE_MAX;
	ssize_t n;

	while (have < want) {
		char *end, *length;

		n = recv(fd, to + have, BYTES_MAX - 1 - have, 0);
		if (n <= 0)
			return -1;
		have += (size_t)n;
		to[have] = '\0';
		end = strstr(to, "\r\n\r\n");
		length = strcasestr(to, "\r\nContent-Length:");
		if (end && length)
			want = (size_t)(end + 4 - to) + strtoul(length + strlen("\r\nContent-Length:"), NULL,
				10);
	}
	*bytes = have;
	return 0;
}

static int send_all(int fd, const char *from, size_t bytes)
{
	return send(fd, from, bytes, MSG_NOSIGNAL) == (ssize_t)bytes ? 0 : -1;
}

/* Who answers the bare round trip runs where budgetd may run: the place of a process decides what a wake-up
 * costs. */
static void stand_beside(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	cpu_set_t cpus;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
		sched_getaffinity(peer.pid, sizeof(cpus), &cpus) == 0)
		sched_setaffinity(0, sizeof(cpus), &cpus);
}

static int carry_one(int client, const char *budgetd, struct wire *w)
{
	int fd = dial(budgetd), rv = -1;

	if (fd >= 0)
		stand_beside(fd);
	if (fd >= 0 && receive_message(client, w->request, &w->request_bytes) == 0 &&
		send_all(fd, w->request, w->request_bytes) == 0 &&
		receive_message(fd, w->reply, &w->reply_bytes) == 0)
		rv = send_all(client, w->reply, w->reply_bytes);
	if (fd >= 0)
		close(fd);
	return rv;
}

/* First visitor: a question, carried. Second one: bare round trips until it goes. */
static int second_process(const char *path, const char *budgetd, struct wire *w)
{
	int listening = serve(path), fd = listening < 0 ? -1 : accept(listening, NULL, NULL);
	char in[BYTES_MAX];

	if (fd < 0 || carry_one(fd, budgetd, w) < 0)
		return -1;
	close(fd);
	fd = accept(listening, NULL, NULL);
	if (fd < 0)
		return -1;
	while (receive(fd, in, w->request_bytes) == 0)
		if (send_all(fd, w->reply, w->reply_bytes) < 0)
			return -1;
	return 0;
}

/* --- the rounds --------------------------------------------------------------------------------- */

struct bench {
	struct wire *wire;
	struct json_object *question;
	int bare;			/* to the second process */
	int nbudgetds;
	struct client *budgetds[BUDGETDS_MAX];
	struct samples samples[1 + BUDGETDS_MAX];	/* the bare round trip first */
};

static int question_once(struct bench *b, int which, struct fault *why)
{
	int rc = ask(b->budgetds[which], b->question, why);

	return rc == 0
		? fault_errno(why, ENOSPC, "a question was not funded: give the project more GPU-hours") : rc;
}

static int bare_once(struct bench *b, struct fault *why)
{
	char in[BYTES_MAX];

	if (send_all(b->bare, b->wire->request, b->wire->request_bytes) < 0 ||
		receive(b->bare, in, b->wire->reply_bytes) < 0)
		return fault_set(why, "the second process has gone");
	return 0;
}

static int rounds(struct bench *b, long n, struct fault *why)
{
	int kinds = 1 + b->nbudgetds;

	for (long i = -WARM_UP; i < n; i++) {
		for (int k = 0; k < kinds; k++) {
			int which = (int)((i + WARM_UP + k) % kinds);
			int64_t begun;

			usleep(REST_US);
			begun = samples_now();
			if ((which == 0 ? bare_once(b, why) : question_once(b, which - 1, why)) < 0)
				return -1;
			if (i >= 0)
				samples_add(&b->samples[which], samples_now() - begun);
		}
	}
	return 0;
}

static void report(struct bench *b, char **names)
{
	for (int i = 0; i <= b->nbudgetds; i++)
		printf("%s %jd %jd %jd\n", i ? names[i - 1] : "bare",
			(intmax_t)samples_at(&b->samples[i], 500), (intmax_t)samples_at(&b->samples[i], 990),
			(intmax_t)samples_at(&b->samples[i], 1000));
	printf("bytes %zu %zu\n", b->wire->request_bytes, b->wire->reply_bytes);
}

/* --- set-up ------------------------------------------------------------------------------------- */

/* The second process may still be on its way to listen(). */
static int first_question(struct bench *b, const char *path, struct fault *why)
{
	struct client *c = client_new(path, DEADLINE_MS);
	int rc = -1;

	if (!c)
		return fault_errno(why, ENOMEM, "out of memory");
	for (int i = 0; i < ATTEMPTS; i++) {
		struct fault problem = { "" };

		rc = ask(c, b->question, &problem);
		if (rc == 1 || (errno != ENOENT && errno != ECONNREFUSED)) {
			if (rc < 0)
				*why = problem;
			break;
		}
		usleep(1000);
	}
	client_free(c);
	return rc == 1 ? 0 : fault_set(why, "the first question was not funded");
}

static int set_up(struct bench *b, long n, const char *account, char **sockets, const char *path,
	struct fault *why)
{
	b->question = ask_question(account);
	for (int i = 0; i <= b->nbudgetds; i++)
		if (samples_new(&b->samples[i], (size_t)n) < 0)
			return fault_errno(why, ENOMEM, "out of memory");
	for (int i = 0; i < b->nbudgetds; i++) {
		b->budgetds[i] = client_new(sockets[i], DEADLINE_MS);
		if (!b->budgetds[i] || !b->question)
			return fault_errno(why, ENOMEM, "out of memory");
	}
	if (first_question(b, path, why) < 0)
		return -1;
	b->bare = dial(path);
	return b->bare < 0 ? fault_set(why, "%s: %s", path, strerror(errno)) : 0;
}

static void tear_down(struct bench *b)
{
	if (b->bare >= 0)
		close(b->bare);
	for (int i = 0; i < b->nbudgetds; i++)
		client_free(b->budgetds[i]);
	for (int i = 0; i <= b->nbudgetds; i++)
		samples_free(&b->samples[i]);
	json_object_put(b->question);
}

static int run(long n, const char *account, int nsockets, char **sockets, const char *path, struct fault *why)
{
	struct bench b = { .bare = -1, .nbudgetds = nsockets };
	pid_t second;
	int rv;

	b.wire = mmap(NULL, sizeof(*b.wire), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (b.wire == MAP_FAILED)
		return fault_errno(why, ENOMEM, "out of memory");
	second = fork();
	if (second == 0)
		_exit(second_process(path, sockets[0], b.wire) < 0);
	rv = second < 0 ? fault_set(why, "fork: %s", strerror(errno))
		: set_up(&b, n, account, sockets, path, why);
	if (rv == 0)
		rv = rounds(&b, n, why);
	if (rv == 0)
		report(&b, sockets);
	tear_down(&b);
	if (second > 0) {
		if (rv < 0)
			kill(second, SIGKILL);
		waitpid(second, NULL, 0);
	}
	unlink(path);
	munmap(b.wire, sizeof(*b.wire));
	return rv;
}

int main(int argc, char **argv)
{
	struct fault why = { "" };
	char path[128];
	long n;
	int rv;

	if (argc < 4 || argc > 3 + BUDGETDS_MAX || (n = atol(argv[1])) < 1) {
		fputs("usage: question ROUNDS ACCOUNT SOCKET [SOCKET]\n", stderr);
		return 2;
	}
	snprintf(path, sizeof(path), "%s/gpubudget-question.%jd",
		getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (intmax_t)getpid());
	curl_global_init(CURL_GLOBAL_NOTHING);
	rv = run(n, argv[2], argc - 3, argv + 3, path, &why);
	curl_global_cleanup();
	if (rv < 0)
		fprintf(stderr, "question: %s\n", why.text);
	return rv < 0;
}
