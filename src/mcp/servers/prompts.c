/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts of servers: which there are, and what one says. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/declared/declared.h"
#include "mcp/servers/slots.h"

enum {
	PROMPT_MESSAGES_MAX = 100,
	VALUES_MAX = 100,       /* of one completion, as the protocol has it */
	VALUE_BYTES = 500,
	COMPLETE_MS = 5000,
};

/* ---- which there are ---- */

/* A name as it can be typed behind a slash. */
static json_t *typed_name(struct span name)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_LOG_LINE);

	for (size_t i = 0; i < name.len; i++)
		buf_char(&out, ascii_is_alnum(name.data[i]) ||
		                               memchr("_.-:", name.data[i], 4) ?
		                       name.data[i] : name.data[i] == ' ' ? '-' : '_');
	return json_text(buf_view(&out));
}

json_t *mcp_servers_prompts(struct mcp_servers *servers)
{
	json_t *list = json_array(), *prompt;
	struct mcp_server_slot *server;
	size_t k;

	for (size_t i = 0; (server = mcp_servers_at(servers, i)); i++) {
		json_auto_t *offers = mcp_server_offers(server);
		const struct span name = span_str(mcp_server_entry_of(server)->name);

		json_array_foreach(json_object_get(offers, "prompts"), k, prompt) {
			json_t *own = json_copy(prompt);

			json_object_set_new(own, "server", json_text(name));
			json_object_set_new(own, "prefix", typed_name(name));
			json_object_set_new(own, "typed",
			                    typed_name(span_trim(json_span(
						    json_object_get(prompt, "name")))));
			json_array_append_new(list, own);
		}
	}
	return list;
}

/* ---- what one says ---- */

#define PROMPT_MARK "server_prompt>"

/* The text, in which the mark is spoiled. */
static void put_prompt_text(struct buf *out, struct span text)
{
	while (text.len) {
		const char *at = memmem(text.data, text.len, PROMPT_MARK, strlen(PROMPT_MARK));
		const size_t len = at ? (size_t)(at - text.data) : text.len;

		buf_span(out, span_head(text, len));
		buf_str(out, at ? "server_prompt&gt;" : "");
		text = span_skip(text, len + (at ? strlen(PROMPT_MARK) : 0));
	}
}

/* Blocks other than text are treated as in a tool's result: media, marked resources. */
static void put_prompt_block(struct buf *out, json_t *media, const char *server,
                             const json_t *block)
{
	json_auto_t *result = json_pack("{s:[O]}", "content", (json_t *)block);
	json_auto_t *own = mcp_result(server, "", result);
	json_t *output = json_object_get(own, "output"), *part;
	size_t i;

	if (json_is_string(output))
		buf_span(out, json_span(output));
	json_array_foreach(output, i, part) {
		if (json_object_get(part, "data"))
			json_array_append(media, part);
		else
			buf_span(out, json_span(json_object_get(part, "text")));
	}
}

static bool prompt_messages(const char *server, const char *prompt, const json_t *result,
                            struct buf *out, json_t *media, struct err *err)
{
	const json_t *messages = json_object_get(result, "messages"), *message;
	size_t i;

	if (!json_array_size(messages))
		return err_set(err, ERR_TOOL_FAILED,
		               "The MCP server \"%.100s\" answered with a prompt without messages.",
		               server);
	buf_str(out, "The user chose the prompt \"");
	name_line(out, span_str(prompt));
	buf_str(out, "\" of the MCP server \"");
	name_line(out, span_str(server));
	buf_str(out, "\", which says:\n<" PROMPT_MARK "\n");
	json_array_foreach((json_t *)messages, i, message)
		if (i < PROMPT_MESSAGES_MAX) {
			const json_t *block = json_object_get(message, "content");
			const bool models = span_eq(json_span(json_object_get(message, "role")),
			                            SPAN("assistant"));

			if (models)
				buf_str(out, "[An answer, as the prompt has it:]\n");
			if (span_eq(json_span(json_object_get(block, "type")), SPAN("text")))
				put_prompt_text(out, json_span(json_object_get(block, "text")));
			else
				put_prompt_block(out, media, server, block);
			buf_char(out, '\n');
		}
	buf_str(out, "</" PROMPT_MARK);
	if (out->overflowed || i > PROMPT_MESSAGES_MAX)
		return err_set(err, ERR_TOO_LARGE,
		               "The prompt of the MCP server \"%.100s\" is too long.", server);
	return true;
}

static struct mcp_server_slot *find_named_server(struct mcp_servers *servers, const char *name)
{
	struct mcp_server_slot *server;

	for (size_t i = 0; (server = mcp_servers_at(servers, i)); i++)
		if (!strcmp(mcp_server_entry_of(server)->name, name))
			return server;
	return NULL;
}

bool mcp_servers_prompt(struct mcp_servers *servers, const char *server, const char *prompt,
                        const json_t *arguments, const struct cancel *cancel, struct buf *out,
                        json_t *media, struct err *err)
{
	struct mcp_server_slot *slot = find_named_server(servers, server);
	json_auto_t *params = json_pack("{s:s, s:O}", "name", prompt, "arguments",
	                                (json_t *)arguments);
	json_auto_t *result = NULL;
	struct mcp_wait wait = { .cancel = cancel };
	struct mcp_client *client;
	bool ok;

	if (!slot)
		return err_set(err, ERR_FILE_NOT_FOUND,
		               "The settings have no MCP server \"%.100s\".", server);
	wait.timeout_ms = mcp_server_entry_of(slot)->timeout_ms;
	if (!mcp_server_client(slot, wait.cancel, &client, err))
		return false;
	ok = mcp_client_ask(client, "prompts/get", params, &wait, &result, err);
	mcp_server_called(slot, client, ok);
	mcp_client_unref(client);
	return ok && prompt_messages(server, prompt, result, out, media, err);
}

/* ---- what may stand in an argument ---- */

/* What can be put into a line as it is. */
static bool is_typable_value(struct span value)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(8 * VALUE_BYTES);

	if (!value.len || value.len > VALUE_BYTES)
		return false;
	name_line(&shown, value);
	return span_eq(buf_view(&shown), value);
}

json_t *mcp_servers_complete(struct mcp_servers *servers, const char *server,
                             const json_t *params, const struct cancel *cancel)
{
	struct mcp_server_slot *slot = find_named_server(servers, server);
	const struct mcp_wait wait = { .timeout_ms = COMPLETE_MS,
		                       .cancel = cancel };
	json_auto_t *result = NULL;
	json_t *values = json_array(), *value;
	struct mcp_client *client;
	struct err ignored = ERR_INIT;
	size_t i;

	if (!slot || !mcp_server_client(slot, wait.cancel, &client, &ignored))
		return values;
	if (mcp_offers_has(client, "completions"))
		mcp_client_ask(client, "completion/complete", params, &wait, &result, &ignored);
	mcp_client_unref(client);
	json_array_foreach(json_object_get(json_object_get(result, "completion"), "values"), i,
	                   value)
		if (json_array_size(values) < VALUES_MAX && is_typable_value(json_span(value)))
			json_array_append(values, value);
	return values;
}
