/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of hook events, by Gemini CLI's names and by Claude Code's.
 *
 *     hook_events_find("PreToolUse", true)->name        // "BeforeTool"
 *     hook_events_nearest("BeforeTools", false)->name   // "BeforeTool"
 *     hook_events_foreign("WorktreeCreate")             // true: known, without effect here
 *
 * To add an event: a row, and where it is fired (hooks/hooks.h). An event that another agent has
 * and hasp fires nothing for belongs in the list of foreign ones (hook_events.c), so that hooks of
 * it are no mistake.
 */
#ifndef HASP_DATA_HOOK_EVENTS_H
#define HASP_DATA_HOOK_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

/* X(symbol, name, Claude Code's name or NULL, refuses, refuses in Claude Code's format): refuses: a
 * hook can keep something from happening, and one that fails does (enum hook_pass). PostToolUse
 * withholds nothing: its no is a word about the result. */
#define HOOK_EVENT_TABLE(X)                                                   \
	X(BEFORE_TOOL, "BeforeTool", "PreToolUse", true, true)                \
	X(AFTER_TOOL, "AfterTool", "PostToolUse", true, false)                \
	X(BEFORE_AGENT, "BeforeAgent", "UserPromptSubmit", true, true)        \
	X(AFTER_AGENT, "AfterAgent", "Stop", false, false)                    \
	X(BEFORE_MODEL, "BeforeModel", NULL, true, true)                      \
	X(AFTER_MODEL, "AfterModel", NULL, true, true)                        \
	X(BEFORE_TOOL_SELECTION, "BeforeToolSelection", NULL, true, true)     \
	X(SESSION_START, "SessionStart", "SessionStart", false, false)        \
	X(SESSION_END, "SessionEnd", "SessionEnd", false, false)              \
	X(NOTIFICATION, "Notification", "Notification", false, false)         \
	X(PRE_COMPRESS, "PreCompress", "PreCompact", false, false)

/* All static. */
struct hook_event_names {
	const char *name;   /* Gemini CLI's */
	const char *claude; /* NULL: Claude Code has none like it */
	bool refuses, refuses_claude; /* whether a hook can refuse; one in Claude Code's format */
};

/* The rows, in the order of the table. */
const struct hook_event_names *hook_events_at(size_t i);
/* The row of exactly this name, of the format; NULL: it has no such event. */
const struct hook_event_names *hook_events_find(const char *name, bool claude);
/* The row that a name which is none of the format probably means: the other format's name for it,
 * or a name that is spelled almost so. NULL: none is near. */
const struct hook_event_names *hook_events_nearest(const char *name, bool claude);
/* Whether another agent has an event of this name, and hasp none like it. */
bool hook_events_foreign(const char *name);

#endif
