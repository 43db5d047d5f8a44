/* SPDX-License-Identifier: Apache-2.0 */
/* Reading: what JSON does not have is blanked out, and json.h reads the rest. */
#include "data/jsonc.h"

#include "data/jsonc_private.h"

#define BOM SPAN("\xEF\xBB\xBF")

/* One pass over a text, making the same text without comments and trailing commas. */
struct blanker {
	struct span text;
	size_t at;
	bool keep_bytes; /* a blank for every byte, not for every character */
	struct buf *out;
	char before;     /* the last character that is no blank; 0: none yet */
	size_t comma;    /* where in `out` a comma waits for what follows it */
	bool comma_waits;
};

static char byte_at(const struct blanker *blanker, size_t ahead)
{
	size_t at = blanker->at + ahead;

	return at < blanker->text.len ? blanker->text.data[at] : '\0';
}

/* Takes one byte of a comment. */
static void blank_one(struct blanker *blanker)
{
	char c = blanker->text.data[blanker->at++];

	if (c == '\n' || c == '\r')
		buf_char(blanker->out, c);
	else if (blanker->keep_bytes || ((unsigned char)c & 0xC0) != 0x80)
		buf_char(blanker->out, ' ');
}

static void blank_line_comment(struct blanker *blanker)
{
	while (blanker->at < blanker->text.len && blanker->text.data[blanker->at] != '\n')
		blank_one(blanker);
}

/* False when it has no end. */
static bool blank_block_comment(struct blanker *blanker)
{
	blank_one(blanker);
	blank_one(blanker);
	while (blanker->at < blanker->text.len) {
		bool ends = byte_at(blanker, 0) == '*' && byte_at(blanker, 1) == '/';

		blank_one(blanker);
		if (ends) {
			blank_one(blanker);
			return true;
		}
	}
	return false;
}

static void copy_string(struct blanker *blanker)
{
	size_t from = blanker->at++;

	while (blanker->at < blanker->text.len && blanker->text.data[blanker->at] != '"')
		blanker->at += blanker->text.data[blanker->at] == '\\' ? 2 : 1;
	blanker->at = blanker->at < blanker->text.len ? blanker->at + 1 : blanker->text.len;
	buf_append(blanker->out, blanker->text.data + from, blanker->at - from);
}

/* A comma before a closing bracket is taken out, if there is something before it. */
static void note(struct blanker *blanker, char c)
{
	if ((c == '}' || c == ']') && blanker->comma_waits && !blanker->keep_bytes &&
	    !blanker->out->overflowed)
		blanker->out->data[blanker->comma] = ' ';
	blanker->comma_waits = c == ',' && blanker->before && !strchr("[{,:", blanker->before);
	blanker->comma = blanker->out->len;
	blanker->before = c;
}

static void copy_character(struct blanker *blanker, char c)
{
	if (!strchr(" \t\r\n", c) || !c)
		note(blanker, c);
	if (c == '"') {
		copy_string(blanker);
		return;
	}
	buf_char(blanker->out, c);
	blanker->at++;
}

bool jsonc_blank(struct span text, bool keep_bytes, struct buf *out, size_t *ret_open)
{
	struct blanker blanker = { .text = text, .keep_bytes = keep_bytes, .out = out };

	if (span_starts(text, BOM)) {
		blanker.at = BOM.len;
		if (keep_bytes)
			buf_str(out, "   ");
	}
	while (blanker.at < text.len) {
		char c = text.data[blanker.at];
		size_t from = blanker.at;

		if (c == '/' && byte_at(&blanker, 1) == '/') {
			blank_line_comment(&blanker);
		} else if (c == '/' && byte_at(&blanker, 1) == '*') {
			if (!blank_block_comment(&blanker)) {
				*ret_open = from;
				return false;
			}
		} else {
			copy_character(&blanker, c);
		}
	}
	return true;
}

unsigned jsonc_line_at(struct span text, size_t at)
{
	unsigned line = 1;

	for (size_t i = 0; i < at && i < text.len; i++)
		line += text.data[i] == '\n';
	return line;
}

static bool is_blank(struct span text)
{
	return span_trim(text).len == 0;
}

/* `ret_line` NULL: no name may repeat. */
static bool parse(struct span text, json_t **ret, unsigned *ret_line, struct err *err)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(text.len + 8);
	size_t open;

	if (!jsonc_blank(text, /* keep_bytes= */ false, &plain, &open))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The comment that begins on line %u has no end.",
		               jsonc_line_at(text, open));
	if (plain.overflowed)
		return err_set(err, ERR_TOO_LARGE, "There is no memory for the text.");
	if (ret_line)
		*ret_line = 0;
	if (is_blank(buf_view(&plain))) {
		*ret = json_object();
		return true;
	}
	return ret_line ?
	               json_parse_repeating(buf_view(&plain), JSONC_DEPTH_MAX, ret, ret_line, err) :
	               json_parse_depth(buf_view(&plain), JSONC_DEPTH_MAX, ret, err);
}

bool jsonc_parse(struct span text, json_t **ret, struct err *err)
{
	return parse(text, ret, NULL, err);
}

bool jsonc_parse_repeating(struct span text, json_t **ret, unsigned *ret_line, struct err *err)
{
	return parse(text, ret, ret_line, err);
}
