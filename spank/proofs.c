/* SPDX-License-Identifier: GPL-2.0-or-later
 * proofs.c - slots in a sealed file in memory, claimed in their order by compare-and-swap (proofs.h)
 *
 * All claimers go over the slots from the first on, so that two with the same key meet at the same slot. */
#include "spank/proofs.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CLAIM_MS = 1000 };	/* for the few instructions between a claim and its key */
enum state { FREE, CLAIMED, RUNNING, DONE };

#define MAGIC 0x67706250u	/* "gpbP" */

struct slot {
	_Atomic uint32_t state;		/* enum state; the futex */
	char key[PROOF_KEY_MAX];
	struct proof_result result;
};

struct page {
	uint32_t magic, slots, extra;	/* how many slots, and how many bytes behind them */
	struct slot slot[];
};

struct proofs {
	int fd;
	uint32_t slots;			/* the page's own could be written over by a task */
	size_t size;
	struct page *page;
};

static size_t page_size(uint32_t slots, size_t extra)
{
	return sizeof(struct page) + slots * sizeof(struct slot) + extra;
}

static void *extra_of(const struct proofs *p)
{
	return (char *)p->page + page_size(p->slots, 0);
}

/* The two allocations of an object; `fd` is taken. */
static struct proofs *map(int fd, size_t size)
{
	struct page *page = MAP_FAILED;
	struct proofs *p = NULL;
	int err;

	if (fd >= 0)
		page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED)
		p = calloc(1, sizeof(*p));
	if (p) {
		*p = (struct proofs){ .fd = fd, .size = size, .page = page };
		return p;
	}
	err = errno;
	if (page != MAP_FAILED)
		munmap(page, size);
	if (fd >= 0)
		close(fd);
	errno = err;
	return NULL;
}

struct proofs *proofs_new(int sets, const void *extra, size_t size)
{
	size_t all = page_size((uint32_t)sets, size);
	int fd = sets > 0 ? memfd_create("gpubudget-proofs", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;
	struct proofs *p;

	if (sets <= 0)
		errno = EINVAL;
	/* nobody can make it shorter under the others */
	if (fd >= 0 && (ftruncate(fd, (off_t)all) < 0 ||
			       fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)) {
		close(fd);
		return NULL;
	}
	p = map(fd, all);
	if (!p)
		return NULL;
	p->slots = p->page->slots = (uint32_t)sets;
	p->page->extra = (uint32_t)size;
	memcpy(extra_of(p), extra, size);
	p->page->magic = MAGIC;
	return p;
}

struct proofs *proofs_open(int fd, size_t size)
{
	struct stat st;
	struct proofs *p;

	/* it was left open for this program: nothing that it starts is to have it */
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fstat(fd, &st) < 0)
		return NULL;
	if ((size_t)st.st_size < sizeof(struct page)) {
		close(fd);
		errno = EINVAL;
		return NULL;
	}
	p = map(fd, (size_t)st.st_size);
	if (p)
		p->slots = p->page->slots;
	if (p && (p->page->magic != MAGIC || p->page->extra != size ||
			 page_size(p->slots, size) != p->size)) {
		proofs_free(p);
		errno = EINVAL;
		return NULL;
	}
	return p;
}

void proofs_free(struct proofs *p)
{
	int err = errno;

	if (p) {
		munmap(p->page, p->size);
		close(p->fd);
	}
	free(p);
	errno = err;
}

int proofs_fd(const struct proofs *p)
{
	return p->fd;
}

const void *proofs_extra(const struct proofs *p)
{
	return extra_of(p);
}

/* --- slots -------------------------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void publish(struct slot *s, enum state state)
{
	atomic_store(&s->state, state);
	syscall(SYS_futex, &s->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Until the slot is at least so far. 0; or -1 and ETIMEDOUT. */
static int await(struct slot *s, enum state state, int64_t deadline_ms)
{
	int64_t end = now_ms() + deadline_ms, left;
	uint32_t now;

	while ((now = atomic_load(&s->state)) < state) {
		left = end - now_ms();
		if (left <= 0) {
			errno = ETIMEDOUT;
			return -1;
		}
		/* whatever it says, look again */
		syscall(SYS_futex, &s->state, FUTEX_WAIT, now,
			&(struct timespec){ left / 1000, left % 1000 * 1000000 }, NULL, 0);
	}
	return 0;
}

int proofs_claim(struct proofs *p, const char *key, bool *own)
{
	*own = false;
	if (strlen(key) >= PROOF_KEY_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	for (uint32_t i = 0; i < p->slots; i++) {
		struct slot *s = &p->page->slot[i];
		uint32_t is_free = FREE;

		if (atomic_compare_exchange_strong(&s->state, &is_free, CLAIMED)) {
			strcpy(s->key, key);
			publish(s, RUNNING);
			*own = true;
			return (int)i;
		}
		if (await(s, RUNNING, CLAIM_MS) < 0)
			return -1;
		if (!strncmp(s->key, key, PROOF_KEY_MAX))
			return (int)i;
	}
	errno = ENOSPC;
	return -1;
}

void proofs_put(struct proofs *p, int slot, const struct proof_result *r)
{
	struct slot *s = &p->page->slot[slot];

	s->result = *r;
	publish(s, DONE);
}

/* What another process wrote, as texts. */
static void result_take(const struct slot *s, struct proof_result *out)
{
	*out = s->result;
	out->say[sizeof(out->say) - 1] = out->json[sizeof(out->json) - 1] = '\0';
	for (char *c = out->json; *c; c++)
		*c = *c >= 0x20 && *c < 0x7F ? *c : '?';
	if (out->outcome < 0 || out->outcome >= OUTCOMES)
		out->outcome = OUTCOME_FAILED;
}

bool proofs_put_already(const struct proofs *p, int n, struct proof_result *out)
{
	for (uint32_t i = 0; i < p->slots; i++)
		if (atomic_load(&p->page->slot[i].state) == DONE && n-- == 0) {
			result_take(&p->page->slot[i], out);
			return true;
		}
	return false;
}

int proofs_wait(struct proofs *p, int slot, int64_t deadline_ms, struct proof_result *out)
{
	struct slot *s = &p->page->slot[slot];

	if (await(s, DONE, deadline_ms) < 0)
		return -1;
	result_take(s, out);
	return 0;
}
