/* SPDX-License-Identifier: Apache-2.0 */
/* A command line that somebody wrote, with words put in that a user typed (custom commands): built
 * piece by piece, and run only if what was typed stayed words.
 *
 *     struct shell_line line = SHELL_LINE_INIT(LIMIT_MESSAGE_BYTES);
 *
 *     shell_line_text(&line, SPAN("grep -r \""));
 *     shell_line_word(&line, typed);            // $(touch x)
 *     shell_line_text(&line, SPAN("\" src"));
 *     if (shell_line_holds(&line))              // grep -r "$(touch x)" src, as one word
 *             run(buf_view(&line.line));
 *     shell_line_release(&line);
 *
 * A word is put in single quotes; quotes that are open around it are closed before and opened again
 * behind it.  That is right wherever a shell reads words.  It is not in a here-document, in
 * backticks or $(...) within quotes, in a comment, and in text that another shell reads (bash -c,
 * eval, ssh).  So the line is analysed (analysis.h) twice: as it is, and with a harmless word in
 * place of each word that was typed.  Both must be the same commands with the same words, but for
 * those; a line that cannot be analysed without a problem holds nothing but harmless words.
 */
#ifndef HASP_SHELL_TYPED_H
#define HASP_SHELL_TYPED_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

struct shell_line {
	struct buf line;  /* to run */
	struct buf plain; /* with a harmless word for each that was typed */
	char quote;       /* that is open at the end of what was written; 0: none */
	bool escaped;     /* a backslash is the last of it */
	bool special;     /* a word that was typed has characters that shells do not take as they are */
};

#define SHELL_LINE_INIT(limit) { .line = BUF_INIT(limit), .plain = BUF_INIT(limit) }

void shell_line_release(struct shell_line *line);
#define _cleanup_shell_line_ __attribute__((cleanup(shell_line_release)))

/* Appends what the command's author wrote. */
void shell_line_text(struct shell_line *line, struct span text);
/* Appends one word that was typed, which may be empty. */
void shell_line_word(struct shell_line *line, struct span word);
/* Whether bash takes each typed word as a word, or as a part of one, and as nothing else. False
 * also if the line is too long for the limit. */
bool shell_line_holds(const struct shell_line *line);

#endif
