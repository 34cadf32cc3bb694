/* SPDX-License-Identifier: GPL-2.0-or-later
 * prove_view.c - lines and table of a proof (prove_view.h) */
#include "gpu_check/prove_view.h"
#include "lib/duration.h"

void proof_print_lines(FILE *to, const struct proof *p)
{
	char line[VERDICT_LINE_MAX];

	for (int i = 0; i < p->backends; i++)
		fprintf(to, "gpu-check: %s\n", verdict_line(&p->of[i].verdict, p->of[i].name, line));
	if (p->backends == 0)
		fprintf(to, "gpu-check: not checked: %s\n", p->why_nothing);
}

void soak_print(FILE *to, const struct soak *soak)
{
	char text[DURATION_TEXT_MAX];

	fprintf(to, "gpu-check: %jd proofs in %s, the slowest took %.2f s\n", (intmax_t)soak->proofs,
		duration_text(soak->us / 1000000, text), (double)soak->slowest_us / 1e6);
}

static void print_time(FILE *to, int64_t us)
{
	if (us == REPORT_NOT_RUN)
		fprintf(to, " %9s", "-");
	else
		fprintf(to, " %9.2f", (double)us / 1000);
}

static void print_backend(FILE *to, const struct report *r)
{
	fprintf(to, "%s, %s, times in ms\n%-16s", r->library, r->version[0] ? r->version : "version not told",
		"");
	for (int s = 0; s < STAGES; s++)
		fprintf(to, " %9s", stage_table[s].name);
	fprintf(to, "\n%-16s", "all");
	for (int s = 0; s < STAGES; s++)
		print_time(to, report_stage_us(r, s));
	fputc('\n', to);
	for (int d = 0; d < r->devices; d++) {
		fprintf(to, "%-16s", r->device[d].bus_id[0] ? r->device[d].bus_id : "bus not told");
		for (int s = 0; s < STAGES; s++)
			print_time(to, r->device[d].us[s]);
		fprintf(to, "  %s\n", r->device[d].name);
	}
}

void proof_print_table(FILE *to, const struct proof *p)
{
	for (int i = 0; i < p->backends; i++)
		if (p->of[i].report.devices > 0)
			print_backend(to, &p->of[i].report);
}
