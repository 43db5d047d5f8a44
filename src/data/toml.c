/* SPDX-License-Identifier: Apache-2.0 */
/* How deep a TOML text could nest, found before it is parsed: toml++ limits brackets, but a key of
 * a million dots makes a million tables, and their destruction recurses.
 *
 * Grammar, as far as it matters: strings in four kinds of quotes, comments, brackets; dots outside
 * of
 * them and before "=" lead a level down.
 */
#include "data/toml.h"

#include "base/mem.h"
#include "data/toml_private.h"

struct toml_scan {
	struct span text;
	size_t at;
	unsigned dots;             /* since the last separator */
	unsigned level;            /* of the tables and arrays around this place */
	unsigned open;             /* brackets that are open */
	unsigned outer[TOML_DEPTH_MAX + 1]; /* the level outside of each */
};

static bool toml_starts(const struct toml_scan *scan, const char *what)
{
	return span_starts(span_skip(scan->text, scan->at), span_str(what));
}

/* Past the string whose quotation marks are `quote`. What has no end ends with the text. */
static void toml_skip_string(struct toml_scan *scan, const char *quote)
{
	bool escapes = quote[0] == '"', lines = quote[1] != '\0';

	for (scan->at += strlen(quote); scan->at < scan->text.len && !toml_starts(scan, quote);
	     scan->at++) {
		if (!lines && scan->text.data[scan->at] == '\n')
			return;
		if (escapes && scan->text.data[scan->at] == '\\')
			scan->at++;
	}
	scan->at += strlen(quote);
}

static void skip_comment(struct toml_scan *scan)
{
	while (scan->at < scan->text.len && scan->text.data[scan->at] != '\n')
		scan->at++;
}

/* True past a string or a comment. */
static bool skip_text(struct toml_scan *scan)
{
	static const char *const quotes[] = { "\"\"\"", "'''", "\"", "'" };

	if (toml_starts(scan, "#")) {
		skip_comment(scan);
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(quotes); i++) {
		if (toml_starts(scan, quotes[i])) {
			toml_skip_string(scan, quotes[i]);
			return true;
		}
	}
	return false;
}

/* One character that is in no string. */
static bool toml_step(struct toml_scan *scan)
{
	char c = scan->text.data[scan->at++];

	if (c == '.') {
		scan->dots++;
	} else if (c == '{' || c == '[') {
		if (scan->open == TOML_DEPTH_MAX)
			return false;
		scan->outer[scan->open++] = scan->level;
		scan->level += scan->dots + 1;
		scan->dots = 0;
	} else if (c == '}' || c == ']') {
		if (scan->open)
			scan->level = scan->outer[--scan->open];
		scan->dots = 0;
	} else if (c == ',' || c == '\n') {
		scan->dots = 0;
	}
	return scan->level + scan->dots <= TOML_DEPTH_MAX;
}

/* False when one header, or the key and value of one assignment, could nest deeper than
 * TOML_DEPTH_MAX; *ret_at is where. */
static bool depth_ok(struct span text, size_t *ret_at)
{
	struct toml_scan scan = { .text = text };

	while (scan.at < text.len) {
		size_t from = scan.at;

		if (skip_text(&scan))
			continue;
		if (!toml_step(&scan)) {
			*ret_at = from;
			return false;
		}
	}
	return true;
}

static bool too_deep(struct span text, size_t at, struct err *err)
{
	unsigned line = 1, column = 1;

	for (size_t i = 0; i < at; i++) {
		bool ends = text.data[i] == '\n';

		line += ends;
		column = ends ? 1 : column + (((unsigned char)text.data[i] & 0xC0) != 0x80);
	}
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "Not TOML that is read here, line %u, column %u: nested too deep.", line,
	               column);
}

bool toml_parse(struct span text, json_t **ret, struct err *err)
{
	size_t at;

	return depth_ok(text, &at) ? toml_read(text, NULL, ret, err) : too_deep(text, at, err);
}

bool toml_parse_lines(struct span text, json_t **ret, struct err *err)
{
	size_t at;

	return depth_ok(text, &at) ? toml_read(text, TOML_LINE, ret, err) : too_deep(text, at, err);
}
