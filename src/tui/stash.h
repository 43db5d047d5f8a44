/* SPDX-License-Identifier: Apache-2.0 */
/* The draft kept on disk, and prompts of earlier sessions. */
#ifndef HASP_TUI_STASH_H
#define HASP_TUI_STASH_H

#include <stdbool.h>

#include "base/err.h"
#include "base/span.h"

struct app;
struct stash;

enum {
	STASH_BYTES_MAX = 4 << 20,      /* a draft that is kept on disk */
};

/* NULL: nothing can be kept. Restores the draft of a session that crashed, and the history. */
struct stash *stash_open(struct app *app);
/* `keep`: the draft is there for the next session. NULL is fine. */
void stash_close(struct stash *stash, bool keep);
/* The folder of that name in the project's temporary folder, made; the caller frees. NULL: *err. */
char *stash_folder(const struct stash *stash, const char *name, struct err *err);
/* Writes the draft, if it is another. */
void stash_keep(struct app *app);
/* A prompt that was sent, for later sessions. */
void stash_remember(struct stash *stash, struct span prompt);

#endif
