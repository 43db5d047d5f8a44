/* SPDX-License-Identifier: Apache-2.0 */
/* /context: what is sent with each request, from where, and what it weighs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "front/command/private.h"

static const struct {
	const char *part, *title;
} context_parts[] = {
	{ "system", "System prompt" },
	{ "first", "First message" },
	{ "tools", "Tools" },
	{ "conversation", "Conversation" },
};

enum { CONTEXT_NAME_WIDTH = 28 };

static const char *context_member(const json_t *one, const char *name)
{
	const char *text = json_string_value(json_object_get(one, name));

	return text ? text : "";
}

static uint64_t context_tokens(const json_t *one)
{
	return (uint64_t)json_integer_value(json_object_get(one, "tokens"));
}

static bool is_of_part(const json_t *one, const char *part)
{
	return strcmp(context_member(one, "part"), part) == 0;
}

/* Of a part, or of all if it is NULL; *ret_count: how many these are. */
static uint64_t sum_tokens(const json_t *parts, const char *part, size_t *ret_count)
{
	uint64_t tokens = 0;
	size_t i;
	json_t *one;

	*ret_count = 0;
	json_array_foreach((json_t *)parts, i, one)
		if (!part || is_of_part(one, part)) {
			tokens += context_tokens(one);
			++*ret_count;
		}
	return tokens;
}

static void say_weight(struct command_call *call, const char *name, uint64_t tokens,
                       const char *from)
{
	_cleanup_free_ char *text = mem_printf("%8llu%s%s", (unsigned long long)tokens,
	                                       *from ? "  " : "", from);

	command_term(call, name, CONTEXT_NAME_WIDTH, span_str(text), STYLE(ROLE_DIM));
}

/* A server's tools are one row. */
static void list_declared(struct command_call *call, const json_t *parts)
{
	json_auto_t *servers = json_object();
	const char *server;
	size_t i;
	json_t *one, *row;

	json_array_foreach((json_t *)parts, i, one) {
		server = context_member(one, "from");
		if (!is_of_part(one, "tools"))
			continue;
		if (!*server) {
			say_weight(call, context_member(one, "name"), context_tokens(one), "");
			continue;
		}
		row = json_object_get(servers, server);
		if (!row) {
			row = json_pack("{s:i, s:i}", "tools", 0, "tokens", 0);
			json_object_set_new(servers, server, row);
		}
		json_object_set_new(row, "tools", json_integer(
			json_integer_value(json_object_get(row, "tools")) + 1));
		json_object_set_new(row, "tokens",
		                    json_integer((json_int_t)(context_tokens(row) +
		                                              context_tokens(one))));
	}
	json_object_foreach(servers, server, row) {
		const json_int_t tools = json_integer_value(json_object_get(row, "tools"));
		_cleanup_free_ char *about = mem_printf("%lld tool%s of the server",
		                                        (long long)tools, tools == 1 ? "" : "s");

		say_weight(call, server, context_tokens(row), about);
	}
}

static void list_part(struct command_call *call, const json_t *parts, size_t at)
{
	size_t count, i;
	const uint64_t tokens = sum_tokens(parts, context_parts[at].part, &count);
	_cleanup_free_ char *title = mem_printf("%s: %llu tokens", context_parts[at].title,
	                                        (unsigned long long)tokens);
	json_t *one;

	command_heading(call, title);
	if (!count)
		return;
	if (!strcmp(context_parts[at].part, "tools")) {
		list_declared(call, parts);
	} else if (!strcmp(context_parts[at].part, "conversation")) {
		_cleanup_free_ char *messages = mem_printf("%zu message%s", count,
		                                           count == 1 ? "" : "s");

		say_weight(call, messages, tokens, "");
	} else {
		json_array_foreach((json_t *)parts, i, one)
			if (is_of_part(one, context_parts[at].part))
				say_weight(call, context_member(one, "name"), context_tokens(one),
				           context_member(one, "from"));
	}
}

static void context_list(struct command_call *call, const json_t *parts)
{
	const uint64_t window = host_facts(call->context->host).context_tokens;
	size_t count;
	const uint64_t tokens = sum_tokens(parts, NULL, &count);

	if (window)
		command_say(call, STYLE(ROLE_TEXT), "About %llu tokens of the %llu that %s takes "
		            "(%.1f %%).", (unsigned long long)tokens, (unsigned long long)window,
		            host_facts(call->context->host).model,
		            100.0 * (double)tokens / (double)window);
	else
		command_say(call, STYLE(ROLE_TEXT), "About %llu tokens; how many %s takes is not "
		            "known.", (unsigned long long)tokens,
		            host_facts(call->context->host).model);
	for (size_t i = 0; i < ARRAY_LEN(context_parts); i++)
		list_part(call, parts, i);
}

/* What is sent, word for word: all, or what has this name or comes from there. */
static void context_show(struct command_call *call, const json_t *parts, struct span wanted)
{
	bool any = false;
	size_t i;
	json_t *one;

	json_array_foreach((json_t *)parts, i, one) {
		const char *name = context_member(one, "name"), *from = context_member(one, "from");
		_cleanup_free_ char *title = mem_printf("%s%s%s", name, *from ? ": " : "", from);

		if (wanted.len && !command_word_is(wanted, name) &&
		    !command_word_is(wanted, from) &&
		    !command_word_is(wanted, context_member(one, "part")))
			continue;
		any = true;
		command_heading(call, title);
		command_text(call, STYLE(ROLE_DIM), json_span(json_object_get(one, "text")));
	}
	if (!any)
		command_fail(call, "There is no \"%.*s\" in the context; /context lists what there "
		             "is.", (int)wanted.len, wanted.data);
	call->result->pager = any;
}

void command_context(struct command_call *call)
{
	struct span rest = call->arguments;
	const struct span word = command_word(&rest);
	json_auto_t *parts = host_context(call->context->host);

	if (command_word_is(word, "show"))
		context_show(call, parts, rest);
	else
		context_list(call, parts);
}
