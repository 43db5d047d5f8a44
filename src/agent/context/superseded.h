/* SPDX-License-Identifier: Apache-2.0 */
/* File contents that a later result has made obsolete, taken out of what is sent.  Private to agent/.
 *
 *     struct superseded *superseded = superseded_new();
 *     superseded_update(superseded, history, false);      // before each request
 *     superseded_free(superseded);
 *
 * Every reading and every edit of a file carries its whole content.  Of one file, only the newest counts:
 * the one in the latest message, of the highest version there.  Earlier ones keep file_path, version,
 * sha256 and all else, and "content_left_out" says why `content` is null.  Content that is word for word
 * what the call itself sent (write_file) is left out likewise.  Parts of a file (a range of lines) go
 * when a newer whole content is there, and do not make older whole ones go.
 *
 * When: what has been sent stays as it was (told.h), because caches and signed thinking end where a request
 * differs from the last one.  So content goes before the message that has it is sent for the first time (of
 * two readings in one message, one), and else only where the conversation begins anew anyway: before a
 * compaction, where everything obsolete goes.
 *
 * The same history always gives the same result, whether it is looked at message by message or all at
 * once (a resumed session): each message depends on itself alone.
 *
 * Only results of hasp's own tools count: what a server's tool answers cannot make a file's content go.
 */
#ifndef HASP_AGENT_CONTEXT_SUPERSEDED_H
#define HASP_AGENT_CONTEXT_SUPERSEDED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct superseded;

struct superseded *superseded_new(void);
void superseded_free(struct superseded *superseded); /* NULL is fine */

/* Looks at the messages that `history` (content.h) has beyond the last call, and replaces those of which
 * something is taken out by changed copies.  `all`: everything obsolete goes, whatever it costs
 * (before a compaction).  Returns the bytes taken out.  A history that was replaced needs a new
 * struct superseded. */
size_t superseded_update(struct superseded *superseded, json_t *history, bool all);

#endif
