/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments under the names that Gemini CLI's tools have for them, for rules and hooks written for it.
 * Private to agent/.
 *
 * To add one: a row in gemini_names.c.
 */
#ifndef HASP_AGENT_CALL_GEMINI_NAMES_H
#define HASP_AGENT_CALL_GEMINI_NAMES_H

#include "tool/tool.h"

/* `arguments` (canonical) with Gemini CLI's names instead of ours; NULL when none differs. */
json_t *gemini_arguments(const struct tool *tool, const json_t *arguments);
/* With both. A new reference. */
json_t *both_arguments(const struct tool *tool, const json_t *arguments);

#endif
