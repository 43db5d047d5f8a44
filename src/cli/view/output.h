/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output and standard error of the program.
 *
 * Every byte is accounted for: a closed pipe or a full disk is an error that
 * the caller turns into the exit code.  Nothing that a stranger wrote reaches
 * a terminal raw: text for people goes through render_safe (view.h) first.
 *
 * Not here: what to say (help.c, view.c, tool_command.c).
 */
#ifndef HASP_CLI_VIEW_OUTPUT_H
#define HASP_CLI_VIEW_OUTPUT_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "worker/provider.h"

/* ---- output ------------------------------------------------------------------ */

/* Makes descriptors 0 to 2 exist and SIGPIPE and SIGXFSZ error codes, once, at start: a file opened
 * later must not become standard output. */
void output_setup(void);

/* Standard output is a terminal. */
bool output_is_terminal(void);

/* Whether to colour, for --color's value (NULL: "auto"). */
bool output_uses_colour(const char *when);

/* Columns of the terminal, 80 when unknown. */
size_t output_width(void);

/* As fd_write_all, but waits while a non-blocking descriptor is full: a terminal shared with
 * another program often is one. False: errno says why. */
bool output_write(int fd, struct span text);

/* Writes all of it to standard output. */
bool output_text(struct span text, struct err *err);

/* Writes a document and a newline. On a terminal everything but ASCII is escaped.
 * `indent` puts each member on its own line. */
bool output_json(const json_t *document, bool indent, struct err *err);

/* Closes standard output, which is when some file systems tell that they are full. */
bool output_finish(struct err *err);

/* Writes hasp's own text to standard error. */
void output_stderr(struct span text);

/* "hasp: MESSAGE" to standard error, made safe for a terminal. */
void output_complain(const char *message);
/* The same of an error; returns `code`, for "return output_fail(&err, CLI_FAILED)". */
int output_fail(const struct err *err, int code);

/* ---- output while it comes --------------------------------------------------- */

/* The output of a command, shown to people as it comes.
 *
 * Whole lines, made safe for a terminal (view.h), to standard output; a carriage return ends a
 * line too.  From any thread.
 */

struct output_live {
	pthread_mutex_t lock;
	struct buf line; /* what has no end yet */
	bool any;        /* something was shown */
};

/* Nothing is shown yet. */
void output_live_init(struct output_live *live);
/* For call_hooks.output (tool/tool.h); `data` is the struct output_live. */
void output_live(void *data, enum run_stream stream, struct span bytes);
void output_live_release(struct output_live *live); /* shows what is left, with a line end */

#endif
