/* SPDX-License-Identifier: Apache-2.0 */
/* A tool's result as people want to see it on a terminal.
 *
 * The shape of the result decides how it is shown (a file, an edit, a folder, what was
 * found, several of these), so that a new tool with a familiar answer needs nothing
 * here; an unfamiliar one is shown as indented JSON.  Everything that comes
 * from files passes render_safe (render.h).
 */
#ifndef HASP_CLI_VIEW_VIEW_H
#define HASP_CLI_VIEW_VIEW_H

#include <jansson.h>

#include "base/buf.h"
#include "tool/tool.h"

struct view {
	bool colour;
	size_t width; /* columns; 0: lines are not wrapped */
	bool output_shown; /* of a command: it was shown as it came (output.h) */
};

/* Asks the tool for what is shown best (the diff instead of the content, where in a line a
 * match is), unless the caller asked for something. */
void view_prepare(const struct tool *tool, json_t *arguments);

/* Appends the result. False when `out` overflowed. */
bool view_result(struct buf *out, const json_t *result, const struct view *view);

#endif
