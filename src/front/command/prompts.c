/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts of MCP servers as commands: /NAME --argument="value" ..., or values in their order. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "front/command/private.h"

static const char *prompt_member(const json_t *prompt, const char *name)
{
	const char *text = json_string_value(json_object_get(prompt, name));

	return text ? text : "";
}

/* ---- arguments ---- */

/* A word, or "words" in which a backslash takes what follows as it is. A new string. */
static json_t *take_prompt_value(struct span *text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	const bool quoted = span_starts(*text, SPAN("\""));
	size_t i = quoted;

	for (; i < text->len; i++) {
		const char c = text->data[i];

		if (quoted ? c == '"' : isspace((unsigned char)c))
			break;
		if (c == '\\' && i + 1 < text->len)
			i++;
		buf_char(&out, text->data[i]);
	}
	*text = span_skip(*text, i + (quoted && i < text->len));
	return json_text(buf_view(&out));
}

/* The length of the NAME in "--NAME=..."; 0: this is none. */
static size_t named_length(struct span text)
{
	size_t i = 2;

	if (!span_starts(text, SPAN("--")))
		return 0;
	while (i < text.len && text.data[i] != '=' && !isspace((unsigned char)text.data[i]))
		i++;
	return i < text.len && text.data[i] == '=' ? i - 2 : 0;
}

/* Borrowed; NULL: there is none. */
static const json_t *find_argument(const json_t *declared, const char *name)
{
	const json_t *argument;
	size_t i;

	json_array_foreach((json_t *)declared, i, argument)
		if (!strcmp(prompt_member(argument, "name"), name))
			return argument;
	return NULL;
}

/* "--NAME=VALUE" to `named`, others to `values`. */
static bool split_arguments(struct command_call *call, const json_t *declared, json_t *named,
                            json_t *values)
{
	struct span rest = span_trim(call->arguments);

	while (rest.len) {
		const size_t len = named_length(rest);

		if (len) {
			_cleanup_free_ char *name = mem_dup(rest.data + 2, len);

			rest = span_skip(rest, len + 3);
			if (!find_argument(declared, name)) {
				command_fail(call, "The prompt has no argument \"%s\".", name);
				return false;
			}
			json_object_set_new(named, name, take_prompt_value(&rest));
		} else {
			json_array_append_new(values, take_prompt_value(&rest));
		}
		rest = span_trim(rest);
	}
	return true;
}

static json_t *values_joined(const json_t *values)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	const json_t *value;
	size_t i;

	json_array_foreach((json_t *)values, i, value) {
		buf_str(&out, i ? " " : "");
		buf_span(&out, json_span(value));
	}
	return json_text(buf_view(&out));
}

/* Values go to what is required and not named, then to the rest; one that alone is required, or
 * there is, takes all of them. */
static void fill_by_position(const json_t *declared, const json_t *values, json_t *named)
{
	json_auto_t *open = json_array();
	json_t *argument, *name;
	size_t i, required = 0;

	for (int pass = 0; pass < 2; pass++)
		json_array_foreach((json_t *)declared, i, argument) {
			name = json_object_get(argument, "name");
			if (json_is_true(json_object_get(argument, "required")) == !pass &&
			    !json_object_get(named, json_string_value(name))) {
				json_array_append(open, name);
				required += !pass;
			}
		}
	if (json_array_size(values) && (required == 1 || json_array_size(open) == 1)) {
		json_object_set_new(named, json_string_value(json_array_get(open, 0)),
		                    values_joined(values));
		return;
	}
	json_array_foreach(open, i, name)
		if (json_array_get(values, i))
			json_object_set(named, json_string_value(name), json_array_get(values, i));
}

/* The argument that a value at place `count` of those without a name is for; NULL: none. */
static const char *argument_by_position(const json_t *declared, const json_t *named, size_t count)
{
	json_auto_t *filled = json_copy((json_t *)named), *values = json_array();
	json_auto_t *mark = json_string("?");
	const char *name;
	json_t *value;

	for (size_t i = 0; i <= count; i++)
		json_array_append(values, i == count ? mark : json_null());
	fill_by_position(declared, values, filled);
	json_object_foreach(filled, name, value)
		if (json_equal(value, mark))
			return json_string_value(json_object_get(find_argument(declared, name),
			                                         "name"));
	return NULL;
}

/* What stands in the line up to the caret: values with names, values without; and the last, which
 * is still being typed: its name (NULL: none) and where it begins. */
struct typed_arguments {
	json_t *named, *values;
	char *name;
	json_t *last;
	size_t from;
};

static void read_typed_arguments(struct span line, size_t at, struct typed_arguments *typed)
{
	struct span rest = span_skip(line, at);

	*typed = (struct typed_arguments){ .named = json_object(), .values = json_array() };
	for (;;) {
		size_t len;

		while (rest.len && isspace((unsigned char)rest.data[0]))
			rest = span_skip(rest, 1);
		len = named_length(rest);
		typed->name = len ? mem_dup(rest.data + 2, len) : NULL;
		rest = span_skip(rest, len ? len + 3 : 0);
		typed->from = line.len - rest.len;
		typed->last = take_prompt_value(&rest);
		if (!rest.len)
			return;
		if (typed->name)
			json_object_set(typed->named, typed->name, typed->last);
		else
			json_array_append(typed->values, typed->last);
		json_decref(typed->last);
		free(typed->name);
	}
}

static void typed_arguments_release(struct typed_arguments *typed)
{
	json_decref(typed->named);
	json_decref(typed->values);
	json_decref(typed->last);
	free(typed->name);
}

json_t *prompts_asks(const json_t *prompt, struct span line, size_t at, size_t *ret_from)
{
	const json_t *declared = json_object_get(prompt, "arguments");
	struct typed_arguments typed;
	const char *argument;
	json_t *asks = NULL;

	if (!json_array_size(declared))
		return NULL;
	read_typed_arguments(line, at, &typed);
	argument = typed.name ? typed.name :
	           argument_by_position(declared, typed.named, json_array_size(typed.values));
	if (argument && find_argument(declared, argument)) {
		/* The server gets the others that have a value, too. */
		json_object_set(typed.named, argument, typed.last);
		fill_by_position(declared, typed.values, typed.named);
		json_object_del(typed.named, argument);
		asks = json_pack("{s:O, s:{s:{s:s, s:O}, s:{s:s, s:O}, s:{s:O}}}", "server",
		                 json_object_get(prompt, "server"), "params", "ref", "type",
		                 "ref/prompt", "name", json_object_get(prompt, "name"), "argument",
		                 "name", argument, "value", typed.last, "context", "arguments",
		                 typed.named);
	}
	*ret_from = typed.from;
	typed_arguments_release(&typed);
	return asks;
}

void prompts_put_value(struct buf *out, struct span value)
{
	bool plain = !span_starts(value, SPAN("--"));

	for (size_t i = 0; i < value.len; i++)
		plain = plain && !isspace((unsigned char)value.data[i]) &&
		        !strchr("\"\\", value.data[i]);
	if (plain) {
		buf_span(out, value);
		return;
	}
	buf_char(out, '"');
	for (size_t i = 0; i < value.len; i++) {
		if (strchr("\"\\", value.data[i]))
			buf_char(out, '\\');
		buf_char(out, value.data[i]);
	}
	buf_char(out, '"');
}

void prompts_complete(struct command_completion *completion, const json_t *prompt)
{
	const json_t *argument;
	size_t i;

	json_array_foreach(json_object_get(prompt, "arguments"), i, argument) {
		_cleanup_free_ char *text = mem_printf("--%s=", prompt_member(argument, "name"));

		completion->add(completion, text, prompt_member(argument, "description"));
	}
}

/* NULL: the call has failed. */
static json_t *prompt_arguments(struct command_call *call, const json_t *prompt)
{
	const json_t *declared = json_object_get(prompt, "arguments"), *argument;
	json_auto_t *named = json_object(), *values = json_array();
	size_t i;

	if (!split_arguments(call, declared, named, values))
		return NULL;
	fill_by_position(declared, values, named);
	json_array_foreach((json_t *)declared, i, argument)
		if (json_is_true(json_object_get(argument, "required")) &&
		    !json_object_get(named, prompt_member(argument, "name"))) {
			command_fail(call, "The prompt needs --%s=\"...\"; \"help\" behind its "
			             "name lists its arguments.",
			             prompt_member(argument, "name"));
			return NULL;
		}
	return mem_steal(&named);
}

/* ---- running ---- */

static void prompt_help(struct command_call *call, const json_t *prompt)
{
	const json_t *declared = json_object_get(prompt, "arguments"), *argument;
	size_t i;

	command_say(call, STYLE(ROLE_TEXT), "The prompt \"%s\" of the MCP server \"%s\" has %s",
	            prompt_member(prompt, "name"), prompt_member(prompt, "server"),
	            json_array_size(declared) ? "these arguments, by name or by place:" :
	                                        "no arguments.");
	json_array_foreach((json_t *)declared, i, argument) {
		_cleanup_free_ char *name = mem_printf("--%s", prompt_member(argument, "name"));
		_cleanup_free_ char *about = mem_printf(
			"%s%s", prompt_member(argument, "description"),
			json_is_true(json_object_get(argument, "required")) ? " (required)" : "");

		command_term(call, name, 24, span_str(about), STYLE(ROLE_TEXT));
	}
}

static void prompt_offer_run(struct command_call *call, const struct slash_offer *offer,
                             struct span line)
{
	const struct command_context *context = call->context;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	const json_t *prompt = offer->prompt;
	json_auto_t *arguments = NULL;
	struct err err = ERR_INIT;

	(void)line;
	if (command_word_is(span_trim(call->arguments), "help")) {
		prompt_help(call, prompt);
		return;
	}
	arguments = prompt_arguments(call, prompt);
	if (!arguments)
		return;
	if (host_server_prompt(context->host, prompt_member(prompt, "server"),
	                       prompt_member(prompt, "name"), arguments, &out, &err)) {
		call->result->plain = true;
		command_then(call, COMMAND_SEND, buf_steal(&out));
	} else {
		command_fail(call, "%s", err.message);
	}
}

void prompt_offers_add(const struct command_context *context, bool wait,
                       struct slash_offers *offers)
{
	json_auto_t *prompts = context->host ? host_server_prompts(context->host, wait) : NULL;
	json_t *prompt;
	size_t i;

	json_array_foreach(prompts, i, prompt) {
		const char *about = prompt_member(prompt, "description");
		struct slash_offer offer = {
			.name = mem_strdup(prompt_member(prompt, "typed")),
			.owner = mem_strdup(prompt_member(prompt, "prefix")),
			.kind = "prompt", .of = CATALOG_OTHERS,
			.about = command_short_text(*about ? about : "A prompt of an MCP server"),
			.from = mem_printf("MCP server %s", prompt_member(prompt, "server")),
			.prompt = json_incref(prompt), .run = prompt_offer_run,
		};

		offer_add(offers, &offer);
	}
}
