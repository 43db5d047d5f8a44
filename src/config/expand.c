/* SPDX-License-Identifier: Apache-2.0 */
/* Variables in strings:
 *
 *     reference = "$" 1*word | "${" name [ ":-" default ] "}"
 *     word      = letter | digit | "_"
 *     name      = 1*any but "}"           default = *any but "}"
 */
#include <ctype.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/variables_private.h"
#include "data/json.h"
#include "data/jsonc.h"
#include "data/warnings.h"

struct reference {
	struct span whole;
	struct span name;
	struct span fallback;
	bool has_fallback;
};

static bool read_word(struct span rest, struct reference *ret)
{
	size_t len = 1;

	while (len < rest.len && (isalnum((unsigned char)rest.data[len]) || rest.data[len] == '_'))
		len++;
	*ret = (struct reference){ .whole = span_head(rest, len),
		                   .name = span_of(rest.data + 1, len - 1) };
	return len > 1;
}

static bool read_braces(struct span rest, struct reference *ret)
{
	const char *close = memchr(rest.data, '}', rest.len);
	const char *mark;
	struct span inside;

	if (!close || close == rest.data + 2)
		return false;
	inside = span_of(rest.data + 2, (size_t)(close - rest.data - 2));
	*ret = (struct reference){ .whole = span_of(rest.data, (size_t)(close + 1 - rest.data)),
		                   .name = inside };
	/* A name has one character at least: the mark is looked for behind it. */
	mark = memmem(inside.data + 1, inside.len - 1, ":-", 2);
	if (mark) {
		ret->name = span_of(inside.data, (size_t)(mark - inside.data));
		ret->fallback = span_skip(inside, ret->name.len + 2);
		ret->has_fallback = true;
	}
	return true;
}

/* One value's expansion: `left` is how much longer all strings together may become. */
struct expansion {
	const struct variables *variables;
	size_t left;
	bool own;
	json_t *warnings;
};

static void warn_of_projects(const struct expansion *expansion, const char *name)
{
	_cleanup_free_ char *sentence = mem_printf(
		"$%.64s is set only by the project's %s, so it is not expanded in other settings "
		"until you run: hasp config allow %.64s",
		name, variables_file(expansion->variables), name);
	json_auto_t *text = json_text(span_str(sentence));
	json_t *known;
	size_t i;

	json_array_foreach(expansion->warnings, i, known)
		if (json_equal(known, text))
			return;
	warnings_add(expansion->warnings, mem_steal(&text));
}

static void put(const struct expansion *expansion, const struct reference *reference,
                struct buf *out)
{
	_cleanup_free_ char *name = mem_dup(reference->name.data, reference->name.len);
	const char *value = variables_get(expansion->variables, name);

	if (value && expansion->own && variables_is_projects(expansion->variables, name)) {
		warn_of_projects(expansion, name);
		value = NULL;
	}
	if (value)
		buf_str(out, value);
	else
		buf_span(out, reference->has_fallback ? reference->fallback : reference->whole);
}

static void expand_text(const struct expansion *expansion, struct span text, struct buf *out)
{
	const char *last_brace = text.len ? memrchr(text.data, '}', text.len) : NULL;

	while (text.len) {
		const char *dollar = memchr(text.data, '$', text.len);
		struct reference reference;

		buf_span(out, dollar ? span_head(text, (size_t)(dollar - text.data)) : text);
		if (!dollar)
			return;
		text = span_skip(text, (size_t)(dollar - text.data));
		if (text.len > 1 && (text.data[1] != '{' ? read_word(text, &reference)
		                     : last_brace && text.data < last_brace
			                     ? read_braces(text, &reference)
			                     : false)) {
			put(expansion, &reference, out);
			text = span_skip(text, reference.whole.len);
		} else {
			buf_char(out, '$');
			text = span_skip(text, 1);
		}
	}
}


void variables_expand(const struct variables *variables, struct span text, struct buf *out)
{
	const struct expansion expansion = { .variables = variables };

	expand_text(&expansion, text, out);
}

static json_t *expand(struct expansion *expansion, const json_t *value);

static json_t *expand_string(struct expansion *expansion, const json_t *value)
{
	struct span text = json_span(value);
	_cleanup_buf_ struct buf out = BUF_INIT(expansion->left);

	if (!text.len || !memchr(text.data, '$', text.len))
		return json_incref((json_t *)value);
	expand_text(expansion, text, &out);
	if (out.overflowed)
		return json_incref((json_t *)value);
	expansion->left -= out.len;
	return json_text(buf_view(&out));
}

static json_t *expand_array(struct expansion *expansion, const json_t *value)
{
	json_t *result = json_array();
	const json_t *item;
	size_t i;

	json_array_foreach(value, i, item)
		json_array_append_new(result, expand(expansion, item));
	return result;
}

/* Recursion is bounded by the depth to which files of settings are read (JSONC_DEPTH_MAX). */
static json_t *expand(struct expansion *expansion, const json_t *value)
{
	const char *name;
	json_t *result, *member;

	if (json_is_string(value))
		return expand_string(expansion, value);
	if (json_is_array(value))
		return expand_array(expansion, value);
	if (!json_is_object(value))
		return json_incref((json_t *)value);
	result = json_object();
	json_object_foreach((json_t *)value, name, member)
		json_object_set_new_nocheck(result, name, expand(expansion, member));
	return result;
}

json_t *variables_expand_json(const struct variables *variables, const json_t *value, bool own,
                              json_t *warnings)
{
	struct expansion expansion = { variables, LIMIT_EXPANDED_BYTES, own, warnings };

	return expand(&expansion, value);
}
