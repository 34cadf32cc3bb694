/* SPDX-License-Identifier: GPL-2.0-or-later
 * plugin_file.c - one number out of an ELF file (plugin_file.h)
 *
 * The dynamic symbols are found by the section headers, the number by the program headers: what the loader
 * would map at the symbol's address. Every offset is checked against the size of the file. */
#include "doctor/plugin_file.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYMBOL "plugin_version"
#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define OWN_DATA (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

struct image {
	const unsigned char *at;
	size_t size;
};

/* `count` things of `size` bytes at `offset`, copied out one by one: nothing in a file need be aligned. */
static bool inside(const struct image *m, uint64_t offset, uint64_t count, uint64_t size)
{
	return offset <= m->size && (!count || size <= (m->size - offset) / count);
}

static bool take(const struct image *m, uint64_t offset, void *to, size_t size)
{
	if (!inside(m, offset, 1, size))
		return false;
	memcpy(to, m->at + offset, size);
	return true;
}

/* Where in the file is what is mapped at this address? */
static bool offset_of(const struct image *m, const ElfW(Ehdr) *e, uint64_t address, uint64_t *out)
{
	ElfW(Phdr) p;

	for (unsigned i = 0; i < e->e_phnum; i++) {
		if (!take(m, e->e_phoff + (uint64_t)i * sizeof(p), &p, sizeof(p)))
			return false;
		if (p.p_type != PT_LOAD || address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz)
			continue;
		*out = p.p_offset + (address - p.p_vaddr);
		return true;
	}
	return false;
}

static bool is_named(const struct image *m, const ElfW(Shdr) *names, uint64_t name)
{
	return name < names->sh_size && inside(m, names->sh_offset + name, 1, sizeof(SYMBOL)) &&
		!memcmp(m->at + names->sh_offset + name, SYMBOL, sizeof(SYMBOL));
}

/* The address of the symbol in one table of symbols, 0 = not there. */
static uint64_t symbol_in(const struct image *m, const ElfW(Shdr) *table, const ElfW(Shdr) *names)
{
	ElfW(Sym) s;

	for (uint64_t at = 0; at + sizeof(s) <= table->sh_size; at += sizeof(s)) {
		if (!take(m, table->sh_offset + at, &s, sizeof(s)))
			return 0;
		if (s.st_shndx != SHN_UNDEF && is_named(m, names, s.st_name))
			return s.st_value;
	}
	return 0;
}

static uint64_t symbol_address(const struct image *m, const ElfW(Ehdr) *e)
{
	ElfW(Shdr) table, names;

	for (unsigned i = 0; i < e->e_shnum; i++) {
		if (!take(m, e->e_shoff + (uint64_t)i * sizeof(table), &table, sizeof(table)))
			return 0;
		if (table.sh_type == SHT_DYNSYM &&
			take(m, e->e_shoff + (uint64_t)table.sh_link * sizeof(names), &names, sizeof(names)))
			return symbol_in(m, &table, &names);
	}
	return 0;
}

static uint32_t version_in(const struct image *m)
{
	uint64_t address, offset;
	uint32_t version = 0;
	ElfW(Ehdr) e;

	if (!take(m, 0, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) ||
		e.e_ident[EI_CLASS] != OWN_CLASS || e.e_ident[EI_DATA] != OWN_DATA)
		return 0;
	address = symbol_address(m, &e);
	if (!address || !offset_of(m, &e, address, &offset) || !take(m, offset, &version, sizeof(version)))
		return 0;
	return version;
}

uint32_t plugin_file_version(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct image m = { NULL, 0 };
	uint32_t version = 0;
	struct stat st;
	void *at;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		m.size = (size_t)st.st_size;
		at = mmap(NULL, m.size, PROT_READ, MAP_PRIVATE, fd, 0);
		m.at = at == MAP_FAILED ? NULL : at;
	}
	if (m.at) {
		version = version_in(&m);
		munmap((void *)m.at, m.size);
	}
	close(fd);
	return version;
}

char *plugin_file_find(const char *plugin_dir, const char *name)
{
	char *path = NULL;

	if (strchr(name, '/')) {
		if (access(name, F_OK) == 0)
			return strdup(name);
		plugin_dir = NULL;
	}
	while (plugin_dir && *plugin_dir) {
		int n = (int)strcspn(plugin_dir, ":");

		if (asprintf(&path, "%.*s/%s", n, plugin_dir, name) < 0)
			return NULL;
		if (access(path, F_OK) == 0)
			return path;
		free(path);
		plugin_dir += n + (plugin_dir[n] == ':');
	}
	errno = ENOENT;
	return NULL;
}
