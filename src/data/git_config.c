/* SPDX-License-Identifier: Apache-2.0 */
/* git-config(1), "Syntax":
 *
 *     file    = { space | comment | section | variable }
 *     section = "[" name [ "." name ] "]"  |  "[" name space '"' subsection '"' "]"
 *     variable = name [ "=" value ] end of line
 *     value   = pieces, quoted or not; "\" before a line end goes on in the next line
 */
#include "data/git_config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define END_OF_TEXT (-1)

/* Parts lie after each other in the room, in this order: each is made of bytes of the text that
 * belong to no other, so all of them fit. */
struct git_config_part {
	char *data;
	size_t len;
};

struct git_config_reader {
	struct span rest;
	struct git_config_part section, subsection, name, value;
};

static void part_begin(struct git_config_part *part, const struct git_config_part *before)
{
	*part = (struct git_config_part){ .data = before->data + before->len };
}

static bool part_put(struct git_config_part *part, int c)
{
	if (part->len == GIT_CONFIG_TEXT_MAX)
		return false;
	part->data[part->len++] = (char)c;
	return true;
}

static struct span part_view(const struct git_config_part *part)
{
	return span_of(part->data, part->len);
}

static bool is_git_key_char(int c)
{
	return ascii_is_alnum(c) || c == '-';
}

static int ascii_lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* The next character, without taking it; CR LF counts as LF. */
static int config_peek(const struct git_config_reader *r)
{
	if (r->rest.len == 0)
		return END_OF_TEXT;
	if (span_starts(r->rest, SPAN("\r\n")))
		return '\n';
	return (unsigned char)r->rest.data[0];
}

static int config_take(struct git_config_reader *r)
{
	int c = config_peek(r);

	r->rest = span_skip(r->rest, span_starts(r->rest, SPAN("\r\n")) ? 2 : 1);
	return c;
}

static bool is_config_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void config_skip_blanks(struct git_config_reader *r)
{
	while (is_config_blank(config_peek(r)))
		config_take(r);
}

static void config_skip_line(struct git_config_reader *r)
{
	int c;

	do
		c = config_take(r);
	while (c != '\n' && c != END_OF_TEXT);
}

/* A subsection up to and with its closing quote; the opening one is taken. */
static bool read_quoted_subsection(struct git_config_reader *r)
{
	for (;;) {
		int c = config_take(r);

		if (c == '\\')
			c = config_take(r);
		else if (c == '"')
			return true;
		if (c == '\n' || c == END_OF_TEXT || !part_put(&r->subsection, c))
			return false;
	}
}

/* What follows "[", with its "]". */
static bool config_read_section(struct git_config_reader *r)
{
	struct git_config_part *part = &r->section;
	int c;

	r->section.len = 0;
	part_begin(&r->subsection, &r->section);
	for (c = config_take(r); is_git_key_char(c) || c == '.'; c = config_take(r)) {
		if (c == '.' && part == &r->section) {
			part = &r->subsection; /* the old form, whose names have no case */
			part_begin(part, &r->section);
		} else if (!part_put(part, ascii_lower(c))) {
			return false;
		}
	}
	if (part == &r->section)
		part_begin(&r->subsection, &r->section);
	if (is_config_blank(c)) {
		config_skip_blanks(r);
		if (part != &r->section || config_take(r) != '"' || !read_quoted_subsection(r))
			return false;
		c = config_take(r);
	}
	return c == ']' && r->section.len > 0;
}

static bool append_escape(struct git_config_reader *r)
{
	static const char names[] = "nbt\"\\", meanings[] = "\n\b\t\"\\";
	int c = config_take(r);
	const char *at = c > 0 ? memchr(names, c, sizeof(names) - 1) : NULL;

	if (c == '\n')
		return true; /* the value goes on in the next line */
	return at && part_put(&r->value, meanings[at - names]);
}

/* What follows "=", with the line end. */
static bool config_read_value(struct git_config_reader *r)
{
	bool quoted = false;
	size_t keep = 0; /* length without trailing blanks */

	config_skip_blanks(r);
	for (;;) {
		int c = config_take(r);

		if (c == '\n' || c == END_OF_TEXT)
			break;
		if (!quoted && (c == '#' || c == ';')) {
			config_skip_line(r);
			break;
		}
		if (c == '"')
			quoted = !quoted;
		else if (!quoted && is_config_blank(c) && r->value.len == 0)
			continue; /* the line before had nothing but a backslash */
		else if (c == '\\' ? !append_escape(r) : c == '\0' || !part_put(&r->value, c))
			return false;
		if (quoted || !is_config_blank(c))
			keep = r->value.len;
	}
	r->value.len = keep;
	return !quoted;
}

/* What begins with a letter outside of brackets. */
static bool config_read_variable(struct git_config_reader *r, struct git_config_item *ret)
{
	int c;

	part_begin(&r->name, &r->subsection);
	while (is_git_key_char(config_peek(r))) {
		if (!part_put(&r->name, ascii_lower(config_take(r))))
			return false;
	}
	part_begin(&r->value, &r->name);
	config_skip_blanks(r);
	c = config_take(r);
	if (c == '=' ? !config_read_value(r) : c != '\n' && c != END_OF_TEXT)
		return false;
	*ret = (struct git_config_item){
		.section = part_view(&r->section),
		.subsection = part_view(&r->subsection),
		.name = part_view(&r->name),
		.value = part_view(&r->value),
		.has_value = c == '=',
	};
	return true;
}

static bool config_read_all(struct git_config_reader *r, git_config_each *each, void *data)
{
	struct git_config_item item;

	for (;;) {
		int c = config_peek(r);

		if (c == END_OF_TEXT)
			return true;
		if (ascii_is_letter(c)) {
			if (!config_read_variable(r, &item))
				return false;
			if (item.section.len > 0 && !each(data, &item))
				return false; /* before any section: an error in git too */
			continue;
		}
		config_take(r);
		if (c == '#' || c == ';')
			config_skip_line(r);
		else if (c == '[' ? !config_read_section(r) : c != '\n' && !is_config_blank(c))
			return false;
	}
}

bool git_config_read_in(struct span text, char *room, git_config_each *each, void *data)
{
	struct git_config_reader r = { .rest = text, .section = { .data = room } };

	if (span_starts(text, SPAN("\xef\xbb\xbf")))
		r.rest = span_skip(text, 3);
	part_begin(&r.subsection, &r.section);
	return config_read_all(&r, each, data);
}

bool git_config_read(struct span text, git_config_each *each, void *data)
{
	_cleanup_free_ char *room = mem_alloc(text.len + GIT_CONFIG_ROOM, 1);

	return git_config_read_in(text, room, each, data);
}
