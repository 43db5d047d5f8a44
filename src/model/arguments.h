/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the arguments of a call as models and servers write them.
 *
 * A call whose arguments cannot be read does not spoil the others of its reply: its part says so,
 * and who runs calls gives the sentence as its result (content.h: "repaired", "unreadable").
 */
#ifndef HASP_MODEL_ARGUMENTS_H
#define HASP_MODEL_ARGUMENTS_H

#include "model/provider.h"

/* The part of a call, for sink_call: a new reference.  `id` may be NULL.  Arguments that came as
 * text are JSON, or are made so (data/json_repair.h); nothing and null are {}.  `complete`: the
 * text is all that there was to come. */
json_t *arguments_part(struct reply_sink *sink, const char *id, const char *name,
                       struct span text, bool complete);
/* The same of complete arguments that came as a value (NULL: none): an object, or a text. */
json_t *arguments_part_of(struct reply_sink *sink, const char *id, const char *name,
                          const json_t *value);

/* Whether the text is an object as it is: nothing is missing at its end. */
bool arguments_are_whole(struct reply_sink *sink, struct span text);

#endif
