/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a model goes in circles.  Private to agent/.
 *
 *     struct loop_check *check = loop_check_new();
 *     loop_check_begin(check);                          // a prompt of the user
 *     loop_check_text(check, piece);                    // of each reply, as it comes
 *     loop_check_call(check, tool, name, args, result); // each call, in order, when it has ended
 *     if (loop_check_hit(check)) ...                    // why, in a sentence; or NULL
 *     loop_check_forgive(check);                        // the model was told: count anew
 *
 * A call is the same as another if its name, arguments and result are the same, but for what
 * differs with every call (version, duration_ms, ...): reading a file that changed, or running
 * tests that fail differently, is no circle.  It is one when
 *
 *   - a call and its result come 5 times in a row (10 times for tools that wait for something);
 *   - a row of 2 to 6 calls comes 3 times in a row, and so 8 calls or more;
 *   - a call comes 30 times in a row, whatever its results;
 *   - the model says the same up to 1,000 bytes 10 times in a row, and so 500 bytes or more; code
 *     blocks, tables, lists, headings and ruled lines do not count, and between two of them
 *     counting begins anew.
 */
#ifndef HASP_AGENT_CALL_LOOP_CHECK_H
#define HASP_AGENT_CALL_LOOP_CHECK_H

#include <jansson.h>
#include <stdbool.h>

#include "base/span.h"
#include "tool/tool.h"

struct loop_check;

/* Never NULL. */
struct loop_check *loop_check_new(void);
void loop_check_free(struct loop_check *check); /* NULL is fine */

/* A prompt of the user: what was said and called before it does not count any more. */
void loop_check_begin(struct loop_check *check);
/* A piece of a reply's text, of any length. */
void loop_check_text(struct loop_check *check, struct span piece);
/* A reply is over, or was taken back: its last line ends. */
void loop_check_text_end(struct loop_check *check);
/* `tool` may be NULL. */
void loop_check_call(struct loop_check *check, const struct tool *tool, const char *name,
                     const json_t *args, const json_t *result);

/* Borrowed; NULL: no circle. */
const char *loop_check_hit(const struct loop_check *check);
void loop_check_forgive(struct loop_check *check);

#endif
