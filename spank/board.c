/* SPDX-License-Identifier: GPL-2.0-or-later
 * board.c - anonymous shared memory and a futex (board.h) */
#include "spank/board.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct row {
	_Atomic bool has_cpus, has_gpus;
	bool kept;
	uint64_t gpus;
	struct cpu_set cpus;
};

struct board {
	size_t size;
	int tasks;
	_Atomic uint32_t told;		/* rows with GPUs; the futex */
	struct row row[];
};

struct board *board_new(int tasks)
{
	size_t size = sizeof(struct board) + (size_t)tasks * sizeof(struct row);
	struct board *b;

	if (tasks <= 0) {
		errno = EINVAL;
		return NULL;
	}
	b = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (b == MAP_FAILED)
		return NULL;
	b->size = size;		/* all else is zero */
	b->tasks = tasks;
	return b;
}

void board_free(struct board *b)
{
	int err = errno;

	if (b)
		munmap(b, b->size);
	errno = err;
}

int board_tasks(const struct board *b)
{
	return b->tasks;
}

void board_put_cpus(struct board *b, int task, const struct cpu_set *cpus)
{
	if (task < 0 || task >= b->tasks)
		return;
	b->row[task].cpus = *cpus;
	atomic_store(&b->row[task].has_cpus, true);
}

void board_put_gpus(struct board *b, int task, uint64_t gpus, bool kept)
{
	if (task < 0 || task >= b->tasks || atomic_load(&b->row[task].has_gpus))
		return;
	b->row[task].gpus = gpus;
	b->row[task].kept = kept;
	atomic_store(&b->row[task].has_gpus, true);
	atomic_fetch_add(&b->told, 1);
	syscall(SYS_futex, &b->told, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int board_wait(struct board *b, int64_t deadline_ms)
{
	int64_t end = now_ms() + deadline_ms, left;
	uint32_t told;

	while ((told = atomic_load(&b->told)) < (uint32_t)b->tasks) {
		left = end - now_ms();
		if (left <= 0) {
			errno = ETIMEDOUT;
			return -1;
		}
		/* whatever it says, look again */
		syscall(SYS_futex, &b->told, FUTEX_WAIT, told,
			&(struct timespec){ left / 1000, left % 1000 * 1000000 }, NULL, 0);
	}
	return 0;
}

bool board_row(const struct board *b, int task, struct cpu_set *cpus, uint64_t *gpus, bool *kept)
{
	const struct row *r = &b->row[task];

	*cpus = r->cpus;
	*gpus = r->gpus;
	*kept = r->kept;
	return atomic_load(&r->has_cpus);
}
