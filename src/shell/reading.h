/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the first of the two readings of a script.
 *
 * Finds simple commands with their words, assignments and redirections wherever bash would run
 * them, by the rules of token recognition (POSIX.1-2017 XCU 2.3, bash manual 3.1 to 3.5). It does
 * not check the grammar beyond that: the other reading (tree.c) does.  What it does not follow it
 * reports as a problem; it errs towards seeing commands where there are none.
 *
 * Places are byte offsets in the text.  Lists are chained by index + 1, 0 ends them.  It
 * recurses for what is nested, at most LIMIT_SHELL_NESTING deep.
 */
#ifndef HASP_SHELL_READING_H
#define HASP_SHELL_READING_H

#include "shell/analysis.h"

struct text_place {
	uint32_t start, end;
};

struct read_word {
	struct text_place at;
	uint32_t next;
};

struct read_redirect {
	struct text_place target; /* a heredoc: of its text, without the delimiter */
	struct text_place whole;
	enum shell_redirect_kind kind;
	int fd;
	bool raw;            /* a heredoc in which nothing is expanded */
	bool strips_tabs;
	uint32_t next;
};

struct index_chain {
	uint32_t first, last, count;
};

struct read_command {
	struct text_place at;
	struct index_chain words, assignments, redirects;
	unsigned flags;
	unsigned nesting; /* of substitutions */
};

/* A part of a word that is known only when it runs, by place: outer ones before inner ones. */
struct read_piece {
	struct text_place at;
	enum shell_dynamic dynamic;
};

/* `…`, a script by itself, after its backslashes are taken away. */
struct read_backtick {
	struct text_place inside;
	bool quoted;     /* inside "…", where \" is " */
	size_t command;  /* in whose words it stands, or SHELL_NONE */
};

/* A variable gets a value: what arithmetic on it may do is decided at the end. */
struct read_value {
	struct text_place name, value;
	bool safe;       /* certainly a number */
	bool assignment; /* name=value, as opposed to for, ${x:=y}, arithmetic */
};

struct read_problem {
	enum shell_problem_kind kind;
	struct text_place at;
};

enum { READING_TIMES = 16 };

struct shell_reading {
	struct span text; /* borrowed */
	struct text_place times[READING_TIMES]; /* "time -p" before groups: the grammar has no such
	                                    * thing */
	unsigned time_count;
	struct read_command *commands;
	struct read_word *words;
	struct read_redirect *redirects;
	struct text_place *functions;
	struct read_backtick *backticks;
	struct read_piece *pieces;
	struct read_value *values;
	struct text_place *numbers; /* variables that arithmetic reads */
	struct read_problem *problems;
	size_t command_count, word_count, redirect_count, function_count, backtick_count,
		piece_count, value_count, number_count, problem_count;
	size_t command_cap, word_cap, redirect_cap, function_cap, backtick_cap, value_cap,
		piece_cap, number_cap, problem_cap;
	struct index_chain group_redirects; /* of { } and the like */
	bool bashisms;   /* something that other shells read otherwise */
	bool background;
};

/* `text` must be shorter than 4 GiB. */
void reading_init(struct shell_reading *reading, struct span text);
void reading_make(struct shell_reading *reading);
void reading_release(struct shell_reading *reading);

/* Adds a problem; those past LIMIT_SHELL_PROBLEMS are dropped. */
void reading_problem(struct shell_reading *reading, enum shell_problem_kind kind, size_t start,
                     size_t end);

static inline struct span reading_span(const struct shell_reading *reading, struct text_place at)
{
	return span_of(reading->text.data + at.start, at.end - at.start);
}

#endif
