/* SPDX-License-Identifier: GPL-2.0-or-later
 * cpu_set.h - a set of CPUs, and the lists in which Linux writes them: "0-7,64-71"
 *
 * Not cpu_set_t: that one has 1,024 CPUs unless each caller allocates, and no text.
 *
 * Threads  pure functions; a set belongs to its caller */
#ifndef LOCALITY_CPU_SET_H
#define LOCALITY_CPU_SET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPUS_MAX 8192		/* the most that Linux can be built for on any machine with GPUs */

struct cpu_set {
	uint64_t word[CPUS_MAX / 64];
};

void cpu_set_clear(struct cpu_set *s);
/* of what is outside 0 .. CPUS_MAX - 1 nothing is kept */
void cpu_set_add(struct cpu_set *s, int cpu);
void cpu_set_remove(struct cpu_set *s, int cpu);
bool cpu_set_has(const struct cpu_set *s, int cpu);
int cpu_set_count(const struct cpu_set *s);
bool cpu_set_empty(const struct cpu_set *s);

/* The first CPU from `cpu` on that is in the set; -1: none. So: for (c = cpu_set_next(s, 0); c >= 0;
 * c = cpu_set_next(s, c + 1)) */
int cpu_set_next(const struct cpu_set *s, int cpu);

/* `out` may be `a` or `b`. */
void cpu_set_and(struct cpu_set *out, const struct cpu_set *a, const struct cpu_set *b);
void cpu_set_or(struct cpu_set *out, const struct cpu_set *a, const struct cpu_set *b);
void cpu_set_without(struct cpu_set *out, const struct cpu_set *a, const struct cpu_set *b);

bool cpu_set_equal(const struct cpu_set *a, const struct cpu_set *b);
bool cpu_set_within(const struct cpu_set *a, const struct cpu_set *b);	/* every CPU of a is in b */
bool cpu_set_meets(const struct cpu_set *a, const struct cpu_set *b);	/* at least one CPU is in both */

/* "0-7,64-71", also "" and with a newline at its end. 0 and *out set; or -1, *out untouched, errno EINVAL
 * (no list) or ERANGE (a CPU above CPUS_MAX - 1). */
int cpu_set_parse(const char *text, struct cpu_set *out);

/* As Linux writes it; "" for the empty set. A list that is longer is cut behind a whole item and ends in
 * ",..." . Returns buf. */
#define CPU_LIST_MAX 1024
const char *cpu_set_text(const struct cpu_set *s, char buf[static CPU_LIST_MAX]);

#endif
