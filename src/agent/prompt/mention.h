/* SPDX-License-Identifier: Apache-2.0 */
/* @path in a prompt: the files it names, read and handed over with it.
 *
 *     content = mention_message(&session, piped, SPAN("what does @src/main.c do?"), search, notices);
 *
 * A path follows an @ that stands at the beginning or after anything but a letter, digit or _ ;
 * it ends at white space, at one of , ; ! ? ( ) [ ] { }, or at a dot before white space or the
 * end.  A backslash takes what follows as it is; quotes ("...") hold any characters; \@ is no
 * mention.  It may be a file, a folder (all files beneath) or a glob.  A name that is not there
 * is looked for in the workspace (`search`).
 *
 * Only what the user says is searched, in one pass.  Text that is piped in beside it (a log, a
 * diff) is what it is about: whoever wrote an @ there does not choose which files the model is
 * given.
 */
#ifndef HASP_AGENT_PROMPT_MENTION_H
#define HASP_AGENT_PROMPT_MENTION_H

#include <jansson.h>
#include <stdbool.h>

#include "base/span.h"
#include "tool/tool.h"

struct mention {
	size_t offset, length; /* of all of it in the prompt, the @ too; in bytes */
	char *path;            /* owned; without quotes and backslashes; not empty */
	bool quoted;
};

/* All mentions in their order; the caller frees with mentions_free. At most LIMIT_MENTIONS.
 * Linear. */
size_t mentions_find(struct span prompt, struct mention **ret);
void mentions_free(struct mention *mentions, size_t count);

/* The user's message (model/content.h): `piped` as it is, the prompt, then what that names:
 * versioned, hashed file objects as read_many_files gives them; images, audio and PDF as media.
 * What cannot be read is a sentence in `notices` (an array of strings) and in the message; with
 * `search`, a name that nothing has is looked for in all folders. A new reference. */
json_t *mention_message(struct session *session, struct span piped, struct span prompt, bool search,
                        json_t *notices);

#endif
