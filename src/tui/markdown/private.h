/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share.
 *
 * A text is read line by line: block.c says what a line is, given what is open (containers, and
 * one leaf in them); render.c acts on it; inline.c makes styled text of what a paragraph, a
 * heading or a cell of a table holds, with md4c; table.c lays tables out.
 */
#ifndef HASP_TUI_MARKDOWN_PRIVATE_H
#define HASP_TUI_MARKDOWN_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "tui/text/rows.h"

enum {
	BLOCK_DEPTH_MAX = 12, /* containers in each other; deeper ones are text */
	/* A line is looked at when so much of it, or all, is there: the same for every cut. */
	BLOCK_HEAD_BYTES = 64,
	/* Where a hard line break is in the source of a paragraph. */
	INLINE_BREAK = '\x1e',
};

/* ---- blocks (block.c) ---------------------------------------------------------- */

struct container {
	bool quote;      /* or an item of a list */
	unsigned indent; /* an item's text begins so many columns from where the item is */
	char mark;       /* of its list: - + * . ) */
	unsigned number; /* where the mark is . or ) */
	bool shown;      /* its mark is in a row */
};

enum leaf {
	LEAF_NONE,
	LEAF_PARAGRAPH,
	LEAF_HEADER,  /* a line that is one of a table if a row of dashes follows */
	LEAF_TABLE,
	LEAF_FENCE,
	LEAF_INDENTED,
	LEAF_HEADING, /* the remaining ones are one line and never open */
	LEAF_RULE,
	LEAF_BLANK,
};

/* What is open between two lines. */
struct blocks {
	struct container open[BLOCK_DEPTH_MAX];
	unsigned depth;
	enum leaf leaf;
	char fence;            /* ` or ~ */
	unsigned fence_length, fence_indent;
	unsigned cells;        /* of LEAF_HEADER */
	/* The list whose item was the last at each depth: its mark, 0: none. */
	char list_mark[BLOCK_DEPTH_MAX];
	unsigned list_number[BLOCK_DEPTH_MAX];
};

/* What a line is. */
struct line_shape {
	unsigned matched; /* containers that go on */
	struct container opened[BLOCK_DEPTH_MAX];
	unsigned opened_count;
	enum leaf leaf;      /* what the rest of it is, or belongs to */
	bool goes_on;        /* it belongs to the leaf that is open */
	bool closes;         /* it is the end of the fence */
	unsigned level;      /* of a heading */
	unsigned indent;     /* of a fence, or columns of code beyond what was cut off */
	unsigned cells;      /* of LEAF_HEADER */
	struct span rest;    /* the text, after marks */
};

/* `line` is without its ending; `head`: only the beginning of one. */
struct line_shape block_read(const struct blocks *blocks, struct span line);
/* Whether the shape of a line that begins so is certain, and it is text of a paragraph. */
bool block_is_text(const struct line_shape *shape, struct span head);

/* ---- text (inline.c) ----------------------------------------------------------- */

/* The line that is being written. */
struct inline_out {
	struct row *line;
	/* A hard break: the line is complete, and emptied. NULL: a blank in place of it. */
	void (*broken)(void *data);
	void *data;
	struct style style; /* of plain text */
	bool space;         /* a blank goes before the next text */
	struct style space_style;
};

/* How much of the source of a paragraph can be shown next, whatever follows: up to the first
 * blank where nothing is open, or as much as may be held. 0: not known yet. `*ret_whole`: it ends
 * at a blank. */
size_t inline_closed(struct span source, bool *ret_whole);
/* Appends source, which is on one line. */
void inline_text(struct inline_out *out, struct span source);

/* ---- tables (table.c) ---------------------------------------------------------- */

/* Appends a table of at most `width` columns; false: it is none, or cannot be parsed. */
bool table_rows(struct rows *out, struct span source, unsigned width);

/* A table as md4c reads it, for table.c. */
struct table_cells {
	struct rows rows;  /* cell by cell, each at least one row, lines of one together */
	size_t *ends;      /* of each cell, in rows; owned */
	size_t count, cap;
	unsigned columns;
	unsigned char *align; /* per column: 0 left, 1 middle, 2 right; owned */
};

/* Reads a table's source; false as table_rows. */
bool inline_table(struct table_cells *cells, struct span source);
void inline_release(struct table_cells *cells);

/* ---- a text, and its lines rendered (render.c) ----------------------------------- */

enum { WIDTH_LEAST = 4 }; /* of a text */

struct code_line {
	size_t row;      /* of markdown.out; SIZE_MAX: it was taken before */
	unsigned indent; /* columns */
	size_t end;      /* of markdown.code */
};

struct markdown {
	unsigned width;
	struct rows *out;    /* while rows are taken */
	struct blocks blocks;

	/* The source from where nothing was open but what `before` says. */
	struct buf source;
	size_t at;           /* of the line that is read */
	size_t line_done;    /* bytes of it that are in the paragraph already */
	bool in_line;        /* there are such bytes, or will be */
	struct blocks before;
	bool before_gap, before_any;
	enum leaf before_last;
	bool lost;           /* not all of that source is there any more */
	size_t fed;          /* bytes of the whole text */

	/* The paragraph that is open: what is not in `line` yet. */
	struct buf text;
	struct row line;     /* the last row of it that may still grow */
	struct inline_out inline_out;
	bool leaf_shown;     /* the leaf that is open has rows */
	enum { JOIN_NONE, JOIN_BLANK, JOIN_BREAK } join; /* before its next line */
	size_t spaces;       /* at the end of what is in `text`, left out */

	struct buf header;   /* LEAF_HEADER: the line; LEAF_TABLE: all lines */
	bool header_in_text; /* a paragraph is open above it */
	struct highlight *highlight;
	/* Lines of code whose rows are in `out` and still empty (render_code). */
	struct buf code;     /* one after the other, without line endings */
	struct code_line *code_lines; /* owned */
	size_t code_count, code_cap;
	size_t blank_code;   /* blank lines of indented code, or of source, that may be its last */

	bool source_asked, is_source; /* markdown_source; how the line is read */
	bool in_fence;       /* of source: a fence of code is open */

	bool gap;            /* a blank line was read since the last leaf */
	bool any;            /* there was a leaf */
	enum leaf last;      /* the leaf before */
	size_t shown, skip;  /* rows since `before`; how many of the next ones were taken already */
};

/* Takes over a row: it goes to `out`, unless it was taken before a part was forgotten. */
void render_row(struct markdown *md, struct row *row);
/* Appends the line as rows, wrapped and behind the marks of blocks; it is empty then, or (not
 * `whole`) its last row stays in it, for more may follow. */
void render_wrapped(struct markdown *md, struct row *line, bool whole);
/* Reads a line. */
void render_line(struct markdown *md, struct span line);
/* Reads the beginning of one. False: it must be whole. */
bool render_line_start(struct markdown *md, struct span line);
/* Appends to the line of the paragraph that is open. */
void render_text(struct markdown *md, struct span text);
/* That line ends: two blanks or a backslash there break it. */
void render_end_text_line(struct markdown *md);
/* Shows what of the paragraph's text is certain. */
void render_paragraph(struct markdown *md);
/* Shows what is left of the leaf that is open, and closes it. */
void render_end_leaf(struct markdown *md);
/* Colours the lines of code that were read, and puts them into their rows. */
void render_code(struct markdown *md);
/* Closes all but the first `depth` containers. */
void render_close_containers(struct markdown *md, unsigned depth);

/* ---- colours of code (colour.c) ------------------------------------------------ */

/* The inside of hasp-highlight.so: tree-sitter, its grammars, and their packages' own queries.  A
 * separate module, loaded when the first code is shown: grammars are large, and neither a start
 * nor a session without code shall pay for them.  Only highlight.c calls it.  One thread. */

/* Beyond these a code is not coloured: bytes of it, bytes of a line, and processor time for parsing
 * what was added and for all of it. A parse stops at each slice of time to look at that. */
enum {
	COLOUR_BYTES_MAX = 256 << 10,
	COLOUR_LINE_MAX = 4096,
	COLOUR_TAIL_MAX = 16, /* that closes a comment or a text */
	COLOUR_SLICE_MICROS = 10000,
	COLOUR_PARSE_MICROS = 100000,
	COLOUR_MICROS = 2000000,
};

#define COLOUR_API __attribute__((visibility("default")))

struct colour;

/* `language`: a name or an ending of a file, in small letters; NULL: not known. */
COLOUR_API struct colour *colour_new(const char *language);
COLOUR_API void colour_free(struct colour *colour); /* NULL is fine */
/* Adds the next line, without its ending, which counts as one byte. Nothing is parsed yet. False:
 * it and what follows are not coloured. */
COLOUR_API bool colour_add(struct colour *colour, const char *line, size_t len);
/* Gives each of `len` bytes from byte `at` of what was added a role (text/rows.h), by all that was
 * added until now. */
COLOUR_API void colour_paint(struct colour *colour, size_t at, size_t len, uint8_t *roles);
/* How many bytes colour_paint has coloured in this process, for tests. */
COLOUR_API size_t colour_painted(void);
/* The first name of each language, for tests; NULL beyond the last. */
COLOUR_API const char *colour_language(size_t i);

#endif
