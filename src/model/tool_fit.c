/* SPDX-License-Identifier: Apache-2.0 */
/* A request's tools, and the calls in its conversation, as a format takes them; and back. */
#include "model/tool_fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "data/json.h"
#include "model/part.h"
#include "model/wire.h"

enum { NAME_BYTES = 64, NAME_KEPT = 55, NAME_HEX = 8 };

/* ---- names of tools ---------------------------------------------------------- */

/* OpenAI and Anthropic: ^[a-zA-Z0-9_-]{1,64}$. Gemini also takes '.' and ':', and begins with a
 * letter or '_'. */
static bool is_sent_char(const char *format, char c, bool first)
{
	const bool gemini = strcmp(format, "gemini") == 0;

	if (ascii_is_letter(c) || c == '_')
		return true;
	return gemini ? !first && (ascii_is_digit(c) || strchr(".:-", c)) :
	                ascii_is_digit(c) || c == '-';
}

static bool fits_as_name(const char *format, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len && i <= NAME_BYTES; i++)
		if (!is_sent_char(format, name[i], i == 0))
			return false;
	return len > 0 && len <= NAME_BYTES;
}

/* A name that fits: itself, or with '_' for what does not, and a hash if `taken` has it or it would
 * be cut. Owned. */
static char *sent_name(const char *format, const char *name, const json_t *taken)
{
	struct sha256 sum = sha256_of(span_str(name));
	char *plain = mem_strdup(name), *cut, hex[SHA256_HEX_SIZE];

	for (char *c = plain; *c; c++)
		if (!is_sent_char(format, *c, c == plain))
			*c = '_';
	if (*plain && strlen(plain) <= NAME_BYTES && !json_object_get(taken, plain))
		return plain;
	sha256_hex(&sum, hex);
	cut = mem_printf("%.*s_%.*s", NAME_KEPT, *plain ? plain : "tool", NAME_HEX, hex);
	/* A server may call a tool just so. */
	while (json_object_get(taken, cut)) {
		sum = sha256_of(span_str(hex));
		sha256_hex(&sum, hex);
		free(cut);
		cut = mem_printf("%.*s_%.*s", NAME_KEPT, *plain ? plain : "tool", NAME_HEX, hex);
	}
	free(plain);
	return cut;
}

/* ---- tools ------------------------------------------------------------------- */

struct tool_fitting {
	struct tool_fit *fit;
	const json_t *left_out;
	json_t *taken;  /* {NAME SENT: true} */
	json_t *called; /* {NAME: NAME SENT} */
	json_t *omitted; /* {NAME: true}: left out */
};

char *tool_fit_key(const json_t *declaration)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);
	json_auto_t *copy = json_copy((json_t *)declaration);
	char hex[SHA256_HEX_SIZE];
	struct sha256 sum;

	json_object_del(copy, "loading");
	json_print(&text, copy, 0);
	sum = sha256_of(buf_view(&text));
	sha256_hex(&sum, hex);
	return mem_dup(hex, 32);
}

static void note_renamed(struct tool_fitting *making, const char *sent, const char *name,
                         const json_t *schema, json_t *names)
{
	struct tool_fit *fit = making->fit;
	json_t *row = json_pack("{s:s, s:O}", "name", name, "schema", schema);

	if (names)
		json_object_set(row, "names", names);
	if (!fit->renamed)
		fit->renamed = json_object();
	json_object_set_new(fit->renamed, sent, row);
	json_object_set_new_nocheck(making->called, name, json_string(sent));
}

/* A declaration as it is sent: a new one; NULL: it is left out. */
static json_t *fit_tool(struct tool_fitting *making, const json_t *tool)
{
	const char *format = making->fit->format;
	const char *name = json_string_value(json_object_get(tool, "name"));
	json_t *schema = json_object_get(tool, "parameters"), *fit = json_copy((json_t *)tool);
	json_auto_t *any = json_object(), *names = NULL;
	_cleanup_free_ char *sent = NULL, *key = NULL;

	if (!name)
		return fit;
	schema = json_is_object(schema) ? schema : any;
	names = schema_names(format, schema);
	sent = fits_as_name(format, name) ? mem_strdup(name) :
	                                    sent_name(format, name, making->taken);
	json_object_set_new(fit, "name", json_string(sent));
	json_object_set_new(fit, "parameters", schema_fit_arguments(format, schema, names));
	if (json_object_size(making->left_out))
		key = tool_fit_key(fit);
	if (key && json_object_get(making->left_out, key)) {
		json_object_set_new_nocheck(making->omitted, name, json_string(key));
		json_decref(fit);
		return NULL;
	}
	json_object_set_new(making->taken, sent, json_true());
	if (names || strcmp(sent, name) != 0)
		note_renamed(making, sent, name, schema, names);
	return fit;
}

static json_t *fit_tools(struct tool_fitting *making, const json_t *tools)
{
	json_t *all = json_array(), *fit;
	const json_t *tool;
	size_t i;

	json_array_foreach(tools, i, tool) {
		const char *name = json_string_value(json_object_get(tool, "name"));

		if (name && fits_as_name(making->fit->format, name))
			json_object_set_new(making->taken, name, json_true());
	}
	json_array_foreach(tools, i, tool) {
		fit = fit_tool(making, tool);
		if (fit)
			json_array_append_new(all, fit);
	}
	return all;
}

/* ---- the conversation -------------------------------------------------------- */

/* The name under which a tool of the conversation is sent; NULL: its own. */
static const char *name_sent(struct tool_fitting *making, const json_t *object)
{
	const char *name = json_string_value(json_object_get(object, "name"));
	const char *sent = name ? json_string_value(json_object_get(making->called, name)) : NULL;
	_cleanup_free_ char *made = NULL;

	if (!name || sent || fits_as_name(making->fit->format, name))
		return sent;
	made = sent_name(making->fit->format, name, making->taken);
	json_object_set_new_nocheck(making->called, name, json_string(made));
	return json_string_value(json_object_get(making->called, name));
}

static json_t *fit_call(struct tool_fitting *making, const json_t *call, const char *sent)
{
	const json_t *row = json_object_get(making->fit->renamed, sent);
	json_t *copy = json_copy((json_t *)call), *args = json_object_get(call, "args");

	json_object_set_new(copy, "name", json_string(sent));
	if (args)
		json_object_set_new(copy, "args", schema_names_apply(json_object_get(row, "names"),
			"sent", json_object_get(row, "schema"), args));
	return copy;
}

/* What a search has found is declared by providers that load tools. */
static json_t *fit_found(struct tool_fitting *making, const json_t *response)
{
	json_t *whole = json_copy((json_t *)response);
	json_t *inner = json_copy(json_object_get(response, "response"));

	json_object_set_new(inner, "tools", fit_tools(making, json_object_get(inner, "tools")));
	json_object_set_new(whole, "response", inner);
	return whole;
}

/* A new reference. */
static json_t *fit_part(struct tool_fitting *making, json_t *part, const char *loader)
{
	const json_t *call = part_get_call(part), *response = part_get_response(part);
	const char *sent = name_sent(making, call ? call : response);
	json_t *copy, *changed;

	if (!call && response && wire_is_of(response, loader) &&
	    json_is_array(json_object_get(json_object_get(response, "response"), "tools")))
		changed = fit_found(making, response);
	else if (!sent)
		return json_incref(part);
	else
		changed = call ? fit_call(making, call, sent) : json_copy((json_t *)response);
	if (!call && sent)
		json_object_set_new(changed, "name", json_string(sent));
	copy = json_copy(part);
	json_object_set_new(copy, call ? "functionCall" : "functionResponse", changed);
	return copy;
}

static json_t *fit_contents(struct tool_fitting *making, const json_t *contents, const char *loader)
{
	json_t *all = json_array(), *part;
	const json_t *content;
	size_t i, j;

	json_array_foreach(contents, i, content) {
		json_t *parts = json_array(), *copy;

		json_array_foreach(json_object_get(content, "parts"), j, part)
			json_array_append_new(parts, fit_part(making, part, loader));
		copy = json_copy((json_t *)content);
		json_object_set_new(copy, "parts", parts);
		json_array_append_new(all, copy);
	}
	return all;
}

static json_t *fit_allowed(const struct tool_fitting *making, const json_t *allowed)
{
	json_t *all = json_array(), *name;
	size_t i;

	json_array_foreach(allowed, i, name) {
		const char *word = json_string_value(name);
		json_t *sent = json_object_get(making->called, word ? word : "");

		if (word && !json_object_get(making->omitted, word))
			json_array_append(all, sent ? sent : name);
	}
	return all;
}

/* ---- a request --------------------------------------------------------------- */

void tool_fit_make(const char *format, const json_t *left_out, const struct model_request *request,
                   struct tool_fit *ret)
{
	struct tool_fitting making = { .fit = ret, .left_out = left_out, .taken = json_object(),
		                       .called = json_object(), .omitted = json_object() };

	*ret = (struct tool_fit){ .request = *request, .format = format };
	if (json_array_size(request->tools))
		ret->request.tools = ret->tools = fit_tools(&making, request->tools);
	ret->request.contents = ret->contents = fit_contents(&making, request->contents,
	                                                     wire_loader(request->tools));
	if (request->allowed_tools)
		ret->request.allowed_tools = ret->allowed = fit_allowed(&making,
			request->allowed_tools);
	ret->omitted = making.omitted;
	json_decref(making.taken);
	json_decref(making.called);
}

void tool_fit_release(struct tool_fit *fit)
{
	json_decref(fit->tools);
	json_decref(fit->allowed);
	json_decref(fit->contents);
	json_decref(fit->renamed);
	json_decref(fit->omitted);
	*fit = (struct tool_fit){ 0 };
}

void tool_fit_call(const struct tool_fit *fit, json_t *call)
{
	const char *sent = json_string_value(json_object_get(call, "name"));
	const json_t *row = sent ? json_object_get(fit->renamed, sent) : NULL;
	json_t *args = json_object_get(call, "args");

	if (!row)
		return;
	json_object_set(call, "name", json_object_get(row, "name"));
	if (args)
		json_object_set_new(call, "args", schema_names_apply(json_object_get(row, "names"),
			"given", json_object_get(row, "schema"), args));
}
