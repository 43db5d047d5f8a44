/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of calls under the names that Gemini CLI gives them ("edit_no_occurrence_found").  Private to this
 * folder. */
#ifndef HASP_AGENT_CALL_ERROR_TYPE_H
#define HASP_AGENT_CALL_ERROR_TYPE_H

#include <jansson.h>

#include "base/err.h"
#include "tool/tool.h"

/* `result` is a failure; `tool` may be NULL. Never NULL. */
const char *error_type_of(const struct tool *tool, const json_t *result);
/* The code that a failed result names; ERR_INTERNAL when it names none of ours. */
enum err_code error_code_of(const json_t *result);
/* The sentence of a failed result; "" without. Borrowed. */
const char *error_message_of(const json_t *result);

#endif
