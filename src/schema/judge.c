/* SPDX-License-Identifier: Apache-2.0 */
/* What keywords need: definitions that are referred to, patterns, steps, and reporting problems. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "schema/private.h"
#include "search/match/js_regex.h"

enum { SHOWN_BYTES = 4096, PLACES_SHOWN = 32 };

/* ---- references ---------------------------------------------------------------- */

/* The value of a hexadecimal digit; -1: it is none. */
static int digit_value(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = memchr(digits, c | 0x20, sizeof(digits) - 1);

	return at ? (int)(at - digits) : -1;
}

/* One token of a JSON Pointer (RFC 6901), which may be percent-encoded. */
static char *pointer_token(struct span token)
{
	char *out = mem_alloc(token.len + 1, 1), *to = out;

	for (size_t i = 0; i < token.len; i++) {
		const char c = token.data[i];
		const bool coded = c == '%' && i + 2 < token.len;
		const int high = coded ? digit_value(token.data[i + 1]) : -1;
		const int low = high >= 0 ? digit_value(token.data[i + 2]) : -1;

		if (c == '~' && i + 1 < token.len && strchr("01", token.data[i + 1]))
			*to++ = token.data[++i] == '0' ? '~' : '/';
		else if (low >= 0)
			*to++ = (char)(high * 16 + low), i += 2;
		else
			*to++ = c;
	}
	return out;
}

static const json_t *at_pointer(const json_t *from, struct span pointer)
{
	while (from && pointer.len) {
		const char *slash;
		_cleanup_free_ char *token = NULL;

		pointer = span_skip(pointer, 1);
		slash = pointer.len ? memchr(pointer.data, '/', pointer.len) : NULL;
		token = pointer_token(span_head(pointer, slash ? (size_t)(slash - pointer.data)
		                                               : pointer.len));
		pointer = span_skip(pointer, slash ? (size_t)(slash - pointer.data) : pointer.len);
		from = json_is_array(from) ? json_array_get(from, strtoul(token, NULL, 10))
		                           : json_object_get(from, token);
	}
	return from;
}

/* Whether a definition is the one that is named: by its anchor, or by the end of its address. */
static bool is_definition(const struct json_schema *schema, const json_t *definition,
                          const char *ref)
{
	static const char *const names[] = { "$id", "id", "$anchor", "$dynamicAnchor" };
	const char *plain = ref[0] == '#' ? ref + 1 : ref;

	if (schema->ref_alone && json_object_get(definition, "$ref"))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *name = json_string_value(json_object_get(definition, names[i]));
		const size_t len = name ? strlen(name) : 0, wanted = strlen(plain);

		if (!len || !wanted)
			continue;
		if (!strcmp(name, ref) || !strcmp(name, plain))
			return true;
		if (ref[0] != '#' && len > wanted && name[len - wanted - 1] == '/' &&
		    !strcmp(name + len - wanted, plain))
			return true;
	}
	return false;
}

const json_t *schema_referred(const struct json_schema *schema, const char *keyword,
                              const char *ref)
{
	static const char *const groups[] = { "$defs", "definitions" };
	const json_t *found = NULL;
	const char *name;
	json_t *definition;

	/* In one resource, what depends on the way to it is always the same. */
	if (schema->bundled && (ref[0] == '#' || strcmp(keyword, "$ref") != 0))
		return NULL;
	if (ref[0] == '#' && (!ref[1] || ref[1] == '/'))
		return at_pointer(schema->root, span_str(ref + 1));
	if (is_definition(schema, schema->root, ref))
		return schema->root;
	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		json_object_foreach(json_object_get(schema->root, groups[i]), name, definition) {
			if (!is_definition(schema, definition, ref))
				continue;
			if (found) /* the ends of both addresses are the same */
				return NULL;
			found = definition;
		}
	return found;
}

/* ---- problems ------------------------------------------------------------------ */

static void put_path_step(struct buf *out, const char *name)
{
	const bool plain = *name && !ascii_is_digit(*name) &&
	                   strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	                                "0123456789") == strlen(name);
	json_auto_t *text = plain ? NULL : json_string(name);

	buf_char(out, '.');
	if (plain)
		buf_str(out, name);
	else
		json_print(out, text, 0);
}

static void put_where(struct buf *out, const struct schema_place *place)
{
	const struct schema_place *way[PLACES_SHOWN];
	size_t depth = 0;

	for (; place && place->above && depth < PLACES_SHOWN; place = place->above)
		way[depth++] = place;
	if (!depth || !way[depth - 1]->name)
		buf_char(out, '.');
	while (depth-- > 0) {
		if (way[depth]->name)
			put_path_step(out, way[depth]->name);
		else
			buf_printf(out, "[%zu]", way[depth]->item);
	}
}

enum schema_verdict schema_problem(struct schema_judge *judge, const struct schema_place *place,
                                   const char *keyword, const char *format, ...)
{
	char text[SHOWN_BYTES];
	va_list args;

	if (judge->quiet)
		return SCHEMA_INVALID;
	judge->count++;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (judge->problems->len + sizeof(text) + SHOWN_BYTES > judge->problems->max)
		return SCHEMA_INVALID;
	if (judge->problems->len)
		buf_str(judge->problems, "; ");
	put_where(judge->problems, place);
	buf_printf(judge->problems, " %s (%s)", text, keyword);
	return SCHEMA_INVALID;
}

enum schema_verdict schema_unknown(struct schema_judge *judge, const struct schema_place *place,
                                   const char *format, ...)
{
	char text[SHOWN_BYTES];
	va_list args;

	if (judge->unknown.len || judge->unknown.overflowed)
		return SCHEMA_UNKNOWN;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put_where(&judge->unknown, place);
	buf_printf(&judge->unknown, ": %s", text);
	return SCHEMA_UNKNOWN;
}

/* ---- steps and patterns ------------------------------------------------------------ */

bool schema_spend(struct schema_judge *judge, size_t steps)
{
	if (judge->steps < steps) {
		judge->steps = 0;
		return false;
	}
	judge->steps -= steps;
	return true;
}

enum schema_verdict schema_unfinished(struct schema_judge *judge, const struct schema_place *place)
{
	return schema_unknown(judge, place, "it takes more than %d steps", SCHEMA_STEPS_MAX);
}

static struct js_regex *compiled(struct json_schema *schema, const char *pattern)
{
	struct err ignored = ERR_INIT;
	struct schema_pattern *next = &schema->patterns[schema->pattern_count];

	for (size_t i = 0; i < schema->pattern_count; i++)
		if (schema->patterns[i].pattern == pattern)
			return schema->patterns[i].regex;
	if (schema->pattern_count == SCHEMA_PATTERNS_MAX)
		return NULL;
	*next = (struct schema_pattern){ .pattern = pattern };
	js_regex_compile_with(span_str(pattern), JS_REGEX_BOUNDED, &next->regex, &ignored);
	schema->pattern_count++;
	return next->regex;
}

enum schema_verdict schema_judge_pattern(struct schema_judge *judge, const char *pattern,
                                         const char *text, const struct schema_place *place)
{
	const struct js_regex *regex = compiled(judge->schema, pattern);

	/* Patterns are read without the flag "u", where this would be plain letters. */
	if (strstr(pattern, "\\p{") || strstr(pattern, "\\P{"))
		return schema_unknown(judge, place, "the pattern %.*s has a Unicode property",
		                      schema_shown(pattern), pattern);
	if (!regex)
		return schema_unknown(judge, place, "the pattern %.*s is not JavaScript's, or is "
		                      "one of more than %d", schema_shown(pattern), pattern,
		                      SCHEMA_PATTERNS_MAX);
	if (!schema_spend(judge, 64 + strlen(text) / 4))
		return schema_unfinished(judge, place);
	switch (js_regex_test(regex, span_str(text))) {
	case JS_REGEX_NO:
		return SCHEMA_INVALID;
	case JS_REGEX_YES:
		return SCHEMA_VALID;
	default:
		return schema_unknown(judge, place, "the pattern %.*s takes too long",
		                      schema_shown(pattern), pattern);
	}
}
