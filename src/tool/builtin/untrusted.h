/* SPDX-License-Identifier: Apache-2.0 */
/* Text that others wrote, marked as such for a model: between <untrusted_context> and its end. */
#ifndef HASP_TOOL_BUILTIN_UNTRUSTED_H
#define HASP_TOOL_BUILTIN_UNTRUSTED_H

#include <jansson.h>

#include "base/span.h"

/* A new reference. An end mark inside the text is spoiled. */
json_t *untrusted_json(struct span text);

#endif
