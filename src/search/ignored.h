/* SPDX-License-Identifier: Apache-2.0 */
/* Whether ignore files keep a file from who asks for it by name.
 *
 * A walk leaves ignored files out by itself; this is for a path that somebody names.
 */
#ifndef HASP_SEARCH_IGNORED_H
#define HASP_SEARCH_IGNORED_H

#include "file/workspace.h"
#include "search/rules/rules.h"

/* Whether `rules` ignore the file, or a folder it is in: judged by where it really is, so a link
 * to an ignored file is ignored too.  False for what cannot be looked at: opening it says why.
 * Costs one look per root when there is no .geminiignore and nothing else counts. */
bool search_ignored(const struct workspace *ws, const char *path, const struct walk_rules *rules);

#endif
