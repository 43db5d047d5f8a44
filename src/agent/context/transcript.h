/* SPDX-License-Identifier: Apache-2.0 */
/* A conversation as plain text, for a model that is to summarise it.  Private to this folder. */
#ifndef HASP_AGENT_CONTEXT_TRANSCRIPT_H
#define HASP_AGENT_CONTEXT_TRANSCRIPT_H

#include <jansson.h>

#include "base/buf.h"

/* Appends at most about `most` bytes: results and arguments are cut as far as it takes; if that is not
 * enough, the middle is left out. Thoughts and media are not in it. */
void transcript_write(struct buf *out, const json_t *contents, size_t most);

#endif
