/* SPDX-License-Identifier: GPL-2.0-or-later
 * helper.c - gpu-check-helper BACKEND LEVEL PARENT: the program in which the libraries of vendors run
 *
 * Started by gpu_check/deadline.c with the environment of the task: the report goes to descriptor 3
 * (lines.h), what libraries print to 1 and 2. It links the C library only, so that it also runs inside a
 * container. It ends with _exit(): what a library would do at the end of a process is neither needed nor
 * trusted. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "gpu_check/deadline.h"
#include "gpu_check/stages.h"

/* Descriptors that the parent left open are nothing that a vendor's library should have. */
static void close_rest(void)
{
	long max = sysconf(_SC_OPEN_MAX);

#ifdef SYS_close_range
	if (syscall(SYS_close_range, HELPER_FD + 1, ~0u, 0) == 0)
		return;
#endif
	for (int fd = HELPER_FD + 1; fd < (max > 0 && max < 65536 ? max : 65536); fd++)
		close(fd);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, text, strlen(text));	/* where that is not allowed it is not done */
	close(fd);
}

/* Ends with its parent, leaves no core, and is what the kernel kills first when memory runs out. */
static void settle(pid_t parent)
{
	const struct rlimit none = { 0, 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);	/* it was faster */
	setrlimit(RLIMIT_CORE, &none);
	write_text("/proc/self/oom_score_adj", "1000");
	fcntl(HELPER_FD, F_SETFD, FD_CLOEXEC);
	close_rest();
}

int main(int argc, char *argv[])
{
	const struct backend *b;
	bool any_kind = false;
	int level;

	if (argc != 4 || !(b = backend_find(argv[1], &any_kind)) || (level = level_of(argv[2])) < 0) {
		fprintf(stderr,
			"gpu-check-helper is started by gpu-check and by Slurm's plugin, not by hand\n");
		return 2;
	}
	settle((pid_t)strtol(argv[3], NULL, 10));
	stages_run(b, (enum level)level, any_kind,
		(uint32_t)backend_now_us() * 2654435761u ^ (uint32_t)getpid(), HELPER_FD);
	_exit(0);
}
