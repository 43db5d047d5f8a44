/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are dropped on a terminal, or copied in a file manager.
 *
 *     struct dropped dropped;
 *     if (dropped_read(text, &dropped)) ... dropped.paths[0] ...
 *     dropped_release(&dropped);
 *
 * A terminal types what is dropped on it as a path: bare, with backslashes, in quotes, as a file://
 * address, several with blanks or line ends between.  A text that is nothing but such paths, all of
 * which exist, is taken for files; anything else is text.  On any thread. */
#ifndef HASP_TUI_CLIP_DROPPED_H
#define HASP_TUI_CLIP_DROPPED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

enum {
	DROPPED_MAX = 64,             /* files of one text */
	DROPPED_BYTES_MAX = 64 << 10, /* of their names */
};

struct dropped {
	char *paths[DROPPED_MAX]; /* owned; absolute */
	size_t count;
};

/* The paths that the text consists of. False: there is something else in it; *ret is empty. */
bool dropped_read(struct span text, struct dropped *ret);
void dropped_release(struct dropped *dropped);
/* Whether it consists of paths. */
bool dropped_is_files(struct span text);
/* What stands between them. */
bool dropped_is_blank(char c);

#endif
