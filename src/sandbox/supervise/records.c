/* SPDX-License-Identifier: Apache-2.0 */
/* Each different denial is told once when it happens, and once more at the end with its count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sandbox/supervise/internal.h"

struct record {
	struct record *next;
	struct denial denial;
};

static bool same(const struct denial *a, const struct denial *b)
{
	return a->kind == b->kind && a->reason == b->reason && strcmp(a->what, b->what) == 0 &&
	       strcmp(a->rule, b->rule) == 0;
}

static void report_denial(const struct supervisor *supervisor, const struct denial *denial)
{
	if (supervisor->events.denied)
		supervisor->events.denied(supervisor->events.data, denial);
}

void record_denial(const struct call *call, struct denial *denial)
{
	struct supervisor *supervisor = call->supervisor;
	struct record *record;

	for (record = supervisor->records; record; record = record->next) {
		if (same(&record->denial, denial)) {
			record->denial.count++;
			return;
		}
	}
	if (supervisor->record_count == LIMIT_DENIALS) {
		supervisor->untold++;
		return;
	}
	denial->level = supervisor->plan->level;
	denial->count = 1;
	denial->pid = call_process(call);
	call_name(call, denial->program, sizeof(denial->program));
	record = mem_alloc(1, sizeof(*record));
	record->denial = *denial;
	record->next = supervisor->records;
	supervisor->records = record;
	supervisor->record_count++;
	report_denial(supervisor, denial);
}

static void report_pending(struct supervisor *supervisor)
{
	struct denial denial = { .kind = DENIAL_LIMIT, .reason = SANDBOX_REASON_LIMIT,
		.level = supervisor->plan->level, .count = supervisor->untold };

	if (!supervisor->untold)
		return;
	snprintf(denial.what, sizeof(denial.what), "%zu denials that are told", LIMIT_DENIALS);
	report_denial(supervisor, &denial);
	supervisor->untold = 0;
}

void records_finish(struct supervisor *supervisor)
{
	for (struct record *record = supervisor->records; record; record = record->next) {
		if (record->denial.count > 1)
			report_denial(supervisor, &record->denial);
	}
	report_pending(supervisor);
}

void records_free(struct supervisor *supervisor)
{
	while (supervisor->records) {
		struct record *record = supervisor->records;

		supervisor->records = record->next;
		free(record);
	}
}
