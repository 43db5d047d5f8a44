/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that have to become shorter: where something was left out stands one note,
 *
 *     [... 12 lines, 3456 bytes left out; the whole output is in /path/to/file ...]
 *
 * (the lines and the place may be missing), also in a text that is cut once more: then the note
 * counts both.
 *
 *
 *     struct cut cut = cut_of(text);
 *     if (cut_is_longer(&cut, 40000))
 *             cut_write(&cut, 8000, 32000, SPAN("they are not kept"), &out);
 */
#ifndef HASP_AGENT_CONTEXT_CUT_H
#define HASP_AGENT_CONTEXT_CUT_H

#include <jansson.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/span.h"

/* ---- cuts -------------------------------------------------------------------- */

struct cut {
	struct span before, after; /* the note; views. Without a note: all of the text, and
	                            * nothing */
	size_t gone;               /* bytes that the note counts; 0: there is none */
	struct span place;         /* "the whole output is in ..."; a view; may be empty */
};

/* A text that was not cut as one that is to be. */
struct cut cut_whole(struct span text);
/* A text in which the first line that is such a note counts as one. */
struct cut cut_of(struct span text);
/* Whether it has more than `bytes` besides the note. */
bool cut_is_longer(const struct cut *cut, size_t bytes);
/* Of a text that is longer than head + tail: appends at most `head` bytes of the beginning, the
 * note, and at most `tail` bytes of the end; what one of the two parts does not need is the
 * other's. `place`: what the note says; empty: what it said before. */
void cut_write(const struct cut *cut, size_t head, size_t tail, struct span place, struct buf *out);

/* ---- first prompts ----------------------------------------------------------- */

/* What the user said first in a session: its title, and what a compaction never drops. */

/* The same, a copy of at most 4,000 bytes of both ends, with a note if it had more;
 * NULL: there are no words. The caller frees. */
char *first_prompt_of_text(struct span text);
/* Of a message (content.h): of its first part with words, which is what was typed; NULL: it has
 * results of calls, or no words. The caller frees. */
char *first_prompt_in(const json_t *message);
/* Of the first message of a conversation that has one; NULL: none has. The caller frees. */
char *first_prompt_of(const json_t *conversation);

/* ---- weights ----------------------------------------------------------------- */

/* How much of a conversation a value is, in bytes: for comparisons that must be cheap and always
 * come out the same. (Tokens: content_estimate_tokens.)
 */

/* The bytes of all strings and names in it, and a few for each number and bracket. NULL: 0. What is
 * nested deeper than JSON_DEPTH_MAX is not counted. */
size_t json_weight(const json_t *value);

#endif
