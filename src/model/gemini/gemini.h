/* SPDX-License-Identifier: Apache-2.0 */
/* Private to model/: the pieces of Gemini's format (generateContent, v1beta).
 *
 * Source: https://ai.google.dev/api/generate-content, /api/tokens,
 * /gemini-api/docs/thought-signatures.
 */
#ifndef HASP_MODEL_GEMINI_GEMINI_H
#define HASP_MODEL_GEMINI_GEMINI_H

#include "model/provider.h"

enum gemini_family {
	GEMINI_OTHER, /* older, or no Gemini at all (Gemma): nothing is said about thinking */
	GEMINI_25_PRO,
	GEMINI_25_FLASH,
	GEMINI_25_FLASH_LITE,
	GEMINI_3_PRO,   /* 3 and later, and names without a number ("gemini-pro-latest") */
	GEMINI_3_FLASH,
};
/* Signs what it thought, and wants it back. */
static inline bool gemini_signs(enum gemini_family family)
{
	return family == GEMINI_3_PRO || family == GEMINI_3_FLASH;
}

/* provider.h says what each function does. */
bool gemini_build(const struct model_options *options, const struct model_request *request,
                  bool count_only, struct wire_request *ret, struct err *err);

/* Its reader of answers; provider.h says what each function does. */
void *gemini_reader_new(struct reply_sink *sink);
bool gemini_reader_event(void *reader, const struct sse_event *event, enum wire_trouble *trouble,
                         struct err *err);
bool gemini_reader_end(void *reader, enum wire_trouble *trouble, struct err *err);
void gemini_reader_free(void *reader);

/* Of an answer with an error status (provider.h, `error`). */
enum wire_trouble gemini_error(int status, const json_t *value, double *delay_s, struct err *err);

#endif
