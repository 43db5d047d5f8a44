/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks around one call of a tool: what they are shown of it, and what they change.
 *
 *     struct hooked_call call = { .any = any, .fire = fire, .data = data, .name = "apply_changes",
 *                                 .session = &session };
 *     if (hooked_before(&call, tool, &arguments, &said)) ...   // said is released by the caller
 *     ... the call runs ...
 *     if (hooked_after(&call, tool, arguments, result, response, &said)) ...
 *
 * A guard judges one file by tool_input.file_path, or one command by tool_input.command.  So hooks
 * run once for each file of a call that changes or reads several, with its absolute path, and as
 * for a command for what is written to one in the background.  A matcher that names one tool means
 * all of its kind, hasp's and those of the program that the hook was written for.
 *
 * Not here: which hooks there are, and their answers (hooks/hooks.h).
 */
#ifndef HASP_AGENT_CALL_HOOKED_H
#define HASP_AGENT_CALL_HOOKED_H

#include "hooks/hooks.h"
#include "tool/tool.h"

struct hooked_call {
	/* As hooks_any and hooks_fire; false: none ran, and *ret is untouched. */
	bool (*any)(void *data, enum hook_event event, const char *matched);
	bool (*fire)(void *data, enum hook_event event, const char *matched, const json_t *input,
	             struct hook_outcome *ret);
	void *data;
	const char *name;        /* the tool_name of hooks */
	const char *id;          /* the call's, of the model; NULL: it has none */
	const char *original;    /* the model's tool, if this one is called in its place; or NULL */
	struct session *session; /* the workspace, to plan edits for them; no hooks are run by it */
};

/* BeforeTool. Rewrites are laid over *arguments, a reference of the caller that may be replaced; an
 * edit that hooks saw the diff of is bound to the state that it was made for. The first denial,
 * stop or answer in place of the call ends it. False: no hook ran. */
bool hooked_before(const struct hooked_call *call, const struct tool *tool, json_t **arguments,
                   struct hook_outcome *ret);

/* AfterTool. `response` makes the tool_response of a result, or of one file's part of it; a new
 * reference. */
bool hooked_after(const struct hooked_call *call, const struct tool *tool, const json_t *arguments,
                  const json_t *result,
                  json_t *(*response)(const struct tool *tool, const json_t *result),
                  struct hook_outcome *ret);

/* The result of a call that BeforeTool hooks end; a new reference. NULL: it goes on. */
json_t *hooked_ended(const struct hook_outcome *said);
/* A result as hooks for Claude Code get it, of a call whose arguments hooks see as `shown` and that
 * is about the file `path` (or NULL); `text` is what the model gets.  A new reference. */
json_t *hooked_claude_response(const struct tool *tool, const json_t *shown, const json_t *path,
                               const json_t *result, const char *text);
/* What takes the place of a result after AfterTool hooks; a new reference. NULL: nothing. */
json_t *hooked_replaced(const struct hook_outcome *said);

#endif
