/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_task_devices.c - environments of tasks, and the GPUs that they mean. */
#include "locality/task_devices.h"
#include "tests/unit/cases.h"
#include "tests/unit/machine_tree.h"
#include "tests/unit/suites.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct case_table tasks;

/* Machines of this table that are variants of a real one. */
static const struct variant {
	const char *name, *machine, *vendor, *second_model;
} variants[] = { { "mixed", "pascal", NULL, "0x2330" }, { "intel", "pascal", "0x8086", NULL } };

static const char *variant_put(const char *name, char dir[static MACHINE_DIR_MAX])
{
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		const struct variant *v = &variants[i];

		if (strcmp(v->name, name))
			continue;
		machine_temporary(v->machine, MACHINE_DEVICES, dir);
		for (int g = 0; v->vendor && g < 2; g++)
			machine_put(dir, v->vendor, "sys/bus/pci/devices/0000:0%d:00.0/vendor", g ? 7 : 4);
		if (v->second_model)
			machine_put(dir, v->second_model, "sys/bus/pci/devices/0000:07:00.0/device");
		return dir;
	}
	return machine_temporary(name, MACHINE_DEVICES, dir);
}

/* What the drivers would tell: minors in the order of the bus, KFD from the last card to the first. */
static void drivers_put(const char *dir, const struct devices *d)
{
	int nvidia = 0, amd = 0;
	char text[256], address[PCI_TEXT_MAX];

	for (int i = 0; i < d->gpus; i++) {
		const struct gpu *g = &d->gpu[i];

		pci_text(&g->address, address);
		if (g->vendor == PCI_NVIDIA) {
			snprintf(text, sizeof(text),
				"Model: \t\t Test\nIRQ:   \t\t 42\nGPU UUID: \t "
				"GPU-%08d-aaaa-bbbb-cccc-dddddddddddd\nDevice Minor: \t %d",
				nvidia, nvidia);
			nvidia++;
			machine_put(dir, text, "proc/driver/nvidia/gpus/%s/information", address);
		} else if (g->vendor == PCI_AMD && !g->console) {
			machine_put(
				dir, "", "sys/bus/pci/devices/%s/drm/renderD%d/uevent", address, 128 + amd);
			snprintf(text, sizeof(text), "cpu_cores_count 0\nlocation_id %d\ndomain 0",
				g->address.bus << 8);
			machine_put(dir, text, "sys/class/kfd/kfd/topology/nodes/%d/properties", 20 - amd);
			amd++;
		}
	}
	for (int i = 0; i <= 20; i++)
		machine_put(dir, "1", "sys/class/kfd/kfd/topology/nodes/%d/gpu_id", i);
}

/* "A=1 B=2" */
static const char *variable_of(void *from, const char *name)
{
	static char value[256];
	size_t n = strlen(name);

	for (const char *p = from; *p; p += strcspn(p, " "), p += *p == ' ')
		if (!strncmp(p, name, n) && p[n] == '=') {
			snprintf(value, sizeof(value), "%.*s", (int)strcspn(p + n + 1, " "), p + n + 1);
			return value;
		}
	return NULL;
}

static void files_put(const char *dir, const char *files)
{
	char copy[128], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", files);
	for (char *f = strtok_r(copy, " ", &save); f && strcmp(f, "-"); f = strtok_r(NULL, " ", &save))
		machine_put(dir, "", "dev/%s%s", f[0] == 'r' ? "dri/" : "", f);
}

START_TEST(gpus_are_as_the_table_says)
{
	const struct case_row *c = &tasks.row[_i];
	struct device_name names[GPUS_MAX];
	char dir[MACHINE_DIR_MAX], text[512] = "", address[PCI_TEXT_MAX];
	struct devices d;
	struct numa numa;
	struct task_gpus t;
	int root = open(variant_put(c->col[0], dir), O_RDONLY | O_DIRECTORY);

	ck_assert_int_eq(numa_read(root, &numa), 0);
	ck_assert_int_eq(devices_read(root, &numa, NULL, &d), 0);
	drivers_put(dir, &d);
	files_put(dir, c->col[1]);
	device_names_read(root, &d, names);
	task_gpus_find(&d, names, variable_of, (char *)(strcmp(c->col[2], "\"\"") ? c->col[2] : ""), &t);
	for (int i = 0; i < t.count; i++)
		strcat(strcat(text, i ? " " : ""), pci_text(&t.gpu[i]->address, address));
	ck_assert_msg(
		!strcmp(text, case_none(c, 3) ? "" : c->col[3]), "line %d: %s: %s", c->line, c->col[2], text);
	ck_assert_msg(
		t.unsure == !strcmp(c->col[4], "yes"), "line %d: %s", c->line, t.unsure ? "unsure" : "sure");
	devices_free(&d);
	numa_free(&numa);
	close(root);
	machine_remove(dir);
}
END_TEST

Suite *task_devices_suite(void)
{
	TCase *t = tcase_create("task_devices");
	Suite *s = suite_create("task_devices");

	tasks = cases_load("task_devices.cases", 5);
	tcase_add_loop_test(t, gpus_are_as_the_table_says, 0, tasks.rows);
	suite_add_tcase(s, t);
	return s;
}
