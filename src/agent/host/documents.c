/* SPDX-License-Identifier: Apache-2.0 */
/* get_internal_docs: hasp's own documents, for the agent that answers questions about hasp. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/host/private.h"
#include "agent/host/subagents.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "catalog/documents.h"
#include "config/extensions.h"
#include "data/json.h"
#include "tool/set.h"

enum {
	PAGE_BYTES = 24 << 10,  /* of one call: the next one reads on */
	SEARCH_BYTES = 16 << 10,
	SEARCH_WORDS_MAX = 16,
};


static const char documents_description[] =
	"Returns hasp's own documents. Without arguments: the list of the pages. With search: the "
	"lines that have all of its words, of all pages or of the one in path. With path alone: "
	"that page, from start_line on.";

static const char documents_arguments_schema[] =
	"{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {"
	"\"path\": {\"type\": \"string\", \"description\": \"A page: settings.md\"},"
	" \"search\": {\"type\": \"string\", \"minLength\": 1},"
	" \"start_line\": {\"type\": \"integer\", \"minimum\": 1}}}";

static const char documents_result_schema[] =
	"{\"type\": \"object\", \"oneOf\": ["
	"{\"type\": \"object\", \"required\": [\"output\"], \"properties\": {"
	"\"output\": {\"type\": \"string\"}, \"lines\": {\"type\": \"integer\"},"
	" \"next_line\": {\"type\": \"integer\"}, \"more\": {\"type\": \"boolean\"}}},"
	"{\"type\": \"object\", \"required\": [\"success\", \"message\", \"error\"],"
	" \"properties\": {\"success\": {\"const\": false}, \"message\": {\"type\": \"string\"},"
	" \"error\": {\"type\": \"object\"}}}]}";

/* The first line of *text, without its end, which is taken away. */
static struct span document_line(struct span *text)
{
	const char *end = memchr(text->data, '\n', text->len);
	const size_t len = end ? (size_t)(end - text->data) : text->len;
	const struct span line = span_head(*text, len);

	*text = span_skip(*text, end ? len + 1 : len);
	return line;
}

static json_t *documents_list(void)
{
	_cleanup_buf_ struct buf out = BUF_INIT(PAGE_BYTES);
	const struct manual_page *document;

	for (size_t i = 0; (document = document_at(i)); i++)
		buf_printf(&out, "%s: %s (%zu bytes)\n", document->name, document->title,
		           strlen(document->text));
	return json_pack("{s:o}", "output", json_text(buf_view(&out)));
}

static json_t *document_page(const struct manual_page *document, json_int_t first)
{
	_cleanup_buf_ struct buf out = BUF_INIT(PAGE_BYTES);
	struct span rest = span_str(document->text);
	json_t *result = json_object();
	json_int_t line = 0, next = 0;

	while (rest.len) {
		const struct span text = document_line(&rest);

		if (++line < first || next)
			continue;
		if (out.len + text.len + 1 > PAGE_BYTES && out.len)
			next = line;
		else if (buf_span(&out, text))
			buf_char(&out, '\n');
	}
	json_object_set_new(result, "output", json_text(buf_view(&out)));
	json_object_set_new(result, "lines", json_integer(line));
	if (next)
		json_object_set_new(result, "next_line", json_integer(next));
	return result;
}

/* ---- search -------------------------------------------------------------------------- */

struct documents_search {
	struct span words[SEARCH_WORDS_MAX];
	size_t count;
	struct buf out;
	bool more;
};

static bool line_has(struct span line, struct span word)
{
	for (size_t i = 0; i + word.len <= line.len; i++)
		if (strncasecmp(line.data + i, word.data, word.len) == 0)
			return true;
	return false;
}

static bool line_has_all(const struct documents_search *search, struct span line)
{
	for (size_t i = 0; i < search->count; i++)
		if (!line_has(line, search->words[i]))
			return false;
	return true;
}

static void document_search(struct documents_search *search, const struct manual_page *document)
{
	struct span rest = span_str(document->text);

	for (unsigned number = 1; rest.len && !search->more; number++) {
		const struct span line = document_line(&rest);

		if (!line_has_all(search, line))
			continue;
		search->more = search->out.len + line.len + strlen(document->name) + 16 >
		               SEARCH_BYTES;
		if (!search->more)
			buf_printf(&search->out, "%s:%u: %.*s\n", document->name, number,
			           (int)line.len, line.data);
	}
}

/* `only`: NULL: all of them. */
static json_t *documents_search(struct span text, const struct manual_page *only)
{
	struct documents_search search = { .out = BUF_INIT(SEARCH_BYTES) };
	const struct manual_page *document;
	json_t *result = json_object();

	while (text.len && search.count < SEARCH_WORDS_MAX) {
		size_t len = 0;

		while (len < text.len && !isspace((unsigned char)text.data[len]))
			len++;
		if (len)
			search.words[search.count++] = span_head(text, len);
		text = span_skip(text, len < text.len ? len + 1 : len);
	}
	for (size_t i = 0; (document = document_at(i)); i++)
		if (search.count && (!only || only == document))
			document_search(&search, document);
	json_object_set_new(result, "output", json_text(search.out.len ? buf_view(&search.out) :
	                                                SPAN("No line has all of these words.\n")));
	if (search.more)
		json_object_set_new(result, "more", json_true());
	buf_release(&search.out);
	return result;
}

/* ---- the tool ------------------------------------------------------------------------ */

static json_t *documents_run(struct session *session, const json_t *arguments)
{
	const char *path = json_string_value(json_object_get(arguments, "path"));
	const json_t *search = json_object_get(arguments, "search");
	const json_t *start = json_object_get(arguments, "start_line");
	const struct manual_page *document = path ? document_named(path) : NULL;
	struct err err = ERR_INIT;

	(void)session;
	if (path && !document) {
		err_set(&err, ERR_FILE_NOT_FOUND, "Unknown page: \"%.100s\". Without arguments "
		        "this tool returns the list of the pages.", path);
		return tool_failure(&err);
	}
	if (search)
		return documents_search(json_span(search), document);
	return document ? document_page(document, start ? json_integer_value(start) : 1) :
	                  documents_list();
}

static void documents_tool_free(struct tool *tool)
{
	free(tool);
}

void host_add_documents_tool(struct host *host, struct tool_set *tools)
{
	json_auto_t *excluded = extensions_excluded_tools(host->options.settings);
	struct tool *tool = mem_alloc(1, sizeof(*tool));
	struct err err = ERR_INIT;

	tool_set_limit(tools, NULL, excluded);
	*tool = (struct tool){
		.info = &tool_infos[TOOL_GET_INTERNAL_DOCS],
		.name = tool_name(TOOL_GET_INTERNAL_DOCS),
		.title = "Documents",
		.description = documents_description,
		.arguments_schema = documents_arguments_schema,
		.result_schema = documents_result_schema,
		.run = documents_run,
	};
	if (tool_set_add(tools, tool, documents_tool_free, &err))
		return;
	host_warn(host, err.message);
	documents_tool_free(tool);
}

bool host_lists_documents(const struct agent_definition *definition)
{
	return definition->tools &&
	       agent_definition_requires(definition, tool_name(TOOL_GET_INTERNAL_DOCS));
}
