/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that a command of the project describes and another one runs (the settings
 * tools.discoveryCommand and tools.callCommand), as Gemini CLI has them.
 *
 * The first command prints JSON: an array of function declarations {"name", "description",
 * "parameters"} or of groups {"function_declarations": [...]}.  A call runs the second one with
 * the tool's name as its argument and the arguments as JSON on its standard input; it has
 * succeeded when its exit code is 0 and it wrote nothing to its standard error.  Both are lines
 * for bash, and run in the sandbox like any command.
 */
#ifndef HASP_TOOL_DISCOVERED_H
#define HASP_TOOL_DISCOVERED_H

#include "base/cancel.h"
#include "tool/set.h"

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

#endif
