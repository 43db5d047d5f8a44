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

/* A call on its way, after validation. */
struct pending_call {
	const struct tool *tool;
	json_t *arguments;           /* owned by the caller; perhaps replaced */
	enum call_decision decision; /* with `decided` */
	bool decided;                /* the session has rules; else the tool's kind decides */
	bool modified;               /* by who was asked: `tool` and `arguments` are to be validated */
};

/* Adds what the tool's failures carry, if they carry anything. */
void explain_failure(struct session *session, const struct tool *tool, const json_t *arguments,
                     json_t *failure);

/* NULL: the call may run. Otherwise the result that it ends with. */
json_t *confirm_call(struct session *session, struct pending_call *call);
/* Binds an edit to the states it is planned on, without asking; a result if it cannot be made. */
json_t *plan_call(struct session *session, struct pending_call *call, json_t **ret_plan);

#endif
