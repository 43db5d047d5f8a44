/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the Messages API.
 */
#ifndef HASP_MODEL_ANTHROPIC_ANTHROPIC_H
#define HASP_MODEL_ANTHROPIC_ANTHROPIC_H

#include "model/provider.h"
#include "model/wire.h"

/* The reader of answers; provider.h says what each function does. */
void *anthropic_reader_new(struct reply_sink *sink);
bool anthropic_reader_event(void *reader, const struct sse_event *event, enum wire_trouble *trouble,
                            struct err *err);
bool anthropic_reader_end(void *reader, enum wire_trouble *trouble, struct err *err);
void anthropic_reader_free(void *reader);
/* Of an answer with an error status (provider.h, `error`), or, with 0, of an error in a stream. */
enum wire_trouble anthropic_error(int status, const json_t *value, double *delay_s,
                                  struct err *err);

#endif
