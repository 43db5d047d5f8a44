/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files as text that a model reads, and writes again.
 *
 * A name is any bytes but NUL and "/"; what a model reads and writes is UTF-8.  So a byte that is
 * not part of UTF-8 is shown as \xNN, in two hexadecimal digits, and a path that has that escape
 * names the file with the byte.  No name is shown as another is, and name_read gives the very name
 * that was shown:
 *
 *     name_show(&out, span_str(entry));     // caf\xe9.txt
 *     name_read(&path, argument);           // the bytes again
 *
 * The escapes are \x and two digits for a byte below 20, of 3c ("<"), 7f, and from 80 on, and
 * \u{...} for an invisible character (unseen.h).  No others: an argument that spells ".env" in
 * escapes is not .env, so a rule on what a call says is not evaded.  A backslash of the name
 * itself, where it would begin one, is shown as \x5c: a file named "a\xe9" in six characters is
 * shown as "a\x5cxe9".
 *
 * Not here: text for a terminal (cli/view/view.h).
 */
#ifndef HASP_BASE_NAME_H
#define HASP_BASE_NAME_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

/* Appends the name as well-formed UTF-8: bytes that are not become escapes. Control characters
 * stay: what prints a string of JSON escapes them. At most four times as long. */
void name_show(struct buf *out, struct span name);

/* The same as a part of one line of text, which can neither end the line nor pass for markup:
 * control characters, line and paragraph separators, invisible characters and "<" are escapes
 * too. */
void name_line(struct buf *out, struct span name);

/* As name_read, but returns a new string; the caller frees. */
char *name_from_shown(const char *shown);

/* Appends the name that `shown` is the text of; anything that is no escape is itself. Returns how
 * many escapes there were. */
size_t name_read(struct buf *out, struct span shown);

#endif
