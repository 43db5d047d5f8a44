/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of vim mode share.  From bottom to top: vim_motion.c and vim_object.c say where a
 * command goes or what it is about, vim_command.c changes the text and has the tables of commands,
 * vim.c reads the keys.
 *
 * Places are bytes of the draft.  A place on the LF at a line's end is what vim calls the NUL
 * behind the line: motions pass over it, the caret stands there only in insert mode, in an empty
 * line and at the end of a visual selection.
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
	bool counted;         /* the user typed it */
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
	bool takes_argument;
	/* False: it cannot be done. With an operator it may still have moved. */
	bool (*go)(struct vim_motion *motion, int how);
	int how;
};

/* The row of a motion by its keys ("w", "ge"); NULL: none. */
const struct vim_motion_row *vim_motion_row(struct span keys);
/* Sets start, at and kind to the text object ("iw", "a(") at the caret; false: there is none. */
bool vim_object(struct vim_motion *motion, struct span keys);

/* Steps as vim's: over a character, onto the line's end (2), into the next or previous line (1);
 * -1: the text ends here. */
int vim_step(const struct draft *draft, size_t *at, int direction);
/* The same, but passing over a line's end. */
int vim_step_over(const struct draft *draft, size_t *at, int direction);
/* 0: blanks and line ends; others are kinds of characters that make words. */
int vim_class(const struct draft *draft, size_t at, bool big);
/* What counts as an end for vim_end_word, as in vim's end_word. */
enum vim_end_of {
	VIM_END_NEXT,   /* e: of the next word, where one ends here */
	VIM_END_HERE,   /* cw: of this word, be it here */
	VIM_END_OBJECT, /* aw: the same; an empty line ends one, too */
};

/* Word motions from *at; see their vim namesakes (w, b, e, ge). */
bool vim_forward_word(const struct draft *draft, size_t *at, unsigned count, bool big, bool at_end);
bool vim_end_word(const struct draft *draft, size_t *at, unsigned count, bool big,
                  enum vim_end_of from);
/* The bracket that belongs to an open or closing one, from `at` on; false: there is none. */
bool vim_match_bracket(const struct draft *draft, size_t at, char open, char close, bool forward,
                       size_t *ret);
/* The first character of the line that is no blank; its last one if all are. */
size_t vim_first_nonblank(const struct draft *draft, size_t at);
/* Whether nothing but blanks stands before `at` in its line; `extra` as many characters on. */
bool vim_in_indent(const struct draft *draft, size_t at, size_t extra);
/* Where the caret may stand in normal mode: not behind the last character of a line. */
size_t vim_clamp(const struct draft *draft, size_t at);
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

/* Empties all. */
void vim_registers_release(struct vim_registers *registers);
/* The register of a name: 'a' to 'z', 'A' to 'Z', otherwise the unnamed one. */
struct vim_register *vim_register(struct vim_registers *registers, uint32_t name);

struct vim_operator {
	const char *keys;
	char sign;         /* "gU" is 'U' */
	const char *again; /* what besides its keys means whole lines */
	void (*act)(struct editor *editor, const struct vim_region *region, char sign);
	bool changes;      /* "." does it again */
};

struct vim_command {
	const char *keys;
	const char *instead; /* the keys of a command that it is short for; or NULL */
	void (*act)(struct editor *editor, int how);
	int how;
};

enum vim_state { VIM_INSERT, VIM_NORMAL, VIM_VISUAL, VIM_VISUAL_LINES };

/* Keys of one command, at most: "gUi(" and a cluster. */
enum { VIM_KEYS_MAX = 64 };

/* What "." does again. */
struct vim_change {
	char keys[VIM_KEYS_MAX]; /* without counts and register */
	size_t len;
	unsigned count;          /* 0: none */
	uint32_t reg;
	char *inserted;          /* owned; what was typed in insert mode; NULL: nothing */
	size_t inserted_len;
	bool visual, lines;      /* it was done to a selection: as much again */
	size_t line_count, char_count;
};

struct vim {
	enum vim_state state;
	/* The command that is being typed. */
	char keys[VIM_KEYS_MAX]; /* since the last one was done, without counts and register */
	size_t len, name;        /* the name of what is looked for begins at `name` */
	const struct vim_operator *operator;
	const struct vim_motion_row *finding; /* waits for its character */
	bool replacing, naming;  /* r and " do */
	unsigned count, operator_count; /* 0: none */
	uint32_t reg;
	/* What stays. */
	struct vim_registers registers;
	struct vim_find find;
	struct vim_change change;
	int goal;
	size_t anchor;           /* where the selection began */
	bool again;              /* "." is at work */
	/* Insert mode. */
	size_t insert_from;      /* what was typed begins here */
	unsigned insert_count;
	bool insert_line;        /* o and O: another line for each */
};

static inline bool vim_is_visual(const struct vim *vim)
{
	return vim->state == VIM_VISUAL || vim->state == VIM_VISUAL_LINES;
}

/* The count of the whole command: of the operator times that of the motion, at least 1. */
static inline unsigned vim_count(const struct vim *vim)
{
	unsigned long count = (unsigned long)(vim->count ? vim->count : 1) *
			      (vim->operator_count ? vim->operator_count : 1);

	return count < VIM_COUNT_MAX ? (unsigned)count : VIM_COUNT_MAX;
}

static inline bool vim_has_count(const struct vim *vim)
{
	return vim->count || vim->operator_count;
}

/* ---- vim_command.c ---- */

/* Forgets the command that was being typed. */
void vim_drop_command(struct vim *vim);
/* The rows of operators and commands by their keys; NULL: none. */
const struct vim_operator *vim_operator_row(struct span keys);
const struct vim_command *vim_command_row(bool visual, struct span keys);
/* What an operator works on between two places, with the exceptions of ":help exclusive". */
struct vim_region vim_region_of_motion(const struct vim_motion *motion, size_t start);
/* The bytes that are selected in a visual mode; false: none. */
bool vim_selection(const struct editor *editor, size_t *ret_from, size_t *ret_to);
/* What is selected, as whole lines if so asked. */
struct vim_region vim_selected(const struct editor *editor, bool lines);
/* Remembers the command, or it and how much is selected, for ".". */
void vim_remember(struct vim *vim);
void vim_remember_selection(struct editor *editor);
/* Carries out an operator: on a region; on the lines of its count; on the selection. */
void vim_operate(struct editor *editor, const struct vim_operator *operator,
                 const struct vim_region *region);
void vim_operate_lines(struct editor *editor);
void vim_operate_selection(struct editor *editor, const struct vim_operator *operator, bool lines);
/* Back to normal mode. */
void vim_leave_visual(struct editor *editor);
/* u, or Ctrl+R, as often as the count says. */
void vim_undo(struct editor *editor, int redo);

#endif
