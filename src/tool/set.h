/* SPDX-License-Identifier: Apache-2.0 */
/* The tools of one session: the built-in ones, those found by a command or on MCP servers, less
 * those that settings leave out.
 *
 *     struct tool_set *set = tool_set_new();
 *     tool_set_add_conversation(set, &services);       // those for which there is what they need
 *     tool_set_add(set, tool, free_tool);              // after the built-in ones, in order
 *     tool_set_limit(set, core, exclude);              // settings' tools.core and tools.exclude
 *     session.tools = set;
 *     declared = tool_set_declare(set, wanted, data);  // as a model gets it
 *     tool_set_free(set);
 *
 * A set is made before calls begin; afterwards any thread may read it, and add tools (those of MCP
 * servers that are slow), which changes nothing of what is in it.  Tools are withdrawn while no
 * call is under way.
 */
#ifndef HASP_TOOL_SET_H
#define HASP_TOOL_SET_H

#include "base/cancel.h"
#include "data/schema.h"
#include "tool/tool.h"

struct tool_set *tool_set_new(void); /* the built-in tools that need no conversation (set.c) */
/* A set of the tools of `from` that `wanted` accepts, in the same order and deferred if they are
 * deferred there; if any is, search_tools and call_tool are included without asking `wanted`.
 * `from` must outlive it; tools added to `from` later are not included. */
struct tool_set *tool_set_choose(const struct tool_set *from,
                                 bool (*wanted)(void *data, const struct tool *tool), void *data);
void tool_set_free(struct tool_set *set);

/* Adds web_fetch, google_web_search, save_memory, write_todos, ask_user, enter_plan_mode and
 * exit_plan_mode: each if the services have what it needs. */
void tool_set_add_conversation(struct tool_set *set, const struct tool_services *services);
/* Adds a tool, freed by `release` (NULL: it is static) with the set. INVALID_ARGUMENT: a schema
 * that is no JSON, which of a server's tool (tool.server) is for the caller to see to; a name that
 * is taken or is none (^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$): the tool is left to the caller.  Its
 * schema is compiled when it is called first. */
bool tool_set_add(struct tool_set *set, struct tool *tool, void (*release)(struct tool *tool),
                  struct err *err);
/* Removes the added tools for which `withdrawn` returns true, and returns their number.  They are
 * freed with the set, as callers may still hold one; their names become free. */
size_t tool_set_withdraw(struct tool_set *set,
                         bool (*withdrawn)(void *data, const struct tool *tool), void *data);
/* For the tools that are there, and `exclude` for those added later.  Arrays of names or NULL:
 * `core`, if any, leaves only what it names; `exclude` takes away. Names,
 * aliases, Gemini CLI's class names ("ShellTool", "ReadFileTool"); "NAME(prefix)" counts as NAME in
 * `core` and is ignored in `exclude` (a policy rule sees to it). */
void tool_set_limit(struct tool_set *set, const json_t *core, const json_t *exclude);

/* The tools that are left, in their order; NULL after the last. */
size_t tool_set_count(const struct tool_set *set);
const struct tool *tool_set_at(const struct tool_set *set, size_t i);
/* By name or alias; NULL if there is none. NULL set: the built-in tools (tool_find). */
const struct tool *tool_set_find(const struct tool_set *set, const char *name);

/* [{"name", "description", "parameters"}], shortened for a model's request (without
 * tool.undeclared, and without keywords that only validate), of the tools that `wanted` (NULL: all)
 * accepts; a new reference. */
json_t *tool_set_declare(const struct tool_set *set,
                         bool (*wanted)(void *data, const struct tool *tool), void *data);

/* One of these declarations; as an element of tool_set_declare, also "loading": "loads" of
 * search_tools, "instead" of call_tool (model_request.tools). */
json_t *tool_declaration(const struct tool *tool);

/* ---- deferred --------------------------------------------------------------------- */

/* Tools that are announced by name and one line instead of being declared: rare ones of our own
 * (tool_info.rare), and those of others where their declarations are long.  search_tools finds
 * them, call_tool calls them (builtin/deferred_tools.c).  Calls by their own names work as well. */
enum tool_defer { TOOL_DEFER_OFF, TOOL_DEFER_AUTO, TOOL_DEFER_ON };

/* Decides about the tools that have come since the last time: rare ones are deferred unless OFF;
 * those of others with ON, and with AUTO if all of them together have more than `budget` tokens
 * (estimated).  What was decided stays, since it was sent.  With the first that is deferred,
 * search_tools and call_tool are added, unless tool_set_limit leaves them out: then nothing is
 * deferred. */
void tool_set_defer(struct tool_set *set, enum tool_defer how, size_t budget);
bool tool_set_is_deferred(const struct tool_set *set, const struct tool *tool);
/* Adds those of the deferred that `wanted` (NULL: all) says yes to, as tool_set_declare has them
 * and with "loading": "deferred": for models that load them (model/model.h). */
void tool_set_declare_deferred(const struct tool_set *set,
                               bool (*wanted)(void *data, const struct tool *tool), void *data,
                               json_t *declared);
/* The list of those that `wanted` (NULL: all) says yes to, for the model; at most some 20 KiB,
 * unless the names alone are longer.  NULL: there are none. The caller frees. */
char *tool_set_announce(const struct tool_set *set,
                        bool (*wanted)(void *data, const struct tool *tool), void *data);

/* ---- discovered ------------------------------------------------------------------- */

/* Tools that one command of the project describes and a second one runs (the settings
 * tools.discoveryCommand and tools.callCommand), as in Gemini CLI.
 *
 * The first command prints JSON: an array of function declarations {"name", "description",
 * "parameters"} or of groups {"function_declarations": [...]}.  A call runs the second one with
 * the tool's name as its argument and the arguments as JSON on its standard input; it has
 * succeeded when its exit code is 0 and it wrote nothing to its standard error.  Both are lines
 * for bash, and run in the sandbox like any command.
 */

/* Runs `discovery` with the provider and adds what it describes to the set, as
 * "discovered_tool_NAME".  `call` may be NULL: then calls fail.  Tools that cannot be added are
 * left out, with a sentence for each in the array `problems`.  *ret_count: those that were
 * added.  The provider is that of each call's session.  INVALID_ARGUMENT: what it printed is not
 * that; TOOL_FAILED: the command failed; else as provider->ops->run. */
bool discovered_add(struct tool_set *set, struct provider *provider, const char *discovery,
                    const char *call, const struct cancel *cancel, json_t *problems,
                    size_t *ret_count, struct err *err);
/* The second half of that: adds what JSON text describes. INVALID_ARGUMENT: it is no such array.
 * */
bool discovered_add_text(struct tool_set *set, struct span text, const char *call,
                         json_t *problems, size_t *ret_count, struct err *err);

/* ---- schemas ---------------------------------------------------------------------- */

/* The compiled schemas of a session. Private to this folder. */

/* Of the tool's arguments; made at its first call. *ret is borrowed from the session or its set of
 * tools; NULL: any object will do. INTERNAL when a built-in tool's own text is no schema. From any
 * thread. */
bool session_schema(struct session *session, const struct tool *tool, struct schema **ret,
                    struct err *err);
/* All built-in tools: those of tool_at, then those of a conversation. */
size_t tool_builtin_count(void);
const struct tool *tool_builtin_at(size_t i);

/* The schema of a tool that was added to the set; false: it is none of those. */
bool tool_set_schema(const struct tool_set *set, const struct tool *tool, struct schema **ret);

#endif
