/* SPDX-License-Identifier: Apache-2.0 */
/* A plan, or what a machine allows, as lines for people, from the same tree that others get. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "sandbox/report/explain.h"
#include "sandbox/report/status.h"
#include "sandbox/report/twins.h"

/* Controls, the escape itself, and what is drawn as nothing or turns what follows around. */
static bool misleads(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0, 0x1f },        { '\\', '\\' },     { 0x7f, 0x9f },     { 0xad, 0xad },
		{ 0x61c, 0x61c },   { 0x180e, 0x180e }, { 0x200b, 0x200f }, { 0x2028, 0x202e },
		{ 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

void explain_escape(struct buf *out, const char *text)
{
	struct span rest = span_str(text);
	struct utf8_char c;

	while (utf8_next(&rest, &c)) {
		if (c.bad || (c.code < 0x80 && misleads(c.code)))
			buf_printf(out, "\\x%02x", (unsigned char)c.bytes.data[0]);
		else if (misleads(c.code))
			buf_printf(out, "\\u{%" PRIx32 "}", c.code);
		else
			buf_span(out, c.bytes);
	}
}

/* ---- the tree as lines --------------------------------------------------------
 *
 * A value at the top, and its key, is a line.  A list or an object at the top is a heading, with
 * what is in it indented.  An object in a list is one line: its values, and its own lists in words.
 */

struct layout {
	struct buf *out;
	unsigned depth; /* lists and objects that are open */
	unsigned row;   /* depth of the object that is a line; 0: none */
	bool first;     /* nothing of the line is there yet */
	const char *heading; /* that waits for something to stand above */
};

static void put_heading(struct layout *layout)
{
	if (layout->heading)
		buf_printf(layout->out, "%s\n", layout->heading);
	layout->heading = NULL;
}

/* The first words of lines that stand below each other are short: levels, accesses. */
static void put_word(struct layout *layout, const char *value)
{
	size_t start = layout->out->len;

	buf_str(layout->out, !layout->first && layout->depth > layout->row ? " " : "  ");
	explain_escape(layout->out, value);
	while (layout->first && layout->out->len - start < 10 && !layout->out->overflowed)
		buf_char(layout->out, ' ');
	layout->first = false;
}

static void on_begin(void *data, const char *key, bool list)
{
	struct layout *layout = data;

	layout->depth++;
	if (layout->row) {
		put_word(layout, key);
		buf_char(layout->out, ':');
	} else if (layout->depth == 1) {
		layout->heading = key;
	} else if (!list && !key) {
		put_heading(layout);
		layout->row = layout->depth;
		layout->first = true;
	}
}

static void on_end(void *data)
{
	struct layout *layout = data;

	if (layout->row == layout->depth && layout->row) {
		buf_char(layout->out, '\n');
		layout->row = 0;
	}
	layout->depth--;
	layout->heading = NULL;
}

static void on_text(void *data, const char *key, const char *value)
{
	struct layout *layout = data;

	if (layout->row) {
		put_word(layout, value);
		return;
	}
	put_heading(layout);
	if (key)
		buf_printf(layout->out, "%s%-12s ", layout->depth ? "  " : "", key);
	else
		buf_str(layout->out, "  ");
	explain_escape(layout->out, value);
	buf_char(layout->out, '\n');
}

static void on_number(void *data, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	on_text(data, key, text);
}

/* In a line a flag would be a riddle. */
static void on_flag(void *data, const char *key, bool value)
{
	const struct layout *layout = data;

	if (!layout->row)
		on_text(data, key, value ? "yes" : "no");
}

void explain_plan_text(const struct sandbox_plan *plan, const struct sandbox_probe *probe,
                       struct buf *out)
{
	struct layout layout = { .out = out };
	const struct reporter reporter = { &layout, on_begin, on_end, on_text, on_number, on_flag };

	explain_plan(plan, probe, &reporter);
}

void status_text(const struct sandbox_probe *probe, enum sandbox_level level, struct buf *out)
{
	struct layout layout = { .out = out };
	const struct reporter reporter = { &layout, on_begin, on_end, on_text, on_number, on_flag };

	status_print(probe, level, &reporter);
}

void twins_text(const struct twins *twins, struct buf *out)
{
	struct layout layout = { .out = out };
	const struct reporter reporter = { &layout, on_begin, on_end, on_text, on_number, on_flag };

	twins_print(twins, &reporter);
}
