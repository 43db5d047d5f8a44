/* SPDX-License-Identifier: Apache-2.0 */
/* gitignore rules (gitignore(5)): nested files, negation, folder-only patterns.
 *
 * An ignore stack holds the rules of the folders from a root down to where the
 * walk is; the deepest file with a matching rule decides, the last match within
 * a file wins, and nothing beneath an ignored folder can be taken back.
 */
#ifndef HASP_SEARCH_IGNORE_H
#define HASP_SEARCH_IGNORE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/span.h"

struct ignore_rules;

/* Parses the text of one ignore file. Bad patterns match nothing, as in git. */
struct ignore_rules *ignore_parse(struct span text);
void ignore_free(struct ignore_rules *rules);

enum ignore_verdict { IGNORE_UNDECIDED, IGNORE_YES, IGNORE_NO };

/* `path` is relative to the folder that holds the ignore file. */
enum ignore_verdict ignore_match(const struct ignore_rules *rules, struct span path,
                                 bool is_folder);

#endif
