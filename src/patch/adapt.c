/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/adapt.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "patch/indent.h"
#include "patch/transfer.h"
#include "patch/witness.h"

/* Classes of look-alikes, as bits: what kinds the diff was seen to have changed. */
enum { CLASS_QUOTE = 1, CLASS_DASH = 2, CLASS_SPACE = 4, CLASS_DOTS = 8, CLASS_INVISIBLE = 16 };

/* Different look-alikes remembered; typographic damage uses a handful. */
enum { SEEN_MAX = 16 };

struct adapter {
	const struct diff_text *diff;
	const struct placement *places;
	struct witness witness;    /* what the old lines say */
	const struct lines *base;
	unsigned lookalikes;       /* classes that the diff has and the file has as ASCII */
	uint32_t seen[SEEN_MAX];   /* the very characters of the diff that did so */
	size_t seen_count;
	struct buf scratch;
};

static bool is_blank(struct span text)
{
	return span_trim(text).len == 0;
}

static bool ends_in_space(struct span text)
{
	return text.len && fold_is_space(text.data[text.len - 1]);
}

/* ---- look-alikes ---- */

static unsigned class_of(const char *ascii)
{
	switch (*ascii) {
	case '"':
	case '\'':
		return CLASS_QUOTE;
	case '-':
		return CLASS_DASH;
	case ' ':
		return CLASS_SPACE;
	case '.':
		return CLASS_DOTS;
	default:
		return CLASS_INVISIBLE;
	}
}

/* Takes the next character of a text; *ret_ascii is what it looks like, NULL for none. */
static struct span next_character(struct span *text, uint32_t *ret_code, const char **ret_ascii)
{
	struct utf8_char c = utf8_first(*text);

	*ret_code = c.code;
	*ret_ascii = c.bytes.len > 1 ? fold_lookalike(c.code) : NULL;
	*text = span_skip(*text, c.bytes.len);
	return c.bytes;
}

static bool contains(struct span text, struct span part)
{
	return text.len && memmem(text.data, text.len, part.data, part.len) != NULL;
}

/* Remembers the look-alikes of an old line that the file's line does not have. */
static void see_line(struct adapter *a, struct span text, struct span file)
{
	while (text.len) {
		const char *ascii;
		uint32_t code;
		struct span character = next_character(&text, &code, &ascii);
		bool known = false;

		if (!ascii || contains(file, character))
			continue;
		a->lookalikes |= class_of(ascii);
		for (size_t i = 0; i < a->seen_count; i++)
			known |= a->seen[i] == code;
		if (!known && a->seen_count < SEEN_MAX)
			a->seen[a->seen_count++] = code;
	}
}

static void find_lookalikes(struct adapter *a)
{
	for (size_t h = 0; h < a->diff->hunk_count; h++) {
		struct old_walk walk = old_walk_begin(a->diff, a->places, h);

		if (a->places[h].fold < FOLD_LOOKALIKE_COLLAPSE)
			continue;
		while (old_walk_next(&walk))
			see_line(a, walk.line->text, line_body(lines_at(a->base, walk.base_line)));
	}
}

/* Whether the line has the plain character that the look-alike stands for: then what damaged
 * the old lines, every such character of them, did not touch this line. */
static bool has_plain(struct span text, const char *ascii)
{
	return (*ascii == '"' || *ascii == '\'' || *ascii == '-') && memchr(text.data, *ascii, text.len);
}

/* Whether a look-alike in an added line is damage: one that damaged old lines, or
 * the other quotation mark of a pair of which one did, and which the file nowhere has. */
static bool is_damage(const struct adapter *a, uint32_t code, const char *ascii,
                      struct span character)
{
	if (!(class_of(ascii) & a->lookalikes))
		return false;
	for (size_t i = 0; i < a->seen_count; i++)
		if (a->seen[i] == code)
			return true;
	return class_of(ascii) == CLASS_QUOTE && !contains(a->base->text, character);
}

/* Appends text with damaged look-alikes as ASCII. */
static void put_text(void *context, struct span text, struct buf *out)
{
	const struct adapter *a = context;
	struct span whole = text;

	while (text.len) {
		const char *ascii;
		uint32_t code;
		struct span character = next_character(&text, &code, &ascii);

		if (ascii && is_damage(a, code, ascii, character) && !has_plain(whole, ascii))
			buf_str(out, ascii);
		else
			buf_span(out, character);
	}
}

/* Whether the file has typographic quotation marks where the diff has plain ones, and the
 * added line has plain ones of its own: then carrying over would make unlike pairs. */
static bool would_mix_quotes(struct span old, struct span file, struct span rest)
{
	struct span middle = transfer_middle(old, rest);
	bool typographic = false;

	while (file.len) {
		const char *ascii;
		uint32_t code;
		struct span character = next_character(&file, &code, &ascii);

		typographic |= ascii && class_of(ascii) == CLASS_QUOTE && !contains(old, character);
	}
	return typographic && middle.len &&
	       (memchr(middle.data, '\'', middle.len) || memchr(middle.data, '"', middle.len));
}

/* ---- the adapter ---- */

struct adapter *adapter_make(const struct lines *base, const struct diff_text *diff,
                             const struct placement *places)
{
	struct adapter *a = mem_alloc(1, sizeof(*a));

	*a = (struct adapter){ .diff = diff, .places = places, .base = base,
	                       .scratch = BUF_INIT(LIMIT_FILE_BYTES) };
	find_lookalikes(a);
	witness_hear(&a->witness, base, diff, places, a->lookalikes & CLASS_SPACE);
	return a;
}

void adapter_free(struct adapter *a)
{
	witness_release(&a->witness);
	buf_release(&a->scratch);
	free(a);
}

/* Runs of spaces inside a line that may have been a tab. Two spaces after a sentence are not. */
static size_t count_runs(struct span text)
{
	size_t n = 0;

	for (size_t i = 1; i + 1 < text.len; i++)
		if (text.data[i] == ' ' && text.data[i + 1] == ' ' && text.data[i - 1] != ' ')
			n += !strchr(".!?:", text.data[i - 1]) ||
			     (i + 2 < text.len && text.data[i + 2] == ' ');
	return n;
}

/* The text after the indentation. Where the diff's copy of the replaced line differs from the
 * file, and the added line shares more with that copy than with the file, it
 * has the same damage; what it shares is taken from the file. */
static bool put_body(struct adapter *a, struct span rest, const struct hunk_line *removed,
                     const struct span *body, struct buf *out)
{
	size_t start = out->len, honest_runs = 0;

	if (removed && !a->witness.keeps_tabs) {
		struct span old = span_skip(removed->text, indent_of_line(removed->text).len);
		struct span file = span_skip(*body, indent_of_line(*body).len);

		while (!ends_in_space(rest) && ends_in_space(file))
			file.len--;
		while (!ends_in_space(rest) && ends_in_space(old))
			old.len--;
		if (span_eq(old, file))
			honest_runs = count_runs(old);
		else if (transfer_share(old, rest) > transfer_share(file, rest) &&
		         !would_mix_quotes(old, file, rest) &&
		         transfer_line(old, file, rest, out, put_text, a))
			return true;
	}
	put_text(a, rest, out);
	return !a->witness.inner_tabs ||
	       count_runs(buf_from(out, start)) <= honest_runs;
}

bool adapter_line(struct adapter *a, size_t h, size_t index, const struct hunk_line *removed,
                  const struct span *body, struct buf *out)
{
	struct span text = a->diff->lines[index].text, indent;
	bool exact = a->places[h].fold == FOLD_EXACT;

	if (!a->witness.heard && !a->lookalikes)
		return buf_span(out, text);
	while (a->witness.extra_cr && span_ends(text, SPAN("\r")))
		text.len--;
	if (a->witness.trim_end)
		while (ends_in_space(text))
			text.len--;
	if (is_blank(text))
		return witness_blank(&a->witness, text, out);
	/* No-break spaces in front are damaged indentation. */
	if (a->lookalikes & CLASS_SPACE) {
		buf_clear(&a->scratch);
		put_text(a, text, &a->scratch);
		text = buf_view(&a->scratch);
	}
	indent = indent_of_line(text);
	return witness_indent(&a->witness, h, exact, indent, removed, body, out) &&
	       put_body(a, span_skip(text, indent.len), exact ? NULL : removed, body, out);
}
