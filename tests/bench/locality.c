/* SPDX-License-Identifier: GPL-2.0-or-later
 * locality.c - how long a machine is read and its CPUs are dealt: what a task would wait for
 *
 *   locality ROOT ROUNDS        "read_us deal_us gpus cpus": medians over the rounds */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "locality/deal.h"
#include "locality/device_names.h"
#include "locality/sysfs.h"

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct machine {
	struct numa numa;
	struct devices devices;
	struct device_name names[GPUS_MAX];
	struct cpu_set online;
	struct cores cores;
};

static int machine_read(int root, struct machine *m)
{
	if (numa_read(root, &m->numa) < 0 || devices_read(root, &m->numa, NULL, &m->devices) < 0)
		return -1;
	device_names_read(root, &m->devices, m->names);
	return sysfs_list(root, &m->online, "sys/devices/system/cpu/online") < 0 ||
		cores_read(root, &m->numa, &m->online, &m->cores) < 0 ? -1 : 0;
}

static void machine_free(struct machine *m)
{
	cores_free(&m->cores);
	devices_free(&m->devices);
	numa_free(&m->numa);
}

/* All CPUs to as many tasks as there are GPUs, each with one. */
static int machine_deal(const struct machine *m)
{
	struct deal_task task[GPUS_MAX];
	struct nearness near[GPUS_MAX] = { 0 };
	struct cpu_set set[GPUS_MAX];
	int n = 0, rv = 0;

	for (int i = 0; i < m->devices.gpus && rv == 0; i++)
		if (!m->devices.gpu[i].console)
			rv = nearness_of(
				&m->numa, (const struct gpu *const[]){&m->devices.gpu[i]}, 1, &near[n++]);
	if (rv == 0)
		rv = deal_evenly(&m->cores, n, 1, set);
	for (int i = 0; i < n && rv == 0; i++)
		task[i] = (struct deal_task){ set[i], &near[i] };
	if (rv == 0)
		rv = deal_nearest(&m->cores, task, n);
	for (int i = 0; i < n; i++)
		nearness_free(&near[i]);
	return rv;
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[2]) : 0,
	    root = argc == 3 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1;
	double *read_us = calloc((size_t)rounds + 1, sizeof(*read_us)),
	       *deal_us = calloc((size_t)rounds + 1, sizeof(*deal_us));
	struct machine m;

	if (rounds <= 0 || root < 0 || !read_us || !deal_us)
		return fputs("usage: locality ROOT ROUNDS\n", stderr), EXIT_FAILURE;
	for (int i = 0; i < rounds; i++) {
		double start = now_us(), middle;

		if (machine_read(root, &m) < 0)
			return perror("locality"), EXIT_FAILURE;
		middle = now_us();
		if (machine_deal(&m) < 0)
			return perror("locality"), EXIT_FAILURE;
		read_us[i] = middle - start;
		deal_us[i] = now_us() - middle;
		if (i + 1 == rounds) {
			qsort(read_us, (size_t)rounds, sizeof(*read_us), by_value);
			qsort(deal_us, (size_t)rounds, sizeof(*deal_us), by_value);
			printf("%.0f %.0f %d %d\n", read_us[rounds / 2], deal_us[rounds / 2], m.devices.gpus,
				cpu_set_count(&m.online));
		}
		machine_free(&m);
	}
	free(read_us);
	free(deal_us);
	return EXIT_SUCCESS;
}
