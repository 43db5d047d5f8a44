/* SPDX-License-Identifier: Apache-2.0 */
#include "ide/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "ide/private.h"

enum {
	OPEN_MS = 2000,         /* for the connection and the handshake */
	PING_MS = 1000,
	MESSAGE_SHOWN = 400,    /* bytes of an editor's own sentence */
	PROBLEM_SHOWN = 1000,   /* bytes of a problem's */
	PROBLEMS_DEPTH_MAX = 16, /* of the JSON that lists them */
};

static const struct ide_link_kind *const link_kinds[] = {
	[IDE_COMPANION] = &ide_companion,
	[IDE_CLAUDE] = &ide_claude,
};

/* ---- messages ---------------------------------------------------------------------- */

/* As mcp_client_options.noticed. */
static bool link_noticed(void *data, const char *method, const json_t *params)
{
	struct ide_link *link = data;
	_cleanup_free_ char *mention = NULL;

	/* The companion sends "ping" as a notification, to keep the stream alive. */
	if (!strcmp(method, "ping") ||
	    (link->is->noticed && link->is->noticed(link, method, params)))
		return true;
	if (!strcmp(method, "diagnostics_changed")) {
		if (link->options.diagnosed)
			link->options.diagnosed(link->options.data,
			                        json_object_get(params, "uris"));
		return true;
	}
	if (!ide_view_take(link->options.view, method, params, &mention))
		return false;
	if (mention && link->options.mentioned)
		link->options.mentioned(link->options.data, mention);
	return true;
}

struct span ide_result_text(const json_t *result, size_t i)
{
	const json_t *item = json_array_get(json_object_get(result, "content"), i);

	return span_eq(json_span(json_object_get(item, "type")), SPAN("text")) ?
	               json_span(json_object_get(item, "text")) : span_of(NULL, 0);
}

json_t *ide_link_call(struct ide_link *link, const char *tool, json_t *arguments,
                      unsigned wait_ms, const struct cancel *cancel, struct err *err)
{
	const struct mcp_wait wait = { .timeout_ms = wait_ms, .cancel = cancel };
	json_auto_t *given = arguments, *result = NULL;
	_cleanup_buf_ struct buf said = BUF_INIT(8 * MESSAGE_SHOWN);

	if (!mcp_client_call(link->client, tool, given, &wait, &result, err))
		return NULL;
	if (!json_is_true(json_object_get(result, "isError")))
		return json_incref(result);
	name_line(&said, utf8_head(ide_result_text(result, 0), MESSAGE_SHOWN));
	err_set(err, ERR_TOOL_FAILED, "%s failed to run %s: %s", link->name, tool,
	        said.len ? said.data : "no reason was given.");
	return NULL;
}

bool ide_verdict_accept(struct ide_verdict *verdict, const json_t *content)
{
	if (!json_is_string(content) || json_string_length(content) > LIMIT_RESULT_BYTES)
		return false;
	free(verdict->content);
	verdict->answer = IDE_ACCEPTED;
	verdict->len = json_string_length(content);
	verdict->content = mem_dup(json_string_value(content), verdict->len);
	return true;
}

/* ---- life --------------------------------------------------------------------------- */

static bool has_tool(const json_t *tools, const char *name)
{
	json_t *tool;
	size_t i;

	json_array_foreach((json_t *)tools, i, tool)
		if (span_eq(json_span(json_object_get(tool, "name")), span_str(name)))
			return true;
	return false;
}

static bool link_connect(struct ide_link *link, struct err *err)
{
	const struct ide_place *place = link->options.place;
	_cleanup_free_ char *url = mem_printf("%s://127.0.0.1:%u%s", link->is->scheme, place->port,
	                                      link->is->path);
	_cleanup_free_ char *token = mem_printf("%s%s", link->is->header, place->token);
	const char *const headers[] = { token, NULL };
	const struct mcp_client_options options = {
		.name = link->name, .noticed = link_noticed, .data = link,
	};
	const struct mcp_address_options from = { .url = url, .headers = headers, .direct = true };
	const struct mcp_wait wait = { .timeout_ms = OPEN_MS, .cancel = link->options.cancel };

	return link->is->is_websocket ?
	               mcp_client_open_websocket(&options, &from, &wait, &link->client, err) :
	               mcp_client_open_http(&options, &from, &wait, &link->client, err);
}

/* An editor that cannot list its tools shows no diffs. */
static void link_learn_tools(struct ide_link *link)
{
	const struct mcp_wait wait = { .timeout_ms = OPEN_MS, .cancel = link->options.cancel };
	struct err ignored = ERR_INIT;
	json_auto_t *tools = NULL;

	if (!mcp_client_list(link->client, MCP_TOOLS, &wait, &tools, &ignored))
		return;
	link->reviews = true;
	for (size_t i = 0; i < ARRAY_LEN(link->is->diff_tools); i++)
		if (link->is->diff_tools[i] && !has_tool(tools, link->is->diff_tools[i]))
			link->reviews = false;
	link->diagnoses = has_tool(tools, "getDiagnostics");
}

bool ide_link_open(const struct ide_link_options *options, struct ide_link **ret, struct err *err)
{
	struct ide_link *link = mem_alloc(1, sizeof(*link));
	struct err why = ERR_INIT;

	link->options = *options;
	link->kind = options->place->kind;
	link->is = link_kinds[link->kind];
	link->name = mem_strdup(options->place->name);
	pthread_mutex_init(&link->lock, NULL);
	cancel_init_lazily(&link->decided);
	if (!link_connect(link, &why)) {
		err_set(err, why.code, "Cannot connect to %s (%s): %s", link->name,
		        options->place->file, why.message);
		ide_link_close(link);
		return false;
	}
	link_learn_tools(link);
	link->options.place = NULL;
	link->options.cancel = NULL;
	*ret = link;
	return true;
}

void ide_link_close(struct ide_link *link)
{
	if (!link)
		return;
	if (link->client)
		mcp_client_end(link->client);
	mcp_client_unref(link->client);
	pthread_mutex_destroy(&link->lock);
	cancel_release(&link->decided);
	free(link->verdict.content);
	free(link->name);
	free(link);
}

const char *ide_link_name(const struct ide_link *link)
{
	return link->name;
}

enum ide_kind ide_link_kind(const struct ide_link *link)
{
	return link->kind;
}

bool ide_link_answers(struct ide_link *link)
{
	const struct mcp_wait wait = { .timeout_ms = PING_MS };
	struct err why = ERR_INIT;
	json_auto_t *result = NULL;

	/* An error in answer to it (claudecode.nvim has no ping) is an answer. */
	return !mcp_client_lost(link->client) &&
	       (mcp_client_ask(link->client, "ping", NULL, &wait, &result, &why) ||
	        strstr(why.message, "answered with error"));
}

bool ide_link_reviews(const struct ide_link *link)
{
	return link->reviews;
}

bool ide_link_diagnoses(const struct ide_link *link)
{
	return link->diagnoses;
}

bool ide_link_review(struct ide_link *link, const struct ide_diff *diff,
                     const struct cancel *cancel, struct ide_verdict *ret, struct err *err)
{
	*ret = (struct ide_verdict){ .answer = IDE_NO_ANSWER };
	return link->is->review(link, diff, cancel, ret, err);
}

/* ---- problems ------------------------------------------------------------------------ */

static json_t *shown_text(const json_t *said, size_t max)
{
	_cleanup_buf_ struct buf line = BUF_INIT(8 * max);

	name_line(&line, utf8_head(json_span(said), max));
	return json_text(buf_view(&line));
}

static json_t *read_problem(const json_t *problem, const char *file)
{
	const json_t *start = json_object_get(json_object_get(problem, "range"), "start");
	const json_t *source = json_object_get(problem, "source");
	json_t *read = json_object();

	json_object_set_new(read, "file", json_cstr(file));
	json_object_set_new(read, "line", json_integer(
		json_integer_value(json_object_get(start, "line")) + 1));
	json_object_set_new(read, "column", json_integer(
		json_integer_value(json_object_get(start, "character")) + 1));
	json_object_set_new(read, "severity",
	                    shown_text(json_object_get(problem, "severity"), 20));
	json_object_set_new(read, "message",
	                    shown_text(json_object_get(problem, "message"), PROBLEM_SHOWN));
	if (json_is_string(source))
		json_object_set_new(read, "source", shown_text(source, 80));
	return read;
}

char *ide_path_of_uri(const json_t *uri)
{
	struct span text = json_span(uri);
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_IDE_FILE_BYTES);
	_cleanup_buf_ struct buf line = BUF_INIT(4 * LIMIT_IDE_FILE_BYTES);

	if (span_starts(text, SPAN("file://")))
		text = span_skip(text, 7);
	for (size_t i = 0; i < text.len && path.len < LIMIT_IDE_FILE_BYTES - 1; i++) {
		const int high = i + 2 < text.len ? ascii_hex(text.data[i + 1]) : -1;
		const int low = i + 2 < text.len ? ascii_hex(text.data[i + 2]) : -1;

		if (text.data[i] != '%' || high < 0 || low < 0) {
			buf_char(&path, text.data[i]);
			continue;
		}
		buf_char(&path, (char)(high << 4 | low));
		i += 2;
	}
	name_line(&line, buf_view(&path));
	return line.len ? buf_steal(&line) : mem_strdup("");
}

bool ide_problems_read(struct span text, json_t **ret)
{
	json_auto_t *said = NULL, *all = json_array();
	struct err ignored = ERR_INIT;
	json_t *file, *problem;
	size_t i, k, more = 0;

	if (!json_parse_foreign(text, PROBLEMS_DEPTH_MAX, &said, NULL, &ignored) ||
	    !json_is_array(said))
		return false;
	json_array_foreach(said, i, file) {
		_cleanup_free_ char *path = ide_path_of_uri(json_object_get(file, "uri"));

		json_array_foreach(json_object_get(file, "diagnostics"), k, problem)
			if (json_array_size(all) < LIMIT_IDE_PROBLEMS)
				json_array_append_new(all, read_problem(problem, path));
			else
				more++;
	}
	if (more)
		json_array_append_new(all, json_pack("{s:o}", "message", json_sprintf(
			"%zu more problems are left out", more)));
	*ret = json_incref(all);
	return true;
}

/* file:///a%20b, as RFC 8089 and RFC 3986 have it. */
static json_t *uri_of_path(const char *path)
{
	static const char plain[] = "-._~/";
	_cleanup_buf_ struct buf uri = BUF_INIT(LIMIT_IDE_FILE_BYTES);

	buf_str(&uri, "file://");
	for (; *path; path++)
		if (ascii_is_alnum(*path) || strchr(plain, *path))
			buf_char(&uri, *path);
		else
			buf_printf(&uri, "%%%02X", (unsigned char)*path);
	return json_text(buf_view(&uri));
}

bool ide_link_diagnose(struct ide_link *link, const char *path, unsigned wait_ms,
                       const struct cancel *cancel, json_t **ret, struct err *err)
{
	json_t *arguments = json_object();
	json_auto_t *result = NULL;

	if (path)
		json_object_set_new(arguments, "uri", uri_of_path(path));
	result = ide_link_call(link, "getDiagnostics", arguments,
	                       wait_ms ? wait_ms : IDE_ANSWER_MS, cancel, err);
	return result && (ide_problems_read(ide_result_text(result, 0), ret) ||
	                  err_set(err, ERR_TOOL_FAILED, "%s did not return a list of problems.",
	                          link->name));
}
