/* SPDX-License-Identifier: Apache-2.0 */
/* How commands travel. */
#include "base/mem.h"
#include "worker/wire/message.h"

extern const struct wire_layout wire_layout_limits; /* layouts_session.c */

static const struct wire_field run_fields[] = {
	WIRE_LIST(TEXTS, struct run_request, argv, LIMIT_WIRE_TEXTS),
	WIRE_FIELD(TEXT_OR_NULL, struct run_request, folder, LIMIT_WIRE_PATH),
	WIRE_LIST(TEXTS_OR_NULL, struct run_request, env, LIMIT_WIRE_TEXTS),
	WIRE_FIELD(BOOL, struct run_request, pty, 0),
	WIRE_FIELD(BOOL, struct run_request, merge, 0),
	WIRE_FIELD(U32, struct run_request, rows, 0),
	WIRE_FIELD(U32, struct run_request, columns, 0),
	WIRE_FIELD(BOOL, struct run_request, no_input, 0),
	WIRE_FIELD(U32, struct run_request, timeout_ms, 0),
	WIRE_FIELD(U32, struct run_request, inactivity_ms, 0),
	WIRE_FIELD(BOOL, struct run_request, leave_running, 0),
	WIRE_FIELD(BOOL, struct run_request, network, 0),
	WIRE_COUNTED(TEXTS, struct run_request, write, write_count, LIMIT_WIRE_TEXTS, NULL),
	WIRE_COUNTED(TEXTS, struct run_request, read, read_count, LIMIT_WIRE_TEXTS, NULL),
	WIRE_NESTED(STRUCT, struct run_request, limits, wire_layout_limits),
};
const struct wire_layout wire_layout_run = WIRE_LAYOUT("run", struct run_request, run_fields);

static const struct wire_field started_fields[] = {
	WIRE_FIELD(I32, struct wire_run_started, pid, 0),
};
const struct wire_layout wire_layout_run_started =
	WIRE_LAYOUT("run_started", struct wire_run_started, started_fields);

static const struct wire_field output_fields[] = {
	WIRE_FIELD(ENUM, struct wire_run_output, stream, RUN_STDERR + 1),
	WIRE_FIELD(BYTES, struct wire_run_output, bytes, 128 << 10),
};
const struct wire_layout wire_layout_run_output =
	WIRE_LAYOUT("run_output", struct wire_run_output, output_fields);

static const struct wire_field denied_fields[] = {
	WIRE_FIELD(ENUM, struct denial, kind, DENIAL_KIND_COUNT),
	WIRE_FIELD(ENUM, struct denial, reason, SANDBOX_REASON_COUNT),
	WIRE_FIELD(ENUM, struct denial, level, SANDBOX_FULL + 1),
	WIRE_FIELD(CHARS, struct denial, what, 0),
	WIRE_FIELD(CHARS, struct denial, rule, 0),
	WIRE_FIELD(CHARS, struct denial, program, 0),
	WIRE_FIELD(I32, struct denial, pid, 0),
	WIRE_FIELD(U32, struct denial, count, 0),
};
const struct wire_layout wire_layout_run_denied = WIRE_LAYOUT("run_denied", struct denial,
                                                              denied_fields);

static const struct wire_field hidden_fields[] = {
	WIRE_COUNTED(TEXTS, struct run_hidden, paths, count, LIMIT_HIDDEN_TOLD, NULL),
	WIRE_FIELD(U64, struct run_hidden, left_out, 0),
};
const struct wire_layout wire_layout_run_hidden = WIRE_LAYOUT("run_hidden", struct run_hidden,
                                                              hidden_fields);

static const struct wire_field end_fields[] = {
	WIRE_FIELD(ENUM, struct run_end, why, RUN_LOST + 1),
	WIRE_FIELD(I32, struct run_end, exit_code, 0),
	WIRE_FIELD(I32, struct run_end, signal, 0),
	WIRE_FIELD(U32, struct run_end, left_running, 0),
	WIRE_FIELD(U64, struct run_end, wall_ms, 0),
	WIRE_FIELD(U64, struct run_end, cpu_ms, 0),
	WIRE_FIELD(U64, struct run_end, peak_memory_bytes, 0),
};
const struct wire_layout wire_layout_run_end = WIRE_LAYOUT("run_end", struct run_end, end_fields);

static const struct wire_field input_fields[] = {
	WIRE_FIELD(BYTES, struct wire_run_input, bytes, 128 << 10),
};
const struct wire_layout wire_layout_run_input = WIRE_LAYOUT("run_input", struct wire_run_input,
                                                             input_fields);

static const struct wire_field resize_fields[] = {
	WIRE_FIELD(U32, struct wire_run_resize, rows, 0),
	WIRE_FIELD(U32, struct wire_run_resize, columns, 0),
};
const struct wire_layout wire_layout_run_resize = WIRE_LAYOUT("run_resize", struct wire_run_resize,
                                                              resize_fields);

static const struct wire_field signal_fields[] = {
	WIRE_FIELD(I32, struct wire_run_signal, signal, 0),
};
const struct wire_layout wire_layout_run_signal = WIRE_LAYOUT("run_signal", struct wire_run_signal,
                                                              signal_fields);

static const struct wire_field taken_fields[] = {
	WIRE_FIELD(U64, struct wire_run_taken, bytes, 0),
};
const struct wire_layout wire_layout_run_taken = WIRE_LAYOUT("run_taken", struct wire_run_taken,
                                                             taken_fields);
