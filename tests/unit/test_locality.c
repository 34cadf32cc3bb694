/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_locality.c - where the GPUs of real machines are: every device of machines.cases, and what firmware
 * can do wrong. */
#include "locality/cores.h"
#include "locality/device_node.h"
#include "locality/devices.h"
#include "locality/sysfs.h"
#include "tests/unit/cases.h"
#include "tests/unit/machine_tree.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct case_table lists, addresses, nics, links;

/* What is read of one tree. */
struct read {
	char dir[MACHINE_DIR_MAX];
	int root;
	struct numa numa;
	struct devices devices;
};

static void again(struct read *r, const struct places_file *file)
{
	devices_free(&r->devices);
	numa_free(&r->numa);
	ck_assert_int_eq(numa_read(r->root, &r->numa), 0);
	ck_assert_int_eq(devices_read(r->root, &r->numa, file, &r->devices), 0);
}

static void begin_with(struct read *r, const char *machine, enum machine_part part)
{
	*r = (struct read){ .root = -1 };
	r->root = open(machine_temporary(machine, part, r->dir), O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(r->root, 0);
	again(r, NULL);
}

static void begin(struct read *r, const char *machine)
{
	begin_with(r, machine, MACHINE_DEVICES);
}

static void end(struct read *r)
{
	devices_free(&r->devices);
	numa_free(&r->numa);
	close(r->root);
	machine_remove(r->dir);
}

static const struct gpu *gpu_at(const struct read *r, const char *bus_id)
{
	struct pci_address a;

	ck_assert_int_eq(pci_parse(bus_id, &a), 0);
	return devices_gpu(&r->devices, &a);
}

static void ck_cpus(const struct cpu_set *s, const char *want, const char *where)
{
	char text[CPU_LIST_MAX];

	ck_assert_msg(!strcmp(cpu_set_text(s, text), strcmp(want, "-") ? want : ""), "%s: %s, and not %s",
		where, text, want);
}

/* --- sets and addresses ------------------------------------------------------------------------------- */

START_TEST(list_of_cpus_is_read_and_written)
{
	const struct case_row *c = &lists.row[_i];
	struct cpu_set s;
	char text[CPU_LIST_MAX];

	cpu_set_clear(&s);
	cpu_set_add(&s, 3);
	if (case_none(c, 1)) {
		ck_assert_int_eq(cpu_set_parse(c->col[0], &s), -1);
		ck_assert_str_eq(cpu_set_text(&s, text), "3");
		return;
	}
	ck_assert_int_eq(cpu_set_parse(strcmp(c->col[0], "\"\"") ? c->col[0] : "", &s), 0);
	ck_assert_str_eq(cpu_set_text(&s, text), strcmp(c->col[1], "\"\"") ? c->col[1] : "");
	ck_assert_int_eq(cpu_set_count(&s), case_number(c, 2));
}
END_TEST

START_TEST(long_list_of_cpus_is_cut_behind_an_item)
{
	struct cpu_set s;
	char text[CPU_LIST_MAX];

	cpu_set_clear(&s);
	for (int c = 0; c < CPUS_MAX; c += 2)
		cpu_set_add(&s, c);
	cpu_set_text(&s, text);
	ck_assert_uint_lt(strlen(text), CPU_LIST_MAX);
	ck_assert_str_eq(text + strlen(text) - 4, ",...");
	ck_assert_int_eq(cpu_set_count(&s), CPUS_MAX / 2);
}
END_TEST

START_TEST(address_is_read_and_written)
{
	const struct case_row *c = &addresses.row[_i];
	struct pci_address a;
	char text[PCI_TEXT_MAX];

	ck_assert_int_eq(pci_parse(c->col[0], &a), case_none(c, 1) ? -1 : 0);
	if (!case_none(c, 1))
		ck_assert_str_eq(pci_text(&a, text), c->col[1]);
}
END_TEST

/* --- real machines ------------------------------------------------------------------------------------ */

static int nic_node(const struct read *r, const char *bus_id)
{
	struct pci_address a;

	ck_assert_int_eq(pci_parse(bus_id, &a), 0);
	for (int i = 0; i < r->devices.nics; i++)
		if (!pci_compare(&r->devices.nic[i].address, &a))
			return r->devices.nic[i].node;
	return -2;
}

/* A node that nobody tells is unknown, and never 0. */
static void nobody_tells(struct read *r, const char *name)
{
	const struct machine_device *d;

	for (int i = 0; (d = machine_device(name, i)); i++)
		for (const char *p = strchr(d->path, '/'); p; p = strchr(p + 1, '/')) {
			const char *next = strchr(p + 1, '/');

			machine_put(r->dir, "-1", "sys/devices/%.*s/numa_node",
				next ? (int)(next - d->path) : (int)strlen(d->path), d->path);
		}
	again(r, NULL);
	for (int i = 0; i < r->devices.gpus; i++) {
		ck_assert_int_eq(r->devices.gpu[i].node, NODE_UNKNOWN);
		ck_assert_int_eq(r->devices.gpu[i].node_from, FROM_NOBODY);
		ck_assert(cpu_set_empty(&r->devices.gpu[i].near_cpus));	/* local_cpulist is still there */
	}
}

START_TEST(every_device_is_where_the_facts_say_or_unknown)
{
	const char *name = machine_name(_i);
	const struct machine_device *d;
	struct read r;
	int gpus = 0, others = 0;

	begin(&r, name);
	for (int i = 0; (d = machine_device(name, i)); i++) {
		const struct gpu *g;

		if (strtoul(d->class, NULL, 16) >> 8 == 2) {
			ck_assert_msg(nic_node(&r, d->bus_id) == atoi(d->node), "%s %s", name, d->bus_id);
			others++;
			continue;
		}
		g = gpu_at(&r, d->bus_id);
		ck_assert_msg(g != NULL, "%s: there is no %s", name, d->bus_id);
		ck_assert_msg(g->node == atoi(d->node) && g->node_from == FROM_DEVICE, "%s %s: node %d by %s",
			name, d->bus_id, g->node, node_from_name[g->node_from]);
		ck_cpus(&g->near_cpus, d->cpus, d->bus_id);
		ck_assert_uint_eq(g->vendor, d->vendor);
		ck_assert_str_eq(g->path.host, strtok(strdupa(d->path), "/"));
		gpus++;
	}
	ck_assert_int_eq(r.devices.gpus, gpus);
	ck_assert_int_eq(r.devices.nics, others);
	for (int i = 1; i < gpus; i++)
		ck_assert_int_lt(pci_compare(&r.devices.gpu[i - 1].address, &r.devices.gpu[i].address), 0);
	nobody_tells(&r, name);
	end(&r);
}
END_TEST

/* Rows of a machine stand together: one tree for all of them. */
START_TEST(nearest_network_card_is_as_the_table_says)
{
	struct read r = { .root = -1 };

	for (const struct case_row *c = nics.row; c < nics.row + nics.rows; c++) {
		const struct nic *n;
		const struct gpu *g;

		if (c == nics.row || strcmp(c->col[0], c[-1].col[0])) {
			if (r.root >= 0)
				end(&r);
			begin(&r, c->col[0]);
		}
		g = gpu_at(&r, c->col[1]);
		n = nic_nearest(&r.devices, g);
		ck_assert_msg(!strcmp(n->name, c->col[2]), "%s: %s", c->col[1], n->name);
		ck_assert_str_eq(nic_distance_name[nic_distance(g, n)], c->col[3]);
	}
	end(&r);
}
END_TEST

START_TEST(graphics_of_management_boards_are_consoles)
{
	static const struct {
		const char *machine, *bus_id;
		bool console;
	} rows[] = { { "butte", "0002:02:00.0", true }, { "westmere", "0000:01:03.0", true },
		{ "sandybridge", "0000:05:03.0", true },
		{ "sandybridge", "0000:84:00.1", false }, { "tioga", "0000:c1:00.0", false } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct read r;

		begin(&r, rows[i].machine);
		ck_assert(gpu_at(&r, rows[i].bus_id)->console == rows[i].console);
		end(&r);
	}
}
END_TEST

/* --- what firmware can do wrong ----------------------------------------------------------------------- */

START_TEST(bridge_above_tells_the_node_when_the_device_does_not)
{
	struct read r;
	const struct gpu *g;

	begin(&r, "corona");
	machine_put(r.dir, "-1", "sys/bus/pci/devices/0000:53:00.0/numa_node");
	machine_put(r.dir, "-1", "sys/bus/pci/devices/0000:52:00.0/numa_node");
	again(&r, NULL);
	g = gpu_at(&r, "0000:53:00.0");
	ck_assert_int_eq(g->node, 5);
	ck_assert_int_eq(g->node_from, FROM_BRIDGE);
	ck_cpus(&g->near_cpus, "30-35,78-83", "bridge");
	end(&r);
}
END_TEST

START_TEST(device_tells_the_node_when_its_bridges_do_not)
{
	struct read r;

	begin(&r, "corona");
	machine_put(r.dir, "-1", "sys/bus/pci/devices/0000:50:01.1/numa_node");
	machine_put(r.dir, "-1", "sys/bus/pci/devices/0000:51:00.0/numa_node");
	again(&r, NULL);
	ck_assert_int_eq(gpu_at(&r, "0000:53:00.0")->node, 5);
	end(&r);
}
END_TEST

START_TEST(node_that_the_machine_does_not_have_is_not_told)
{
	struct read r;

	begin(&r, "pascal");
	machine_put(r.dir, "7", "sys/bus/pci/devices/0000:04:00.0/numa_node");
	again(&r, NULL);
	ck_assert_int_eq(gpu_at(&r, "0000:04:00.0")->node_from, FROM_BRIDGE);
	end(&r);
}
END_TEST

/* Files of a node that is not ours are there, and cannot be read: so are folders. */
START_TEST(gpu_behind_one_that_is_kept_from_us_is_found_in_kfd)
{
	const struct pci_address a = { .bus = 0x53 }, kept = { .bus = 0x13 };
	int number[2];
	struct read r;

	begin(&r, "corona");
	machine_put(r.dir, "cpu_cores_count 12\nlocation_id 0\ndomain 0",
		"sys/class/kfd/kfd/topology/nodes/0/properties");
	machine_put(r.dir, "", "sys/class/kfd/kfd/topology/nodes/1/properties/kept");
	machine_put(r.dir, "", "sys/class/kfd/kfd/topology/nodes/1/gpu_id/kept");
	machine_put(r.dir, "4711", "sys/class/kfd/kfd/topology/nodes/2/gpu_id");
	machine_put(r.dir, "cpu_cores_count 0\nlocation_id 21248\ndomain 0",
		"sys/class/kfd/kfd/topology/nodes/2/properties");
	kfd_find_each(r.root, (const struct pci_address *const[]){ &kept, &a }, 2, number);
	ck_assert_int_eq(number[0], -1);
	ck_assert_int_eq(number[1], 2);
	end(&r);
}
END_TEST

/* Two nodes of CPUs and one GPU with a link to each, as amdkfd lists them. */
START_TEST(amd_links_tell_the_node_when_pci_does_not)
{
	struct read r;
	const struct gpu *g;

	begin(&r, "corona");
	for (const char *const *p = (const char *const[]){ "50:01.1", "51:00.0", "52:00.0", "53:00.0", NULL };
		*p; p++)
		machine_put(r.dir, "-1", "sys/bus/pci/devices/0000:%s/numa_node", *p);
	for (int i = 0; i < 8; i++) {
		machine_put(r.dir, "0", "sys/class/kfd/kfd/topology/nodes/%d/gpu_id", i);
		machine_put(r.dir, "cpu_cores_count 12\nlocation_id 0\ndomain 0",
			"sys/class/kfd/kfd/topology/nodes/%d/properties", i);
	}
	machine_put(r.dir, "4711", "sys/class/kfd/kfd/topology/nodes/8/gpu_id");
	/* 0x5300 */
	machine_put(r.dir, "cpu_cores_count 0\nlocation_id 21248\ndomain 0",
		"sys/class/kfd/kfd/topology/nodes/8/properties");
	machine_put(r.dir, "node_from 8\nnode_to 0\nweight 52",
		"sys/class/kfd/kfd/topology/nodes/8/io_links/0/properties");
	machine_put(r.dir, "node_from 8\nnode_to 5\nweight 20",
		"sys/class/kfd/kfd/topology/nodes/8/io_links/1/properties");
	/* a GPU */
	machine_put(r.dir, "node_from 8\nnode_to 9\nweight 15",
		"sys/class/kfd/kfd/topology/nodes/8/io_links/2/properties");
	again(&r, NULL);
	g = gpu_at(&r, "0000:53:00.0");
	ck_assert_int_eq(g->node, 5);
	ck_assert_int_eq(g->node_from, FROM_KFD);
	ck_cpus(&g->near_cpus, "30-35,78-83", "kfd");
	end(&r);
}
END_TEST

START_TEST(file_of_the_site_goes_before_firmware)
{
	struct places_file file;
	struct fault why = { "" };
	struct read r;

	begin(&r, "tioga");
	machine_put(r.dir,
		"# the board's wiring\n\n0000:c?:00.0 node 2\n0000:d1:00.0\tcpus 0-3,64-67 # one half\n0000:d6:00.0 cpus 8-23\n* node 9",
		"etc/gpu-places.conf");
	ck_assert_int_eq(places_file_read(r.root, "etc/gpu-places.conf", &file, &why), 0);
	again(&r, &file);
	ck_assert_int_eq(gpu_at(&r, "0000:c1:00.0")->node, 2);
	ck_assert_int_eq(gpu_at(&r, "0000:c1:00.0")->node_from, FROM_FILE);
	ck_cpus(&gpu_at(&r, "0000:c1:00.0")->near_cpus, "32-47,96-111", "node of the file");
	ck_assert_int_eq(gpu_at(&r, "0000:d1:00.0")->node, 0);
	ck_cpus(&gpu_at(&r, "0000:d1:00.0")->near_cpus, "0-3,64-67", "CPUs of the file");
	/* two nodes' CPUs are no node */
	ck_assert_int_eq(gpu_at(&r, "0000:d6:00.0")->node, NODE_UNKNOWN);
	ck_cpus(&gpu_at(&r, "0000:d6:00.0")->near_cpus, "8-23", "CPUs of two nodes");
	ck_assert_int_eq(gpu_at(&r, "0000:de:00.0")->node, 2);	/* there is no node 9 */
	ck_assert_int_eq(gpu_at(&r, "0000:de:00.0")->node_from, FROM_DEVICE);
	places_file_free(&file);
	end(&r);
}
END_TEST

START_TEST(wrong_line_of_the_file_is_named)
{
	static const char *const bad[] = { "0000:c1:00.0", "0000:c1:00.0 node", "0000:c1:00.0 node x",
		"0000:c1:00.0 cpus 3-1",
		"0000:c1:00.0 cpus 0-3 node 1", "0000:c1:00.0 numa 0", "0000:c1:00.0 node -1" };
	struct places_file file;
	struct read r;

	begin(&r, NULL);
	ck_assert_int_eq(places_file_read(r.root, "etc/none.conf", &file, NULL), 0);
	ck_assert_int_eq(file.lines, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fault why = { "" };
		char text[128];

		snprintf(text, sizeof(text), "* node 0\n%s", bad[i]);
		machine_put(r.dir, text, "etc/bad.conf");
		ck_assert_int_eq(places_file_read(r.root, "etc/bad.conf", &file, &why), -1);
		ck_assert_msg(strstr(why.text, "/etc/bad.conf:2: ") == why.text, "%s", why.text);
	}
	end(&r);
}
END_TEST

/* Nobody writes into it: opened as files are, it would be waited for, by each task with GPUs. */
START_TEST(file_that_is_none_is_refused_at_once)
{
	struct places_file file;
	struct fault why = { "" };
	char path[PATH_MAX];
	struct read r;

	begin(&r, NULL);
	machine_put(r.dir, "", "etc/none");
	snprintf(path, sizeof(path), "%s/etc/fifo", r.dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(places_file_read(r.root, "etc/fifo", &file, &why), -1);
	ck_assert_str_eq(why.text, "/etc/fifo: this is no file that can be read");
	ck_assert_int_eq(places_file_read(r.root, "etc", &file, &why), -1);
	ck_assert_int_eq(file.lines, 0);
	end(&r);
}
END_TEST

START_TEST(nodes_without_cpus_and_without_memory_fall_to_their_neighbours)
{
	struct cpu_set cpus;
	struct read r;

	begin(&r, "butte");
	numa_nearest_cpus(&r.numa, numa_find(&r.numa, 252), &cpus);
	ck_cpus(&cpus, "0-175", "equally far from both sockets");
	ck_assert_int_eq(numa_find(&r.numa, 1), -1);
	machine_put(r.dir, "40 80 10 80 80 80", "sys/devices/system/node/node252/distance");
	machine_put(r.dir, "252", "sys/bus/pci/devices/0035:03:00.0/numa_node");
	again(&r, NULL);
	ck_assert_int_eq(gpu_at(&r, "0035:03:00.0")->node, 252);
	/* its local_cpulist is of the other one */
	ck_cpus(&gpu_at(&r, "0035:03:00.0")->near_cpus, "0-87", "the nearer socket");
	end(&r);
	begin(&r, "chimera");
	ck_assert_int_eq(numa_nearest_memory(&r.numa, numa_find(&r.numa, 3)), 0);
	ck_assert_int_eq(numa_nearest_memory(&r.numa, numa_find(&r.numa, 2)), numa_find(&r.numa, 2));
	end(&r);
}
END_TEST

START_TEST(machine_without_pci_and_numa_has_no_gpus)
{
	struct read r;

	begin(&r, NULL);
	ck_assert_int_eq(r.devices.gpus, 0);
	ck_assert_int_eq(r.numa.nodes, 0);
	end(&r);
}
END_TEST

/* --- links -------------------------------------------------------------------------------------------- */

/* A column is "SPEED WIDTH", of which each may be a word the kernel writes when it knows nothing. */
static void link_put(const char *dir, const char *device, const char *which, const char *text)
{
	bool told = strcmp(text, "-");
	const char *width = told ? strrchr(text, ' ') : text;
	char speed[64];

	snprintf(speed, sizeof(speed), "%.*s", (int)(width - text), text);
	machine_put(dir, told ? speed : NULL, "sys/bus/pci/devices/%s/%s_link_speed", device, which);
	machine_put(dir, told ? width + 1 : NULL, "sys/bus/pci/devices/%s/%s_link_width", device, which);
}

START_TEST(link_is_as_the_table_says)
{
	static const struct {
		const char *device, *which;
	} columns[] = { { "0000:53:00.0", "current" }, { "0000:53:00.0", "max" },
		{ "0000:51:00.0", "current" }, { "0000:51:00.0", "max" },
		{ "0000:50:01.1", "max" }, { "0000:52:00.0", "max" } };
	struct read r;

	/* 50:01.1 port - 51:00.0 upper, 52:00.0 lower end of the card's switch - 53:00.0 GPU */
	begin(&r, "corona");
	for (const struct case_row *c = links.row; c < links.row + links.rows; c++) {
		char now[LINK_TEXT_MAX], possible[LINK_TEXT_MAX];

		machine_put(r.dir, c->col[1], "sys/bus/pci/devices/0000:53:00.0/vendor");
		machine_put(r.dir, c->col[2], "sys/bus/pci/devices/0000:52:00.0/vendor");
		machine_put(r.dir, c->col[2], "sys/bus/pci/devices/0000:51:00.0/vendor");
		for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
			link_put(r.dir, columns[i].device, columns[i].which, c->col[3 + i]);
		again(&r, NULL);
		devices_links_read(r.root, &r.devices);
		link_text(&gpu_at(&r, "0000:53:00.0")->link.now, now);
		link_text(&gpu_at(&r, "0000:53:00.0")->link.possible, possible);
		ck_assert_msg(!strcmp(now, case_none(c, 9) ? "" : c->col[9]), "%s: now %s", c->col[0], now);
		ck_assert_msg(!strcmp(possible, case_none(c, 10) ? "" : c->col[10]), "%s: possible %s",
			c->col[0], possible);
	}
	end(&r);
}
END_TEST

/* --- cores -------------------------------------------------------------------------------------------- */

START_TEST(cores_are_told_of_the_cpus_that_were_asked_about)
{
	struct cpu_set some;
	struct cores c;
	struct read r;

	begin_with(&r, "corona", MACHINE_CORES);
	cpu_set_parse("0-3,48-49,90-95,47", &some);
	ck_assert_int_eq(cores_read(r.root, &r.numa, &some, &c), 0);
	ck_assert_int_eq(c.count, 4 + 6);
	ck_assert_int_eq(c.core[0].threads, 2);
	ck_assert_int_eq(c.core[0].cpu[1], 48);
	ck_assert_int_eq(c.core[2].threads, 1);		/* 2 without 50 */
	ck_assert_int_eq(c.core[3].cache, 3);
	ck_assert_int_eq(c.core[9].node, 7);
	for (int i = 4, found = 0; i < c.count; i++)
		if (c.core[i].cpu[0] == 47)
			ck_assert_int_eq(c.core[i].threads + found++, 2);	/* 47 and 95 */
	cores_free(&c);
	end(&r);
}
END_TEST

START_TEST(cpus_that_sysfs_does_not_know_are_cores_of_their_own)
{
	struct cpu_set some;
	struct cores c;
	struct read r;

	begin(&r, NULL);
	cpu_set_parse("0-3", &some);
	ck_assert_int_eq(cores_read(r.root, &r.numa, &some, &c), 0);
	ck_assert_int_eq(c.count, 4);
	ck_assert_int_eq(c.core[3].node, -1);
	ck_assert_int_eq(c.core[3].cache, 3);
	cores_free(&c);
	end(&r);
}
END_TEST

Suite *locality_suite(void)
{
	TCase *t = tcase_create("locality");
	Suite *s = suite_create("locality");

	lists = cases_load("cpu_list.cases", 3);
	addresses = cases_load("pci_address.cases", 2);
	nics = cases_load("nearest_nic.cases", 4);
	links = cases_load("link.cases", 11);
	tcase_add_loop_test(t, list_of_cpus_is_read_and_written, 0, lists.rows);
	tcase_add_test(t, long_list_of_cpus_is_cut_behind_an_item);
	tcase_add_loop_test(t, address_is_read_and_written, 0, addresses.rows);
	tcase_add_loop_test(t, every_device_is_where_the_facts_say_or_unknown, 0, machine_count());
	tcase_add_test(t, nearest_network_card_is_as_the_table_says);
	tcase_add_test(t, graphics_of_management_boards_are_consoles);
	tcase_add_test(t, bridge_above_tells_the_node_when_the_device_does_not);
	tcase_add_test(t, device_tells_the_node_when_its_bridges_do_not);
	tcase_add_test(t, node_that_the_machine_does_not_have_is_not_told);
	tcase_add_test(t, amd_links_tell_the_node_when_pci_does_not);
	tcase_add_test(t, gpu_behind_one_that_is_kept_from_us_is_found_in_kfd);
	tcase_add_test(t, file_of_the_site_goes_before_firmware);
	tcase_add_test(t, wrong_line_of_the_file_is_named);
	tcase_add_test(t, file_that_is_none_is_refused_at_once);
	tcase_add_test(t, nodes_without_cpus_and_without_memory_fall_to_their_neighbours);
	tcase_add_test(t, machine_without_pci_and_numa_has_no_gpus);
	tcase_add_test(t, link_is_as_the_table_says);
	tcase_add_test(t, cores_are_told_of_the_cpus_that_were_asked_about);
	tcase_add_test(t, cpus_that_sysfs_does_not_know_are_cores_of_their_own);
	suite_add_tcase(s, t);
	return s;
}
