/* SPDX-License-Identifier: Apache-2.0 */
/* What users of Gemini CLI have set up and hasp does not do yet: MCP servers, extensions, skills, agents, custom
 * commands.  A run that meets such a thing says so; a prompt that is such a command is refused.
 *
 * Not here: settings without effect ("hasp config", docs/settings.md).
 */
#ifndef HASP_AGENT_SETUP_UNSUPPORTED_H
#define HASP_AGENT_SETUP_UNSUPPORTED_H

#include "base/buf.h"
#include "config/settings.h"

/* One sentence that names all there is, a few of each kind; NULL: there is nothing. The caller frees. A project's
 * own count in a trusted folder. */
char *unsupported_sentence(const struct settings *settings);

/* Whether a prompt can be sent. INVALID_ARGUMENT: it begins with /NAME, and that is no path: a command, which
 * hasp has none of.  "//NAME" is text: *ret_skip is 1 then, the bytes to leave out, else 0. */
bool unsupported_prompt(const struct settings *settings, struct span prompt, size_t *ret_skip,
                        struct err *err);

#endif
