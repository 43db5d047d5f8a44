/* SPDX-License-Identifier: Apache-2.0 */
/* @path in a file of instructions: the file it names stands there instead.
 *
 * An import begins with @ after white space or at the beginning of a line, and goes on with a dot, a slash or
 * a letter up to white space; not in `code` and not between ``` fences.  Imports nest at most 5 deep; one
 * that leads back to itself, out of the root, or to nothing is a comment that says so; a word that only
 * looks like one ("@alice") stays.  As Gemini CLI's, with its marks:
 *
 *     <!-- Imported from: ./style.md -->
 *     ...
 *     <!-- End of import from: ./style.md -->
 */
#ifndef HASP_AGENT_PROMPT_IMPORTS_H
#define HASP_AGENT_PROMPT_IMPORTS_H

#include "agent/prompt/source.h"

enum { IMPORT_DEPTH_MAX = 5 };

/* Appends `text`, the content of `path` (absolute), with its imports resolved. Never fails: what cannot be
 * imported is a comment; what has no room in `out` is left out, and out->overflowed says so. */
void imports_resolve(const struct source *source, const char *path, struct span text,
                     struct buf *out);

#endif
