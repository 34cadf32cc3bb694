/* SPDX-License-Identifier: GPL-2.0-or-later
 * fuzz.h - what the fuzzers share: input as parsers get it, and what must hold whatever the input is
 *
 * A fuzzer is a file with LLVMFuzzerTestOneInput (libFuzzer), a line in the table `fuzzers` and a folder of
 * seeds. Copies have no byte more than the input and its NUL, so that a look behind the end is seen.
 *
 * Failure  ends the process with a message, as a crash does: libFuzzer keeps the input
 * Threads  one */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "lib/fault.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input as one text, to be freed. A NUL within ends it, as it would end any text. */
char *fuzz_text(const uint8_t *data, size_t size);

/* Its first lines, `n` of them, each with memory of its own; "" for those that are not there, and the last has
 * all the rest. To be given to fuzz_lines_free. */
void fuzz_lines(const uint8_t *data, size_t size, size_t n, char *line[]);
void fuzz_lines_free(size_t n, char *line[]);

/* The input as a file that is open for reading, to be closed. */
FILE *fuzz_stream(const uint8_t *data, size_t size);

/* A new folder of this process, removed with what is in it when the process ends. The same at each call. */
int fuzz_folder(void);
const char *fuzz_folder_path(void);
/* The file at `path` below it has this content, folders made on the way. What it has already is not written. */
void fuzz_file(const char *path, const void *content, size_t size);

#define fuzz_must(x) fuzz_hold(x, #x, __FILE__, __LINE__)
void fuzz_hold(bool true_, const char *text, const char *file, int line);

/* What is refused is refused with a sentence. */
void fuzz_refused(const struct fault *why);

#endif
