/* SPDX-License-Identifier: GPL-2.0-or-later
 * memory.c - what a process got: its CPUs, and from which nodes its memory came
 *
 *   memory MIB
 *
 * Writes to so much memory and prints, out of /proc/self/status and /proc/self/numa_maps,
 *   cpus 2-3                 Cpus_allowed_list
 *   mems 0-3                 Mems_allowed_list
 *   policy prefer (many):1   of that memory, as the kernel writes it
 *   node 1: 8192             its pages of 4 KiB, a line for each node that has some */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int status_print(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[1024], list[512];
	int found = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Cpus_allowed_list: %511s", list) == 1)
			found += printf("cpus %s\n", list) > 0;
		if (sscanf(line, "Mems_allowed_list: %511s", list) == 1)
			found += printf("mems %s\n", list) > 0;
	}
	if (f)
		fclose(f);
	return found == 2 ? 0 : -1;
}

/* "7f0c4be00000 prefer (many):1 anon=8192 dirty=8192 active=0 N1=8192 kernelpagesize_kB=4" */
static int line_print(char *line)
{
	char *policy = strchr(line, ' ') + 1, *rest = strstr(line, " anon=");
	int node, pages;

	if (!rest)
		return -1;
	*rest = '\0';
	printf("policy %s\n", policy);
	for (char *word = strtok(rest + 1, " \n"); word; word = strtok(NULL, " \n"))
		if (sscanf(word, "N%d=%d", &node, &pages) == 2)
			printf("node %d: %d\n", node, pages);
	return 0;
}

static int maps_print(const void *memory)
{
	FILE *f = fopen("/proc/self/numa_maps", "re");
	char line[4096], start[32];
	int rv = -1;

	snprintf(start, sizeof(start), "%jx ", (uintmax_t)(uintptr_t)memory);
	while (f && rv < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, start, strlen(start)))
			rv = line_print(line);
	if (f)
		fclose(f);
	return rv;
}

int main(int argc, char **argv)
{
	size_t size = argc == 2 ? (size_t)atoi(argv[1]) << 20 : 0;
	void *memory = MAP_FAILED;

	if (size)
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return fputs("usage: memory MIB\n", stderr), EXIT_FAILURE;
	memset(memory, 1, size);
	return status_print() < 0 || maps_print(memory) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
