/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments as the text that argsPattern sees. Private to this folder.
 *
 * Gemini CLI's: what JSON.stringify prints, names sorted, no blanks, and a NUL before and after
 * each member of the outermost object, so that a pattern can tell a member from text that looks
 * like one: {\0"command":"ls"\0,\0"dir_path":"src"\0}
 */
#ifndef HASP_POLICY_STABLE_H
#define HASP_POLICY_STABLE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"

/* False: deeper than JSON_DEPTH_MAX, or `out` overflowed. */
bool stable_json(struct buf *out, const json_t *value);
/* A string in it. */
void stable_string(struct buf *out, struct span text);

#endif
