/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: answers of any provider, written so that replay.c (and gemini-cli
 * --fake-responses) can give them again.
 *
 * One line of JSON for each answer, in Gemini CLI's form:
 *
 *     {"method": "generateContentStream", "response": [{
 *         "candidates": [{"content": {"role": "model", "parts": [...]}, "finishReason": "STOP",
 *                         "index": 0, "groundingMetadata"?: {...}}],
 *         "usageMetadata": {"promptTokenCount", ...},
 *         "hasp": {"model": "anthropic/...", "finish": "tools", "word": "tool_use",
 *                  "cacheWritten": 0}}]}
 *
 * The parts are those of content.h, with "opaque" and "thoughtSignature"; "hasp" has what Gemini's
 * form has no member for.
 */
#ifndef HASP_MODEL_RECORD_H
#define HASP_MODEL_RECORD_H

#include "model/model.h"

/* Appends the answer to the file, which is made (mode 0600) if it is not there.  The line is
 * written at once. IO_ERROR, DISK_FULL, PERMISSION_DENIED, ...: it could not be written. */
bool record_reply(const char *file, const struct model_reply *reply, struct err *err);

/* The line as a value. */
json_t *record_line(const struct model_reply *reply);

#endif
