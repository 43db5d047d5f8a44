/* SPDX-License-Identifier: Apache-2.0 */
/* Reading git's configuration format (git-config(1), "CONFIGURATION FILE").
 *
 *     static bool each(void *data, const struct git_config_item *item) { ... }
 *     git_config_read(text, each, mine);
 *
 * Sections with and without a quoted subsection, the old [section.subsection], keys on the
 * line of their section, values with quotes, escapes, comments and continued lines, a
 * byte-order mark, CRLF.
 *
 * Not here: which files count, and includes (search/rules/chain.h, sandbox/plan/config.c);
 * the reader that believes only what it could not mistake, and takes lines out
 * (sandbox/guard/private.h).
 */
#ifndef HASP_DATA_GIT_CONFIG_H
#define HASP_DATA_GIT_CONFIG_H

#include <stdbool.h>

#include "base/span.h"

/* A longer key or value is a mistake: both are the names of things and files. */
enum { GIT_CONFIG_TEXT_MAX = 64 << 10 };

struct git_config_item {
	struct span section;    /* in lower case: "core" */
	struct span subsection; /* as written, without quotes; empty when there is none */
	struct span name;       /* in lower case: "excludesfile" */
	struct span value;      /* without quotes and escapes, spaces around it and comments */
	bool has_value;         /* false: only the name stands there, which means "true" */
};

/* Spans are borrowed for the call. False ends the reading. */
typedef bool git_config_each(void *data, const struct git_config_item *item);

/* Calls `each` for every variable in order. False when it met something that is not in the
 * format (what stands before it has been reported), or `each` said false. */
bool git_config_read(struct span text, git_config_each *each, void *data);
/* The same without allocating: `room` has text.len + GIT_CONFIG_ROOM bytes. */
bool git_config_read_in(struct span text, char *room, git_config_each *each, void *data);
enum { GIT_CONFIG_ROOM = 8 };

#endif
