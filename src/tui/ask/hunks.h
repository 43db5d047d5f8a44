/* SPDX-License-Identifier: Apache-2.0 */
/* An edit as hunks that are taken or not, one by one; and the text that is left of it.
 *
 *     struct hunks *hunks = hunks_new(original, planned, diff);       // NULL: nothing to choose
 *     hunks_at(hunks, 0)->verdict = HUNK_TAKEN;
 *     hunks_edit(hunks, 1, text);                     // other lines instead of the new ones
 *     hunks_content(hunks, &content);                 // byte for byte
 *     hunks_free(hunks);
 *
 * The hunks are the diff's own, if it leads from `original` to `planned`; else those of a new one.
 * Each is a row of edits of lines with their endings: what is not taken stays as it was, whatever
 * its endings, and with all taken the content is `planned`.
 */
#ifndef HASP_TUI_ASK_HUNKS_H
#define HASP_TUI_ASK_HUNKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Lines around the changes of a hunk, where it is shown. */
enum { HUNK_CONTEXT = 3 };

enum hunk_verdict { HUNK_OPEN, HUNK_TAKEN, HUNK_LEFT, HUNK_EDITED };

struct hunk_choice {
	enum hunk_verdict verdict;
	char *comment;       /* owned; NULL: none */
	size_t first, count; /* edits */
	char *edited;        /* owned; of HUNK_EDITED: replaces its lines; with endings */
	size_t edited_len;
};

struct hunks;

/* The texts are borrowed. */
struct hunks *hunks_new(struct span original, struct span planned, struct span diff);
void hunks_free(struct hunks *hunks); /* NULL is fine */
size_t hunks_count(const struct hunks *hunks);
struct hunk_choice *hunks_at(struct hunks *hunks, size_t i);

/* "@@ -1,2 +1,3 @@", with numbers as if all before it were taken. */
void hunks_header(const struct hunks *hunks, size_t i, struct buf *out);
/* The hunk as a unified diff, its header first; an edited one as it is edited. */
void hunks_diff(const struct hunks *hunks, size_t i, struct buf *out);
/* Makes hunks of its changes that have unchanged lines between them; false: it has one. */
bool hunks_split(struct hunks *hunks, size_t i);

/* The new lines of the hunk to edit, each with a line feed and nothing else at its end. */
void hunks_text(const struct hunks *hunks, size_t i, struct buf *out);
/* Takes what became of them. Lines that stayed keep their endings, others get that of the line
 * before. The same lines: HUNK_TAKEN; those of the original: HUNK_LEFT; others: HUNK_EDITED. */
void hunks_edit(struct hunks *hunks, size_t i, struct span text);

/* The original with what is taken or edited. */
void hunks_content(const struct hunks *hunks, struct buf *out);
/* The diff from the original to that, without names. */
void hunks_content_diff(const struct hunks *hunks, struct buf *out);
/* [{"header", "taken": true|false|"edited", "comment"?}]: `hunks` of the bus's `review`. */
json_t *hunks_review(const struct hunks *hunks);

#endif
