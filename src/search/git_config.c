/* SPDX-License-Identifier: Apache-2.0 */
/* git-config(1), "Syntax":
 *
 *     file    = { space | comment | section | variable }
 *     section = "[" name [ "." name ] "]"  |  "[" name space '"' subsection '"' "]"
 *     variable = name [ "=" value ] end of line
 *     value   = pieces, quoted or not; "\" before a line end goes on in the next line
 */
#include "search/git_config.h"

#include "base/buf.h"
#include "base/mem.h"

#define END_OF_TEXT (-1)

struct reader {
	struct span rest;
	struct buf section, subsection, name, value;
};

static bool is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_key_char(int c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static int lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* The next character, without taking it; CR LF counts as LF. */
static int peek(const struct reader *r)
{
	if (r->rest.len == 0)
		return END_OF_TEXT;
	if (span_starts(r->rest, SPAN("\r\n")))
		return '\n';
	return (unsigned char)r->rest.data[0];
}

static int take(struct reader *r)
{
	int c = peek(r);

	r->rest = span_skip(r->rest, span_starts(r->rest, SPAN("\r\n")) ? 2 : 1);
	return c;
}

static bool is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct reader *r)
{
	while (is_blank(peek(r)))
		take(r);
}

static void skip_line(struct reader *r)
{
	int c;

	do
		c = take(r);
	while (c != '\n' && c != END_OF_TEXT);
}

/* A subsection up to and with its closing quote; the opening one is taken. */
static bool read_quoted_subsection(struct reader *r)
{
	for (;;) {
		int c = take(r);

		if (c == '\\')
			c = take(r);
		else if (c == '"')
			return true;
		if (c == '\n' || c == END_OF_TEXT || !buf_char(&r->subsection, (char)c))
			return false;
	}
}

/* What follows "[", with its "]". */
static bool read_section(struct reader *r)
{
	struct buf *part = &r->section;
	int c;

	buf_clear(&r->section);
	buf_clear(&r->subsection);
	for (c = take(r); is_key_char(c) || c == '.'; c = take(r)) {
		if (c == '.' && part == &r->section)
			part = &r->subsection; /* the old form, whose names have no case */
		else if (!buf_char(part, (char)lower(c)))
			return false;
	}
	if (is_blank(c)) {
		skip_blanks(r);
		if (part != &r->section || take(r) != '"' || !read_quoted_subsection(r))
			return false;
		c = take(r);
	}
	return c == ']' && r->section.len > 0;
}

static bool append_escape(struct reader *r)
{
	static const char names[] = "nbt\"\\", meanings[] = "\n\b\t\"\\";
	int c = take(r);
	const char *at = c > 0 ? memchr(names, c, sizeof(names) - 1) : NULL;

	if (c == '\n')
		return true; /* the value goes on in the next line */
	return at && buf_char(&r->value, meanings[at - names]);
}

/* What follows "=", with the line end. */
static bool read_value(struct reader *r)
{
	bool quoted = false;
	size_t keep = 0; /* bytes that trailing blanks are not part of */

	skip_blanks(r);
	for (;;) {
		int c = take(r);

		if (c == '\n' || c == END_OF_TEXT)
			break;
		if (!quoted && (c == '#' || c == ';')) {
			skip_line(r);
			break;
		}
		if (c == '"')
			quoted = !quoted;
		else if (!quoted && is_blank(c) && r->value.len == 0)
			continue; /* the line before had nothing but a backslash */
		else if (c == '\\' ? !append_escape(r) : c == '\0' || !buf_char(&r->value, (char)c))
			return false;
		if (quoted || !is_blank(c))
			keep = r->value.len;
	}
	r->value.len = keep;
	return !quoted;
}

/* What begins with a letter outside of brackets. */
static bool read_variable(struct reader *r, struct git_config_item *ret)
{
	int c;

	buf_clear(&r->name);
	buf_clear(&r->value);
	while (is_key_char(peek(r))) {
		if (!buf_char(&r->name, (char)lower(take(r))))
			return false;
	}
	skip_blanks(r);
	c = take(r);
	if (c == '=' ? !read_value(r) : c != '\n' && c != END_OF_TEXT)
		return false;
	*ret = (struct git_config_item){
		.section = buf_view(&r->section),
		.subsection = buf_view(&r->subsection),
		.name = buf_view(&r->name),
		.value = buf_view(&r->value),
		.has_value = c == '=',
	};
	return true;
}

static bool read_all(struct reader *r, git_config_each *each, void *data)
{
	struct git_config_item item;

	for (;;) {
		int c = peek(r);

		if (c == END_OF_TEXT)
			return true;
		if (is_letter(c)) {
			if (!read_variable(r, &item))
				return false;
			if (item.section.len > 0 && !each(data, &item))
				return false; /* before any section it is nobody's, as in git */
			continue;
		}
		take(r);
		if (c == '#' || c == ';')
			skip_line(r);
		else if (c == '[' ? !read_section(r) : c != '\n' && !is_blank(c))
			return false;
	}
}

bool git_config_read(struct span text, git_config_each *each, void *data)
{
	struct reader r = {
		.rest = text,
		.section = BUF_INIT(GIT_CONFIG_TEXT_MAX),
		.subsection = BUF_INIT(GIT_CONFIG_TEXT_MAX),
		.name = BUF_INIT(GIT_CONFIG_TEXT_MAX),
		.value = BUF_INIT(GIT_CONFIG_TEXT_MAX),
	};
	bool good;

	if (span_starts(text, SPAN("\xef\xbb\xbf")))
		r.rest = span_skip(text, 3);
	good = read_all(&r, each, data);
	buf_release(&r.section);
	buf_release(&r.subsection);
	buf_release(&r.name);
	buf_release(&r.value);
	return good;
}
