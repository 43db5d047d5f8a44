/* SPDX-License-Identifier: Apache-2.0 */
/* Text within a line: emphasis, code, links, images; and the cells of tables. */
#include <md4c.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/mem.h"
#include "base/text.h"
#include "tui/markdown/markdown.h"
#include "tui/markdown/private.h"

/* ---- md4c ---------------------------------------------------------------------- */

struct md4c {
	__typeof__(md_parse) *parse;
};

static const struct md4c *md4c_get(void)
{
	static const struct library_symbol symbols[] = {
		{ "md_parse", offsetof(struct md4c, parse) },
	};
	static const struct library row = { { "libmd4c.so.0" }, "Markdown needs", "libmd4c0",
		                            symbols, ARRAY_LEN(symbols) };
	/* Asked once: a terminal has one thread. */
	static enum { UNKNOWN, THERE, ABSENT } known;
	static struct md4c functions;
	struct err err = ERR_INIT;

	if (known == UNKNOWN)
		known = library_load(&row, &functions, &err) ? THERE : ABSENT;
	return known == THERE ? &functions : NULL;
}

/* ---- what is closed ------------------------------------------------------------ */

/* Marks that may still be closed by what follows. */
struct inline_opened {
	char at[32];
	unsigned count;
};

static bool is_inline_blank(char c)
{
	return c == ' ' || c == INLINE_BREAK;
}

static bool is_punctuation(char c)
{
	return (c >= 0x21 && c <= 0x2f) || (c >= 0x3a && c <= 0x40) || (c >= 0x5b && c <= 0x60) ||
	       (c >= 0x7b && c <= 0x7e);
}

/* A run of * or _ or ~: it closes what is open, or opens (CommonMark, section 6.2). */
static void read_run(struct inline_opened *opened, char c, char before, char after)
{
	const bool left = !is_inline_blank(after) &&
	                  (!is_punctuation(after) || is_inline_blank(before) ||
	                   is_punctuation(before));
	const bool right = !is_inline_blank(before) &&
	                   (!is_punctuation(before) || is_inline_blank(after) ||
	                    is_punctuation(after));
	const bool opens = left && (c != '_' || !right || is_punctuation(before));
	const bool closes = right && (c != '_' || !left || is_punctuation(after));

	for (unsigned i = opened->count; closes && i-- > 0;) {
		if (opened->at[i] == c) {
			opened->count = i;
			return;
		}
	}
	if (opens && opened->count < sizeof(opened->at))
		opened->at[opened->count++] = c;
}

/* After a ']' at `at`: the end of what makes a link of it, or `at` + 1; 0: it is not known yet. */
static size_t skip_target(struct span source, size_t at)
{
	unsigned depth = 0;

	if (at + 1 >= source.len)
		return 0;
	if (source.data[at + 1] != '(')
		return at + 1;
	for (size_t i = at + 1; i < source.len; i++) {
		if (source.data[i] == '\\')
			i++;
		else if (source.data[i] == '(')
			depth++;
		else if (source.data[i] == ')' && --depth == 0)
			return i + 1;
	}
	return 0;
}

static void close_bracket(struct inline_opened *opened)
{
	for (unsigned i = opened->count; i-- > 0;) {
		if (opened->at[i] == '[') {
			opened->count = i;
			return;
		}
	}
}

/* After the backquotes at `at`: the end of the code, or 0: it is not known yet. */
static size_t skip_code(struct span source, size_t at)
{
	size_t len = 0, run = 0;

	while (at + len < source.len && source.data[at + len] == '`')
		len++;
	for (size_t i = at + len; i < source.len; i++) {
		run = source.data[i] == '`' ? run + 1 : 0;
		if (run == len && (i + 1 == source.len || source.data[i + 1] != '`'))
			return i + 1;
	}
	return 0;
}

/* Reads what is at source.data[at]; returns where what follows begins; 0: that depends on what
 * follows. */
static size_t read_mark_at(struct span source, size_t at, struct inline_opened *opened)
{
	const char c = source.data[at];
	size_t end = at + 1;

	switch (c) {
	case '\\':
		return at + 2;
	case '`':
		return skip_code(source, at);
	case '[':
		if (opened->count < sizeof(opened->at))
			opened->at[opened->count++] = c;
		return end;
	case ']':
		close_bracket(opened);
		return skip_target(source, at);
	case '<':
		if (end < source.len && !is_inline_blank(source.data[end])) {
			const char *close = memchr(source.data + end, '>', source.len - end);

			return close ? (size_t)(close - source.data) + 1 : 0;
		}
		return end;
	case '*':
	case '_':
	case '~':
		while (end < source.len && source.data[end] == c)
			end++;
		if (end == source.len)
			return 0;
		read_run(opened, c, at > 0 ? source.data[at - 1] : ' ', source.data[end]);
		return end;
	default:
		return end;
	}
}

size_t inline_closed(struct span source, bool *ret_whole)
{
	struct inline_opened opened = { .count = 0 };
	size_t at = 0;

	*ret_whole = true;
	while (at < source.len) {
		size_t next = 0;

		if (at <= MARKDOWN_HELD_MAX)
			next = read_mark_at(source, at, &opened);
		if (next == 0 && source.len <= MARKDOWN_HELD_MAX)
			break;
		/* Held for too long: open marks become text. */
		if (next == 0 || next > MARKDOWN_HELD_MAX) {
			if (source.len <= MARKDOWN_HELD_MAX)
				break;
			next = MARKDOWN_HELD_MAX;
			while (next > MARKDOWN_HELD_MAX - 4 &&
			       ((unsigned char)source.data[next] & 0xc0) == 0x80)
				next--;
			*ret_whole = false;
			return next;
		}
		at = next;
		if (opened.count == 0 && at < source.len && is_inline_blank(source.data[at - 1]) &&
		    !is_inline_blank(source.data[at]))
			return at;
	}
	return 0;
}

/* ---- text ---------------------------------------------------------------------- */

/* Spans in each other that are styled; md4c has no limit. */
enum { SPANS_MAX = 32, ADDRESS_MAX = ROW_ADDRESS_MAX };

struct inline_span {
	struct style style;
	struct buf address; /* of a link or an image */
	size_t text;        /* where it begins in the line */
	bool link;
};

struct inline_parse {
	struct inline_out *out;
	struct span skipped;  /* what was put before the source */
	struct inline_span spans[SPANS_MAX];
	unsigned depth, deeper; /* spans beyond the maximum */
	struct table_cells *cells;  /* of a table; NULL: none is read */
	struct row cell;
	bool header;
};

static const struct inline_span *inner_link(const struct inline_parse *parse)
{
	for (unsigned i = parse->depth; i-- > 0;) {
		if (parse->spans[i].link)
			return &parse->spans[i];
	}
	return NULL;
}

static bool is_address(struct span address)
{
	static const char *const schemes[] = { "https://", "http://", "mailto:", "file://" };

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (address.len > strlen(schemes[i]) &&
		    strncasecmp(address.data, schemes[i], strlen(schemes[i])) == 0)
			return true;
	return false;
}

static void put_piece(struct inline_parse *parse, struct span text)
{
	const struct style style = parse->depth > 0 ? parse->spans[parse->depth - 1].style
	                                            : parse->out->style;
	const struct inline_span *link = inner_link(parse);
	struct inline_out *out = parse->out;

	if (text.len == 0)
		return;
	if (out->space && out->line->text.len > 0)
		row_text(out->line, SPAN(" "), out->space_style);
	out->space = false;
	if (link && is_address(buf_view(&link->address)))
		row_link(out->line, text, style, buf_view(&link->address));
	else
		row_text(out->line, text, style);
}

static void want_space(struct inline_parse *parse)
{
	struct inline_out *out = parse->out;

	if (!out->space)
		out->space_style = parse->depth > 0 ? parse->spans[parse->depth - 1].style
		                                    : out->style;
	out->space = true;
}

/* Text with blanks and breaks: a blank at an end is put when text follows it. */
static void put_words(struct inline_parse *parse, struct span text)
{
	struct inline_out *out = parse->out;

	while (text.len > 0) {
		const char *end = memchr(text.data, INLINE_BREAK, text.len);
		struct span line = span_head(text, end ? (size_t)(end - text.data) : text.len);

		text = span_skip(text, line.len + 1);
		if (span_starts(line, SPAN(" ")))
			want_space(parse);
		while (span_starts(line, SPAN(" ")))
			line = span_skip(line, 1);
		if (span_ends(line, SPAN(" "))) {
			struct span words = line;

			while (span_ends(words, SPAN(" ")))
				words.len--;
			put_piece(parse, words);
			want_space(parse);
		} else {
			put_piece(parse, line);
		}
		if (end && out->broken) {
			out->broken(out->data);
			out->space = false;
			for (unsigned i = 0; i < parse->depth; i++)
				parse->spans[i].text = 0;
		} else if (end) {
			want_space(parse);
		}
	}
}

/* The character of an entity; 0: not known. */
static uint32_t read_entity(struct span text)
{
	static const struct {
		const char *name;
		uint32_t c;
	} named[] = {
		{ "&amp;", '&' },       { "&lt;", '<' },        { "&gt;", '>' },
		{ "&quot;", '"' },      { "&apos;", '\'' },     { "&nbsp;", 0xa0 },
		{ "&copy;", 0xa9 },     { "&reg;", 0xae },      { "&ndash;", 0x2013 },
		{ "&mdash;", 0x2014 },  { "&hellip;", 0x2026 }, { "&larr;", 0x2190 },
		{ "&rarr;", 0x2192 },   { "&times;", 0xd7 },    { "&middot;", 0xb7 },
		{ "&bull;", 0x2022 },   { "&le;", 0x2264 },     { "&ge;", 0x2265 },
		{ "&ne;", 0x2260 },     { "&deg;", 0xb0 },
	};
	const bool hex = text.len > 2 && (text.data[2] == 'x' || text.data[2] == 'X');
	uint32_t value = 0;

	if (!span_starts(text, SPAN("&#"))) {
		for (size_t i = 0; i < ARRAY_LEN(named); i++)
			if (span_eq(text, span_str(named[i].name)))
				return named[i].c;
		return 0;
	}
	for (size_t i = hex ? 3 : 2; i + 1 < text.len && value < 0x110000; i++) {
		const char c = text.data[i];

		value = value * (hex ? 16 : 10) +
		        (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return value < 0x110000 && (value < 0xd800 || value > 0xdfff) ? value : 0;
}

static void put_entity(struct buf *out, struct span text)
{
	char bytes[4];
	const uint32_t c = read_entity(text);

	if (c > 0)
		buf_append(out, bytes, utf8_put(c, bytes));
	else
		buf_span(out, text);
}

static void put_attribute(struct buf *out, const MD_ATTRIBUTE *attribute)
{
	out->max = 4 * ADDRESS_MAX;
	for (unsigned i = 0; attribute->size > 0 && attribute->substr_offsets[i] < attribute->size;
	     i++) {
		const unsigned at = attribute->substr_offsets[i];
		struct span text = span_of(attribute->text + at,
		                           attribute->substr_offsets[i + 1] - at);

		if (attribute->substr_types[i] == MD_TEXT_ENTITY)
			put_entity(out, text);
		else
			buf_span(out, text);
	}
}

static int enter_span(MD_SPANTYPE type, void *detail, void *data)
{
	struct inline_parse *parse = data;
	struct inline_span *span;

	if (parse->depth == SPANS_MAX) {
		parse->deeper++;
		return 0;
	}
	span = &parse->spans[parse->depth];
	*span = (struct inline_span){
		.style = parse->depth > 0 ? parse->spans[parse->depth - 1].style : parse->out->style
	};
	if (type == MD_SPAN_EM) {
		span->style.marks |= MARK_ITALIC;
	} else if (type == MD_SPAN_STRONG) {
		span->style.marks |= MARK_BOLD;
	} else if (type == MD_SPAN_DEL) {
		span->style.marks |= MARK_STRIKE;
	} else if (type == MD_SPAN_CODE) {
		span->style.role = ROLE_CODE;
	} else if (type == MD_SPAN_A || type == MD_SPAN_IMG) {
		/* The first members of both details are the address. */
		put_attribute(&span->address, type == MD_SPAN_A
		                                      ? &((MD_SPAN_A_DETAIL *)detail)->href
		                                      : &((MD_SPAN_IMG_DETAIL *)detail)->src);
		span->style.role = ROLE_LINK;
		span->link = true;
		span->text = parse->out->line->text.len;
	}
	parse->depth++;
	return 0;
}

/* Whether the address says nothing that the text of the link does not say. */
static bool already_shown(struct span text, struct span address)
{
	text = span_trim(text);
	if (span_eq(text, address))
		return true;
	return address.len > text.len && text.len > 0 &&
	       span_eq(span_skip(address, address.len - text.len), text) &&
	       (span_eq(span_head(address, address.len - text.len), SPAN("mailto:")) ||
	        span_eq(span_head(address, address.len - text.len), SPAN("http://")));
}

static int leave_span(MD_SPANTYPE type, void *detail, void *data)
{
	struct inline_parse *parse = data;
	struct inline_span *span;

	(void)detail;
	if (parse->deeper > 0) {
		parse->deeper--;
		return 0;
	}
	if (parse->depth == 0)
		return 0; /* md4c may leave what it did not enter */
	span = &parse->spans[parse->depth - 1];
	if (span->link && span->address.len > 0) {
		const struct row *line = parse->out->line;
		struct span text = buf_from(&line->text, span->text < line->text.len
		                                                 ? span->text : line->text.len);

		if (span_is_blank(text))
			put_words(parse, buf_view(&span->address));
		else if (type == MD_SPAN_A && !already_shown(text, buf_view(&span->address))) {
			span->style.role = ROLE_DIM;
			put_words(parse, SPAN(" ("));
			put_piece(parse, buf_view(&span->address));
			put_words(parse, SPAN(")"));
		}
	}
	buf_release(&span->address);
	parse->depth--;
	return 0;
}

static int read_text(MD_TEXTTYPE type, const char *text, MD_SIZE size, void *data)
{
	struct inline_parse *parse = data;
	struct span piece = span_of(text, size);
	const size_t skipped = parse->skipped.len;

	if (parse->cells && !parse->cells->columns)
		return 0;
	if (skipped > 0 && piece.data >= parse->skipped.data &&
	    piece.data < parse->skipped.data + skipped)
		piece = span_skip(piece, (size_t)(parse->skipped.data + skipped - piece.data));
	if (type == MD_TEXT_NULLCHAR) {
		put_words(parse, SPAN("\\x00"));
	} else if (type == MD_TEXT_ENTITY) {
		struct buf entity = BUF_INIT(ADDRESS_MAX);

		put_entity(&entity, piece);
		put_piece(parse, buf_view(&entity));
		buf_release(&entity);
	} else if (type == MD_TEXT_SOFTBR || type == MD_TEXT_BR) {
		put_words(parse, SPAN(" "));
	} else {
		put_words(parse, piece);
	}
	return 0;
}

static int pass_block(MD_BLOCKTYPE type, void *detail, void *data)
{
	(void)type;
	(void)detail;
	(void)data;
	return 0;
}

static void release_spans(struct inline_parse *parse)
{
	while (parse->depth > 0)
		buf_release(&parse->spans[--parse->depth].address);
}

enum {
	INLINE_FLAGS = MD_FLAG_COLLAPSEWHITESPACE | MD_FLAG_STRIKETHROUGH |
	               MD_FLAG_PERMISSIVEAUTOLINKS | MD_FLAG_NOHTML | MD_FLAG_NOINDENTEDCODEBLOCKS,
};

/* Most words have none, and need no parser. */
static bool has_marks(struct span source)
{
	static const char marks[] = "\\`*_[]<>&~:@"; /* and its NUL */

	for (size_t i = 0; i < source.len; i++)
		if (memchr(marks, source.data[i], sizeof(marks)))
			return true;
	return memmem(source.data, source.len, "www.", 4) != NULL;
}

void inline_text(struct inline_out *out, struct span source)
{
	/* No first line that begins so is anything but text of a paragraph. */
	static const struct span before = SPAN("a ");
	static const MD_PARSER parser = {
		.flags = INLINE_FLAGS,
		.enter_block = pass_block,
		.leave_block = pass_block,
		.enter_span = enter_span,
		.leave_span = leave_span,
		.text = read_text,
	};
	const struct md4c *md4c = has_marks(source) ? md4c_get() : NULL;
	struct buf text = BUF_INIT(source.len + 16);
	struct inline_parse *parse = mem_alloc(1, sizeof(*parse));

	parse->out = out;
	if (md4c) {
		buf_span(&text, before);
		buf_span(&text, source);
		parse->skipped = span_head(buf_view(&text), before.len);
		md4c->parse(text.data, (MD_SIZE)text.len, &parser, parse);
		if (source.len > 0 && is_inline_blank(source.data[source.len - 1]))
			want_space(parse);
	} else {
		put_words(parse, source);
	}
	release_spans(parse);
	free(parse);
	buf_release(&text);
}

/* ---- tables -------------------------------------------------------------------- */

static void end_cell_line(void *data)
{
	struct inline_parse *parse = data;

	rows_take(&parse->cells->rows, &parse->cell);
}

static int enter_table_block(MD_BLOCKTYPE type, void *detail, void *data)
{
	struct inline_parse *parse = data;
	struct table_cells *cells = parse->cells;

	if (type == MD_BLOCK_TABLE) {
		cells->columns = ((MD_BLOCK_TABLE_DETAIL *)detail)->col_count;
		cells->align = mem_alloc(cells->columns, 1);
	} else if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
		const MD_ALIGN align = ((MD_BLOCK_TD_DETAIL *)detail)->align;

		if (cells->count < cells->columns)
			cells->align[cells->count] = align == MD_ALIGN_CENTER ? 1
			                             : align == MD_ALIGN_RIGHT ? 2 : 0;
		parse->out->style = type == MD_BLOCK_TH ? STYLE_BOLD(ROLE_TEXT) : STYLE(ROLE_TEXT);
		parse->out->space = false;
	}
	return 0;
}

static int leave_table_block(MD_BLOCKTYPE type, void *detail, void *data)
{
	struct inline_parse *parse = data;
	struct table_cells *cells = parse->cells;

	(void)detail;
	if (type != MD_BLOCK_TH && type != MD_BLOCK_TD)
		return 0;
	end_cell_line(parse);
	if (cells->count == cells->cap)
		cells->ends = mem_grow(cells->ends, &cells->cap, cells->count + 1,
		                       sizeof(*cells->ends));
	cells->ends[cells->count++] = cells->rows.count;
	return 0;
}

bool inline_table(struct table_cells *cells, struct span source)
{
	static const MD_PARSER parser = {
		.flags = INLINE_FLAGS | MD_FLAG_TABLES,
		.enter_block = enter_table_block,
		.leave_block = leave_table_block,
		.enter_span = enter_span,
		.leave_span = leave_span,
		.text = read_text,
	};
	const struct md4c *md4c = md4c_get();
	struct inline_parse *parse = mem_alloc(1, sizeof(*parse));
	struct inline_out out = { .line = &parse->cell, .broken = end_cell_line, .data = parse };
	bool ok;

	parse->out = &out;
	parse->cells = cells;
	ok = md4c && md4c->parse(source.data, (MD_SIZE)source.len, &parser, parse) == 0 &&
	     cells->columns > 0 && cells->count >= cells->columns &&
	     cells->count % cells->columns == 0;
	row_release(&parse->cell);
	release_spans(parse);
	free(parse);
	return ok;
}

void inline_release(struct table_cells *cells)
{
	rows_release(&cells->rows);
	free(cells->ends);
	free(cells->align);
	*cells = (struct table_cells){ 0 };
}
