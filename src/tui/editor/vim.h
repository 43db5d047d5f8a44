/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of vim mode share.  vim_motion.c and vim_object.c say where a command goes or what
 * it is about; vim_operator.c changes the text; vim.c reads the keys.
 *
 * Places are bytes of the draft.  A place on the LF at a line's end is what vim calls the NUL behind
 * the line: motions pass over it, the caret stands there only in insert mode, in an empty line and
 * at the end of a visual selection.
 */
#ifndef HASP_TUI_EDITOR_VIM_H
#define HASP_TUI_EDITOR_VIM_H

#include "tui/editor/private.h"

enum vim_kind { VIM_EXCLUSIVE, VIM_INCLUSIVE, VIM_LINES };

/* The column that j and k keep to: the line's end. */
enum { VIM_GOAL_END = 1 << 30 };
/* Registers: the unnamed one, then a to z. */
enum { VIM_REGISTERS = 27 };
/* Counts are no larger. */
enum { VIM_COUNT_MAX = 99999 };

/* What f, F, t and T looked for. */
struct vim_find {
	char text[32]; /* a cluster */
	size_t len;    /* 0: nothing yet */
	bool backward, until;
};

/* A motion under way. */
struct vim_motion {
	const struct draft *draft;
	size_t at;            /* in: the caret; out: where it goes */
	size_t start;         /* a text object's start */
	unsigned count;       /* at least 1 */
	bool counted;         /* somebody said it */
	char operator;        /* 'c', ...: which one waits for it; 0: none */
	bool visual;
	enum vim_kind kind;   /* the row's; may become another */
	bool no_adjust;       /* an exclusive end in column 1 stays there */
	int goal;             /* NO_COLUMN, VIM_GOAL_END or a column; for j and k */
	bool keeps_goal;
	struct vim_find *find;
	struct span argument; /* of f, F, t, T: a cluster */
};

struct vim_motion_row {
	const char *keys;
	enum vim_kind kind;
	bool wants_argument;
	/* False: it cannot be done. With an operator it may still have moved. */
	bool (*go)(struct vim_motion *motion, int how);
	int how;
};

/* The row of a motion by its keys ("w", "ge"); NULL: none. */
const struct vim_motion_row *vim_motion_row(struct span keys);
/* Whether keys begin those of a longer motion, operator or command ("g"). */
bool vim_is_prefix(struct span keys);
/* Sets start, at and kind to the text object ("iw", "a(") at the caret; false: there is none. */
bool vim_object(struct vim_motion *motion, struct span keys);

/* Steps as vim's: over a character, onto the line's end (2), into the next or previous line (1);
 * -1: the text ends here. */
int vim_step(const struct draft *draft, size_t *at, int direction);
/* The same, but passing over a line's end. */
int vim_step_over(const struct draft *draft, size_t *at, int direction);
/* 0: blanks and line ends; others are kinds of characters that make words. */
int vim_class(const struct draft *draft, size_t at, bool big);
/* Word motions from *at; see their vim namesakes (w, b, e, ge). */
bool vim_forward_word(const struct draft *draft, size_t *at, unsigned count, bool big, bool at_end);
bool vim_end_word(const struct draft *draft, size_t *at, unsigned count, bool big, bool stop,
                  bool empty);
/* The bracket that belongs to an open or closing one, from `at` on; false: there is none. */
bool vim_match_bracket(const struct draft *draft, size_t at, char open, char close, bool forward,
                       size_t *ret);
/* The first character of the line that is no blank; its last one if all are. */
size_t vim_first_nonblank(const struct draft *draft, size_t at);
/* Whether nothing but blanks stands before `at` in its line; `extra` as many characters on. */
bool vim_in_indent(const struct draft *draft, size_t at, size_t extra);
/* Where the caret may stand in normal mode: not behind the last character of a line. */
size_t vim_clamp(const struct draft *draft, size_t at);
/* Columns before `at` in its line, of the cell where the cursor is seen; and the place of one. */
int vim_column_of(const struct draft *draft, size_t at);
size_t vim_at_column(const struct draft *draft, size_t line, int column);
/* The start of the line `lines` (negative: upwards) from the one of `at`, as far as there are. */
size_t vim_line_away(const struct draft *draft, size_t at, long lines);

/* What an operator works on: bytes [from, to), or whole lines. */
struct vim_region {
	size_t from, to; /* of lines: their first byte, and the last one's LF or the text's end */
	bool lines;
	bool visual;
	unsigned amount; /* of > and <: how often */
};

struct vim_register {
	char *text; /* owned; NULL: empty */
	size_t len;
	bool lines; /* text has an LF behind each line */
};

struct vim_registers {
	struct vim_register at[VIM_REGISTERS];
};

void vim_registers_release(struct vim_registers *registers);
/* The register of a name: 'a' to 'z', 'A' to 'Z', otherwise the unnamed one. */
struct vim_register *vim_register(struct vim_registers *registers, uint32_t name);
/* Copies the region to the unnamed register and to the named one. */
void vim_yank(struct vim_registers *registers, uint32_t name, const struct draft *draft,
              const struct vim_region *region);
/* Delete, for c too: lines that are changed leave an empty one. The caret is where it began. */
void vim_delete(struct draft *draft, const struct vim_region *region, bool change);
/* '~', 'u', 'U' */
void vim_change_case(struct draft *draft, const struct vim_region *region, char how);
/* '>' and '<', by 4 columns. */
void vim_shift(struct draft *draft, const struct vim_region *region, char how);
/* p and P; false: the register is empty. */
bool vim_put(struct draft *draft, const struct vim_register *text, unsigned count, bool before);
/* Joins so many lines from the caret's on; false: there are none. */
bool vim_join(struct draft *draft, unsigned lines);

#endif
