/* SPDX-License-Identifier: Apache-2.0 */
/* Files of instructions: GEMINI.md, AGENTS.md and what settings name (context.fileName).
 *
 *     struct memory *memory = memory_load(&options);
 *     memory_global(memory)      // ~/.gemini and the project's private memory: for the system prompt
 *     memory_project(memory)     // the project's: for the first message
 *     found = memory_found(memory, "src/deep/file.c");   // of the folders on the way, once each
 *     memory_forget(memory, kept);                       // but again when it has left the conversation
 *     memory_free(memory);
 *
 * The project's are those of the workspace's root and of the folders above it up to the one with
 * a boundary marker (context.memoryBoundaryMarkers, .git); without a marker nothing above is
 * read, and files there count only if they are the user's or root's.  In a folder that is not
 * trusted none of them count. Those of the workspace's further folders count with
 * context.loadMemoryFromIncludeDirectories. Files of the workspace are read through the
 * provider.  Of two equal files in one folder (a link, a copy) the first counts.
 */
#ifndef HASP_AGENT_PROMPT_MEMORY_H
#define HASP_AGENT_PROMPT_MEMORY_H

#include <jansson.h>

#include "agent/prompt/source.h"
#include "config/settings.h"
#include "worker/provider.h"

/* ---- files of instructions --------------------------------------------------- */

struct memory;

struct memory_options {
	const struct settings *settings;
	struct provider *provider;
	const struct home *home; /* with the project's folder (home_claim): its private memory
	                          * is there */
	bool local;         /* the provider's files are this machine's: folders above can be
	                     * looked at */
	bool git;           /* the workspace's root has a .git: nothing above it is of this
	                     * project */
};

/* Never fails; what could not be read is in memory_notices. */
struct memory *memory_load(const struct memory_options *options);
void memory_free(struct memory *memory); /* NULL is fine */

/* Blocks "--- Context from: PATH ---"; empty without. */
struct span memory_global(const struct memory *memory);
struct span memory_project(const struct memory *memory);
/* Paths that were read, in their order; sentences about what was not. Borrowed. */
const json_t *memory_files(const struct memory *memory);
const json_t *memory_notices(const struct memory *memory);

/* What the folders from the root down to that of `path` (absolute or beneath the root) have to
 * say that was not said before; NULL: nothing. The caller frees. From any thread. */
char *memory_found(struct memory *memory, const char *path);
/* What memory_found said and is in none of the texts in `kept` (an array) counts as not said.
 * From any thread. */
void memory_forget(struct memory *memory, const json_t *kept);

/* ---- imports ----------------------------------------------------------------- */

/* @path in a file of instructions: the file it names stands there instead.
 *
 * An import begins with @ after white space or at the beginning of a line, and goes on with a
 * dot, a slash or a letter up to white space; not in `code` and not between ``` fences.  Imports
 * nest at most 5 deep; one that leads back to itself, out of the root, or to nothing is a
 * comment that says so; a word that only looks like one ("@alice") stays.  As Gemini CLI's, with
 * its marks:
 *
 *     <!-- Imported from: ./style.md -->
 *     ...
 *     <!-- End of import from: ./style.md -->
 */

enum { IMPORT_DEPTH_MAX = 5 };

/* Appends `text`, the content of `path` (absolute), with its imports resolved. Never fails: what
 * cannot be imported is a comment; what has no room in `out` is left out, and out->overflowed
 * says so. */
void imports_resolve(const struct source *source, const char *path, struct span text,
                     struct buf *out);

#endif
