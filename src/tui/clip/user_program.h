/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of the user's that help the terminal (wl-copy, xclip, tmux): found outside of the
 * workspace, for what lies in it was perhaps written by a command, and run for a bounded time.
 *
 *     struct user_roots roots;
 *     tui_roots(app, &roots);
 *     path = user_program_find("xclip", &roots);
 *     ok = user_program_run((char *[]){ path, "-in", NULL }, text, NULL, 5000, &cancel);
 *
 * On any thread. */
#ifndef HASP_TUI_CLIP_USER_PROGRAM_H
#define HASP_TUI_CLIP_USER_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/cancel.h"

enum { USER_ROOTS_MAX = 64 };

/* The folders that commands may write in; borrowed. */
struct user_roots {
	const char *at[USER_ROOTS_MAX];
	size_t count;
};

/* The path of a program, found in the absolute folders of PATH; the caller frees. NULL: there is
 * none, or it lies, links resolved, beneath one of the roots. */
char *user_program_find(const char *name, const struct user_roots *roots);
/* Runs argv[0], a path, with `input` on standard input. True: it ended well, in time. `out` gets
 * all that it prints; NULL: that is not wanted, and what it leaves behind may hold its output open,
 * as what serves a selection does. */
bool user_program_run(char *const argv[], struct span input, struct buf *out, unsigned timeout_ms,
                 const struct cancel *cancel);

#endif
