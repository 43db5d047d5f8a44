/* SPDX-License-Identifier: Apache-2.0 */
/* Confirmation: somebody is asked before a tool changes something. Private to this folder.
 *
 * An editor is planned first (a dry run with a diff), so that the question shows what would
 * really happen.  The call that then runs names the state that each file of the plan had, and
 * the same change of the same bytes gives the same bytes: what was approved is written, or the
 * call fails with state_mismatch.  A plan that fails is the result, and nobody is asked.
 */
#ifndef HASP_TOOL_CONFIRM_H
#define HASP_TOOL_CONFIRM_H

#include "tool/tool.h"

/* NULL: the call may run, with *arguments (owned by the caller, and perhaps replaced).
 * Otherwise the result that it ends with. */
json_t *confirm_call(struct session *session, const struct tool *tool, json_t **arguments);

#endif
