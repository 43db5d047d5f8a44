/* SPDX-License-Identifier: Apache-2.0 */
/* How reads and edits travel. */
#include "base/mem.h"
#include "worker/wire/message.h"

#define TEXT_MAX LIMIT_WIRE_FIELDS

extern const struct wire_layout wire_layout_error_denial; /* layouts_session.c */

static const char *const line_endings[] = { "none", "lf", "crlf", "mixed", NULL };

/* ---- reading --------------------------------------------------------------- */

static const struct wire_field read_fields[] = {
	WIRE_FIELD(TEXT, struct read_request, path, LIMIT_WIRE_PATH),
	WIRE_FIELD(U64, struct read_request, start_line, 0),
	WIRE_FIELD(U64, struct read_request, end_line, 0),
	WIRE_FIELD(U64, struct read_request, max_lines, 0),
	WIRE_FIELD(U64, struct read_request, max_line_chars, 0),
	WIRE_FIELD(U64, struct read_request, max_bytes, 0),
	WIRE_FIELD(U64, struct read_request, max_file_bytes, 0),
	WIRE_FIELD(BOOL, struct read_request, whole, 0),
	WIRE_FIELD(BOOL, struct read_request, media, 0),
	WIRE_FIELD(BOOL, struct read_request, raw, 0),
	WIRE_FIELD(BOOL, struct read_request, bytes, 0),
	WIRE_FIELD(BOOL, struct read_request, at_once, 0),
	WIRE_FIELD(TEXT_OR_NULL, struct read_request, encoding, LIMIT_WIRE_WORD),
	WIRE_FIELD(BOOL, struct read_request, resolve, 0),
	WIRE_FIELD(BOOL, struct read_request, gemini_ignore, 0),
	WIRE_COUNTED(TEXTS, struct read_request, ignore_files, ignore_file_count,
	             LIMIT_WIRE_PATH, NULL),
};
const struct wire_layout wire_layout_read = WIRE_LAYOUT("read", struct read_request, read_fields);

static const struct wire_field state_fields[] = {
	WIRE_FIELD(TEXT_OR_NULL, struct file_state, path, LIMIT_WIRE_PATH),
	WIRE_FIELD(BOOL, struct file_state, exists, 0),
	WIRE_FIELD(HASH, struct file_state, sha256, 0),
	WIRE_FIELD(U64, struct file_state, size, 0),
};
static const struct wire_layout layout_state = WIRE_LAYOUT("file_state", struct file_state,
                                                           state_fields);

static const struct wire_field read_result_fields[] = {
	WIRE_FIELD(ENUM, struct read_result, kind, READ_MEDIA + 1),
	WIRE_NESTED(STRUCT, struct read_result, state, layout_state),
	WIRE_FIELD(BLOB_BUF, struct read_result, content, 0),
	WIRE_FIELD(CHARS, struct read_result, mime_type, 0),
	WIRE_FIELD(CHARS, struct read_result, encoding, 0),
	WIRE_WORDS(struct read_result, line_endings, line_endings),
	WIRE_FIELD(BOOL, struct read_result, final_newline, 0),
	WIRE_FIELD(U64, struct read_result, total_lines, 0),
	WIRE_FIELD(U64, struct read_result, first_line, 0),
	WIRE_FIELD(U64, struct read_result, last_line, 0),
	WIRE_FIELD(U64, struct read_result, cut_lines, 0),
	WIRE_FIELD(BOOL, struct read_result, truncated, 0),
	WIRE_FIELD(U64, struct read_result, next_line, 0),
	WIRE_FIELD(BOOL, struct read_result, not_at_once, 0),
};
static const struct wire_layout layout_read_result =
	WIRE_LAYOUT("read_result", struct read_result, read_result_fields);

static const struct wire_field read_done_fields[] = {
	WIRE_NESTED(ERROR, struct wire_read_done, err, wire_layout_error_denial),
	WIRE_NESTED(STRUCT, struct wire_read_done, result, layout_read_result),
};
const struct wire_layout wire_layout_read_done =
	WIRE_LAYOUT("read_done", struct wire_read_done, read_done_fields);

/* ---- editing --------------------------------------------------------------- */

static const struct wire_field change_fields[] = {
	WIRE_FIELD(ENUM, struct change, kind, CHANGE_MOVE + 1),
	WIRE_FIELD(TEXT, struct change, path, LIMIT_WIRE_PATH),
	WIRE_FIELD(TEXT_OR_NULL, struct change, new_path, LIMIT_WIRE_PATH),
	WIRE_FIELD(HASH_OR_NULL, struct change, base, 0),
	WIRE_FIELD(BLOB_SPAN, struct change, text, 0),
	WIRE_FIELD(BLOB_SPAN, struct change, old_text, 0),
	WIRE_FIELD(U64, struct change, expected_count, 0),
	WIRE_FIELD(BOOL, struct change, any_count, 0),
	WIRE_FIELD(BOOL, struct change, exact_line_endings, 0),
	WIRE_FIELD(BOOL, struct change, bytes, 0),
	WIRE_FIELD(TEXT_OR_NULL, struct change, encoding, LIMIT_WIRE_WORD),
	WIRE_FIELD(HASH_OR_NULL, struct change, expect, 0),
	WIRE_FIELD(TEXT_OR_NULL, struct change, resolved, LIMIT_WIRE_PATH),
	WIRE_FIELD(TEXT_OR_NULL, struct change, new_resolved, LIMIT_WIRE_PATH),
};
static const struct wire_layout layout_change = WIRE_LAYOUT("change", struct change,
                                                            change_fields);

static const struct wire_field options_fields[] = {
	WIRE_FIELD(BOOL, struct edit_options, dry_run, 0),
	WIRE_FIELD(BOOL, struct edit_options, want_content, 0),
	WIRE_FIELD(BOOL, struct edit_options, want_diff, 0),
	WIRE_FIELD(BOOL, struct edit_options, no_make_folders, 0),
	WIRE_FIELD(U64, struct edit_options, max_file_bytes, 0),
	WIRE_FIELD(U32, struct edit_options, commit.busy_wait_ms, 0),
	WIRE_FIELD(U32, struct edit_options, commit.create_mode, 0),
};
static const struct wire_layout layout_options = WIRE_LAYOUT("edit_options", struct edit_options,
                                                             options_fields);

static const struct wire_field edit_fields[] = {
	WIRE_COUNTED(ARRAY, struct wire_edit, changes, count, LIMIT_CHANGES, &layout_change),
	WIRE_NESTED(STRUCT, struct wire_edit, options, layout_options),
};
const struct wire_layout wire_layout_edit = WIRE_LAYOUT("edit", struct wire_edit, edit_fields);

static const struct wire_field form_fields[] = {
	WIRE_FIELD(CHARS, struct text_form, encoding, 0),
	WIRE_WORDS(struct text_form, line_endings, line_endings),
};
static const struct wire_layout layout_form = WIRE_LAYOUT("text_form", struct text_form,
                                                          form_fields);

static const struct wire_field hunk_fields[] = {
	WIRE_FIELD(U64, struct patch_hunk_report, hunk, 0),
	WIRE_FIELD(U64, struct patch_hunk_report, stated_line, 0),
	WIRE_FIELD(U64, struct patch_hunk_report, line, 0),
	WIRE_FIELD(U64, struct patch_hunk_report, lines, 0),
	WIRE_FIELD(U64, struct patch_hunk_report, added, 0),
	WIRE_FIELD(U64, struct patch_hunk_report, removed, 0),
	WIRE_FIELD(ENUM, struct patch_hunk_report, match, PATCH_MATCH_COUNT),
	WIRE_FIELD(ENUM, struct patch_hunk_report, settled, PATCH_SETTLED_COUNT),
};
static const struct wire_layout layout_hunk = WIRE_LAYOUT("hunk", struct patch_hunk_report,
                                                          hunk_fields);

static const struct wire_field candidate_fields[] = {
	WIRE_FIELD(U64, struct patch_candidate, line, 0),
	WIRE_FIELD(U64, struct patch_candidate, lines_equal, 0),
};
static const struct wire_layout layout_candidate = WIRE_LAYOUT("candidate", struct patch_candidate,
                                                               candidate_fields);

static const struct wire_field failure_fields[] = {
	WIRE_FIELD(U64, struct patch_failure, hunk, 0),
	WIRE_FIELD(U64, struct patch_failure, hunk_count, 0),
	WIRE_FIELD(U64, struct patch_failure, stated_line, 0),
	WIRE_FIELD(U64, struct patch_failure, diff_line, 0),
	WIRE_FIELD(TEXT_OR_NULL, struct patch_failure, expected, TEXT_MAX),
	WIRE_FIELD(TEXT_OR_NULL, struct patch_failure, found, TEXT_MAX),
	WIRE_FIELD(U64, struct patch_failure, found_line, 0),
	WIRE_COUNTED(ARRAY_INLINE, struct patch_failure, candidates, candidate_count,
	             LIMIT_CANDIDATES, &layout_candidate),
	WIRE_FIELD(U64, struct patch_failure, candidates_total, 0),
};
static const struct wire_layout layout_failure = WIRE_LAYOUT("failure", struct patch_failure,
                                                             failure_fields);

static const struct wire_field result_fields[] = {
	WIRE_FIELD(BOOL, struct change_result, done, 0),
	WIRE_NESTED(ERROR, struct change_result, err, wire_layout_error_denial),
	WIRE_NESTED(STRUCT, struct change_result, before, layout_state),
	WIRE_NESTED(STRUCT, struct change_result, state, layout_state),
	WIRE_FIELD(BOOL, struct change_result, state_known, 0),
	WIRE_NESTED(STRUCT, struct change_result, before_form, layout_form),
	WIRE_NESTED(STRUCT, struct change_result, form, layout_form),
	WIRE_FIELD(BLOB_BUF, struct change_result, content, 0),
	WIRE_FIELD(BOOL, struct change_result, content_is_text, 0),
	WIRE_FIELD(BLOB_BUF, struct change_result, diff, 0),
	WIRE_FIELD(U64, struct change_result, lines_added, 0),
	WIRE_FIELD(U64, struct change_result, lines_removed, 0),
	WIRE_FIELD(BOOL, struct change_result, created, 0),
	WIRE_FIELD(U64, struct change_result, replaced, 0),
	WIRE_FIELD(U64S, struct change_result, match_lines, 0),
	WIRE_COUNTED(ARRAY, struct change_result, hunks, hunk_count, LIMIT_DIFF_HUNKS,
	             &layout_hunk),
	WIRE_NESTED(STRUCT, struct change_result, failure, layout_failure),
	WIRE_FIELD(CHARS, struct change_result, note, 0),
};
static const struct wire_layout layout_result = WIRE_LAYOUT("change_result", struct change_result,
                                                            result_fields);

static const struct wire_field edit_done_fields[] = {
	WIRE_NESTED(ERROR, struct wire_edit_done, err, wire_layout_error_denial),
	WIRE_COUNTED(ARRAY_INTO, struct wire_edit_done, results, count, LIMIT_CHANGES,
	             &layout_result),
};
const struct wire_layout wire_layout_edit_done =
	WIRE_LAYOUT("edit_done", struct wire_edit_done, edit_done_fields);

static const struct wire_field watch_fields[] = {
	WIRE_FIELD(TEXT, struct wire_watch, path, LIMIT_WIRE_PATH),
};
const struct wire_layout wire_layout_watch = WIRE_LAYOUT("watch", struct wire_watch, watch_fields);
