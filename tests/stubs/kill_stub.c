/* SPDX-License-Identifier: GPL-2.0-or-later
 * kill_stub.c - a stub, preloaded into gpu-check: no signal arrives, as with a process that waits inside the
 * kernel for ever */
#include <signal.h>

int kill(pid_t pid, int signal)
{
	(void)pid;
	(void)signal;
	return 0;
}
