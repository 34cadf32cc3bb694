/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_state.c - looking things up in a state (node_state.h) */
#include "gpu_check/node_state.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const aer_name[AERS] = {"corrected", "nonfatal", "fatal"};

const struct node_card *state_gpu(const struct node_state *s, const struct pci_address *at)
{
	for (int i = 0; s && i < s->gpus; i++)
		if (!pci_compare(&s->gpu[i].at, at))
			return &s->gpu[i];
	return NULL;
}

const struct node_link *state_link(const struct node_state *s, const struct pci_address *at)
{
	for (int i = 0; s && i < s->links; i++)
		if (!pci_compare(&s->link[i].at, at))
			return &s->link[i];
	return NULL;
}

const struct node_errors *state_errors(const struct node_state *s, const struct pci_address *at)
{
	for (int i = 0; s && i < s->errors; i++)
		if (!pci_compare(&s->error[i].at, at))
			return &s->error[i];
	return NULL;
}

const char *state_fact(const struct node_state *s, const char *name)
{
	for (int i = 0; s && i < s->facts; i++)
		if (!strcmp(s->fact[i].name, name))
			return s->fact[i].value;
	return NULL;
}

void state_add_fact(struct node_state *s, const char *name, const char *value)
{
	struct node_fact *f = &s->fact[s->facts];

	if (!value[0] || s->facts == NODE_FACTS_MAX)
		return;
	snprintf(f->name, sizeof(f->name), "%s", name);
	snprintf(f->value, sizeof(f->value), "%s", value);
	for (char *p = f->value; *p; p++)
		if (*p < 0x20 || *p > 0x7e)
			*p = ' ';
	s->facts++;
}
