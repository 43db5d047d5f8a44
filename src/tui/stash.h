/* SPDX-License-Identifier: Apache-2.0 */
/* The draft on disk, so that neither a crash nor a kill loses what was typed; and the prompts of
 * earlier sessions.
 *
 *     struct stash *stash = stash_open(project, editor, &queue);   // NULL: nothing can be kept
 *     stash_keep(stash, editor, &queue, ask);      // with each frame
 *     stash_remember(stash, prompt);               // was sent
 *     stash_close(stash, false);
 *
 * A NULL stash is fine everywhere: it keeps nothing.  The files are in stash.c. */
#ifndef HASP_TUI_STASH_H
#define HASP_TUI_STASH_H

#include <stdbool.h>

#include "base/err.h"
#include "base/span.h"

struct ask;
struct editor;
struct prompt_queue;
struct stash;

enum { STASH_BYTES_MAX = 4 << 20 }; /* of a draft */

/* Restores the draft of a session of the project that crashed, and the history of prompts. */
struct stash *stash_open(const char *project, struct editor *editor,
                         const struct prompt_queue *queue);
/* `keep`: the draft is there for the next session. */
void stash_close(struct stash *stash, bool keep);
/* The folder of that name in the project's temporary folder, made; the caller frees. NULL: *err. */
char *stash_folder(const struct stash *stash, const char *name, struct err *err);
/* Writes the draft, the prompts that wait and what is typed into a question (`ask`; or NULL), if
 * they are others than before. */
void stash_keep(struct stash *stash, const struct editor *editor, const struct prompt_queue *queue,
                struct ask *ask);
/* Adds a prompt that was sent to those for later sessions. */
void stash_remember(struct stash *stash, struct span prompt);

#endif
