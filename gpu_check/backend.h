/* SPDX-License-Identifier: GPL-2.0-or-later
 * backend.h - the contract of a backend: what each way to a GPU (CUDA, HIP, Level Zero, OpenCL) has to be
 * able to do
 *
 * A backend is one file with one `const struct backend`. It declares by hand the few functions of the
 * vendor's library that it uses, as the vendor's binary interface has them, and is given their addresses by
 * gpu_check/library.c: no header and no package of a vendor is needed to build, and a process in which
 * nothing was asked loads nothing.
 *
 * gpu_check/stages.c calls the functions below in the order of `enum stage`, times them and compares what
 * comes back; no backend judges itself. They run in the helper only (helper.c): a vendor's library may hang,
 * crash, fork, print, or end the process.
 *
 * Errors   0; or -1 after backend_failed() or backend_fault(); CANNOT where there is nothing to do it with
 * Threads  one */
#ifndef GPU_CHECK_BACKEND_H
#define GPU_CHECK_BACKEND_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "gpu_check/library.h"
#include "gpu_check/report.h"

#define CANNOT 1

/* The vendor's error codes that say more than "refused". */
struct code_row {
	int64_t code;
	const char *name;		/* as the vendor writes it */
	enum cause cause;
};

struct session;

struct backend {
	const char *name;		/* "cuda" */
	const char *const *libraries;	/* names for dlopen, the newest first, NULL at the end */
	const struct symbol_row *symbols;
	size_t symbol_count;
	const struct code_row *codes;
	size_t code_count;
	/* of its own state, given zeroed; functions of the library first (library.h) */
	size_t state_size;
	/* "NAME=VALUE" before the library is loaded, NULL at the end: mostly "no caches" */
	const char *const *environment;

	/* The driver is there and lets this process in. */
	int (*init)(struct session *s);
	/* How many devices this process can use. */
	int (*count)(struct session *s, int *n);
	/* Fills kind, bus id, uuid and name as far as it can be told. */
	int (*identify)(struct session *s, int device, struct device_report *d);
	/* Makes the device usable, with a buffer of PATTERN_WORDS; ends the one before it. */
	int (*context)(struct session *s, int device);
	/* The device itself writes `pattern` into every word of the buffer; the buffer comes back in
	 * `words`. */
	int (*fill)(struct session *s, uint32_t pattern, uint32_t *words);
	/* `in` goes to the device, there into another place of its memory, and from there back to `out`. */
	int (*copy)(struct session *s, const uint32_t *in, uint32_t *out);
	/* A launched kernel writes pattern_kernel(seed, i) into word i; the buffer comes back in `words`. */
	int (*kernel)(struct session *s, uint32_t seed, uint32_t *words);
	/* Microseconds for `bytes` to the device and back. */
	int (*bandwidth)(struct session *s, size_t bytes, int64_t *up_us, int64_t *down_us);
	/* Gives back the device that context() took. Errors do not matter any more. */
	void (*release)(struct session *s);
};

struct session {
	const struct backend *backend;
	void *state;
	struct library library;
	bool any_kind;			/* a processor will do (OpenCL: "opencl-cpu") */
	char version[64];		/* set by init() */
	enum cause cause;		/* of the first failure */
	char text[REPORT_TEXT_MAX];
};

extern const struct backend backend_cuda, backend_hip, backend_level_zero, backend_opencl;

/* Backend of a name, NULL: there is none. "opencl-cpu" is opencl with *any_kind. */
const struct backend *backend_find(const char *name, bool *any_kind);

/* `call` of the library returned `code`. Cause and text of the first failure are kept. Returns -1. */
int backend_failed(struct session *s, const char *call, int64_t code);

/* The same in own words. */
int backend_fault(struct session *s, enum cause cause, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Microseconds of a clock that only goes forward. */
int64_t backend_now_us(void);

#endif
