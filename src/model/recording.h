/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of any provider, written so that a replay (and gemini-cli --fake-responses) can give
 * them again.
 *
 *     if (!recording_open(file, roots, trouble, data, &recording, &err)) ...  // at first
 *     options.recording = recording;       // of one model or several
 *     recording_close(recording);          // after them
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
#ifndef HASP_MODEL_RECORDING_H
#define HASP_MODEL_RECORDING_H

#include "model/model.h"

struct recording;

/* The file is appended to, and made (mode 0600) if it is not there. `trouble` (may be NULL) is
 * called, once, when an answer could not be written; none is from then on: a recording with a gap
 * would replay another conversation.  `roots`: the workspace's, as in door_open (base/door.h):
 * no link there is followed out of them. From any thread.  PERMISSION_DENIED, FILE_NOT_FOUND,
 * NOT_A_FILE, IO_ERROR, ... */
bool recording_open(const char *file, const char *const *roots,
                    void (*trouble)(void *data, const struct err *err), void *data,
                    struct recording **ret, struct err *err);
void recording_close(struct recording *recording); /* NULL is fine */

/* Private to this folder.  The line is written at once, whole or not at all. */
void recording_add(struct recording *recording, const struct model_reply *reply);

#endif
