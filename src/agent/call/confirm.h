/* SPDX-License-Identifier: Apache-2.0 */
/* The question whether a call may run, and what follows from the answer.  Private to this folder.
 *
 * The outcomes are Gemini CLI's: proceed_once, proceed_always (for this session: the tool, of a command its
 * prefixes, of a server's tool that tool), proceed_always_tool, proceed_always_server,
 * proceed_always_and_save (a rule in a file, where that is permitted), modify_with_editor (newContent is
 * written instead), cancel.  An outcome that was not offered counts as cancel.
 *
 * One question at a time: the next call's is put when this one is answered, and only if "always" has not
 * answered it.  Nobody to ask means no.
 */
#ifndef HASP_AGENT_CALL_CONFIRM_H
#define HASP_AGENT_CALL_CONFIRM_H

#include "agent/call/call.h"

/* For struct call_hooks; `data` is the struct call. */
bool agent_confirm_ask(void *data, const struct tool_question *question, struct err *err);

#endif
