/* SPDX-License-Identifier: Apache-2.0 */
/* The messages: how what they say travels, what a worker promises beyond that, and the table of
 * them. */
#include "worker/wire/message.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"

/* ---- how the beginning of a connection, and what a plan says, travel ---- */

const struct wire_layout wire_layout_nothing = { .name = "nothing" };

static const struct wire_field error_denial_fields[] = {
	WIRE_FIELD(ENUM, struct err_denial, kind, DENIAL_KIND_COUNT),
	WIRE_FIELD(ENUM, struct err_denial, reason, SANDBOX_REASON_COUNT),
	WIRE_FIELD(ENUM, struct err_denial, level, SANDBOX_FULL + 1),
	WIRE_FIELD(CHARS, struct err_denial, what, 0),
	WIRE_FIELD(CHARS, struct err_denial, rule, 0),
};
const struct wire_layout wire_layout_error_denial =
	WIRE_LAYOUT("error_denial", struct err_denial, error_denial_fields);

static const struct wire_field error_fields[] = {
	WIRE_NESTED(ERROR, struct wire_error, err, wire_layout_error_denial),
};
const struct wire_layout wire_layout_error = WIRE_LAYOUT("error", struct wire_error, error_fields);

/* ---- the plan ---- */

static const struct wire_field rule_fields[] = {
	WIRE_FIELD(TEXT, struct sandbox_rule, path, LIMIT_WIRE_PATH),
	WIRE_FIELD(ENUM, struct sandbox_rule, access, SANDBOX_WRITE + 1),
	WIRE_FIELD(ENUM, struct sandbox_rule, reason, SANDBOX_REASON_COUNT),
	WIRE_FIELD(BOOL, struct sandbox_rule, folder, 0),
};
static const struct wire_layout layout_rule = WIRE_LAYOUT("sandbox_rule", struct sandbox_rule,
                                                          rule_fields);

static const struct wire_field absent_fields[] = {
	WIRE_FIELD(TEXT, struct sandbox_absent, path, LIMIT_WIRE_PATH),
	WIRE_FIELD(ENUM, struct sandbox_absent, reason, SANDBOX_REASON_COUNT),
};
static const struct wire_layout layout_absent = WIRE_LAYOUT("sandbox_absent",
                                                            struct sandbox_absent, absent_fields);

static const struct wire_field limits_fields[] = {
	WIRE_FIELD(U64, struct sandbox_limits, memory_bytes, 0),
	WIRE_FIELD(U64, struct sandbox_limits, file_bytes, 0),
	WIRE_FIELD(U32, struct sandbox_limits, processes, 0),
	WIRE_FIELD(U32, struct sandbox_limits, open_files, 0),
	WIRE_FIELD(U32, struct sandbox_limits, cpu_seconds, 0),
};
const struct wire_layout wire_layout_limits = WIRE_LAYOUT("sandbox_limits", struct sandbox_limits,
                                                          limits_fields);

static const struct wire_field pointer_fields[] = {
	WIRE_FIELD(ENUM, struct sandbox_pointer, kind, SANDBOX_POINTER_KINDS),
	WIRE_FIELD(TEXT, struct sandbox_pointer, path, LIMIT_WIRE_PATH),
	WIRE_FIELD(TEXT_OR_NULL, struct sandbox_pointer, value, LIMIT_WIRE_PATH),
};
static const struct wire_layout layout_pointer =
	WIRE_LAYOUT("sandbox_pointer", struct sandbox_pointer, pointer_fields);

static const struct wire_field plan_fields[] = {
	WIRE_FIELD(ENUM, struct sandbox_plan, level, SANDBOX_FULL + 1),
	WIRE_FIELD(ENUM, struct sandbox_plan, use, SANDBOX_USE_COMMAND + 1),
	WIRE_FIELD(BOOL, struct sandbox_plan, network, 0),
	WIRE_FIELD(BOOL, struct sandbox_plan, own_network, 0),
	WIRE_FIELD(BOOL, struct sandbox_plan, own_processes, 0),
	WIRE_FIELD(BOOL, struct sandbox_plan, user_namespace, 0),
	WIRE_FIELD(U32, struct sandbox_plan, landlock_abi, 0),
	WIRE_COUNTED(ARRAY, struct sandbox_plan, rules, rule_count, LIMIT_WIRE_TEXTS, &layout_rule),
	WIRE_COUNTED(ARRAY, struct sandbox_plan, absent, absent_count, LIMIT_WIRE_TEXTS,
	             &layout_absent),
	WIRE_COUNTED(ARRAY, struct sandbox_plan, pointers, pointer_count, LIMIT_WIRE_TEXTS,
	             &layout_pointer),
	WIRE_COUNTED(TEXTS, struct sandbox_plan, roots, root_count, LIMIT_WIRE_TEXTS, NULL),
	WIRE_COUNTED(TEXTS, struct sandbox_plan, given, given_count, LIMIT_WIRE_TEXTS, NULL),
	WIRE_COUNTED(TEXTS, struct sandbox_plan, syscalls, syscall_count, LIMIT_WIRE_TEXTS, NULL),
	WIRE_FIELD(TEXT_OR_NULL, struct sandbox_plan, temp, LIMIT_WIRE_PATH),
	WIRE_NESTED(STRUCT, struct sandbox_plan, limits, wire_layout_limits),
	WIRE_FIELD(TEXT_OR_NULL, struct sandbox_plan, weaker_because, LIMIT_WIRE_SENTENCE),
};
static const struct wire_layout layout_plan = WIRE_LAYOUT("sandbox_plan", struct sandbox_plan,
                                                          plan_fields);

/* ---- hello and welcome ---- */

static const struct wire_field hello_fields[] = {
	WIRE_COUNTED(TEXTS, struct wire_hello, options.roots, options.root_count, LIMIT_WIRE_TEXTS,
	             NULL),
	WIRE_COUNTED(TEXTS, struct wire_hello, options.root_names, options.root_name_count,
	             LIMIT_WIRE_TEXTS, NULL),
	WIRE_FIELD(TEXT_OR_NULL, struct wire_hello, options.journal_folder, LIMIT_WIRE_PATH),
	WIRE_FIELD(ENUM, struct wire_hello, options.durability, DURABILITY_RENAME + 1),
	WIRE_FIELD(U64, struct wire_hello, options.max_file_bytes, 0),
	WIRE_FIELD(BOOL, struct wire_hello, options.keep_cache, 0),
	WIRE_FIELD(BOOL, struct wire_hello, options.commands_only, 0),
	WIRE_FIELD(BOOL, struct wire_hello, options.level_given, 0),
	WIRE_FIELD(ENUM, struct wire_hello, options.level, SANDBOX_FULL + 1),
	WIRE_FIELD(BOOL, struct wire_hello, options.network, 0),
	WIRE_COUNTED(TEXTS, struct wire_hello, options.write, options.write_count,
	             LIMIT_WIRE_TEXTS, NULL),
	WIRE_COUNTED(TEXTS, struct wire_hello, options.read, options.read_count, LIMIT_WIRE_TEXTS,
	             NULL),
	WIRE_COUNTED(TEXTS, struct wire_hello, options.deny, options.deny_count, LIMIT_WIRE_TEXTS,
	             NULL),
	WIRE_COUNTED(TEXTS, struct wire_hello, options.keep, options.keep_count, LIMIT_WIRE_TEXTS,
	             NULL),
	WIRE_COUNTED(TEXTS, struct wire_hello, options.ask, options.ask_count, LIMIT_WIRE_TEXTS,
	             NULL),
	WIRE_COUNTED(TEXTS, struct wire_hello, options.voted, options.voted_count,
	             LIMIT_WIRE_TEXTS, NULL),
	WIRE_FIELD(BOOL, struct wire_hello, options.ask_refuses, 0),
	WIRE_COUNTED(TEXTS, struct wire_hello, options.syscalls, options.syscall_count,
	             LIMIT_WIRE_TEXTS, NULL),
	WIRE_NESTED(STRUCT, struct wire_hello, options.limits, wire_layout_limits),
	WIRE_NESTED(STRUCT_OR_NULL, struct wire_hello, plan, layout_plan),
};
const struct wire_layout wire_layout_hello = WIRE_LAYOUT("hello", struct wire_hello, hello_fields);

static const struct wire_field welcome_fields[] = {
	WIRE_COUNTED(TEXTS, struct wire_welcome, roots, root_count, LIMIT_WIRE_TEXTS, NULL),
	WIRE_FIELD(TEXT, struct wire_welcome, kind, LIMIT_WIRE_WORD),
	WIRE_FIELD(ENUM, struct wire_welcome, level, SANDBOX_FULL + 1),
	WIRE_FIELD(TEXT_OR_NULL, struct wire_welcome, weaker_because, LIMIT_WIRE_SENTENCE),
	WIRE_FIELD(U64, struct wire_welcome, recovered, 0),
};
const struct wire_layout wire_layout_welcome = WIRE_LAYOUT("welcome", struct wire_welcome,
                                                           welcome_fields);

/* ---- how reads and edits travel ---- */

#define TEXT_MAX LIMIT_WIRE_FIELDS

static const char *const line_endings[] = { "none", "lf", "crlf", "mixed", NULL };

/* ---- reading ---- */

static const struct wire_field read_fields[] = {
	WIRE_FIELD(TEXT, struct read_request, path, LIMIT_WIRE_PATH),
	WIRE_FIELD(U64, struct read_request, start_line, 0),
	WIRE_FIELD(U64, struct read_request, start_column, 0),
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
	WIRE_FIELD(ENUM, struct read_request, derive, READ_DERIVE_OFF + 1),
	WIRE_FIELD(TEXT_OR_NULL, struct read_request, part, LIMIT_WIRE_PATH),
	WIRE_FIELD(TEXT_OR_NULL, struct read_request, query, LIMIT_WIRE_PATH),
	WIRE_FIELD(TEXT_OR_NULL, struct read_request, sql, LIMIT_WIRE_PATH),
	WIRE_FIELD(U32, struct read_request, derive_ms, 0),
	WIRE_FIELD(U64, struct read_request, derive_memory, 0),
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
	WIRE_FIELD(ENUM, struct read_result, kind, READ_DERIVED + 1),
	WIRE_NESTED(STRUCT, struct read_result, state, layout_state),
	WIRE_FIELD(BLOB_BUF, struct read_result, content, 0),
	WIRE_FIELD(BLOB_BUF, struct read_result, derived, 0),
	WIRE_FIELD(CHARS, struct read_result, mime_type, 0),
	WIRE_FIELD(CHARS, struct read_result, encoding, 0),
	WIRE_WORDS(struct read_result, line_endings, line_endings),
	WIRE_FIELD(BOOL, struct read_result, final_newline, 0),
	WIRE_FIELD(U64, struct read_result, total_lines, 0),
	WIRE_FIELD(U64, struct read_result, first_line, 0),
	WIRE_FIELD(U64, struct read_result, last_line, 0),
	WIRE_FIELD(U64, struct read_result, cut_lines, 0),
	WIRE_FIELD(U64, struct read_result, cut_line, 0),
	WIRE_FIELD(U64, struct read_result, cut_column, 0),
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

/* ---- editing ---- */

static const struct wire_field change_fields[] = {
	WIRE_FIELD(ENUM, struct change, kind, CHANGE_DATA + 1),
	WIRE_FIELD(TEXT, struct change, path, LIMIT_WIRE_PATH),
	WIRE_FIELD(TEXT_OR_NULL, struct change, new_path, LIMIT_WIRE_PATH),
	WIRE_FIELD(HASH_OR_NULL, struct change, base, 0),
	WIRE_FIELD(BLOB_SPAN, struct change, text, 0),
	WIRE_FIELD(BLOB_SPAN, struct change, old_text, 0),
	WIRE_FIELD(U64, struct change, expected_count, 0),
	WIRE_FIELD(BOOL, struct change, any_count, 0),
	WIRE_FIELD(BOOL, struct change, exact_line_endings, 0),
	WIRE_FIELD(BOOL, struct change, literal, 0),
	WIRE_FIELD(BOOL, struct change, bytes, 0),
	WIRE_FIELD(TEXT_OR_NULL, struct change, encoding, LIMIT_WIRE_WORD),
	WIRE_FIELD(HASH_OR_NULL, struct change, expect, 0),
	WIRE_FIELD(HASH_OR_NULL, struct change, made, 0),
	WIRE_FIELD(TEXT_OR_NULL, struct change, resolved, LIMIT_WIRE_PATH),
	WIRE_FIELD(TEXT_OR_NULL, struct change, new_resolved, LIMIT_WIRE_PATH),
};
static const struct wire_layout layout_change = WIRE_LAYOUT("change", struct change,
                                                            change_fields);

static const struct wire_field options_fields[] = {
	WIRE_FIELD(BOOL, struct edit_options, dry_run, 0),
	WIRE_FIELD(BOOL, struct edit_options, want_content, 0),
	WIRE_FIELD(U64, struct edit_options, max_content_bytes, 0),
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

static const struct wire_field failed_hunk_fields[] = {
	WIRE_FIELD(U64, struct patch_failed_hunk, hunk, 0),
	WIRE_FIELD(ENUM, struct patch_failed_hunk, code, ERR_CODE_COUNT),
	WIRE_FIELD(U64, struct patch_failed_hunk, stated_line, 0),
	WIRE_FIELD(U64, struct patch_failed_hunk, diff_line, 0),
	WIRE_FIELD(TEXT_OR_NULL, struct patch_failed_hunk, expected, TEXT_MAX),
	WIRE_FIELD(TEXT_OR_NULL, struct patch_failed_hunk, found, TEXT_MAX),
	WIRE_FIELD(U64, struct patch_failed_hunk, found_line, 0),
	WIRE_FIELD(TEXT_OR_NULL, struct patch_failed_hunk, lines, TEXT_MAX),
	WIRE_FIELD(U64, struct patch_failed_hunk, lines_from, 0),
	WIRE_FIELD(U64, struct patch_failed_hunk, near_line, 0),
};
static const struct wire_layout layout_failed_hunk =
	WIRE_LAYOUT("failed_hunk", struct patch_failed_hunk, failed_hunk_fields);

static const struct wire_field failure_fields[] = {
	WIRE_FIELD(U64, struct patch_failure, hunk, 0),
	WIRE_FIELD(U64, struct patch_failure, hunk_count, 0),
	WIRE_FIELD(U64, struct patch_failure, stated_line, 0),
	WIRE_FIELD(U64, struct patch_failure, diff_line, 0),
	WIRE_FIELD(TEXT_OR_NULL, struct patch_failure, expected, TEXT_MAX),
	WIRE_FIELD(TEXT_OR_NULL, struct patch_failure, found, TEXT_MAX),
	WIRE_FIELD(U64, struct patch_failure, found_line, 0),
	WIRE_FIELD(TEXT_OR_NULL, struct patch_failure, lines, TEXT_MAX),
	WIRE_FIELD(U64, struct patch_failure, lines_from, 0),
	WIRE_COUNTED(ARRAY_INLINE, struct patch_failure, candidates, candidate_count,
	             LIMIT_CANDIDATES, &layout_candidate),
	WIRE_FIELD(U64, struct patch_failure, candidates_total, 0),
	WIRE_COUNTED(ARRAY_INLINE, struct patch_failure, failed, failed_count,
	             LIMIT_FAILED_HUNKS, &layout_failed_hunk),
	WIRE_FIELD(U64, struct patch_failure, failed_total, 0),
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
	WIRE_FIELD(BOOL, struct change_result, content_is_long, 0),
	WIRE_FIELD(U64, struct change_result, content_in, 0),
	WIRE_FIELD(BLOB_BUF, struct change_result, diff, 0),
	WIRE_FIELD(U64, struct change_result, lines_added, 0),
	WIRE_FIELD(U64, struct change_result, lines_removed, 0),
	WIRE_FIELD(BOOL, struct change_result, created, 0),
	WIRE_FIELD(BOOL, struct change_result, already, 0),
	WIRE_FIELD(U64, struct change_result, replaced, 0),
	WIRE_FIELD(U64S, struct change_result, match_lines, 0),
	WIRE_COUNTED(ARRAY, struct change_result, hunks, hunk_count, LIMIT_DIFF_HUNKS,
	             &layout_hunk),
	WIRE_NESTED(STRUCT, struct change_result, failure, layout_failure),
	WIRE_FIELD(BOOL, struct change_result, reread, 0),
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

/* ---- how walks and searches travel ---- */

static const struct wire_field rules_fields[] = {
	WIRE_FIELD(BOOL, struct walk_rules, no_git_ignore, 0),
	WIRE_FIELD(BOOL, struct walk_rules, no_gemini_ignore, 0),
	WIRE_FIELD(BOOL, struct walk_rules, hidden_out, 0),
	WIRE_COUNTED(TEXTS, struct walk_rules, ignore_files, ignore_file_count, LIMIT_WIRE_TEXTS,
	             NULL),
};
static const struct wire_layout layout_rules = WIRE_LAYOUT("walk_rules", struct walk_rules,
                                                           rules_fields);

/* ---- walks ---- */

static const struct wire_field walk_fields[] = {
	WIRE_FIELD(TEXT, struct walk_request, path, LIMIT_WIRE_PATH),
	WIRE_COUNTED(TEXTS, struct walk_request, include, include_count, LIMIT_WIRE_TEXTS, NULL),
	WIRE_COUNTED(TEXTS, struct walk_request, exclude, exclude_count, LIMIT_WIRE_TEXTS, NULL),
	WIRE_FIELD(BOOL, struct walk_request, recursive, 0),
	WIRE_NESTED(STRUCT, struct walk_request, rules, layout_rules),
	WIRE_FIELD(BOOL, struct walk_request, ignore_case, 0),
	WIRE_FIELD(U64, struct walk_request, max_entries, 0),
};
const struct wire_layout wire_layout_walk = WIRE_LAYOUT("walk", struct walk_request, walk_fields);

static const struct wire_field entry_fields[] = {
	WIRE_FIELD(TEXT, struct walk_entry, path, LIMIT_WIRE_PATH),
	WIRE_FIELD(ENUM, struct walk_entry, kind, ENTRY_OTHER + 1),
	WIRE_FIELD(U64, struct walk_entry, size, 0),
	WIRE_FIELD(I64, struct walk_entry, modified_ns, 0),
};
static const struct wire_layout layout_entry = WIRE_LAYOUT("walk_entry", struct walk_entry,
                                                           entry_fields);

static const struct wire_field walk_done_fields[] = {
	WIRE_FIELD(TEXT, struct walk_result, folder, LIMIT_WIRE_PATH),
	WIRE_COUNTED(ARRAY, struct walk_result, entries, count, LIMIT_FOLDER_ENTRIES,
	             &layout_entry),
	WIRE_FIELD(U64, struct walk_result, ignored, 0),
	WIRE_FIELD(BOOL, struct walk_result, more, 0),
};
const struct wire_layout wire_layout_walk_done = WIRE_LAYOUT("walk_done", struct walk_result,
                                                             walk_done_fields);

/* ---- searches ---- */

static const struct wire_field match_fields[] = {
	WIRE_FIELD(BYTES, struct matcher_options, pattern, LIMIT_WIRE_FIELDS),
	WIRE_FIELD(BOOL, struct matcher_options, literal, 0),
	WIRE_FIELD(ENUM, struct matcher_options, cases, CASE_IGNORE + 1),
	WIRE_FIELD(BOOL, struct matcher_options, whole_word, 0),
	WIRE_FIELD(BOOL, struct matcher_options, whole_line, 0),
	WIRE_FIELD(BOOL, struct matcher_options, multiline, 0),
	WIRE_FIELD(BOOL, struct matcher_options, no_shortcuts, 0),
};
static const struct wire_layout layout_match = WIRE_LAYOUT("matcher_options",
                                                           struct matcher_options, match_fields);

static const struct wire_field search_fields[] = {
	WIRE_FIELD(TEXT, struct search_request, path, LIMIT_WIRE_PATH),
	WIRE_NESTED(STRUCT, struct search_request, match, layout_match),
	WIRE_FIELD(ENUM, struct search_request, output, SEARCH_COUNTS + 1),
	WIRE_COUNTED(TEXTS, struct search_request, include, include_count, LIMIT_WIRE_TEXTS, NULL),
	WIRE_COUNTED(TEXTS, struct search_request, exclude, exclude_count, LIMIT_WIRE_TEXTS, NULL),
	WIRE_COUNTED(TEXTS, struct search_request, types, type_count, LIMIT_WIRE_TEXTS, NULL),
	WIRE_NESTED(STRUCT, struct search_request, rules, layout_rules),
	WIRE_FIELD(U64, struct search_request, before, 0),
	WIRE_FIELD(U64, struct search_request, after, 0),
	WIRE_FIELD(U64, struct search_request, max_matches, 0),
	WIRE_FIELD(U64, struct search_request, max_per_file, 0),
	WIRE_FIELD(U64, struct search_request, max_line_bytes, 0),
	WIRE_FIELD(U64, struct search_request, max_bytes, 0),
	WIRE_FIELD(U32, struct search_request, timeout_ms, 0),
	WIRE_FIELD(BOOL, struct search_request, hashes, 0),
	WIRE_FIELD(U32, struct search_request, threads, 0),
};
const struct wire_layout wire_layout_search = WIRE_LAYOUT("search", struct search_request,
                                                          search_fields);

static const struct wire_field line_fields[] = {
	WIRE_FIELD(U64, struct search_line, number, 0),
	WIRE_FIELD(LINE_TEXT, struct search_line, text, 0),
	WIRE_FIELD(U64, struct search_line, match_start, 0),
	WIRE_FIELD(U64, struct search_line, match_end, 0),
	WIRE_FIELD(BOOL, struct search_line, match, 0),
	WIRE_FIELD(BOOL, struct search_line, starts_match, 0),
	WIRE_FIELD(BOOL, struct search_line, cut, 0),
};
static const struct wire_layout layout_line = WIRE_LAYOUT("search_line", struct search_line,
                                                          line_fields);

static const struct wire_field file_fields[] = {
	WIRE_FIELD(TEXT, struct file_match, path, LIMIT_WIRE_PATH),
	WIRE_FIELD(U64, struct file_match, matches, 0),
	WIRE_COUNTED(LINES, struct file_match, lines, line_count, 1 << 28, &layout_line),
	WIRE_FIELD(BOOL, struct file_match, more, 0),
	WIRE_FIELD(HASH, struct file_match, sha256, 0),
	WIRE_FIELD(U64, struct file_match, size, 0),
	WIRE_FIELD(BOOL, struct file_match, hashed, 0),
};
static const struct wire_layout layout_file = WIRE_LAYOUT("file_match", struct file_match,
                                                          file_fields);

static const struct wire_field search_done_fields[] = {
	WIRE_FIELD(TEXT, struct search_result, folder, LIMIT_WIRE_PATH),
	WIRE_COUNTED(ARRAY, struct search_result, files, count, LIMIT_FOLDER_ENTRIES,
	             &layout_file),
	WIRE_FIELD(U64, struct search_result, matches, 0),
	WIRE_FIELD(BOOL, struct search_result, more, 0),
	WIRE_FIELD(BOOL, struct search_result, timed_out, 0),
	WIRE_FIELD(TEXT_OR_NULL, struct search_result, too_hard_path, LIMIT_WIRE_PATH),
	WIRE_FIELD(U64, struct search_result, searched, 0),
	WIRE_FIELD(U64, struct search_result, unreadable, 0),
	WIRE_FIELD(BOOL, struct search_result, from_cache, 0),
	WIRE_FIELD(BOOL, struct search_result, one_file, 0),
};
const struct wire_layout wire_layout_search_done =
	WIRE_LAYOUT("search_done", struct search_result, search_done_fields);

/* ---- how commands travel ---- */

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
	WIRE_FIELD(CHARS, struct denial, keys, 0),
	WIRE_FIELD(CHARS, struct denial, program, 0),
	WIRE_FIELD(I32, struct denial, pid, 0),
	WIRE_FIELD(U32, struct denial, count, 0),
};
const struct wire_layout wire_layout_run_denied = WIRE_LAYOUT("run_denied", struct denial,
                                                              denied_fields);

static const struct wire_field hidden_fields[] = {
	WIRE_COUNTED(TEXTS, struct run_hidden, paths, count, LIMIT_HIDDEN_REPORTED, NULL),
	WIRE_FIELD(U64, struct run_hidden, left_out, 0),
};
const struct wire_layout wire_layout_run_hidden = WIRE_LAYOUT("run_hidden", struct run_hidden,
                                                              hidden_fields);

static const struct wire_field secret_fields[] = {
	WIRE_FIELD(BOOL, struct wire_run_secret, secret, 0),
};
const struct wire_layout wire_layout_run_secret = WIRE_LAYOUT("run_secret", struct wire_run_secret,
                                                              secret_fields);

static const struct wire_field config_fields[] = {
	WIRE_FIELD(TEXT, struct wire_run_config, path, LIMIT_WIRE_PATH),
};
const struct wire_layout wire_layout_run_config = WIRE_LAYOUT("run_config", struct wire_run_config,
                                                              config_fields);

static const struct wire_field config_done_fields[] = {
	WIRE_FIELD(BOOL, struct wire_run_config_done, done, 0),
};
const struct wire_layout wire_layout_run_config_done =
	WIRE_LAYOUT("run_config_done", struct wire_run_config_done, config_done_fields);

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

/* ---- what a worker promises beyond what its message's layout says ---- */

static bool is_absolute(const char *path)
{
	return path && path[0] == '/';
}

/* Relative, beneath: no empty path, no "..", nothing absolute. */
static bool is_relative_beneath(const char *path)
{
	if (!path[0] || path[0] == '/')
		return false;
	for (const char *at = path; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (at[0] == '.' && at[1] == '.' && (at[2] == '/' || !at[2]))
			return false;
	}
	return true;
}

static bool is_text(const struct buf *text)
{
	return utf8_valid(buf_view(text));
}

static bool names_place(const struct file_state *state)
{
	return !state->path || is_absolute(state->path);
}

const char *wire_check_welcome(const struct wire_welcome *welcome)
{
	if (!welcome->root_count)
		return "it opens no root";
	for (size_t i = 0; i < welcome->root_count; i++)
		if (!is_absolute(welcome->roots[i]))
			return "a root is not absolute";
	return NULL;
}

const char *wire_check_read(const struct read_request *request, const struct wire_read_done *done)
{
	const struct read_result *result = &done->result;
	bool ok = done->err.code == ERR_NONE;

	if (!names_place(&result->state) || (ok && !result->state.path))
		return "a file without its place";
	if (ok && result->not_at_once)
		return "a file that was read, and was not";
	if (!ok)
		return NULL;
	if (result->kind == READ_MEDIA && !request->media && !request->raw && !request->bytes)
		return "a medium that was not asked for";
	if (result->kind != READ_MEDIA && request->bytes)
		return "text where bytes were asked for";
	if (result->kind == READ_DERIVED && !request->derive)
		return "a derived text that was not asked for";
	if (result->kind == READ_MEDIA)
		return NULL;
	if (!is_text(&result->content) || !is_text(&result->derived))
		return "text that is not UTF-8";
	if (!result->line_endings)
		return "text without line endings";
	if (result->first_line > result->last_line || result->last_line > result->total_lines)
		return "lines that are not there";
	return NULL;
}

static const char *check_result(const struct change_result *result)
{
	if (!names_place(&result->before) || !names_place(&result->state))
		return "a changed file without its place";
	if (result->done != (result->err.code == ERR_NONE))
		return "a change that was made, and was not";
	if ((result->content_is_text && !is_text(&result->content)) || !is_text(&result->diff))
		return "text that is not UTF-8";
	if (result->state_known && !result->state.path)
		return "a known file without its place";
	return NULL;
}

const char *wire_check_edit(const struct wire_edit_done *done)
{
	bool all = true;

	for (size_t i = 0; i < done->count; i++) {
		const char *problem = check_result(&done->results[i]);

		if (problem)
			return problem;
		all &= done->results[i].done;
	}
	return all || done->err.code != ERR_NONE ? NULL : "a failed change, but no error";
}

const char *wire_check_walk(const struct walk_request *request, const struct walk_result *result)
{
	if (!is_absolute(result->folder))
		return "a folder without its place";
	for (size_t i = 0; i < result->count; i++) {
		const char *path = result->entries[i].path;

		if (!is_relative_beneath(path) || (!request->recursive && strchr(path, '/')))
			return "an entry outside its folder";
		if (request->recursive && i && strcmp(result->entries[i - 1].path, path) >= 0)
			return "entries out of order";
	}
	return NULL;
}

static const char *check_lines(const struct file_match *file)
{
	size_t before = 0;

	for (size_t i = 0; i < file->line_count; i++) {
		const struct search_line *line = &file->lines[i];

		if (line->number <= before)
			return "lines out of order";
		if (line->match_start > line->match_end || line->match_end > line->text.len)
			return "a match outside its line";
		if (!utf8_valid(line->text))
			return "text that is not UTF-8";
		before = line->number;
	}
	return NULL;
}

const char *wire_check_search(const struct search_request *request,
                              const struct search_result *result)
{
	if (!is_absolute(result->folder))
		return "a folder without its place";
	if (result->one_file && result->count > 1)
		return "several files, where one was searched";
	for (size_t i = 0; i < result->count; i++) {
		const struct file_match *file = &result->files[i];
		const char *problem = check_lines(file);

		if (problem)
			return problem;
		if (!is_relative_beneath(file->path))
			return "a file outside the folder";
		if (i && strcmp(result->files[i - 1].path, file->path) >= 0)
			return "files out of order";
		if (request->output != SEARCH_LINES && file->line_count)
			return "lines that were not asked for";
	}
	return NULL;
}

/* ---- the table of messages ---- */

static const struct wire_message messages[] = {
#define MESSAGE(name, number, direction, when, fields, blob, layout, text)                  \
	{ #name, number, WIRE_##direction, WIRE_WHEN_##when, fields, blob,                  \
	  &wire_layout_##layout, text },
	WIRE_MESSAGES(MESSAGE)
#undef MESSAGE
};

const struct wire_message *wire_message_find(unsigned number)
{
	for (size_t i = 0; i < ARRAY_LEN(messages); i++)
		if (messages[i].number == number)
			return &messages[i];
	return NULL;
}

void wire_encode_message(struct wire_out *out, enum wire_type type, const void *body)
{
	if (body)
		wire_encode(out, wire_message_find(type)->layout, body);
}

const struct wire_message *wire_message_at(size_t i)
{
	return i < ARRAY_LEN(messages) ? &messages[i] : NULL;
}

void wire_welcome_release(struct wire_welcome *welcome)
{
	for (size_t i = 0; i < welcome->root_count; i++)
		free(welcome->roots[i]);
	free(welcome->roots);
	free(welcome->kind);
	free(welcome->weaker_because);
	*welcome = (struct wire_welcome){ 0 };
}
