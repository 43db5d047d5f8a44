/* SPDX-License-Identifier: Apache-2.0 */
/* From a tool's result to the result of tools/call.
 *
 * The JSON is printed once: it is structuredContent as it stands, and the text of the first
 * content block with escapes (which the specification asks for, for older clients).  A list is
 * wrapped in an object, {"files": [...]}, because structuredContent is an object.  Media
 * (the member `data` of a file) leave the JSON and follow as blocks of their own: image, audio,
 * or an embedded resource.
 */
#ifndef HASP_MCP_OFFER_RESULT_H
#define HASP_MCP_OFFER_RESULT_H

#include "base/buf.h"
#include "mcp/offer/names.h"

/* The member that holds the elements of a result that is a list. */
#define RESULT_LIST "files"

/* Members of `_meta` of a result: the sandbox's level ("full", ...). */
#define RESULT_META_SANDBOX "hasp/sandbox"

/* `result` is borrowed, and changed on the way; `level` goes to its _meta (NULL: none). Its JSON
 * is printed to `raw` (empty, as large as `out`) first. False when it is larger than `out` can
 * be. Who keeps both for the next result saves getting the memory anew. */
bool result_print(json_t *result, const struct names *names, const char *level, struct buf *raw,
                  struct buf *out);

#endif
