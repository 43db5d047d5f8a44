/* SPDX-License-Identifier: Apache-2.0 */
/* query_data: the structure of a data file, what a jq expression makes of it, rows of a
 * database. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "read/read.h"
#include "tool/answer.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/private.h"
#include "tool/history.h"

static const char query_data_description[] =
	"Queries a data file without reading all of it: JSON, JSON Lines, YAML, TOML, XML, CSV, "
	"TSV, INI and properties by a jq expression (query), an SQLite database by SQL that only "
	"reads (sql). Without either it shows the structure: paths, types, counts, examples.\n\n"
	"Of JSON Lines, each line is one input (`inputs` are the rest). CSV rows are "
	"objects of strings; XML elements are keys, attributes \"@name\", text \"#text\". A large "
	"JSON array is read element by element if the expression begins with `.[] |`.";

/* clang-format off */
static const char query_data_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["file_path"], "additionalProperties": false,
	"properties": { ) ARGUMENT_FILE_PATH SCHEMA(,
		"query": {"type": "string", "maxLength": 65536, "description":
			"A jq expression, as .services[] | select(.port > 80) | .name"},
		"sql": {"type": "string", "maxLength": 65536, "description":
			"One SELECT, for SQLite."},
		"structure": {"type": "boolean", "description":
			"Show the structure of the query's results instead of them."},
		"offset": {"type": "integer", "minimum": 0, "maximum": 1000000000, "description":
			"Results to skip."},
		"max_results": {"type": "integer", "minimum": 1, "maximum": 10000, "description":
			"Default 100."}
	}
} );

static const char query_data_result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "file_path", "version", "sha256"],
	 "additionalProperties": false, "properties": {
		"success": {"const": true},
		"file_path": {"type": "string"}, )
		RESULT_VERSION SCHEMA(,
		"structure": {"type": "string", "description": "A line for each path."},
		"columns": {"type": "array", "items": {"type": "string"}, "description":
			"Of SQL: each result is an array of their values."},
		"results": {"type": "array", "description": "In their order."},
		"beginning": {"type": "string", "description":
			"The start of a result that is too long."},
		"total": {"type": "integer", "description": "Results in all, if counted."},
		"truncated": {"type": "boolean"},
		"next_offset": {"type": "integer", "description": "Where to go on (offset)."},
		"errors": {"type": "array", "items": {"type": "string"}, "description":
			"Values for which the expression failed, or where the file is damaged."},
		"notes": {"type": "array", "items": {"type": "string"}},
		"message": {"type": "string"}}}, )
	RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static const struct tool_alias query_data_aliases[] = {
	ALIASES_FILE_PATH,
	{ "expression", "query", 0 }, { "jq", "query", 0 }, { "filter", "query", 0 },
	{ "jq_filter", "query", 0 }, { "limit", "max_results", 0 }, { "outline", "structure", 0 },
	{ NULL, NULL, 0 },
};

enum {
	STRUCTURE_BYTES = 8 << 10, /* of one answer */
	RESULTS_BYTES = 24 << 10,  /* likewise, unless max_results asks for more */
	RESULT_DEPTH = 150,        /* deeper results are shown as text */
	ANSWER_ROOM = 1500,        /* of an answer besides results */
};

/* What a call asks for. */
struct query_call {
	const char *query, *sql; /* borrowed; `query` "": the structure */
	size_t offset, most;
	bool structure;
};

/* ---- the answer -------------------------------------------------------------------------- */

static json_t *query_result(struct span line)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;
	bool lone = false;

	if (!json_parse_lenient(line, RESULT_DEPTH, &value, &lone, &err))
		return json_text(line);
	if (lone) {
		json_t *whole = json_whole(value);

		json_decref(value);
		return whole;
	}
	return value;
}

static json_t *query_results(struct span text)
{
	json_t *results = json_array();
	struct span line;

	while (line_next(&text, &line))
		json_array_append_new(results, query_result(line_body(line)));
	return results;
}

static void query_put_message(json_t *answer, const struct query_call *call, size_t given,
                        const struct derive_result *derived)
{
	const json_t *total = json_object_get(derived->facts, "total"),
	             *cut = json_object_get(derived->facts, "cut_bytes");
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 10);

	if (call->structure)
		buf_str(&text, "Paths were left out: ask for the structure of a part, with query "
		               "and structure.");
	else if (cut)
		buf_printf(&text, "Result %zu has %" PRIi64 " bytes: ask for a part of it, or for "
		                  "its structure (structure: true).", call->offset + 1,
		           (int64_t)json_integer_value(cut));
	else if (total)
		buf_printf(&text, "Shown: results %zu-%zu of %" PRIi64 ". Go on with offset, or "
		                  "narrow the query.", call->offset + 1, call->offset + given,
		           (int64_t)json_integer_value(total));
	else
		buf_printf(&text, "Shown: results %zu-%zu of more than were counted. Go on with "
		                  "offset, or narrow the query.", call->offset + 1,
		           call->offset + given);
	json_object_set_new(answer, "message", json_text(buf_view(&text)));
}

static void copy_fact(json_t *answer, const struct derive_result *derived, const char *name)
{
	json_t *value = json_object_get(derived->facts, name);

	if (value)
		json_object_set(answer, name, value);
}

static void query_put_answer(json_t *answer, const struct query_call *call, struct span text,
                       const struct derive_result *derived)
{
	size_t given = 0;

	copy_fact(answer, derived, "columns");
	if (call->structure) {
		json_object_set_new(answer, "structure", json_text(text));
	} else if (json_object_get(derived->facts, "cut_bytes")) {
		json_object_set_new(answer, "results", json_array());
		json_object_set_new(answer, "beginning", json_text(text));
	} else {
		json_t *results = query_results(text);

		given = json_array_size(results);
		json_object_set_new(answer, "results", results);
		copy_fact(answer, derived, "total");
	}
	json_object_set_new(answer, "truncated", json_boolean(derived->truncated));
	if (derived->truncated && derived->next[0])
		json_object_set_new(answer, "next_offset",
		                    json_integer(strtoll(derived->next, NULL, 10) - 1));
	copy_fact(answer, derived, "errors");
	copy_fact(answer, derived, "notes");
	if (derived->truncated)
		query_put_message(answer, call, given, derived);
}

static json_t *query_answer(struct session *session, const struct query_call *call,
                            const struct read_result *read)
{
	_cleanup_derive_result_ struct derive_result derived = { 0 };
	struct err err = ERR_INIT;
	json_t *answer;

	if (read->kind != READ_DERIVED)
		err_set(&err, ERR_TOOL_FAILED,
		        "The worker cannot query data; it is an older hasp.");
	else
		derive_result_parse(buf_view(&read->derived), &derived, &err);
	if (err.code != ERR_NONE)
		return tool_failure(&err);
	answer = json_object();
	json_object_set_new(answer, "success", json_true());
	json_object_set_new(answer, "file_path", json_name(read->state.path));
	json_object_set_new(answer, "version", json_size(session_next_version(session)));
	json_object_set_new(answer, "sha256", json_sha256(&read->state.sha256));
	history_showed(session, read->state.path, &read->state.sha256);
	seen_meet(session, read->state.path, &read->state.sha256);
	query_put_answer(answer, call, buf_view(&read->content), &derived);
	return answer;
}

/* ---- the call ---------------------------------------------------------------------------- */

static size_t query_room(const struct session *session, const json_t *arguments,
                         const struct query_call *call)
{
	const size_t max = answer_bytes_max(session);
	const size_t room = max > 2 * ANSWER_ROOM ? max - ANSWER_ROOM : max;
	const size_t usual = call->structure ? STRUCTURE_BYTES : RESULTS_BYTES;

	if (json_object_get(arguments, "max_results"))
		return room;
	return room && room < usual ? room : usual;
}

static json_t *run_query_data(struct session *session, const json_t *arguments)
{
	const char *query = argument_str(arguments, "query");
	struct query_call call = {
		.query = query ? query : "", .sql = argument_str(arguments, "sql"),
		.offset = argument_size(arguments, "offset", 0),
		.most = argument_size(arguments, "max_results", LIMIT_QUERY_RESULTS),
		.structure = (!query && !argument_str(arguments, "sql")) ||
		             argument_bool(arguments, "structure", false),
	};
	_cleanup_free_ char *part = mem_printf("range %zu-%zu%s", call.offset + 1,
	                                       call.offset + call.most,
	                                       call.structure ? " details" : "");
	struct read_request request = { .path = argument_str(arguments, "file_path") };
	struct provider *reader = session_reader(session, request.path);
	struct read_result read = { 0 };
	struct err err = ERR_INIT;
	json_t *result;

	if (call.sql && (query || call.structure)) {
		err_set(&err, ERR_INVALID_ARGUMENT, "sql goes alone, without %s.",
		        query ? "query" : "structure");
		return tool_failure(&err);
	}
	filter_heed(&request, &session->ignores);
	derived_ask(session, part, &request);
	if (request.derive == READ_DERIVE_OFF) {
		err_set(&err, ERR_INVALID_ARGUMENT,
		        "Formats other than plain text are not read (hasp.formats.enabled).");
		return tool_failure(&err);
	}
	request.query = call.sql ? NULL : call.query;
	request.sql = call.sql;
	request.max_bytes = query_room(session, arguments, &call);
	if (provider_read(reader, &request, &read, &err)) {
		result = query_answer(session, &call, &read);
	} else {
		result = tool_failure(&err);
		read_files_add_state(session, &request, &read, result);
	}
	read_result_release(&read);
	return result;
}

const struct tool tool_query_data = {
	.info = &tool_infos[TOOL_QUERY_DATA],
	.name = "query_data",
	.title = "Query data",
	.rest = "Ask for fewer results with max_results, or narrow the query.",
	.parameter_aliases = query_data_aliases,
	.description = query_data_description,
	.arguments_schema = query_data_arguments_schema,
	.result_schema = query_data_result_schema,
	.run = run_query_data,
};
