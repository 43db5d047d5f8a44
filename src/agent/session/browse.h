/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for a session among many: what each is about, and which has certain words in it.
 *
 *     json_t *rows = sessions_browse(home, SPAN("parser crash"), cancel);
 *     ... rows, the one that was changed last first ...
 *     json_t *end = session_end(file, 6);        // to look at before it is opened
 *
 * Files are scanned, by several threads, and hardly parsed: some 2 GB a second.  What is shown of a
 * session is what a glance at its file gives; session_read (sessions.h) is who knows it exactly.
 *
 * Not here: opening one (sessions_find, host_resume).
 */
#ifndef HASP_AGENT_SESSION_BROWSE_H
#define HASP_AGENT_SESSION_BROWSE_H

#include <jansson.h>
#include <stddef.h>

#include "base/cancel.h"
#include "base/span.h"
#include "config/home.h"

/* Sessions with something to resume, and all of `words` (split at blanks, letters' cases aside) in
 * their titles, or in what was said, called and answered: [{"id", "file" (bytes), "title", "time"
 * (of the last message), "messages", "model"?, "tag"? (a copy that
 * "/chat save TAG" has made), "found"?: where the first word stands, on one
 * line}].  Without words: all.  A new reference; NULL: cancelled (`cancel` may be NULL). */
json_t *sessions_browse(struct home *home, struct span words, const struct cancel *cancel);

/* The last messages of a session, oldest first: [{"who": "user" or a model's name, "text"}], as
 * many as stand in the last 256 KB of its file and at most `count`; a new reference, never NULL. */
json_t *session_end(const char *file, size_t count);

#endif
