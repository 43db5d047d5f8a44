/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files that begin with "reader": the reader's state and its parts.
 *
 * From the bottom: words and limits (reader_word.c), what stands between words (reader_compound.c),
 * lists of commands (reader.c).  The grammar is a circle: a word may hold a list in $(...), and so
 * may an arm of case; those read it through the state's `read_list`. */
#ifndef HASP_SHELL_READER_H
#define HASP_SHELL_READER_H

#include "base/limits.h"
#include "shell/private.h"
#include "shell/reading.h"

enum { MAX_HEREDOCS = 16 };

/* What ends a list. */
enum list_end {
	LIST_END_TEXT,   /* the end of the text */
	LIST_END_PAREN,  /* ) */
	LIST_END_CASE,   /* ;; and its kin, esac */
};

struct shell_reader {
	struct shell_reading *out;
	const char *text;
	size_t pos, len;
	unsigned depth;        /* of recursion */
	unsigned nesting;      /* of substitutions */
	unsigned flags;        /* of commands read now: SUBSTITUTION, FUNCTION */
	size_t command;        /* whose words are read now, or SHELL_NONE */
	uint32_t heredocs[MAX_HEREDOCS]; /* redirections whose text comes after this line */
	struct text_place delimiters[MAX_HEREDOCS];
	unsigned heredoc_count;
	unsigned heredoc_base; /* those before it belong to the text around a substitution */
	bool stopped;          /* a limit was reached: nothing more is read */
	/* Reads a list of commands, and stands after what ends it; with LIST_END_CASE: true when
	 * esac ended it.  Here because words, which lists consist of, hold lists themselves. */
	bool (*read_list)(struct shell_reader *r, enum list_end end);
};

/* What is around a word, for what is special in it. */
enum word_place {
	WORD_PLAIN,
	WORD_QUOTED,  /* in "…" */
	WORD_HEREDOC, /* in the text of a heredoc */
};

static inline int reader_at(const struct shell_reader *r, size_t ahead)
{
	return !r->stopped && r->pos + ahead < r->len ? (unsigned char)r->text[r->pos + ahead]
	                                              : -1;
}

static inline bool shell_is_blank(int c)
{
	return c == ' ' || c == '\t';
}

/* Ends an unquoted word. */
static inline bool is_meta(int c)
{
	return c < 0 || shell_is_blank(c) || c == '\n' || c == '|' || c == '&' || c == ';' ||
	       c == '(' || c == ')' || c == '<' || c == '>';
}

/* Whether a word begins or goes on here; <( and >( are part of words. */
static inline bool reader_is_at_word(const struct shell_reader *r)
{
	int c = reader_at(r, 0);

	return !is_meta(c) || ((c == '<' || c == '>') && reader_at(r, 1) == '(');
}

/* A problem at the reading position, or from a place to it. */
void reader_problem(struct shell_reader *r, enum shell_problem_kind kind, size_t start);

/* Ends the reading, with a problem: a limit was reached. */
void reader_stop(struct shell_reader *r);

/* One level deeper; false, and the reading has ended, when that is too deep. */
bool reader_enter(struct shell_reader *r);
void reader_leave(struct shell_reader *r);

/* Skips blanks, continued lines and a comment. */
void reader_blanks(struct shell_reader *r);

/* Reads a word up to an unquoted metacharacter, with all substitutions in it. */
struct text_place reader_word(struct shell_reader *r);

/* The pieces of words; each begins at its first character and ends after its last. */
void reader_dollar(struct shell_reader *r, enum word_place where);
void reader_backtick(struct shell_reader *r, enum word_place where);
/* After (( up to and after )). */
void reader_arithmetic(struct shell_reader *r);
/* Notes the variables of an arithmetic expression. */
void reader_note_arithmetic(struct shell_reader *r, struct text_place at);

/* Each after its keyword. */
void reader_case(struct shell_reader *r);
void reader_for(struct shell_reader *r);
void reader_condition(struct shell_reader *r);
/* At the ( of name=( or of name() in a list. */
void reader_array(struct shell_reader *r);

/* Adds the heredoc's redirection to those whose text follows the line. */
void reader_expect_heredoc(struct shell_reader *r, uint32_t redirect, struct text_place delimiter);
/* After a line end. */
void reader_heredocs(struct shell_reader *r);

/* Notes a value that a variable gets. */
void reader_value(struct shell_reader *r, struct read_value value);

static inline bool reader_is(const struct shell_reader *r, struct text_place at, const char *text)
{
	size_t len = strlen(text);

	return at.end - at.start == len && memcmp(r->text + at.start, text, len) == 0;
}

#endif
