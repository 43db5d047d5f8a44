/* SPDX-License-Identifier: Apache-2.0 */
/* Quote removal. */
#include "shell/word.h"

#include "base/limits.h"

struct unquoter {
	struct span raw;
	size_t at;                       /* in raw */
	size_t base;                     /* where raw is in the text of the pieces */
	const struct read_piece *pieces; /* the next one and those after it */
	size_t piece_count;
	bool assignment;
	bool named;                      /* an = was seen */
	struct word_reading *out;
};

static int peek(const struct unquoter *u, size_t ahead)
{
	return u->at + ahead < u->raw.len ? (unsigned char)u->raw.data[u->at + ahead] : -1;
}

static void put(struct unquoter *u, size_t count)
{
	size_t left = u->raw.len - u->at;

	count = count < left ? count : left;
	buf_append(&u->out->text, u->raw.data + u->at, count);
	u->at += count;
}

static void unknown(struct unquoter *u, unsigned dynamic)
{
	if (!u->out->dynamic)
		u->out->known = u->out->text.len;
	u->out->dynamic |= dynamic;
}

/* Whether a quoted parameter becomes several words: "$@", "${x[@]}", "${!x@}". */
static bool has_at(struct span piece)
{
	return memchr(piece.data, '@', piece.len) != NULL;
}

/* Takes the piece that begins here; false when there is none. */
static bool take_piece(struct unquoter *u, bool quoted)
{
	struct span piece;
	size_t here = u->base + u->at;

	while (u->piece_count > 0 && u->pieces->at.start < here) {
		u->pieces++;
		u->piece_count--;
	}
	if (u->piece_count == 0 || u->pieces->at.start != here || u->at >= u->raw.len)
		return false;
	piece = span_head(span_skip(u->raw, u->at), u->pieces->at.end - here);
	unknown(u, u->pieces->dynamic);
	if (u->pieces->dynamic == SHELL_DYNAMIC_VARIABLE)
		u->out->splits |= !quoted || has_at(piece);
	else if (u->pieces->dynamic != SHELL_DYNAMIC_PROCESS)
		u->out->splits |= !quoted;
	put(u, piece.len ? piece.len : 1);
	return true;
}

static void unquote_single(struct unquoter *u)
{
	const char *start = u->raw.data + u->at + 1;
	size_t left = u->raw.len - u->at - 1;
	const char *end = memchr(start, '\'', left);

	u->at++;
	put(u, end ? (size_t)(end - start) : left);
	u->at++;
}

static void unquote_double(struct unquoter *u)
{
	u->at++;
	for (int c; (c = peek(u, 0)) >= 0 && c != '"';) {
		int next = peek(u, 1);

		if (c == '\\' && next == '\n') {
			u->at += 2;
		} else if (c == '\\' && next > 0 && strchr("$`\"\\", next)) {
			u->at++;
			put(u, 1);
		} else if (!take_piece(u, /* quoted= */ true)) {
			put(u, 1);
		}
	}
	u->at++;
}

static int digit_of(int c, int base)
{
	int value = c >= '0' && c <= '9'   ? c - '0'
	            : c >= 'a' && c <= 'f' ? c - 'a' + 10
	            : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                                   : 99;

	return value < base ? value : -1;
}

/* Up to `most` digits; -1 when there is none. */
static int64_t read_digits(struct unquoter *u, int base, unsigned most)
{
	int64_t value = -1;

	for (unsigned i = 0; i < most && digit_of(peek(u, 0), base) >= 0; i++, u->at++)
		value = (value < 0 ? 0 : value) * base + digit_of(peek(u, 0), base);
	return value;
}

/* \x \u \U \nnn, at the letter or first digit; true when the byte is NUL, which ends the string. */
static bool unquote_number(struct unquoter *u, int c)
{
	bool octal = c >= '0' && c <= '7';
	size_t start = u->at;
	int64_t value;

	u->at += !octal;
	value = octal ? read_digits(u, 8, 3)
	              : read_digits(u, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8);
	if (value < 0) {
		buf_char(&u->out->text, '\\');
		buf_append(&u->out->text, u->raw.data + start, 1);
		return false;
	}
	if ((c == 'u' || c == 'U') && value >= 0x80) {
		unknown(u, SHELL_DYNAMIC_LOCALE); /* the locale's encoding decides */
		return false;
	}
	value &= 0xff;
	if (value != 0)
		buf_char(&u->out->text, (char)value);
	return value == 0;
}

/* \cX: at the c */
static bool unquote_control(struct unquoter *u)
{
	int c = peek(u, 1);
	int value = c == '?' ? 0x7f : (c >= 'a' && c <= 'z' ? c - 32 : c) & 0x1f;

	if (c < 0)
		return false;
	u->at += 2;
	if (c >= 0x80 || c == '\\' || c == '\'') /* shells differ */
		unknown(u, SHELL_DYNAMIC_LOCALE);
	else if (value != 0)
		buf_char(&u->out->text, (char)value);
	return value == 0;
}

/* Behind a backslash in $'…'. */
static bool unquote_ansi_escape(struct unquoter *u)
{
	static const char letters[] = "abeEfnrtv\\'\"?";
	static const char values[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
	int c = peek(u, 0);
	const char *letter = c > 0 ? strchr(letters, c) : NULL;

	if (letter) {
		buf_char(&u->out->text, values[letter - letters]);
		u->at++;
		return false;
	}
	if (c == 'x' && peek(u, 1) == '{') {
		unknown(u, SHELL_DYNAMIC_LOCALE); /* \x{…}: an extension that few know */
		u->at++;
		return false;
	}
	if (c == 'x' || c == 'u' || c == 'U' || (c >= '0' && c <= '7'))
		return unquote_number(u, c);
	if (c == 'c')
		return unquote_control(u);
	buf_char(&u->out->text, '\\');
	put(u, 1);
	return false;
}

/* $'…' (bash manual 3.1.2.4), at the $ */
static void unquote_ansi(struct unquoter *u)
{
	size_t kept = SIZE_MAX; /* length of the text where a NUL ended it */

	u->at += 2;
	for (int c; (c = peek(u, 0)) >= 0 && c != '\'';) {
		if (c != '\\') {
			put(u, 1);
			continue;
		}
		u->at++;
		if (unquote_ansi_escape(u) && kept == SIZE_MAX)
			kept = u->out->text.len;
	}
	u->at++;
	if (kept < u->out->text.len) {
		u->out->text.len = kept;
		if (u->out->known > kept)
			u->out->known = kept;
	}
	u->out->ansi = true;
}

/* Characters that patterns and tildes are made of, unquoted. */
static void unquote_special(struct unquoter *u, int c)
{
	int before = u->at > 0 ? (unsigned char)u->raw.data[u->at - 1] : -1;

	if (c == '*' || c == '?' ||
	    (c == '[' && memchr(u->raw.data + u->at, ']', u->raw.len - u->at))) {
		unknown(u, SHELL_DYNAMIC_GLOB);
		u->out->splits |= !u->assignment;
	} else if (c == '~' && (u->at == 0 || (u->named && before == '=') ||
	                        ((u->named || u->assignment) && before == ':'))) {
		unknown(u, SHELL_DYNAMIC_TILDE);
	} else if (c == '=') {
		u->named = true;
	}
	put(u, 1);
}

static void unquote(struct unquoter *u)
{
	for (int c; (c = peek(u, 0)) >= 0;) {
		int next = peek(u, 1);
		bool quote = c == '\\' || c == '\'' || c == '"' ||
		             (c == '$' && (next == '\'' || next == '"'));

		u->out->quoted |= quote;
		if (c == '\\') {
			u->at++;
			if (next == '\n')
				u->at++;
			else
				put(u, 1);
		} else if (c == '\'') {
			unquote_single(u);
		} else if (c == '$' && next == '\'') {
			unquote_ansi(u);
		} else if (c == '"' || (c == '$' && next == '"')) {
			if (c == '$') {
				unknown(u, SHELL_DYNAMIC_LOCALE);
				u->out->ansi = true;
				u->at++;
			}
			unquote_double(u);
		} else if (!take_piece(u, /* quoted= */ false)) {
			unquote_special(u, c);
		}
	}
	if (!u->out->dynamic)
		u->out->known = u->out->text.len;
}

static size_t first_piece(const struct reading *reading, size_t start)
{
	size_t low = 0, high = reading->piece_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (reading->pieces[middle].at.start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool word_has_pieces(const struct reading *reading, struct place at)
{
	size_t first = first_piece(reading, at.start);

	return first < reading->piece_count && reading->pieces[first].at.start < at.end;
}

void word_read(const struct reading *reading, struct place at, bool assignment,
               struct word_reading *ret)
{
	size_t first = first_piece(reading, at.start);
	struct unquoter u = { .raw = reading_span(reading, at), .base = at.start,
		              .pieces = reading->pieces ? reading->pieces + first : NULL,
		              .piece_count = reading->piece_count - first,
		              .assignment = assignment, .out = ret };

	*ret = (struct word_reading){ .text = BUF_INIT(LIMIT_SHELL_ALL_BYTES) };
	unquote(&u);
}

void word_read_plain(struct span raw, struct word_reading *ret)
{
	struct unquoter u = { .raw = raw, .out = ret };

	*ret = (struct word_reading){ .text = BUF_INIT(LIMIT_SHELL_ALL_BYTES) };
	unquote(&u);
}

void word_release(struct word_reading *word)
{
	buf_release(&word->text);
}
