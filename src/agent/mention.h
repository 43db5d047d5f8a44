/* SPDX-License-Identifier: Apache-2.0 */
/* @path in a prompt: the files it names, read and handed over with it.
 *
 *     content = mention_message(&session, SPAN("what does @src/main.c do?"), &options, notices);
 *
 * A path follows an @ that stands at the beginning or after anything but a letter, digit or _ ; it ends at
 * white space, at one of , ; ! ? ( ) [ ] { }, or at a dot before white space or the end.  A backslash takes
 * what follows as it is; quotes ("...") hold any characters; \@ is no mention.  It may be a file, a folder
 * (all files beneath) or a glob.  A name that is not there is looked for in the workspace (`search`).
 */
#ifndef HASP_AGENT_MENTION_H
#define HASP_AGENT_MENTION_H

#include <jansson.h>
#include <stdbool.h>

#include "base/span.h"
#include "tool/tool.h"

struct mention {
	size_t offset, length; /* of all of it in the prompt, the @ too; in bytes */
	char *path;            /* owned; without quotes and backslashes; not empty */
	bool quoted;
};

/* All mentions in their order; the caller frees with mentions_free. At most LIMIT_MENTIONS. */
size_t mentions_find(struct span prompt, struct mention **ret);
void mentions_free(struct mention *mentions, size_t count);

/* The user's message (model/content.h): the prompt, then what it names: versioned, hashed file objects as
 * read_many_files gives them; images, audio and PDF as media. What cannot be read is a sentence in
 * `notices` (an array of strings) and in the message; with `search`, a name that nothing has is looked
 * for in all folders. A new reference. */
json_t *mention_message(struct session *session, struct span prompt, bool search,
                        json_t *notices);

#endif
