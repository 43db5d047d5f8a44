/* SPDX-License-Identifier: Apache-2.0 */
/* The tool read_file, and what it has in common with read_many_files. */
#include <stdlib.h>

#include "base/mem.h"
#include "data/json.h"
#include "sandbox/plan/names.h"
#include "search/rules/glob.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/private.h"
#include "tool/answer.h"
#include "tool/history.h"
#include "tool/rebase.h"
/* ---- a file as a result ------------------------------------------------------ */

enum {
	LINE_CHARS_DEFAULT = 2000,
	ANSWER_OVERHEAD = 1500, /* bytes of an answer besides content */
};

/* How to go on after a read that did not return everything. */
static json_t *continuation(const struct read_request *request, const struct read_result *read)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2048);

	buf_printf(&text, "Shown: lines %zu-%zu of %zu.", read->first_line, read->last_line,
	           read->total_lines);
	if (read->next_line)
		buf_printf(&text, " To go on, call read_file with start_line %zu.",
		           read->next_line);
	if (read->cut_lines)
		buf_printf(&text, " %zu line%s longer than %zu characters %s cut; line %zu goes on "
		                  "with start_line %zu and start_column %zu.",
		           read->cut_lines,
		           read->cut_lines == 1 ? "" : "s",
		           request->max_line_chars ? request->max_line_chars :
		                                     (size_t)LINE_CHARS_DEFAULT,
		           read->cut_lines == 1 ? "is" : "are", read->cut_line, read->cut_line,
		           read->cut_column);
	buf_str(&text, " The sha256 is that of the whole file.");
	return json_text(buf_view(&text));
}

static void put_read_text(json_t *file, const struct read_request *request,
                          const struct read_result *read)
{
	json_object_set_new(file, "content", json_utf8(buf_view(&read->content)));
	json_object_set_new(file, "total_lines", json_size(read->total_lines));
	json_object_set_new(file, "start_line", json_size(read->first_line));
	json_object_set_new(file, "end_line", json_size(read->last_line));
	if (request->start_column > 1)
		json_object_set_new(file, "start_column", json_size(request->start_column));
	json_object_set_new(file, "truncated", json_boolean(read->truncated));
	if (read->next_line)
		json_object_set_new(file, "next_start_line", json_size(read->next_line));
	if (read->cut_line) {
		json_object_set_new(file, "cut_line", json_size(read->cut_line));
		json_object_set_new(file, "cut_column", json_size(read->cut_column));
	}
	json_object_set_new(file, "encoding", json_cstr(read->encoding));
	json_object_set_new(file, "line_endings", json_cstr(read->line_endings));
	json_object_set_new(file, "final_newline", json_boolean(read->final_newline));
	json_object_set_new(file, "size", json_size(read->state.size));
	if (read->truncated)
		json_object_set_new(file, "message", continuation(request, read));
}

static void put_read_derived(json_t *file, const struct read_request *request,
                             const struct read_result *read)
{
	struct err err = ERR_INIT;

	if (derived_put(file, request, read, &err))
		return;
	json_object_set_new(file, "content", json_cstr(""));
	json_object_set_new(file, "message", json_cstr(err.message));
}

static void put_read_media(json_t *file, const struct read_result *read)
{
	json_object_set_new(file, "content", json_cstr(""));
	json_object_set_new(file, "mime_type", json_cstr(read->mime_type));
	json_object_set_new(file, "data", json_base64(buf_view(&read->content)));
	json_object_set_new(file, "size", json_size(read->state.size));
}

/* All of it is in the conversation then, or some lines. */
static void take_for_seen(struct session *session, const struct read_request *request,
                          const struct read_result *read, uint64_t version, json_t *content)
{
	const struct seen_range range = { read->first_line, read->last_line };
	const bool from_start = read->first_line <= 1 && request->start_column <= 1;

	seen_meet(session, read->state.path, &read->state.sha256);
	if (!read->truncated && !read->cut_lines && from_start) {
		seen_read(session, read->state.path, &read->state.sha256, version, NULL, NULL);
		if (read->kind != READ_MEDIA && !request->encoding)
			rebase_keep(session, &read->state.sha256, content);
	} else if (!read->cut_lines && request->start_column <= 1 && range.first) {
		struct seen_state state;

		seen_read(session, read->state.path, &read->state.sha256, version, &range, content);
		/* The last of several parts. */
		if (seen_get(session, read->state.path, &state) && state.range_count == 1 &&
		    state.ranges[0].first == 1 && state.ranges[0].last >= read->total_lines)
			seen_read(session, read->state.path, &read->state.sha256, version, NULL,
			          NULL);
	}
}

json_t *read_files_result(struct session *session, const struct read_request *request,
                          const struct read_result *read)
{
	const uint64_t version = session_next_version(session);
	json_t *file = json_object();

	json_object_set_new(file, "success", json_true());
	json_object_set_new(file, "file_path", json_name(read->state.path));
	json_object_set_new(file, "version", json_size(version));
	json_object_set_new(file, "sha256", json_sha256(&read->state.sha256));
	history_showed(session, read->state.path, &read->state.sha256);
	switch (read->kind) {
	case READ_MEDIA:
		put_read_media(file, read);
		break;
	case READ_DERIVED:
		put_read_derived(file, request, read);
		seen_derive(session, read->state.path, &read->state.sha256, version);
		return file;
	case READ_TEXT:
		put_read_text(file, request, read);
		break;
	}
	take_for_seen(session, request, read, version, json_object_get(file, "content"));
	return file;
}

void read_files_add_state(struct session *session, const struct read_request *request,
                          const struct read_result *read, json_t *failure)
{
	const char *path = read->state.path ? read->state.path : request->path;

	json_object_set_new(failure, "file_path", json_name(path));
	if (!read->state.exists)
		return;
	json_object_set_new(failure, "version", json_size(session_next_version(session)));
	json_object_set_new(failure, "sha256", json_sha256(&read->state.sha256));
	json_object_set_new(failure, "size", json_size(read->state.size));
}

size_t read_files_room(const struct session *session)
{
	const size_t max = answer_bytes_max(session);

	return max > 2 * ANSWER_OVERHEAD ? max - ANSWER_OVERHEAD : max;
}

bool read_files_within(struct provider *reader, const struct read_request *request, size_t room,
                       struct read_result *read, struct err *err)
{
	struct read_request smaller = *request;
	size_t weight;

	while (room && read->kind != READ_MEDIA &&
	       (weight = answer_text_weight(buf_view(&read->content))) > room) {
		const size_t part = (size_t)((double)room * 0.9 / (double)weight *
		                             (double)read->content.len);

		if (read->last_line > read->first_line || read->kind == READ_DERIVED)
			smaller.max_bytes = part;
		else /* a character has one byte to four */
			smaller.max_line_chars = part / 4 + 1;
		read_result_release(read);
		*read = (struct read_result){ 0 };
		if (!provider_read(reader, &smaller, read, err))
			return false;
	}
	return true;
}

/* ---- read_file --------------------------------------------------------------- */

/* read_file: one file, or a range of its lines, with version and hash. */

static const char read_file_description[] =
	"Reads one file: its content, a version number unique in this session (higher is later) "
	"and the SHA-256 of the whole file. To change the file pass that as base_content_sha256 "
	"to safe_patch.\n\n"
	"Do not read a file again while you have its latest state: edits return the new one. "
	"Shows at most 2000 lines of 2000 characters; message says how to continue. PDF, office "
	"files and the like come as text, media as data.";

/* clang-format off */
static const char read_file_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["file_path"], "additionalProperties": false,
	"properties": { ) ARGUMENT_FILE_PATH SCHEMA(,
		"start_line": {"type": "integer", "minimum": 1, "description":
			"Counted from 1."},
		"start_column": {"type": "integer", "minimum": 1, "description":
			"Column in start_line."},
		"end_line": {"type": "integer", "minimum": 1, "description":
			"Included. Default: by max_lines."},
		"max_lines": {"type": "integer", "minimum": 1, "maximum": 10000000, "description":
			"Default 2000."},
		"max_line_chars": {"type": "integer", "minimum": 1, "maximum": 1000000000,
		                    "description":
			"Longer lines are cut to this many characters. Default 2000."},
		"encoding": {"type": "string", "description":
			"The file's encoding, if you know better than the detection."},
		"part": {"type": "string", "description":
			"Such as \"pages 3-5\", \"outline\"."}
	}
} );

static const char read_file_result_schema[] = SCHEMA(
{"type": "object", "oneOf": [ ) RESULT_FILE SCHEMA(, ) RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static const struct tool_alias read_file_parameter_aliases[] = {
	ALIASES_FILE_PATH,
	{ "offset", "start_line", 1 }, { "limit", "max_lines", 0 },
	{ NULL, NULL, 0 },
};

/* What is borrowed from the arguments and the session stays so. */
static struct read_request make_request(const struct session *session, const json_t *arguments)
{
	struct read_request request = {
		.path = argument_str(arguments, "file_path"),
		.start_line = argument_size(arguments, "start_line", 0),
		.start_column = argument_size(arguments, "start_column", 0),
		.end_line = argument_size(arguments, "end_line", 0),
		.max_lines = argument_size(arguments, "max_lines", session->read_max_lines),
		.max_line_chars = argument_size(arguments, "max_line_chars",
		                                session->read_max_line_chars),
		.max_bytes = read_files_room(session),
		.media = true,
		.at_once = session->hooks.not_at_once != NULL,
		.encoding = argument_str(arguments, "encoding"),
	};

	filter_heed(&request, &session->ignores);
	derived_ask(session, argument_str(arguments, "part"), &request);
	return request;
}

static void suggest_file(const struct session *session, const char *path, json_t *failure)
{
	_cleanup_buf_ struct buf message = BUF_INIT(1 << 16);

	buf_span(&message, json_span(json_object_get(failure, "message")));
	filter_suggest_file(session, path, &message);
	json_object_set_new(failure, "message", json_text(buf_view(&message)));
}

/* `ok`: the file was read. */
static json_t *make_result(struct session *session, const struct read_request *request, bool ok,
                           struct read_result *read, const struct err *err)
{
	json_t *result;

	if (ok) {
		result = read_files_result(session, request, read);
	} else {
		if (read->not_at_once && session->hooks.not_at_once)
			*session->hooks.not_at_once = true;
		result = tool_failure(err);
		read_files_add_state(session, request, read, result);
		if (err->code == ERR_FILE_NOT_FOUND)
			suggest_file(session, request->path, result);
	}
	read_result_release(read);
	return result;
}

static bool range_is_backwards(const struct read_request *request)
{
	return request->end_line && request->end_line < request->start_line;
}

static json_t *run_read_file(struct session *session, const json_t *arguments)
{
	struct read_request request = make_request(session, arguments);
	struct provider *reader = session_reader(session, request.path);
	struct read_result read = { 0 };
	struct err err = ERR_INIT;
	bool ok;

	if (range_is_backwards(&request)) {
		err_set(&err, ERR_INVALID_ARGUMENT, "end_line %zu is before start_line %zu.",
		        request.end_line, request.start_line);
		return tool_failure(&err);
	}
	ok = provider_read(reader, &request, &read, &err) &&
	     read_files_within(reader, &request, request.max_bytes, &read, &err);
	return make_result(session, &request, ok, &read, &err);
}

struct started_read {
	struct read_request request;
	struct read_result result;
	struct provider *reader;
	struct provider_request read; /* of the two above */
};

static void *read_file_begin(struct session *session, const json_t *arguments)
{
	struct started_read *started = mem_alloc(1, sizeof(*started));

	started->request = make_request(session, arguments);
	started->reader = session_reader(session, started->request.path);
	started->read = (struct provider_request){ .read = &started->request,
		                                   .read_result = &started->result };
	if (started->reader->ops->begin && !range_is_backwards(&started->request) &&
	    started->reader->ops->begin(started->reader, &started->read))
		return started;
	free(started);
	return NULL;
}

static json_t *read_file_end(struct session *session, const json_t *arguments, void *data)
{
	struct started_read *started = data;
	struct err err = ERR_INIT;
	bool ok = started->reader->ops->end(started->reader, &started->read, &err);
	json_t *result;

	ok = ok && read_files_within(started->reader, &started->request, started->request.max_bytes,
	                       &started->result, &err);
	result = make_result(session, &started->request, ok, &started->result, &err);

	(void)arguments;
	free(started);
	return result;
}

static const char *const read_file_undeclared[] = { "start_column", "max_line_chars", "encoding",
	                                          NULL };

const struct tool tool_read_file = {
	.info = &tool_infos[TOOL_READ_FILE],
	.name = "read_file",
	.title = "Read file",
	.rest = "Read it in parts, with start_line and max_lines.",
	.parameter_aliases = read_file_parameter_aliases,
	.description = read_file_description,
	.of_hashes = " To change the file pass that as base_content_sha256 to safe_patch.",
	.arguments_schema = read_file_arguments_schema,
	.undeclared = read_file_undeclared,
	.result_schema = read_file_result_schema,
	.run = run_read_file,
	.begin = read_file_begin,
	.end = read_file_end,
};
