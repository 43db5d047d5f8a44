/* SPDX-License-Identifier: Apache-2.0 */
/* Private to model/: the pieces of Gemini's format (generateContent, v1beta).
 *
 * Source: https://ai.google.dev/api/generate-content, /api/tokens,
 * /gemini-api/docs/thought-signatures.
 */
#ifndef HASP_MODEL_GEMINI_GEMINI_H
#define HASP_MODEL_GEMINI_GEMINI_H

#include "model/provider.h"

extern const struct provider_reader gemini_reader;

/* Of an answer with an error status (provider.h, `error`). */
enum wire_trouble gemini_error(int status, const json_t *value, double *delay_s, struct err *err);

#endif
