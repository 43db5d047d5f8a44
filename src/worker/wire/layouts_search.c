/* SPDX-License-Identifier: Apache-2.0 */
/* How walks and searches travel. */
#include "base/mem.h"
#include "worker/wire/message.h"

static const struct wire_field rules_fields[] = {
	WIRE_FIELD(BOOL, struct walk_rules, no_git_ignore, 0),
	WIRE_FIELD(BOOL, struct walk_rules, no_gemini_ignore, 0),
	WIRE_FIELD(BOOL, struct walk_rules, hidden_out, 0),
	WIRE_COUNTED(TEXTS, struct walk_rules, ignore_files, ignore_file_count, LIMIT_WIRE_TEXTS,
	             NULL),
};
static const struct wire_layout layout_rules = WIRE_LAYOUT("walk_rules", struct walk_rules,
                                                           rules_fields);

/* ---- walks ----------------------------------------------------------------- */

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

/* ---- searches -------------------------------------------------------------- */

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
	WIRE_FIELD(BOOL, struct search_line, begins, 0),
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
