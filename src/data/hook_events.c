/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: Gemini CLI (its hooks' types), Claude Code 2.1 (hooks reference, schema of its
 * settings). */
#include "data/hook_events.h"

#include <string.h>

#include "base/mem.h"
#include "data/schema.h"

static const struct hook_event_names rows[] = {
#define HOOK_EVENT_ROW(symbol, name, claude, refuses, refuses_claude) \
	{ name, claude, refuses, refuses_claude },
	HOOK_EVENT_TABLE(HOOK_EVENT_ROW)
#undef HOOK_EVENT_ROW
};

/* Events of Claude Code that hasp never fires. */
static const char *const foreign[] = {
	"ConfigChange", "CwdChanged", "DirectoryAdded", "Elicitation", "ElicitationResult",
	"FileChanged", "InstructionsLoaded", "MessageDisplay", "PermissionDenied",
	"PermissionRequest", "PostCompact", "PostModelSwitch", "PostToolBatch",
	"PostToolUseFailure", "PreModelSwitch", "Setup", "StopFailure", "SubagentStart",
	"SubagentStop", "TaskCompleted", "TaskCreated", "TeammateIdle", "UserPromptExpansion",
	"WorktreeCreate", "WorktreeRemove",
};

const struct hook_event_names *hook_events_at(size_t i)
{
	return &rows[i];
}

const struct hook_event_names *hook_events_find(const char *name, bool claude)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *known = claude ? rows[i].claude : rows[i].name;

		if (known && strcmp(known, name) == 0)
			return &rows[i];
	}
	return NULL;
}

const struct hook_event_names *hook_events_nearest(const char *name, bool claude)
{
	const struct hook_event_names *found = hook_events_find(name, !claude);
	const char *names[2 * ARRAY_LEN(rows)], *near;
	size_t count = 0;

	if (found || hook_events_foreign(name))
		return found;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		names[count++] = rows[i].name;
		if (rows[i].claude)
			names[count++] = rows[i].claude;
	}
	near = schema_nearest_name(name, names, count);
	found = near ? hook_events_find(near, claude) : NULL;
	return found || !near ? found : hook_events_find(near, !claude);
}

bool hook_events_foreign(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
		if (strcmp(foreign[i], name) == 0)
			return true;
	return false;
}
