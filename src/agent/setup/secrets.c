/* SPDX-License-Identifier: Apache-2.0 */
/* Values of settings, and other texts, as they may be shown. */
#include <string.h>

#include "agent/setup/prepare.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "worker/environment.h"

#define MASK "***"

/* Shorter values occur by chance. */
enum { SECRET_MIN = 6 };

static bool setting_is_secret(const char *name, const char *text)
{
	_cleanup_free_ char *variable = mem_printf("%s=%s", name, text);

	/* keyVariable says where a key is, not what it is. */
	return *text && !span_ends(span_str(name), SPAN("Variable")) &&
	       environment_is_secret(variable);
}

/* The text with every occurrence of `secret` masked. */
static json_t *mask_occurrences(json_t *string, const char *secret)
{
	const char *text = json_string_value(string), *found = strstr(text, secret);
	_cleanup_buf_ struct buf out = BUF_INIT(2 * LIMIT_SETTINGS_BYTES);

	if (!found)
		return string;
	for (; found; text = found + strlen(secret), found = strstr(text, secret)) {
		buf_append(&out, text, (size_t)(found - text));
		buf_str(&out, MASK);
	}
	buf_str(&out, text);
	json_decref(string);
	return json_text(buf_view(&out));
}

/* `string` is taken. */
static json_t *mask_values(json_t *string, char *const *variables)
{
	for (size_t i = 0; variables && variables[i]; i++) {
		const char *sign = strchr(variables[i], '=');

		if (sign && strlen(sign + 1) >= SECRET_MIN && environment_is_secret(variables[i]))
			string = mask_occurrences(string, sign + 1);
	}
	return string;
}

static json_t *mask_string(const char *name, const json_t *value, char *const *variables)
{
	json_t *string = json_text(json_span(value));

	if (setting_is_secret(name, json_string_value(string))) {
		json_decref(string);
		return json_string(MASK);
	}
	return mask_values(string, variables);
}

/* Recursion is bounded by the depth to which files of settings are read. */
static json_t *mask_by_name(const char *name, const json_t *value, char *const *variables)
{
	json_t *result, *member;
	const char *below;
	size_t i;

	if (json_is_string(value))
		return mask_string(name, value, variables);
	if (json_is_array(value)) {
		result = json_array();
		json_array_foreach(value, i, member)
			json_array_append_new(result, mask_by_name(name, member, variables));
		return result;
	}
	if (!json_is_object(value))
		return json_incref((json_t *)value);
	result = json_object();
	json_object_foreach((json_t *)value, below, member)
		json_object_set_new(result, below, mask_by_name(below, member, variables));
	return result;
}

json_t *setup_mask_secrets(const char *path, const json_t *value, char *const *variables)
{
	const char *dot = strrchr(path, '.');

	return mask_by_name(dot ? dot + 1 : path, value, variables);
}

/* ---- keys in a text ------------------------------------------------------------ */

/* What keys consist of, and addresses with a password in them; "NAME:" without its colon. */
static struct span text_word(struct span rest)
{
	static const char between[] = " \t\r\n\"'`,;(){}[]<>|&=\\";
	size_t len = 0;

	while (len < rest.len && rest.data[len] && !strchr(between, rest.data[len]))
		len++;
	while (len > 0 && rest.data[len - 1] == ':')
		len--;
	return span_head(rest, len);
}

static bool word_is_scheme(struct span word)
{
	return span_eq(word, SPAN("Bearer")) || span_eq(word, SPAN("bearer")) ||
	       span_eq(word, SPAN("Basic")) || span_eq(word, SPAN("basic"));
}

/* `name`: of the variable or member whose value it is; empty: of none. */
static bool word_is_key(struct span name, struct span word)
{
	_cleanup_free_ char *variable = mem_printf("%.*s=%.*s", (int)name.len,
	                                           name.len ? name.data : "", (int)word.len,
	                                           word.data);

	return environment_is_secret(variable);
}

json_t *setup_mask_text(struct span text, char *const *variables)
{
	_cleanup_buf_ struct buf out = BUF_INIT(2 * LIMIT_SETTINGS_BYTES);
	struct span name = { 0 }, word; /* the word before */
	bool assigns = false;           /* '=' or ':' is between them, quotes and blanks at most */

	for (struct span rest = text; rest.len; rest = span_skip(rest, word.len)) {
		word = text_word(rest);
		if (!word.len) {
			word = span_head(rest, 1);
			buf_append(&out, word.data, 1);
			assigns |= *word.data == '=' || *word.data == ':';
			if (!*word.data || !strchr("=: \"'\\", *word.data))
				name = SPAN("");
			continue;
		}
		if ((word_is_scheme(name) && word.len >= SECRET_MIN) ||
		    (!word_is_scheme(word) && word_is_key(assigns ? name : SPAN(""), word)))
			buf_str(&out, MASK);
		else
			buf_append(&out, word.data, word.len);
		name = word;
		assigns = false;
	}
	return mask_values(json_text(buf_view(&out)), variables);
}
