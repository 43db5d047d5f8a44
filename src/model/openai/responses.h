/* SPDX-License-Identifier: Apache-2.0 */
/* Private between openai_responses*.c (provider.h says what each does). */
#ifndef HASP_MODEL_OPENAI_RESPONSES_H
#define HASP_MODEL_OPENAI_RESPONSES_H

#include "model/provider.h"

/* The items of "input". */
json_t *responses_input(const struct model_request *request, bool reasons);

void *responses_reader_new(struct reply_sink *sink);
bool responses_reader_event(void *reader, const struct sse_event *event,
                            enum wire_trouble *trouble, struct err *err);
bool responses_reader_end(void *reader, enum wire_trouble *trouble, struct err *err);
void responses_reader_free(void *reader);

#endif
