/* SPDX-License-Identifier: Apache-2.0 */
/* The tools of one session: the built-in ones, those found by a command or on MCP servers, less
 * those that settings leave out.
 *
 *     struct tool_set *set = tool_set_new();
 *     tool_set_add_conversation(set, &services);       // those for which there is what they need
 *     tool_set_add(set, tool, free_tool);              // after the built-in ones, in order
 *     tool_set_limit(set, core, exclude);              // settings' tools.core and tools.exclude
 *     session.tools = set;
 *     declared = tool_set_declare(set, wanted, data);  // what a model is told
 *     tool_set_free(set);
 *
 * A set is made before calls begin; afterwards it is only read, by any thread.
 */
#ifndef HASP_TOOL_SET_H
#define HASP_TOOL_SET_H

#include "tool/tool.h"

struct tool_set *tool_set_new(void); /* the built-in tools that need no conversation (set.c) */
void tool_set_free(struct tool_set *set);

/* Adds web_fetch, google_web_search, save_memory, write_todos, ask_user, enter_plan_mode and
 * exit_plan_mode: each if the services have what it needs. */
void tool_set_add_conversation(struct tool_set *set, const struct tool_services *services);
/* Adds a tool, freed by `release` (NULL: it is static) with the set. INVALID_ARGUMENT: a schema
 * that cannot be used; a name that is taken or is none (^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$): the
 * tool is left to the caller. */
bool tool_set_add(struct tool_set *set, struct tool *tool, void (*release)(struct tool *tool),
                  struct err *err);
/* Arrays of names or NULL: `core`, if any, leaves only what it names; `exclude` takes away. Names,
 * aliases, Gemini CLI's class names ("ShellTool", "ReadFileTool"); "NAME(prefix)" counts as NAME in
 * `core` and is ignored in `exclude` (a policy rule sees to it). */
void tool_set_limit(struct tool_set *set, const json_t *core, const json_t *exclude);

size_t tool_set_count(const struct tool_set *set);
const struct tool *tool_set_at(const struct tool_set *set, size_t i);
/* By name or alias; NULL if there is none. NULL set: the built-in tools (tool_find). */
const struct tool *tool_set_find(const struct tool_set *set, const char *name);

/* [{"name", "description", "parameters"}], as short as a model's request wants it
 * (tool.undeclared, and no keywords that only check), of those that `wanted` (NULL: all) says
 * yes to; a new reference. */
json_t *tool_set_declare(const struct tool_set *set,
                         bool (*wanted)(void *data, const struct tool *tool), void *data);

#endif
