/* SPDX-License-Identifier: Apache-2.0 */
/* Private between openai_chat*.c: the reader (provider.h says what each function does). */
#ifndef HASP_MODEL_OPENAI_CHAT_H
#define HASP_MODEL_OPENAI_CHAT_H

#include "model/provider.h"

void *chat_reader_new(struct reply_sink *sink);
bool chat_reader_event(void *reader, const struct sse_event *event, enum wire_trouble *trouble,
                       struct err *err);
bool chat_reader_end(void *reader, enum wire_trouble *trouble, struct err *err);
void chat_reader_free(void *reader);

#endif
