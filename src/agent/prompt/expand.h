/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a custom command or a skill, with what its marks stand for.
 *
 *     Fix !{git diff --stat} as in @{docs/style.md}: {{args}}         EXPAND_GEMINI
 *
 *     Fix !`git diff --stat` as in @docs/style.md: $ARGUMENTS         EXPAND_CLAUDE
 *
 * A text is taken apart once, as it stands in the file: what a command prints, a file holds or the
 * user typed is put in and not looked at again.  What was typed never becomes more than words of a
 * command.  Commands are calls of run_shell_command and files are read by read_file, through
 * functions of the caller's, so policies, hooks and questions have their say.
 *
 * Not here: which commands and skills there are (catalog/).
 */
#ifndef HASP_AGENT_PROMPT_EXPAND_H
#define HASP_AGENT_PROMPT_EXPAND_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

enum expand_format { EXPAND_GEMINI, EXPAND_CLAUDE };

/* All borrowed. */
struct expand_text {
	enum expand_format format;
	struct span text;
	struct span arguments;     /* what was typed behind the name */
	const json_t *names;       /* of Claude Code's arguments, an array: $NAME; or NULL */
	const char *folder;        /* a skill's, ${CLAUDE_SKILL_DIR}; or NULL */
	const char *session_id;    /* ${CLAUDE_SESSION_ID}; or NULL */
	/* Calls a tool, and returns its result, a new reference. */
	json_t *(*call)(void *data, const char *tool, json_t *arguments);
	/* Whether a file is there, without a call that would be reported. */
	bool (*is_file)(void *data, const char *path);
	void *data;
};

/* Appends the text to `out`.  *ret_used: what was typed has a place in it.  False: a command was
 * denied or could not be started, a file could not be read, or braces do not close; *ret_problem
 * is a sentence, for the caller to free. */
bool expand_template(const struct expand_text *from, struct buf *out, bool *ret_used,
                     char **ret_problem);

#endif
