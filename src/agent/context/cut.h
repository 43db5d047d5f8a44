/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that have to become shorter: where something was left out stands one note,
 *
 *     [... 12 lines, 3456 bytes left out; the whole output is in /path/to/file ...]
 *
 * (the lines and the place may be missing), also in a text that is cut once more: then the note counts both.
 * Private to this folder.
 *
 *     struct cut cut = cut_of(text);
 *     if (cut_is_longer(&cut, 40000))
 *             cut_write(&cut, 8000, 32000, SPAN("they are not kept"), &out);
 */
#ifndef HASP_AGENT_CONTEXT_CUT_H
#define HASP_AGENT_CONTEXT_CUT_H

#include "base/buf.h"

struct cut {
	struct span before, after; /* the note; views. Without a note: all of the text, and nothing */
	size_t gone;               /* bytes that the note counts; 0: there is none */
	struct span place;         /* "the whole output is in ..."; a view; may be empty */
};

/* A text that was not cut as one that is to be. */
struct cut cut_whole(struct span text);
/* A text in which the first line that is such a note counts as one. */
struct cut cut_of(struct span text);
/* Whether it has more than `bytes` besides the note. */
bool cut_is_longer(const struct cut *cut, size_t bytes);
/* Of a text that is longer than head + tail: appends at most `head` bytes of the beginning, the note, and at
 * most `tail` bytes of the end; what one of the two parts does not need is the other's. `place`: what the note
 * says; empty: what it said before. */
void cut_write(const struct cut *cut, size_t head, size_t tail, struct span place, struct buf *out);

#endif
