/* SPDX-License-Identifier: GPL-2.0-or-later
 * options.c - the command line of gpu-check (options.h) */
#include "config.h"
#include "gpu_check/options.h"
#include <getopt.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include "gpu_check/commands.h"
#include "gpu_check/evidence.h"
#include "gpu_check/log_table.h"
#include "lib/duration.h"
#include "lib/number.h"
#include "lib/roff.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define PLACES "gpu-places.conf"
#define BASELINE CONFDIR "/gpu-baseline"
#define POLICY CONFDIR "/gpu-node.conf"
#define MARK RUNDIR "/gpu-check.mark"

enum { TASKS_MAX = 4096, DEADLINE_MAX_S = 86400, EXPECTED_MAX = 1024, DEADLINE_S = 20,
	SOAK_MAX_S = 7 * 86400 };
enum { OPT_ROOT = 256, OPT_PLACES, OPT_CPUS, OPT_TASKS, OPT_GPUS, OPT_STRICT, OPT_MINE, OPT_ALL, OPT_LEVEL,
	OPT_BACKEND, OPT_DEADLINE, OPT_EXPECT, OPT_OPTIONAL, OPT_HELPER, OPT_SOAK, OPT_LEARN,
	OPT_ACKNOWLEDGE, OPT_UNDER_LOAD, OPT_BASELINE, OPT_POLICY, OPT_MARK, OPT_REASON, OPT_NVML,
	OPT_MANUAL };
/* whose option it is: a bit for each command, in their order */
enum { OF_PROVE = 1, OF_LOCALITY = 2, OF_NODE = 4, OF_REPORT = 8,
	OF_DEVICES = OF_PROVE | OF_LOCALITY, OF_NVML = OF_NODE | OF_REPORT, OF_ALL = OF_DEVICES | OF_NODE | OF_REPORT };

static const struct command commands[] = {
	{"prove", "the GPUs of this task or node work, or why not; what is done when no command is named",
		prove_command},
	{"locality",
		"where the GPUs are: NUMA node, CPUs beside them, PCIe link, nearest network card; and which "
		"CPUs tasks would get",
		locality_command},
	{"node",
		"is this node at fault: PCIe links, errors of the bus, the kernel's log, versions; held "
		"against what was "
		"learned",
		node_command},
	{"report",
		"what to look at first when GPUs are slow: how they are linked, network cards beside them, "
		"IOMMU, huge "
		"pages, waiting for memory, CPU time that was stolen or throttled",
		report_command},
};

static const struct row {
	int code;			/* what getopt returns: the letter, or above every letter */
	const char *name, *argument;	/* NULL = takes none */
	const char *help;		/* NULL = for the build, not told of */
	int of;
} rows[] = {
	{ 'o', "output", "FORMAT", "table or json", OF_ALL },
	{ OPT_ROOT, "root", "DIR",
		"read DIR/sys instead of /sys: a tree that was copied from another machine", OF_ALL },
	{ OPT_GPUS, "gpus", "BUS_ID,...", "of these GPUs only, as if a job had them", OF_DEVICES },
	{ OPT_ALL, "all", NULL, "all GPUs of the node: Slurm's variables are not looked at", OF_PROVE },
	{ OPT_LEVEL, "level", "LEVEL", "how far: auto, off, enum, copy, kernel, bandwidth; auto is kernel",
		OF_PROVE },
	{ OPT_BACKEND, "backend", "NAME",
		"auto (by the vendors of the GPUs), cuda, hip, level-zero, opencl, opencl-cpu", OF_PROVE },
	{ OPT_DEADLINE, "deadline", "SECONDS", "for all backends together; 20", OF_PROVE },
	{ OPT_EXPECT, "expect", "N", "so many GPUs there have to be, whatever Slurm says", OF_PROVE },
	{ OPT_OPTIONAL, "optional", NULL, "tell what is not proven, and exit with 0 all the same", OF_PROVE },
	{ OPT_SOAK, "soak", "TIME",
		"prove again and again for so long, 30 (minutes) or 2h, and end with the first that fails",
		OF_PROVE },
	{ OPT_HELPER, "helper", "PATH", "gpu-check-helper, where it is not as it was installed", OF_PROVE },
	{ OPT_PLACES, "places", "FILE",
		"where GPUs are that firmware is wrong about, below the root; " CONFDIR "/" PLACES,
		OF_LOCALITY },
	{ OPT_MINE, "mine", NULL, "of the GPUs only that the environment names: in a job those of the task",
		OF_LOCALITY },
	{ OPT_CPUS, "cpus", "LIST", "with --tasks: deal these CPUs, such as 0-15,64-79, as if a job had them",
		OF_LOCALITY },
	{ OPT_TASKS, "tasks", "N", "with --cpus: to so many tasks", OF_LOCALITY },
	{ OPT_STRICT, "strict", NULL, "exit with 3 when a task gets no CPU next to its GPUs", OF_LOCALITY },
	{ OPT_LEARN, "learn", NULL,
		"this is how the node should be: write the baseline, and acknowledge the errors so far",
		OF_NODE },
	{ OPT_ACKNOWLEDGE, "acknowledge", NULL, "errors count from now on: those so far are known", OF_NODE },
	{ OPT_UNDER_LOAD, "under-load", NULL,
		"the GPUs work at this moment: the speed of their links counts", OF_NODE },
	{ OPT_REASON, "drain-reason", NULL,
		"print only the reason for Slurm, where the node should be drained; the sentences on "
		"standard error",
		OF_NODE },
	{ OPT_BASELINE, "baseline", "FILE", "what was learned, below the root; " BASELINE, OF_NODE },
	{ OPT_NVML, "nvml", "LIBRARY",
		"NVIDIA's management library, where it is not libnvidia-ml.so.1, or to be asked with "
		"--root, too", OF_NVML },
	{ OPT_POLICY, "policy", "FILE",
		"what is done about which evidence, below the root; " POLICY, OF_NODE },
	{ OPT_MARK, "mark", "FILE", "from when on errors count, below the root; " MARK, OF_NODE },
	{ 'h', "help", NULL, "print this and exit", OF_ALL },
	{ 'V', "version", NULL, "print the version and exit", OF_ALL },
	{ OPT_MANUAL, "manual", "LIST", NULL, OF_ALL },
};

_Static_assert(COUNT(rows) <= 32, "options_check has a bit for each row");

static const char *const exit_code_text[EXIT_CODES] = {
	[EXIT_DONE] = "done",
	[EXIT_FAILED] = "failed: something cannot be read, or there are fewer CPUs than tasks",
	[EXIT_USAGE] = "wrong usage",
	[EXIT_FAR] = "with --strict: a task has no CPU next to its GPUs",
	[EXIT_UNPROVEN] = "a backend is not proven",
	[EXIT_NOTHING] = "there is no GPU here that could be proven, or it is hidden",
	[EXIT_FAULTY] = "the node is at fault, by evidence whose policy is fail",
	[EXIT_DRAIN] = "the node is at fault, and should be drained",
};

int complain(enum exit_code code, const char *format, ...)
{
	va_list ap;

	fputs("gpu-check: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return code;
}

static char letter_of(const struct row *r)
{
	return r->code < OPT_ROOT ? (char)r->code : 0;
}

static void help_options(FILE *to, const char *title, int of)
{
	fprintf(to, "\n%s\n", title);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct row *r = &rows[i];
		char words[40];

		if (!r->help || r->of != of)
			continue;
		snprintf(words, sizeof(words), "--%s%s%s", r->name, r->argument ? " " : "",
			r->argument ? r->argument : "");
		fprintf(to, letter_of(r) ? "  -%c, " : "      ", letter_of(r));
		fprintf(to, "%-18s %s\n", words, r->help);
	}
}

static void help_print(FILE *to)
{
	fputs("Usage: gpu-check [COMMAND] [OPTION]...\n"
	      "Do the GPUs of this task or machine work, and what are they next to?\n\nCommands\n", to);
	for (size_t i = 0; i < COUNT(commands); i++)
		fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].help);
	help_options(to, "Options", OF_ALL);
	help_options(to, "Options of prove", OF_PROVE);
	help_options(to, "Options of prove and locality", OF_DEVICES);
	help_options(to, "Options of locality", OF_LOCALITY);
	help_options(to, "Options of node", OF_NODE);
	help_options(to, "Options of node and report", OF_NVML);
	fputs("\nExit codes\n", to);
	for (size_t i = 0; i < EXIT_CODES; i++)
		fprintf(to, "  %zu  %s\n", i, exit_code_text[i]);
}

/* --- for gpu-check(1) --------------------------------------------------------------------------------- */

static void commands_manual(FILE *to)
{
	for (size_t i = 0; i < COUNT(commands); i++) {
		fprintf(to, ".It Ic %s\n", commands[i].name);
		roff_text(to, commands[i].help);
	}
}

static void options_of_manual(FILE *to, int of)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (!rows[i].help || rows[i].of != of)
			continue;
		fputs(".It", to);
		roff_option(to, letter_of(&rows[i]), rows[i].name, rows[i].argument);
		putc('\n', to);
		roff_text(to, rows[i].help);
	}
}

static void options_manual(FILE *to)
{
	options_of_manual(to, OF_ALL);
}

static void prove_options_manual(FILE *to)
{
	options_of_manual(to, OF_PROVE);
}

static void locality_options_manual(FILE *to)
{
	options_of_manual(to, OF_LOCALITY);
}

static void devices_options_manual(FILE *to)
{
	options_of_manual(to, OF_DEVICES);
}

static void node_options_manual(FILE *to)
{
	options_of_manual(to, OF_NODE);
	options_of_manual(to, OF_NVML);
}

static void evidence_manual(FILE *to)
{
	for (int i = 0; i < EVIDENCES; i++) {
		fprintf(to, ".It Cm %s\n", evidence_table[i].name);
		roff_text(to, evidence_table[i].about);
		fprintf(to, "Default:\n.Cm %s\n", policy_name[evidence_table[i].policy]);
	}
}

static void xids_manual(FILE *to)
{
	for (int kind = LOG_NOTHING; kind < EVIDENCES; kind++) {
		const struct log_row *r;
		int n = 0;

		for (int i = 0; (r = log_builtin(i)); i++) {
			if (r->kind != kind || r->pattern[0])
				continue;
			if (n++ == 0)
				fprintf(to, ".It Cm %s\n",
					kind == LOG_NOTHING ? "nothing" : evidence_table[kind].name);
			if (r->xid == XID_ANY)
				fputs("all others\n", to);
			else
				fprintf(to, "%d\n", r->xid);
		}
	}
}

static void exit_codes_manual(FILE *to)
{
	for (size_t i = 0; i < EXIT_CODES; i++) {
		fprintf(to, ".It %zu\n", i);
		roff_text(to, exit_code_text[i]);
	}
}

static int manual_print(const char *list)
{
	static const struct {
		const char *name;
		void (*print)(FILE *to);
	} lists[] = { { "commands", commands_manual }, { "options", options_manual },
		{ "prove-options", prove_options_manual },
		{ "locality-options", locality_options_manual }, { "node-options", node_options_manual },
		{ "devices-options", devices_options_manual }, { "evidence", evidence_manual },
		{ "xids", xids_manual }, { "exit-codes", exit_codes_manual } };

	for (size_t i = 0; i < COUNT(lists); i++)
		if (!strcmp(lists[i].name, list)) {
			puts(".Bl -tag -width Ds");
			lists[i].print(stdout);
			puts(".El");
			return EXIT_DONE;
		}
	return complain(EXIT_USAGE, "the manual has no list \"%s\"", list);
}

/* --- reading ------------------------------------------------------------------------------------------ */

static void getopt_tables(char letters[2 * COUNT(rows) + 1], struct option long_options[COUNT(rows) + 1])
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		long_options[i] = (struct option){ rows[i].name,
			rows[i].argument ? required_argument : no_argument, NULL, rows[i].code };
		if (letter_of(&rows[i]))
			*letters++ = letter_of(&rows[i]);
		if (letter_of(&rows[i]) && rows[i].argument)
			*letters++ = ':';
	}
	*letters = '\0';
	long_options[COUNT(rows)] = (struct option){ 0 };
}

static int format_take(struct options *out)
{
	if (strcmp(optarg, "json") && strcmp(optarg, "table"))
		return complain(EXIT_USAGE, "-o takes table or json, not \"%s\"", optarg);
	out->json = !strcmp(optarg, "json");
	return -1;
}

static int tasks_take(struct options *out)
{
	int64_t tasks;

	if (number_parse(optarg, TASKS_MAX, &tasks) < 0 || tasks == 0)
		return complain(EXIT_USAGE, "--tasks takes a number from 1 to %d, not \"%s\"", TASKS_MAX,
			optarg);
	out->tasks = (int)tasks;
	return -1;
}

static int level_take(struct options *out)
{
	int level = level_of(optarg);

	if (level < 0)
		return complain(EXIT_USAGE,
			"--level takes auto, off, enum, copy, kernel, bandwidth, not \"%s\"", optarg);
	out->level = (enum level)level;
	return -1;
}

static int deadline_take(struct options *out)
{
	int64_t seconds;

	if (number_parse(optarg, DEADLINE_MAX_S, &seconds) < 0 || seconds == 0)
		return complain(EXIT_USAGE, "--deadline takes seconds from 1 to %d, not \"%s\"",
			DEADLINE_MAX_S, optarg);
	out->deadline_ms = seconds * 1000;
	return -1;
}

static int soak_take(struct options *out)
{
	struct fault why = { "" };

	if (duration_parse(optarg, &out->soak_s, &why) < 0)
		return complain(EXIT_USAGE, "--soak: %s", why.text);
	if (out->soak_s <= 0 || out->soak_s > SOAK_MAX_S)
		return complain(EXIT_USAGE, "--soak takes a time of at most 7 days, not \"%s\"", optarg);
	return -1;
}

static int expect_take(struct options *out)
{
	int64_t gpus;

	if (number_parse(optarg, EXPECTED_MAX, &gpus) < 0)
		return complain(EXIT_USAGE, "--expect takes a number of GPUs, not \"%s\"", optarg);
	out->expected = (int)gpus;
	return -1;
}

/* Options that are kept as they are: texts, and those that are there or not. */
static const struct {
	int code;
	bool flag;
	size_t at;
} kept[] = {
	{ OPT_ROOT, false, offsetof(struct options, root) },
	{ OPT_PLACES, false, offsetof(struct options, places) },
	{ OPT_CPUS, false, offsetof(struct options, cpus) },
	{ OPT_GPUS, false, offsetof(struct options, gpus) },
	{ OPT_BACKEND, false, offsetof(struct options, backend) },
	{ OPT_HELPER, false, offsetof(struct options, helper) },
	{ OPT_BASELINE, false, offsetof(struct options, baseline) },
	{ OPT_POLICY, false, offsetof(struct options, policy) },
	{ OPT_NVML, false, offsetof(struct options, nvml) },
	{ OPT_MARK, false, offsetof(struct options, mark) },
	{ OPT_STRICT, true, offsetof(struct options, strict) },
	{ OPT_MINE, true, offsetof(struct options, mine) },
	{ OPT_ALL, true, offsetof(struct options, all) },
	{ OPT_OPTIONAL, true, offsetof(struct options, optional) },
	{ OPT_LEARN, true, offsetof(struct options, learn) },
	{ OPT_ACKNOWLEDGE, true, offsetof(struct options, acknowledge) },
	{ OPT_UNDER_LOAD, true, offsetof(struct options, under_load) },
	{ OPT_REASON, true, offsetof(struct options, drain_reason) },
};

static bool option_keep(int code, struct options *out)
{
	for (size_t i = 0; i < COUNT(kept); i++) {
		char *at = (char *)out + kept[i].at;

		if (kept[i].code != code)
			continue;
		if (kept[i].flag)
			*(bool *)at = true;
		else
			*(const char **)at = optarg;
		return true;
	}
	return false;
}

/* -1 to go on. */
static int option_take(int code, struct options *out)
{
	if (option_keep(code, out))
		return -1;
	switch (code) {
	case 'o':
		return format_take(out);
	case OPT_TASKS:
		return tasks_take(out);
	case OPT_LEVEL:
		return level_take(out);
	case OPT_DEADLINE:
		return deadline_take(out);
	case OPT_SOAK:
		return soak_take(out);
	case OPT_EXPECT:
		return expect_take(out);
	case OPT_MANUAL:
		return manual_print(optarg);
	case 'h':
		help_print(stdout);
		return EXIT_DONE;
	case 'V':
		puts("gpu-check (" PACKAGE_NAME ") " PACKAGE_VERSION);
		return EXIT_DONE;
	default:
		fputs("Try 'gpu-check --help'.\n", stderr);
		return EXIT_USAGE;
	}
}

static int command_find(int argc, char **argv, struct options *out)
{
	out->command = &commands[0];
	for (size_t i = 0; argc == 0 && out->learn && i < COUNT(commands); i++)
		if (commands[i].run == node_command)
			out->command = &commands[i];	/* `gpu-check --learn` is clear enough */
	if (argc == 0)
		return -1;
	if (argc > 1)
		return complain(EXIT_USAGE, "%s takes no \"%s\"", argv[0], argv[1]);
	for (size_t i = 0; i < COUNT(commands); i++)
		if (!strcmp(argv[0], commands[i].name)) {
			out->command = &commands[i];
			return -1;
		}
	return complain(EXIT_USAGE, "there is no command \"%s\". Try 'gpu-check --help'.", argv[0]);
}

/* `given` has a bit for each row. */
static int options_check(const struct options *o, unsigned given)
{
	int of = 1 << (o->command - commands);

	for (size_t i = 0; i < COUNT(rows); i++)
		if ((given & 1u << i) && !(rows[i].of & of))
			return complain(EXIT_USAGE, "%s has no option --%s", o->command->name, rows[i].name);
	if (!o->cpus != !o->tasks)
		return complain(EXIT_USAGE,
			"--cpus and --tasks go together: which CPUs are to be dealt, and to how many tasks");
	if (o->gpus && o->mine)
		return complain(EXIT_USAGE, "--gpus and --mine name the GPUs twice");
	if (o->strict && !o->tasks)
		return complain(EXIT_USAGE, "--strict judges tasks: it needs --cpus and --tasks");
	if (o->learn && o->acknowledge)
		return complain(EXIT_USAGE, "--learn acknowledges, too: say one of them");
	return -1;
}

static unsigned row_bit(int code)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].code == code)
			return 1u << i;
	return 0;
}

int options_read(int argc, char **argv, struct options *out)
{
	char letters[2 * COUNT(rows) + 1];
	struct option long_options[COUNT(rows) + 1];
	unsigned given = 0;
	int c, rc;

	*out = (struct options){ .root = "/", .level = LEVEL_PRESET, .deadline_ms = DEADLINE_S * 1000,
		.expected = -1, .baseline = BASELINE, .policy = POLICY, .mark = MARK };
	getopt_tables(letters, long_options);
	while ((c = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
		if ((rc = option_take(c, out)) >= 0)
			return rc;
		given |= row_bit(c);
	}
	if (!out->places)
		out->places = CONFDIR "/" PLACES;
	rc = command_find(argc - optind, argv + optind, out);
	return rc < 0 ? options_check(out, given) : rc;
}
