/* SPDX-License-Identifier: Apache-2.0 */
/* A session to read elsewhere: as Markdown for people, as JSON for programs (docs/sessions.md). */
#ifndef HASP_AGENT_SESSION_EXPORT_H
#define HASP_AGENT_SESSION_EXPORT_H

#include <stdbool.h>

#include "agent/session/sessions.h"
#include "base/buf.h"

enum export_format { EXPORT_MARKDOWN, EXPORT_JSON };

/* By a word ("markdown", "md", "json"), or, where that is NULL, by how a file's name ends. False:
 * it says neither. */
bool export_format_of(const char *word, const char *file, enum export_format *ret);

/* Appends all of it: what was said, each call with its arguments, its difference or output.  In
 * Markdown nothing that was said or printed gets out of where it stands.  False when `out`
 * overflowed. */
bool session_export(const struct session_read *read, enum export_format format, struct buf *out);

#endif
