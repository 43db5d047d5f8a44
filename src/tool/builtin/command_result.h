/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools for commands have in common: finding a job, and telling of it. */
#ifndef HASP_TOOL_BUILTIN_COMMAND_RESULT_H
#define HASP_TOOL_BUILTIN_COMMAND_RESULT_H

#include "tool/builtin/builtin.h"
#include "worker/job/job.h"

/* The job that the argument `pid` names, for the caller to release; NULL with *err set. */
struct job *command_result_job(struct session *session, const json_t *arguments, struct err *err);

/* Members of a result that say how a command stands: pid, state, exit_code, signal, ... */
void command_result_state(json_t *result, const struct job_info *info);

/* clang-format off */
#define RESULT_COMMAND_STATE SCHEMA( \
	"pid": {"type": "integer", "description": "What the other tools for commands call it."}, \
	"state": {"type": "string", "enum": ["running", "left_running", "ended"], "description": \
		"left_running: it has ended, processes that it started go on."}, \
	"process_group": {"type": "integer", "description": "As the command itself sees it."}, \
	"left_running": {"type": "integer", "description": "So many processes go on."}, \
	"exit_code": {"type": "integer"}, \
	"signal": {"type": "string", "description": "That ended it: SIGSEGV."}, \
	"ended_by": {"type": "string", "enum": \
		["timed_out", "inactive", "cancelled", "limit", "lost"], "description": \
		"Present when it did not end by itself."}, \
	"output_bytes": {"type": "integer"}, \
	"duration_ms": {"type": "integer"})

#define RESULT_DENIALS SCHEMA( \
	"denials": {"type": "array", "description": "What the sandbox refused.", \
		"items": ) RESULT_DENIAL SCHEMA(}, \
	"denials_left_out": {"type": "integer"}, \
	"hidden_paths": {"type": "array", "items": {"type": "string"}, "description": \
		"After a failure: what the sandbox hides from commands. Reading it is refused, \
and is not among the denials."}, \
	"hidden_paths_left_out": {"type": "integer"})

#define ARGUMENT_PID SCHEMA( \
	"pid": {"type": "integer", "minimum": 1, "description": \
		"From run_shell_command or list_background_processes."})
/* clang-format on */

#endif
