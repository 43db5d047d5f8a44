/* SPDX-License-Identifier: Apache-2.0 */
/* gitignore rules (gitignore(5)): nested files, negation, folder-only patterns.
 *
 * One object holds the rules of one file; the last one that matches decides.  The
 * caller asks the files from the deepest folder up until one decides, and does not
 * enter ignored folders, so that nothing beneath them can be taken back (chain.h).
 */
#ifndef HASP_SEARCH_RULES_IGNORE_H
#define HASP_SEARCH_RULES_IGNORE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/span.h"

struct ignore_rules;

/* Parses the text of one ignore file; never NULL, the caller frees. Bad patterns match
 * nothing, as in git; patterns with wildcards past LIMIT_IGNORE_WILDCARDS do not count. A
 * byte-order mark, CRLF and a missing last newline are understood. */
struct ignore_rules *ignore_parse(struct span text);
void ignore_free(struct ignore_rules *rules);

enum ignore_verdict { IGNORE_UNDECIDED, IGNORE_YES, IGNORE_NO };

/* `path` is relative to the folder that holds the ignore file. Time is at most the
 * length of the path times that of the ignore file. */
enum ignore_verdict ignore_match(const struct ignore_rules *rules, struct span path,
                                 bool is_folder);

#endif
