/* SPDX-License-Identifier: Apache-2.0 */
/* Other names of parameters, taken for the canonical ones before validation; and names of files in
 * arguments, which are text, as the bytes that a handler needs. */
#ifndef HASP_TOOL_ALIAS_H
#define HASP_TOOL_ALIAS_H

#include "base/buf.h"
#include "tool/tool.h"

/* Returns a new reference to the arguments with canonical names (a copy as deep as needed;
 * `arguments` is an object and not changed).  `called` is the name by which the tool was
 * called.  An alias beside its canonical name with another value is appended to `problems`. */
json_t *alias_resolve(const struct tool *tool, const char *called, const json_t *arguments,
                      struct buf *problems);

/* The arguments as the tool's handler gets them: paths in the bytes that they are the text of
 * (base/name.h). A new reference, to `arguments` where that changes nothing. Not to be printed,
 * kept or shown. */
json_t *alias_path_bytes(const struct tool *tool, const json_t *arguments);

#endif
