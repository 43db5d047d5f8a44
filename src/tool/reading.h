/* SPDX-License-Identifier: Apache-2.0 */
/* A call that is being read (spelling.h): its members, and the readers of edits.  Private to
 * spelling.c and reading_edits.c.
 */
#ifndef HASP_TOOL_READING_H
#define HASP_TOOL_READING_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

struct reading {
	const char *tool;     /* what it is, so far */
	json_t *args;         /* owned; members in snake_case */
	json_t *sent;         /* owned; of spelled_call */
	struct buf *problems;
};

/* What a path is called. */
#define READING_PATHS "file_path path absolute_path target_file filename file"

/* Appends the sentence; false. */
bool reading_refuse(struct reading *reading, const char *sentence);
/* Moves a member to another name, unless that is there. */
void reading_rename(struct reading *reading, const char *from, const char *to);
/* The first of these members (names with spaces between them) that is there; borrowed, or NULL. */
json_t *reading_member(const json_t *object, const char *names);
/* A copy with names in snake_case; those that were not go to `sent` (NULL: nowhere) by these. */
json_t *reading_snake(const json_t *object, json_t *sent);
/* The call becomes one of `tool` with `args` (taken), and what every editor takes stays. */
void reading_take(struct reading *reading, const char *tool, json_t *args);

/* Readers (reading_edits.c), as struct spelling has them; false: with a problem. */

/* {file_path, edits: [{old_string, new_string, replace_all}]} */
bool reading_edits(struct reading *reading);
/* {file_path, old_string, new_string}, or the above */
bool reading_edit(struct reading *reading);
/* {file_path, content} */
bool reading_write(struct reading *reading);
/* {file_path} */
bool reading_delete(struct reading *reading);
/* {input}: an envelope; or {file_path, diff} */
bool reading_patch(struct reading *reading);
/* An envelope, whose relative paths begin in `folder` (may be empty). */
bool reading_envelope(struct reading *reading, struct span text, struct span folder);
/* {path, diff}: blocks SEARCH and REPLACE */
bool reading_blocks(struct reading *reading);
/* {command: "view", path, ...} and its like */
bool reading_commands(struct reading *reading);
/* {path, view_range: [first, last]} */
bool reading_view(struct reading *reading);

#endif
