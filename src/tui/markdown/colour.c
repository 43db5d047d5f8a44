/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/markdown/private.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tree_sitter/api.h>

#include "base/buf.h"
#include "base/mem.h"
#include <queries.h> /* made of the packages' queries/highlights.scm */
#include "tui/text/rows.h"

#define C_SPANS "/* */"
#define JS_SPANS "/* */ ` `"
#define PYTHON_SPANS "\"\"\" \"\"\" ''' '''"

/* X(function of the grammar, names, what spans lines (beginning and end, in turn), how a comment of
 * one line begins, queries in turn) */
#define LANGUAGES(X)                                                                          \
	X(c, " c h ", C_SPANS, "//", query_c)                                                 \
	X(cpp, " cpp c++ cc cxx hpp hh hxx ", C_SPANS, "//", query_c, query_cpp)              \
	X(python, " python py python3 pyi ", PYTHON_SPANS, "#", query_python)                 \
	X(javascript, " javascript js jsx mjs cjs node ", JS_SPANS, "//", query_javascript)   \
	X(typescript, " typescript ts mts cts ", JS_SPANS, "//", query_javascript,            \
	  query_typescript)                                                                   \
	X(tsx, " tsx ", JS_SPANS, "//", query_javascript, query_typescript)                   \
	X(go, " go golang ", JS_SPANS, "//", query_go)                                        \
	X(rust, " rust rs ", C_SPANS, "//", query_rust)                                       \
	X(java, " java ", C_SPANS, "//", query_java)                                          \
	X(json, " json jsonc json5 ", C_SPANS, "//", query_json)                              \
	X(yaml, " yaml yml ", "", "#", query_yaml)                                            \
	X(toml, " toml ", PYTHON_SPANS, "#", query_toml)                                      \
	X(bash, " bash sh shell zsh ksh console shellscript ", "", "#", query_bash)           \
	X(html, " html htm xhtml ", "<!-- -->", "", query_html)                               \
	X(css, " css ", C_SPANS, "", query_css)

#define DECLARE(name, ...) const TSLanguage *tree_sitter_##name(void);
LANGUAGES(DECLARE)
#undef DECLARE

struct language {
	const TSLanguage *(*grammar)(void);
	const char *names;
	const char *spans, *comment;
	const char *queries[3];
};

static const struct language languages[] = {
#define LANGUAGE_ROW(name, names, spans, comment, ...) \
	{ tree_sitter_##name, names, spans, comment, { __VA_ARGS__ } },
	LANGUAGES(LANGUAGE_ROW)
#undef LANGUAGE_ROW
};

/* ---- what spans lines ---------------------------------------------------------- */

/* The beginning of a span at `at` of the line, if there is one: its end; NULL: none. */
static struct span span_begin(const struct language *language, struct span line, size_t at,
                              size_t *ret_len)
{
	struct span rest = span_str(language->spans);

	while (rest.len > 0) {
		const size_t open = strcspn(rest.data, " ");
		const size_t close = strcspn(rest.data + open + 1, " ");

		if (span_starts(span_skip(line, at), span_head(rest, open))) {
			*ret_len = open;
			return span_of(rest.data + open + 1, close);
		}
		rest = span_skip(rest, open + close + 2);
	}
	return (struct span){ 0 };
}

/* After the quote at `at`: where its text ends on this line; `at` + 1: it does not. */
static size_t skip_quoted(struct span line, size_t at)
{
	for (size_t i = at + 1; i < line.len; i++) {
		if (line.data[i] == '\\')
			i++;
		else if (line.data[i] == line.data[at])
			return i + 1;
	}
	return at + 1;
}

/* Which end the text waits for after this line, if it waited for `end` before. */
static struct span read_spans(const struct language *language, struct span line, struct span end)
{
	const struct span comment = span_str(language->comment);

	for (size_t at = 0; at < line.len;) {
		struct span rest = span_skip(line, at);
		size_t len = 0;

		if (end.len > 0) {
			const char *found = memmem(rest.data, rest.len, end.data, end.len);

			if (!found)
				return end;
			at = (size_t)(found - line.data) + end.len;
			end.len = 0;
			continue;
		}
		end = span_begin(language, line, at, &len);
		if (end.len > 0)
			at += len;
		else if (comment.len > 0 && span_starts(rest, comment))
			return end;
		else if (*rest.data == '"' || *rest.data == '\'')
			at = skip_quoted(line, at);
		else
			at++;
	}
	return end;
}

/* ---- queries ------------------------------------------------------------------- */

enum { NO_ROLE = 255, PREDICATES_MAX = 4 };

/* "#match?" and "#eq?" of a pattern, over what one capture caught. */
struct predicate {
	uint32_t capture;
	bool matches;  /* a regular expression; else a text */
	regex_t regex;
	const char *text;
	uint32_t text_len;
};

struct colour_pattern {
	struct predicate predicates[PREDICATES_MAX];
	unsigned count;
};

/* A query that was made once: that takes as long as colouring a page. */
struct colour_query {
	TSQuery *query;
	uint8_t *roles; /* of each capture */
	struct colour_pattern *patterns;
};

static struct colour_query made[ARRAY_LEN(languages)]; /* freed never */

static uint8_t capture_role(const char *name)
{
	static const struct {
		const char *prefix;
		uint8_t role;
	} roles[] = {
		{ "comment", ROLE_COMMENT },
		{ "string.special.key", ROLE_ATTRIBUTE },
		{ "string.escape", ROLE_CONSTANT },
		{ "string", ROLE_STRING },
		{ "escape", ROLE_CONSTANT },
		{ "number", ROLE_NUMBER },
		{ "boolean", ROLE_CONSTANT },
		{ "constant", ROLE_CONSTANT },
		{ "variable.builtin", ROLE_CONSTANT },
		{ "keyword", ROLE_KEYWORD },
		{ "tag", ROLE_KEYWORD },
		{ "type", ROLE_TYPE },
		{ "constructor", ROLE_TYPE },
		{ "namespace", ROLE_TYPE },
		{ "function", ROLE_FUNCTION },
		{ "attribute", ROLE_ATTRIBUTE },
		{ "property", ROLE_ATTRIBUTE },
		{ "label", ROLE_ATTRIBUTE },
		{ "embedded", ROLE_CODE },
	};

	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		if (strncmp(name, roles[i].prefix, strlen(roles[i].prefix)) == 0)
			return roles[i].role;
	return NO_ROLE;
}

/* Queries write \d; POSIX has ranges only, and there it always stands in brackets. */
static bool compile_regex(regex_t *regex, const char *text)
{
	struct buf posix = BUF_INIT(1 << 16);
	bool ok;

	for (; *text; text++) {
		if (text[0] == '\\' && text[1] == 'd') {
			buf_str(&posix, "0-9");
			text++;
		} else {
			buf_char(&posix, *text);
		}
	}
	ok = posix.len > 0 && regcomp(regex, posix.data, REG_EXTENDED | REG_NOSUB) == 0;
	buf_release(&posix);
	return ok;
}

/* One predicate: name, capture, text. Others than those two hold always. */
static void read_predicate(const TSQuery *query, const TSQueryPredicateStep *steps,
                           struct colour_pattern *pattern)
{
	struct predicate *predicate = &pattern->predicates[pattern->count];
	uint32_t len;
	const char *name = ts_query_string_value_for_id(query, steps[0].value_id, &len);

	if (pattern->count == PREDICATES_MAX || steps[1].type != TSQueryPredicateStepTypeCapture ||
	    steps[2].type != TSQueryPredicateStepTypeString)
		return;
	predicate->capture = steps[1].value_id;
	predicate->text = ts_query_string_value_for_id(query, steps[2].value_id,
	                                               &predicate->text_len);
	if (strcmp(name, "match?") == 0) {
		predicate->matches = true;
		if (!compile_regex(&predicate->regex, predicate->text))
			return;
	} else if (strcmp(name, "eq?") != 0) {
		return;
	}
	pattern->count++;
}

static void read_pattern(const TSQuery *query, uint32_t i, struct colour_pattern *pattern)
{
	uint32_t count = 0, first = 0;
	const TSQueryPredicateStep *steps = ts_query_predicates_for_pattern(query, i, &count);

	for (uint32_t at = 0; at < count; at++) {
		if (steps[at].type != TSQueryPredicateStepTypeDone)
			continue;
		if (at - first == 3 && steps[first].type == TSQueryPredicateStepTypeString)
			read_predicate(query, &steps[first], pattern);
		first = at + 1;
	}
}

/* Languages whose properties are what a reader looks for. */
static bool is_data(const struct language *language)
{
	return strstr(language->names, " yaml ") || strstr(language->names, " toml ") ||
	       strstr(language->names, " css ");
}

static bool make_query(const struct language *language, struct colour_query *ret)
{
	struct buf text = BUF_INIT(1 << 20);
	uint32_t at, count;
	TSQueryError error;

	for (size_t i = 0; i < ARRAY_LEN(language->queries) && language->queries[i]; i++)
		buf_str(&text, language->queries[i]);
	ret->query = ts_query_new(language->grammar(), text.data, (uint32_t)text.len, &at, &error);
	buf_release(&text);
	if (!ret->query)
		return false;
	count = ts_query_capture_count(ret->query);
	ret->roles = mem_alloc(count + 1, sizeof(*ret->roles));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t len;
		const char *name = ts_query_capture_name_for_id(ret->query, i, &len);

		ret->roles[i] = capture_role(name);
		if (strncmp(name, "property", 8) == 0 && !is_data(language))
			ret->roles[i] = NO_ROLE;
	}
	count = ts_query_pattern_count(ret->query);
	ret->patterns = mem_alloc(count + 1, sizeof(*ret->patterns));
	for (uint32_t i = 0; i < count; i++)
		read_pattern(ret->query, i, &ret->patterns[i]);
	return true;
}

/* ---- colouring ----------------------------------------------------------------- */

struct colour {
	const struct language *language;
	const struct colour_query *query;
	TSParser *parser;
	TSTree *tree;
	TSQueryCursor *cursor;
	struct buf text;
	size_t dropped;  /* bytes of code before it */
	size_t tail;     /* bytes at its end that close `end`, so that the rest can be parsed */
	struct span end; /* what the text waits for */
	uint32_t lines;
	/* Of the text that `tree` was made of: bytes and lines, and its tail. */
	uint32_t parsed, parsed_lines, parsed_tail;
	uint64_t micros; /* spent */
	bool full;       /* nothing more is added */
};

static size_t painted; /* bytes, by all of them */

size_t colour_painted(void)
{
	return painted;
}

const char *colour_language(size_t i)
{
	return i < ARRAY_LEN(languages) ? languages[i].names : NULL;
}

struct colour *colour_new(const char *language)
{
	_cleanup_free_ char *word = mem_printf(" %s ", language);

	if (strchr(language, ' ') || !*language)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(languages); i++) {
		struct colour *colour;

		if (!strstr(languages[i].names, word))
			continue;
		if (!made[i].query && !make_query(&languages[i], &made[i]))
			return NULL;
		colour = mem_alloc(1, sizeof(*colour));
		colour->language = &languages[i];
		colour->query = &made[i];
		colour->text.max = COLOUR_BYTES_MAX + COLOUR_TAIL_MAX;
		colour->cursor = ts_query_cursor_new();
		colour->parser = ts_parser_new();
		colour->full = !ts_parser_set_language(colour->parser, languages[i].grammar());
#ifdef HASP_TREE_SITTER_TIMEOUT
		ts_parser_set_timeout_micros(colour->parser, COLOUR_SLICE_MICROS);
#endif
		return colour;
	}
	return NULL;
}

void colour_free(struct colour *colour)
{
	if (!colour)
		return;
	ts_tree_delete(colour->tree);
	ts_parser_delete(colour->parser);
	ts_query_cursor_delete(colour->cursor);
	buf_release(&colour->text);
	free(colour);
}

static uint64_t micros_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Where what was added ends. */
static size_t added_end(const struct colour *colour)
{
	return colour->dropped + colour->text.len - colour->tail;
}

bool colour_add(struct colour *colour, const char *line, size_t len)
{
	const size_t from = colour->text.len - colour->tail;

	if (len > COLOUR_LINE_MAX || colour->micros > COLOUR_MICROS ||
	    from + len + 1 > COLOUR_BYTES_MAX)
		colour->full = true;
	if (colour->full)
		return false;
	colour->text.len = from;
	colour->tail = 0;
	colour->end = read_spans(colour->language, span_of(line, len), colour->end);
	buf_span(&colour->text, span_of(line, len));
	buf_char(&colour->text, '\n');
	colour->lines++;
	return true;
}

/* Parses the text, for COLOUR_PARSE_MICROS of the processor's time: tree-sitter's own limit is of
 * time that passes, also while others have the processor, so it ends a slice, and the parser goes
 * on from there. NULL: it took too long. */
static TSTree *parse_text(const struct colour *colour)
{
	const uint64_t begin = micros_now();
	TSTree *tree;

	do
		tree = ts_parser_parse_string(colour->parser, colour->tree, colour->text.data,
		                              (uint32_t)colour->text.len);
	while (!tree && micros_now() - begin < COLOUR_PARSE_MICROS);
	return tree;
}

/* Parses the lines added since the last time; an open comment or text is closed for that. */
static bool parse_added(struct colour *colour)
{
	const TSPoint start = { colour->parsed_lines, 0 }, end = { colour->lines, 0 };
	const uint32_t len = (uint32_t)(colour->text.len - colour->tail);
	TSInputEdit edit = { colour->parsed, colour->parsed + colour->parsed_tail, 0, start, start,
		             end };
	TSTree *tree;

	if (colour->tree && colour->parsed == len)
		return true;
	buf_span(&colour->text, colour->end);
	colour->tail = colour->end.len;
	edit.old_end_point.column = colour->parsed_tail;
	edit.new_end_byte = (uint32_t)colour->text.len;
	edit.new_end_point.column = (uint32_t)colour->tail;
	if (colour->tree)
		ts_tree_edit(colour->tree, &edit);
	tree = parse_text(colour);
	ts_tree_delete(colour->tree);
	colour->tree = tree;
	colour->parsed = len;
	colour->parsed_lines = colour->lines;
	colour->parsed_tail = (uint32_t)colour->tail;
	return tree != NULL;
}

static bool predicate_holds(const struct colour *colour, const struct predicate *predicate,
                            const TSQueryMatch *match)
{
	char text[256];

	for (uint16_t i = 0; i < match->capture_count; i++) {
		const TSNode node = match->captures[i].node;
		const uint32_t from = ts_node_start_byte(node), to = ts_node_end_byte(node);
		const uint32_t len = to - from;

		if (match->captures[i].index != predicate->capture)
			continue;
		if (to > colour->text.len || len >= sizeof(text))
			return false;
		memcpy(text, colour->text.data + from, len);
		text[len] = '\0';
		if (predicate->matches ? regexec(&predicate->regex, text, 0, NULL, 0) != 0
		                       : len != predicate->text_len ||
		                                 memcmp(text, predicate->text, len) != 0)
			return false;
	}
	return true;
}

static bool pattern_holds(const struct colour *colour, const TSQueryMatch *match)
{
	const struct colour_pattern *pattern = &colour->query->patterns[match->pattern_index];

	for (unsigned i = 0; i < pattern->count; i++)
		if (!predicate_holds(colour, &pattern->predicates[i], match))
			return false;
	return true;
}

/* Outer nodes come first, and what comes later is painted over it: inner nodes over outer ones, and
 * later patterns over earlier ones, as these packages' queries mean it. */
static void paint_captures(struct colour *colour, uint32_t from, uint32_t to, uint8_t *roles)
{
	TSQueryMatch match;
	uint32_t index;

	ts_query_cursor_set_byte_range(colour->cursor, from, to);
	ts_query_cursor_exec(colour->cursor, colour->query->query,
	                     ts_tree_root_node(colour->tree));
	while (ts_query_cursor_next_capture(colour->cursor, &match, &index)) {
		const TSQueryCapture *capture = &match.captures[index];
		uint32_t start = ts_node_start_byte(capture->node);
		uint32_t end = ts_node_end_byte(capture->node);
		const uint8_t role = colour->query->roles[capture->index];

		/* "variable" and the like say nothing, and leave what another pattern says. */
		if (role == NO_ROLE || !pattern_holds(colour, &match))
			continue;
		start = start > from ? start : from;
		end = end < to ? end : to;
		if (start < end)
			memset(roles + (start - from), role, end - start);
	}
}

/* It took too long: what follows is coloured without what is before it. */
static void forget_code(struct colour *colour)
{
	colour->dropped = added_end(colour);
	ts_parser_reset(colour->parser);
	ts_tree_delete(colour->tree);
	colour->tree = NULL;
	buf_clear(&colour->text);
	colour->tail = 0;
	colour->lines = colour->parsed = colour->parsed_lines = colour->parsed_tail = 0;
}

void colour_paint(struct colour *colour, size_t at, size_t len, uint8_t *roles)
{
	const uint64_t begin = micros_now();
	const uint32_t from = (uint32_t)(at - colour->dropped);

	memset(roles, ROLE_CODE, len);
	if (at < colour->dropped || at + len > added_end(colour))
		return;
	if (parse_added(colour)) {
		paint_captures(colour, from, from + (uint32_t)len, roles);
		painted += len;
	} else {
		forget_code(colour);
	}
	colour->micros += micros_now() - begin;
}
