/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded conversation as a model: the provider "replay", with options.replay_file.
 *
 * The file has one answer a line, as record.h says: what hasp records with any provider, and what
 * gemini-cli --record-responses writes.  Requests get the lines in their order, whatever they ask:
 *
 *   - model_stream takes the next line whose method is generateContentStream or generateContent;
 *     lines of countTokens and embedContent before it are passed over
 *   - model_count_tokens takes the next line if it is one of countTokens; otherwise it estimates
 *
 * Blank lines do not count.  Nothing is asked of anybody, and no request is compared with the one
 * that was recorded.  Each struct model begins at the first line.
 *
 * Errors: FILE_NOT_FOUND and its like from model_open; MODEL_ERROR, with the number of the line,
 * when a line is not as it has to be, or when there is none left.
 */
#ifndef HASP_MODEL_REPLAY_H
#define HASP_MODEL_REPLAY_H

#include "model/provider.h"

extern const struct provider_format format_replay;

/* Puts the answer of one line (its value) into the sink. MODEL_ERROR: it is none. */
bool replay_answer(const json_t *line, struct reply_sink *sink, enum wire_trouble *trouble,
                   struct err *err);

#endif
