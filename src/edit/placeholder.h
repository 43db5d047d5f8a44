/* SPDX-License-Identifier: Apache-2.0 */
/* Omission placeholders: "// ... rest of the code ..." where a model left out what it
 * did not want to repeat.
 *
 * Written to a file such a line replaces real code.  A line counts when it is nothing but
 * an optional comment marker, three dots (or an ellipsis) at the beginning, the end or both,
 * and words that say "the rest", "existing code", "unchanged".  A line that the
 * old text has too is the file's own and is let through.
 */
#ifndef HASP_EDIT_PLACEHOLDER_H
#define HASP_EDIT_PLACEHOLDER_H

#include "base/err.h"
#include "base/span.h"

/* INVALID_ARGUMENT, naming the line, when `text` has a placeholder that `old_text` lacks.
 * `what` names the text in the message ("content"). Linear in both texts. */
bool placeholder_check(struct span text, struct span old_text, const char *what,
                       struct err *err);

#endif
