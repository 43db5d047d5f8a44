/* SPDX-License-Identifier: Apache-2.0 */
/* read_file: one file, or a range of its lines, with version and hash. */
#include <stdlib.h>

#include "base/mem.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/file_result.h"
#include "tool/builtin/filter.h"

static const char description[] =
	"Reads one file: its content, a version number unique in this session (higher is "
	"later) and the SHA-256 of the whole file. To change the file pass that as "
	"base_content_sha256 to safe_patch.\n"
	"\n"
	"Do not read again what your context has: edits answer with the new state. At most "
	"2000 lines of 2000 characters come; truncated and message say how to go on. Images, "
	"audio, video and PDF come as data.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["file_path"], "additionalProperties": false,
	"properties": { ) ARGUMENT_FILE_PATH SCHEMA(,
		"start_line": {"type": "integer", "minimum": 1, "description":
			"First line to return, counted from 1. Default 1."},
		"end_line": {"type": "integer", "minimum": 1, "description":
			"Last line to return, included. Default: as many as max_lines allows."},
		"max_lines": {"type": "integer", "minimum": 1, "maximum": 10000000, "description":
			"Most lines to return. Default 2000."},
		"max_line_chars": {"type": "integer", "minimum": 1, "maximum": 1000000000, "description":
			"Longer lines are cut after so many characters. Default 2000."},
		"encoding": {"type": "string", "description":
			"The file's encoding, if you know better than the detection."}
	}
} );

static const char result_schema[] = SCHEMA(
{"type": "object", "oneOf": [ ) RESULT_FILE SCHEMA(, ) RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static const struct tool_alias parameter_aliases[] = {
	{ "absolute_path", "file_path", 0 }, { "path", "file_path", 0 },
	{ "offset", "start_line", 1 },       { "limit", "max_lines", 0 },
	{ NULL, NULL, 0 },
};

/* What is borrowed from the arguments and the session stays so. */
static struct read_request make_request(const struct session *session, const json_t *arguments)
{
	struct read_request request = {
		.path = argument_str(arguments, "file_path"),
		.start_line = argument_size(arguments, "start_line", 0),
		.end_line = argument_size(arguments, "end_line", 0),
		.max_lines = argument_size(arguments, "max_lines", session->read_max_lines),
		.max_line_chars = argument_size(arguments, "max_line_chars",
		                                session->read_max_line_chars),
		.media = true,
		.at_once = session->hooks.not_at_once != NULL,
		.encoding = argument_str(arguments, "encoding"),
	};

	filter_heed(&request, &session->ignores);
	return request;
}

/* `ok`: the file was read. */
static json_t *make_result(struct session *session, const struct read_request *request, bool ok,
                           struct read_result *read, const struct err *err)
{
	json_t *result;

	if (ok) {
		result = file_result(session, request, read);
	} else {
		if (read->not_at_once && session->hooks.not_at_once)
			*session->hooks.not_at_once = true;
		result = tool_failure(err);
		file_failure_state(session, request, read, result);
	}
	read_result_release(read);
	return result;
}

static bool range_is_backwards(const struct read_request *request)
{
	return request->end_line && request->end_line < request->start_line;
}

static json_t *run(struct session *session, const json_t *arguments)
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
	ok = reader->ops->read(reader, &request, &read, &err);
	return make_result(session, &request, ok, &read, &err);
}

struct begun {
	struct read_request request;
	struct provider *reader;
	struct read_begun *read;
};

static void *begin(struct session *session, const json_t *arguments)
{
	struct begun *begun = mem_alloc(1, sizeof(*begun));

	begun->request = make_request(session, arguments);
	begun->reader = session_reader(session, begun->request.path);
	if (begun->reader->ops->read_begin && !range_is_backwards(&begun->request) &&
	    begun->reader->ops->read_begin(begun->reader, &begun->request, &begun->read))
		return begun;
	free(begun);
	return NULL;
}

static json_t *end(struct session *session, const json_t *arguments, void *data)
{
	struct begun *begun = data;
	struct read_result read = { 0 };
	struct err err = ERR_INIT;
	bool ok = begun->reader->ops->read_end(begun->reader, begun->read, &read, &err);
	json_t *result = make_result(session, &begun->request, ok, &read, &err);

	(void)arguments;
	free(begun);
	return result;
}

static const char *const undeclared[] = { "max_line_chars", "encoding", NULL };

const struct tool tool_read_file = {
	.name = "read_file",
	.title = "Read file",
	.kind = TOOL_KIND_READ,
	.parameter_aliases = parameter_aliases,
	.description = description,
	.arguments_schema = arguments_schema,
	.undeclared = undeclared,
	.result_schema = result_schema,
	.run = run,
	.begin = begin,
	.end = end,
};
