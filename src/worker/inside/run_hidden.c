/* SPDX-License-Identifier: Apache-2.0 */
/* Telling what is hidden from a command: the kernel refuses to read it and tells nobody. */
#include "base/limits.h"
#include "base/mem.h"
#include "worker/inside/run_state.h"

enum { TOLD_BYTES = 64 << 10 }; /* of all paths together */

static bool is_beneath(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

/* Sockets are connected to, not read, and that has a record. */
static bool is_told(const struct sandbox_rule *rule, const char *last)
{
	return rule->access == SANDBOX_HIDDEN && rule->reason != SANDBOX_REASON_SOCKETS &&
	       !(last && is_beneath(rule->path, last));
}

void run_tell_hidden(struct run_state *state)
{
	const struct sandbox_plan *plan = state->plan;
	const char *paths[LIMIT_HIDDEN_TOLD];
	struct run_hidden hidden = { .paths = paths };
	size_t bytes = 0;

	if (!state->events.hidden || !plan || plan->level == SANDBOX_PATHS)
		return;
	/* In the order of paths; what is beneath a folder that is told is not told besides. */
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct sandbox_rule *rule = &plan->rules[i];

		if (!is_told(rule, hidden.count ? paths[hidden.count - 1] : NULL))
			continue;
		bytes += strlen(rule->path) + 1;
		if (hidden.count < LIMIT_HIDDEN_TOLD && bytes <= TOLD_BYTES)
			paths[hidden.count++] = rule->path;
		else
			hidden.left_out++;
	}
	pthread_mutex_lock(&state->telling);
	state->events.hidden(state->data, &hidden);
	pthread_mutex_unlock(&state->telling);
}
