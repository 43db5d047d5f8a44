/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a message (content.h has their forms): made and read.
 *
 * Functions that return json_t * give a new reference, those that return const json_t * a borrowed
 * one.
 */
#ifndef HASP_MODEL_PART_H
#define HASP_MODEL_PART_H

#include <jansson.h>
#include <stdbool.h>

#include "base/span.h"

/* Members of a call's part that are no provider's: a sentence for the call's result about what was
 * repaired in its arguments, and one in the place of its result, for arguments that cannot be
 * read. */
#define PART_REPAIRED "repaired"
#define PART_UNREADABLE "unreadable"

/* {"text": ...} */
json_t *part_text(struct span text);
/* `id` may be NULL: the call has none. `args` that are no object become {}. */
json_t *part_call(const char *id, const char *name, const json_t *args);
json_t *part_response(const char *id, const char *name, json_t *response /* taken */);

/* Whether the part is marked as thought; its text is nothing that was said. */
bool part_is_thought(const json_t *part);
/* The functionCall / functionResponse / text of a part; NULL or empty if it is not one. */
const json_t *part_get_call(const json_t *part);
const json_t *part_get_response(const json_t *part);
struct span part_get_text(const json_t *part);              /* thoughts are not text */

#endif
