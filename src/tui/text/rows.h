/* SPDX-License-Identifier: Apache-2.0 */
/* Styled text in rows of terminal cells: what every view makes and every screen shows.
 *
 *     struct row line = { 0 };
 *     row_text(&line, SPAN("edited "), STYLE(ROLE_DIM));
 *     row_text(&line, path, STYLE_BOLD(ROLE_TEXT));         // foreign text is made safe here
 *     rows_wrap(&rows, &line, 80, NULL, NULL);              // as rows of at most 80 columns
 *     row_release(&line);
 *
 * A row holds no control characters, ever: row_text replaces what would act on a terminal or
 * deceive a reader by visible escapes (safe.h), so a screen may write a row's bytes as they are.
 * Columns count as terminals do: grapheme clusters of 1 or 2 columns (width.h).  A style is a
 * role, not a colour: the theme (term/theme.h) says which colour that is today.
 *
 * Not here: escape sequences (term/), Markdown (markdown/), search (find.h), when something is
 * shown (tui.c).
 */
#ifndef HASP_TUI_TEXT_ROWS_H
#define HASP_TUI_TEXT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

/* Of a row's text: far more than a line that is read, and the rest is left out; of an address of a
 * link. */
enum { ROW_BYTES_MAX = 16 << 20, ROW_ADDRESS_MAX = 2000 };

/* What a piece of text is. X(symbol, name as in custom themes of ours) */
#define ROLE_TABLE(X)                          \
	X(TEXT, "text")                        \
	X(DIM, "dim")                          \
	X(ACCENT, "accent")                    \
	X(LINK, "link")                        \
	X(HEADING, "heading")                  \
	X(QUOTE, "quote")                      \
	X(BORDER, "border")                    \
	X(SELECTED, "selected")                \
	X(USER, "user")                        \
	X(SUCCESS, "success")                  \
	X(WARNING, "warning")                  \
	X(ERROR, "error")                      \
	X(ADDED, "added")                      \
	X(REMOVED, "removed")                  \
	X(ADDED_WORD, "added_word")            \
	X(REMOVED_WORD, "removed_word")        \
	X(CODE, "code")                        \
	X(KEYWORD, "keyword")                  \
	X(STRING, "string")                    \
	X(NUMBER, "number")                    \
	X(COMMENT, "comment")                  \
	X(TYPE, "type")                        \
	X(FUNCTION, "function")                \
	X(CONSTANT, "constant")                \
	X(ATTRIBUTE, "attribute")

enum role {
#define ROLE_ENUM(symbol, name) ROLE_##symbol,
	ROLE_TABLE(ROLE_ENUM) /* one a row, in their order */
#undef ROLE_ENUM
	ROLE_COUNT
};

enum {
	MARK_BOLD = 1,
	MARK_ITALIC = 2,
	MARK_UNDERLINE = 4,
	MARK_STRIKE = 8,
	MARK_REVERSE = 16,
	MARK_FOREGROUND = 32, /* style.foreground counts, and not what the theme says */
	MARK_BACKGROUND = 64,
};

struct style {
	uint8_t role;  /* enum role */
	uint8_t marks; /* MARK_ bits */
	/* Of 256 colours, for what another program has coloured (emulator/). */
	uint8_t foreground, background;
};

#define STYLE(r) ((struct style){ .role = (uint8_t)(r) })
#define STYLE_BOLD(r) ((struct style){ .role = (uint8_t)(r), .marks = MARK_BOLD })

/* Where rows_wrap has broken a line: it goes on behind its last run in a row, and continues with
 * its first one in the next row. In rows with columns the first run that goes on is continued by
 * the first of the next row, and so forth; not as many on both sides: one was cut, none is joined.
 */
enum { RUN_GOES_ON = 1, RUN_CONTINUES = 2 };

/* A piece of a row in one style. */
struct row_run {
	uint32_t start, len; /* bytes of row.text */
	struct style style;
	uint32_t link;       /* 0: none; else 1 + where its address begins in row.links */
	uint8_t joints;      /* RUN_ bits */
	uint16_t blanks;     /* RUN_CONTINUES: so many were dropped before it */
};

/* Where a prompt of the user's begins and ends: terminals can jump from one to the next. */
enum { ROW_PROMPT_START = 1, ROW_PROMPT_ENDS = 2 };

/* One line; wider than any terminal until it was wrapped. Zeroed: an empty one. */
struct row {
	struct buf text;  /* UTF-8, safe */
	struct buf links; /* addresses of OSC 8 links, each with a NUL behind it; safe ASCII */
	struct row_run *runs; /* owned; in order, without gaps */
	size_t count, cap;
	unsigned width;   /* columns */
	uint8_t prompt;   /* ROW_PROMPT_ bits, for term_put_finished */
};

struct rows {
	struct row *at; /* owned */
	size_t count, cap;
};

void row_release(struct row *row);   /* zeroed again */
void rows_release(struct rows *rows);
#define _cleanup_row_ __attribute__((cleanup(row_release)))
#define _cleanup_rows_ __attribute__((cleanup(rows_release)))

/* Appends foreign text, made safe; line ends become escapes, so split lines before. Tabs become
 * spaces up to the next multiple of eight columns of the row. */
void row_text(struct row *row, struct span untrusted, struct style style);
/* The same for a text of ours, in printf's manner. */
void row_printf(struct row *row, struct style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same, as a link to `address` (percent-escaped where it is not printable ASCII; longer than
 * 2,000 bytes: no link). */
void row_link(struct row *row, struct span untrusted, struct style style, struct span address);
/* The address of a run's link; NULL: none. Borrowed. */
const char *row_address(const struct row *row, const struct row_run *run);
/* Appends another row's runs. */
void row_append(struct row *row, const struct row *other);
/* Blanks up to `column`; nothing if the row is as wide already. */
void row_pad(struct row *row, unsigned column, struct style style);
/* Cuts to at most `columns`, with "…" in the last one if something was cut. */
void row_clip(struct row *row, unsigned columns);
/* Gives marks (MARK_ bits) besides its own to the cluster at `column`, if there is one. */
void row_mark_at(struct row *row, unsigned column, uint8_t marks);
/* Gives them to each cluster that has some of the `len` bytes of the text from `start` on. */
void row_mark_bytes(struct row *row, size_t start, size_t len, uint8_t marks);

/* An empty row at the end; borrowed until the next one is added. */
struct row *rows_add(struct rows *rows);
/* Takes over the contents of `row`, which is empty again. */
void rows_take(struct rows *rows, struct row *row);
/* Moves all of `other` to the end, which is empty again. */
void rows_move(struct rows *rows, struct rows *other);
/* A copy of rows [from, to). */
void rows_copy(struct rows *rows, const struct rows *other, size_t from, size_t to);

/* Appends `line` as rows of at most `width` columns (at least 4 are assumed), broken between words
 * and before and after clusters of two columns (ideographs, emoji); a word that is wider than a row
 * begins a row and is cut, within clusters never. Blanks where a row ends are dropped. The runs on
 * both sides of a break say so (RUN_ bits), after row_append and rows_wrap, too. `first` and
 * `rest` (NULL: nothing) stand before the first row and the others and count for the width; what
 * leaves no two columns free is cut. An empty line is one row.
 * Text that is appended to a line changes only the last of its rows. */
void rows_wrap(struct rows *rows, const struct row *line, unsigned width, const struct row *first,
               const struct row *rest);
/* Appends each line of a foreign text, wrapped, in one style. */
void rows_text(struct rows *rows, struct span untrusted, struct style style, unsigned width);

/* Whether two rows look the same. */
bool row_same(const struct row *a, const struct row *b);
/* The plain text, without styles; for copies, search, screen readers and tests. */
void row_plain(const struct row *row, struct buf *out);

#endif
