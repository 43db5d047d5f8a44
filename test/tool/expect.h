/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing a result with what a case expects of it, and the words of cases. */
#ifndef HASP_TEST_TOOL_EXPECT_H
#define HASP_TEST_TOOL_EXPECT_H

#include <jansson.h>

#include "base/buf.h"

/* A copy of `value` in which, in all strings and names,
 *   $ROOT           is the workspace's path
 *   $SHA256(path)   the hash of that file's bytes now ("" gives that of nothing)
 *   $CONTENT(path)  its content now (only as the whole string) */
json_t *expect_expand(const json_t *value, const char *root);

/* Appends what differs, by path. An object needs the members that `wanted` names and may have
 * others; an array needs the same length.  An object with one of these members is a
 * condition instead:
 *   {"$contains": text or [texts]}  {"$begins": text}  {"$lacks": text}  {"$absent": true}
 *   {"$length": n}  {"$type": "string"}  {"$some": [wanted elements]}  {"$least": n} */
void expect_match(const char *where, const json_t *wanted, const json_t *got,
                  struct buf *differences);

/* Appends which claims of an edit's result (or of each of its `changes`) contradict each other: the
 * hunks' lines and the file's, a number that settles and is not there, an edit that was there
 * already and changed something.  *ret_writes: whether it says that files were changed. */
void expect_claims(const json_t *result, struct buf *differences, bool *ret_writes);

#endif
