/* SPDX-License-Identifier: Apache-2.0 */
/* What the next request would hold, part by part: where each comes from, and what it weighs. */
#include <stdlib.h>
#include <string.h>

#include "agent/context/context.h"
#include "agent/context/surroundings.h"
#include "agent/host/private.h"
#include "agent/private.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/content.h"

static void add_part(json_t *parts, const char *part, const char *name, const char *from,
                     struct span text)
{
	json_t *value = json_text(text);
	const json_int_t tokens = (json_int_t)content_estimate_tokens(value);

	json_array_append_new(parts, json_pack("{s:s, s:s, s:o, s:I, s:I, s:o}", "part", part,
	                                       "name", name, "from", json_cstr(from), "bytes",
	                                       (json_int_t)text.len, "tokens", tokens, "text",
	                                       value));
}

/* The file whose block of instructions begins with this line; NULL: none does. */
static const char *file_of_block(const json_t *files, struct span line)
{
	size_t i;
	json_t *file;

	json_array_foreach((json_t *)files, i, file) {
		_cleanup_free_ char *mark = mem_printf("--- Context from: %s ---",
		                                       json_string_value(file));

		if (span_eq(line_body(line), span_str(mark)))
			return json_string_value(file);
	}
	return NULL;
}

/* Files of instructions, each on its own: what stands before the first is hasp's. */
static void add_files(json_t *parts, const char *part, const char *name, const json_t *files,
                      struct span text)
{
	const char *from = NULL, *next;
	const char *begin = text.data;
	struct span rest = text, line;

	while (line_next(&rest, &line)) {
		next = file_of_block(files, line);
		if (!next)
			continue;
		if (line.data > begin)
			add_part(parts, part, name, from,
			         span_of(begin, (size_t)(line.data - begin)));
		begin = line.data;
		from = next;
	}
	if (text.data + text.len > begin)
		add_part(parts, part, name, from,
		         span_of(begin, (size_t)(text.data + text.len - begin)));
}

/* `pieces`: surroundings.h, with the texts that were sent to the model. */
static void add_pieces(json_t *parts, const char *part, const struct host *host,
                       const json_t *pieces)
{
	const json_t *known = host->chat.agent->known;
	size_t i;
	json_t *piece;

	json_array_foreach((json_t *)pieces, i, piece) {
		const char *name = json_string_value(json_object_get(piece, "name"));
		const json_t *sent = json_object_get(known, name);
		const struct span text = json_span(sent ? sent : json_object_get(piece, "text"));

		if (!strcmp(name, PIECE_MEMORY) || !strcmp(name, PIECE_PROJECT))
			add_files(parts, part, name, memory_files(host->memory), text);
		else if (text.len)
			add_part(parts, part, name, NULL, text);
	}
}

static void add_tools(json_t *parts, const struct host *host)
{
	json_auto_t *declared = model_tools_before(agent_tools(host->chat.agent));
	size_t i;
	json_t *declaration;

	json_array_foreach(declared, i, declaration) {
		const char *name = json_string_value(json_object_get(declaration, "name"));
		const struct tool *tool = tool_set_find(host->chat.tools, name);
		_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);

		json_print(&text, declaration, 2);
		add_part(parts, "tools", name, tool ? tool->server : NULL, buf_view(&text));
	}
}

static void add_messages(json_t *parts, const struct host *host)
{
	const json_t *history = agent_history(host->chat.agent);
	size_t i;
	json_t *message;

	json_array_foreach((json_t *)history, i, message) {
		_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);

		if (message == host->chat.agent->context)
			continue;
		json_print(&text, message, 2);
		add_part(parts, "conversation", json_string_value(json_object_get(message, "role")),
		         NULL, buf_view(&text));
	}
}

json_t *host_context(struct host *host)
{
	json_auto_t *now = NULL;
	json_t *parts = json_array();

	host_begin(host);
	host_await_servers(host);
	host_end(host);
	now = host_surroundings(host, agent_mode(host->chat.agent));
	add_pieces(parts, "system", host, json_object_get(now, "system"));
	add_pieces(parts, "first", host, json_object_get(now, "context"));
	add_tools(parts, host);
	add_messages(parts, host);
	return parts;
}
