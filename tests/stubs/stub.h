/* SPDX-License-Identifier: GPL-2.0-or-later
 * stub.h - what the stubs of vendors' libraries have in common: they are asked for a fault by variables
 *
 *   GPU_STUB=FAULT          hang hang-d crash exit close garbage print fork (in the init call)
 *                           crash-kernel hang-kernel (in the launch)
 *                           nothing (every call succeeds, nothing is done) wrong-fill wrong-copy wrong-kernel
 *                           (it does all else) busy busy-for-long (cuda: another process has the device)
 *                           no-bus (a device that is on no bus) cpu no-compiler
 *   GPU_STUB_INIT=CODE      what the init call returns
 *   GPU_STUB_KERNEL=CODE    what loading a kernel returns
 *   GPU_STUB_DEVICES=N      how many there are, at 0000:c1:00.0, 0000:c2:00.0, ...; 1 unless said
 *   GPU_STUB_COUNT=FILE     wrong-kernel from the third process on; the file counts them
 *   GPU_STUB_PID=FILE       gets the process id of the helper (and, with fork, of what it started)
 *
 * A stub is no emulation: it keeps "device" memory in the process and computes what pattern.h says where the
 * kernel would. It proves that the checks take the right turns, and nothing about any GPU. */
#ifndef TESTS_STUB_H
#define TESTS_STUB_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>
#include "gpu_check/pattern.h"

static inline bool stub_is(const char *fault)
{
	const char *asked = getenv("GPU_STUB");

	return asked && !strcmp(asked, fault);
}

static inline int stub_number(const char *variable, int preset)
{
	const char *text = getenv(variable);

	return text ? (int)strtol(text, NULL, 0) : preset;
}

static inline void stub_note(pid_t pid)
{
	const char *path = getenv("GPU_STUB_PID");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (f) {
		fprintf(f, "%d\n", (int)pid);
		fclose(f);
	}
}

static inline void stub_sleep(void)
{
	for (;;)
		pause();
}

/* The parent of a vfork waits inside the kernel, in state D, until the child is gone. */
static inline void stub_sleep_in_kernel(void)
{
	if (vfork() == 0)
		stub_sleep();
}

static inline void stub_start_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		stub_sleep();
	stub_note(pid);
}

static inline void stub_write(const char *text)
{
	(void)!write(3, text, strlen(text));
}

/* What the init calls of all stubs do. */
static inline int stub_init(int success)
{
	stub_note(getpid());
	if (stub_is("hang"))
		stub_sleep();
	if (stub_is("hang-d"))
		stub_sleep_in_kernel();
	if (stub_is("crash"))
		raise(SIGSEGV);
	if (stub_is("exit"))
		exit(0);
	if (stub_is("close")) {
		close(3);
		stub_sleep();
	}
	if (stub_is("garbage"))
		stub_write("GPU 0 is fine, trust me\n");
	if (stub_is("print"))
		puts("\033[31mloading GPU\tdriver...");
	if (stub_is("fork"))
		stub_start_child();
	fflush(stdout);
	return stub_number("GPU_STUB_INIT", success);
}

static inline void stub_fill(uint32_t *words, uint32_t pattern, size_t n)
{
	for (size_t i = 0; i < n && !stub_is("nothing"); i++)
		words[i] = pattern + (stub_is("wrong-fill") && i == 17);
}

static inline void stub_copy(void *to, const void *from, size_t bytes)
{
	if (stub_is("nothing"))
		return;
	memcpy(to, from, bytes);
	if (stub_is("wrong-copy") && bytes > 100)
		((unsigned char *)to)[100]++;
}

static inline bool stub_is_third(void)
{
	const char *path = getenv("GPU_STUB_COUNT");
	FILE *f = path ? fopen(path, "a") : NULL;
	long n = 0;

	if (!f)
		return false;
	fputc('x', f);
	fflush(f);
	n = ftell(f);
	fclose(f);
	return n > 2;
}

static inline void stub_kernel(uint32_t *words, uint32_t seed)
{
	if (stub_is("crash-kernel"))
		raise(SIGSEGV);
	if (stub_is("hang-kernel"))
		stub_sleep();
	if (stub_is_third())
		return;
	for (uint32_t i = 0; i < PATTERN_WORDS && !stub_is("nothing") && !stub_is("wrong-kernel"); i++)
		words[i] = pattern_kernel(seed, i);
}

static inline unsigned stub_bus(int device)
{
	return stub_is("no-bus") ? 0 : 0xC1u + (unsigned)device;
}
#endif
